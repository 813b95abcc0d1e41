//go:build race

package world

// raced says that the race detector is on, which makes simulations ten times as slow.
const raced = true
