//go:build !race

package world

// raced says that the race detector is on.
const raced = false
