package results

import (
	"cmp"
	"slices"

	"qsim/results/measure"
)

// price is a cost metric: of the whole run, and likely to get worse under a policy that improves other metrics.
type price struct {
	metric string
	like   []string // similar metrics: a table with one of them also gets this cost
	longer string   // subject of "N× longer" in a finding, "retries wait"; "": more is used
	more   string   // subject of "N× more" in a finding
	least  float64  // least difference from the baseline that counts as a cost
	// machine marks a cost to workers, not to jobs.
	machine bool
}

// prices lists the cost metrics, similar ones next to each other. Deaths stand first wherever there are any.
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

// waits returns the names of the metrics of one family of waits, except the mean.
func waits(family string) []string {
	return []string{family + ".p50", family + ".p90", family + ".p99", family + ".p999", family + ".max"}
}

// priceOf returns the entry of prices for a metric, nil if there is none.
func priceOf(metric string) *price {
	if i := slices.IndexFunc(prices, func(p price) bool { return p.metric == metric }); i >= 0 {
		return &prices[i]
	}
	return nil
}

func priceQueries() (queries []measure.Query) {
	for _, p := range prices {
		queries = append(queries, measure.Query{Metric: p.metric})
	}
	return queries
}

// addPrices adds the columns of costs: deaths wherever there are any, then the metrics in which a policy is most worse
// than the baseline. Costs that are equal for all policies are added too, and folded later.
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
		column := columnOf(s, q, Pays)
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

// addPrice adds a column of a cost, or marks the column as a cost if the table has it already.
func (t *Table) addPrice(column Column) {
	if asked := t.Find(column.Query); asked != nil {
		asked.price = true
		return
	}
	t.Columns = append(t.Columns, column)
}

// rise returns the largest ratio of a policy's value to the baseline's, +Inf if that is 0, among differences of at
// least least that are significant on their own, or of too few seeds for a test; 0 if there are none.
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
