package results

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Summary holds the joint results of all runs of a scenario. summary.json has the same content, with times in seconds,
// shares in [0, 1] and null for a missing value.
type Summary struct {
	Scenario   string
	ConfigHash string
	Seeds      []uint64 // seeds that every policy finished, ascending
	Duration   float64  // longest time of arrivals, in seconds
	Partial    bool     // some requested seeds are missing
	Policies   []PolicySummary
	Objectives []Verdict // verdicts in the order of the objectives, then of the policies
	Warnings   []string
	SameWithin float64 // half-width of the equivalence band, as a share of the baseline's value
	Exit       int     // 0: all objectives as expected; 1: one is missed that was not expected to be, or met that was

	// Settings of the scenario, for headers and units. Not in summary.json: nil
	// after ReadSummary until the caller sets it.
	Settings *measure.Settings
	// Data is the data that charts draw, by policy. Not in summary.json: nil after ReadSummary.
	Data []PolicyData
}

// PolicySummary holds the results of one policy in a Summary.
type PolicySummary struct {
	Kind        string // kind of the policy; in summary.json: name
	Label       string
	Baseline    bool
	Fingerprint string     // digest of all events of all seeds, 16 hex digits
	Metrics     []Estimate // estimates over the whole run, in the order of measure's table
	Filtered    []Estimate // estimates with a filter, with a limit, or of metrics computed on request only
	Versus      []Contrast // differences from the baseline: Metrics, then Filtered, if both have values
}

// PolicyData holds the data that charts draw for one policy.
type PolicyData struct {
	// Series holds time series by seed, which have a file of their own; a run that ended earlier has fewer elements.
	Series []measure.Series         `json:"-"`
	Pooled []measure.NamedHistogram `json:"pooled"` // over all seeds: each family of waits, then filtered ones
	// Tenants holds job counts by tenant over all seeds, in the order of Settings.Tenants[1:], at most
	// mostTenants of them; nil: there are fewer than two tenants.
	Tenants []measure.TenantCount `json:"tenants,omitempty"`
	// TenantWaits holds waits by tenant in the same order, at most mostTenantWaits of them; nil: an earlier version did
	// not measure them.
	TenantWaits []measure.TenantWait `json:"tenant_waits,omitempty"`
}

// Estimate is a metric over all seeds. A mean is taken over the seeds, with a 95 % t-interval; a quantile is taken over
// the pooled jobs of all seeds, and the width of its interval comes from the quantiles of the seeds.
type Estimate struct {
	measure.Query
	Unit   string
	Mean   float64   // mean or quantile; NaN: no value, for Reason
	Low    float64   // lower end of the 95 % interval, within the metric's range; NaN with fewer than 2 seeds
	High   float64   // upper end of the 95 % interval, cut likewise
	Half   float64   // half-width of the interval before the cut; not in summary.json
	N      int       // number of seeds with a value
	Bound  string    // "" or ">=": the true value is at least Mean
	Reason string    // reason why there is no value
	Values []float64 // values by seed; NaN: none
}

// Null reports whether the estimate has no value.
func (e *Estimate) Null() bool { return math.IsNaN(e.Mean) }

// Finite reports whether there is an estimate with a value that can be drawn. e may be nil.
func (e *Estimate) Finite() bool { return e != nil && !e.Null() && !math.IsInf(e.Mean, 0) }

// Contrast is the difference of a metric between two samples of runs, with its test: of a policy and the baseline, or
// of a new result and the base that it is compared with.
type Contrast struct {
	measure.Query
	// Difference is, paired by seed, the mean of the new values less the base's, also of quantiles; otherwise the
	// difference of the two means. NaN: there is none.
	Difference float64
	Low, High  float64 // 95 % t-interval of Difference; NaN with fewer than 2 values on a side
	Half       float64 // half-width of the interval; not in summary.json
	P          float64 // two-sided p value, not adjusted; NaN without an interval
	Adjusted   float64 // P after Holm's adjustment over its family of tests; not in summary.json
	Shown      bool    // the difference is significant: Adjusted is below 0.05, and bounds on the values do not undo it
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
	measure.Query
	Policy  string  // label of the policy
	Text    string  // bound as the scenario writes it; in summary.json: limit
	Value   float64 // measured value; NaN: none
	Low     float64 // lower end of the interval; NaN: no interval
	High    float64
	Bound   string // "" or ">=": Value is a lower bound
	Outcome Outcome
	Expect  bool    // the scenario expects a miss
	Seeds   int     // Unclear: about how many seeds would decide; 0: no number of seeds would, for Reason
	Reason  string  // Unclear: reason why more seeds would not help
	Half    float64 // half-width of the interval; not in summary.json
	Line    int     // line of the objective in the scenario's file; 0: it is not in the file; not in summary.json
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

// Metric returns a policy's estimate of the metric with that name over the whole run, nil if there is none.
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

// Options are the options of Summarize: requested seeds, what an unclear verdict means, and the stopping rule.
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
		name := strings.TrimSpace(t.Goal + " that meets " + strings.Join(t.Objectives, ", "))
		all = append(all, Case{Policy: p.Label, Name: name, Outcome: p.Outcome,
			Failed: p.Outcome != Met, Words: strings.Join(p.Said, " ")})
	}
	return all
}
