package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel returns the plot of panel i of a sweep chart; all panels have the same axes.
func (d *sweepDrawing) panel(i, steps int) *plot.Plot {
	p, own := newPlot(), &d.panels[i]
	low, high := slices.Min(d.across.xs), slices.Max(d.across.xs)
	switch {
	case d.across.words:
		p.X.Min, p.X.Max = low-.5, high+.5
	case low == high:
		p.X.Min, p.X.Max = low-1, high+1
	default:
		p.X.Min, p.X.Max = low, high
		if d.across.log {
			p.X.Scale = logScale{}
		}
	}
	p.X.Tick.Marker = d.across.ticks(p, len(d.panels))
	rows := 4
	if len(d.panels) == 1 {
		rows = 7
	}
	d.up.set(&p.Y, rows)
	for _, o := range d.limits() {
		p.Add(bound(o.Bound))
	}
	empty := true
	for policy := range d.policies {
		l := d.line(own, policy)
		p.Add(l)
		empty = empty && l.empty()
	}
	if empty {
		p.Add(note(d.reason(own)))
	}
	p.Add(heading{name: own.name})
	return p
}

// line returns the plotted line of a policy in one panel of a sweep chart.
func (d *sweepDrawing) line(own *sweepPanel, policy int) sweepLine {
	l := sweepLine{xs: d.across.xs, color: hueOf(policy).line, dashes: dashOf(policy), words: d.across.words}
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

// reason returns, as text, the reason why a panel of a sweep chart has no values.
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

// sweepLine plots a policy's estimates: a line with a confidence band, or dots with whiskers on an axis of words.
type sweepLine struct {
	xs, means, lows, highs []float64 // estimates with their intervals; NaN: a gap
	more                   []bool    // the true mean is at least the estimate (a lower bound)
	color                  color.NRGBA
	dashes                 []vg.Length
	words                  bool
	shift                  vg.Length
}

func (l sweepLine) empty() bool { return len(runs(l.means)) == 0 }

func (l sweepLine) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	y := func(v float64) vg.Length { return ty(math.Min(math.Max(v, p.Y.Min), p.Y.Max)) }
	if !l.words {
		area{l.xs, l.lows, l.highs, alpha(l.color, 38)}.Plot(c, p)
		curve{l.xs, l.means, draw.LineStyle{Color: l.color, Width: 1.4, Dashes: l.dashes}}.Plot(c, p)
	}
	for i, mean := range l.means {
		if math.IsNaN(mean) {
			continue
		}
		at := vg.Point{X: tx(l.xs[i]) + l.shift, Y: y(mean)}
		if l.words {
			c.StrokeLine2(draw.LineStyle{Color: l.color, Width: 1.4}, at.X, y(l.lows[i]), at.X, y(l.highs[i]))
		}
		if l.more[i] {
			c.FillPolygon(l.color, []vg.Point{{X: at.X, Y: at.Y + 5}, {X: at.X - 3, Y: at.Y - 1}, {X: at.X + 3, Y: at.Y - 1}})
			continue
		}
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.color, Radius: 2.1, Shape: draw.CircleGlyph{}}, at)
	}
}

// bound plots an objective's bound: a dashed line across a panel.
type bound float64

func (b bound) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	if v := float64(b); v >= p.Y.Min && v <= p.Y.Max {
		c.StrokeLine2(limitStyle, c.Min.X, ty(v), c.Max.X, ty(v))
	}
}

// note plots a text in the middle of a panel that has no values.
type note string

func (n note) Plot(c draw.Canvas, _ *plot.Plot) {
	style := textStyle(8, muted, false)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	lines := wrap(style, shorten(string(n), 120), c.Max.X-c.Min.X-8)
	for i, l := range lines {
		c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y+c.Max.Y)/2 - vg.Length(i)*10}, l)
	}
}
