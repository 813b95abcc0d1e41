package results

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// leastChange is the least ratio of two values that counts as a difference: smaller ratios lie within the equivalence
// band.
const leastChange = 1 + DefaultSameWithin

// Gain is the factor by which the value of policy i is better than that of policy k: below 1 if it is worse, +Inf where
// the better value is 0, and 1 where neither is known to be better. Table marks, findings and titles of charts use it.
// Neither is known to be better if both values are printed alike, if one is a lower bound below the other, if the
// metric has no better direction, if the values are equivalent, or if a test over the seeds finds no significant
// difference. With fewer than 5 seeds there is no test: the means decide.
func (c *Column) Gain(i, k int) float64 {
	a, b := &c.Cells[i], &c.Cells[k]
	if i == k || c.better == 0 || math.IsNaN(a.Mean) || math.IsNaN(b.Mean) || a.Value == b.Value || !c.apart(i, k) {
		return 1
	}
	if c.better < 0 {
		a, b = b, a
	}
	return a.Mean / b.Mean
}

// beats reports whether policy i is better than policy k by more than the equivalence band.
func (c *Column) beats(i, k int) bool { return c.Gain(i, k) >= leastChange }

// apart reports whether two policies differ in the column's metric: significantly, or in the means of few seeds.
func (c *Column) apart(i, k int) bool {
	less, more := &c.Cells[i], &c.Cells[k]
	if more.Mean < less.Mean {
		less, more = more, less
	}
	switch {
	case less.bounded():
		return false
	case less.Baseline:
		return more.told()
	case more.Baseline:
		return less.told()
	}
	d, _, n := difference(less.Estimate, more.Estimate)
	return !Equivalent(d.Low, d.High, less.Mean, c.within) && (n < fewSeeds || d.P < alpha/float64(len(c.Cells)-1))
}

// told reports whether a cell differs from the baseline, significantly or in the means of few seeds.
func (c *TableCell) told() bool {
	return c.Mark != "≈" && !(c.unsure() && c.Estimate.N >= fewSeeds)
}

// unsure reports whether a cell has the mark "?": neither a difference from the baseline nor equivalence is shown.
func (c *TableCell) unsure() bool { return c.Mark == "?" }

// Ranked returns the policies that have a value, the best first; where neither more nor less is better, the least
// first. A lower bound ranks by its value if more is better, else behind all other values.
func (c *Column) Ranked() (policies []int) {
	for i := range c.Cells {
		if v := c.Cells[i].Mean; !math.IsNaN(v) && !math.IsInf(v, 0) {
			policies = append(policies, i)
		}
	}
	slices.SortStableFunc(policies, func(i, k int) int {
		a, b := &c.Cells[i], &c.Cells[k]
		if c.better > 0 {
			return cmp.Compare(b.Mean, a.Mean)
		}
		return cmp.Or(cmp.Compare(a.Estimate.Bound, b.Estimate.Bound), cmp.Compare(a.Mean, b.Mean))
	})
	return policies
}

// rank sets the direction of the column and marks its best cells: those with no better value in the column, but a worse
// one. A lower bound is not best where less is better.
func (c *Column) rank(s *Summary) {
	c.better, c.within = c.direction(s), s.SameWithin
	for i := range c.Cells {
		best, beaten := false, c.better < 0 && c.Cells[i].bounded()
		for k := range c.Cells {
			best, beaten = best || c.beats(i, k), beaten || c.beats(k, i)
		}
		c.Cells[i].Best = best && !beaten
	}
}

func (c *TableCell) bounded() bool { return c.Estimate != nil && c.Estimate.Bound != "" }

// direction returns 1 where a higher value in the column is better, -1 where a lower one is, and 0 where neither is:
// where the goals of a policy are a range, where neither the metric nor all goals decide, and for waits of done jobs
// where the numbers of deaths differ: waits of many jobs and of the few survivors are not comparable.
func (c *Column) direction(s *Summary) float64 {
	var least, most []string // policies
	for _, g := range c.Goals {
		if strings.HasPrefix(g.Text, "≥") {
			least = append(least, g.Policies...)
		} else {
			most = append(most, g.Policies...)
		}
	}
	switch {
	case slices.ContainsFunc(least, func(policy string) bool { return slices.Contains(most, policy) }):
		return 0
	case strings.HasPrefix(c.Metric, "sojourn.") && s.deathsDiffer():
		return 0
	case c.Info.MoreIsBetter, !c.Info.LessIsBetter && least != nil && most == nil:
		return 1
	case c.Info.LessIsBetter, most != nil && least == nil:
		return -1
	}
	return 0
}

// deathsDiffer reports whether more jobs die under one policy than under another.
func (s *Summary) deathsDiffer() bool {
	dead := make([]float64, 0, len(s.Policies))
	for i := range s.Policies {
		if e := s.Policies[i].Metric("dead.count"); e != nil && !e.Null() {
			dead = append(dead, e.Mean)
		}
	}
	return len(dead) > 0 && slices.Min(dead) != slices.Max(dead)
}
