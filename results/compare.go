package results

import (
	"math"
	"slices"
)

// compare computes each policy's differences from the baseline. The comparisons that the table shows are one family of
// tests, all others another.
func (s *Summary) compare() {
	base := s.BaselinePolicy()
	inTable := s.tableQueries()
	var shown, others []*Contrast
	for i := range s.Policies {
		p := &s.Policies[i]
		if p.Baseline {
			continue
		}
		for _, pair := range [][2][]Estimate{{p.Metrics, base.Metrics}, {p.Filtered, base.Filtered}} {
			for j := range pair[0] {
				if d, _, n := difference(&pair[0][j], &pair[1][j]); n > 0 {
					p.Versus = append(p.Versus, d)
				}
			}
		}
		for j := range p.Versus {
			if d := &p.Versus[j]; slices.Contains(inTable, d.Query) {
				shown = append(shown, d)
			} else {
				others = append(others, d)
			}
		}
	}
	decide(shown)
	decide(others)
}

// BaselinePolicy returns the policy that the others are compared with.
func (s *Summary) BaselinePolicy() *PolicySummary { return &s.Policies[s.Baseline()] }

// Baseline returns the index of the policy that the others are compared with: the first if none is marked.
func (s *Summary) Baseline() int {
	return max(slices.IndexFunc(s.Policies, func(p PolicySummary) bool { return p.Baseline }), 0)
}

// difference returns the mean difference of e from base over the seeds in which both have a value, with its interval
// and test, the mean of base over these seeds, and their number. The floats are NaN if there are no such seeds.
func difference(e, base *Estimate) (d Contrast, of float64, seeds int) {
	var a, b sample
	for i := range min(len(e.Values), len(base.Values)) {
		if !math.IsNaN(e.Values[i] - base.Values[i]) {
			a.values, b.values = append(a.values, base.Values[i]), append(b.values, e.Values[i])
		}
	}
	d = contrastOf(a, b, true)
	d.Query, d.bound, d.baseBound = e.Query, e.Bound, base.Bound
	return d, MeanOf(a.values), len(a.values)
}

// decide adjusts the p values of a family of contrasts by Holm's procedure and marks the significant ones as shown. One
// without any difference in any seed is not tested, and has the adjusted value 1.
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

// sure reports whether a difference keeps its sign however much higher a value is that is only a lower bound.
func sure(difference float64, bound, baseBound string) bool {
	switch {
	case bound != "" && baseBound != "":
		return false
	case bound != "":
		return difference > 0
	case baseBound != "":
		return difference < 0
	}
	return true
}

// judge computes the verdict of every objective under every policy that the objective applies to.
func (s *Summary) judge() {
	for i := range s.Settings.Objectives {
		o := &s.Settings.Objectives[i]
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

// policiesOf returns the policies that an objective names: by label, or else all of that kind; all for "".
func (s *Summary) policiesOf(name string) []*PolicySummary {
	var all, ofKind []*PolicySummary
	for i := range s.Policies {
		p := &s.Policies[i]
		if name != "" && p.Label == name {
			return []*PolicySummary{p}
		}
		all = append(all, p)
		if p.Kind == name {
			ofKind = append(ofKind, p)
		}
	}
	if name == "" {
		return all
	}
	return ofKind
}
