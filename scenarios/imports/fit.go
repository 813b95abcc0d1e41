package imports

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"

	"qsim/engine"
)

// Fit is a distribution of a scenario with the parameters under which a sample is most
// likely, and how far the two are apart.
type Fit struct {
	Kind       string // as a scenario names it: exponential, lognormal, ...
	Parameters []FitParameter
	// Distance is that of Kolmogorov and Smirnov: the largest difference between the share of
	// the sample up to a value and the probability of it, in [0, 1].
	Distance float64
	// P is how often a sample of this very distribution, fitted again, is as far from its fit
	// as this one; NaN for constant, which has no tests, and where Score leaves no hope.
	P     float64
	Score float64 // the Bayesian information criterion: of two fits the lower one is better
	// P50 and P99 are quantiles of the distribution.
	P50, P99 float64
}

// FitParameter is one parameter as a scenario writes it.
type FitParameter struct {
	Name  string
	Value float64 // s if Time, else plain
	Time  bool
}

const (
	// FewestToFit is the smallest sample that distributions are fitted to.
	FewestToFit = 20

	mostHopeful    = 3     // fits that are tested
	level          = 0.05  // below this P a distribution is refused, unless it is near
	near           = 0.02  // Distance that does no harm whatever P says
	tailTolerance  = 0.10  // relative difference of P99 that does none
	constantSpread = 0.005 // half the distance from the 1st to the 99th percentile, relative to the median
)

// FitDistributions fits the distributions of the scenario language to a sample of times
// in seconds, by maximum likelihood, the best by Score first. There are none for fewer than
// FewestToFit values. Zeros count as half the smallest value above 0, for the logarithm;
// if that is more than 1 in 100 values, only what allows zeros is fitted.
func FitDistributions(sample []float64) []Fit {
	n := len(sample)
	if n < FewestToFit {
		return nil
	}
	sorted := slices.Clone(sample)
	slices.Sort(sorted)
	median := quantileOf(sorted, 0.5)
	if spread := quantileOf(sorted, 0.99) - quantileOf(sorted, 0.01); spread <= 2*constantSpread*median {
		below := sort.SearchFloat64s(sorted, median)
		above := n - sort.Search(n, func(i int) bool { return sorted[i] > median })
		return []Fit{{Kind: "constant", Parameters: []FitParameter{{"value", median, true}}, Distance: float64(max(below, above)) / float64(n), P: math.NaN(), P50: median, P99: median}}
	}
	logs, zeros := withoutZeros(sorted)
	var fits []Fit
	of := map[string][]float64{}
	for _, f := range candidates {
		if f.positive && zeros > n/100 {
			continue
		}
		values := sorted
		if f.positive {
			values = logs
		}
		if fit, ok := f.fit(values); ok {
			fits = append(fits, fit)
			of[f.kind] = values
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(a.Score, b.Score) })
	for i := range fits[:min(len(fits), mostHopeful)] {
		at := slices.IndexFunc(candidates, func(c candidate) bool { return c.kind == fits[i].Kind })
		fits[i].P = candidates[at].p(of[fits[i].Kind])
	}
	return fits
}

// Acceptable reports whether f may stand for the sample that it was fitted to: its test
// does not refuse it, or it is so near that the test, which finds any difference in a sample
// that is large enough, is of no account.
func (f *Fit) Acceptable(sample []float64) bool {
	if f.Kind == "constant" || f.P >= level {
		return true
	}
	sorted := slices.Clone(sample)
	slices.Sort(sorted)
	tail := quantileOf(sorted, 0.99)
	return f.Distance <= near && math.Abs(f.P99-tail) <= tailTolerance*tail
}

// withoutZeros replaces what is not above 0 at the start of sorted, and counts it.
func withoutZeros(sorted []float64) (positive []float64, zeros int) {
	zeros = sort.Search(len(sorted), func(i int) bool { return sorted[i] > 0 })
	if zeros == 0 || zeros == len(sorted) {
		return sorted, zeros
	}
	positive = slices.Clone(sorted)
	for i := range zeros {
		positive[i] = sorted[zeros] / 2
	}
	return positive, zeros
}

// quantileOf is the smallest of sorted values that at least the share q does not exceed.
func quantileOf(sorted []float64, q float64) float64 {
	return stat.Quantile(q, stat.Empirical, sorted, nil)
}

// distance is the Kolmogorov-Smirnov distance of sorted values from a distribution function.
func distance(sorted []float64, cdf func(float64) float64) float64 {
	n, most := float64(len(sorted)), 0.0
	for i, x := range sorted {
		f := cdf(x)
		most = max(most, float64(i+1)/n-f, f-float64(i)/n)
	}
	return most
}

// thinned is every k-th of sorted values in the order in which a hash of their rank puts
// them, most of them, sorted: as a random part of them would be.
func thinned(sorted []float64, most int) []float64 {
	if len(sorted) <= most {
		return sorted
	}
	ranks := make([]int, len(sorted))
	for i := range ranks {
		ranks[i] = i
	}
	rand := engine.Rand{Seed: 2}
	slices.SortFunc(ranks, func(a, b int) int {
		return cmp.Compare(rand.Uint64(engine.ForRunTime, uint64(a), 0, 0), rand.Uint64(engine.ForRunTime, uint64(b), 0, 0))
	})
	ranks = ranks[:most]
	slices.Sort(ranks)
	part := make([]float64, most)
	for i, rank := range ranks {
		part[i] = sorted[rank]
	}
	return part
}
