//go:build race

package results

// raced is true under the race detector, which makes arithmetic ten times as slow.
const raced = true
