//go:build !race

package imports

// raced is true under the race detector.
const raced = false
