package report

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// tag draws text with its lower left corner at a point, on a background that covers the drawing beneath.
func tag(c draw.Canvas, style text.Style, at vg.Point, s string) {
	w, h := style.Width(s), style.Font.Size
	ground := color.NRGBA{R: 255, G: 255, B: 255, A: 215}
	c.FillPolygon(ground, box(at.X-1.5, at.Y, at.X+w+1.5, at.Y+h+1))
	c.FillText(style, at, s)
}

// entry is one item of a legend: a swatch for an area, a stroke for a line.
type entry struct {
	name   string
	color  color.NRGBA
	dashes []vg.Length
	area   bool
	policy int                              // number of the policy shown, from 1; 0: of none
	mark   func(c draw.Canvas, at vg.Point) // draws another mark, around a point; nil: none. Pages have none
}

const (
	keyLine = vg.Length(13)
	keyName = vg.Length(170) // widest name in a legend; longer ones are shortened
)

var keyStyle = textStyle(8.5, ink, false)

// key is a legend of a chart, laid out in rows across a canvas.
type key []entry

// place lays out a legend on a canvas of the given width: it calls visit, if not nil, with the position of each entry,
// x from the left and y from the top, and returns the number of rows.
func (k key) place(width vg.Length, visit func(e entry, name string, x, y vg.Length)) int {
	x, rows := vg.Length(0), 1
	for _, e := range k {
		name := fit(keyStyle, e.name, keyName)
		wide := e.symbol() + 5 + keyStyle.Width(name)
		if x > 0 && x+wide > width {
			x, rows = 0, rows+1
		}
		if visit != nil {
			visit(e, name, x, vg.Length(rows-1)*keyLine)
		}
		x += wide + 16
	}
	return rows
}

func (e entry) symbol() vg.Length {
	return plain.Either[vg.Length](e.area, 10, 22)
}

// policyKey returns the legend of the policies, or, if they are many, of those that a page shows at first.
func (d *drawing) policyKey() key {
	var k key
	front := inFront(d.summary, d.table)
	for i, p := range d.policies {
		if front[i] {
			k = append(k, entry{name: p.name, color: p.hue.line, dashes: p.hue.dashes, policy: i + 1})
		}
	}
	return k
}

// draw draws the legend at the top of a canvas, as place lays it out.
func (k key) draw(c draw.Canvas) {
	k.place(c.Max.X-c.Min.X, func(e entry, name string, x, y vg.Length) {
		x, y = c.Min.X+x, c.Max.Y-y-6
		switch {
		case e.mark != nil:
			e.mark(c, vg.Point{X: x + 5, Y: y + 4})
		case e.area:
			c.FillPolygon(e.color, box(x, y, x+10, y+8))
		default:
			c.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dashes}, x, y+3, x+22, y+3)
		}
		c.FillText(keyStyle, vg.Point{X: x + e.symbol() + 5, Y: y - 1}, name)
	})
}

// alone reports whether the text beside the dot at places[i], of the given width, is clear of the other dots and their
// texts: each text begins 8 points to the right of its dot.
func alone(places []vg.Point, i int, width vg.Length) bool {
	for k, other := range places {
		right := other.X - places[i].X
		if k != i && math.Abs(float64(other.Y-places[i].Y)) < 9 && (right > 0 || right == 0 && k < i) && right < width+12 {
			return false
		}
	}
	return true
}

// limit is an objective on the p99 wait of fresh jobs, its Text shortened for charts, for example to "≤ 10s".
type limit = measure.Objective

// limitCount is the highest number of limits that a chart draws.
const limitCount = 3

var (
	limitStyle = draw.LineStyle{Color: ink, Width: .7, Dashes: []vg.Length{3, 2}}
	limitText  = textStyle(8, ink, false)
)

// limits returns the distinct bounds of the objectives on the p99 wait of fresh jobs of all tenants, in file order.
func (d *drawing) limits() []limit {
	found := distinctBounds(d.settings.Objectives, func(o limit) bool {
		all := measure.Query{Metric: waitMetric, During: o.During, After: o.After, Class: o.Class}
		return o.Query == all && !o.Above && o.Bound > 0
	})
	return plain.Map(found, func(o limit) limit {
		bound := results.Verdict{Text: cmp.Or(o.Text, "below "+seconds(o.Bound))}
		o.Text = plain.Shorten(clean(bound.Limit()), 30)
		return o
	})
}

// distinctBounds returns the first objectives with distinct finite bounds that meet a condition, limitCount at most.
func distinctBounds(objectives []measure.Objective, fits func(o measure.Objective) bool) (found []measure.Objective) {
	for _, o := range objectives {
		same := func(f measure.Objective) bool { return f.Query == o.Query && f.Bound == o.Bound && f.Above == o.Above }
		if fits(o) && !math.IsInf(o.Bound, 0) && len(found) < limitCount && !slices.ContainsFunc(found, same) {
			found = append(found, o)
		}
	}
	return found
}

// limitLabel returns the name of a limit on a chart, such as "objective: p99 of mail ≤ 10s in the storm".
func (d *drawing) limitLabel(l limit) string {
	words := "objective: p99 " + plain.When(l.Class != "", "of "+shortName(l.Class)+" ") + l.Text
	storm := plain.Either(len(d.storms()) == 1, "the storm", shortName(cmp.Or(l.During, l.After)))
	switch {
	case l.During != "":
		words += " in " + storm
	case l.After != "":
		words += " after " + storm
	}
	return words
}

// limitLines plots limits as horizontal lines, in a chart with waits along y.
func limitLines(limits []limit) sketch {
	return func(c draw.Canvas, _ *plot.Plot, _, ty func(float64) vg.Length) {
		for _, l := range limits {
			c.StrokeLine2(limitStyle, c.Min.X, ty(l.Bound), c.Max.X, ty(l.Bound))
		}
	}
}

// namesInside plots the names of curves, and then those of limit lines where they hide least of all curves and names.
func namesInside(own peaks, curves []curve, limits []limit, names []string) sketch {
	return func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) {
		taken := append(own.draw(c, p), along(curves, tx, ty, p)...)
		for _, l := range limits {
			for x := c.Min.X; x < c.Max.X; x += apart {
				taken = append(taken, vg.Point{X: x, Y: ty(l.Bound)})
			}
		}
		for i, l := range limits {
			wide := limitText.Width(names[i])
			var places []vg.Point
			for _, side := range [...]vg.Length{1, 0, .75, .5, .25} {
				x := c.Min.X + 3 + side*(c.Max.X-c.Min.X-wide-5)
				places = append(places, vg.Point{X: x, Y: ty(l.Bound) + 2}, vg.Point{X: x, Y: ty(l.Bound) - 11})
			}
			taken = write(c, limitText, names[i], places, taken)
		}
	}
}

// apart is the spacing, in points of length, at which curves are sampled for placing names clear of them.
const apart = 4

// write draws a name on the first of some places, its lower left corner, where it covers fewest of the points taken,
// which lie along curves. It returns these and points all over the name, so dense that the next name rather covers a
// curve than this one.
func write(c draw.Canvas, style text.Style, name string, places, taken []vg.Point) []vg.Point {
	wide, at, least := style.Width(name), places[0], math.MaxInt
	for _, place := range places {
		hits := plain.Count(taken, func(p vg.Point) bool {
			return p.X >= place.X-2 && p.X <= place.X+wide+2 && p.Y >= place.Y-1 && p.Y <= place.Y+9
		})
		if hits < least {
			at, least = place, hits
		}
	}
	tag(c, style, at, name)
	for dx := vg.Length(0); dx < wide; dx += .5 {
		taken = append(taken, vg.Point{X: at.X + dx, Y: at.Y + 2}, vg.Point{X: at.X + dx, Y: at.Y + 8})
	}
	return taken
}

// along returns points sampled all along some curves, in positions on the canvas, apart from each other by apart.
func along(curves []curve, tx, ty func(float64) vg.Length, p *plot.Plot) []vg.Point {
	var points []vg.Point
	for _, l := range curves {
		for i, v := range l.ys {
			if math.IsNaN(v) {
				continue
			}
			at := vg.Point{X: tx(l.xs[i]), Y: ty(floored(v, p))}
			if i > 0 && !math.IsNaN(l.ys[i-1]) {
				before := points[len(points)-1]
				steps := math.Ceil(math.Max(math.Abs(float64(at.X-before.X)), math.Abs(float64(at.Y-before.Y))) / apart)
				for k := 1.0; k < steps; k++ {
					points = append(points, vg.Point{X: before.X + (at.X-before.X)*vg.Length(k/steps),
						Y: before.Y + (at.Y-before.Y)*vg.Length(k/steps)})
				}
			}
			points = append(points, at)
		}
	}
	return points
}

// limitLine plots a limit as a vertical line with its name, in a chart with waits along x.
func limitLine(at float64, name string, curves []curve) sketch {
	return func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) {
		x, wide := tx(at), limitText.Width(name)
		c.StrokeLine2(limitStyle, x, c.Min.Y, x, c.Max.Y)
		var places []vg.Point
		for _, side := range [...]vg.Length{x + 3, x - 3 - wide} {
			if side >= c.Min.X && side+wide <= c.Max.X {
				for _, y := range [...]vg.Length{c.Max.Y - 12, c.Min.Y + 4, (c.Min.Y + c.Max.Y) / 2} {
					places = append(places, vg.Point{X: side, Y: y})
				}
			}
		}
		if places == nil {
			places = append(places, vg.Point{X: c.Min.X, Y: c.Min.Y + 4})
		}
		write(c, limitText, name, places, along(curves, tx, ty, p))
	}
}
