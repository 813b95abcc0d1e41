package results

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// HalfWidth is that of the t-interval about centre of at least two independent values, for
// a confidence in (0, 1): t((1+confidence)/2, n-1)·s/√n. The spread s is taken about the
// mean of the values, or about centre if that is not their mean, as sectioning does; see
// Estimate. It is NaN for fewer than two values.
func HalfWidth(values []float64, centre, confidence float64) float64 {
	n := len(values)
	if n < 2 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range values {
		sum += float64((v - centre) * (v - centre))
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
	return t * math.Sqrt(sum/float64(n-1)) / math.Sqrt(float64(n))
}

// MeanOf is the mean of values, NaN of none. Of equal values it is exact.
func MeanOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	first, equal := values[0], true
	for _, v := range values {
		equal = equal && v == first
	}
	if equal {
		return first
	}
	return stat.Mean(values, nil)
}
