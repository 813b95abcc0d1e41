package results

import (
	"math"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// FormatValue writes a value in the unit of its metric for people: 4m13s, 8.8s, 120ms, 97%,
// 4.43, 12,300; Missing for NaN.
func FormatValue(v float64, info measure.MetricInfo) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return plain.Missing
	case info.Unit == "s":
		return plain.Duration(v)
	case info.Share:
		return plain.Digits(v*100, 3) + "%"
	case v != 0 && math.Abs(v) < 0.0005:
		return strings.Replace(strconv.FormatFloat(v, 'g', 2, 64), "-", "−", -1)
	}
	return strings.Replace(plain.Grouped(plain.Digits(v, 3)), "-", "−", 1)
}

// FormatEstimate writes the value of e for people; a bound with its sign.
func FormatEstimate(e *Estimate, info measure.MetricInfo) string {
	switch {
	case e == nil || e.Null():
		return plain.Missing
	case e.Bound != "":
		return "≥ " + FormatValue(e.Mean, info)
	}
	return FormatValue(e.Mean, info)
}

// FormatHalf writes a half-width, with two significant digits.
func FormatHalf(half float64, info measure.MetricInfo) string {
	switch {
	case info.Unit == "s":
		return "±" + plain.Duration(half)
	case info.Share:
		return "±" + plain.Digits(half*100, 2) + "%"
	}
	return "±" + plain.Grouped(plain.Digits(half, 2))
}

// Sign is that of v's outcome: ✓ met, ✗ missed, ? unclear.
func (v *Verdict) Sign() string {
	switch v.Outcome {
	case Met:
		return "✓"
	case Unclear:
		return "?"
	}
	return "✗"
}

// Words returns the value of v with its interval, as in a table.
func (v *Verdict) Words() string {
	info, _ := measure.Lookup(v.Metric)
	words := FormatEstimate(&Estimate{Mean: v.Value, Bound: v.Bound}, info)
	if !math.IsNaN(v.Half) {
		words += " " + FormatHalf(v.Half, info)
	}
	return words
}
