// Package report draws charts of results: waits and backlogs over time, distributions of waits, comparisons of
// policies, sweeps, maps. Page joins a run's charts with tables and texts to one HTML document; Index compares runs.
//
// A run simulates a scenario under several policies, which decide what workers claim, each with the same seeds. A storm
// is an injected failure or burst with a window of time; fresh jobs have had no attempt yet, retries have. An objective
// is a limit on a metric, its verdict met, missed or unclear; the finding is the main result. A sweep is a set of runs
// over a grid of values of scenario keys (parameters), a cell for each combination. Panels are the plots of a figure,
// buckets the steps of its time axis.
//
// A figure depends on its input alone (no path, time or commit), so equal runs have equal figures, byte for byte.
package report

import (
	"fmt"
	"html"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is one finished chart with its texts: an SVG, from which Files makes a PNG, too.
type Figure struct {
	Name     string // name of a file without its ending, for example "1-fresh-p99"
	Title    string // the finding, one sentence
	Subtitle string // the quantity drawn
	Footer   string // source of the data and meaning of the marks
	Alt      string // alternative text: the finding and its numbers
	SVG      []byte // complete SVG document, with an XML declaration

	inline func() []byte       // returns the drawing without the texts around it, as SVG for a page
	legend string              // the legend as HTML, for a page
	none   bool                // nothing to see: the events that it shows did not happen
	dull   bool                // the chart shows little, such as waits near zero
	total  vg.Length           // height of the whole figure
	paint  func(c draw.Canvas) // draws the whole figure, with its texts
}

const (
	dpi    = 144 // resolution of a PNG in dots per inch
	width  = 7.6 * vg.Inch
	margin = vg.Length(14)
	room   = width - 2*margin // width of the drawing between the margins of a figure
)

// sheet is a chart before it is drawn: the figure's texts, and the function that draws it.
type sheet struct {
	Figure
	alt    string // alternative text after the title
	key    key    // legend, below the subtitle
	panels *panels
}

var (
	titleStyle    = placed(textStyle(12.5, ink, true), draw.XLeft, draw.YTop)
	subtitleStyle = placed(textStyle(9, muted, false), draw.XLeft, draw.YTop)
	footerStyle   = textStyle(7, muted, false)
)

const (
	titleLine    = vg.Length(16)
	subtitleLine = vg.Length(12)
	footerLine   = vg.Length(9)
)

// render draws a chart, with its texts and legend, as an SVG, and returns the finished figure.
func (s *sheet) render() Figure {
	titles, subtitles := wrap(titleStyle, s.Title, room), wrap(subtitleStyle, s.Subtitle, room)
	footers := wrap(footerStyle, s.Footer, room)
	top := margin + vg.Length(len(titles))*titleLine + 2 + vg.Length(len(subtitles))*subtitleLine + 10
	bottom := 11 + vg.Length(len(footers))*footerLine
	if len(s.key) > 0 {
		top += vg.Length(s.key.place(room, nil))*keyLine + 6
	}
	f := s.Figure
	f.Alt, f.legend, f.total = s.Title+". "+s.alt, s.key.legend(), top+s.panels.height()+bottom

	frame := func(c draw.Canvas) {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
		y := lines(c, titleStyle, titles, c.Max.Y-margin, titleLine)
		y = lines(c, subtitleStyle, subtitles, y-2, subtitleLine)
		s.key.draw(draw.Crop(c, margin, -margin, 0, y-8-c.Max.Y))
		lines(c, footerStyle, footers, c.Min.Y+6+vg.Length(len(footers)-1)*footerLine, footerLine)
	}
	body := func(c draw.Canvas) { s.panels.draw(draw.Crop(c, margin, -margin, bottom, -top)) }

	canvas := newSVGCanvas(s.Name, f.total)
	sheet := draw.NewCanvas(canvas, width, f.total)
	frame(sheet)
	framed := len(canvas.out)
	body(sheet)
	drawing := append(canvas.definitions(), canvas.out[framed:]...)

	words := `role="img" aria-label="` + html.EscapeString(f.Alt) + `"`
	f.inline = func() []byte { return s.panels.inline(s.Name, f.Alt) }
	w, h := number(float64(width), 1), number(float64(f.total), 1)
	f.SVG = fmt.Appendf(nil, `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" %s width="%spt" height="%spt" `+
		`viewBox="0 0 %s %s" font-family="'Liberation Sans',Arial,Helvetica,sans-serif">
%s%s</svg>
`, words, w, h, w, h, canvas.out[:framed], drawing)
	f.paint = func(c draw.Canvas) { frame(c); body(c) }
	return f
}

// lines draws lines of text from y downwards, height apart, and returns the y of the line after them.
func lines(c draw.Canvas, style text.Style, lines []string, y, height vg.Length) vg.Length {
	for _, l := range lines {
		c.FillText(style, vg.Point{X: c.Min.X + margin, Y: y}, l)
		y -= height
	}
	return y
}

// panels holds plots of one size, in rows and columns. A file has them on one drawing; a page has a drawing for each,
// in as many columns as fit.
type panels struct {
	n, columns int
	steps      int       // highest number of ticks on a time axis
	tall       vg.Length // height of a plot without its axis
	above      vg.Length // height above a plot, for headings
	right      vg.Length // width at the right of a plot, for words
	// fill draws into plot i, which is empty; alone is true where no names of rows stand at its left.
	fill     func(p *plot.Plot, i int, alone bool)
	policies []policy // policies of the plots; nil: every plot shows all policies
}

const (
	abovePanel   = vg.Length(16)
	belowPanel   = vg.Length(14) // height of the axis below a plot
	betweenRows  = vg.Length(26)
	betweenPanel = vg.Length(18)
	halfTick     = vg.Length(14) // half the width of a label, such as 1m30s, at the right end of an axis
)

// newPanels returns the layout of n plots over time: the fewer there are, the larger and the fewer in a row.
func newPanels(n int) *panels {
	p := &panels{n: n, columns: 4, steps: 3, tall: 66, above: abovePanel}
	switch {
	case n == 1:
		p.columns, p.steps, p.tall = 1, 8, 180
	case n == 2:
		p.columns, p.steps, p.tall = 2, 6, 130
	case n == 4:
		p.columns, p.steps, p.tall = 2, 6, 82
	case n == 3:
		p.columns, p.steps, p.tall = 3, 4, 110
	case n <= 9:
		p.columns, p.steps, p.tall = 3, 4, 82
	}
	return p
}

// panelsOf returns a panel for each given policy; fill draws into its plot, with at most steps ticks of time.
func (d *drawing) panelsOf(policies []policy, fill func(p *plot.Plot, own policy, steps int)) *panels {
	all := newPanels(len(policies))
	all.policies = policies
	if d.pairs {
		all.columns, all.steps = 2, 6
	}
	all.fill = func(p *plot.Plot, i int, _ bool) { fill(p, policies[i], all.steps) }
	return all
}

// overTime returns panels over virtual time: one for each policy, or if there are too many for some, including those
// with the least and the largest of values. Each has the shades of the storms as they are under its policy. fill sets
// the vertical axis of a plot, and returns its plotters and the remarks above it; show names the quantity drawn, for
// the script of a page.
func (d *drawing) overTime(show string, until float64, values []float64,
	fill func(p *plot.Plot, own policy) (inside []plot.Plotter, remarks []string)) *panels {
	return d.panelsOf(d.shown(extremes(values)), func(p *plot.Plot, own policy, steps int) {
		inside, remarks := fill(p, own)
		about := fmt.Sprintf(` data-show="%s" data-policy="%d"`, show, own.index)
		windows := d.windows(until, d.settings.StormsOf(own.index))
		addTimeline(p, timeline{until, steps, about, windows, inside, []plot.Plotter{heading{own.name, remarks}}})
	})
}

// lineChart is a chart with curves of all policies on common axes.
type lineChart struct {
	axes    func(p *plot.Plot, steps int, alone bool) // sets the axes of a plot; alone: it is the only one
	lines   func(p *plot.Plot, policy int, style draw.LineStyle) []curve
	remarks func(policy int) []string // texts above the panel of a policy, of which one that fits is shown

	// For a plot that is the only one: its height, the label of its horizontal axis, and a limit to mark if its Bound is
	// above 0.
	tall   vg.Length
	across string
	limit  limit
}

// addLines adds a line chart to a sheet: one plot with a legend, or if there are many policies a panel for each of
// those shown, with the curves of all in grey behind its own.
func (d *drawing) addLines(s *sheet, l lineChart, shown []policy) {
	if len(d.policies) > together {
		s.Subtitle += ", the others in grey" + d.panelWords()
		s.panels = d.panelsOf(shown, func(p *plot.Plot, own policy, steps int) {
			l.axes(p, steps, false)
			var behind backdropLines
			for i := range d.policies {
				behind = append(behind, l.lines(p, i, backdropStyle)...)
			}
			p.Add(behind, curves(l.lines(p, own.index, own.line(1.6))), heading{own.name, l.remarks(own.index)})
		})
		return
	}
	s.key = d.policyKey()
	s.panels = &panels{n: 1, columns: 1, tall: l.tall, above: 4}
	s.panels.fill = func(p *plot.Plot, _ int, _ bool) {
		l.axes(p, 10, true)
		p.X.Label.Text = l.across
		var all []curve
		for i, own := range d.policies {
			lines := l.lines(p, i, own.dashed(1.8))
			p.Add(ofPolicy(i, curves(lines)))
			all = append(all, lines...)
		}
		if l.limit.Bound > 0 {
			p.Add(limitLine(l.limit.Bound, "objective: "+l.limit.Text, all))
		}
	}
}

func (g *panels) height() vg.Length {
	rows := vg.Length((g.n + g.columns - 1) / g.columns)
	return g.above + rows*(g.tall+belowPanel) + (rows-1)*g.between()
}

// wide returns the width of a panel with its axis, those of a row being equal.
func (g *panels) wide() vg.Length {
	return (room - vg.Length(g.columns-1)*betweenPanel) / vg.Length(g.columns)
}

// between returns the vertical distance between two rows of panels.
func (g *panels) between() vg.Length { return max(betweenRows, g.above+10) }

// plot returns plot i, drawn by fill; alone is true where no other stands at its left.
func (g *panels) plot(i int, alone bool) *plot.Plot {
	p := newPlot()
	g.fill(p, i, alone)
	return p
}

// draw draws all panels on one canvas, in rows, with their axes aligned.
func (g *panels) draw(c draw.Canvas) {
	rows := (g.n + g.columns - 1) / g.columns
	plots := make([]*plot.Plot, rows*g.columns) // nil: an empty place in the last row
	for i := range g.n {
		plots[i] = g.plot(i, i%g.columns == 0)
	}
	tiles := draw.Tiles{Rows: rows, Cols: g.columns, PadX: betweenPanel, PadY: g.between(), PadTop: g.above,
		PadRight: max(g.right, 4)}
	places := slices.Concat(plot.Align(slices.Collect(slices.Chunk(plots, g.columns)), tiles, c)...)
	for i, canvas := range places[:g.n] {
		plots[i].Draw(canvas)
	}
}

// inline returns each panel as an SVG of its own within an HTML page.
func (g *panels) inline(name, alt string) []byte {
	wide, height := g.wide(), g.above+g.tall+belowPanel+4
	out := fmt.Appendf(nil, `<div class="panels c%d" role="img" aria-label="%s">`+"\n", g.columns, html.EscapeString(alt))
	var first svgCanvas
	for i := range g.n {
		canvas := newSVGCanvas(name, height)
		canvas.shared, canvas.panel = first.shared, first.panel
		c := draw.NewCanvas(canvas, wide, height)
		g.plot(i, true).Draw(draw.Crop(c, 2, -max(g.right, halfTick), 4, -g.above))
		about := ""
		if g.policies != nil {
			about = fmt.Sprintf(` data-policy="%d"`, g.policies[i].index)
		}
		definitions := []byte(nil)
		if i == 0 {
			first, definitions = *canvas, canvas.definitions()
		}
		out = fmt.Appendf(out, `<svg class="chart"%s viewBox="0 0 %s %s">`+"\n%s%s</svg>\n", about, number(float64(wide),
			1), number(float64(height), 1), definitions, canvas.out)
	}
	return append(out, "</div>"...)
}
