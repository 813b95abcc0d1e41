//go:build !race

package tune

// raced says that the race detector is on.
const raced = false
