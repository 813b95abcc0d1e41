//go:build !race

package study

// raced is true under the race detector.
const raced = false
