//go:build race

package study

// raced says that the race detector is on, which makes everything ten times as slow.
const raced = true
