package chaos

import (
	"fmt"
	"slices"

	"qsim/results/plain"
)

// rare lists the seeds in [1, 1000] whose random scenarios cover the most combinations that few others cover, the best
// first. A combination is of an event and its job's state, or the check of an invariant, with a fault or the policy.
// The command go test -run TestRareSeeds -rewrite writes the list.
var rare = []uint64{
	659, 819, 538, 825, 204, 607, 916, 860, 770, 762, 457, 417, 662, 111, 224, 944,
	420, 813, 690, 278, 28, 259, 834, 994, 303, 474, 601, 592, 990, 166, 532, 923,
	238, 631, 459, 397, 668, 866, 757, 720, 574, 731, 178, 108, 818, 513, 782, 379,
	823, 732, 638, 850, 187, 867, 851, 107, 616, 671, 289, 748, 494, 787, 434, 597,
}

// rareOnes returns those of the seeds in rare that are in the range of a swarm.
func (o *Options) rareOnes() []uint64 {
	return slices.DeleteFunc(slices.Clone(rare), func(seed uint64) bool {
		return seed < o.First || o.Seeds > 0 && seed-o.First >= o.Seeds
	})
}

// Finished describes in words which seeds a swarm has finished when it has finished the first n in its order of seeds.
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

// order returns a function from index to seed of a swarm: first the seeds in rare, then the others in turn.
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
