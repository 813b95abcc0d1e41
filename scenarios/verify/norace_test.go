//go:build !race

package verify

// raced reports whether the tests run under the race detector.
const raced = false
