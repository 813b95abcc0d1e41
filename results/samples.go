package results

import "math"

// Interval returns the mean of values, at least one, and the half-width of its 95 %
// t-interval: NaN for fewer than 2.
func Interval(values []float64) (mean, half float64) { return meanInterval(values) }

// Contrast is the difference of the means of two samples.
type Contrast struct {
	Difference float64 // mean of the new values less that of the base values
	Half       float64 // half-width of its 95 % interval; NaN with fewer than 2 values on a side
	P          float64 // two-sided, that it is 0: not adjusted; NaN likewise
}

// Against compares new with base, each at least one value: value by value if they are
// paired, and of equal number then; else as independent samples (Welch).
func Against(base, new []float64, paired bool) Contrast {
	mean, half, p := contrast(aboutMean(base), aboutMean(new), 1, paired)
	return Contrast{mean, half, p}
}

// Excess is by how much more new is than factor times base, as Against counts, and the
// one-sided p value of its being no more: NaN where Against has none. If less is set, it is by
// how much less.
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

// Holm returns the p values of a family of comparisons, adjusted so that those below
// 0.05 are all true with a probability of 95 %. NaN is not of the family and stays.
func Holm(p []float64) []float64 { return holm(p) }

// power is how sure one wants to be to see a difference that is there.
const power = 0.8

// Detectable is the difference of two means, as a share of the mean, that a comparison of
// n values with n others shows at 95 % confidence in four cases of five, if both scatter
// with that coefficient of variation: about (t(0.975) + t(0.8)) · cv · √(2/n), both with 2n−2
// degrees of freedom (Cohen: Statistical Power Analysis, 2nd edition, section 2.4); with
// fewer than 5 values it is more like two cases of three. n must be at least 2. Of several
// comparisons at once it is what Holm's adjustment leaves to see if it is the only difference.
func Detectable(cv float64, n, comparisons int) float64 {
	freedom := float64(2*n - 2)
	sure := studentQuantile(freedom, 1-alpha/2/float64(max(1, comparisons)))
	return (sure + studentQuantile(freedom, power)) * cv * math.Sqrt(2/float64(n))
}

// RunsToDetect is the least n, from 4, below which Detectable promises too much, for which
// that is at most difference, above 0; 0 if no number up to a hundred thousand will do.
func RunsToDetect(cv, difference float64, comparisons int) int {
	low, high := 4, mostSeeds // Detectable falls with n
	if !(difference > 0 && Detectable(cv, high, comparisons) <= difference) {
		return 0
	}
	for low < high {
		middle := (low + high) / 2
		if Detectable(cv, middle, comparisons) <= difference {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
