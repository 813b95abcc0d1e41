package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/plain"
)

// The plotters here have no DataRange: a chart sets its own ranges, and a plotter must not move them. Values below the
// range of an axis are drawn at its end, so that a logarithmic axis never meets a zero.

// sketch is a gonum plotter made of one function, which gets the transformations of values to positions on the canvas.
type sketch func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length)

func (s sketch) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	s(c, p, tx, ty)
}

// curve plots a line through values; a NaN is a gap, and a value between two gaps a dot.
type curve struct {
	xs, ys []float64
	style  draw.LineStyle
}

// backdropStyle is the style of the curve of a policy in the background of another policy's panel: thin and grey.
var backdropStyle = draw.LineStyle{Color: backdrop, Width: .6}

// curves plots one curve after the other.
type curves []curve

func (all curves) Plot(c draw.Canvas, p *plot.Plot) {
	for _, l := range all {
		l.Plot(c, p)
	}
}

// backdropLines holds the curves of all policies, drawn in grey behind the coloured curve of one policy, and equal in
// all panels of a chart. In an SVG they are written once, or its size would grow with the square of the number of
// policies.
type backdropLines curves

func (b backdropLines) Plot(c draw.Canvas, p *plot.Plot) {
	if sharing := svgBelow(c); sharing == nil || !sharing.share(c, func(c draw.Canvas) { curves(b).Plot(c, p) }) {
		curves(b).Plot(c, p)
	}
}

// svgBelow returns the SVG that a canvas draws into, nil if it draws into none.
func svgBelow(c draw.Canvas) *svgCanvas {
	for {
		switch below := c.Canvas.(type) {
		case *svgCanvas:
			return below
		case draw.Canvas:
			c = below
		default:
			return nil
		}
	}
}

// backdropOf returns the grey lines, behind a policy's curve, of one time series: one for each policy.
func (d *drawing) backdropOf(values func(p *policy) []float64) backdropLines {
	return plain.Map(d.policies, func(p policy) curve { return curve{d.xs, values(&p), backdropStyle} })
}

// box returns the four corners of a rectangle, given two opposite ones, in order around it.
func box(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// disc draws a filled circle around a point of the canvas.
func disc(c draw.Canvas, at vg.Point, radius vg.Length, color color.Color) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: color, Radius: radius, Shape: draw.CircleGlyph{}}, at)
}

// ring draws the outline of a circle around a point of the canvas.
func ring(c draw.Canvas, at vg.Point, radius vg.Length, color color.Color) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: color, Radius: radius, Shape: draw.RingGlyph{}}, at)
}

// shape draws a filled polygon around a point: corners holds x and y of each corner relative to that point.
func shape(c draw.Canvas, at vg.Point, color color.Color, corners ...vg.Length) {
	var points []vg.Point
	for i := 0; i < len(corners); i += 2 {
		points = append(points, vg.Point{X: at.X + corners[i], Y: at.Y + corners[i+1]})
	}
	c.FillPolygon(color, points)
}

// pointer draws a triangle around a point of the canvas, its tip above the point by a height, or below if negative.
func pointer(c draw.Canvas, at vg.Point, height vg.Length, color color.Color) {
	shape(c, at, color, -3.4, -height, 3.4, -height, 0, height)
}

// rectangle returns the rectangle with the corners (x0, y0) at its lower left and (x1, y1) at its upper right.
func rectangle(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
}

const (
	fineColumn = vg.Length(.25) // width of the columns in which thin looks: half a pixel
	greyColumn = vg.Length(2.5)
)

func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, run := range runs(l.ys) {
		points := make([]vg.Point, 0, run.to-run.from)
		for i := run.from; i < run.to; i++ {
			points = append(points, vg.Point{X: tx(l.xs[i]), Y: ty(floored(l.ys[i], p))})
		}
		if len(points) == 1 {
			c.DrawGlyph(draw.GlyphStyle{Color: l.style.Color, Radius: l.style.Width, Shape: draw.CircleGlyph{}}, points[0])
			continue
		}
		column := plain.Either(l.style.Color == backdrop, greyColumn, fineColumn)
		c.StrokeLines(l.style, c.ClipLinesXY(thin(points, column))...)
	}
}

// area plots the filled area between two series; where either is NaN there is a gap.
type area struct {
	xs, low, high []float64
	color         color.NRGBA
}

func (a area) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	both := make([]float64, len(a.low))
	for i := range both {
		both[i] = a.low[i] + a.high[i]
	}
	for _, run := range runs(both) {
		above, below := make([]vg.Point, 0, 2*(run.to-run.from)), make([]vg.Point, 0, run.to-run.from)
		for i := run.from; i < run.to; i++ {
			x := tx(a.xs[i])
			above = append(above, vg.Point{X: x, Y: ty(floored(a.high[i], p))})
			below = append(below, vg.Point{X: x, Y: ty(floored(a.low[i], p))})
		}
		above, below = thin(above, fineColumn), thin(below, fineColumn)
		slices.Reverse(below)
		c.FillPolygon(a.color, c.ClipPolygonXY(append(above, below...)))
	}
}

func floored(v float64, p *plot.Plot) float64 { return math.Max(v, p.Y.Min) }

// span is a half-open range of indexes into a series.
type span struct{ from, to int }

// runs returns the ranges of indexes of a series between its gaps, which are NaN or infinite.
func runs(ys []float64) []span {
	var spans []span
	for from := 0; from < len(ys); from++ {
		to := from
		for to < len(ys) && !math.IsNaN(ys[to]) && !math.IsInf(ys[to], 0) {
			to++
		}
		if to > from {
			spans, from = append(spans, span{from, to}), to
		}
	}
	return spans
}

// thin drops points of a curve that are too close together to be seen: of the points in each column of the given width
// it keeps the first, lowest, highest and last.
func thin(points []vg.Point, column vg.Length) []vg.Point {
	if len(points) < 2 || vg.Length(len(points))*column < 4*(points[len(points)-1].X-points[0].X) {
		return points
	}
	var kept []vg.Point
	for from := 0; from < len(points); {
		low, high, to := from, from, from
		for ; to < len(points) && points[to].X < points[from].X+column; to++ {
			if points[to].Y < points[low].Y {
				low = to
			}
			if points[to].Y > points[high].Y {
				high = to
			}
		}
		last := -1
		for _, i := range [...]int{from, min(low, high), max(low, high), to - 1} {
			if i > last {
				kept, last = append(kept, points[i]), i
			}
		}
		from = to
	}
	return kept
}

// dot plots an estimate of a metric: a dot at the value, a line for the confidence interval, and the value as text.
type dot struct {
	mean, low, high float64
	row             float64
	color           color.NRGBA
	label           string
	hollow          bool // no significant difference from the baseline
	more            bool // the true mean is at least mean (a lower bound)
}

func (d dot) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	inside := func(v float64) vg.Length { return tx(math.Min(math.Max(v, p.X.Min), p.X.Max)) }
	x, y := inside(d.mean), ty(d.row)
	line := draw.LineStyle{Color: d.color, Width: vg.Points(1.6)}
	c.StrokeLine2(line, inside(d.low), y, inside(d.high), y)
	for _, end := range [...]float64{d.low, d.high} {
		if far := tx(end) - x; end >= p.X.Min && end <= p.X.Max && max(far, -far) > 3.2 {
			c.StrokeLine2(line, tx(end), y-3.5, tx(end), y+3.5)
		}
	}
	if d.more {
		tip := max(x, inside(d.high)) + 16
		c.StrokeLine2(line, x, y, tip-4, y)
		shape(c, vg.Point{X: tip, Y: y}, d.color, 0, 0, -6, 3.5, -6, -3.5)
	}
	disc(c, vg.Point{X: x, Y: y}, 3.2, d.color)
	if d.hollow {
		disc(c, vg.Point{X: x, Y: y}, 2, paper)
	}
	style := textStyle(8, ink, false)
	half := style.Width(d.label) / 2
	tag(c, style, vg.Point{X: min(max(x-half, c.Min.X), c.Max.X-2*half+6), Y: y + 5}, d.label)
}

// remark plots a text in place of the dot of a policy without a value.
func remark(row float64, words string) sketch {
	return func(c draw.Canvas, _ *plot.Plot, _, ty func(float64) vg.Length) {
		style := textStyle(7.5, muted, false)
		lines := wrap(style, words, c.Max.X-c.Min.X-4)
		if len(lines) > 2 {
			lines = []string{lines[0], fit(style, lines[1]+" "+lines[2], c.Max.X-c.Min.X-4)}
		}
		y := ty(row) + 4.5*vg.Length(len(lines)) - 9
		for _, l := range lines {
			tag(c, style, vg.Point{X: c.Min.X + 2, Y: y}, l)
			y -= 9
		}
	}
}

// level plots a dotted vertical line at a value, as the baseline policy's in the comparison chart.
func level(v float64) sketch {
	return func(c draw.Canvas, p *plot.Plot, tx, _ func(float64) vg.Length) {
		x, dotted := tx(math.Min(math.Max(v, p.X.Min), p.X.Max)), []vg.Length{1.5, 2}
		c.StrokeLine2(draw.LineStyle{Color: axisline, Width: vg.Points(.8), Dashes: dotted}, x, c.Min.Y, x, c.Max.Y)
	}
}

// heading plots the name of a panel above it. At its right stands the first remark that leaves room for the name; if
// none does, the last one, beside a shortened name.
type heading struct {
	name    string
	remarks []string
}

func (h heading) Plot(c draw.Canvas, _ *plot.Plot) {
	left, right := textStyle(9, ink, true), placed(textStyle(8.5, muted, false), draw.XRight, draw.YBottom)
	y, room := c.Max.Y+4, c.Max.X-c.Min.X
	remark := ""
	for _, remark = range h.remarks {
		if left.Width(h.name)+8+right.Width(remark) <= room {
			break
		}
	}
	if h.remarks == nil { // in two lines, if it must be
		lines := wrap(left, h.name, room)
		for i, line := range lines[max(len(lines)-2, 0):] {
			c.FillText(left, vg.Point{X: c.Min.X, Y: y + 11*vg.Length(min(len(lines), 2)-1-i)}, line)
		}
		return
	}
	c.FillText(left, vg.Point{X: c.Min.X, Y: y}, fit(left, h.name, room-8-right.Width(remark)))
	mark(c, "<g class=\"remark\">")
	c.FillText(right, vg.Point{X: c.Max.X, Y: y}, remark)
	mark(c, "</g>\n")
}
