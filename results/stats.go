package results

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"qsim/results/measure"
)

// pairedP returns the two-sided p value of the paired t test for a mean difference of 0, given the mean and half-width
// of the differences of n pairs.
func pairedP(mean, half float64, n int) float64 {
	switch {
	case n < 2:
		return math.NaN()
	case mean == 0:
		return 1
	case half == 0:
		return 0
	}
	return studentTails(float64(n-1), math.Abs(mean)/half*tQuantile(float64(n), alpha))
}

// Holm returns the p values of a family of tests, adjusted for their number so that with a probability of 95 % all
// differences with a value below 0.05 are real: Holm, A simple sequentially rejective multiple test procedure (1979).
// NaN stays NaN and is not counted.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	var order []int
	for i := range p {
		if !math.IsNaN(p[i]) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-rank)))
		adjusted[i] = least
	}
	return adjusted
}

// seedsToTell returns about how many seeds narrow an interval, with that half-width at n seeds, to distance on either
// side; two significant digits, rounded up. 0: no number of seeds will do.
func seedsToTell(half, distance float64, n int) int {
	if distance == 0 || math.IsNaN(half) || math.IsNaN(distance) {
		return 0
	}
	ratio := half / math.Abs(distance)
	return roundSeeds(math.Ceil(float64(n)*ratio*ratio), n)
}

// seedsToReach returns about how many seeds narrow an interval, with that half-width at n seeds, to distance on either
// side at a stricter probability of error, level, at most alpha.
func seedsToReach(half, distance float64, n int, level float64) int {
	if distance == 0 || math.IsNaN(half) || math.IsNaN(distance) {
		return 0
	}
	deviation := half * math.Sqrt(float64(n)) / tQuantile(float64(n), alpha)
	needed := n + sort.Search(mostSeeds, func(more int) bool {
		values := float64(n + more)
		return tQuantile(values, level)*deviation/math.Sqrt(values) < math.Abs(distance)
	})
	return roundSeeds(float64(needed), n)
}

// roundSeeds rounds up an estimated number of seeds, above the present n, to two significant digits; 0 if it is too
// large.
func roundSeeds(needed float64, n int) int {
	if needed > mostSeeds {
		return 0
	}
	if needed <= float64(n) {
		needed = float64(n) + 1
	}
	if unit := math.Pow(10, math.Floor(math.Log10(needed))-1); unit > 1 {
		needed = math.Ceil(needed/unit) * unit
	}
	return int(needed)
}

// mostSeeds is the highest number of seeds that is ever recommended for deciding an objective.
const mostSeeds = 100_000

// judge returns the outcome of an objective: the confidence interval of e lies wholly on the right side of the bound,
// wholly on the wrong side, or neither.
func judge(e *Estimate, above bool, bound float64) (o Outcome, seeds int, reason string) {
	right := func(v float64) bool {
		if above {
			return v >= bound
		}
		return v <= bound
	}
	switch {
	case e.Null():
		return Unclear, 0, e.Reason
	case e.N < 2 && bound == 0 && e.counts() && right(e.Mean) && e.Bound == "":
		return Met, 0, ""
	case e.N < 2 && bound == 0 && e.counts() && !right(e.Mean):
		return Missed, 0, "" // no metric is below 0: the mean of any seeds is above it
	case e.N < 2: // on any other bound the next seed may say otherwise, on either side
		return Unclear, 0, oneSeed
	case e.Bound != "" && above && e.atLeast() >= bound:
		return Met, 0, ""
	case e.Bound != "" && !above && e.atLeast() > bound:
		return Missed, 0, ""
	case e.Bound != "":
		return Unclear, 0, "the run ended too early to tell"
	case right(e.Low) && right(e.High):
		return Met, 0, ""
	case !right(e.Low) && !right(e.High):
		return Missed, 0, ""
	}
	seeds = seedsToTell(e.Half, e.Mean-bound, e.N)
	if seeds == 0 {
		reason = "the value is at the bound"
	}
	return Unclear, seeds, reason
}

// oneSeed is the reason for a missing interval: there is only one seed.
const oneSeed = "one seed has no interval"

// counts reports whether an estimate is an exact count of a single run, and not a time, a share or a rate.
func (e *Estimate) counts() bool {
	switch e.Unit {
	case "jobs", "claims", "executions", "commits", "leases", "events", "calls":
		return e.Mean == math.Trunc(e.Mean)
	}
	return false
}

// atLeast returns the lower end of an estimate's interval, or the value if there is no interval.
func (e *Estimate) atLeast() float64 {
	if math.IsNaN(e.Low) {
		return e.Mean
	}
	return e.Low
}

// Bands returns, for each bucket of time, the median over seeds of a time series, and the band around it: the range
// between the 5th and the 95th percentile, of fewer than ten seeds the whole range. NaN: only a minority of the seeds
// has a value.
func Bands(series []measure.Series, buckets int, of func(s *measure.Series) []float64) (median, low, high []float64) {
	lower, upper := .05, .95
	if len(series) < 10 {
		lower, upper = 0, 1
	}
	seen := make([]float64, 0, len(series))
	for i := range buckets {
		seen = seen[:0]
		for k := range series {
			if values := of(&series[k]); i < len(values) && !math.IsNaN(values[i]) && !math.IsInf(values[i], 0) {
				seen = append(seen, max(values[i], 0))
			}
		}
		middle, least, most := math.NaN(), math.NaN(), math.NaN()
		if len(seen) > 0 && 2*len(seen) >= len(series) {
			slices.Sort(seen)
			middle, least, most = quantile(seen, .5), quantile(seen, lower), quantile(seen, upper)
		}
		median, low, high = append(median, middle), append(low, least), append(high, most)
	}
	return median, low, high
}

// quantile returns the quantile q of sorted values, interpolated between the two nearest.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	part := at - float64(i)
	return float64(sorted[i]*(1-part)) + float64(sorted[i+1]*part)
}
