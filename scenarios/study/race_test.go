//go:build race

package study

// raced is true under the race detector, which makes everything ten times as slow.
const raced = true
