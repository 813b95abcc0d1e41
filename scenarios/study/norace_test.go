//go:build !race

package study

// raced says that the race detector is on.
const raced = false
