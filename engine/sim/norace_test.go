//go:build !race

package sim_test

// slowdown divides the work of long tests; without the race detector it is 1.
const slowdown = 1
