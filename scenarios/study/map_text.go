package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
)

// mapRow is the value of one point of a map in JSON or CSV.
type mapRow struct {
	Policy string `json:"policy"`
	X      string `json:"x"`
	Y      string `json:"y"`
	Value  number `json:"value"` // mean value; null: no seed has one
	Bound  string `json:"bound"` // ">=": value is a lower bound, since that of some seeds is
	Never  int    `json:"never"` // number of seeds with only a lower bound
	Seeds  int    `json:"seeds"`
	Beyond bool   `json:"beyond"`
	Coarse bool   `json:"coarse"` // the point is on the grid of the ranges
}

func (m *Mapped) rows() []mapRow {
	var rows []mapRow
	for i, found := range m.Maps {
		for _, at := range found.Points() {
			v := found.Values[at]
			row := mapRow{Policy: m.Labels[i], X: found.X[at.X].Text, Y: found.Y[at.Y].Text, Never: v.Bounds, Seeds: v.Seeds,
				Beyond: v.Beyond, Value: number(v.Mean), Coarse: at.X%found.Steps == 0 && at.Y%found.Steps == 0}
			if v.AtLeast() {
				row.Bound = ">="
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// JSON returns all measured points of the maps as JSON.
func (m *Mapped) JSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Version  int      `json:"version"`
		Scenario string   `json:"scenario"`
		Config   string   `json:"config"`
		Metric   string   `json:"metric"`
		Edge     string   `json:"edge"` // values beyond the edge, in words; empty: no value within the run
		X        string   `json:"x"`
		Y        string   `json:"y"`
		Points   []mapRow `json:"points"`
	}{1, m.Scenario, m.ConfigHash, m.Query.String(), m.EdgeWords(), m.X.Key, m.Y.Key, m.rows()})
	return out.Bytes(), err
}

// EdgeWords describes the values beyond the edge, as "above 10s"; empty if the measured event never happens there
// within the run.
func (p *MapPlan) EdgeWords() string {
	info, _ := measure.Lookup(p.Query.Metric)
	switch {
	case math.IsNaN(p.Edge):
		return ""
	case info.MoreIsBetter:
		return "below " + p.EdgeText
	}
	return "above " + p.EdgeText
}

// Write writes the maps: as CSV all points, for people the coarse grid of each policy, the largest y first as in the
// picture.
func (m *Mapped) Write(w io.Writer, o text.TableOptions) error {
	if o.Format == text.CSV {
		return m.writeCSV(w)
	}
	fmt.Fprintf(w, "%s   %s, mean of %s\n%s across, %s up\n", m.Scenario, m.Query, counted(m.Seeds, "seed", "seeds"),
		m.X.Key, m.Y.Key)
	for i, found := range m.Maps {
		share := results.FormatValue(found.Beyond(), measure.MetricInfo{Unit: "1", Share: true})
		fmt.Fprintf(w, "\n%s: %s of the map beyond the edge, %d points measured of %d\n\n", m.Labels[i], share,
			len(found.Values), found.Size())
		if err := m.writeGrid(w, found, o); err != nil {
			return err
		}
	}
	words := m.EdgeWords()
	if words == "" {
		words = "not within the run, under most seeds"
	} else if info, _ := measure.Lookup(m.Query.Metric); !info.MoreIsBetter {
		words += " or not within the run, under most seeds"
	}
	fmt.Fprintf(w, "\n✗ = beyond the edge: %s\n", words)
	if reason := m.reason(); reason != "" {
		fmt.Fprintf(w, "%s = no value: %s\n", plain.Missing, reason)
	}
	return nil
}

func (m *Mapped) writeCSV(w io.Writer) error {
	header := []string{"policy", m.X.Key, m.Y.Key, m.Query.String(), "bound", "never", "seeds", "beyond", "coarse"}
	var rows [][]string
	for _, r := range m.rows() {
		rows = append(rows, []string{r.Policy, r.X, r.Y, plain.Number(float64(r.Value)), r.Bound, strconv.Itoa(r.Never),
			strconv.Itoa(r.Seeds), strconv.FormatBool(r.Beyond), strconv.FormatBool(r.Coarse)})
	}
	return text.WriteCells(w, header, rows, 0, text.TableOptions{Format: text.CSV})
}

// reason returns why a point has no value, for the first such point; "" if there is none.
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

func (m *Mapped) writeGrid(w io.Writer, found *Map, o text.TableOptions) error {
	t := text.Table{Rule: true, Columns: []text.Column{{Key: true}}}
	xs := m.X.Range.Texts()
	for _, x := range xs {
		t.Columns = append(t.Columns, text.Column{Title: x, Right: true})
	}
	for y := len(found.Y) - 1; y >= 0; y -= found.Steps {
		row := []string{found.Y[y].Text}
		for i := range xs {
			row = append(row, m.cell(found.Values[Point{X: i * found.Steps, Y: y}]))
		}
		t.Add(row...)
	}
	return t.Write(w, o)
}

// cell returns a point's value as text, with a sign for the side of the edge.
func (m *Mapped) cell(v PointValue) string {
	info, _ := measure.Lookup(m.Query.Metric)
	text := results.FormatValue(v.Mean, info)
	switch {
	case v.Never && math.IsNaN(m.Edge):
		text = "never"
	case v.AtLeast():
		text = "≥ " + text
	}
	if v.Beyond {
		return text + " ✗"
	}
	return text
}
