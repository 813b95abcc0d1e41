package results

import (
	"qsim/results/measure"
)

// storedSummary is summary.json.
type storedSummary struct {
	Version    int             `json:"version"`
	Scenario   string          `json:"scenario"`
	Config     string          `json:"config"`
	Seeds      []uint64        `json:"seeds"`
	Duration   Float           `json:"duration_s"`
	Partial    bool            `json:"partial"`
	SameWithin *Float          `json:"same_within"` // of the baseline's value; null or none: an earlier version wrote the file
	Policies   []storedPolicy  `json:"policies"`
	Objectives []storedVerdict `json:"objectives"`
	Warnings   []string        `json:"warnings"`
	Exit       int             `json:"exit"`
}

type storedPolicy struct {
	Kind        string                   `json:"name"`
	Label       string                   `json:"label"`
	Baseline    bool                     `json:"baseline"`
	Fingerprint string                   `json:"fingerprint"`
	Metrics     byName[storedEstimate]   `json:"metrics"`
	Filtered    []storedFiltered         `json:"filtered"`
	Versus      byName[storedDifference] `json:"versus_baseline"`
}

type storedFilter struct {
	During string `json:"during"`
	After  string `json:"after"`
	Class  string `json:"class"`
	Tenant string `json:"tenant"`
	Limit  Float  `json:"limit"` // s
}

type storedEstimate struct {
	Unit   string   `json:"unit"`
	Mean   *Float   `json:"mean"`
	Low    *Float   `json:"low"`
	High   *Float   `json:"high"`
	N      int      `json:"n"`
	Bound  string   `json:"bound"`
	Values []*Float `json:"values"`
	Reason string   `json:"reason,omitempty"`
}

type storedFiltered struct {
	Metric string `json:"metric"`
	storedFilter
	storedEstimate
	Versus *storedDifference `json:"versus_baseline,omitempty"`
}

type storedDifference struct {
	Difference *Float `json:"difference"`
	Low        *Float `json:"low"`
	High       *Float `json:"high"`
	P          *Float `json:"p"`
	Shown      bool   `json:"shown"`
	Same       bool   `json:"same"`
	Tell       int    `json:"seeds_to_tell,omitempty"`
}

type storedVerdict struct {
	Metric  string       `json:"metric"`
	Filter  storedFilter `json:"filter"`
	Policy  string       `json:"policy"`
	Limit   string       `json:"limit"`
	Value   *Float       `json:"value"`
	Low     *Float       `json:"low"`
	High    *Float       `json:"high"`
	Bound   string       `json:"bound"`
	Verdict Outcome      `json:"verdict"`
	Expect  Outcome      `json:"expect"`
	Seeds   int          `json:"seeds,omitempty"`
	Reason  string       `json:"reason,omitempty"`
}

// summaryVersion is that of summary.json.
const summaryVersion = 1

// MarshalJSON returns summary.json: keys in a fixed order, a metric to a line, numbers
// as short as they can be. Equal summaries give equal bytes.
func (s *Summary) MarshalJSON() ([]byte, error) {
	stored := storedSummary{Version: summaryVersion, Scenario: s.Scenario, Config: s.ConfigHash, Seeds: orEmpty(s.Seeds), Duration: Float(s.Duration),
		Partial: s.Partial, SameWithin: orNull(s.SameWithin), Policies: []storedPolicy{}, Objectives: []storedVerdict{}, Warnings: orEmpty(s.Warnings), Exit: s.Exit}
	for i := range s.Policies {
		stored.Policies = append(stored.Policies, s.Policies[i].stored())
	}
	for i := range s.Objectives {
		v := &s.Objectives[i]
		expect := Met
		if v.Expect {
			expect = Missed
		}
		stored.Objectives = append(stored.Objectives, storedVerdict{Metric: v.Metric, Filter: filterOf(v.Query), Policy: v.Policy, Limit: v.Text,
			Value: orNull(v.Value), Low: orNull(v.Low), High: orNull(v.High), Bound: v.Bound, Verdict: v.Outcome, Expect: expect, Seeds: v.Seeds, Reason: v.Reason})
	}
	return marshalLines(stored)
}

// orEmpty returns list, an empty one for nil: files have no null for it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (p *PolicySummary) stored() storedPolicy {
	stored := storedPolicy{Kind: p.Kind, Label: p.Label, Baseline: p.Baseline, Fingerprint: p.Fingerprint, Filtered: []storedFiltered{}}
	for i := range p.Metrics {
		e := &p.Metrics[i]
		stored.Metrics = append(stored.Metrics, named[storedEstimate]{e.Metric, e.stored()})
		if d := p.Against(e.Query); d != nil {
			stored.Versus = append(stored.Versus, named[storedDifference]{e.Metric, d.stored()})
		}
	}
	for i := range p.Filtered {
		e := &p.Filtered[i]
		one := storedFiltered{Metric: e.Metric, storedFilter: filterOf(e.Query), storedEstimate: e.stored()}
		if d := p.Against(e.Query); d != nil {
			versus := d.stored()
			one.Versus = &versus
		}
		stored.Filtered = append(stored.Filtered, one)
	}
	return stored
}

func filterOf(q measure.Query) storedFilter {
	return storedFilter{During: q.During, After: q.After, Class: q.Class, Tenant: q.Tenant, Limit: Float(q.Limit.Seconds())}
}

func (e *Estimate) stored() storedEstimate {
	stored := storedEstimate{Unit: e.Unit, Mean: orNull(e.Mean), Low: orNull(e.Low), High: orNull(e.High), N: e.N, Bound: e.Bound,
		Values: make([]*Float, len(e.Values)), Reason: e.Reason}
	for i, v := range e.Values {
		stored.Values[i] = orNull(v)
	}
	return stored
}

func (d *Difference) stored() storedDifference {
	return storedDifference{Difference: orNull(d.Difference), Low: orNull(d.Low), High: orNull(d.High), P: orNull(d.P), Shown: d.Shown,
		Same: d.Same, Tell: d.Tell}
}
