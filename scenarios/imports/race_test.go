//go:build race

package imports

// raced says that the race detector is on, which makes everything ten times as slow: of tests that do the
// same with other values one runs with it, and all of them without.
const raced = true
