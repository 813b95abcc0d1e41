package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
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

const edgeWidth = vg.Length(1.8) // of the line along the edge of a map

func (m mapDrawing) sheet(name string, panels []results.MapPanel, scale *colorScale) *sheet {
	left := max(len(panels)-panelLimit, 0)
	panels = panels[:len(panels)-left]
	s := &sheet{Figure: Figure{Name: name, Title: m.title(panels), Subtitle: m.subtitle(left)}, key: scale.key()}
	measured, full := 0, 0
	for _, p := range panels {
		measured, full = measured+p.Measured, full+p.Full
	}
	s.Footer = sourceLine(m.Scenario, m.Version, m.ConfigHash, plain.Plural(m.Seeds, "seed")+" a point",
		fmt.Sprintf("%d points measured of %d", measured, full))
	s.alt = "Share of the map beyond the edge: " + strings.Join(plain.Map(panels, func(p results.MapPanel) string {
		return policyName(p.Label) + " " + portion(p.Beyond)
	}), ", ") + "."
	all := newPanels(len(panels))
	all.tall = min(.65*all.wide(), 240)
	all.fill = func(p *plot.Plot, i int, _ bool) { m.panel(p, &panels[i], all, scale) }
	s.panels = all
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
	bounds := slices.ContainsFunc(m.Panels, func(p results.MapPanel) bool {
		return slices.ContainsFunc(p.Tiles, func(t results.MapTile) bool { return t.Value.AtLeast() && !t.Value.Never })
	})
	return what + plain.When(bounds, "; some colours are lower bounds") +
		plain.When(left > 0, "; "+plain.Plural(left, "policy")+" not shown")
}

// panel draws the map of one policy into a plot: coloured rectangles, and the edge.
func (m mapDrawing) panel(p *plot.Plot, own *results.MapPanel, all *panels, scale *colorScale) {
	across, up := m.axis(m.XKey, m.XValues), m.axis(m.YKey, m.YValues)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, slices.Max(across.xs), 0, slices.Max(up.xs)
	beside, room := up.ticks(&p.Y, all.tall), all.wide()
	for _, t := range beside {
		room = min(room, all.wide()-p.Y.Tick.Label.Width(t.Label)-20)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = across.ticks(&p.X, room), beside
	p.X.Label.Text, p.Y.Label.Text = fit(p.X.Label.TextStyle, across.Key, room), fit(p.Y.Label.TextStyle, up.Key, all.tall)
	p.Add(sketch(func(c draw.Canvas, _ *plot.Plot, tx, ty func(float64) vg.Length) {
		for _, t := range joined(own.Tiles) {
			scale.fill(c, rectangle(tx(t.X0), ty(t.Y0), tx(t.X1), ty(t.Y1)), c.Rectangle, t.Value.Mean, t.Value.Never)
		}
		for _, line := range []draw.LineStyle{{Color: paper, Width: 3.6}, {Color: ink, Width: edgeWidth}} {
			for _, s := range linked(own.Edge) {
				x0, y0, x1, y1 := tx(s[0]), ty(s[1]), tx(s[2]), ty(s[3])
				if y0 == y1 { // corners are closed
					x0, x1 = max(x0-edgeWidth/2, c.Min.X), min(x1+edgeWidth/2, c.Max.X)
				} else {
					y0, y1 = max(y0-edgeWidth/2, c.Min.Y), min(y1+edgeWidth/2, c.Max.Y)
				}
				c.StrokeLine2(line, x0, y0, x1, y1)
			}
		}
		outline(c, c.Rectangle, .6)
	}), heading{clean(own.Label), []string{portion(own.Beyond) + " beyond", portion(own.Beyond)}})
}

// axis returns the axis of one of a map's two keys, its values at their grid positions.
func (m mapDrawing) axis(key string, values []string) keyAxis {
	k := newKeyAxis(&results.Axis{Key: clean(key), Values: values})
	for i := range k.xs {
		k.xs[i] *= float64(m.Steps)
	}
	return k
}

// outline draws a thin line around a rectangle.
func outline(c draw.Canvas, r vg.Rectangle, width vg.Length) {
	c.StrokeLines(draw.LineStyle{Color: axisline, Width: width}, append(box(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y), r.Min))
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
