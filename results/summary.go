package results

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Summary holds the joint results of all runs of a scenario. summary.json has the same content, with null for NaN.
type Summary struct {
	Scenario   string          `json:"scenario"`   // name of the scenario
	ConfigHash string          `json:"config"`     // digest of the whole configuration: equal for equal scenarios
	Seeds      []uint64        `json:"seeds"`      // seeds that every policy finished, ascending
	Duration   float64         `json:"duration_s"` // virtual time, without the drain
	Partial    bool            `json:"partial"`    // the run was interrupted, and seeds are missing
	Policies   []PolicySummary `json:"-"`
	Objectives []Verdict       `json:"-"`        // verdicts in the order of the objectives, then of the policies
	Warnings   []string        `json:"warnings"` // warnings as sentences
	// Share of the baseline's value within which a difference counts as none; null or missing: a file of an
	// earlier version
	SameWithin float64 `json:"same_within"`
	// Exit code of the run: 0 all objectives as expected, 1 one is missed that was not expected to be, or met that was
	Exit int `json:"exit"`

	// Settings of the scenario, for headers and units. Not in summary.json: nil
	// after ReadSummary until the caller sets it.
	Settings *measure.Settings `json:"-"`
	// Data is the data that charts draw, by policy. Not in summary.json: nil after ReadSummary.
	Data []PolicyData `json:"-"`
}

// PolicySummary holds the results of one policy in a Summary.
type PolicySummary struct {
	Kind     string `json:"name"`     // kind of policy
	Label    string `json:"label"`    // label, unique within the scenario
	Baseline bool   `json:"baseline"` // the other policies are compared with this one
	// Digest of every event of every seed, 16 hex digits: equal runs have equal ones, on any machine
	Fingerprint string     `json:"fingerprint"`
	Metrics     []Estimate `json:"-"` // estimates over the whole run, in the order of measure's table
	Filtered    []Estimate `json:"-"` // estimates with a filter, with a limit, or of metrics computed on request only
	Versus      []Contrast `json:"-"` // differences from the baseline: Metrics, then Filtered, if both have values
}

// PolicyData holds the data that charts draw for one policy.
type PolicyData struct {
	// Series holds time series by seed, which have a file of their own; a run that ended earlier has fewer elements.
	Series []measure.Series         `json:"-"`
	Pooled []measure.NamedHistogram `json:"pooled"` // over all seeds: each family of waits, then filtered ones
	// Tenants holds job counts by tenant over all seeds, in the order of Settings.Tenants[1:], at most
	// mostTenants of them; nil: there are fewer than two tenants.
	Tenants []measure.TenantCount `json:"tenants,omitempty"`
	// TenantWaits holds waits by tenant in the same order, at most MostTenantWaits of them.
	TenantWaits []measure.TenantWait `json:"tenant_waits,omitempty"`
}

// Estimate is a metric over all seeds. A mean is taken over the seeds, with a 95 % t-interval; a quantile is taken over
// the pooled jobs of all seeds, and the width of its interval comes from the quantiles of the seeds.
type Estimate struct {
	measure.Query `json:"-"`
	Unit          string `json:"unit"` // s (seconds), 1 (a share or ratio), 1/s, or what is counted; empty: a count
	// Mean over seeds; for a quantile, over the jobs of all seeds together; null: there is no value
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`  // lower end of the 95 % interval, within the metric's range; null: one seed has none
	High float64 `json:"high"` // upper end of the 95 % interval, cut likewise; null: one seed has none
	Half float64 `json:"-"`    // half-width of the interval before the cut
	N    int     `json:"n"`    // seeds with a value
	// ">=": the value is a lower bound, as jobs were unfinished at the end; else empty
	Bound  string    `json:"bound"`
	Reason string    `json:"reason,omitempty"` // reason why there is no value
	Values []float64 `json:"values"`           // value by seed, in the order of seeds; null where a seed has none
}

// Null reports whether the estimate has no value.
func (e *Estimate) Null() bool { return math.IsNaN(e.Mean) }

// Finite reports whether a chart can draw the estimate: e is not nil, and its value neither missing nor infinite.
func (e *Estimate) Finite() bool { return e != nil && !e.Null() && !math.IsInf(e.Mean, 0) }

// Contrast is the difference of a metric between two samples of runs, with its test: of a policy and the baseline, or
// of a new result and the base that it is compared with.
type Contrast struct {
	measure.Query `json:"-"`
	// New value minus the base's: paired by seed the mean over seeds, also of quantiles, otherwise the difference of the
	// two means; null: there is none
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`  // lower end of its 95 % interval; null: fewer than 2 values on a side
	High       float64 `json:"high"` // upper end of its 95 % interval; null: fewer than 2 values on a side
	Half       float64 `json:"-"`    // half-width of the interval
	P          float64 `json:"p"`    // two-sided p value of the t test, not adjusted; null: there is no interval
	Adjusted   float64 `json:"-"`    // P after Holm's adjustment over its family of tests
	// The difference is significant: p is below 0.05 after Holm's adjustment, and bounds on the values do not undo it
	Shown bool `json:"shown"`
	Likeness

	bound, baseBound string // Bound of the new value and of the base's
}

// Outcome is the result of an objective: met, missed or unclear.
type Outcome string

// Met, Missed and Unclear are the outcomes of an objective: the whole interval is on the right side of the bound, on
// the wrong side, or neither.
const (
	Met     Outcome = "met"
	Missed  Outcome = "missed"
	Unclear Outcome = "unclear"
)

// Sign returns the sign of an outcome: ✓ met, ✗ missed, ? unclear, "" none.
func (o Outcome) Sign() string {
	return map[Outcome]string{Met: "✓", Missed: "✗", Unclear: "?"}[o]
}

// Verdict is the result of an objective for one policy.
type Verdict struct {
	measure.Query `json:"-"`
	Policy        string  `json:"policy"`           // label of the policy
	Text          string  `json:"limit"`            // the bound in words, inclusive: below 10s
	Value         float64 `json:"value"`            // the metric; null: there is no value
	Low           float64 `json:"low"`              // lower end of its 95 % interval; null: there is no interval
	High          float64 `json:"high"`             // upper end of its 95 % interval; null: there is no interval
	Bound         string  `json:"bound"`            // ">=": the value is a lower bound; else empty
	Outcome       Outcome `json:"verdict"`          // met, missed or unclear
	Expect        bool    `json:"-"`                // the scenario expects a miss
	Seeds         int     `json:"seeds,omitzero"`   // of an unclear verdict: about how many seeds would decide
	Reason        string  `json:"reason,omitempty"` // reason why more seeds would not decide an unclear verdict
	Half          float64 `json:"-"`                // half-width of the interval
	Line          int     `json:"-"`                // its line in the scenario's file; 0: it is not in the file
}

// Failed reports whether the verdict makes the command exit with 1; under strict an unclear one does, too.
func (v *Verdict) Failed(strict bool) bool {
	switch v.Outcome {
	case Met:
		return v.Expect
	case Missed:
		return !v.Expect
	}
	return strict
}

// Metric returns a policy's estimate of the metric with the given name over the whole run, nil if there is none.
func (p *PolicySummary) Metric(name string) *Estimate { return p.Find(measure.Query{Metric: name}) }

// Find returns the policy's estimate for the query q (a metric with its filters), nil if there is none.
func (p *PolicySummary) Find(q measure.Query) *Estimate {
	sought := func(e *Estimate) bool { return e.Query == q }
	return cmp.Or(plain.Find(p.Metrics, sought), plain.Find(p.Filtered, sought))
}

// Against returns the policy's difference to the baseline in the metric q, nil if there is none.
func (p *PolicySummary) Against(q measure.Query) *Contrast {
	return plain.Find(p.Versus, func(d *Contrast) bool { return d.Query == q })
}

// Options are the options of Summarize: the seeds requested, whether an unclear verdict fails, and the stopping rule.
type Options struct {
	Seeds  []uint64 // requested seeds; nil: those of the runs
	Strict bool     // an unclear objective fails
	// Until is the relative error that ended the adding of seeds, in (0, 1); 0: their number was fixed.
	Until float64
}

// Case is one condition under which a command exits with 0, such as a met objective, with its outcome for one policy.
type Case struct {
	Policy  string // label of the policy
	Name    string // condition, such as the objective "sojourn.mean below 10s"
	Outcome Outcome
	Failed  bool   // the outcome makes the command exit with 1
	Words   string // measured value with its 95 % interval; if unclear, the seeds that would decide
	Line    int    // line of the condition in the scenario's file, from 1; 0: it is not in the file
}

// String returns the case, a condition with its outcome, as text: policy, condition, outcome and measured value.
func (c *Case) String() string {
	return fmt.Sprintf("%s: %s: %s, %s", c.Policy, c.Name, c.Outcome, c.Words)
}

// Cases returns the conditions under which the run of a scenario exits with 0, one for each objective and policy; under
// strict an unclear one fails.
func (s *Summary) Cases(strict bool) (all []Case) {
	for _, v := range s.Objectives {
		name := v.Query.String() + " " + v.Text + plain.When(v.Expect, ", expected to be missed")
		words := v.Words() + plain.When(v.Outcome == Unclear, "; "+toDecide(v.Seeds, v.Reason))
		all = append(all, Case{Policy: v.Policy, Name: name, Outcome: v.Outcome, Failed: v.Failed(strict), Words: words,
			Line: v.Line})
	}
	return all
}

// Cases returns the condition of a zero exit code for each judged change of a metric: no worse than the gate allows.
func (c *Comparison) Cases() (all []Case) {
	for _, d := range c.Changes {
		if d.Verdict == "" {
			continue
		}
		words := d.Words()
		measured := fmt.Sprintf("%s after %s (%s)", words.New, words.Base, plain.Joined(" ", words.Difference, words.Half)) +
			plain.When(d.Verdict == Unclear, "; "+toDecide(d.Seeds, d.Reason))
		name := d.Query.String() + " worse by at most " + plain.Digits(100*c.Gate.Most, 3) + "%"
		all = append(all, Case{Policy: d.Policy, Name: name, Outcome: d.Verdict,
			Failed: d.Verdict == Missed || d.Verdict == Unclear && c.Gate.Strict, Words: measured})
	}
	return all
}

// Cases returns, for each policy of a tuning search, the condition of a zero exit code: a setting meets the objectives.
func (t *Tuning) Cases() (all []Case) {
	for _, p := range t.Policies {
		name := plain.Joined(" that meets ", t.Goal, strings.Join(t.Objectives, ", "))
		all = append(all, Case{Policy: p.Label, Name: name, Outcome: p.Outcome,
			Failed: p.Outcome != Met, Words: strings.Join(p.Said, " ")})
	}
	return all
}
