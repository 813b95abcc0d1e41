package results

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/mathext"
)

const (
	confidence = 0.95
	alpha      = 1 - confidence
)

// tQuantile returns the quantile of Student's t for a two-sided interval about the mean of n values: beyond it, on
// either side, lies a probability of level.
func tQuantile(n, level float64) float64 {
	return studentQuantile(n-1, 1-level/2)
}

// studentQuantile returns the quantile for probability p, at least 1/2, of Student's t distribution with v degrees of
// freedom: the t with F(t) = 1 - I(v/(v+t²); v/2, 1/2)/2 = p, where I is the regularized incomplete beta function.
// Abramowitz, Stegun: Handbook of Mathematical Functions (1964), section 26.7.
func studentQuantile(freedom, p float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 2*(1-p))
	return steady(math.Sqrt(freedom * (1 - x) / x))
}

// studentTails returns the probability that Student's t with that many degrees of freedom lies beyond t on either side.
func studentTails(freedom, t float64) float64 {
	return min(1, steady(mathext.RegIncBeta(freedom/2, 0.5, freedom/(float64(t*t)+freedom))))
}

// steady rounds v to 12 significant digits: the later digits of numbers that libraries compute with fused products
// differ between processors, and equal runs must give equal bytes on all of them.
func steady(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 11, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// halfWidth is the half-width of the t-interval of n values with the given standard deviation; NaN
// for n < 2.
func halfWidth(deviation float64, n int, level float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return tQuantile(float64(n), level) * deviation / math.Sqrt(float64(n))
}

// spreadAbout returns the standard deviation of values, taken about centre instead of their mean.
func spreadAbout(values []float64, centre float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64((v - centre) * (v - centre))
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// HalfWidth is half the width of the t-interval about centre of independent values, for a confidence in (0, 1):
// t((1+sureness)/2, n-1)·s/√n. The spread s is taken about centre, which is either the mean of the values, or, where
// they are quantiles of sections of data, that of all the data: the mean of the sections would be biased. Asmussen,
// Glynn: Stochastic Simulation (2007), section III.5. It is NaN for fewer than two values.
func HalfWidth(values []float64, centre, sureness float64) float64 {
	return halfWidth(spreadAbout(values, centre), len(values), 1-sureness)
}

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

// equal reports whether all values are the same.
func equal(values []float64) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// Interval returns the mean of values, at least one, and the half-width of its 95 % t-interval: exactly 0 if they are
// equal, NaN for fewer than 2.
func Interval(values []float64) (mean, half float64) {
	if equal(values) {
		return values[0], halfWidth(0, len(values), alpha)
	}
	mean = MeanOf(values)
	return mean, halfWidth(spreadAbout(values, mean), len(values), alpha)
}
