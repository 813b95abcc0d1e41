//go:build race

package chaos

// slowdown is by how much tests do less, because the race detector makes them slower.
const slowdown = 10
