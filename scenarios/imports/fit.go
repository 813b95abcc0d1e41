package imports

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/results/plain"
)

// Fit is a distribution of the scenario language fitted to a sample by maximum likelihood, with its distance from the
// sample.
type Fit struct {
	Kind       string // kind of distribution in a scenario: exponential, lognormal, ...
	Parameters []FitParameter
	// Distance is that of Kolmogorov and Smirnov: the largest difference between the share of the sample up to a value and
	// the probability of it, in [0, 1]; 0 for constant.
	Distance float64
	// P is the p value: the share of samples of this very distribution, fitted again, that are as far from their fit as
	// this one; NaN for constant, which has no test, and for fits whose Score ranks them too low to be tested.
	P     float64
	Score float64 // the Bayesian information criterion: of two fits the lower one is better

	family *candidate // family of distributions that Kind names
}

// FitParameter is one parameter of a fitted distribution, by its name in a scenario.
type FitParameter struct {
	Name  string
	Value float64 // s if Time, else plain
	Time  bool
}

const (
	// FewestToFit is the smallest sample size to which distributions are fitted.
	FewestToFit = 20

	mostHopeful    = 3     // number of fits, those of the lowest Score, that are tested
	level          = 0.05  // below this P a distribution is refused, unless it is near
	near           = 0.02  // Distance that is acceptable whatever P is
	tailTolerance  = 0.10  // relative difference of the 99th percentile that is acceptable with it
	constantSpread = 0.005 // half the distance from the 1st to the 99th percentile, relative to the median
)

// fitDistributions fits the distributions of the scenario language to a sorted sample of times in seconds, by maximum
// likelihood, and returns them, the best Score first; none for fewer than FewestToFit values. Zeros count as half the
// smallest value above 0, for the logarithm; with over 1 in 100 zeros, only distributions that allow them are fitted.
func fitDistributions(sorted []float64) []Fit {
	n := len(sorted)
	if n < FewestToFit {
		return nil
	}
	median := quantile(sorted, 0.5)
	if spread := quantile(sorted, 0.99) - quantile(sorted, 0.01); spread <= 2*constantSpread*median {
		return []Fit{{Kind: constant.kind, Parameters: []FitParameter{inTime("value", median)}, P: math.NaN(),
			family: &constant}}
	}
	logs, zeros := withoutZeros(sorted)
	of := map[bool][]float64{false: sorted, true: logs} // values for a candidate, by whether it is positive
	var fits []Fit
	for _, f := range candidates {
		if f.positive && zeros > n/100 {
			continue
		}
		if fit, ok := f.fit(of[f.positive]); ok {
			fits = append(fits, fit)
		}
	}
	slices.SortStableFunc(fits, func(a, b Fit) int { return cmp.Compare(a.Score, b.Score) })
	for i := range fits[:min(len(fits), mostHopeful)] {
		fits[i].P = fits[i].family.p(of[fits[i].family.positive])
	}
	return fits
}

// Acceptable reports whether f may represent its sorted sample: its test does not reject it, or its distance is so
// small that the test, which rejects any difference in a large enough sample, is ignored.
func (f *Fit) Acceptable(sorted []float64) bool {
	if f.Kind == "constant" || f.P >= level {
		return true
	}
	tail := quantile(sorted, 0.99)
	return f.Distance <= near && math.Abs(f.drawn().Sample(0.99)-tail) <= tailTolerance*tail
}

// withoutZeros replaces values not above 0, at the start of sorted, by a small one, and returns how many there were.
func withoutZeros(sorted []float64) (positive []float64, zeros int) {
	zeros = sort.Search(len(sorted), func(i int) bool { return sorted[i] > 0 })
	if zeros == 0 || zeros == len(sorted) {
		return sorted, zeros
	}
	return slices.Concat(slices.Repeat([]float64{sorted[zeros] / 2}, zeros), sorted[zeros:]), zeros
}

// distance returns the Kolmogorov-Smirnov distance of sorted values from a distribution function.
func distance(sorted []float64, cdf func(float64) float64) float64 {
	n, most := float64(len(sorted)), 0.0
	for i, x := range sorted {
		f := cdf(x)
		most = max(most, float64(i+1)/n-f, f-float64(i)/n)
	}
	return most
}

// thinned returns a pseudorandom subset of sorted values, still sorted, of at most the given size.
func thinned(sorted []float64, most int) []float64 {
	chosen, rand := sample{most: most}, keyed.Rand{Seed: 2}
	for rank, value := range sorted {
		chosen.add(rand.Uint64(keyed.ForRunTime, uint64(rank), 0, 0), value)
	}
	return chosen.values()
}

// drawn returns a fit as a distribution from which the simulation draws. It has a table, which takes time to make.
func (f *Fit) drawn() dist.Dist {
	// What is estimated of run times is far within the ranges of distributions.
	return plain.Must(f.family.of(f.Parameters[0].Value, f.Parameters[len(f.Parameters)-1].Value))
}

// fit estimates the parameters of a distribution from sorted values, and measures how well it fits; false if it cannot.
func (f *candidate) fit(sorted []float64) (Fit, bool) {
	d, parameters := f.estimate(sorted)
	if d == nil {
		return Fit{}, false
	}
	likelihood := plain.Sum(sorted, d.LogProb)
	fit := Fit{Kind: f.kind, Parameters: parameters, Distance: distance(sorted, d.CDF), P: math.NaN(),
		Score: float64(f.free)*math.Log(float64(len(sorted))) - 2*likelihood, family: f}
	if floats.HasNaN([]float64{fit.Distance, fit.Score}) || math.IsInf(fit.Score, 0) {
		return Fit{}, false
	}
	return fit, true
}

const (
	mostTested = 1000 // values of a sample, so that a test takes a tenth of a second
	resamples  = 99   // number of bootstrap samples: P then has two digits
)

// p returns the p value of the fit by the parametric bootstrap, since the tables of Kolmogorov and Smirnov are for
// parameters that were known beforehand, and too often accept a fit whose parameters come from the sample: Stute,
// González Manteiga, Presedo Quindimil: Bootstrap based goodness-of-fit-tests (1993). Its draws are the same each time.
func (f *candidate) p(sorted []float64) float64 {
	tested := thinned(sorted, mostTested)
	own, parameters := f.estimate(tested)
	if own == nil {
		return 0
	}
	drawn, far := (&Fit{Parameters: parameters, family: f}).drawn(), distance(tested, own.CDF)
	rand, above := keyed.Rand{Seed: 1}, 0
	values := make([]float64, len(tested))
	for r := range resamples {
		for i := range values {
			values[i] = drawn.Sample(rand.Uniform(keyed.ForRunTime, uint64(i), uint64(r), 0))
		}
		slices.Sort(values)
		again, _ := f.estimate(values)
		if again == nil || distance(values, again.CDF) >= far {
			above++
		}
	}
	return float64(above+1) / (resamples + 1)
}
