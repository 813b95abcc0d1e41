package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
)

// limit is what the objectives want of the fresh p99 wait.
type limit struct {
	seconds float64
	during  string // jobs enqueued in that storm; empty: all
	text    string // for example "below 10s"
}

// limitCount is how many limits a chart draws.
const limitCount = 3

var (
	limitStyle = draw.LineStyle{Color: ink, Width: .7, Dashes: []vg.Length{3, 2}}
	limitText  = textStyle(8, ink, false)
)

// limits are the distinct bounds that objectives put on the fresh p99 wait of all
// classes and tenants, in their order.
func (d *drawing) limits() []limit {
	var found []limit
	for _, o := range d.settings.Objectives {
		l := limit{o.Bound, o.During, o.Text}
		if o.Query != (results.Query{Metric: waitMetric, During: o.During}) || o.Above || !(o.Bound > 0) || math.IsInf(o.Bound, 0) {
			continue
		}
		if l.text == "" {
			l.text = "below " + seconds(o.Bound)
		}
		l.text = shorten(clean(l.text), 30)
		known := false
		for _, f := range found {
			known = known || f.seconds == l.seconds && f.during == l.during
		}
		if !known && len(found) < limitCount {
			found = append(found, l)
		}
	}
	return found
}

// limitLabel names l on a chart.
func (d *drawing) limitLabel(l limit) string {
	words := "objective: p99 " + l.text
	switch {
	case l.during != "" && len(d.settings.Storms) == 1:
		words += " in the storm"
	case l.during != "":
		words += " in " + shorten(clean(l.during), stormLimit)
	}
	return words
}

// limitLines are the limits as lines of a chart whose waits run along y. Their names
// stand where they hide least of the curves.
type limitLines struct {
	limits []limit
	names  []string // none: the lines have no names
	curves []curve
}

func (b limitLines) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, l := range b.limits {
		c.StrokeLine2(limitStyle, c.Min.X, ty(l.seconds), c.Max.X, ty(l.seconds))
	}
	if b.names == nil {
		return
	}
	taken := b.taken(tx, ty, p) // what a name should not hide
	for i, l := range b.limits {
		text := b.names[i]
		wide := limitText.Width(text)
		var best vg.Point
		least := math.MaxInt
		for _, side := range [...]vg.Length{1, 0, .75, .5, .25} {
			for _, lift := range [...]vg.Length{2, -11} {
				at := vg.Point{X: c.Min.X + 3 + side*(c.Max.X-c.Min.X-wide-5), Y: ty(l.seconds) + lift}
				box := vg.Rectangle{Min: at.Add(vg.Point{X: -2, Y: -1}), Max: at.Add(vg.Point{X: wide + 2, Y: 9})}
				hits := within(box, taken)
				for k, other := range b.limits {
					if y := ty(other.seconds); k != i && y > box.Min.Y && y < box.Max.Y {
						hits += len(taken) + 1
					}
				}
				if hits < least {
					best, least = at, hits
				}
			}
		}
		tag(c, limitText, best, text)
		for x := vg.Length(0); x < wide; x += 4 { // the next name keeps off this one
			for range len(taken)/16 + 1 {
				taken = append(taken, best.Add(vg.Point{X: x, Y: 4}))
			}
		}
	}
}

// taken are points all along the curves.
func (b limitLines) taken(tx, ty func(float64) vg.Length, p *plot.Plot) []vg.Point {
	const apart = 4
	var points []vg.Point
	for _, l := range b.curves {
		for i, v := range l.ys {
			if math.IsNaN(v) {
				continue
			}
			at := vg.Point{X: tx(l.xs[i]), Y: ty(floored(v, p))}
			if i > 0 && !math.IsNaN(l.ys[i-1]) { // a steep line has points far apart
				before := points[len(points)-1]
				for y := min(at.Y, before.Y) + apart; y < max(at.Y, before.Y); y += apart {
					points = append(points, vg.Point{X: at.X, Y: y})
				}
			}
			points = append(points, at)
		}
	}
	return points
}

// within counts the points in a box.
func within(box vg.Rectangle, points []vg.Point) int {
	n := 0
	for _, p := range points {
		if p.X >= box.Min.X && p.X <= box.Max.X && p.Y >= box.Min.Y && p.Y <= box.Max.Y {
			n++
		}
	}
	return n
}

// limitLine is a limit as a line of a chart whose waits run along x.
type limitLine struct {
	at    float64
	label string
}

func (l limitLine) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	x := tx(l.at)
	c.StrokeLine2(limitStyle, x, c.Min.Y, x, c.Max.Y)
	at := vg.Point{X: x + 3, Y: c.Max.Y - 12}
	if wide := limitText.Width(l.label); at.X+wide > c.Max.X { // on the left, the curves are at the top
		at = vg.Point{X: x - 3 - wide, Y: c.Min.Y + 4}
	}
	tag(c, limitText, at, l.label)
}
