//go:build !race

package scenarios

// raced says that the race detector is on.
const raced = false
