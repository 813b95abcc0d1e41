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
	s := &Summary{Scenario: stored.Scenario, ConfigHash: stored.Config, Seeds: stored.Seeds, Duration: float64(stored.Duration),
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
	if stored.SameWithin == nil {
		s.FindLikeness(DefaultSameWithin)
	} else {
		s.SameWithin = float64(*stored.SameWithin)
	}
	return s, nil
}

func (stored *storedPolicy) summary() PolicySummary {
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
	e := Estimate{Query: q, Unit: stored.Unit, Mean: orNaN(stored.Mean), Low: orNaN(stored.Low),
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

func (stored storedDifference) difference(q measure.Query) Contrast {
	return Contrast{Query: q, Difference: orNaN(stored.Difference), Low: orNaN(stored.Low), High: orNaN(stored.High),
		Half: orNaN(stored.High) - orNaN(stored.Difference), P: orNaN(stored.P), Adjusted: math.NaN(), Shown: stored.Shown, Likeness: Likeness{stored.Same, stored.Tell}}
}
