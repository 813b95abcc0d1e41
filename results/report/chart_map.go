package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/plain"
)

// MapCharts draws a map (a metric over two keys of a scenario) as a figure with a panel for each policy and, if there
// are several policies, one more figure for each, all on one colour scale.
func MapCharts(maps *results.Map) ([]Figure, error) {
	m := mapDrawing{maps}
	switch {
	case len(m.Panels) == 0:
		return nil, fmt.Errorf("draw map: there is no policy")
	case len(m.XValues) < 2 || len(m.YValues) < 2 || m.Steps < 1:
		return nil, fmt.Errorf("draw map: an axis has fewer than two values")
	}
	scale := newColorScale(maps)
	sheets := []*sheet{m.sheet("map", m.Panels, scale)}
	if len(m.Panels) > 1 {
		for i := range m.Panels {
			sheets = append(sheets, m.sheet(fmt.Sprintf("map-%d", i+1), m.Panels[i:i+1], scale))
		}
	}
	return plain.Map(sheets, (*sheet).render), nil
}

// mapDrawing draws the charts of a map: the values of a metric over two keys of a scenario, as colours.
type mapDrawing struct{ *results.Map }

const (
	mapLeft   = vg.Length(58) // width left of a panel, for the labels of its y axis
	mapBelow  = vg.Length(32)
	mapAbove  = vg.Length(18)
	mapBar    = vg.Length(86) // width of the colour scale at the right of a figure
	mapGap    = vg.Length(14)
	mapPanels = 24
	edgeWidth = vg.Length(1.8)
)

var (
	mapTick  = textStyle(8, muted, false)
	mapLabel = textStyle(9, ink, true)
)

func (m mapDrawing) sheet(name string, panels []results.MapPanel, scale *colorScale) *sheet {
	left := 0
	if len(panels) > mapPanels {
		left, panels = len(panels)-mapPanels, panels[:mapPanels]
	}
	s := &sheet{Figure: Figure{Name: name, Title: m.title(panels), Subtitle: m.subtitle(left)}}
	measured, full := 0, 0
	for _, p := range panels {
		measured, full = measured+p.Measured, full+p.Full
	}
	s.Footer = sourceLine(m.Scenario, m.Version, m.ConfigHash, plain.Plural(m.Seeds, "seed")+" a point",
		fmt.Sprintf("%d points measured of %d", measured, full))
	s.alt = "Share of the map beyond the edge: " + strings.Join(plain.Map(panels, func(p results.MapPanel) string {
		return policyName(p.Label) + " " + portion(p.Beyond)
	}), ", ") + "."
	columns := 3
	if n := len(panels); n <= 4 {
		columns = min(n, 2)
	}
	rows := (len(panels) + columns - 1) / columns
	wide := (room - mapBar) / vg.Length(columns)
	tall := min(wide*.78, 3.6*vg.Inch)
	s.height = vg.Length(rows) * (tall + mapGap)
	s.body = func(c draw.Canvas) {
		for i := range panels {
			x, y := c.Min.X+vg.Length(i%columns)*wide, c.Max.Y-vg.Length(i/columns)*(tall+mapGap)
			at := rectangle(x, y-tall, x+wide-mapGap, y)
			m.drawPanel(draw.Canvas{Canvas: c.Canvas, Rectangle: at}, &panels[i], scale)
		}
		bar := rectangle(c.Max.X-mapBar+8, c.Max.Y-tall, c.Max.X, c.Max.Y)
		scale.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: bar}, m)
	}
	return s
}

// beyond returns the phrase for what a policy does beyond a map's edge, such as "never recovers". At the edge the
// metric passes a bound, or the measured event (a recovery, say) no longer happens within the run.
func (m mapDrawing) beyond() string {
	switch {
	case m.Edge != "":
		return "has " + m.Query.Metric + " " + m.Edge
	case m.Query.Metric == "recovery.time":
		return "never recovers"
	case m.Query.Metric == "drain.time":
		return "never drains"
	}
	return "never comes to an end"
}

func (m mapDrawing) title(panels []results.MapPanel) string {
	best, worst := extremes(plain.Map(panels, func(p results.MapPanel) float64 { return p.Beyond }))
	name := func(i int) string { return policyName(panels[i].Label) }
	low, high := portion(panels[best].Beyond), portion(panels[worst].Beyond)
	switch {
	case panels[worst].Beyond == 0 && len(panels) == 1:
		return fmt.Sprintf("No point of the map where %s %s", name(0), m.beyond())
	case panels[worst].Beyond == 0:
		return fmt.Sprintf("No point of the map where a policy %s", m.beyond())
	case len(panels) == 1:
		return fmt.Sprintf("%s %s in %s of the map", name(0), m.beyond(), high)
	case low == high:
		return fmt.Sprintf("Every policy %s in %s of the map", m.beyond(), high)
	}
	return fmt.Sprintf("%s %s in %s of the map, %s in %s", name(worst), m.beyond(), high, name(best), low)
}

func portion(share float64) string {
	return plain.Either(share > 0 && share < .005, "under 1%", fmt.Sprintf("%.0f%%", share*100))
}

func (m mapDrawing) subtitle(left int) string {
	what := m.Query.String() + " over " + clean(m.XKey) + " and " + clean(m.YKey) + "; the line is the edge"
	if m.Edge == "" {
		what += " beyond which it does not come within the run"
	} else {
		what += ": beyond it is " + m.Edge
	}
	bounds := m.any(func(t results.MapTile) bool { return t.Value.AtLeast() && !t.Value.Never })
	return what + plain.When(bounds, "; some colours are lower bounds") +
		plain.When(left > 0, "; "+plain.Plural(left, "policy")+" not shown")
}

// drawPanel draws the map of one policy: coloured rectangles, the edge, the policy's name, and axes.
func (m mapDrawing) drawPanel(c draw.Canvas, p *results.MapPanel, scale *colorScale) {
	area := rectangle(c.Min.X+mapLeft, c.Min.Y+mapBelow, c.Max.X, c.Max.Y-mapAbove)
	wide, tall := area.Max.X-area.Min.X, area.Max.Y-area.Min.Y
	tx := func(x float64) vg.Length {
		return area.Min.X + vg.Length(x/float64((len(m.XValues)-1)*m.Steps))*wide
	}
	ty := func(y float64) vg.Length {
		return area.Min.Y + vg.Length(y/float64((len(m.YValues)-1)*m.Steps))*tall
	}
	for _, t := range joined(p.Tiles) {
		scale.fill(c, rectangle(tx(t.X0), ty(t.Y0), tx(t.X1), ty(t.Y1)), area, t.Value.Mean, t.Value.Never)
	}
	for _, line := range []draw.LineStyle{{Color: paper, Width: 3.6}, {Color: ink, Width: edgeWidth}} {
		for _, s := range linked(p.Edge) {
			x0, y0, x1, y1 := tx(s[0]), ty(s[1]), tx(s[2]), ty(s[3])
			if y0 == y1 { // corners are closed
				x0, x1 = max(x0-edgeWidth/2, area.Min.X), min(x1+edgeWidth/2, area.Max.X)
			} else {
				y0, y1 = max(y0-edgeWidth/2, area.Min.Y), min(y1+edgeWidth/2, area.Max.Y)
			}
			c.StrokeLine2(line, x0, y0, x1, y1)
		}
	}
	outline(c, area, .6)
	remark := portion(p.Beyond) + " beyond"
	name := fit(mapLabel, clean(p.Label), wide-mapTick.Width(remark)-8)
	c.FillText(mapLabel, vg.Point{X: area.Min.X, Y: area.Max.Y + 5}, name)
	c.FillText(placed(mapTick, draw.XRight, draw.YBottom), vg.Point{X: area.Max.X, Y: area.Max.Y + 5}, remark)
	m.drawAxes(c, area, tx, ty)
}

// outline draws a thin line around a rectangle.
func outline(c draw.Canvas, r vg.Rectangle, width vg.Length) {
	c.StrokeLines(draw.LineStyle{Color: axisline, Width: width}, append(box(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y), r.Min))
}

func (m mapDrawing) drawAxes(c draw.Canvas, area vg.Rectangle, tx, ty func(float64) vg.Length) {
	grey := draw.LineStyle{Color: axisline, Width: .6}
	under := placed(mapTick, draw.XCenter, draw.YTop)
	end := vg.Length(math.Inf(-1))
	for i, v := range m.XValues {
		x := tx(float64(i * m.Steps))
		c.StrokeLine2(grey, x, area.Min.Y, x, area.Min.Y-3)
		text := fit(under, v, 60)
		half := under.Width(text) / 2
		if x-half > end+4 {
			c.FillText(under, vg.Point{X: min(x, area.Max.X-half+6), Y: area.Min.Y - 5}, text)
			end = x + half
		}
	}
	middle, size := vg.Point{X: (area.Min.X + area.Max.X) / 2, Y: (area.Min.Y + area.Max.Y) / 2}, area.Size()
	c.FillText(under, vg.Point{X: middle.X, Y: area.Min.Y - 18}, fit(under, clean(m.XKey), size.X))
	beside := placed(mapTick, draw.XRight, draw.YCenter)
	top := vg.Length(math.Inf(-1))
	for i, v := range m.YValues {
		y := ty(float64(i * m.Steps))
		c.StrokeLine2(grey, area.Min.X-3, y, area.Min.X, y)
		if y > top+9 {
			c.FillText(beside, vg.Point{X: area.Min.X - 5, Y: y}, fit(beside, v, mapLeft-20))
			top = y
		}
	}
	under.Rotation = math.Pi / 2
	c.FillText(under, vg.Point{X: area.Min.X - mapLeft + 2, Y: middle.Y}, fit(mapTick, clean(m.YKey), size.Y))
}

// linked joins adjoining parallel segments of a map's edge line: drawn apart they would be darker where they meet.
func linked(edge [][4]float64) [][4]float64 {
	edge = slices.Clone(edge)
	level := func(s [4]float64) bool { return s[1] == s[3] }
	order := func(s [4]float64) []float64 { // the level ones first, row by row, then the others, column by column
		if level(s) {
			return []float64{0, s[1], s[0]}
		}
		return []float64{1, s[0], s[1]}
	}
	slices.SortFunc(edge, func(a, b [4]float64) int { return slices.Compare(order(a), order(b)) })
	return merged(edge, func(last *[4]float64, s [4]float64) bool {
		joins := level(*last) == level(s) && last[2] == s[0] && last[3] == s[1]
		if joins {
			last[2], last[3] = s[2], s[3]
		}
		return joins
	})
}

// joined merges tiles (rectangles of a map) that lie side by side and have the same value.
func joined(tiles []results.MapTile) []results.MapTile {
	tiles = slices.Clone(tiles)
	slices.SortFunc(tiles, func(a, b results.MapTile) int {
		return cmp.Or(cmp.Compare(a.Y0, b.Y0), cmp.Compare(a.Y1, b.Y1), cmp.Compare(a.X0, b.X0))
	})
	same := func(a, b results.MapValue) bool {
		return a.Never == b.Never && (a.Never || a.Mean == b.Mean || math.IsNaN(a.Mean) && math.IsNaN(b.Mean))
	}
	return merged(tiles, func(last *results.MapTile, t results.MapTile) bool {
		joins := last.Y0 == t.Y0 && last.Y1 == t.Y1 && last.X1 == t.X0 && same(last.Value, t.Value)
		if joins {
			last.X1 = t.X1
		}
		return joins
	})
}

// merged returns a list in which each element for which join returns true has been merged into the one before it.
func merged[T any](list []T, join func(last *T, next T) bool) (kept []T) {
	for _, next := range list {
		if n := len(kept); n == 0 || !join(&kept[n-1], next) {
			kept = append(kept, next)
		}
	}
	return kept
}
