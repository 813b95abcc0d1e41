package results

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// Comparison holds the differences between two results of one scenario.
type Comparison struct {
	Scenario string `json:"scenario"` // name of the scenario
	Base     Side   `json:"base"`     // the earlier result
	New      Side   `json:"new"`      // the later result
	// Keys of the scenario that have another value in the later result: first those of both, then those of one alone
	Keys     []KeyChange `json:"keys,omitempty"`
	Paired   bool        `json:"paired"`   // both have the same seeds: differences are paired by seed; else two samples
	Gate     Gate        `json:"-"`        // limit given to Compare
	Changes  []Change    `json:"-"`        // changes of all metrics, by policy, then by query
	Warnings []string    `json:"warnings"` // warnings as sentences
	// Share of the base value within which a difference counts as none
	SameWithin float64 `json:"same_within"`
	// Exit code: 0 nothing is worse than allowed, 1 something is, or under --strict may be
	Exit int `json:"exit"`
}

// Side describes one of the two results that a Comparison is about: its name, configuration, seeds and version.
type Side struct {
	Name       string   `json:"name"`              // folder or scenario, as the command line names it
	ConfigHash string   `json:"config"`            // digest of the whole configuration
	Seeds      []uint64 `json:"seeds"`             // seeds that every policy finished
	Partial    bool     `json:"partial"`           // the run was interrupted
	Version    string   `json:"made_by,omitempty"` // version of the program that ran it
}

// Gate is the limit beyond which a change for the worse counts as a regression.
type Gate struct {
	Set    bool    // there is a limit: each change gets a verdict
	Most   float64 // share of the base value, at least 0, by which a metric may get worse
	Strict bool    // an unclear change counts as a regression
}

// Change is a metric of one policy in two results that are compared, with the difference and its verdict.
type Change struct {
	Policy   string   `json:"policy"` // label of the policy
	Unit     string   `json:"unit"`   // s (seconds), 1 (a share or ratio), 1/s, or what is counted
	Contrast          // Query, and the difference; its family of tests is all changes of the comparison
	Base     Estimate `json:"-"`
	New      Estimate `json:"-"`

	// Number of pairs of seeds; not paired: seeds of the side with fewer
	N       int     `json:"n"`
	Reason  string  `json:"reason,omitempty"` // reason why there is no difference, or no verdict
	Verdict Outcome `json:"verdict"`          // with max_regression: met, missed (worse) or unclear; else empty
	Seeds   int     `json:"seeds,omitzero"`   // of an unclear verdict: about how many seeds would decide

	of float64 // value of the base that Difference is relative to; NaN: none

	// excess is the part of the change that is worse than the gate allows, excessHalf the half-width of its interval,
	// with the degrees of freedom of N, and excessP its two-sided p value; NaN: not worse, or unknown.
	excess, excessHalf, excessP float64
}

// Relative returns the difference of a change as a share of the base value; NaN if there is no difference or the base
// is 0. With paired seeds the base value is the mean over seeds, even of a quantile.
func (c *Change) Relative() float64 {
	if c.of == 0 || math.IsNaN(c.Difference) {
		return math.NaN()
	}
	return c.Difference / c.of
}

// ChangeWords holds the texts that show one change between two results in a row of a table.
type ChangeWords struct {
	Base, New, Difference, Change string
	Half                          string // half-width of the interval of Difference; "": there is none, or it is 0
}

// floatError is the share of a base value below which a difference comes from sums of floats, and is printed as 0.
const floatError = 1e-12

// Words returns the texts that show the change of a metric between two results in a row of a table: the difference of
// shares is in percentage points, pp.
func (c *Change) Words() ChangeWords {
	info, known := measure.Lookup(c.Metric)
	if !known {
		info.Unit = c.Unit
	}
	w := ChangeWords{Base: FormatEstimate(&c.Base, info), New: FormatEstimate(&c.New, info), Change: plain.Missing}
	difference := c.Difference
	if math.Abs(difference) < floatError*math.Abs(c.of) {
		difference = 0
	}
	w.Difference = plain.When(difference > 0, "+") + plain.When(difference < 0, "−") +
		FormatValue(math.Abs(difference), info)
	half := FormatHalf(c.Half, info)
	w.Half = plain.When(!math.IsNaN(c.Half) && half != FormatHalf(0, info), half)
	if info.Share { // percentage points, or it would pass for the relative change beside it
		w.Difference, w.Half = strings.Replace(w.Difference, "%", " pp", 1), strings.Replace(w.Half, "%", " pp", 1)
	}
	if relative := c.Relative(); difference == 0 {
		w.Change = "0%"
	} else if !math.IsNaN(relative) {
		w.Change = FormatChange(1 + relative)
	}
	return w
}

// Named is a summary to compare, with its name in messages and the version of the program that wrote it ("": unknown).
type Named struct {
	*Summary
	Name, Version string
	Keys          []KeyValue // keys of the scenario that may make results differ; nil: unknown
}

// Compare compares two results of the same scenario, for each policy label found in both, paired by seed if both have
// the same seeds, else as independent samples (Welch) with a warning. If queries is nil, it compares the metrics of the
// results table and of the objectives, and the usual ones. The error says why the results cannot be compared.
func Compare(base, new Named, queries []measure.Query, gate Gate) (*Comparison, error) {
	c := &Comparison{Scenario: base.Scenario, Gate: gate, Paired: slices.Equal(base.Seeds, new.Seeds),
		Base: Side{base.Name, base.ConfigHash, base.Seeds, base.Partial, base.Version},
		New:  Side{new.Name, new.ConfigHash, new.Seeds, new.Partial, new.Version}}
	c.Keys = keyChanges(base.Keys, new.Keys)
	if err := c.compare(base.Summary, new.Summary, queries); err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", base.Name, new.Name, err)
	}
	c.decide()
	c.FindLikeness(DefaultSameWithin)
	return c, nil
}

// compare computes the changes of the given metrics, nil for the usual ones, and warns of what makes them doubtful,
// such as runs of different lengths.
func (c *Comparison) compare(base, new *Summary, queries []measure.Query) error {
	if base.Scenario != new.Scenario {
		return fmt.Errorf("they are of different scenarios: %s and %s", base.Scenario, new.Scenario)
	}
	if a, b := base.Duration, new.Duration; a != b {
		c.warn("the runs are of %s and %s: counts and maxima are not comparable", plain.SettingSeconds(a),
			plain.SettingSeconds(b))
	}
	pairs, err := c.match(base, new)
	if err != nil {
		return err
	}
	if queries == nil {
		queries = comparedQueries(base, new)
	}
	c.warnOfSides()
	for _, q := range queries {
		both := func(p [2]*PolicySummary) bool { return p[0].Find(q) != nil && p[1].Find(q) != nil }
		if !slices.ContainsFunc(pairs, both) {
			c.warn("%s is not in both results", q)
		}
	}
	for _, p := range pairs {
		for _, q := range queries {
			if e, n := p[0].Find(q), p[1].Find(q); e != nil && n != nil {
				same := c.Paired && p[0].Fingerprint == p[1].Fingerprint
				c.Changes = append(c.Changes, c.change(p[1].Label, e, n, same))
			}
		}
	}
	if len(c.Changes) == 0 {
		return errors.New("they have no metric in common that was asked for")
	}
	return nil
}

func (c *Comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// match pairs the policies of both results by label, or, if each result has one policy, whatever their labels.
func (c *Comparison) match(base, new *Summary) (pairs [][2]*PolicySummary, err error) {
	missing := func(in, of *Summary, side string) {
		for i := range in.Policies {
			if of.labelled(in.Policies[i].Label) == nil {
				c.warn("%s is in %s only and left out", in.Policies[i].Label, side)
			}
		}
	}
	if len(base.Policies) == 1 && len(new.Policies) == 1 {
		if a, b := base.Policies[0].Label, new.Policies[0].Label; a != b {
			c.warn("the policies differ: %s and %s", a, b)
		}
		return [][2]*PolicySummary{{&base.Policies[0], &new.Policies[0]}}, nil
	}
	for i := range base.Policies {
		p := &base.Policies[i]
		if n := new.labelled(p.Label); n != nil {
			pairs = append(pairs, [2]*PolicySummary{p, n})
		}
	}
	if len(pairs) == 0 {
		return nil, errors.New("they have no policy in common")
	}
	missing(base, new, c.Base.Name)
	missing(new, base, c.New.Name)
	return pairs, nil
}

func (s *Summary) labels() []string {
	return plain.Map(s.Policies, func(p PolicySummary) string { return p.Label })
}

// labelled returns the policy with the given label, nil if there is none.
func (s *Summary) labelled(label string) *PolicySummary {
	return plain.Find(s.Policies, func(p *PolicySummary) bool { return p.Label == label })
}

// usualMetrics lists the metrics that are compared besides those of the results table and the objectives: together they
// reveal most kinds of regression.
var usualMetrics = []string{"fresh.wait.mean", "fresh.wait.p99", "sojourn.mean", "sojourn.p99", "goodput",
	"attempts.mean", "dead.share", "unfinished.share", "wasted"}

// comparedQueries returns the metrics that are compared if Compare is given none, each once: of the usual ones those
// that both results have, of the table and the objectives all, so that one that is missing is warned of.
func comparedQueries(base, new *Summary) []measure.Query {
	t := TableOf(base)
	columns := plain.Map(slices.Concat(t.Columns, t.Alike), func(c Column) measure.Query { return c.Query })
	usual := plain.Map(usualMetrics, func(name string) measure.Query { return measure.Query{Metric: name} })
	usual = slices.DeleteFunc(usual, func(q measure.Query) bool {
		return base.Policies[0].Find(q) == nil || new.Policies[0].Find(q) == nil
	})
	return plain.Distinct(columns, base.objectiveQueries(), new.objectiveQueries(), usual)
}

// warnOfSides warns of differences in seeds and versions, and of interrupted runs, that make the comparison doubtful.
func (c *Comparison) warnOfSides() {
	if !c.Paired {
		c.warn("the seeds differ: the two results are compared as independent samples (Welch), which tells less")
	}
	for _, s := range []*Side{&c.Base, &c.New} {
		if s.Partial {
			c.warn("%s is partial: it was interrupted", s.Name)
		}
	}
	switch n := min(len(c.Base.Seeds), len(c.New.Seeds)); {
	case n == 1:
		c.warn("one seed: no intervals and no verdicts")
	case n < fewSeeds:
		c.warn("%d seeds are few: intervals are wide", n)
	}
	if a, b := c.Base.Version, c.New.Version; a != b && a != "" && b != "" {
		c.warn("made by different versions of the program, %s and %s: not every difference is of the scenario", a, b)
	}
}

// change compares one metric of one policy between two results. same is true if both runs had the same events, so that
// a difference of 0 is certain even with one seed.
func (c *Comparison) change(label string, base, new *Estimate, same bool) Change {
	nan := math.NaN()
	d := Change{Policy: label, Unit: cmp.Or(new.Unit, base.Unit), Base: *base, New: *new, of: nan, excess: nan,
		excessHalf: nan, excessP: nan}
	var a, b sample
	switch {
	case base.Null():
		d.Reason = c.Base.Name + ": " + base.why()
	case new.Null():
		d.Reason = c.New.Name + ": " + new.why()
	default:
		if a, b = c.samples(&d); len(a.values) == 0 || len(b.values) == 0 {
			d.Reason = "no seed has a value in both results"
		} else {
			d.N, d.of = min(len(a.values), len(b.values)), a.centre
		}
	}
	d.Contrast = contrastOf(a, b, c.Paired)
	d.Query, d.bound, d.baseBound = new.Query, new.Bound, base.Bound
	c.judge(&d)
	if d.Verdict == Unclear && same && d.Difference == 0 && (math.IsNaN(d.Half) || d.Half == 0) {
		d.Verdict, d.Seeds, d.Reason = Met, 0, ""
	}
	return d
}

// why returns, as a phrase for messages, the reason why an estimate has no value.
func (e *Estimate) why() string { return cmp.Or(e.Reason, "it was not measured") }

// samples returns the values by seed of both sides of a change, the base and the new result, each with its centre: the
// mean or, for a quantile without pairs, the quantile of all pooled jobs. Without pairs the difference is that of the
// centres. If paired, only seeds with a value on both sides count.
func (c *Comparison) samples(d *Change) (base, new sample) {
	if c.Paired {
		base.values, new.values = bothKnown(d.Base.Values, d.New.Values)
	} else {
		base.values, new.values = d.Base.known(), d.New.known()
	}
	base.centre, new.centre = MeanOf(base.values), MeanOf(new.values)
	if info, _ := measure.Lookup(d.New.Metric); info.Quantile != 0 && !c.Paired {
		base.centre, new.centre = d.Base.Mean, d.New.Mean
	}
	return base, new
}

// comparisonVersion is the version of the JSON format of comparisons.
const comparisonVersion = 1

// storedComparisons is the JSON document with the comparisons of one result with several others of the same scenario.
type storedComparisons struct {
	Version     int                `json:"version"`     // version of this format: 1
	Comparisons []storedComparison `json:"comparisons"` // one for each new result
	Exit        int                `json:"exit"`        // exit code: the highest of all comparisons
}

// storedComparison is the comparison of two results: the changes of every metric from one to the other.
type storedComparison struct {
	*Comparison
	// Share of the base value by which a metric may get worse; null: no change is judged
	Most    float64        `json:"max_regression"`
	Changes []storedChange `json:"changes"` // one for each policy and metric
}

// storedChange is the change of one metric under one policy.
type storedChange struct {
	Metric string `json:"metric"` // name of the metric
	Filter Filter `json:"filter"` // filter of the metric
	Change
	Base      float64 `json:"base"`       // value of the earlier result; null: there is none
	BaseBound string  `json:"base_bound"` // ">=": base is a lower bound; else empty
	New       float64 `json:"new"`        // value of the later result; null: there is none
	NewBound  string  `json:"new_bound"`  // ">=": new is a lower bound; else empty
	Relative  float64 `json:"relative"`   // difference as a share of the base value; null: there is none, or base is 0
}

// MarshalComparisons returns comparisons with one base as JSON: keys in a fixed order, one change per line. Equal
// comparisons give equal bytes. The exit code in it is the highest of all comparisons.
func MarshalComparisons(list []*Comparison) ([]byte, error) {
	all := storedComparisons{Version: comparisonVersion}
	for _, c := range list {
		all.Comparisons = append(all.Comparisons, storedComparison{c, plain.Either(c.Gate.Set, c.Gate.Most, math.NaN()),
			plain.Map(c.Changes, Change.stored)})
		all.Exit = max(all.Exit, c.Exit)
	}
	return MarshalLines(all)
}

func (c Change) stored() storedChange {
	return storedChange{c.Metric, Filter(c.Query), c, c.Base.Mean, c.Base.Bound, c.New.Mean, c.New.Bound, c.Relative()}
}
