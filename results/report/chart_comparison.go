package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
)

// panelMetric is one panel of the comparison: a metric of every policy.
type panelMetric struct {
	name      string // of the panel
	short     string // in titles
	unit      string // "s", or that of a count
	log       bool
	estimates []*results.Estimate   // by policy; nil: not computed
	against   []*results.Difference // by policy, from the baseline; nil: none
}

// value is the estimate of policy i; ok says that there is one.
func (m *panelMetric) value(i int) (e *results.Estimate, ok bool) {
	e = m.estimates[i]
	return e, e != nil && !e.Null() && !math.IsInf(e.Mean, 0)
}

// spell is a value in the measure's unit.
func (m *panelMetric) spell(v float64) string {
	if m.unit == "s" {
		return seconds(v)
	}
	return significant(v, 3)
}

// words are the estimate of policy i, or why there is none.
func (m *panelMetric) words(i int) string {
	e, ok := m.value(i)
	switch {
	case e == nil:
		return "not measured"
	case !ok && e.Reason == "":
		return "no value"
	case !ok:
		return "no value: " + shorten(clean(e.Reason), 120)
	case e.Bound != "":
		return "≥ " + m.spell(e.Mean)
	}
	return m.spell(e.Mean)
}

// shown reports whether policy i is shown to differ from the baseline.
func (m *panelMetric) shown(i int) bool { return m.against[i] != nil && m.against[i].Shown }

// comparisonChart shows three metrics of every policy with their intervals.
func comparisonChart(d *drawing) *sheet {
	measures := d.measures()
	s := &sheet{name: "4-dots", title: d.comparisonTitle(measures)}
	s.subtitle = fmt.Sprintf("Estimate over %s with 95%% confidence interval (Student t)", plural(d.seeds, "seed"))
	if d.seeds < 2 {
		s.subtitle = sentence(plural(d.seeds, "seed")) + ": no interval and no difference can be shown"
	}
	s.subtitle += "; left is better"
	if storm := d.storm(); storm != "" {
		s.subtitle += "; storm: " + shorten(clean(storm), nameLimit)
	}
	s.footer = d.footer(d.comparisonMarks(measures))
	s.alt = d.alt(s.title, fmt.Sprintf("%s, %s and %s", sentence(measures[0].name), measures[1].name, measures[2].name), func(i int) string {
		return fmt.Sprintf("%s, %s and %s", measures[0].words(i), measures[1].words(i), measures[2].words(i))
	})
	s.height = 16 + 28*vg.Length(max(len(d.policies), 2)) + 26
	s.body = func(c draw.Canvas) {
		row := make([]*plot.Plot, len(measures))
		for i := range measures {
			row[i] = d.comparisonPanel(&measures[i], i == 0)
		}
		tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: 16, PadTop: 16, PadRight: 8}
		for i, canvas := range plot.Align([][]*plot.Plot{row}, tiles, c)[0] {
			row[i].Draw(canvas)
		}
	}
	return s
}

// storm names the storm that the comparison is about: that of the first objective
// on fresh waits, else the first one; empty if there is none.
func (d *drawing) storm() string {
	for _, l := range d.limits() {
		if l.during != "" {
			return l.during
		}
	}
	if len(d.settings.Storms) > 0 {
		return d.settings.Storms[0].Name
	}
	return ""
}

// comparisonMarks explain the marks that are there.
func (d *drawing) comparisonMarks(measures []panelMetric) string {
	marks, hollow, more := "dot = estimate, whisker = its interval", false, false
	for k := range measures {
		for i := range d.policies {
			if e, ok := measures[k].value(i); ok {
				hollow = hollow || i != d.baseline() && !measures[k].shown(i)
				more = more || e.Bound != ""
			}
		}
	}
	if len(d.policies) > 1 {
		marks = "dotted line = baseline"
	}
	if hollow {
		marks += "; hollow = no difference shown (paired t, Holm, α 0.05)"
	}
	if more {
		marks += "; arrow = at least"
	}
	return marks
}

// measures are the panels: fresh waits in the storm, recovery after it, duplicates;
// or, where there is no storm or no duplicate, what comes nearest.
func (d *drawing) measures() []panelMetric {
	storm := d.storm()
	whole := panelMetric{name: "fresh wait p99", short: "fresh p99", unit: "s", log: true}
	var waiting, after panelMetric
	if storm == "" {
		d.fill(&whole, measure.Query{Metric: waitMetric})
		waiting = whole
		after = d.choose(panelMetric{name: "sojourn p99", short: "sojourn p99", unit: "s", log: true}, measure.Query{Metric: "sojourn.p99"},
			panelMetric{name: "longest starvation", short: "starvation", unit: "s"}, measure.Query{Metric: "starved.longest"})
	} else {
		words := shorten(clean(storm), stormLimit)
		waiting = d.choose(panelMetric{name: "fresh wait p99 in the storm", short: "fresh p99 in " + words, unit: "s", log: true}, measure.Query{Metric: waitMetric, During: storm},
			whole, measure.Query{Metric: waitMetric})
		after = d.choose(panelMetric{name: "recovery after the storm", short: "recovery", unit: "s"}, measure.Query{Metric: "recovery.time", After: storm},
			panelMetric{name: "time to drain after it", short: "drain", unit: "s"}, measure.Query{Metric: "drain.time", After: storm})
	}
	twice := d.choose(panelMetric{name: "duplicates per 10k jobs", short: "duplicates per 10k"}, measure.Query{Metric: "duplicates.per10k"},
		panelMetric{name: "attempts per job", short: "attempts per job"}, measure.Query{Metric: "attempts.mean"})
	return []panelMetric{waiting, after, twice}
}

// choose is the first measure, filled in, unless no policy has a value of it but 0;
// then it is the second one if that has any.
func (d *drawing) choose(first panelMetric, q measure.Query, second panelMetric, other measure.Query) panelMetric {
	if d.fill(&first, q) || !d.fill(&second, other) {
		return first
	}
	return second
}

// fill adds the estimates of q to m and reports whether one is not 0.
func (d *drawing) fill(m *panelMetric, q measure.Query) bool {
	any := false
	for i := range d.summary.Policies {
		p := &d.summary.Policies[i]
		m.estimates = append(m.estimates, p.Find(q))
		m.against = append(m.against, p.Against(q))
		if e, ok := m.value(i); ok && e.Mean != 0 {
			any = true
		}
	}
	return any
}

func (d *drawing) comparisonPanel(m *panelMetric, first bool) *plot.Plot {
	p := newPlot()
	high, low, least := 0.0, math.Inf(1), 0.0
	for i := range d.policies {
		if e, ok := m.value(i); ok {
			high = math.Max(high, math.Max(e.Mean, zeroed(e.High)))
			low = math.Min(low, math.Min(e.Mean, nanTo(e.Low, e.Mean)))
		}
	}
	switch {
	case math.IsInf(low, 1): // nothing but words
		p.X.Tick.Marker = plot.ConstantTicks{}
		p.X.Min, p.X.Max = 0, 1
	case m.log:
		from, to, floor := waitRange(low, high*1.5)
		p.X.Scale, p.X.Tick.Marker = logScale{}, waits(floor, 5)
		p.X.Min, p.X.Max, least = from/1.5, to, from
	case m.unit == "s":
		p.X.Tick.Marker = clock(5)
		p.X.Max = max(high*1.18, 1e-3)
		p.X.Min = -p.X.Max / 30
	default:
		p.X.Tick.Marker = counts(4)
		p.X.Max = max(high*1.18, 1e-3)
		p.X.Min = -p.X.Max / 30
	}
	names := plot.ConstantTicks{}
	label := textStyle(8.5, ink, false)
	base := d.baseline()
	if e, ok := m.value(base); ok && len(d.policies) > 1 {
		p.Add(level(max(e.Mean, least)))
	}
	for i, own := range d.policies {
		row := float64(len(d.policies) - 1 - i)
		name := " "
		if first {
			name = fit(label, own.name, 104)
		}
		names = append(names, plot.Tick{Value: row, Label: name})
		e, ok := m.value(i)
		if !ok {
			p.Add(remark{row, m.words(i)})
			continue
		}
		p.Add(dot{mean: max(e.Mean, least), low: max(nanTo(e.Low, e.Mean), least), high: max(nanTo(e.High, e.Mean), least), row: row, color: own.hue.line, label: m.words(i),
			hollow: i != base && !m.shown(i), more: e.Bound != ""})
	}
	p.Y.Tick.Marker = names
	p.Y.Tick.Label.Color = ink
	p.Y.Min, p.Y.Max = -.6, float64(len(d.policies))-.4
	p.Add(heading{name: m.name})
	return p
}

func nanTo(v, instead float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return instead
	}
	return v
}
