package results

import "math"

// Against compares the samples new and base, of at least one value each: value by value if paired, and of equal number
// then; else as independent samples (Welch).
func Against(base, new []float64, paired bool) Contrast {
	return contrastOf(aboutMean(base), aboutMean(new), paired)
}

// Excess returns by how much new exceeds factor times base, and the one-sided p value for no excess, NaN where Against
// has no p value. If less is set, the excess is how far new falls below that.
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

// power is the desired probability of detecting a difference that exists.
const power = 0.8

// Detectable is the smallest difference of two means, as a share of the mean, that a comparison of n values with n
// others detects at 95 % confidence with probability 0.8, if both scatter with that coefficient of variation: about
// (t(0.975) + t(0.8)) · cv · √(2/n), both with 2n−2 degrees of freedom (Cohen: Statistical Power Analysis, 2nd edition,
// section 2.4); with fewer than 5 values the probability is nearer two in three. n must be at least 2. For several
// comparisons it is the difference detectable after Holm's adjustment if there is only one.
func Detectable(cv float64, n, comparisons int) float64 {
	freedom := float64(2*n - 2)
	sure := studentQuantile(freedom, 1-alpha/2/float64(max(1, comparisons)))
	return (sure + studentQuantile(freedom, power)) * cv * math.Sqrt(2/float64(n))
}

// RunsToDetect returns the smallest sample size n, at least 4, for which Detectable is at most difference, which is
// above 0; 0 if no n up to a hundred thousand will do.
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
