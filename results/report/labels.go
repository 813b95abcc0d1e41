package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	policy int // number of the policy shown, from 1; 0: of none
}

const (
	keyLine = vg.Length(13)
	keyName = vg.Length(170) // widest name; longer ones are shortened
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
	if e.area {
		return 10
	}
	return 22
}

// policyKey returns the legend of all policies.
func (d *drawing) policyKey() key {
	var k key
	front := d.inFront()
	for i, p := range d.policies {
		if front[i] {
			k = append(k, entry{name: p.name, color: p.hue.line, dashes: dashOf(p.index), policy: i + 1})
		}
	}
	return k
}

// height returns the height of the legend on a canvas of the given width.
func (k key) height(width vg.Length) vg.Length {
	if len(k) == 0 {
		return 0
	}
	return vg.Length(k.place(width, nil))*keyLine + 6
}

// draw draws the legend at the top of a canvas.
func (k key) draw(c draw.Canvas) {
	k.place(c.Max.X-c.Min.X, func(e entry, name string, x, y vg.Length) {
		x, y = c.Min.X+x, c.Max.Y-y-6
		if e.area {
			c.FillPolygon(e.color, box(x, y, x+10, y+8))
		} else {
			c.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dashes}, x, y+3, x+22, y+3)
		}
		c.FillText(keyStyle, vg.Point{X: x + e.symbol() + 5, Y: y - 1}, name)
	})
}

// alone reports whether the text beside the dot at places[i], of the given width, is clear of the other dots and their
// texts: each dot is 8 points before its text.
func alone(places []vg.Point, i int, width vg.Length) bool {
	for k, other := range places {
		right := other.X - places[i].X
		if k != i && math.Abs(float64(other.Y-places[i].Y)) < 9 && (right > 0 || right == 0 && k < i) && right < width+12 {
			return false
		}
	}
	return true
}
