package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"qsim/results/measure"
	"qsim/results/plain"
)

// storedSummary is the summary of one run: every metric of every policy, differences to the baseline, and verdicts.
// Times are in seconds and shares in [0, 1].
type storedSummary struct {
	Version  int      `json:"version"`    // version of this format: 1
	Scenario string   `json:"scenario"`   // name of the scenario
	Config   string   `json:"config"`     // digest of the whole configuration: equal for equal scenarios
	Seeds    []uint64 `json:"seeds"`      // seeds that every policy finished
	Duration Float    `json:"duration_s"` // virtual time, without the drain
	Partial  bool     `json:"partial"`    // the run was interrupted, and seeds are missing
	// Share of the baseline's value within which a difference counts as none; null or missing: a file of an
	// earlier version
	SameWithin *Float          `json:"same_within"`
	Policies   []storedPolicy  `json:"policies"`   // policies in the order of the scenario
	Objectives []storedVerdict `json:"objectives"` // one for each objective and policy that it is about
	Warnings   []string        `json:"warnings"`   // warnings as sentences
	Exit       int             `json:"exit"`       // exit code of the run: 0 objectives met, 1 one missed
}

// storedPolicy is a policy's part of summary.json: its metrics, and its differences to the baseline policy.
type storedPolicy struct {
	Kind     string `json:"name"`     // kind of policy
	Label    string `json:"label"`    // label, unique within the scenario
	Baseline bool   `json:"baseline"` // the other policies are compared with this one
	// Digest of every event of every seed: equal runs have equal ones, on any machine
	Fingerprint string                 `json:"fingerprint"`
	Metrics     Object[storedEstimate] `json:"metrics"`  // metrics of the whole run, by name
	Filtered    []storedFiltered       `json:"filtered"` // metrics narrowed to a storm, a class or a tenant
	// Differences to the baseline, by metric; empty for the baseline itself.
	Versus Object[storedDifference] `json:"versus_baseline"`
}

// storedFilter is the set of filters of a metric: a storm or the time after one, a job class, a tenant, a wait limit.
type storedFilter struct {
	During string `json:"during"` // storm that the metric is narrowed to; empty: none
	After  string `json:"after"`  // storm after whose end the metric is measured; empty: none
	Class  string `json:"class"`  // job class; empty: all
	Tenant string `json:"tenant"` // tenant; empty: all
	Limit  Float  `json:"limit"`  // wait limit of fresh.within, in seconds; 0: the metric has none
}

// storedEstimate is the value of a metric over all seeds, with its 95 % interval.
type storedEstimate struct {
	Unit string `json:"unit"` // s (seconds), 1 (a share or ratio), 1/s, or what is counted; empty: a count
	// Mean over seeds; for a quantile, over the jobs of all seeds together; null: there is no value
	Mean *Float `json:"mean"`
	Low  *Float `json:"low"`  // lower end of the 95 % interval; null: one seed has none
	High *Float `json:"high"` // upper end of the 95 % interval; null: one seed has none
	N    int    `json:"n"`    // seeds with a value
	// ">=": the value is a lower bound, as jobs were unfinished at the end; else empty
	Bound  string   `json:"bound"`
	Values []*Float `json:"values"`           // value by seed, in the order of seeds; null where a seed has none
	Reason string   `json:"reason,omitempty"` // reason why there is no value
}

// storedFiltered is a metric narrowed to a part of the run, such as a storm or a job class.
type storedFiltered struct {
	Metric string `json:"metric"` // name of the metric
	storedFilter
	storedEstimate
	// Difference to the baseline; missing for the baseline itself
	Versus *storedDifference `json:"versus_baseline,omitempty"`
}

// storedDifference is the difference between a policy and the baseline policy in one metric, paired by seed.
type storedDifference struct {
	Difference *Float `json:"difference"` // mean over seeds of the policy's value minus the baseline's
	Low        *Float `json:"low"`        // lower end of its 95 % interval
	High       *Float `json:"high"`       // upper end of its 95 % interval
	P          *Float `json:"p"`          // two-sided p value of the paired t test, not adjusted
	// The difference is significant: p is below 0.05 after Holm's adjustment over the table
	Shown bool `json:"shown"`
	// The whole interval lies within same_within of the baseline's value
	Same bool `json:"same"`
	// Where neither a difference nor equivalence is shown: about how many seeds would decide
	Tell int `json:"seeds_to_tell,omitempty"`
}

// storedVerdict is the result of an objective (a bound on a metric) for one policy.
type storedVerdict struct {
	Metric  string       `json:"metric"`           // name of the metric
	Filter  storedFilter `json:"filter"`           // filter of the metric
	Policy  string       `json:"policy"`           // label of the policy
	Limit   string       `json:"limit"`            // the bound in words, inclusive: below 10s
	Value   *Float       `json:"value"`            // the metric; null: there is no value
	Low     *Float       `json:"low"`              // lower end of its 95 % interval
	High    *Float       `json:"high"`             // upper end of its 95 % interval
	Bound   string       `json:"bound"`            // ">=": the value is a lower bound; else empty
	Verdict Outcome      `json:"verdict"`          // met, missed or unclear
	Expect  Outcome      `json:"expect"`           // what the scenario expects: met or missed
	Seeds   int          `json:"seeds,omitempty"`  // of an unclear verdict: about how many seeds would decide
	Reason  string       `json:"reason,omitempty"` // reason why the verdict is unclear
}

// summaryVersion is the version of the format of summary.json.
const summaryVersion = 1

// MarshalJSON returns summary.json: keys in a fixed order, one metric per line. Equal summaries give equal bytes.
func (s *Summary) MarshalJSON() ([]byte, error) {
	return MarshalLines(storedSummary{Version: summaryVersion, Scenario: s.Scenario, Config: s.ConfigHash,
		Seeds: orEmpty(s.Seeds), Duration: Float(s.Duration), Partial: s.Partial, SameWithin: OrNull(s.SameWithin),
		Policies:   orEmpty(plain.Map(s.Policies, PolicySummary.stored)),
		Objectives: orEmpty(plain.Map(s.Objectives, Verdict.stored)), Warnings: orEmpty(s.Warnings), Exit: s.Exit})
}

func (v Verdict) stored() storedVerdict {
	expect := Met
	if v.Expect {
		expect = Missed
	}
	return storedVerdict{Metric: v.Metric, Filter: filterOf(v.Query), Policy: v.Policy, Limit: v.Text,
		Value: OrNull(v.Value), Low: OrNull(v.Low), High: OrNull(v.High), Bound: v.Bound,
		Verdict: v.Outcome, Expect: expect, Seeds: v.Seeds, Reason: v.Reason}
}

// orEmpty returns list, or an empty one for nil, so that JSON files have [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (p PolicySummary) stored() storedPolicy {
	stored := storedPolicy{Kind: p.Kind, Label: p.Label, Baseline: p.Baseline, Fingerprint: p.Fingerprint,
		Filtered: []storedFiltered{}}
	for _, e := range p.Metrics {
		stored.Metrics = append(stored.Metrics, Member[storedEstimate]{e.Metric, e.stored()})
		if d := p.Against(e.Query); d != nil {
			stored.Versus = append(stored.Versus, Member[storedDifference]{e.Metric, d.stored()})
		}
	}
	for _, e := range p.Filtered {
		one := storedFiltered{Metric: e.Metric, storedFilter: filterOf(e.Query), storedEstimate: e.stored()}
		if d := p.Against(e.Query); d != nil {
			one.Versus = new(d.stored())
		}
		stored.Filtered = append(stored.Filtered, one)
	}
	return stored
}

func filterOf(q measure.Query) storedFilter {
	return storedFilter{During: q.During, After: q.After, Class: q.Class, Tenant: q.Tenant,
		Limit: Float(q.Limit.Seconds())}
}

func (e *Estimate) stored() storedEstimate {
	return storedEstimate{Unit: e.Unit, Mean: OrNull(e.Mean), Low: OrNull(e.Low), High: OrNull(e.High), N: e.N,
		Bound: e.Bound, Values: orEmpty(plain.Map(e.Values, OrNull)), Reason: e.Reason}
}

func (d *Contrast) stored() storedDifference {
	return storedDifference{Difference: OrNull(d.Difference), Low: OrNull(d.Low), High: OrNull(d.High), P: OrNull(d.P),
		Shown: d.Shown, Same: d.Same, Tell: d.Tell}
}

// ReadSummary reads a summary.json. Unknown keys are ignored, unknown metrics kept. Control characters, which this
// program writes into no name, become �. Settings and Data of the summary are nil.
func ReadSummary(r io.Reader) (*Summary, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	data = plain.PrintableJSON(data)
	var stored storedSummary
	if err := json.Unmarshal(data, &stored); err != nil {
		var syntax *json.SyntaxError
		switch {
		case !errors.As(err, &syntax):
			return nil, fmt.Errorf("read summary: %w", err)
		case int(syntax.Offset) >= len(data):
			return nil, fmt.Errorf("read summary: it ends after %d bytes, in the middle: was it cut off?", len(data))
		}
		return nil, fmt.Errorf("read summary: line %d: %w", 1+bytes.Count(data[:syntax.Offset], []byte("\n")), err)
	}
	switch {
	case stored.Version == 0:
		return nil, errors.New("read summary: it has no version: not a summary.json")
	case stored.Version > summaryVersion:
		return nil, fmt.Errorf("read summary: version %d is newer than this program, which knows %d", stored.Version,
			summaryVersion)
	case stored.Version < 0:
		return nil, fmt.Errorf("read summary: there is no version %d", stored.Version)
	case len(stored.Policies) == 0:
		return nil, errors.New("read summary: it has no policies")
	}
	return stored.summary()
}

func (stored *storedSummary) summary() (*Summary, error) {
	s := &Summary{Scenario: stored.Scenario, ConfigHash: stored.Config, Seeds: stored.Seeds,
		Duration: float64(stored.Duration), Partial: stored.Partial, Warnings: stored.Warnings, Exit: stored.Exit}
	s.Policies = plain.Map(stored.Policies, storedPolicy.summary)
	for _, o := range stored.Objectives {
		v := Verdict{Query: o.Filter.query(o.Metric), Policy: o.Policy, Text: o.Limit,
			Value: OrNaN(o.Value), Low: OrNaN(o.Low), High: OrNaN(o.High), Bound: o.Bound,
			Outcome: o.Verdict, Expect: o.Expect == Missed, Seeds: o.Seeds, Reason: o.Reason}
		if !slices.Contains([]Outcome{Met, Missed, Unclear}, v.Outcome) {
			return nil, fmt.Errorf("read summary: unknown verdict %q", v.Outcome)
		}
		v.Half = v.High - v.Value
		s.Objectives = append(s.Objectives, v)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	if stored.SameWithin == nil {
		s.FindLikeness(DefaultSameWithin)
	} else {
		s.SameWithin = float64(*stored.SameWithin)
	}
	return s, nil
}

func (stored storedPolicy) summary() PolicySummary {
	p := PolicySummary{Kind: stored.Kind, Label: stored.Label, Baseline: stored.Baseline, Fingerprint: stored.Fingerprint}
	for i := range stored.Metrics {
		q := measure.Query{Metric: stored.Metrics[i].Key}
		p.Metrics = append(p.Metrics, stored.Metrics[i].Value.estimate(q))
		at := slices.IndexFunc(stored.Versus, func(d Member[storedDifference]) bool { return d.Key == q.Metric })
		if at >= 0 {
			p.Versus = append(p.Versus, stored.Versus[at].Value.difference(q))
		}
	}
	for i := range stored.Filtered {
		q := stored.Filtered[i].query(stored.Filtered[i].Metric)
		p.Filtered = append(p.Filtered, stored.Filtered[i].estimate(q))
		if d := stored.Filtered[i].Versus; d != nil {
			p.Versus = append(p.Versus, d.difference(q))
		}
	}
	return p
}

func (f storedFilter) query(metric string) measure.Query {
	return measure.Query{Metric: metric, During: f.During, After: f.After, Class: f.Class, Tenant: f.Tenant,
		Limit: time.Duration(math.Round(float64(f.Limit) * 1e9))}
}

func (stored *storedEstimate) estimate(q measure.Query) Estimate {
	e := Estimate{Query: q, Unit: stored.Unit, Mean: OrNaN(stored.Mean), Low: OrNaN(stored.Low),
		High: OrNaN(stored.High), N: stored.N, Bound: stored.Bound, Reason: stored.Reason}
	e.Values = plain.Map(stored.Values, OrNaN)
	e.Half = e.High - e.Mean
	if info, ok := measure.Lookup(e.Metric); ok && info.Share && e.High == 1 {
		e.Half = max(e.Half, e.Mean-e.Low)
	}
	return e
}

func (stored storedDifference) difference(q measure.Query) Contrast {
	return Contrast{Query: q, Difference: OrNaN(stored.Difference), Low: OrNaN(stored.Low), High: OrNaN(stored.High),
		Half: OrNaN(stored.High) - OrNaN(stored.Difference), P: OrNaN(stored.P), Adjusted: math.NaN(),
		Shown: stored.Shown, Likeness: Likeness{stored.Same, stored.Tell}}
}
