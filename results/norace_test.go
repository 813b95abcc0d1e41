//go:build !race

package results

// raced says that the race detector is on.
const raced = false
