package results

import (
	"math"
	"slices"

	"qsim/results/plain"
)

// compare sets each policy's differences from the baseline (Versus). In Holm's correction for multiple tests, the
// differences that the results table shows are one family, and all others another.
func (s *Summary) compare() {
	base := &s.Policies[s.Baseline()]
	inTable := s.tableQueries()
	listed := func(d *Contrast) bool { return slices.Contains(inTable, d.Query) }
	var shown, others []*Contrast
	for i := range s.Policies {
		p := &s.Policies[i]
		if p.Baseline {
			continue
		}
		own, of := slices.Concat(p.Metrics, p.Filtered), slices.Concat(base.Metrics, base.Filtered)
		for j := range own {
			if d, _, n := difference(&own[j], &of[j]); n > 0 {
				p.Versus = append(p.Versus, d)
			}
		}
		shown = append(shown, plain.Where(p.Versus, listed)...)
		others = append(others, plain.Where(p.Versus, func(d *Contrast) bool { return !listed(d) })...)
	}
	decide(shown)
	decide(others)
}

// Baseline returns the index of the policy that the others are compared with: the first if none is marked.
func (s *Summary) Baseline() int {
	return max(slices.IndexFunc(s.Policies, func(p PolicySummary) bool { return p.Baseline }), 0)
}

// difference returns the mean difference of a metric's estimate e from base over the seeds in which both have a value,
// with its interval and test, the mean of base over these seeds, and their number; NaN and 0 if there are none.
func difference(e, base *Estimate) (d Contrast, of float64, seeds int) {
	var a, b sample
	a.values, b.values = bothKnown(base.Values, e.Values)
	d = contrastOf(a, b, true)
	d.Query, d.bound, d.baseBound = e.Query, e.Bound, base.Bound
	return d, MeanOf(a.values), len(a.values)
}

// bothKnown returns the values of two estimates by seed, without the seeds in which one of them has no value.
func bothKnown(a, b []float64) (ofA, ofB []float64) {
	for i := range min(len(a), len(b)) {
		if !math.IsNaN(b[i] - a[i]) {
			ofA, ofB = append(ofA, a[i]), append(ofB, b[i])
		}
	}
	return ofA, ofB
}

// decide adjusts the p values of a family of differences by Holm's procedure and sets Shown for the significant ones. A
// difference that is 0 in every seed is not tested, and has the adjusted value 1.
func decide(family []*Contrast) {
	tested := make([]float64, len(family))
	for i, d := range family {
		if tested[i] = d.P; d.Low == 0 && d.High == 0 {
			tested[i] = math.NaN()
		}
	}
	for i, adjusted := range Holm(tested) {
		d := family[i]
		if math.IsNaN(adjusted) && !math.IsNaN(d.P) {
			adjusted = 1
		}
		d.Adjusted, d.Shown = adjusted, adjusted < alpha && sure(d.Difference, d.bound, d.baseBound)
	}
}

// sure reports whether the sign of a difference is certain although values (with bound ">=") may really be higher.
func sure(difference float64, bound, baseBound string) bool {
	return (bound == "" || difference > 0) && (baseBound == "" || difference < 0)
}

// judge appends to Objectives the verdict of every objective under every policy that the objective applies to.
func (s *Summary) judge() {
	for _, o := range s.Settings.Objectives {
		for _, p := range s.policiesOf(o.Policy) {
			e := p.Find(o.Query)
			if e == nil {
				continue // a metric that does not exist has no row, and its query a warning
			}
			v := Verdict{Query: o.Query, Policy: p.Label, Text: o.Text, Expect: o.Expect, Line: o.Line,
				Value: e.Mean, Low: e.Low, High: e.High, Half: e.Half, Bound: e.Bound}
			v.Outcome, v.Seeds, v.Reason = judge(e, o.Above, o.Bound)
			s.Objectives = append(s.Objectives, v)
		}
	}
}

// policiesOf returns the policies that an objective is set for, by its policy field: the one with that label, or else
// all of that kind; all policies if the field is empty.
func (s *Summary) policiesOf(name string) []*PolicySummary {
	if p := s.labelled(name); p != nil && name != "" {
		return []*PolicySummary{p}
	}
	return plain.Where(s.Policies, func(p *PolicySummary) bool { return name == "" || p.Kind == name })
}

// DefaultSameWithin is the half-width of the equivalence band as a share of the baseline's value: ±5 %.
const DefaultSameWithin = 0.05

// Likeness is the result of an equivalence test of two values: equivalent, or the number of seeds that would decide.
// Equivalence is shown by the confidence interval inclusion rule of Westlake (1976), with the printed 95 % interval,
// which is stricter than the 90 % interval of two one-sided tests at 5 %.
type Likeness struct {
	// The whole interval lies within same_within of the baseline's value
	Same bool `json:"same"`
	// Where neither a difference nor equivalence is shown: about how many seeds would decide; missing: no number would
	Tell int `json:"seeds_to_tell,omitzero"`
}

// Equivalent reports whether the interval [low, high] of a difference lies within ±within·|base|.
func Equivalent(low, high, base, within float64) bool {
	band := float64(within * math.Abs(base))
	return low >= -band && high <= band // NaN is not
}

// likeness tests two values for equivalence, given their difference with a 95 % interval of ± half from n seeds. base
// is the mean of the baseline's values, tests the number of tests made together; shown is true if the difference is
// significant, bound if a value is only a lower bound.
func likeness(difference, half, base, within float64, n, tests int, shown, bound bool) Likeness {
	switch {
	case bound, math.IsNaN(half):
		return Likeness{}
	case Equivalent(difference-half, difference+half, base, within):
		return Likeness{Same: true}
	case shown:
		return Likeness{}
	}
	different := seedsToReach(half, difference, n, alpha/float64(max(tests, 1)))
	band := max(float64(within*math.Abs(base))-math.Abs(difference), 0) // 0: no number of seeds shows equivalence
	same := seedsToReach(half, band, n, alpha)
	return Likeness{Tell: plain.Either(different == 0 || same > 0 && same < different, same, different)}
}

// Mark returns the sign printed beside a difference: "≈" equivalent, "?" neither a difference nor equivalence is shown,
// "" a difference is shown, or there is no interval. d may be nil.
func (d *Contrast) Mark() string {
	switch {
	case d == nil || math.IsNaN(d.High):
		return ""
	case d.Same:
		return "≈"
	case !d.Shown:
		return "?"
	}
	return ""
}

// FindLikeness repeats a comparison's equivalence tests with a band of ± within, in [0, 1), times the base value.
func (c *Comparison) FindLikeness(within float64) {
	c.SameWithin = within
	tests := plain.Count(c.Changes, func(d Change) bool { return !math.IsNaN(d.P) })
	for i := range c.Changes {
		d := &c.Changes[i]
		bound := d.Base.Bound != "" || d.New.Bound != ""
		d.Likeness = likeness(d.Difference, d.Half, d.of, within, d.N, tests, d.Shown, bound)
	}
}

// FindLikeness repeats the equivalence test of every policy against the baseline, with an equivalence band of ± within,
// in [0, 1), times the baseline's value.
func (s *Summary) FindLikeness(within float64) {
	s.SameWithin = within
	inTable, base := s.tableQueries(), &s.Policies[s.Baseline()]
	family := func(d *Contrast) int { return min(slices.Index(inTable, d.Query), 0) + 1 } // 1: of the table
	var tests [2]int
	for i := range s.Policies {
		for j := range s.Policies[i].Versus {
			tests[family(&s.Policies[i].Versus[j])]++
		}
	}
	for i := range s.Policies {
		p := &s.Policies[i]
		for j := range p.Versus {
			d := &p.Versus[j]
			if e, b := p.Find(d.Query), base.Find(d.Query); e != nil && b != nil {
				_, of, n := difference(e, b)
				d.Likeness = likeness(d.Difference, d.High-d.Difference, of, s.SameWithin, n, tests[family(d)], d.Shown,
					e.Bound != "" || b.Bound != "")
			}
		}
	}
}
