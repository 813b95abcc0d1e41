package results

import (
	"math"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/mathext"

	"qsim/results/measure"
	"qsim/results/plain"
)

// pairedP returns the two-sided p value of the paired t test, given the mean and half-width of n pairs' differences.
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
	adjusted, order := slices.Clone(p), ascending(p)
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(order)-rank)))
		adjusted[i] = least
	}
	return adjusted
}

// ascending returns the indexes of p values in ascending order of the values, without those of NaN.
func ascending(p []float64) []int {
	return plain.Order(p, func(v float64) (float64, bool) { return v, !math.IsNaN(v) })
}

// seedsToReach estimates how many seeds bring the half-width of a confidence interval, with the probability of error
// level (at most 5 %), below a distance, given that of the 95 % interval with n seeds (half); 0 if none will do.
func seedsToReach(half, distance float64, n int, level float64) int {
	if distance == 0 || math.IsNaN(half) || math.IsNaN(distance) {
		return 0
	}
	deviation := half * math.Sqrt(float64(n)) / tQuantile(float64(n), alpha)
	enough := func(values int) bool {
		return tQuantile(float64(values), level)*deviation/math.Sqrt(float64(values)) < math.Abs(distance)
	}
	// The normal quantile is below Student's, and soon close to it: the number is the least that it asks for, or a little
	// more.
	normal := math.Sqrt2 * math.Erfinv(1-level) * deviation / distance
	least, width := max(n, int(min(normal*normal, mostSeeds))), 1
	for least+width <= mostSeeds && !enough(least+width) {
		width *= 2
	}
	needed := least + sort.Search(width, func(more int) bool { return enough(least + more) })
	return roundSeeds(float64(needed), n)
}

// roundSeeds rounds an estimated number of seeds, above the present n, up to two significant digits; 0 if too large.
func roundSeeds(needed float64, n int) int {
	if needed > mostSeeds {
		return 0
	}
	needed = max(needed, float64(n)+1)
	if unit := math.Pow(10, math.Floor(math.Log10(needed))-1); unit > 1 {
		needed = math.Ceil(needed/unit) * unit
	}
	return int(needed)
}

// mostSeeds is the highest number of seeds that is ever recommended for deciding an objective.
const mostSeeds = 100_000

// judge returns the outcome of an objective: met if the estimate's confidence interval lies on the right side of the
// bound, missed if on the wrong side, or else unclear, with the number of seeds that would decide or a reason.
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
	case e.Bound != "" && above && e.Low >= bound:
		return Met, 0, ""
	case e.Bound != "" && !above && e.Low > bound:
		return Missed, 0, ""
	case e.Bound != "":
		return Unclear, 0, "the run ended too early to tell"
	case right(e.Low) && right(e.High):
		return Met, 0, ""
	case !right(e.Low) && !right(e.High):
		return Missed, 0, ""
	}
	seeds = seedsToReach(e.Half, e.Mean-bound, e.N, alpha)
	return Unclear, seeds, plain.When(seeds == 0, "the value is at the bound")
}

// oneSeed is the reason, as text, why an objective has no verdict or a value no interval: there is only one seed.
const oneSeed = "one seed has no interval"

// counts reports whether an estimate is a whole number of jobs, claims or the like, and not a time, a share or a rate.
func (e *Estimate) counts() bool {
	units := []string{"jobs", "claims", "executions", "commits", "leases", "events", "calls"}
	return slices.Contains(units, e.Unit) && e.Mean == math.Trunc(e.Mean)
}

// Bands returns, for each bucket of a time series, the median over seeds and the band from the 5th to the 95th
// percentile, of fewer than ten seeds the whole range; NaN where only a minority of the seeds has a value.
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

// HasValue reports whether a time series has a value for any seed, from a bucket on. Its median may have none even so:
// in each bucket, most seeds may lack one.
func HasValue(series []measure.Series, from int, of func(s *measure.Series) []float64) bool {
	return slices.ContainsFunc(series, func(s measure.Series) bool {
		values := of(&s)
		return slices.ContainsFunc(values[min(from, len(values)):], func(v float64) bool { return !math.IsNaN(v) })
	})
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

const (
	confidence = 0.95
	alpha      = 1 - confidence
)

// tQuantile returns the quantile of Student's t for a two-sided interval about the mean of n values that misses the
// true mean with the probability level, half of it beyond each end.
func tQuantile(n, level float64) float64 {
	return studentQuantile(n-1, 1-level/2)
}

// studentQuantile returns the quantile for probability p, at least 1/2, of Student's t distribution with v degrees of
// freedom: the t with F(t) = 1 - I(v/(v+t²); v/2, 1/2)/2 = p, where I is the regularized incomplete beta function.
// Abramowitz, Stegun: Handbook of Mathematical Functions (1964), section 26.7. Above 1-1e-6 the library is wrong.
func studentQuantile(freedom, p float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*(1-p))
	return steady(math.Sqrt(freedom * (1 - x) / x))
}

// studentTails returns the probability that Student's t with the given degrees of freedom lies beyond t on either side.
func studentTails(freedom, t float64) float64 {
	return min(1, steady(mathext.RegIncBeta(freedom/2, 0.5, freedom/(float64(t*t)+freedom))))
}

// steady rounds a number to 12 significant digits: the later digits of numbers that libraries compute with fused
// products differ between processors, and equal runs must give equal bytes on all of them.
func steady(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 11, 64), 64)
	return rounded
}

// halfWidth returns the half-width of n values' t-interval with an error probability of level; NaN for n < 2.
func halfWidth(deviation float64, n int, level float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return tQuantile(float64(n), level) * deviation / math.Sqrt(float64(n))
}

// VarianceAbout returns the sample variance (divided by n−1) of values, taken about centre instead of their mean.
func VarianceAbout(values []float64, centre float64) float64 {
	squares := plain.Sum(values, func(v float64) float64 { return float64((v - centre) * (v - centre)) })
	return squares / float64(len(values)-1)
}

// HalfWidth is half the width of the t-interval about centre of independent values, for a confidence of sureness, in
// (0, 1): t((1+sureness)/2, n-1)·s/√n. The standard deviation s is taken about centre: the mean of the values, or, if
// they are quantiles of parts of the data (one for each seed), the quantile of all data, as the mean of the parts would
// be biased. Asmussen, Glynn: Stochastic Simulation (2007), section III.5. It is NaN for fewer than two values.
func HalfWidth(values []float64, centre, sureness float64) float64 {
	return halfWidth(math.Sqrt(VarianceAbout(values, centre)), len(values), 1-sureness)
}

// Student returns the factor t((1+sureness)/2, n-1) of HalfWidth for n values, at least 2.
func Student(n int, sureness float64) float64 { return tQuantile(float64(n), 1-sureness) }

// MeanOf returns the mean of values, NaN of an empty list. If all values are equal the mean is exactly that value.
func MeanOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	if equal(values) {
		return values[0]
	}
	// Neumaier: Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen (1974). One after the other, with
	// no products: the same on every processor.
	sum, lost := 0.0, 0.0
	for _, v := range values {
		next := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - next) + v
		} else {
			lost += (v - next) + sum
		}
		sum = next
	}
	return (sum + lost) / float64(len(values))
}

func equal(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// Interval returns the mean of values, at least one, and the half-width of its 95 % t-interval: exactly 0 if they are
// equal, NaN for fewer than 2.
func Interval(values []float64) (mean, half float64) {
	if equal(values) { // infinite ones too
		return values[0], halfWidth(0, len(values), alpha)
	}
	mean = MeanOf(values)
	return mean, halfWidth(math.Sqrt(VarianceAbout(values, mean)), len(values), alpha)
}

// Against returns the difference between two samples, new from base, with a t test: paired, of equal numbers of values,
// or of independent samples (Welch). Neither may be empty.
func Against(base, new []float64, paired bool) Contrast {
	return contrastOf(aboutMean(base), aboutMean(new), paired)
}

// Excess returns by how much the mean of new exceeds factor times that of base, and the one-sided p value for no
// excess, NaN where Against has none. If less is set, the excess is how far new falls below factor times base.
func Excess(base, new []float64, factor float64, less, paired bool) (excess, p float64) {
	excess, _, p = contrast(aboutMean(base), aboutMean(new), factor, paired)
	if less {
		excess = -excess
	}
	if p /= 2; excess <= 0 {
		p = 1 - p
	}
	return excess, p
}

// power is the probability of detecting a difference that exists for which Detectable is computed.
const power = 0.8

// Detectable is the smallest difference of two means, as a share of the mean, that a comparison of n values with n
// others detects at 95 % confidence with probability 0.8, if both scatter with that coefficient of variation: about
// (t(0.975) + t(0.8)) · cv · √(2/n), both with 2n−2 degrees of freedom (Cohen: Statistical Power Analysis, 2nd edition,
// section 2.4); with fewer than 5 values the probability is nearer two in three. n must be at least 2. Of several
// comparisons, adjusted by Holm, it is the difference detectable if only one has a difference.
func Detectable(cv float64, n, comparisons int) float64 {
	freedom := float64(2*n - 2)
	sure := studentQuantile(freedom, 1-alpha/2/float64(max(1, comparisons)))
	return (sure + studentQuantile(freedom, power)) * cv * math.Sqrt(2/float64(n))
}

// RunsToDetect returns the smallest sample size n, at least 4, for which Detectable is at most difference, which is
// above 0; 0 if no n up to a hundred thousand will do.
func RunsToDetect(cv, difference float64, comparisons int) int {
	enough := func(n int) bool { return Detectable(cv, n, comparisons) <= difference } // it falls with n
	if !(difference > 0 && enough(mostSeeds)) {
		return 0
	}
	const least = 4
	return least + sort.Search(mostSeeds-least, func(more int) bool { return enough(least + more) })
}
