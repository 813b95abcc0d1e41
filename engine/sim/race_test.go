//go:build race

package sim_test

// slowdown divides the work of long tests: the race detector makes them slow.
const slowdown = 5
