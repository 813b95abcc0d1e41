package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"qsim/results/measure"
	"qsim/results/plain"
	"slices"
	"time"
)

// storedSummary is summary.json as it is read.
type storedSummary struct {
	Version    int             `json:"version"`
	Scenario   string          `json:"scenario"`
	Config     string          `json:"config"`
	Seeds      []uint64        `json:"seeds"`
	Duration   float64         `json:"duration_s"`
	Partial    bool            `json:"partial"`
	Policies   []storedPolicy  `json:"policies"`
	Objectives []storedVerdict `json:"objectives"`
	Warnings   []string        `json:"warnings"`
	Exit       int             `json:"exit"`
}

type storedPolicy struct {
	Kind        string                      `json:"name"`
	Label       string                      `json:"label"`
	Baseline    bool                        `json:"baseline"`
	Fingerprint string                      `json:"fingerprint"`
	Metrics     map[string]storedEstimate   `json:"metrics"`
	Filtered    []storedEstimate            `json:"filtered"`
	Versus      map[string]storedDifference `json:"versus_baseline"`
}

type storedFilter struct {
	During string  `json:"during"`
	After  string  `json:"after"`
	Class  string  `json:"class"`
	Tenant string  `json:"tenant"`
	Limit  float64 `json:"limit"`
}

type storedEstimate struct {
	Metric string `json:"metric"`
	storedFilter
	Unit   string            `json:"unit"`
	Mean   *float64          `json:"mean"`
	Low    *float64          `json:"low"`
	High   *float64          `json:"high"`
	N      int               `json:"n"`
	Bound  string            `json:"bound"`
	Values []*float64        `json:"values"`
	Reason string            `json:"reason"`
	Versus *storedDifference `json:"versus_baseline"`
}

type storedDifference struct {
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	P          *float64 `json:"p"`
	Shown      bool     `json:"shown"`
}

type storedVerdict struct {
	Metric  string       `json:"metric"`
	Filter  storedFilter `json:"filter"`
	Policy  string       `json:"policy"`
	Limit   string       `json:"limit"`
	Value   *float64     `json:"value"`
	Low     *float64     `json:"low"`
	High    *float64     `json:"high"`
	Bound   string       `json:"bound"`
	Verdict Outcome      `json:"verdict"`
	Expect  Outcome      `json:"expect"`
	Seeds   int          `json:"seeds"`
	Reason  string       `json:"reason"`
}

// ReadSummary reads a summary.json. It ignores keys and keeps metrics that it does not
// know. Control characters, which this program writes into no name, become �. Settings and
// Data of what it returns are nil.
func ReadSummary(r io.Reader) (*Summary, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	data = plain.PrintableJSON(data)
	var stored storedSummary
	if err := json.Unmarshal(data, &stored); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			if int(syntax.Offset) >= len(data) {
				return nil, fmt.Errorf("read summary: it ends after %d bytes, in the middle: was it cut off?", len(data))
			}
			line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
			return nil, fmt.Errorf("read summary: line %d: %w", line, err)
		}
		return nil, fmt.Errorf("read summary: %w", err)
	}
	switch {
	case stored.Version == 0:
		return nil, errors.New("read summary: it has no version: not a summary.json")
	case stored.Version > summaryVersion:
		return nil, fmt.Errorf("read summary: version %d is newer than this program, which knows %d", stored.Version, summaryVersion)
	case stored.Version < 0:
		return nil, fmt.Errorf("read summary: there is no version %d", stored.Version)
	case len(stored.Policies) == 0:
		return nil, errors.New("read summary: it has no policies")
	}
	return stored.summary()
}

func (stored *storedSummary) summary() (*Summary, error) {
	s := &Summary{Scenario: stored.Scenario, ConfigHash: stored.Config, Seeds: stored.Seeds, Duration: stored.Duration,
		Partial: stored.Partial, Warnings: stored.Warnings, Exit: stored.Exit}
	for i := range stored.Policies {
		s.Policies = append(s.Policies, stored.Policies[i].summary())
	}
	for i := range stored.Objectives {
		o := &stored.Objectives[i]
		v := Verdict{Query: o.Filter.query(o.Metric), Policy: o.Policy, Text: o.Limit, Value: orNaN(o.Value), Low: orNaN(o.Low),
			High: orNaN(o.High), Bound: o.Bound, Outcome: o.Verdict, Expect: o.Expect == Missed, Seeds: o.Seeds, Reason: o.Reason}
		if !slices.Contains([]Outcome{Met, Missed, Unclear}, v.Outcome) {
			return nil, fmt.Errorf("read summary: unknown verdict %q", v.Outcome)
		}
		v.Half = v.High - v.Value
		s.Objectives = append(s.Objectives, v)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	return s, nil
}

func (stored *storedPolicy) summary() PolicySummary {
	p := PolicySummary{Kind: stored.Kind, Label: stored.Label, Baseline: stored.Baseline, Fingerprint: stored.Fingerprint}
	names := slices.Sorted(maps.Keys(stored.Metrics))
	slices.SortStableFunc(names, func(a, b string) int { return measure.Rank(a) - measure.Rank(b) })
	for _, name := range names {
		e := stored.Metrics[name]
		e.Metric = name
		p.Metrics = append(p.Metrics, e.estimate())
		if d, ok := stored.Versus[name]; ok {
			p.Versus = append(p.Versus, d.difference(measure.Query{Metric: name}))
		}
	}
	for i := range stored.Filtered {
		e := stored.Filtered[i].estimate()
		p.Filtered = append(p.Filtered, e)
		if d := stored.Filtered[i].Versus; d != nil {
			p.Versus = append(p.Versus, d.difference(e.Query))
		}
	}
	return p
}

func (f storedFilter) query(metric string) measure.Query {
	return measure.Query{Metric: metric, During: f.During, After: f.After, Class: f.Class, Tenant: f.Tenant,
		Limit: time.Duration(math.Round(f.Limit * 1e9))}
}

func (stored *storedEstimate) estimate() Estimate {
	e := Estimate{Query: stored.query(stored.Metric), Unit: stored.Unit, Mean: orNaN(stored.Mean), Low: orNaN(stored.Low),
		High: orNaN(stored.High), N: stored.N, Bound: stored.Bound, Reason: stored.Reason}
	for _, v := range stored.Values {
		e.Values = append(e.Values, orNaN(v))
	}
	e.Half = e.High - e.Mean
	if info, ok := measure.Lookup(e.Metric); ok && info.Share && e.High == 1 {
		e.Half = max(e.Half, e.Mean-e.Low)
	}
	return e
}

func (stored storedDifference) difference(q measure.Query) Difference {
	return Difference{Query: q, Difference: orNaN(stored.Difference), Low: orNaN(stored.Low), High: orNaN(stored.High),
		P: orNaN(stored.P), Adjusted: math.NaN(), Shown: stored.Shown}
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
