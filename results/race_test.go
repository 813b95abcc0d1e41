//go:build race

package results

// raced says that the race detector is on, which makes arithmetic ten times as slow.
const raced = true
