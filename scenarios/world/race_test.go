//go:build race

package world

// raced is true under the race detector, which makes simulations ten times as slow.
const raced = true
