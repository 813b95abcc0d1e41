//go:build !race

package imports

// raced says that the race detector is on.
const raced = false
