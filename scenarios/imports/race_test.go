//go:build race

package imports

// raced says that the race detector is on, which makes everything ten times as slow.
const raced = true
