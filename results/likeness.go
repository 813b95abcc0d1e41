package results

import (
	"math"
	"slices"
)

// DefaultSameWithin is the half-width of the equivalence band as a share of the baseline's value: ±5 %.
const DefaultSameWithin = 0.05

// Likeness is the result of an equivalence test, for a difference that is not significant: equivalent, or the number of
// seeds that would decide. Equivalence is shown by the confidence interval inclusion rule of Westlake (1976), with the
// printed 95 % interval, which is stricter than the 90 % interval of two one-sided tests at 5 %.
type Likeness struct {
	Same bool // the whole interval lies within the equivalence band around the baseline
	// Tell is about how many seeds would show a difference or equivalence, while neither is shown; 0: no
	// number of seeds would.
	Tell int
}

// Equivalent reports whether the interval [low, high] of a difference lies within ±within·|base|.
func Equivalent(low, high, base, within float64) bool {
	band := float64(within * math.Abs(base))
	return low >= -band && high <= band // NaN is not
}

// likeness judges a difference with a 95 % interval of ± half from n values. base is the mean of the baseline's
// values, tests the number of differences that are tested together, bound true if a value is only a lower bound.
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
	band := float64(within*math.Abs(base)) - math.Abs(difference)
	if band <= 0 {
		return Likeness{Tell: different}
	}
	same := seedsToReach(half, band, n, alpha)
	if different == 0 || same > 0 && same < different {
		return Likeness{Tell: same}
	}
	return Likeness{Tell: different}
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

// FindLikeness judges all changes anew, with an equivalence band of ± within, in [0, 1), of the base's value.
func (c *Comparison) FindLikeness(within float64) {
	c.SameWithin = within
	tests := 0
	for i := range c.Changes {
		if !math.IsNaN(c.Changes[i].P) {
			tests++
		}
	}
	for i := range c.Changes {
		d := &c.Changes[i]
		d.Likeness = likeness(d.Difference, d.Half, d.of, within, d.N, tests, d.Shown, d.Base.Bound != "" || d.New.Bound != "")
	}
}

// FindLikeness judges all differences to the baseline anew, with an equivalence band of ± within, in [0, 1), of
// the baseline's value.
func (s *Summary) FindLikeness(within float64) {
	s.SameWithin = within
	inTable, base := s.tableQueries(), s.BaselinePolicy()
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
