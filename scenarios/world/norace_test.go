//go:build !race

package world

// raced is true under the race detector.
const raced = false
