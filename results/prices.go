package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
)

// price is a metric of the whole run that counts as a cost: a policy that improves other metrics may worsen it.
type price struct {
	metric string
	like   []string // similar metrics: a table with one of them also gets this cost
	longer string   // subject of "N× longer" in a finding, "retries wait"; "": more is used
	more   string   // subject of "N× more" in a finding
	least  float64  // least difference from the baseline that counts as a cost
	// machine marks a cost to workers, not to jobs.
	machine bool
}

// prices lists the metrics that count as costs, similar ones next to each other. Dead jobs come first.
var prices = []price{
	{metric: "dead.count", like: []string{"dead.share", "deaths.count"}, more: "dead jobs"},
	{metric: "duplicates.per10k", like: []string{"duplicates.count"}, more: "duplicates", least: 0.1},
	{metric: "retry.wait.mean", like: waits("retry.wait"), longer: "retries wait", least: 0.01},
	{metric: "sojourn.mean", like: waits("sojourn"), longer: "jobs take", least: 0.01},
	{metric: "idle.ready", more: "idle worker time beside ready jobs", least: 1, machine: true},
	{metric: "wasted", more: "wasted worker time", least: 0.001, machine: true},
}

// mostPrices is the highest number of cost columns in a results table, besides deaths.
const mostPrices = 3

// waits returns the names of the metrics of one family of waits, such as retry.wait, except the mean.
func waits(family string) []string {
	return []string{family + ".p50", family + ".p90", family + ".p99", family + ".p999", family + ".max"}
}

// priceOf returns the description of a metric as a cost of a policy, nil if it is not one of the costs.
func priceOf(metric string) *price {
	return plain.Find(prices, func(p *price) bool { return p.metric == metric })
}

// addPrices adds the columns of costs to a results table: dead jobs, then the metrics that some policy worsens most
// compared with the baseline. Costs that are equal for all policies are added too, and folded to one line later.
func (t *Table) addPrices(s *Summary, objectives bool) {
	type rise struct {
		column Column
		ratio  float64
	}
	var rises []rise
	for _, p := range prices {
		q := measure.Query{Metric: p.metric}
		if s.Policies[0].Find(q) == nil || slices.ContainsFunc(t.Columns, func(c Column) bool {
			return c.Part == Gets && c.Query == (measure.Query{Metric: c.Metric}) &&
				(c.Metric == p.metric || slices.Contains(p.like, c.Metric))
		}) {
			continue
		}
		column := ColumnOf(s, q)
		column.Part = Pays
		switch usual := p.metric == "dead.count" || p.metric == "duplicates.per10k"; {
		case column.null():
		case column.alike() || p.metric == "dead.count" || !objectives && usual:
			t.addPrice(column)
		case objectives:
			if ratio := column.rise(s.Baseline(), p.least); ratio >= leastChange {
				rises = append(rises, rise{column, ratio})
			}
		}
	}
	slices.SortStableFunc(rises, func(a, b rise) int { return cmp.Compare(b.ratio, a.ratio) })
	for _, r := range rises[:min(len(rises), mostPrices)] {
		t.addPrice(r.column)
	}
}

// addPrice adds the column of a cost to a results table, or marks it as a cost if the table has it already.
func (t *Table) addPrice(column Column) {
	if asked := t.Find(column.Query); asked != nil {
		asked.price = true
		return
	}
	t.Columns = append(t.Columns, column)
}

// rise returns the largest ratio of a policy's cost to the baseline's: +Inf if the baseline's is 0, 0 if no policy has
// a higher cost. A cost counts as higher if it exceeds the baseline's by at least the given difference, and this is
// significant by itself or the seeds are too few for a test.
func (c *Column) rise(base int, least float64) (ratio float64) {
	for i := range c.Cells {
		cell, of := &c.Cells[i], &c.Cells[base]
		open := cell.difference != nil && cell.difference.P >= alpha && cell.Estimate.N >= fewSeeds
		if cell.Mean-of.Mean >= least && !open {
			ratio = max(ratio, cell.Mean/of.Mean)
		}
	}
	return ratio
}

// leastChange is the least ratio of two values that counts as a difference, at the edge of the equivalence band.
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

// beats reports whether one policy is better than another in a column by more than the equivalence band.
func (c *Column) beats(i, k int) bool { return c.Gain(i, k) >= leastChange }

// apart reports whether two policies differ in a metric: significantly or, with too few seeds to test, in their means.
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

// told reports whether a cell differs from the baseline's: significantly or, with too few seeds to test, in its mean.
func (c *TableCell) told() bool {
	return c.Mark != "≈" && !(c.unsure() && c.Estimate.N >= fewSeeds)
}

// unsure reports whether a cell has the mark "?": neither a difference from the baseline nor equivalence is shown.
func (c *TableCell) unsure() bool { return c.Mark == "?" }

// Ranked returns the policies with a value in a column of a results table, best first; where neither more nor less is
// better, the least first. A lower bound ranks by its value if more is better, else behind all other values.
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

// rank sets which direction is better in a column and marks its best cells: those with no better value in the column,
// but at least one worse. A lower bound is not best where less is better.
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
	dead := plain.ExtentOf()
	for i := range s.Policies {
		if e := s.Policies[i].Metric("dead.count"); e != nil {
			dead.Include(e.Mean)
		}
	}
	return dead.Low < dead.High
}
