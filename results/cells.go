package results

import (
	"fmt"
	"math"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// TableCell is a cell of the results table: the value of one metric under one policy, its change from the baseline
// policy and the verdicts of the objectives on it, as texts that the terminal and the reports print alike.
type TableCell struct {
	Mean     float64    // mean over the seeds; NaN: no value, for Reason
	Value    string     // the value as text: 4m13s, ≥ 2h00m, or plain.Missing
	Half     string     // half-width of the interval, ±12.6s; "": none, or below the last digit of Value
	Baseline bool       // the policy is the baseline of the comparison
	Change   string     // change from the baseline: −97%, ×2.4; "": unknown, or this is the baseline
	Mark     string     // sign beside Change: ≈ equivalent, ? neither a difference nor equivalence is shown, or ""
	Tell     int        // with Mark ?, about how many seeds would decide; 0: no number of seeds would
	Shown    bool       // the difference from the baseline is significant
	Verdicts []*Verdict // on the objectives, in their order
	Best     bool       // no policy has a better value, and at least one has a worse; see Column.Gain
	Reason   string
	Estimate *Estimate // estimate of the metric; nil: it was not measured

	difference *Contrast // difference from the baseline; nil: there is none
}

// CellOf returns the results table's cell for the metric q under policy i, all but its field Best, which ColumnOf sets.
func CellOf(s *Summary, i int, q measure.Query) TableCell {
	p, info := &s.Policies[i], s.lookup(q)
	e, d := p.Find(q), p.Against(q)
	cell := TableCell{Mean: math.NaN(), Value: FormatEstimate(e, info), Baseline: p.Baseline, Change: s.changeOf(p, q),
		Estimate: e, difference: d}
	switch {
	case e == nil:
		cell.Reason = "it was not measured"
		return cell
	case e.Null():
		cell.Reason = e.Reason
	default:
		cell.Mean, cell.Half = e.Mean, halfOf(e, info)
	}
	if d != nil {
		cell.Shown = d.Shown
		if cell.Mark = d.Mark(); cell.Mark == "?" {
			cell.Tell = d.Tell
		}
	}
	cell.Verdicts = plain.Where(s.Objectives, func(v *Verdict) bool { return v.Query == q && v.Policy == p.Label })
	return cell
}

// objectivesOn returns the verdicts of the objectives on the metric of a query.
func (s *Summary) objectivesOn(q measure.Query) []*Verdict {
	return plain.Where(s.Objectives, func(v *Verdict) bool { return v.Query == q })
}

// lookup returns the description of the metric of a query, with the unit % if an objective on it has a bound in %.
func (s *Summary) lookup(q measure.Query) measure.MetricInfo {
	info, _ := measure.Lookup(q.Metric)
	for _, v := range s.objectivesOn(q) {
		info = inUnitOf(info, v.Text)
	}
	return info
}

// halfOf returns the half-width of an estimate's confidence interval as text, "" if below the last printed digit.
func halfOf(e *Estimate, info measure.MetricInfo) string {
	value := FormatValue(e.Mean, info)
	below := FormatValue(e.Mean+e.Half, info) == value && FormatValue(e.Mean-e.Half, info) == value
	return plain.When(!math.IsNaN(e.Half) && !below, FormatHalf(e.Half, info))
}

// Marks returns the signs of the verdicts on objectives in a cell of the results table, each sign once: ✓ met, ✗
// missed, ? unclear, so "✓✗" if some are met and some are missed; "" without objectives.
func (c *TableCell) Marks() string {
	signs := plain.Map(c.Verdicts, func(v *Verdict) string { return v.Outcome.Sign() })
	return strings.Join(plain.Distinct(signs), "")
}

// changeOf returns the relative change of a metric from the baseline to policy p as text, such as −97%; "": unknown.
func (s *Summary) changeOf(p *PolicySummary, q measure.Query) string {
	e, base := p.Find(q), s.Policies[s.Baseline()].Find(q)
	switch {
	case p.Baseline || e == nil || base == nil || e.Null() || base.Null() || e.Bound != "" && base.Bound != "":
		return ""
	case e.Mean == base.Mean:
		return "0%"
	case base.Mean == 0:
		return ""
	}
	return plain.When(e.Bound != "", "≥ ") + plain.When(base.Bound != "", "≤ ") + FormatChange(e.Mean/base.Mean)
}

// FormatChange returns a ratio of two values as a change in text: −97%, +12%, ×2.4.
func FormatChange(ratio float64) string {
	percent := (ratio - 1) * 100
	if ratio == 0 {
		return "−100%"
	}
	if percent >= 99.5 {
		return "×" + plain.Grouped(plain.Digits(ratio, 2))
	}
	if size := math.Abs(percent); size >= 1 && percent > -99 {
		return strings.Replace(fmt.Sprintf("%+.0f%%", percent), "-", "−", 1)
	}
	tenths := math.Trunc(percent*10) / 10 // truncated, so that 99.99 % is not printed as 100 %
	if tenths == 0 {
		return "0%"
	}
	return strings.Replace(fmt.Sprintf("%+.1f%%", tenths), "-", "−", 1)
}

// AlikeText describes a column in which all policies are equal: "no dead jobs", "attempts per job 1.2 (✓ ≤ 2)".
func (c *Column) AlikeText() string {
	cell := &c.Cells[0]
	text := c.Label + " " + cell.Value
	switch {
	case c.zero() && !c.Info.MoreIsBetter && c.Info.Unit != "s":
		whose, what := "", c.Label
		if before, after, found := strings.Cut(c.Label, ": "); found {
			whose, what = before+": ", after
		}
		text = whose + "no " + strings.TrimSuffix(strings.TrimPrefix(what, "share of "), " per 10k jobs")
	case math.IsNaN(cell.Mean):
		text = c.Label + ": " + cell.Reason
	case cell.Half != "":
		text += " " + cell.Half
	}
	marks := cell.Marks()
	return text + plain.When(marks != "", " ("+marks+" "+c.GoalText()+")")
}

// FormatValue returns a value in its metric's unit as text: 4m13s, 8.8s, 120ms, 97%, 4.43, 12,300; Missing for NaN.
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
	}
	return strings.Replace(plain.Grouped(plain.Digits(v, 3)), "-", "−", 1)
}

// vague is a threshold: a value is printed with one digit if its confidence interval's half-width is more than this
// many times the value itself.
const vague = 5

// FormatEstimate returns an estimate's value in its metric's unit as text: 4m13s, ≥ 2h00m (a lower bound), Missing.
func FormatEstimate(e *Estimate, info measure.MetricInfo) string {
	if e == nil || e.Null() {
		return plain.Missing
	}
	shown := FormatValue(e.Mean, info)
	if e.Half > vague*math.Abs(e.Mean) && e.Mean != 0 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(e.Mean))))
		shown = strings.Replace(FormatValue(math.Round(e.Mean/unit)*unit, info), ".0s", "s", 1)
	}
	return plain.When(e.Bound != "", "≥ ") + shown
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

// Worst returns the verdict that stands for several: the last that is missed, else the first that is unclear, else the
// first; nil for none.
func Worst(verdicts []*Verdict) (worst *Verdict) {
	for _, v := range verdicts {
		if worst == nil || v.Outcome == Missed || v.Outcome == Unclear && worst.Outcome == Met {
			worst = v
		}
	}
	return worst
}

// Expected reports whether a verdict is a miss that the scenario expects: it counts neither as met nor as a failure.
func (v *Verdict) Expected() bool { return v.Outcome == Missed && v.Expect }

// Kind returns how a verdict counts: "met", "missed" (also an objective met that the scenario expects to be missed),
// "expected" (a miss that the scenario expects) or "unclear".
func (v *Verdict) Kind() string {
	switch {
	case v.Outcome == Unclear:
		return "unclear"
	case v.Expected():
		return "expected"
	case v.Failed(false):
		return "missed"
	}
	return "met"
}

// inUnitOf returns the metric's description, with values in % if it is a ratio and the objective's bound is in %.
func inUnitOf(info measure.MetricInfo, bound string) measure.MetricInfo {
	info.Share = info.Share || info.Unit == "1" && strings.HasSuffix(bound, "%")
	return info
}

// Words returns the measured value that a verdict is about and the half-width of its interval as text: "4m13s ±12.6s".
func (v *Verdict) Words() string {
	info, _ := measure.Lookup(v.Metric)
	info = inUnitOf(info, v.Text)
	return FormatEstimate(&Estimate{Mean: v.Value, Bound: v.Bound}, info) +
		plain.When(!math.IsNaN(v.Half), " "+FormatHalf(v.Half, info))
}
