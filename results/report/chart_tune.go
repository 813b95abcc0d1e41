package report

import (
	"cmp"
	"fmt"
	"image/color"
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

// TuneCharts draws the settings tried by a tuning search, in a panel for each policy: a dot for each setting, at its
// value of the first key and that of the goal's metric, with its interval, whether it meets the objectives, and its
// number of seeds. Equal searches have equal figures.
func TuneCharts(t *results.Tuning) ([]Figure, error) {
	if len(t.Axes) == 0 || len(t.Policies) == 0 {
		return nil, fmt.Errorf("draw tuning: it has %d axes and %d policies", len(t.Axes), len(t.Policies))
	}
	return []Figure{newTuneDrawing(t).sheet().render()}, nil
}

// tuneDrawing holds the data and axes that the panels of a tuning chart share.
type tuneDrawing struct {
	*results.Tuning
	shown  []results.TunedPolicy
	across keyAxis
	up     valueAxis
	off    bool // some values lie beyond the ends of the vertical axis
}

// lowestMargin and highestMargin bound the axis of margins, the distances to the nearest objective relative to its
// bound: those beyond are drawn at the chart's edge.
const (
	lowestMargin  = -1.5
	highestMargin = 1.05
)

func newTuneDrawing(t *results.Tuning) *tuneDrawing {
	d := &tuneDrawing{Tuning: t, shown: t.Policies[:min(len(t.Policies), panelLimit)], across: newKeyAxis(&t.Axes[0])}
	d.up.info, _ = measure.Lookup(t.Query.Metric)
	d.scale()
	return d
}

// value returns the goal's metric at a tried setting and its interval's half-width; ok is false for no finite value.
func (d *tuneDrawing) value(r *results.Trial) (mean, half float64, ok bool) {
	of, width := r.Mean, r.Half
	if d.Margin {
		of, width = r.Margin, r.MarginHalf
	}
	return of, nanTo(width, 0), !math.IsNaN(of) && !math.IsInf(of, 0)
}

func (d *tuneDrawing) scale() {
	seen, means := plain.ExtentOf(), plain.ExtentOf()
	for _, p := range d.shown {
		for i := range p.Trials {
			if mean, half, ok := d.value(&p.Trials[i]); ok {
				seen.Include(mean-half, mean+half)
				means.Include(mean)
			}
		}
	}
	up := &d.up
	if d.Margin && !seen.Empty() {
		up.from, up.to = max(lowestMargin, min(seen.Low, -0.1)), min(highestMargin, max(seen.High, 0.1))
		gap := 0.08 * (up.to - up.from)
		up.from, up.to = up.from-gap, up.to+gap
	} else {
		seen.Low, seen.Positive = means.Positive, means.Positive
		up.over(seen, 1.1)
	}
	d.off = means.Low < up.from || means.High > up.to
}

func (d *tuneDrawing) sheet() *sheet {
	all := newPanels(len(d.shown))
	all.fill = d.panel
	return &sheet{Figure: Figure{Name: "tune", Title: d.title(), Subtitle: d.subtitle(), Footer: d.footer()},
		alt: d.alt(), key: d.key(), panels: all}
}

// key returns the legend of the marks of the settings tried.
func (d *tuneDrawing) key() key {
	type shape func(c draw.Canvas, at vg.Point, size vg.Length, color color.Color)
	one := func(name string, shape shape, size vg.Length, color color.Color) entry {
		return entry{name: name, area: true, mark: func(c draw.Canvas, at vg.Point) { shape(c, at, size, color) }}
	}
	k := key{one("objectives met", disc, 2.8, metColor), one("missed", disc, 2.8, missedColor),
		one("unclear, or none", disc, 2.8, unclearColor), one("the answer", ring, 5, ink)}
	if d.off {
		k = append(k, one("off the scale", pointer, 3, muted))
	}
	return k
}

func (d *tuneDrawing) title() string {
	answers := plain.Map(d.shown, func(p results.TunedPolicy) string {
		return plain.Either(p.Best == nil, "no setting found", plain.Shorten(strings.Join(p.Best, ", "), 40))
	})
	names := plain.Map(d.shown, func(p results.TunedPolicy) string { return policyName(p.Label) })
	return plain.Capital(clean(d.Goal)) + ": " + byText(answers, names, "others")
}

func (d *tuneDrawing) subtitle() string {
	what := plain.Either(d.Margin, "margin to the nearest objective, relative to its bound", clean(d.Query.String()))
	bounded := func(p results.TunedPolicy) bool {
		return slices.ContainsFunc(p.Trials, func(r results.Trial) bool { return r.Bound != "" })
	}
	return what + ", by " + clean(d.Axes[0].Key) +
		plain.When(len(d.Axes) > 1, ", settings of other keys beside each other") +
		plain.When(slices.ContainsFunc(d.shown, bounded), "; some are lower bounds")
}

func (d *tuneDrawing) footer() string {
	return sourceLine(d.Scenario, d.Version, d.ConfigHash, "whisker = 95 % over seeds, their number beside it",
		"ticks below = not tried")
}

func (d *tuneDrawing) alt() string {
	return strings.Join(plain.Map(d.shown, func(p results.TunedPolicy) string {
		return fmt.Sprintf("%s: %s tried. %s", clean(p.Label), plain.Plural(len(p.Trials), "setting"),
			clean(strings.Join(p.Said, " ")))
	}), " ")
}

// panel draws the settings tried for the i-th policy into the plot p, with the number of simulations in its heading.
func (d *tuneDrawing) panel(p *plot.Plot, i int, _ bool) {
	own := &d.shown[i]
	rows := d.across.set(p, &d.up, len(d.shown), .5, .04, 1.1)
	if d.Margin {
		p.Y.Tick.Marker = margins(rows)
		p.Add(limitLines([]limit{{Bound: 0}})) // the bound has a margin of 0
	}
	p.Add(sketch(func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) { d.drawDots(own, c, p, tx, ty) }))
	p.Add(heading{name: clean(own.Label), remarks: []string{
		fmt.Sprintf("%s, a full grid %d", plain.Plural(own.Runs, "simulation"), own.Grid), // which may be fewer
		plain.Plural(own.Runs, "simulation"), ""}})
}

// margins returns the ticks of a tuning chart's axis in percent, on both sides of 0, with at most limit steps.
func margins(limit int) plot.Ticker {
	return stepped(limit, func(low, high float64) float64 {
		step := 0.05
		for (high-low)/step > float64(limit) {
			step *= 2
		}
		return step
	}, func(v float64) string {
		return plain.Either(v == 0, "bound", strings.Replace(fmt.Sprintf("%+.0f%%", 100*v), "-", "−", 1))
	})
}

var (
	metColor     = hues[1].line
	missedColor  = hues[0].line
	unclearColor = axisline
)

func outcomeColor(o results.Outcome) color.NRGBA {
	known := map[results.Outcome]color.NRGBA{results.Met: metColor, results.Missed: missedColor}
	return cmp.Or(known[o], unclearColor)
}

// drawDots draws, for a policy, a dot and an interval for each setting tried, and ticks for values not tried.
func (d *tuneDrawing) drawDots(own *results.TunedPolicy, c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) {
	inside := func(v float64) vg.Length { return ty(math.Min(math.Max(v, p.Y.Min), p.Y.Max)) }
	tried := map[float64]int{}
	for i := range own.Trials {
		tried[own.Trials[i].Number]++
	}
	for _, x := range d.across.xs {
		if tried[x] == 0 {
			c.StrokeLine2(draw.LineStyle{Color: axisline, Width: .8}, tx(x), c.Min.Y+1, tx(x), c.Min.Y+6)
		}
	}
	before := map[float64]int{}
	var at []vg.Point
	var seeds []int
	for i := range own.Trials {
		r := &own.Trials[i]
		place := float64(before[r.Number]) - float64(tried[r.Number]-1)/2
		before[r.Number]++
		mean, half, ok := d.value(r)
		if !ok {
			continue
		}
		spread := vg.Length(math.Min(6, 40/float64(tried[r.Number])))
		x, y := tx(r.Number)+vg.Length(place)*spread, inside(mean)
		line := draw.LineStyle{Color: outcomeColor(r.Outcome), Width: 1.4}
		c.StrokeLine2(line, x, inside(mean-half), x, inside(mean+half))
		dot := vg.Point{X: x, Y: y}
		switch {
		case mean < p.Y.Min: // further off than the axis goes
			dot.Y += 5
			pointer(c, dot, -3, line.Color)
		case mean > p.Y.Max:
			dot.Y -= 5
			pointer(c, dot, 3, line.Color)
		default:
			disc(c, dot, 2.8, line.Color)
		}
		if slices.Equal(r.Values, own.Best) {
			ring(c, dot, 5.6, ink)
		}
		at = append(at, vg.Point{X: dot.X + 8, Y: dot.Y - 3})
		seeds = append(seeds, r.Seeds)
	}
	if len(at) > 16 || len(d.shown) > 4 {
		return
	}
	style := textStyle(7, muted, false)
	for i, p := range at {
		if text := fmt.Sprint(seeds[i]); alone(at, i, style.Width(text)) {
			tag(c, style, p, text)
		}
	}
}
