package report

import (
	"fmt"
	"html"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panels holds plots of one size, in rows and columns. A file has them on one drawing; a page has a drawing for each,
// in as many columns as fit.
type panels struct {
	n, columns int
	steps      int       // highest number of ticks on a time axis
	tall       vg.Length // height of a plot without its axis
	above      vg.Length // height above a plot, for headings
	axis       vg.Length // height of the axis below a plot
	right      vg.Length // width at the right of a plot, for words
	// build returns plot i; alone is true where no names of rows stand at its left.
	build  func(i int, alone bool) *plot.Plot
	policy func(i int) int // index of the policy of plot i; nil: every plot shows all policies
}

const (
	abovePanel   = vg.Length(16)
	betweenRows  = vg.Length(26)
	betweenPanel = vg.Length(18)
)

// newPanels returns the layout of n plots over time, in rows and columns.
func newPanels(n int) *panels {
	p := &panels{n: n, columns: 4, steps: 3, tall: 66, above: abovePanel, axis: 14}
	switch {
	case n == 1:
		p.columns, p.steps, p.tall = 1, 8, 180
	case n == 2:
		p.columns, p.steps, p.tall = 2, 6, 130
	case n == 4:
		p.columns, p.steps, p.tall = 2, 6, 82
	case n <= 9:
		p.columns, p.steps, p.tall = 3, 4, 82
	}
	if n == 3 {
		p.tall = 110
	}
	return p
}

// panelsOf returns a panel for each given policy, drawn by fill with at most steps ticks of time.
func (d *drawing) panelsOf(policies []policy, fill func(p *plot.Plot, own policy, steps int)) *panels {
	all := newPanels(len(policies))
	if d.pairs {
		all.columns, all.steps = 2, 6
	}
	all.build = func(i int, _ bool) *plot.Plot {
		p := newPlot()
		fill(p, policies[i], all.steps)
		return p
	}
	all.policy = func(i int) int { return policies[i].index }
	return all
}

func (g *panels) height() vg.Length {
	rows := vg.Length((g.n + g.columns - 1) / g.columns)
	return g.above + rows*(g.tall+g.axis) + (rows-1)*g.between()
}

// between returns the vertical distance of two rows of panels.
func (g *panels) between() vg.Length { return max(betweenRows, g.above+10) }

// draw draws all panels on one canvas.
func (g *panels) draw(c draw.Canvas) {
	rows := (g.n + g.columns - 1) / g.columns
	plots := make([][]*plot.Plot, rows)
	for r := range plots {
		plots[r] = make([]*plot.Plot, g.columns)
	}
	for i := range g.n {
		plots[i/g.columns][i%g.columns] = g.build(i, i%g.columns == 0)
	}
	tiles := draw.Tiles{Rows: rows, Cols: g.columns, PadX: betweenPanel, PadY: g.between(), PadTop: g.above,
		PadRight: max(g.right, 4)}
	for r, row := range plot.Align(plots, tiles, c) {
		for k, canvas := range row {
			if plots[r][k] != nil {
				plots[r][k].Draw(canvas)
			}
		}
	}
}

// inline returns each panel as an SVG of its own within an HTML page.
func (g *panels) inline(name, alt string) []byte {
	wide := (room - vg.Length(g.columns-1)*betweenPanel) / vg.Length(g.columns)
	height := g.above + g.tall + g.axis + 4
	out := fmt.Appendf(nil, `<div class="panels c%d" role="img" aria-label="%s">`+"\n", g.columns, html.EscapeString(alt))
	var first *svgCanvas
	for i := range g.n {
		canvas := newSVGCanvas(name, height)
		if first != nil {
			canvas.shared, canvas.panel = first.shared, first.panel
		}
		c := draw.NewCanvas(canvas, wide, height)
		g.build(i, true).Draw(draw.Crop(c, 2, -max(g.right, 10), 4, -g.above))
		about := ""
		if g.policy != nil {
			about = fmt.Sprintf(` data-policy="%d"`, g.policy(i))
		}
		definitions := canvas.definitions()
		if first != nil {
			definitions = nil
		}
		first = canvas
		out = fmt.Appendf(out, `<svg class="chart"%s viewBox="0 0 %s %s">`+"\n%s%s</svg>\n", about, number(float64(wide),
			1), number(float64(height), 1), definitions, canvas.out)
	}
	return append(out, "</div>"...)
}

// grid lays out n plots in rows and columns, and returns the height of all and the function that draws them; build
// makes plot i, with at most steps ticks on the time axis.
func grid(n int, build func(i, steps int) *plot.Plot) (vg.Length, func(draw.Canvas)) {
	g := newPanels(n)
	g.build = func(i int, _ bool) *plot.Plot { return build(i, g.steps) }
	return g.height(), g.draw
}
