package spec

import "testing"

// TestStormRanks: no two kinds of storm have one rank, so that their order, in which chaos draws them, does not depend on
// the order of the files.
func TestStormRanks(t *testing.T) {
	for i, k := range stormKinds[1:] {
		if before := stormKinds[i]; before.rank >= k.rank {
			t.Errorf("storm %s has rank %d, and %s before it %d", k.key, k.rank, before.key, before.rank)
		}
	}
}
