package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
)

// waitTitle returns the title sentence of the wait chart: which policy makes fresh jobs wait longest, and which
// shortest.
func (d *drawing) waitTitle(row waitLines, peaks []float64, best, worst int) string {
	var silent []string
	for i, v := range peaks {
		if math.IsNaN(v) {
			silent = append(silent, d.policies[i].name)
		}
	}
	of := ""
	if row.class != "" {
		of = " of " + shorten(row.class, stormLimit)
	}
	if best < 0 {
		if len(silent) == 1 {
			return "No fresh job" + of + " is claimed with " + silent[0]
		}
		return "No fresh job" + of + " is claimed under any policy"
	}
	title := d.tableTitle(d.waitQuery())
	if title == "" {
		title = d.rangeTitle("In the worst "+duration(d.settings.Bucket)+" fresh p99 wait"+of+" is", seconds, peaks, best, worst)
	}
	if len(silent) > 3 {
		silent = append(silent[:2], fmt.Sprintf("%d others", len(silent)-2))
	}
	if len(silent) > 0 {
		title += "; none" + of + " is claimed with " + list(silent)
	}
	return title
}

// waitQuery returns the query of the fresh p99 wait that chart titles compare: that of the first such column of the
// results table in which policies differ, else of any. If the table has none, the query is narrowed to one class if
// there are several, or to the first storm.
func (d *drawing) waitQuery() measure.Query {
	for _, c := range slices.Concat(d.table.Columns, d.table.Alike) {
		if c.Metric == waitMetric {
			return c.Query
		}
	}
	q := measure.Query{Metric: waitMetric}
	switch {
	case d.mixed():
		q.Class = cmp.Or(d.settings.Charted().Class, d.settings.Classes[0])
	case len(d.settings.Storms) > 0:
		q.During = d.settings.Storms[0].Name
		if d.summary.Policies[0].Find(q) == nil {
			q.During = ""
		}
	}
	return q
}

// mixed reports whether the waits of all jobs together mix several classes of jobs.
func (d *drawing) mixed() bool { return len(d.settings.Classes) > 1 }

// tableTitle returns a title sentence on how the metric of query q differs between policies, worded as in the results
// table; "" unless every policy has a value. It names no policy where the table marks none as best, nor for a mix of
// classes that the objectives are not about: the best policy for one class may be worst for the mix.
func (d *drawing) tableTitle(q measure.Query) string {
	c := results.ColumnOf(d.summary, q)
	order := c.Ranked()
	if len(order) < len(d.policies) {
		return ""
	}
	best, worst := order[0], order[len(order)-1]
	what, low, high := "Fresh p99 wait"+d.ofJobs(q, ""), c.Cells[best].Value, c.Cells[worst].Value
	if bound, ok := strings.CutPrefix(high, "≥ "); ok && len(order) > 1 && strings.HasPrefix(low, "≥ ") {
		return fmt.Sprintf("%s is not known under any policy: jobs were left; at least %s with %s", what, bound,
			d.policies[worst].name)
	}
	every := "every policy"
	if len(order) == 1 {
		every = ""
	}
	if q.Class == "" && d.mixed() && q != d.waitQuery() && low != high {
		return fmt.Sprintf("%s together is %s to %s by policy", what, low, high)
	}
	same := c.Gain(best, worst) == 1 && !strings.HasPrefix(high, "≥ ") // of a bound both values are told, and no winner
	return d.between(what+" is", low, high, best, worst, same, every)
}

// ofJobs returns the phrase that names the jobs of a query, unless they are all of one class: " of the worst tenant of
// mail in payments-down". enqueued stands before a storm.
func (d *drawing) ofJobs(q measure.Query, enqueued string) (words string) {
	switch {
	case q.Tenant == measure.WorstTenant:
		words = " of the worst tenant"
	case q.Tenant != "":
		words = " of tenant " + shortName(q.Tenant)
	case q.Class == "" && d.mixed():
		words = " of all classes"
	}
	if q.Class != "" {
		words += " of " + shortName(q.Class)
	}
	if q.During != "" {
		words += enqueued + " in " + shortName(q.During)
	}
	if q.After != "" {
		words += enqueued + " after " + shortName(q.After)
	}
	return words
}
