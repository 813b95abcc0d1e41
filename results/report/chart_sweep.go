package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// sweepFigures is the highest number of metrics of a sweep that get a figure.
const sweepFigures = 12

// SweepCharts draws a figure for each of the first metrics of a sweep (runs over a grid of values of scenario keys):
// the metric against one of the keys, a line for each policy, a panel for each combination of the other keys. Equal
// sweeps have equal figures.
func SweepCharts(s *results.Sweep) ([]Figure, error) {
	if len(s.Axes) == 0 || len(s.Policies) == 0 || len(s.Cells) == 0 {
		return nil, fmt.Errorf("draw sweep: it has %d axes, %d policies and %d cells", len(s.Axes), len(s.Policies),
			len(s.Cells))
	}
	var figures []Figure
	slugs := results.Slugs(plain.Map(s.Queries, measure.Query.String))
	for i, slug := range slugs[:min(len(slugs), sweepFigures)] {
		d := newSweepDrawing(s, i)
		figures = append(figures, d.sheet(fmt.Sprintf("sweep-%d-%s", i+1, slug)).render())
	}
	return figures, nil
}

// sweepDrawing draws the chart of one metric of a sweep (runs over a grid of values of scenario keys).
type sweepDrawing struct {
	*results.Sweep
	metric   int   // index of the metric in Queries
	x        int   // index of the horizontal axis in Axes
	others   []int // indexes of the other axes that have several values
	panels   []sweepPanel
	omitted  int // number of panels left out
	policies int // number of policies drawn
	across   keyAxis
	up       valueAxis
}

// sweepPanel is a panel of a sweep chart: one combination of values of the scenario keys besides the horizontal axis's.
type sweepPanel struct {
	name  string
	cells []*results.Cell // cells by value of the horizontal axis; nil: not measured
}

// sweepPolicies is the highest number of policies in one panel: the number of colours.
const sweepPolicies = len(hues)

func newSweepDrawing(s *results.Sweep, metric int) *sweepDrawing {
	d := &sweepDrawing{Sweep: s, metric: metric, policies: min(len(s.Policies), sweepPolicies)}
	d.up.info, _ = measure.Lookup(s.Queries[metric].Metric)
	d.chooseAxis()
	d.collect()
	d.scale()
	return d
}

// chooseAxis chooses the scenario key of a sweep chart's x axis: that with most values, a numeric one if there is any.
func (d *sweepDrawing) chooseAxis() {
	_, d.x = extremes(plain.Map(d.Axes, func(a results.Axis) float64 {
		if a.Numbers != nil && len(a.Values) > 1 {
			return float64(len(a.Values) + 1<<20)
		}
		return float64(len(a.Values))
	}))
	for i := range d.Axes {
		if i != d.x && len(d.Axes[i].Values) > 1 {
			d.others = append(d.others, i)
		}
	}
	d.across = newKeyAxis(&d.Axes[d.x])
}

// collect sorts the cells of a sweep into the panels of its chart, and leaves out panels beyond panelLimit.
func (d *sweepDrawing) collect() {
	at, short := map[string]int{}, d.ShortKeys()
	for i := range d.Cells {
		position := d.Position(d.Cells[i].Index)
		name := strings.Join(plain.Map(d.others, func(axis int) string {
			return clean(short[axis]) + " " + clean(d.Axes[axis].Values[position[axis]])
		}), ", ")
		k, found := at[name]
		if !found {
			k = len(d.panels)
			at[name] = k
			d.panels = append(d.panels, sweepPanel{name, make([]*results.Cell, len(d.across.xs))})
		}
		d.panels[k].cells[position[d.x]] = &d.Cells[i]
	}
	if all := len(d.panels); all > panelLimit { // some from all over
		var some []sweepPanel
		for i := range panelLimit {
			some = append(some, d.panels[i*(all-1)/(panelLimit-1)])
		}
		d.panels, d.omitted = some, all-panelLimit
	}
}

// estimate returns the estimate of a policy in a cell of the sweep; ok is false if there is no finite value.
func (d *sweepDrawing) estimate(c *results.Cell, policy int) (e *results.Estimate, ok bool) {
	if c == nil {
		return nil, false
	}
	e = &c.Rows[policy].Estimates[d.metric]
	return e, e.Finite()
}

// each calls visit with every finite estimate of the metric, over all cells and policies.
func (d *sweepDrawing) each(visit func(c *results.Cell, policy int, e *results.Estimate)) {
	for i := range d.Cells {
		for policy := range d.Policies {
			if e, ok := d.estimate(&d.Cells[i], policy); ok {
				visit(&d.Cells[i], policy, e)
			}
		}
	}
}

// limits returns the first objectives on the chart's metric with distinct bounds, limitCount at most.
func (d *sweepDrawing) limits() []measure.Objective {
	return distinctBounds(d.Objectives, func(o measure.Objective) bool { return o.Query == d.Queries[d.metric] })
}

// scale sets the range of the value axis, logarithmic for durations that span a large ratio.
func (d *sweepDrawing) scale() {
	seen := plain.ExtentOf()
	d.each(func(_ *results.Cell, policy int, e *results.Estimate) {
		if policy < d.policies {
			seen.Include(e.Mean, e.High)
		}
	})
	for _, o := range d.limits() {
		seen.Include(o.Bound)
	}
	if d.up.over(seen, 1.06); d.up.info.Share {
		d.up.to = math.Min(d.up.to, 1.02)
	}
}

// spellEstimate returns an estimate as text with the metric's unit, a lower bound with ≥ before it.
func (d *sweepDrawing) spellEstimate(e *results.Estimate) string {
	return plain.When(e.Bound != "", "≥ ") + spell(e.Mean, d.up.info)
}

func (d *sweepDrawing) sheet(name string) *sheet {
	s := &sheet{Figure: Figure{Name: name, Title: d.title(), Subtitle: d.subtitle(), Footer: d.footer()}, alt: d.alt()}
	for i := range d.policies {
		if d.policies > 1 {
			s.key = append(s.key, entry{name: clean(d.Policies[i].Label), color: hueOf(i).line, dashes: hueOf(i).dashes})
		}
	}
	s.panels = newPanels(len(d.panels))
	s.panels.fill = d.panel
	return s
}

// panel draws panel i of a sweep chart into p: a line for each policy, and limits; all panels have the same axes.
func (d *sweepDrawing) panel(p *plot.Plot, i int, _ bool) {
	own := &d.panels[i]
	d.across.set(p, &d.up, len(d.panels), 1, 0, 1)
	outside := func(l limit) bool { return !(p.Y.Min <= l.Bound && l.Bound <= p.Y.Max) } // NaN, too
	p.Add(limitLines(slices.DeleteFunc(d.limits(), outside)))
	empty := true
	for policy := range d.policies {
		l := d.line(own, policy)
		p.Add(l)
		empty = empty && len(runs(l.means)) == 0
	}
	if empty {
		p.Add(note(d.reason(own)))
	}
	p.Add(heading{name: own.name})
}

// line returns the plotted line of a policy in one panel of a sweep chart.
func (d *sweepDrawing) line(own *sweepPanel, policy int) sweepLine {
	l := sweepLine{xs: d.across.xs, hue: hueOf(policy), words: d.across.words}
	if d.across.words { // beside each other, not on top
		l.shift = vg.Length(float64(policy)-float64(d.policies-1)/2) * 5
	}
	for i := range l.xs {
		mean, low, high, more := math.NaN(), math.NaN(), math.NaN(), false
		if e, ok := d.estimate(own.cells[i], policy); ok {
			mean, low, high, more = e.Mean, nanTo(e.Low, e.Mean), nanTo(e.High, e.Mean), e.Bound != ""
		}
		l.means, l.lows, l.highs = append(l.means, mean), append(l.lows, low), append(l.highs, high)
		l.more = append(l.more, more)
	}
	return l
}

// reason returns, as text, why a panel of a sweep chart has no values: the reason given with a cell's estimate.
func (d *sweepDrawing) reason(own *sweepPanel) string {
	for _, c := range own.cells {
		if c != nil {
			if reason := c.Rows[0].Estimates[d.metric].Reason; reason != "" {
				return "no value: " + clean(reason)
			}
		}
	}
	return "no value"
}

// sweepLine plots a policy's estimates: a line with a confidence band, or, if x values are words, dots with whiskers.
type sweepLine struct {
	xs, means, lows, highs []float64 // estimates with their intervals; NaN: a gap
	more                   []bool    // the true mean is at least the estimate (a lower bound)
	hue                    hue
	words                  bool
	shift                  vg.Length
}

func (l sweepLine) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	y := func(v float64) vg.Length { return ty(math.Min(math.Max(v, p.Y.Min), p.Y.Max)) }
	if !l.words {
		area{l.xs, l.lows, l.highs, alpha(l.hue.line, 38)}.Plot(c, p)
		curve{l.xs, l.means, draw.LineStyle{Color: l.hue.line, Width: 1.4, Dashes: l.hue.dashes}}.Plot(c, p)
	}
	for i, mean := range l.means {
		if math.IsNaN(mean) {
			continue
		}
		at := vg.Point{X: tx(l.xs[i]) + l.shift, Y: y(mean)}
		if l.words {
			c.StrokeLine2(draw.LineStyle{Color: l.hue.line, Width: 1.4}, at.X, y(l.lows[i]), at.X, y(l.highs[i]))
		}
		if l.more[i] {
			shape(c, at, l.hue.line, 0, 5, -3, -1, 3, -1)
			continue
		}
		disc(c, at, 2.1, l.hue.line)
	}
}

// note plots a text in the middle of a panel that has no values.
func note(words string) sketch {
	return func(c draw.Canvas, _ *plot.Plot, _, _ func(float64) vg.Length) {
		style := placed(textStyle(8, muted, false), draw.XCenter, draw.YCenter)
		for i, l := range wrap(style, plain.Shorten(words, 120), c.Max.X-c.Min.X-8) {
			c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y+c.Max.Y)/2 - vg.Length(i)*10}, l)
		}
	}
}
