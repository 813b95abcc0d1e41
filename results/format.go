package results

import (
	"math"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// FormatValue returns a value in the unit of its metric as text: 4m13s, 8.8s, 120ms, 97%, 4.43, 12,300; Missing for
// NaN.
func FormatValue(v float64, info measure.MetricInfo) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return plain.Missing
	case info.Unit == "s":
		return plain.Duration(v)
	case info.Share:
		if v < 1e-4 {
			return plain.Digits(v*100, 2) + "%"
		}
		return plain.Digits(v*100, 3) + "%"
	case v != 0 && math.Abs(v) < 0.0005:
		return strings.Replace(strconv.FormatFloat(v, 'g', 2, 64), "-", "−", -1)
	}
	return strings.Replace(plain.Grouped(plain.Digits(v, 3)), "-", "−", 1)
}

// vague is the ratio of an interval's half-width to the value from which the value is printed with one digit.
const vague = 5

// FormatEstimate returns the value of an estimate as text, a lower bound with ≥ before it.
func FormatEstimate(e *Estimate, info measure.MetricInfo) string {
	if e == nil || e.Null() {
		return plain.Missing
	}
	mean := e.Mean
	if e.Half > vague*math.Abs(mean) && mean != 0 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(mean))))
		mean = math.Round(mean/unit) * unit
	}
	if e.Bound != "" {
		return "≥ " + FormatValue(mean, info)
	}
	return FormatValue(mean, info)
}

// FormatHalf returns the half-width of an interval as text, with two significant digits: ±0.5s.
func FormatHalf(half float64, info measure.MetricInfo) string {
	switch {
	case info.Unit == "s":
		return "±" + plain.Duration(half)
	case info.Share:
		return "±" + plain.Digits(half*100, 2) + "%"
	}
	return "±" + plain.Grouped(plain.Digits(half, 2))
}

// Limit returns the bound of an objective as text: "≤ 10s", "≥ 90%", and "= 0" for at most 0, as no metric is negative.
func (v *Verdict) Limit() string {
	if bound, ok := strings.CutPrefix(v.Text, "above "); ok {
		return "≥ " + groupedBound(bound)
	}
	bound, ok := strings.CutPrefix(v.Text, "below ")
	if !ok {
		return v.Text
	}
	if rest := strings.TrimLeft(bound, "0."); rest == "" || rest != bound && (rest[0] < '1' || rest[0] > '9') {
		return "= " + bound
	}
	return "≤ " + groupedBound(bound)
}

// groupedBound puts commas between the thousands of a bound that is a bare number, as in the values printed beside it.
func groupedBound(bound string) string {
	if strings.Trim(bound, "0123456789.") != "" {
		return bound
	}
	return plain.Grouped(bound)
}

// Expected reports whether v is a miss that the scenario expects: neither a success nor a failure.
func (v *Verdict) Expected() bool { return v.Outcome == Missed && v.Expect }

// inUnitOf returns the metric's description with the unit of an objective's bound: a ratio that may exceed 1 is printed
// in % if its bound is.
func inUnitOf(info measure.MetricInfo, bound string) measure.MetricInfo {
	info.Share = info.Share || info.Unit == "1" && strings.HasSuffix(bound, "%")
	return info
}

// Words returns the value of a verdict with its interval as text, for a table.
func (v *Verdict) Words() string {
	info, _ := measure.Lookup(v.Metric)
	info = inUnitOf(info, v.Text)
	words := FormatEstimate(&Estimate{Mean: v.Value, Bound: v.Bound}, info)
	if !math.IsNaN(v.Half) {
		words += " " + FormatHalf(v.Half, info)
	}
	return words
}
