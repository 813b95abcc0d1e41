//go:build !race

package chaos

// slowdown is how much slower tests run.
const slowdown = 1
