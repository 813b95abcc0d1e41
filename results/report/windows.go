package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// window is a stretch of virtual time, in seconds, that a chart shades and names.
type window struct {
	from, to float64
	name     string
	color    color.NRGBA // colour of its name and, paler, of its background
}

// windows plots each window of time as a shade over the full height of a plot.
type windows []window

// windowNames plots the names of windows above the plot.
type windowNames []window

const (
	windowRows = 3 // highest number of rows of names
	windowLine = vg.Length(10)
	windowName = vg.Length(150) // widest name; longer ones are shortened
)

var windowStyle = textStyle(8, ink, true)

// ground returns the colour of a window's shade.
func (w window) ground() color.NRGBA { return alpha(w.color, 18) }

func (w windows) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	for _, s := range w {
		x0, x1 := edges(c, tx, s)
		c.FillPolygon(s.ground(), box(x0, c.Min.Y, x1, c.Max.Y))
	}
}

func (w windowNames) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	for _, n := range w.place(c, tx) {
		mark(c, fmt.Sprintf("<g class=\"name\" %s>\n", dated(n.window.from, n.window.to)))
		style := windowStyle
		style.Color = n.window.color
		y := c.Max.Y + 3 + vg.Length(n.row)*windowLine
		if n.row > 0 { // a thread from the name to its window, past the names below
			c.StrokeLine2(draw.LineStyle{Color: alpha(n.window.color, 120), Width: vg.Points(.5)}, n.middle, c.Max.Y,
				n.middle, y+1)
		}
		tag(c, style, vg.Point{X: n.x, Y: y}, n.text)
		mark(c, "</g>\n")
	}
}

// edges returns the left and right side of a window's shade on a canvas: inside it, and far enough apart to be visible.
func edges(c draw.Canvas, tx func(float64) vg.Length, s window) (x0, x1 vg.Length) {
	inside := func(v float64) vg.Length { return min(max(tx(v), c.Min.X), c.Max.X) }
	x0, x1 = inside(s.from), inside(s.to)
	if x1-x0 < 1.5 {
		x0 = min(x0, c.Max.X-1.5)
		x1 = x0 + 1.5
	}
	return x0, x1
}

type windowLabel struct {
	window
	text      string
	x, middle vg.Length // left end of the text, and the middle of the window
	row       int
}

// place returns positions for the windows' names without overlap: each in the lowest row with room. A name without room
// is left out; the shade remains.
func (w windowNames) place(c draw.Canvas, tx func(float64) vg.Length) []windowLabel {
	var placed []windowLabel
	var ends [windowRows]vg.Length
	for i := range ends {
		ends[i] = vg.Length(math.Inf(-1))
	}
	for _, s := range w {
		x0, x1 := edges(c, tx, s)
		text := fit(windowStyle, s.name, windowName)
		wide := windowStyle.Width(text)
		x := min(max((x0+x1)/2-wide/2, c.Min.X), c.Max.X-wide)
		for row := range ends {
			if x > ends[row]+6 {
				placed = append(placed, windowLabel{s, text, x, (x0 + x1) / 2, row})
				ends[row] = x + wide
				break
			}
		}
	}
	return placed
}

// rows returns the number of rows of window names above a plot as wide as a figure.
func (w windowNames) rows(until float64) int {
	rows := 0
	span := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: room - 40}}}
	for _, n := range w.place(span, func(v float64) vg.Length { return vg.Length(v/until) * span.Max.X }) {
		rows = max(rows, n.row+1)
	}
	return rows
}
