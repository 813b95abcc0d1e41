//go:build !race

package results

// raced is true under the race detector.
const raced = false
