package results

import (
	"math"
	"slices"
)

// compare fills in the differences to the baseline. The comparisons that the table
// shows are one family of tests, all others another.
func (s *Summary) compare() {
	base := s.BaselinePolicy()
	inTable := tableQueries(s.Settings)
	var shown, others []*Difference
	for i := range s.Policies {
		p := &s.Policies[i]
		if p.Baseline {
			continue
		}
		for _, pair := range [][2][]Estimate{{p.Metrics, base.Metrics}, {p.Filtered, base.Filtered}} {
			for j := range pair[0] {
				if d, ok := difference(&pair[0][j], &pair[1][j]); ok {
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
	for i := range s.Policies {
		p := &s.Policies[i]
		for j := range p.Versus {
			d := &p.Versus[j]
			d.Shown = d.Shown && sure(d.Difference, p.Find(d.Query).Bound, base.Find(d.Query).Bound)
		}
	}
}

// BaselinePolicy returns the policy that the others are compared with.
func (s *Summary) BaselinePolicy() *PolicySummary {
	for i := range s.Policies {
		if s.Policies[i].Baseline {
			return &s.Policies[i]
		}
	}
	return &s.Policies[0]
}

// difference pairs the values of e and base by seed.
func difference(e, base *Estimate) (d Difference, ok bool) {
	var differences []float64
	for i, v := range e.Values {
		if !math.IsNaN(v) && !math.IsNaN(base.Values[i]) {
			differences = append(differences, v-base.Values[i])
		}
	}
	if len(differences) == 0 {
		return d, false
	}
	d.Query = e.Query
	mean, half := meanInterval(differences)
	d.Difference, d.Low, d.High = mean, mean-half, mean+half
	d.P = pairedP(mean, half, len(differences))
	return d, true
}

// decide adjusts the p values of a family and marks the differences that are shown. Where
// there is no difference in any seed nothing is tested.
func decide(family []*Difference) {
	p := make([]float64, len(family))
	for i, d := range family {
		p[i] = d.P
		if d.Low == 0 && d.High == 0 {
			p[i] = math.NaN()
		}
	}
	for i, adjusted := range holm(p) {
		family[i].Adjusted = adjusted
		if math.IsNaN(adjusted) && !math.IsNaN(family[i].P) {
			family[i].Adjusted = 1
		}
		family[i].Shown = adjusted < alpha
	}
}

// sure reports whether a difference keeps its sign though values on either side may
// in truth be higher.
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

// judge applies the objectives.
func (s *Summary) judge() {
	for i := range s.Settings.Objectives {
		o := &s.Settings.Objectives[i]
		for _, p := range s.policiesOf(o.Policy) {
			e := p.Find(o.Query)
			if e == nil {
				continue // a metric that does not exist has no row, and its query a warning
			}
			v := Verdict{Query: o.Query, Policy: p.Label, Text: o.Text, Expect: o.Expect,
				Value: e.Mean, Low: e.Low, High: e.High, Half: e.Half, Bound: e.Bound}
			v.Outcome, v.Seeds, v.Reason = judge(e, o.Above, o.Bound)
			s.Objectives = append(s.Objectives, v)
		}
	}
}

// policiesOf returns the policy with that label, or else all of that kind; all for "".
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
