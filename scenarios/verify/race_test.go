//go:build race

package verify

// raced reports whether the tests run under the race detector, which makes simulations ten times as slow.
const raced = true
