//go:build !race

package verify

// raced is true under the race detector.
const raced = false
