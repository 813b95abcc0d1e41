package study

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

// MapPlan is the plan of a map: a study that measures a metric on a grid of the values of two scenario keys, and more
// finely along the edge, where the metric crosses a bound or the measured event ceases to happen.
type MapPlan struct {
	Source Source // scenario; its objectives and Queries are ignored
	X, Y   Axis
	Depth  int // number of times that cells at the edge are halved
	Query  measure.Query
	// Edge is the bound of the far side: values surely above it or, if more is better, below it.
	// NaN: the far side has the points whose value is only a lower bound.
	Edge     float64
	EdgeText string // Edge as the user typed it; empty: Edge is NaN
	// Progress is called before each round of points, from one goroutine: it returns a function to call after each
	// measured point, from one goroutine at a time.
	Progress func(policy string, round, points int) (measured func())
}

// Mapped holds the results of a MapPlan: a finished map for each policy of the scenario.
type Mapped struct {
	results.Map        // the maps as rectangles, for drawing
	Maps        []*Map // the measured points, by policy
}

// source returns the scenario as a map simulates it: it measures the metric alone.
func (p *MapPlan) source() Source {
	source := p.Source
	source.Sets = append(slices.Clip(source.Sets), scenarios.Override{Path: "objectives", Value: "[]"})
	source.Queries = []measure.Query{p.Query}
	return source
}

// Check checks a map's axes and loads the scenario at all points of the coarse grid, so that a mistake is found before
// anything is simulated: see Plan.Check. Warnings do not count: a map goes beyond what a queue bears on purpose.
func (p *MapPlan) Check(ctx context.Context) error {
	plan, err := newPlan(p.source(), []Axis{p.X, p.Y}, mostPoints)
	if err == nil {
		_, err = newLattice(p.X, p.Y, p.Depth)
	}
	if err == nil {
		_, err = plan.Check(ctx, Shard{0, 1}.cells(plan.Size()), false)
	}
	return err
}

// Run makes a map for each policy of base, the unchanged scenario, with all its seeds. When ctx is done it returns
// ctx.Err(), and a *SettingError for a point that cannot be simulated.
func (p *MapPlan) Run(ctx context.Context, base *scenarios.Scenario) (*Mapped, error) {
	l, err := newLattice(p.X, p.Y, p.Depth)
	if err != nil {
		return nil, err
	}
	source := p.source()
	s := &simulator{source: &source, each: int(base.Seeds)}
	maps := &Mapped{Map: results.Map{Scenario: base.Name, ConfigHash: base.ConfigHash(), Version: source.Version,
		Query: p.Query, Seeds: int(base.Seeds), XKey: p.X.Key, YKey: p.Y.Key, XValues: p.X.Range.Texts(),
		YValues: p.Y.Range.Texts(), Steps: l.Steps, Edge: p.edgeWords()}}
	for i := range base.Policies {
		label, round := base.Policies[i].Label, 0
		m, err := explore(l, func(points []point) ([]results.MapValue, error) {
			measured := p.Progress(label, round, len(points))
			round++
			return p.measure(ctx, s, l, label, points, measured)
		})
		if err != nil {
			return nil, err
		}
		maps.Panels, maps.Maps = append(maps.Panels, m.panel(label)), append(maps.Maps, m)
	}
	return maps, nil
}

func (p *MapPlan) sets(l *lattice, at point) []scenarios.Override {
	return []scenarios.Override{{Path: p.X.Key, Value: l.X[at.X].Text}, {Path: p.Y.Key, Value: l.Y[at.Y].Text}}
}

func (p *MapPlan) measure(ctx context.Context, s *simulator, l *lattice, policy string, points []point,
	measured func()) ([]results.MapValue, error) {
	values := make([]results.MapValue, len(points))
	var mutex sync.Mutex
	err := s.all(ctx, len(points), func(i int, simulate simulation) error {
		_, runs, err := simulate(&task{sets: p.sets(l, points[i]), policy: policy})
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		values[i] = p.value(runs)
		measured()
		return nil
	})
	return values, err
}

// value returns the mean of the metric at a point of a map over the seeds, and whether most seeds lie beyond the edge.
func (p *MapPlan) value(runs []measure.Run) results.MapValue {
	info, _ := measure.Lookup(p.Query.Metric)
	v := results.MapValue{Mean: math.NaN(), Seeds: len(runs)}
	sum, numbers, beyond, never := 0.0, 0, 0, 0
	for i := range runs {
		value := runs[i].Find(p.Query)
		if value.Null {
			v.Reason = value.Reason
			continue
		}
		// A bound counts for as much as it says: without it the mean would be that of the seeds
		// that came off lightly.
		sum, numbers = sum+value.Value, numbers+1
		if value.Bound != "" {
			v.Bounds++
		}
		if p.beyond(&value, info.MoreIsBetter) {
			if beyond++; value.Bound != "" {
				never++
			}
		}
	}
	if numbers > 0 {
		v.Mean, v.Reason = sum/float64(numbers), ""
	}
	v.Never, v.Beyond = 2*never > len(runs), 2*beyond > len(runs)
	return v
}

// beyond reports whether a value surely lies on the far side of the map's edge: above it, or, if more is better, below
// it, as a lower bound never does.
func (p *MapPlan) beyond(value *measure.Value, moreIsBetter bool) bool {
	switch {
	case math.IsNaN(p.Edge):
		return value.Bound != ""
	case moreIsBetter:
		return value.Bound == "" && value.Value < p.Edge
	}
	return value.Value > p.Edge
}

// mapRow is the value of one point of a map, a row in JSON and CSV.
type mapRow struct {
	Policy string  `json:"policy"`
	X      string  `json:"x"`
	Y      string  `json:"y"`
	Value  float64 `json:"value"` // mean value; null: no seed has one
	Bound  string  `json:"bound"` // ">=": value is a lower bound, since that of some seeds is
	Never  int     `json:"never"` // number of seeds with only a lower bound
	Seeds  int     `json:"seeds"`
	Beyond bool    `json:"beyond"`
	Coarse bool    `json:"coarse"` // the point is on the grid of the ranges
}

func (m *Mapped) rows() []mapRow {
	var rows []mapRow
	for i, found := range m.Maps {
		for _, at := range found.Points() {
			v := found.Values[at]
			rows = append(rows, mapRow{Policy: m.Panels[i].Label, X: found.X[at.X].Text, Y: found.Y[at.Y].Text,
				Value: v.Mean, Bound: plain.When(v.AtLeast(), ">="), Never: v.Bounds, Seeds: v.Seeds,
				Beyond: v.Beyond, Coarse: at.X%found.Steps == 0 && at.Y%found.Steps == 0})
		}
	}
	return rows
}

// JSON returns, as JSON, all measured points of the maps: a metric's values over those of two scenario keys.
func (m *Mapped) JSON() ([]byte, error) {
	return results.MarshalLines(struct {
		Version  int      `json:"version"`
		Scenario string   `json:"scenario"`
		Config   string   `json:"config"`
		Metric   string   `json:"metric"`
		Edge     string   `json:"edge"` // values beyond the edge, in words; empty: no value within the run
		X        string   `json:"x"`
		Y        string   `json:"y"`
		Points   []mapRow `json:"points"`
	}{1, m.Scenario, m.ConfigHash, m.Query.String(), m.Edge, m.XKey, m.YKey, m.rows()})
}

// edgeWords describes the values beyond the edge of a map, as "above 10s"; empty if the measured event never happens
// there within the run.
func (p *MapPlan) edgeWords() string {
	info, _ := measure.Lookup(p.Query.Metric)
	return plain.When(!math.IsNaN(p.Edge), plain.Either(info.MoreIsBetter, "below ", "above ")+p.EdgeText)
}

// Table returns the maps as text: as CSV all points, for people the coarse grid of each policy, the largest y first as
// in the picture.
func (m *Mapped) Table(o text.TableOptions) string {
	if o.Format == text.CSV {
		header := []string{"policy", m.XKey, m.YKey, m.Query.String(), "bound", "never", "seeds", "beyond", "coarse"}
		rows := plain.Map(m.rows(), func(r mapRow) []string {
			return []string{r.Policy, r.X, r.Y, plain.Number(r.Value), r.Bound, strconv.Itoa(r.Never),
				strconv.Itoa(r.Seeds), strconv.FormatBool(r.Beyond), strconv.FormatBool(r.Coarse)}
		})
		return text.Cells(header, rows, 0, o)
	}
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(text.Paragraph(fmt.Sprintf(format, args...), o.Width)) }
	line("%s   %s, mean of %s", m.Scenario, m.Query, counted(m.Seeds, "seed", "seeds"))
	line("%s across, %s up", m.XKey, m.YKey)
	for i, p := range m.Panels {
		share := results.FormatValue(p.Beyond, measure.MetricInfo{Unit: "1", Share: true})
		b.WriteString("\n")
		line("%s: %s of the map beyond the edge, %d points measured of %d", p.Label, share, p.Measured, p.Full)
		b.WriteString("\n" + m.grid(m.Maps[i], o))
	}
	b.WriteString("\n")
	line("✗ = beyond the edge: %s, under most seeds", cmp.Or(m.Edge, "not within the run"))
	if m.Edge != "" && strings.Contains(b.String(), "≥ ") {
		line("≥ = at least: the run ended before; without ✗ it is not known whether it lies beyond the edge")
	}
	if reason := m.reason(); reason != "" {
		line("%s = no value: %s", plain.Missing, reason)
	}
	return b.String()
}

// reason returns why a point of the maps has no value, for the first such point; "" if there is none.
func (m *Mapped) reason() string {
	for _, found := range m.Maps {
		for _, at := range found.Points() {
			if v := found.Values[at]; math.IsNaN(v.Mean) && !v.Never && v.Reason != "" {
				return v.Reason
			}
		}
	}
	return ""
}

// grid returns the values of the coarse grid under one policy as a text table.
func (m *Mapped) grid(found *Map, o text.TableOptions) string {
	t := text.Table{Rule: true, Columns: []text.Column{{Key: true}}}
	for _, x := range m.XValues {
		t.Columns = append(t.Columns, text.Column{Title: x, Right: true})
	}
	for y := len(found.Y) - 1; y >= 0; y -= found.Steps {
		row := []string{found.Y[y].Text}
		for i := range m.XValues {
			row = append(row, m.cell(found.Values[point{X: i * found.Steps, Y: y}]))
		}
		t.Add(row...)
	}
	return t.Render(o)
}

// cell returns the value at a point of a map as text, marked if it lies beyond the edge.
func (m *Mapped) cell(v results.MapValue) string {
	info, _ := measure.Lookup(m.Query.Metric)
	text := results.FormatValue(v.Mean, info)
	switch {
	case v.Never && m.Edge == "":
		text = "never"
	case v.AtLeast():
		text = "≥ " + text
	}
	return text + plain.When(v.Beyond, " ✗")
}

// panel returns the map of one policy for drawing: each rectangle between measured points as four quarters, each with
// the value of its corner, and the lines between quarters on different sides of the edge.
func (m *Map) panel(label string) results.MapPanel {
	panel := results.MapPanel{Label: label, Measured: len(m.Values), Full: m.Size()}
	var beyond float64
	for _, c := range m.Patches {
		x, y := float64(c.X0+c.X1)/2, float64(c.Y0+c.Y1)/2
		corners := c.corners()
		for _, p := range corners {
			t := results.MapTile{X0: min(float64(p.X), x), X1: max(float64(p.X), x),
				Y0: min(float64(p.Y), y), Y1: max(float64(p.Y), y), Value: m.Values[p]}
			panel.Tiles = append(panel.Tiles, t)
			if t.Value.Beyond {
				beyond += (t.X1 - t.X0) * (t.Y1 - t.Y0)
			}
		}
		for _, side := range []struct {
			a, b int
			line [4]float64
		}{
			{0, 1, [4]float64{x, float64(c.Y0), x, y}},
			{2, 3, [4]float64{x, y, x, float64(c.Y1)}},
			{0, 2, [4]float64{float64(c.X0), y, x, y}},
			{1, 3, [4]float64{x, y, float64(c.X1), y}},
		} {
			if m.Values[corners[side.a]].Beyond != m.Values[corners[side.b]].Beyond {
				panel.Edge = append(panel.Edge, side.line)
			}
		}
	}
	panel.Beyond = beyond / float64((len(m.X)-1)*(len(m.Y)-1))
	return panel
}

// Points returns the measured points of a map, ordered by Y, then by X.
func (m *Map) Points() []point { return slices.SortedFunc(maps.Keys(m.Values), byYX) }

func byYX(a, b point) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }
