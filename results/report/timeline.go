package report

import (
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/plain"
)

// timeline is a plot over virtual time. A page may zoom the plotters inside the axes; those above and beside the
// plot keep their size. In an SVG both have attributes for a page's script.
type timeline struct {
	until   float64  // end of the time axis, in s
	steps   int      // highest number of ticks
	about   string   // SVG attributes of the plot, for the script
	windows []window // windows of time to shade
	inside  []plot.Plotter
	around  []plot.Plotter
}

// addTimeline turns the x axis of a plot into one of virtual time, and adds the shades of its windows (storms, warm-up)
// and its plotters.
func addTimeline(p *plot.Plot, t timeline) {
	t.inside = append([]plot.Plotter{shades(t.windows)}, t.inside...)
	p.X.Min, p.X.Max = 0, t.until
	p.X.Tick.Marker, p.X.Tick.Length = plot.ConstantTicks{{Value: 0, Label: " "}}, 0 // room for the ticks of Plot
	p.Add(t)
}

// overhang is how far, in points, a line at the edge of a plot may reach beyond it.
const overhang = vg.Length(3)

func (t timeline) Plot(c draw.Canvas, p *plot.Plot) {
	svg := svgBelow(c)
	if svg != nil {
		svg.openPlot(c.Rectangle, fmt.Sprintf(`data-until="%s"%s`, number(t.until, 3), t.about))
	}
	for _, inside := range t.inside {
		inside.Plot(c, p)
	}
	mark(c, "</svg>\n<g class=\"ticks\">\n")
	style := placed(textStyle(8.5, muted, false), draw.XCenter, draw.YTop)
	tx, _ := p.Transforms(&c)
	for _, tick := range clock(t.steps).Ticks(0, t.until) {
		c.FillText(style, vg.Point{X: tx(tick.Value), Y: c.Min.Y - 3}, tick.Label)
	}
	mark(c, "</g>\n")
	for _, around := range t.around {
		around.Plot(c, p)
	}
}

// openPlot begins an SVG element that clips its content to the width of a plot, in the coordinates of the drawing.
func (s *svgCanvas) openPlot(at vg.Rectangle, attributes string) {
	x, y := number(float64(at.Min.X), 1), number(float64(s.height-at.Max.Y-overhang), 1)
	w, h := number(float64(at.Max.X-at.Min.X), 1), number(float64(at.Max.Y-at.Min.Y+2*overhang), 1)
	s.out = fmt.Appendf(s.out, `<svg class="time" x="%[1]s" y="%[2]s" width="%[3]s" height="%[4]s" `+
		`viewBox="%[1]s %[2]s %[3]s %[4]s" preserveAspectRatio="none" %[5]s>`+"\n", x, y, w, h, attributes)
}

// mark writes raw markup into the SVG, if the canvas draws one.
func mark(c draw.Canvas, markup string) {
	if svg := svgBelow(c); svg != nil {
		svg.out = append(svg.out, markup...)
	}
}

// marked groups plotters whose SVG elements get common attributes for a page's script and style.
func marked(attributes string, inside ...plot.Plotter) sketch {
	return func(c draw.Canvas, p *plot.Plot, _, _ func(float64) vg.Length) {
		mark(c, "<g "+attributes+">\n")
		for _, one := range inside {
			one.Plot(c, p)
		}
		mark(c, "</g>\n")
	}
}

// ofPolicy marks plotters as belonging to one policy, so that a page can hide them.
func ofPolicy(index int, inside ...plot.Plotter) sketch {
	return marked(fmt.Sprintf(`data-policy="%d"`, index), inside...)
}

// dated returns SVG attributes with the time or span of an element, by which a page that zooms the time axis moves it.
func dated(from, to float64) string {
	return fmt.Sprintf(`data-from="%s" data-to="%s"`, number(from, 3), number(to, 3))
}

// peaks holds the names of curves, each to be drawn at its highest point, so that no legend or colour vision is needed.
type peaks []peak

type peak struct {
	policy int
	name   string
	hue    hue
	line   curve
}

var peakStyle = textStyle(8.5, ink, true)

// draw writes each curve's name where it covers least of the curves and of the names before it, and returns points all
// along the curves and the names.
func (l peaks) draw(c draw.Canvas, p *plot.Plot) (taken []vg.Point) {
	tx, ty := p.Transforms(&c)
	taken = along(plain.Map(l, func(own peak) curve { return own.line }), tx, ty, p)
	for _, own := range l {
		_, top := extremes(own.line.ys)
		if top < 0 {
			continue
		}
		name := fit(peakStyle, own.name, (c.Max.X-c.Min.X)/2)
		wide, x, y := peakStyle.Width(name), tx(own.line.xs[top]), ty(floored(own.line.ys[top], p))
		var places []vg.Point
		for _, dy := range [...]vg.Length{-4, 6, -16, 18, -28, 30, -40, 42, 54} {
			for _, dx := range [...]vg.Length{8, -8 - wide, -wide / 2, 40, -40 - wide} {
				at := vg.Point{X: x + dx, Y: y + dy}
				if at.X >= c.Min.X+2 && at.X+wide <= c.Max.X-2 && at.Y >= c.Min.Y+2 && at.Y+10 <= c.Max.Y+8 {
					places = append(places, at)
				}
			}
		}
		if places == nil {
			places = []vg.Point{{X: min(max(x-wide/2, c.Min.X), c.Max.X-wide), Y: min(y+4, c.Max.Y-8)}}
		}
		style := peakStyle
		style.Color = own.hue.text
		when := own.line.xs[top]
		mark(c, fmt.Sprintf("<g class=\"name\" data-policy=\"%d\" %s>\n", own.policy, dated(when, when)))
		taken = write(c, style, name, places, taken)
		mark(c, "</g>\n")
	}
	return taken
}

// twins returns, for each curve over time, the index of the first curve that looks the same, its own if there is none:
// nine in ten of their values are within 6 %, at the times at which any curve is visible: above the value least.
func twins(lines [][]float64, least float64) []int {
	first := make([]int, len(lines))
	for i := range lines {
		first[i] = slices.IndexFunc(lines, func(other []float64) bool { return coincide(lines, other, lines[i], least) })
		if first[i] < 0 {
			first[i] = i
		}
	}
	return first
}

// coincide reports whether two curves, a and b, are within 6 % of each other at nine in ten of the times at which some
// curve of the chart (lines) is visible: above the value least, at which curves lie on the axis. Curves that are apart
// for a fiftieth of the time, as in a short storm, do not coincide.
func coincide(lines [][]float64, a, b []float64, least float64) bool {
	apart, seen, stretch := 0, 0, 0
	for i := range a {
		if !slices.ContainsFunc(lines, func(l []float64) bool { return l[i] > least }) {
			continue
		}
		seen++
		low, high := math.Min(a[i], b[i]), math.Max(a[i], b[i])
		if math.IsNaN(a[i]) != math.IsNaN(b[i]) || high > 1.06*low && high-low > least/1000 {
			apart++
			if stretch++; stretch*50 > len(a) {
				return false
			}
		} else {
			stretch = 0
		}
	}
	return seen > 0 && apart*10 <= seen
}

// legend returns the legend as an HTML list, for a page.
func (k key) legend() string {
	if len(k) == 0 {
		return ""
	}
	out := `<ul class="legend">`
	for _, e := range k {
		mark := fmt.Sprintf(`<line x1="0" y1="5" x2="22" y2="5" stroke="%s" stroke-width="3"%s/>`, hex(e.color),
			dashAttribute(e.dashes, " "))
		if e.area {
			mark = fmt.Sprintf(`<rect x="6" width="11" height="10" fill="%s" fill-opacity="%s"/>`, hex(e.color),
				number(float64(e.color.A)/255, 2))
		}
		policy := plain.When(e.policy > 0, fmt.Sprintf(` data-policy="%d"`, e.policy-1))
		out += fmt.Sprintf(`<li%s><svg class="sample" viewBox="0 0 22 10" aria-hidden="true">%s</svg>%s</li>`, policy,
			mark, html.EscapeString(e.name))
	}
	return out + "</ul>"
}

// dashAttribute returns an SVG attribute with a dash pattern, "" for a solid line.
func dashAttribute(dashes []vg.Length, between string) string {
	if len(dashes) == 0 {
		return ""
	}
	return fmt.Sprintf(` stroke-dasharray="%s"`, strings.Join(plain.Map(dashes, dashLength), between))
}

func dashLength(d vg.Length) string { return number(float64(d), 2) }

// window is a stretch of virtual time, in seconds, that a chart shades and names.
type window struct {
	from, to float64
	name     string
	color    color.NRGBA // colour of its name and, paler, of its background
}

// windowNames plots the names of windows above the plot.
type windowNames []window

const (
	windowRows = 3 // highest number of rows of window names
	windowLine = vg.Length(10)
	windowName = vg.Length(150) // widest name of a window; longer ones are shortened
)

var windowStyle = textStyle(8, ink, true)

// shades plots each window of time as a shade over the full height of a plot.
func shades(windows []window) sketch {
	return func(c draw.Canvas, _ *plot.Plot, tx, _ func(float64) vg.Length) {
		for _, w := range windows {
			x0, x1 := edges(c, tx, w)
			c.FillPolygon(alpha(w.color, 18), box(x0, c.Min.Y, x1, c.Max.Y))
		}
	}
}

func (w windowNames) Plot(c draw.Canvas, p *plot.Plot) {
	tx, _ := p.Transforms(&c)
	names := w.place(c, tx)
	slices.SortStableFunc(names, func(a, b windowLabel) int { return b.row - a.row }) // a name covers threads from above
	for _, n := range names {
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
