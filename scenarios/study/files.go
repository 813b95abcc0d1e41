package study

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"qsim/results"
	"qsim/results/text"
)

// writeTo writes a file so that it is there whole or not at all, for whoever reads it at the same time; synced, after
// a power failure too. It lets write fill a temporary file in a folder, and renames that to path.
func writeTo(folder, path string, synced bool, write func(out io.Writer) error) (err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	file, name, err := results.Temporary(root, ".", false)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = root.Remove(name)
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	out := bufio.NewWriter(file)
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if err == nil && synced {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(filepath.Join(folder, name), path)
	}
	return errors.Join(err, file.Close()) // until then nobody takes it for a leftover
}

// tidy removes what processes left in a folder that were killed while they wrote there.
func tidy(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	results.Tidy(root, ".")
	return root.Close()
}

// The files of a sweep whose shards are all there.
const (
	summaryJSON = "sweep.json"
	summaryCSV  = "sweep.csv"
	scenarioOf  = "sweep.yaml"
)

// Files returns the files of a sweep but for charts: sweep.json, sweep.csv and the scenario,
// with its own values, that it began with.
func (m *Merged) Files() ([]results.File, error) {
	data, err := MarshalSweep(m.Sweep)
	if err != nil {
		return nil, err
	}
	var table bytes.Buffer
	if err := text.WriteSweep(&table, m.Sweep, text.TableOptions{Format: text.CSV}); err != nil {
		return nil, err
	}
	return []results.File{{Path: summaryJSON, Data: data}, {Path: summaryCSV, Data: table.Bytes()},
		{Path: scenarioOf, Data: m.Scenario}}, nil
}

// member is a key of an object with its value, in an order that is kept.
type member struct {
	key   string
	value any
}

type object []member

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ", "...)
		}
		key, err := marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ": "...), value...)
	}
	return append(out, '}'), nil
}

// marshal is json.Marshal without the escapes that HTML needs.
func marshal(v any) ([]byte, error) {
	if o, ok := v.(object); ok {
		return o.MarshalJSON()
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MarshalSweep returns sweep.json: what was swept, then a row to a line. Equal sweeps give
// equal bytes.
func MarshalSweep(s *results.Sweep) ([]byte, error) {
	h := newHeader(s, Shard{0, 1}, len(s.Cells), nil)
	var b bytes.Buffer
	b.WriteString("{")
	for _, m := range (object{{"version", 1}, {"scenario", h.Scenario}, {"config", h.Config}, {"program", h.Version},
		{"seeds", h.Seeds}, {"duration_s", h.Duration},
		{"vary", h.Vary}, {"cells", h.Cells}, {"policies", h.Policies}, {"metrics", h.Metrics}, {"objectives",
			h.Objectives}}) {
		value, err := marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("encode sweep: %w", err)
		}
		fmt.Fprintf(&b, "\n %q: %s,", m.key, value)
	}
	b.WriteString("\n \"rows\": [")
	separator := "\n  "
	for i := range s.Cells {
		for k := range s.Cells[i].Rows {
			row, err := marshal(rowOf(s, &s.Cells[i], &s.Cells[i].Rows[k]))
			if err != nil {
				return nil, fmt.Errorf("encode cell %d: %w", s.Cells[i].Index, err)
			}
			b.WriteString(separator)
			b.Write(row)
			separator = ",\n  "
		}
	}
	b.WriteString("\n ],\n \"warnings\": [")
	separator = "\n  "
	for _, note := range Warnings(s) {
		text, err := marshal(object{{"text", note.Text}, {"cells", note.Cells}, {"first", note.cell}})
		if err != nil {
			return nil, fmt.Errorf("encode warnings: %w", err)
		}
		b.WriteString(separator)
		b.Write(text)
		separator = ",\n  "
	}
	b.WriteString("\n ]\n}\n")
	return b.Bytes(), nil
}

// rowOf is a row of sweep.json.
func rowOf(s *results.Sweep, cell *results.Cell, row *results.CellRow) object {
	var set, metrics object
	for i, value := range s.Values(cell.Index) {
		set = append(set, member{s.Axes[i].Key, value})
	}
	for i := range row.Estimates {
		e := &row.Estimates[i]
		o := object{{"mean", number(e.Mean)}, {"low", number(e.Low)}, {"high", number(e.High)}, {"n", e.N},
			{"bound", e.Bound}}
		if e.Reason != "" {
			o = append(o, member{"reason", e.Reason})
		}
		metrics = append(metrics, member{e.Query.String(), o})
	}
	objectives := []object{}
	for i := range row.Verdicts {
		v := &row.Verdicts[i]
		objectives = append(objectives,
			object{{"metric", v.Query.String()}, {"limit", v.Text}, {"value", number(v.Value)}, {"low", number(v.Low)},
				{"high", number(v.High)}, {"bound", v.Bound}, {"verdict", string(v.Outcome)}, {"expect", expectation(v.Expect)}})
	}
	return object{{"cell", cell.Index}, {"set", set}, {"policy", s.Policies[row.Policy].Label},
		{"fingerprint", row.Fingerprint},
		{"seeds", row.Seeds}, {"metrics", metrics}, {"objectives", objectives}, {"verdict", string(row.Outcome())}}
}
