// Package dist has the distributions that run times, delays and gaps between arrivals are drawn from. Every draw turns
// one uniform number into one value, of the same bits on every processor:
//
//	service, err := dist.LogNormalQuantiles(0.4, 1.5) // seconds: the median and the 99th percentile
//	d := service.Duration(rand.Uniform(keyed.ForRunTime, job, delivery, 0))
package dist

import (
	"math"
	"time"
)

// Dist is a distribution of values that are not negative: run times, delays, gaps between arrivals,
// in seconds by default. Its zero value is the constant 0. A Dist is immutable and cheap to copy;
// copies share the table behind it and may be used by several goroutines.
//
// A draw turns one uniform number into one value by the inverse of the cumulative distribution
// function: nothing is rejected and no state is kept. So equal numbers give equal values, larger
// numbers never smaller ones (as common random numbers need across scenarios that differ in a
// distribution), and the bits of the value are the same on every processor.
type Dist struct {
	// A constant or uniform Dist has no curve: its quantile at u is low + u·span.
	low, span float64
	curve     *curve
}

// LongestDraw is the longest duration that Dist.Duration returns.
const LongestDraw = 100 * 365 * 24 * time.Hour

// Sample returns the value that a share u of all values does not exceed: the quantile at u in (0, 1). It is finite,
// never negative and does not fall as u grows. Its error is at most 1e-6, relative to the exact quantile or to a
// millionth of a millionth of the distribution's scale if that is more; within 1e-9 where u is below 2^-16 or above 1 -
// 2^-16. u must be inside (0, 1).
func (d Dist) Sample(u float64) float64 {
	if d.curve == nil {
		return d.low + float64(d.span*u)
	}
	return d.curve.sample(u)
}

// Duration returns the quantile Sample(u), in seconds, rounded to a nanosecond and at most LongestDraw.
func (d Dist) Duration(u float64) time.Duration {
	nanoseconds := float64(d.Sample(u) * 1e9)
	if nanoseconds < float64(LongestDraw) {
		return time.Duration(nanoseconds + 0.5)
	}
	return LongestDraw
}

// Mean returns the exact mean, in the unit of the samples. It is +Inf for a pareto
// of alpha ≤ 1.
func (d Dist) Mean() float64 {
	if d.curve == nil {
		return d.low + float64(0.5*d.span)
	}
	return d.curve.mean
}

// IsConstant reports whether every draw has the same value.
func (d Dist) IsConstant() bool {
	if d.curve == nil {
		return d.span == 0
	}
	values := d.curve.values
	return len(values) > 0 && values[0] == values[len(values)-1]
}

// leastDraw and mostDraw are the ends of the range of uniform numbers u for which there are quantiles, within (0, 1).
const (
	leastDraw = 0x1p-1000
	mostDraw  = 1 - 0x1p-53
)

// insideUnit returns the number in [leastDraw, mostDraw] that is nearest to u; NaN
// counts as 0.
func insideUnit(u float64) float64 {
	if !(u > leastDraw) {
		return leastDraw
	}
	return math.Min(u, mostDraw)
}
