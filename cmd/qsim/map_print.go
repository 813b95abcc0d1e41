package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/cmd/cli"
	"qsim/results"
	"qsim/results/report"
	"qsim/scenarios/phasemap"
)

// edgeWords say what lies beyond the edge; empty: what never comes within the run.
func (m *mapper) edgeWords() string {
	if math.IsNaN(m.plan.Edge) {
		return ""
	}
	info, _ := results.Lookup(m.plan.Query.Metric)
	if info.MoreIsBetter {
		return "below " + m.flags.edge
	}
	return "above " + m.flags.edge
}

// chart is the map as it is drawn.
func (m *mapper) chart() *report.Map {
	chart := &report.Map{Scenario: m.scenario.Name, ConfigHash: m.scenario.ConfigHash(), Version: cli.Version, Query: m.plan.Query, Seeds: int(m.scenario.Seeds),
		XKey: m.plan.X.Key, YKey: m.plan.Y.Key, XValues: m.plan.X.Values.Texts(), YValues: m.plan.Y.Values.Texts(), Steps: m.maps[0].Steps, Edge: m.edgeWords()}
	for i, found := range m.maps {
		panel := report.MapPanel{Label: m.labels[i], Beyond: found.Beyond(), Measured: len(found.Values), Full: found.Size()}
		for _, t := range found.Tiles() {
			panel.Tiles = append(panel.Tiles, report.MapTile{X0: t.X0, X1: t.X1, Y0: t.Y0, Y1: t.Y1, Value: t.Value.Mean, AtLeast: t.Value.AtLeast(), Never: t.Value.Never})
		}
		for _, s := range found.Edge() {
			panel.Edge = append(panel.Edge, [4]float64{s.X0, s.Y0, s.X1, s.Y1})
		}
		chart.Panels = append(chart.Panels, panel)
	}
	return chart
}

// store writes the files of the map and returns their folder, "" under --no-files.
func (m *mapper) store() (string, error) {
	if m.flags.noFiles {
		return "", nil
	}
	figures, err := report.MapCharts(m.chart())
	if err != nil {
		return "", cli.IOError("write map", err)
	}
	var table bytes.Buffer
	if err := m.writeCSV(&table); err != nil {
		return "", cli.IOError("write map", err)
	}
	files := []results.File{{Path: "map.csv", Data: table.Bytes()}, {Path: "scenario.yaml", Data: m.scenario.Resolved()}}
	drawn, err := report.Files("", figures)
	if err != nil {
		return "", cli.IOError("write map", err)
	}
	files = append(files, drawn...)
	folder, err := results.Write(results.Place{Out: m.flags.out, Scenario: m.scenario.Name, ConfigHash: m.scenario.ConfigHash(), Start: time.Now()}, files)
	return folder, cli.IOError("write map", err)
}

// mapRow is one point for programs.
type mapRow struct {
	Policy string   `json:"policy"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Value  *float64 `json:"value"` // null: no seed has one
	Bound  string   `json:"bound"` // ">=": value is but a lower bound, as that of some seeds is
	Never  int      `json:"never"` // seeds with but a bound
	Seeds  int      `json:"seeds"`
	Beyond bool     `json:"beyond"`
	Coarse bool     `json:"coarse"` // of the grid that the ranges span
}

func (m *mapper) rows() []mapRow {
	var rows []mapRow
	for i, found := range m.maps {
		for _, at := range found.Points() {
			v := found.Values[at]
			row := mapRow{Policy: m.labels[i], X: found.X[at.X].Text, Y: found.Y[at.Y].Text, Never: v.Bounds, Seeds: v.Seeds, Beyond: v.Beyond,
				Coarse: at.X%found.Steps == 0 && at.Y%found.Steps == 0}
			if !math.IsNaN(v.Mean) {
				row.Value = &v.Mean
			}
			if v.AtLeast() {
				row.Bound = ">="
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (m *mapper) writeCSV(w io.Writer) error {
	header := []string{"policy", m.plan.X.Key, m.plan.Y.Key, m.plan.Query.String(), "bound", "never", "seeds", "beyond", "coarse"}
	var rows [][]string
	for _, r := range m.rows() {
		value := ""
		if r.Value != nil {
			value = strconv.FormatFloat(*r.Value, 'g', -1, 64)
		}
		rows = append(rows, []string{r.Policy, r.X, r.Y, value, r.Bound, strconv.Itoa(r.Never), strconv.Itoa(r.Seeds), strconv.FormatBool(r.Beyond), strconv.FormatBool(r.Coarse)})
	}
	return results.WriteCells(w, header, rows, 0, results.CSV)
}

func (m *mapper) print(out io.Writer, messages *cli.Console, folder string) error {
	var text bytes.Buffer
	var err error
	switch m.flags.format {
	case "csv":
		err = m.writeCSV(&text)
	case "json":
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(struct {
			Version  int      `json:"version"`
			Scenario string   `json:"scenario"`
			Config   string   `json:"config"`
			Metric   string   `json:"metric"`
			Edge     string   `json:"edge"` // beyond it; empty: no value within the run
			X        string   `json:"x"`
			Y        string   `json:"y"`
			Points   []mapRow `json:"points"`
		}{1, m.scenario.Name, m.scenario.ConfigHash(), m.plan.Query.String(), m.edgeWords(), m.plan.X.Key, m.plan.Y.Key, m.rows()})
	default:
		err = m.printTables(&text, folder)
	}
	if err != nil {
		return cli.IOError("write result", err)
	}
	if m.flags.format != "table" && folder != "" {
		messages.Note("%s", shown(folder))
	}
	_, err = out.Write(text.Bytes())
	return cli.IOError("write result", err)
}

// printTables writes the coarse grid of each policy, the largest y first as on the picture.
func (m *mapper) printTables(w io.Writer, folder string) error {
	width := cli.Width()
	fmt.Fprintf(w, "%s   %s, mean of %s\n%s across, %s up\n", m.scenario.Name, m.plan.Query, seedsWords(int(m.scenario.Seeds)), m.plan.X.Key, m.plan.Y.Key)
	for i, found := range m.maps {
		fmt.Fprintf(w, "\n%s: %s of the map beyond the edge, %d points measured of %d\n\n", m.labels[i], results.FormatValue(found.Beyond(), results.MetricInfo{Unit: "1", Share: true}), len(found.Values), found.Size())
		if err := m.printTable(w, found, width); err != nil {
			return err
		}
	}
	words := m.edgeWords()
	if words == "" {
		words = "not within the run, under most seeds"
	} else if info, _ := results.Lookup(m.plan.Query.Metric); !info.MoreIsBetter {
		words += " or not within the run, under most seeds"
	}
	fmt.Fprintf(w, "\n✗ = beyond the edge: %s\n", words)
	if reason := m.reason(); reason != "" {
		fmt.Fprintf(w, "%s = no value: %s\n", results.Missing, reason)
	}
	if folder != "" {
		fmt.Fprintf(w, "%s\n", shown(folder))
	}
	return nil
}

// reason is why a point has no value, of the first that has none.
func (m *mapper) reason() string {
	for _, found := range m.maps {
		for _, at := range found.Points() {
			if v := found.Values[at]; math.IsNaN(v.Mean) && !v.Never && v.Reason != "" {
				return v.Reason
			}
		}
	}
	return ""
}

func seedsWords(n int) string {
	if n == 1 {
		return "1 seed"
	}
	return strconv.Itoa(n) + " seeds"
}

// printTable writes one grid: as many of its columns as fit.
func (m *mapper) printTable(w io.Writer, found *phasemap.Map, width int) error {
	xs, left := m.plan.X.Values.Texts(), 0
	for {
		header := append([]string{""}, xs...)
		var rows [][]string
		for y := len(found.Y) - 1; y >= 0; y -= found.Steps {
			row := []string{found.Y[y].Text}
			for i := range xs {
				row = append(row, m.cell(found.Values[phasemap.Point{X: i * found.Steps, Y: y}]))
			}
			rows = append(rows, row)
		}
		header, rows = append(header, ""), padded(rows) // the last column would stand left
		var text bytes.Buffer
		if err := results.WriteCells(&text, header, rows, 0, results.Text); err != nil {
			return err
		}
		if width == 0 || len(xs) == 1 || widestLine(text.String()) <= width {
			if left > 0 {
				fmt.Fprintf(&text, "no room for %d columns more; the files and --format csv have all\n", left)
			}
			_, err := w.Write(text.Bytes())
			return err
		}
		xs, left = xs[:len(xs)-1], left+1
	}
}

func padded(rows [][]string) [][]string {
	for i := range rows {
		rows[i] = append(rows[i], "")
	}
	return rows
}

func widestLine(text string) int {
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, len([]rune(strings.TrimRight(line, "\n"))))
	}
	return widest
}

// cell writes a value; a sign says on which side of the edge it lies.
func (m *mapper) cell(v phasemap.Value) string {
	info, _ := results.Lookup(m.plan.Query.Metric)
	text := results.FormatValue(v.Mean, info)
	switch {
	case v.Never && math.IsNaN(m.plan.Edge):
		text = "never"
	case v.AtLeast():
		text = "≥ " + text
	}
	if v.Beyond {
		return text + " ✗"
	}
	return text
}
