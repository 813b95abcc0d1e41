//go:build !race

package chaos

// slowdown is by how much tests do less, because the race detector makes them slower: not at all without it.
const slowdown = 1
