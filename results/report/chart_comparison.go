package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"qsim/results"
	"qsim/results/plain"
)

// valueWords returns the estimate in a cell of the results table as text, or the reason why there is none.
func valueWords(cell *results.TableCell) string {
	switch e := cell.Estimate; {
	case e == nil:
		return "not measured"
	case !e.Finite() && e.Reason == "":
		return "no value"
	case !e.Finite():
		return "no value: " + plain.Shorten(clean(e.Reason), 120)
	}
	return cell.Value
}

// mostMeasures is the highest number of metrics that the comparison chart shows.
const mostMeasures = 4

var _ = builtInChart(90, "comparison", "4-dots", comparisonChart, "Gain and price with their intervals")

// comparisonChart returns the chart of the results table's first metrics, benefits and costs, with their intervals.
func comparisonChart(d *drawing) *sheet {
	measures := d.measures()
	s := &sheet{Figure: Figure{Title: d.finding(), Footer: d.footer(d.comparisonMarks(measures))}}
	seeds := plain.Plural(d.seeds, "seed")
	s.Subtitle = plain.Either(d.seeds < 2, plain.Capital(seeds)+": no interval and no difference can be shown",
		"Estimate over "+seeds+" with 95% confidence interval (Student t)")
	s.alt = d.alt(plain.Capital(list(plain.Map(measures, headingOf))), func(i int) string {
		return list(plain.Map(measures, func(m *results.Column) string { return valueWords(&m.Cells[i]) }))
	})
	s.panels = &panels{n: len(measures), columns: min(len(measures), 2), above: abovePanel + 12,
		tall: 27 * vg.Length(max(len(d.policies), 2))}
	s.panels.fill = func(p *plot.Plot, i int, alone bool) { d.comparisonPanel(p, measures[i], alone) }
	return s
}

// comparisonMarks returns the explanation, for the footer, of those marks that the comparison chart has.
func (d *drawing) comparisonMarks(measures []*results.Column) string {
	base, dotted, hollow, more := d.summary.Baseline(), false, false, false
	for k := range measures {
		for i := range d.policies {
			if c := &measures[k].Cells[i]; c.Estimate.Finite() {
				dotted = dotted || i == base && len(d.policies) > 1
				hollow = hollow || i != base && !c.Shown
				more = more || c.Estimate.Bound != ""
			}
		}
	}
	return d.marks("dot = the one seed", "dot = estimate, whisker = its interval") +
		plain.When(dotted, "; dotted line = baseline") +
		plain.When(hollow, "; hollow = no difference shown (paired t, Holm, α 0.05)") +
		plain.When(more, "; arrow = at least")
}

// measures returns the metrics of the comparison chart, one per panel: first the benefits, then costs.
func (d *drawing) measures() []*results.Column {
	gets, pays := d.table.In(results.Gets), d.table.In(results.Pays)
	most := max(mostMeasures-len(pays), mostMeasures-1)
	columns := slices.Concat(gets[:min(len(gets), most)], pays, gets[min(len(gets), most):])
	if len(columns) == 0 && len(d.table.Alike) > 0 {
		columns = append(columns, &d.table.Alike[0])
	}
	return columns[:min(len(columns), mostMeasures)]
}

// meansApart reports whether the means of a metric are so far apart that its axis is logarithmic.
func meansApart(m *results.Column) bool {
	means := plain.Map(m.Cells, func(cell results.TableCell) float64 { return cell.Mean })
	return wide(plain.ExtentOf(means...), m.Info)
}

// headingOf returns the heading of a metric's panel in the comparison chart.
func headingOf(m *results.Column) string {
	return clean(m.Label) + plain.When(!m.Info.LessIsBetter, " ("+better(m.Info)+")")
}

// comparisonPanel draws the estimates of one metric, a row for each policy, with names at the left in the first panel.
func (d *drawing) comparisonPanel(p *plot.Plot, m *results.Column, first bool) {
	seen, least := plain.ExtentOf(), 0.0
	for i := range d.policies {
		if e := m.Cells[i].Estimate; e.Finite() {
			seen.Include(e.Mean, nanTo(e.Low, e.Mean), nanTo(e.High, e.Mean))
		}
	}
	axis := valueAxis{info: m.Info}
	if meansApart(m) {
		axis.overWaits(seen.Low, seen.High*1.5)
		axis.from, least = axis.from/1.5, axis.from
	} else {
		axis.to = max(zeroed(seen.High)*1.18, 1e-3)
		axis.from = -axis.to / 30
	}
	axis.set(&p.X, plain.Either(m.Info.Unit == "s", 5, 4))
	if seen.Empty() { // nothing but words
		p.X.Tick.Marker, p.X.Min, p.X.Max = plot.ConstantTicks{}, 0, 1
	}
	names := plot.ConstantTicks{}
	label := textStyle(8.5, ink, false)
	base := d.summary.Baseline()
	if e := m.Cells[base].Estimate; e.Finite() && len(d.policies) > 1 {
		p.Add(level(max(e.Mean, least)))
	}
	for i, own := range d.policies {
		row := float64(len(d.policies) - 1 - i)
		name := " "
		if first {
			name = fit(label, own.name, 104)
		}
		names = append(names, plot.Tick{Value: row, Label: name})
		e := m.Cells[i].Estimate
		if !e.Finite() {
			p.Add(remark(row, valueWords(&m.Cells[i])))
			continue
		}
		p.Add(dot{mean: max(e.Mean, least), low: max(nanTo(e.Low, e.Mean), least), high: max(nanTo(e.High, e.Mean), least),
			row: row, color: own.hue.line, label: valueWords(&m.Cells[i]),
			hollow: i != base && !m.Cells[i].Shown, more: e.Bound != ""})
	}
	p.Y.Tick.Marker = names
	p.Y.Tick.Label.Color = ink
	p.Y.Min, p.Y.Max = -.6, float64(len(d.policies))-.4
	p.Add(heading{name: headingOf(m)})
}

func nanTo(v, instead float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return instead
	}
	return v
}
