//go:build race

package memstore

// slowdown divides the work of long tests: the race detector makes them slow.
const slowdown = 10
