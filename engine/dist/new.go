package dist

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is the error for an invalid parameter of a distribution: its name in scenario files, and the reason.
type Error struct{ Parameter, Reason string }

// Error returns the parameter and the reason: "p99: 400ms is not above p50, 500ms".
func (e *Error) Error() string { return e.Parameter + ": " + e.Reason }

// leastScale and the constants below bound the parameters of distributions. Values between them leave room for the
// rarest draw and the smallest probability without overflow.
const (
	leastScale = 1e-100
	mostScale  = 1e100
)

// Constant returns the distribution of the single value v, in [0, 1e100].
func Constant(v float64) (Dist, error) {
	if err := checkValue("value", v); err != nil {
		return Dist{}, err
	}
	return Dist{low: v}, nil
}

// Uniform returns the uniform distribution over [min, max], 0 ≤ min ≤ max.
func Uniform(min, max float64) (Dist, error) {
	if err := cmp.Or(checkValue("min", min), checkValue("max", max)); err != nil {
		return Dist{}, err
	}
	if min > max {
		return Dist{}, &Error{"min", spellSeconds(min) + " is above max, " + spellSeconds(max)}
	}
	// Should max - min round up, then by less than u < 1 takes off again.
	return Dist{low: min, span: max - min}, nil
}

// Exponential returns the exponential distribution with that mean, in [1e-100, 1e100].
func Exponential(mean float64) (Dist, error) {
	if err := checkScale("mean", mean); err != nil {
		return Dist{}, err
	}
	return newDist(mean, mean, func(t float64, upper bool, _ float64) (float64, float64) {
		return float64(mean * unitExponential(t, upper)), 0
	})
}

// LogNormalMeanCV returns the log-normal distribution with that mean and coefficient of variation (standard deviation ÷
// mean), cv in [1e-6, 1000].
func LogNormalMeanCV(mean, cv float64) (Dist, error) {
	if err := cmp.Or(checkScale("mean", mean), checkRange("cv", cv, 1e-6, 1000)); err != nil {
		return Dist{}, err
	}
	square := float64(cv * cv)
	shape := math.Sqrt(portableLog1p(square))
	return newLogNormal(mean, mean/math.Sqrt(1+square), shape)
}

// LogNormalQuantiles returns the log-normal distribution with that median and 99th percentile, p99 ÷ p50 in (1, 1e9].
func LogNormalQuantiles(p50, p99 float64) (Dist, error) {
	if err := cmp.Or(checkScale("p50", p50), checkScale("p99", p99)); err != nil {
		return Dist{}, err
	}
	if p99 <= p50 {
		return Dist{}, &Error{"p99", spellSeconds(p99) + " is not above p50, " + spellSeconds(p50)}
	}
	ratio := p99 / p50
	if ratio > 1e9 {
		return Dist{}, &Error{"p99", spellSeconds(p99) + " is more than 1e9 times p50, " + spellSeconds(p50)}
	}
	// ln(p99/p50), precise for a ratio near 1 too: p99 - p50 is exact there.
	shape := portableLog1p((p99-p50)/p50) / normalUpperQuantile(0.01)
	mean := float64(p50 * portableExp(float64(0.5*float64(shape*shape))))
	return newLogNormal(mean, p50, shape)
}

func newLogNormal(mean, median, sigma float64) (Dist, error) {
	return newDist(mean, median, raised(median, func(t float64, upper bool, _ float64) float64 {
		return float64(sigma * normalQuantile(t, upper))
	}))
}

// Normal returns the folded normal distribution: of the absolute value of a normal variable with that mean, at least 0,
// and standard deviation. The mean of the result is larger, the more so the smaller mean ÷ sd.
func Normal(mean, sd float64) (Dist, error) {
	if err := cmp.Or(checkValue("mean", mean), checkScale("sd", sd)); err != nil {
		return Dist{}, err
	}
	shape := mean / sd
	if shape >= 40 { // the least draw, 2^-1000, lies 37 deviations below the mean
		return newDist(mean, sd, func(t float64, upper bool, _ float64) (float64, float64) { // its sign does not matter
			return float64(sd * (shape + normalQuantile(t, upper))), 0
		})
	}
	// E|X| = m·(1 - 2Φ(-m)) + √(2/π)·e^(-m²/2)
	folded := float64(shape*(1-float64(2*normalCDF(-shape)))) +
		float64(sqrt2OverPi*portableExp(-float64(0.5*float64(shape*shape))))
	return newDist(float64(sd*folded), sd, raised(sd, foldedTail(shape).search))
}

// Gamma returns the gamma distribution with that mean and coefficient of variation, cv in [0.001, 100].
func Gamma(mean, cv float64) (Dist, error) {
	if err := cmp.Or(checkScale("mean", mean), checkRange("cv", cv, 0.001, 100)); err != nil {
		return Dist{}, err
	}
	return newDist(mean, mean, raised(mean, gammaTail(1/float64(cv*cv)).search))
}

// Erlang returns the distribution of the sum of k equal exponential variables with a total mean of mean, k in [1,
// 1000000].
func Erlang(mean float64, k int) (Dist, error) {
	if err := cmp.Or(checkScale("mean", mean), checkRange("k", float64(k), 1, 1e6)); err != nil {
		return Dist{}, err
	}
	return newDist(mean, mean, raised(mean, gammaTail(float64(k)).search))
}

// Weibull returns the Weibull distribution with that mean and shape, in [0.05, 1000]: below 1 the tail is heavier than
// that of the exponential, above 1 lighter.
func Weibull(mean, shape float64) (Dist, error) {
	if err := cmp.Or(checkScale("mean", mean), checkRange("shape", shape, 0.05, 1000)); err != nil {
		return Dist{}, err
	}
	scale := float64(mean * portableExp(-logGamma(1+1/shape)))
	return newDist(mean, scale, raised(scale, func(t float64, upper bool, _ float64) float64 {
		return portableLog(unitExponential(t, upper)) / shape
	}))
}

// Pareto returns the Pareto distribution, which exceeds x ≥ min with probability (min/x)^alpha, alpha in [0.1, 1000].
// Its mean is infinite for alpha ≤ 1.
func Pareto(min, alpha float64) (Dist, error) {
	if err := cmp.Or(checkScale("min", min), checkRange("alpha", alpha, 0.1, 1000)); err != nil {
		return Dist{}, err
	}
	mean := math.Inf(1)
	if alpha > 1 {
		mean = float64(min*alpha) / (alpha - 1)
	}
	return newDist(mean, min, raised(min, func(t float64, upper bool, _ float64) float64 {
		return unitExponential(t, upper) / alpha
	}))
}

// HyperExponential returns the mixture of two exponentials that each contribute half
// of the mean, with this coefficient of variation, cv in [1, 1000].
func HyperExponential(mean, cv float64) (Dist, error) {
	if err := cmp.Or(checkScale("mean", mean), checkRange("cv", cv, 1, 1000)); err != nil {
		return Dist{}, err
	}
	// p = (1+r)/2, q = (1-r)/2 with r² = (cv²-1)/(cv²+1), so 1-r² = 2/(cv²+1).
	square := float64(cv * cv)
	r := math.Sqrt((square - 1) / (square + 1))
	p, q := float64(0.5*(1+r)), 1/float64((square+1)*(1+r))
	return newDist(mean, mean, raised(mean, hyperexponentialTail(p, q).search))
}

// Empirical returns the distribution that draws each of values, at least one and none
// negative, with equal probability. It keeps a sorted copy.
func Empirical(values []float64) (Dist, error) {
	if len(values) == 0 {
		return Dist{}, &Error{"values", "there are none"}
	}
	for i, v := range values {
		if err := checkValue(fmt.Sprintf("values[%d]", i), v); err != nil {
			return Dist{}, err
		}
	}
	c := &curve{values: slices.Clone(values)}
	slices.Sort(c.values)
	// The rounding errors of the additions are summed separately (Knuth's TwoSum).
	sum, lost := 0.0, 0.0
	for _, v := range c.values {
		next := sum + v
		added := next - sum
		lost += (sum - (next - added)) + (v - added)
		sum = next
	}
	c.mean = (sum + lost) / float64(len(values))
	return Dist{curve: c}, nil
}

// newDist returns the distribution with that mean, scale and quantile function.
func newDist(mean, unit float64, q quantile) (Dist, error) {
	c := &curve{quantile: q, unit: unit, mean: mean}
	return Dist{curve: c.tabulate()}, nil
}

// checkValue returns an error unless v is a number in [0, mostScale]; the error spells a negative value in seconds.
func checkValue(parameter string, v float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return &Error{parameter, spellNumber(v) + " is not a finite number"}
	case v < 0:
		return &Error{parameter, spellSeconds(v) + " is negative"}
	case v > mostScale:
		return &Error{parameter, spellNumber(v) + " is above 1e100"}
	}
	return nil
}

// checkScale returns an error unless a parameter in seconds, such as a mean, is in [leastScale, mostScale].
func checkScale(parameter string, v float64) error {
	if err := checkValue(parameter, v); err != nil {
		return err
	}
	switch {
	case v == 0:
		return &Error{parameter, spellSeconds(v) + " is not positive"}
	case v < leastScale:
		return &Error{parameter, spellNumber(v) + " is below 1e-100"}
	}
	return nil
}

// checkRange returns an error unless a parameter without a unit is in [least, most].
func checkRange(parameter string, v, least, most float64) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return &Error{parameter, spellNumber(v) + " is not a finite number"}
	case v <= 0:
		return &Error{parameter, spellNumber(v) + " is not positive"}
	case v < least || v > most:
		return &Error{parameter, fmt.Sprintf("%s is not in [%s, %s]", spellNumber(v), spellNumber(least), spellNumber(most))}
	}
	return nil
}

func spellNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// spellSeconds returns v seconds as scenarios spell durations, 2m and 500us, to the nanosecond; numbers out of range in
// plain seconds.
func spellSeconds(v float64) string {
	nanoseconds := math.Round(float64(v * 1e9))
	if math.Abs(nanoseconds) >= 1<<62 || (nanoseconds == 0 && v != 0) {
		return spellNumber(v) + "s"
	}
	s := strings.Replace(time.Duration(nanoseconds).String(), "µ", "u", 1)
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
