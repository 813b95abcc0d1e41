//go:build race

package imports

// raced is true under the race detector, which makes everything ten times as slow: of tests that repeat
// the same with other values only one runs with it.
const raced = true
