package imports

import (
	"maps"
	"math"
	"slices"
)

const (
	poisonSign = 4.0   // standard errors by which jobs must show poison
	mostRounds = 1000  // of the estimation, which ends once a round changes nothing
	nearly     = 1e-12 // least change, and distance of the estimates from 0 and 1, whose logarithms are infinite
)

// ends counts jobs with the same number of failed attempts by whether one succeeded then.
type ends struct{ done, rest float64 }

// rates returns the share of failing attempts, and the share of poisoned jobs, whose every attempt fails: the f and p
// under which the records are most likely, by expectation maximization (Dempster, Laird and Rubin, 1977). A job that
// succeeded after k failures has the likelihood (1-p) f^k (1-f), another one p + (1-p) f^k. Poison is 0 unless the
// ratio of the likelihoods with and without it shows it (Wilks, 1938).
func (c *collected) rates() (rate, poison float64) {
	if c.class.Attempts == 0 {
		return 0, 0
	}
	order, alike := slices.Sorted(maps.Keys(c.ends)), 0.0
	round := func(f, p float64) (better, share, likelihood float64) {
		var jobs, poisoned, failed, done float64
		f, p = min(max(f, nearly), 1-nearly), min(p, 1-nearly)
		for _, failures := range order {
			n, k := c.ends[failures], float64(failures)
			either := max(p+(1-p)*math.Pow(f, k), math.SmallestNonzeroFloat64) // its logarithm is finite
			ill := n.rest * p / either
			jobs, poisoned, done = jobs+n.rest+n.done, poisoned+ill, done+n.done
			failed += (n.rest - ill + n.done) * k
			likelihood += n.done*(math.Log1p(-p)+k*math.Log(f)+math.Log1p(-f)) + n.rest*math.Log(either)
		}
		return failed / max(failed+done, nearly), poisoned / jobs, likelihood
	}
	rate = float64(c.class.Failed) / float64(c.class.Attempts)
	f, _, _ := round(rate, 0)
	_, _, without := round(f, 0)
	p := f
	for n, last := 0, -1.0; n < mostRounds && math.Abs(p-last) > nearly; n++ {
		last = p
		f, p, alike = round(f, p)
	}
	if 2*(alike-without) < poisonSign*poisonSign {
		return rate, 0
	}
	const digits = 1e6
	return math.Round(f*digits) / digits, math.Round(p*digits) / digits
}
