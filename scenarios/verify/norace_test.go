//go:build !race

package verify

// raced says that the race detector is on.
const raced = false
