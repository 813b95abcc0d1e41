package chaos

import (
	"fmt"
	"slices"

	"qsim/results/plain"
)

// rare lists 64 seeds in [1, 1000], for Swarm to run first: those whose worlds cover the most combinations that few
// others cover, the best first. A combination is of an event and its job's state, or of an invariant that was checked,
// with a fault or the policy. The command go test -run TestRareSeeds -rewrite writes the list.
var rare = []uint64{
	975, 534, 68, 384, 605, 511, 946, 201, 430, 11, 714, 890, 978, 552, 614, 782,
	845, 347, 283, 871, 242, 779, 857, 987, 554, 454, 248, 40, 228, 637, 939, 881,
	204, 394, 701, 117, 533, 927, 87, 152, 934, 217, 467, 608, 888, 185, 677, 579,
	658, 695, 366, 351, 933, 958, 107, 956, 399, 792, 478, 966, 711, 676, 219, 928,
}

// rareOnes returns the seeds in rare that are among the seeds of the options.
func (o *Options) rareOnes() []uint64 {
	return slices.DeleteFunc(slices.Clone(rare), func(seed uint64) bool {
		return seed < o.First || o.Seeds > 0 && seed-o.First >= o.Seeds
	})
}

// Finished returns, in words, which seeds a swarm has finished after n of them, for a user who continues or repeats it.
func (o *Options) Finished(n uint64) string {
	seeds := plain.Plural(int(n), "seed")
	switch {
	case n == 0 || n == o.Seeds:
	case n <= uint64(len(o.rareOnes())):
		return fmt.Sprintf("%s of rare worlds, which come first of those from %d on", seeds, o.First)
	default:
		last := o.order()(int(n - 1))
		if beyond := n - (last - o.First + 1); beyond > 0 {
			return fmt.Sprintf("%s, those from %d to %d and %d of rare worlds beyond", seeds, o.First, last, beyond)
		}
	}
	return fmt.Sprintf("%s from %d on", seeds, o.First)
}

// order returns a function from the number of a run in a swarm to its seed: first those in rare, then the others.
func (o *Options) order() func(i int) uint64 {
	first := o.rareOnes()
	passed := slices.Sorted(slices.Values(first))
	return func(i int) uint64 {
		if i < len(first) {
			return first[i]
		}
		seed := o.First + uint64(i-len(first))
		for _, p := range passed {
			if p <= seed {
				seed++
			}
		}
		return seed
	}
}
