package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// format is the version of the format of a sweep's shard files.
const format = 2

// header is the first line of a shard's file: it describes the sweep and the shard.
type header struct {
	Format     int             `json:"format"`
	Shard      int             `json:"shard"`
	Of         int             `json:"of"`
	Config     string          `json:"config"`
	Version    string          `json:"version"`
	Scenario   string          `json:"scenario"`
	Duration   float64         `json:"duration_s"`
	Cells      int             `json:"cells"` // number of cells of the whole sweep
	Seeds      []uint64        `json:"seeds"`
	Vary       []axisJSON      `json:"vary"`
	Policies   []policyJSON    `json:"policies"`
	Metrics    []queryJSON     `json:"metrics"`
	Objectives []objectiveJSON `json:"objectives"`
	YAML       string          `json:"scenario_yaml"` // unchanged scenario, resolved
}

// axisJSON is a key with its values in a sweep.
type axisJSON struct {
	Key     string    `json:"key"`               // key of the scenario
	Values  []string  `json:"values"`            // values as a scenario writes them
	Numbers []float64 `json:"numbers,omitempty"` // values in seconds, per second, shares or plain; missing: words
	Log     bool      `json:"log,omitempty"`     // the values form a geometric series
}

// policyJSON is a policy of the scenario.
type policyJSON struct {
	Name     string `json:"name"`     // kind of policy
	Label    string `json:"label"`    // label, unique within the scenario
	Baseline bool   `json:"baseline"` // the other policies are compared with this one
}

// queryJSON is a metric, narrowed to a part of the run.
type queryJSON struct {
	Name   string  `json:"name"`   // metric with its filters
	Metric string  `json:"metric"` // name of the metric
	During string  `json:"during"` // storm that it is narrowed to; empty: none
	After  string  `json:"after"`  // storm after whose end the metric is measured; empty: none
	Class  string  `json:"class"`  // job class; empty: all
	Tenant string  `json:"tenant"` // tenant; empty: all
	Limit  float64 `json:"limit"`  // wait limit of fresh.within, in seconds; 0: the metric has none
	Unit   string  `json:"unit"`   // s (seconds), 1 (a share or ratio), 1/s, or what is counted
}

// objectiveJSON is an objective of the scenario.
type objectiveJSON struct {
	queryJSON
	Bound  float64 `json:"bound"`  // bound in the unit of the metric
	Above  bool    `json:"above"`  // the metric must be at least the bound; else at most
	Text   string  `json:"text"`   // bound as the scenario writes it
	Policy string  `json:"policy"` // label or kind of policy; empty: every policy
	Expect string  `json:"expect"` // outcome that the scenario expects: met or missed
}

// line is the result of one cell in JSON: a file of its own while a shard is computed, then a line of the shard file.
// It names its sweep, since files may be copied elsewhere.
type line struct {
	Config   string    `json:"config"`
	Version  string    `json:"version"`
	Cell     int       `json:"cell"`
	Rows     []rowJSON `json:"rows"`
	Warnings []string  `json:"warnings"`
}

type rowJSON struct {
	Fingerprint string         `json:"fingerprint"`
	Seeds       int            `json:"seeds"`
	Metrics     []estimateJSON `json:"metrics"`
	Objectives  []rowVerdict   `json:"objectives"`
}

type estimateJSON struct {
	Mean   *results.Float `json:"mean"`
	Low    *results.Float `json:"low"`
	High   *results.Float `json:"high"`
	Half   *results.Float `json:"half"` // half-width of the interval before the cut at the metric's least possible value
	N      int            `json:"n"`
	Bound  string         `json:"bound"`
	Reason string         `json:"reason,omitempty"`
}

// rowVerdict is the verdict on an objective for one policy in one cell, as in a shard file.
type rowVerdict struct {
	Metric int `json:"metric"` // index of the metric in the header
	verdictJSON
	Seeds  int    `json:"seeds,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// verdictJSON is the verdict on an objective.
type verdictJSON struct {
	Limit   string          `json:"limit"`   // bound in words, inclusive: below 10s
	Value   *results.Float  `json:"value"`   // value of the metric; null: there is none
	Low     *results.Float  `json:"low"`     // lower end of its 95 % interval
	High    *results.Float  `json:"high"`    // upper end of its 95 % interval
	Bound   string          `json:"bound"`   // ">=": the value is a lower bound; else empty
	Verdict results.Outcome `json:"verdict"` // met, missed or unclear
	Expect  string          `json:"expect"`  // outcome that the scenario expects: met or missed
}

func jsonOfVerdict(v *results.Verdict) verdictJSON {
	return verdictJSON{v.Text, results.OrNull(v.Value), results.OrNull(v.Low), results.OrNull(v.High), v.Bound, v.Outcome,
		expectation(v.Expect)}
}

func jsonOfQuery(q measure.Query) queryJSON {
	return queryJSON{q.String(), q.Metric, q.During, q.After, q.Class, q.Tenant, q.Limit.Seconds(), unitOf(q)}
}

func (q queryJSON) query() measure.Query {
	return measure.Query{Metric: q.Metric, During: q.During, After: q.After, Class: q.Class, Tenant: q.Tenant,
		Limit: time.Duration(math.Round(q.Limit * float64(time.Second)))}
}

func expectation(missed bool) string {
	return string(plain.Either(missed, results.Missed, results.Met))
}

func newHeader(s *results.Sweep, shard Shard, cells int, scenario []byte) *header {
	h := &header{Format: format, Shard: shard.Index, Of: shard.Of, Config: s.ConfigHash, Version: s.Version,
		Scenario: s.Scenario,
		Duration: s.Duration, Cells: cells, Seeds: s.Seeds, YAML: string(scenario), Objectives: []objectiveJSON{}}
	h.Vary = plain.Map(s.Axes, func(a results.Axis) axisJSON { return axisJSON(a) })
	for i, p := range s.Policies {
		h.Policies = append(h.Policies, policyJSON{p.Kind, p.Label, i == s.Baseline})
	}
	h.Metrics = plain.Map(s.Queries, jsonOfQuery)
	for _, o := range s.Objectives {
		h.Objectives = append(h.Objectives,
			objectiveJSON{jsonOfQuery(o.Query), o.Bound, o.Above, o.Text, o.Policy, expectation(o.Expect)})
	}
	return h
}

// sweep returns the sweep that a header describes, without cells.
func (h *header) sweep() *results.Sweep {
	s := &results.Sweep{Scenario: h.Scenario, ConfigHash: h.Config, Version: h.Version, Seeds: h.Seeds,
		Duration: h.Duration}
	s.Axes = plain.Map(h.Vary, func(a axisJSON) results.Axis { return results.Axis(a) })
	for i, p := range h.Policies {
		s.Policies = append(s.Policies, measure.PolicyInfo{Kind: p.Name, Label: p.Label})
		if p.Baseline {
			s.Baseline = i
		}
	}
	s.Queries = plain.Map(h.Metrics, queryJSON.query)
	for i := range h.Objectives {
		o := &h.Objectives[i]
		s.Objectives = append(s.Objectives, measure.Objective{Query: o.query(), Above: o.Above, Bound: o.Bound, Text: o.Text,
			Policy: o.Policy, Expect: o.Expect == string(results.Missed)})
	}
	return s
}

func newLine(s *results.Sweep, cell *results.Cell) *line {
	l := &line{Config: s.ConfigHash, Version: s.Version, Cell: cell.Index, Warnings: append([]string{}, cell.Warnings...)}
	for i := range cell.Rows {
		row := &cell.Rows[i]
		r := rowJSON{Fingerprint: row.Fingerprint, Seeds: row.Seeds, Objectives: []rowVerdict{}}
		for k := range row.Estimates {
			e := &row.Estimates[k]
			r.Metrics = append(r.Metrics, estimateJSON{results.OrNull(e.Mean), results.OrNull(e.Low), results.OrNull(e.High),
				results.OrNull(e.Half), e.N, e.Bound, e.Reason})
		}
		for k := range row.Verdicts {
			v := &row.Verdicts[k]
			metric := slices.Index(s.Queries, v.Query)
			r.Objectives = append(r.Objectives, rowVerdict{metric, jsonOfVerdict(v), v.Seeds, v.Reason})
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// readLine parses the stored result of one cell of the sweep s, which has size cells. It fails for a line that is
// damaged or of another sweep.
func readLine(s *results.Sweep, size int, text []byte) (*results.Cell, error) {
	var l line
	if err := unseal(text, &l); err != nil {
		return nil, fmt.Errorf("read a cell: %w", err)
	}
	switch {
	case l.Config != s.ConfigHash || l.Version != s.Version:
		return nil, fmt.Errorf("it is of config %s, version %s", l.Config, l.Version)
	case l.Cell < 0 || l.Cell >= size || len(l.Rows) != len(s.Policies):
		return nil, fmt.Errorf("read a cell: cell %d with %d policies is not of a sweep of %d cells with %d", l.Cell,
			len(l.Rows), size, len(s.Policies))
	}
	cell := &results.Cell{Index: l.Cell, Warnings: l.Warnings}
	for i := range l.Rows {
		r := &l.Rows[i]
		if len(r.Metrics) != len(s.Queries) {
			return nil, fmt.Errorf("read cell %d: it has %d metrics, not %d", l.Cell, len(r.Metrics), len(s.Queries))
		}
		row := results.CellRow{Policy: i, Fingerprint: r.Fingerprint, Seeds: r.Seeds}
		for k, e := range r.Metrics {
			row.Estimates = append(row.Estimates,
				results.Estimate{Query: s.Queries[k], Unit: unitOf(s.Queries[k]), Mean: results.OrNaN(e.Mean),
					Low: results.OrNaN(e.Low), High: results.OrNaN(e.High), Half: results.OrNaN(e.Half), N: e.N, Bound: e.Bound,
					Reason: e.Reason})
		}
		for _, v := range r.Objectives {
			if v.Metric < 0 || v.Metric >= len(s.Queries) {
				return nil, fmt.Errorf("read cell %d: an objective is about metric %d of %d", l.Cell, v.Metric, len(s.Queries))
			}
			row.Verdicts = append(row.Verdicts,
				results.Verdict{Query: s.Queries[v.Metric], Policy: s.Policies[i].Label, Text: v.Limit,
					Value: results.OrNaN(v.Value), Low: results.OrNaN(v.Low), High: results.OrNaN(v.High), Bound: v.Bound,
					Outcome: v.Verdict, Expect: v.Expect == string(results.Missed), Seeds: v.Seeds, Reason: v.Reason})
		}
		cell.Rows = append(cell.Rows, row)
	}
	return cell, nil
}

func unitOf(q measure.Query) string {
	info, _ := measure.Lookup(q.Metric)
	return info.Unit
}

// sealBegin begins the seal, the last member of every line's JSON object: the first hex digits of a hash of the text
// before it, by which an altered or damaged line is detected.
const (
	sealBegin  = `,"sum":"`
	sealEnd    = `"}`
	sealDigits = 16
)

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:sealDigits/2])
}

// sealed returns an object as a line of JSON with a checksum, without a line end.
func sealed(v any) []byte {
	text, _ := json.Marshal(v) // numbers are finite or null, and so always encode
	text = text[:len(text)-1]  // without the closing brace
	return append(text, sealBegin+sumOf(text)+sealEnd...)
}

// unseal decodes a line of JSON made by sealed into v; it returns an error if the checksum is missing or wrong, or if
// the line has a field that v lacks.
func unseal(line []byte, v any) error {
	line = bytes.TrimRight(line, " \t\r\n")
	at := len(line) - len(sealBegin) - sealDigits - len(sealEnd)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sealBegin)) || !bytes.HasSuffix(line, []byte(sealEnd)) {
		return errors.New("the line is not whole: it has no checksum")
	}
	text := line[:at]
	if string(line[at+len(sealBegin):len(line)-len(sealEnd)]) != sumOf(text) {
		return errors.New("the line is damaged: it does not have its checksum")
	}
	decoder := json.NewDecoder(bytes.NewReader(append(bytes.Clone(text), '}')))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
