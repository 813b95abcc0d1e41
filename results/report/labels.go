package report

import (
	"image/color"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tag writes s, with its lower left corner at a point, on a ground that keeps what
// lies behind from crossing it.
func tag(c draw.Canvas, style text.Style, at vg.Point, s string) {
	w, h := style.Width(s), style.Font.Size
	ground := color.NRGBA{R: 255, G: 255, B: 255, A: 215}
	c.FillPolygon(ground, []vg.Point{{X: at.X - 1.5, Y: at.Y}, {X: at.X + w + 1.5, Y: at.Y}, {X: at.X + w + 1.5, Y: at.Y + h + 1}, {X: at.X - 1.5, Y: at.Y + h + 1}})
	c.FillText(style, at, s)
}

// ending names a line at the right end of a chart: better than a legend, and needing
// no colour vision.
type ending struct {
	x, y float64 // where the line ends
	rank float64 // of lines that end together, the one of higher rank stands higher
	name string
	hue  hue
	none bool // there is no line
}

// endings keep their names apart.
type endings []ending

const (
	endingGap  = vg.Length(11)
	endingRoom = vg.Length(118) // the widest name, in points
)

var endingStyle = textStyle(8.5, ink, true)

// room is how much of a canvas the names take at its right.
func (e endings) room() vg.Length {
	widest := vg.Length(0)
	for _, l := range e {
		widest = max(widest, min(endingStyle.Width(l.name), endingRoom))
	}
	return widest + 10
}

func (e endings) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	order := slices.Clone(e)
	slices.Reverse(order) // of equals, the first stands highest
	height := func(l ending) vg.Length { return ty(floored(l.y, p)) }
	sort.SliceStable(order, func(i, j int) bool { return height(order[i]) < height(order[j]) })
	for from := 0; from < len(order); { // lines that end together are ordered by rank
		to := from + 1
		for to < len(order) && height(order[to])-height(order[to-1]) < endingGap/2 {
			to++
		}
		group := order[from:to]
		sort.SliceStable(group, func(i, j int) bool { return group[i].rank < group[j].rank })
		from = to
	}
	ys := make([]vg.Length, len(order))
	for i, l := range order {
		ys[i] = height(l)
	}
	spread(ys, c.Min.Y+endingGap/2, c.Max.Y-endingGap/2)
	for i, l := range order {
		x, y := tx(l.x), height(l)
		if x < c.Max.X-3 {
			c.StrokeLine2(draw.LineStyle{Color: alpha(l.hue.line, 110), Width: vg.Points(.6), Dashes: []vg.Length{1, 2}}, x, y, c.Max.X, y)
		}
		if !l.none {
			c.StrokeLine2(draw.LineStyle{Color: alpha(l.hue.line, 140), Width: vg.Points(.6)}, c.Max.X+1, y, c.Max.X+7, ys[i])
		}
		style := endingStyle
		style.Color, style.YAlign = l.hue.text, draw.YCenter
		c.FillText(style, vg.Point{X: c.Max.X + 9, Y: ys[i]}, fit(style, l.name, endingRoom))
	}
}

// spread moves ascending ys apart until they are endingGap from each other and, if
// there is room, between low and high.
func spread(ys []vg.Length, low, high vg.Length) {
	for range 50 { // each round halves what overlaps
		for i := 1; i < len(ys); i++ {
			if d := endingGap - (ys[i] - ys[i-1]); d > 0 {
				ys[i] += d / 2
				ys[i-1] -= d / 2
			}
		}
	}
	for i := len(ys) - 1; i >= 0; i-- {
		ys[i] = min(ys[i], high-vg.Length(len(ys)-1-i)*endingGap)
	}
	for i := range ys {
		ys[i] = max(ys[i], low+vg.Length(i)*endingGap)
	}
}

// entry is one item of a key: a swatch for an area, a stroke for a line.
type entry struct {
	name   string
	color  color.NRGBA
	dashes []vg.Length
	area   bool
}

const (
	keyLine = vg.Length(13)
	keyName = vg.Length(170) // the widest name
)

var keyStyle = textStyle(8.5, ink, false)

// key is a legend in rows across a canvas.
type key []entry

// place calls visit, if there is one, with each entry's place for a canvas of a
// width, x from its left and y from its top, and returns the number of rows.
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

// height is what draw takes of the top of a canvas of a width.
func (k key) height(width vg.Length) vg.Length {
	return vg.Length(k.place(width, nil))*keyLine + 6
}

// draw draws the key and returns the canvas below it.
func (k key) draw(c draw.Canvas) draw.Canvas {
	k.place(c.Max.X-c.Min.X, func(e entry, name string, x, y vg.Length) {
		x, y = c.Min.X+x, c.Max.Y-y-6
		if e.area {
			c.FillPolygon(e.color, []vg.Point{{X: x, Y: y}, {X: x + 10, Y: y}, {X: x + 10, Y: y + 8}, {X: x, Y: y + 8}})
		} else {
			c.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2, Dashes: e.dashes}, x, y+3, x+22, y+3)
		}
		c.FillText(keyStyle, vg.Point{X: x + e.symbol() + 5, Y: y - 1}, name)
	})
	return draw.Crop(c, 0, 0, 0, -k.height(c.Max.X-c.Min.X))
}

// alone reports whether a text of that width at places[i] stays clear of the dots of others with what
// is written beside them: each dot is 8 points before its text.
func alone(places []vg.Point, i int, width vg.Length) bool {
	for k, other := range places {
		right := other.X - places[i].X
		if k != i && math.Abs(float64(other.Y-places[i].Y)) < 9 && (right > 0 || right == 0 && k < i) && right < width+12 {
			return false
		}
	}
	return true
}
