package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"qsim/results/measure"
	"qsim/results/plain"
)

// storedSummary is the summary of one run: every metric of every policy, differences to the baseline, and verdicts.
// Times are in seconds and shares in [0, 1].
type storedSummary struct {
	Version int `json:"version"` // version of this format: 1
	*Summary
	Policies   []storedPolicy  `json:"policies"`   // policies in the order of the scenario
	Objectives []storedVerdict `json:"objectives"` // one for each objective and policy that it is about
}

// storedPolicy is a policy's part of summary.json: its metrics, and its differences to the baseline policy.
type storedPolicy struct {
	PolicySummary
	Metrics  map[string]Estimate `json:"metrics"`  // metrics of the whole run, by name
	Filtered []storedFiltered    `json:"filtered"` // metrics narrowed to a storm, a class or a tenant
	// Differences to the baseline, by metric; empty for the baseline itself.
	Versus map[string]Contrast `json:"versus_baseline"`
}

// Filter is a query without its metric, as files have it: a storm or the time after one, a class, a tenant, a limit.
type Filter struct {
	Metric string        `json:"-"`
	During string        `json:"during"`           // storm that the metric is narrowed to; empty: none
	After  string        `json:"after"`            // storm after whose end the metric is measured; empty: none
	Class  string        `json:"class"`            // job class; empty: all
	Tenant string        `json:"tenant"`           // tenant; empty: all
	Limit  time.Duration `json:"limit,format:sec"` // wait limit of fresh.within, in seconds; 0: the metric has none
}

// storedFiltered is a metric narrowed to a part of the run, such as a storm or a job class.
type storedFiltered struct {
	Metric string `json:"metric"` // name of the metric
	Filter
	Estimate
	// Difference to the baseline; missing for the baseline itself
	Versus *Contrast `json:"versus_baseline,omitempty"`
}

// storedVerdict is the result of an objective (a bound on a metric) for one policy.
type storedVerdict struct {
	Metric string `json:"metric"` // name of the metric
	Filter Filter `json:"filter"` // filter of the metric
	Verdict
	Expect Outcome `json:"expect"` // what the scenario expects: met or missed
}

// summaryVersion is the version of the format of summary.json.
const summaryVersion = 1

// JSON returns summary.json: keys in a fixed order, one metric per line. Equal summaries give equal bytes.
func (s *Summary) JSON() ([]byte, error) {
	return MarshalLines(storedSummary{summaryVersion, s, plain.Map(s.Policies, PolicySummary.stored),
		plain.Map(s.Objectives, func(v Verdict) storedVerdict {
			return storedVerdict{v.Metric, Filter(v.Query), v, plain.Either(v.Expect, Missed, Met)}
		})})
}

func (p PolicySummary) stored() storedPolicy {
	stored := storedPolicy{PolicySummary: p, Metrics: map[string]Estimate{}, Versus: map[string]Contrast{}}
	for _, e := range p.Metrics {
		stored.Metrics[e.Metric] = e
		if d := p.Against(e.Query); d != nil {
			stored.Versus[e.Metric] = *d
		}
	}
	for _, e := range p.Filtered {
		stored.Filtered = append(stored.Filtered, storedFiltered{e.Metric, Filter(e.Query), e, p.Against(e.Query)})
	}
	return stored
}

// ReadSummary reads a summary.json. Unknown keys are ignored, unknown metrics kept. Control characters, which this
// program writes into no name, become �. Settings and Data of the summary are nil.
func ReadSummary(text []byte) (*Summary, error) {
	data := plain.PrintableJSON(text)
	stored := storedSummary{Summary: &Summary{SameWithin: math.NaN()}}
	if err := json.Unmarshal(data, &stored, inFiles); err != nil {
		var syntax *jsontext.SyntacticError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("read summary: it ends after %d bytes, in the middle: was it cut off?", len(data))
		case errors.As(err, &syntax):
			line := 1 + bytes.Count(data[:syntax.ByteOffset], []byte("\n"))
			return nil, fmt.Errorf("read summary: line %d: %w", line, syntax.Err)
		}
		return nil, fmt.Errorf("read summary: %w", err)
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
	if err := stored.complete(); err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	return stored.Summary, nil
}

// complete sets the parts of a Summary that summary.json spells otherwise or leaves out, and returns an error if the
// summary contradicts itself.
func (stored *storedSummary) complete() error {
	s := stored.Summary
	s.Policies = plain.Map(stored.Policies, storedPolicy.summary)
	for _, o := range stored.Objectives {
		if !slices.Contains([]Outcome{Met, Missed, Unclear}, o.Outcome) {
			return fmt.Errorf("unknown verdict %q", o.Outcome)
		}
		v := o.Verdict
		v.Query, v.Expect, v.Half = o.Filter.query(o.Metric), o.Expect == Missed, v.High-v.Value
		s.Objectives = append(s.Objectives, v)
	}
	err := s.check()
	if err == nil && math.IsNaN(s.SameWithin) {
		s.FindLikeness(DefaultSameWithin)
	}
	return err
}

func (stored storedPolicy) summary() PolicySummary {
	p := stored.PolicySummary
	names := slices.Sorted(maps.Keys(stored.Metrics))
	slices.SortStableFunc(names, func(a, b string) int { return measure.Rank(a) - measure.Rank(b) })
	for _, name := range names {
		q := measure.Query{Metric: name}
		p.Metrics = append(p.Metrics, stored.Metrics[name].of(q))
		if d, ok := stored.Versus[name]; ok {
			p.Versus = append(p.Versus, d.of(q))
		}
	}
	for _, f := range stored.Filtered {
		q := f.query(f.Metric)
		p.Filtered = append(p.Filtered, f.Estimate.of(q))
		if f.Versus != nil {
			p.Versus = append(p.Versus, f.Versus.of(q))
		}
	}
	return p
}

func (f Filter) query(metric string) measure.Query {
	f.Metric = metric
	return measure.Query(f)
}

// noEstimate and noContrast are an estimate and a difference without numbers: what a file without their keys has.
var (
	noEstimate = Estimate{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	noContrast = contrastOf(sample{}, sample{}, true)
)

// of returns an estimate that was read from a file as that of a query.
func (e Estimate) of(q measure.Query) Estimate {
	e.Query, e.Half = q, e.High-e.Mean
	if info, ok := measure.Lookup(e.Metric); ok && info.Share && e.High == 1 {
		e.Half = max(e.Half, e.Mean-e.Low)
	}
	return e
}

// of returns a difference that was read from a file as that of a query.
func (d Contrast) of(q measure.Query) Contrast {
	d.Query, d.Half = q, d.High-d.Difference
	return d
}
