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

// waitTitle states which policy lets fresh jobs wait longest, and which shortest. The peaks are those of the lines of a row.
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

// waitQuery is the p99 of fresh waits that titles are about: that of the first column of the table in which policies
// differ, else of any. Where the table has none, it is of a class alone if there are several, or of the first storm.
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

// mixed reports whether all jobs together are a mix of classes.
func (d *drawing) mixed() bool { return len(d.settings.Classes) > 1 }

// tableTitle says how the estimates of q differ between policies; empty unless every policy has one.
func (d *drawing) tableTitle(q measure.Query) string {
	values, words := d.estimates(q)
	if values == nil {
		return ""
	}
	what := "Fresh p99 wait" + d.ofJobs(q)
	best, worst := extremes(values)
	if len(values) > 1 && values[best] >= boundRank {
		return fmt.Sprintf("%s is not known under any policy: jobs were left; at least %s with %s", what,
			strings.TrimPrefix(words(values[worst]), "≥ "), d.policies[worst].name)
	}
	return d.rangeTitle(what+" is", words, values, best, worst)
}

// estimates are those of q by policy, and their words in the cells of tables; nil unless every policy has one. A lower
// bound ranks above what is no bound.
func (d *drawing) estimates(q measure.Query) (values []float64, spell func(float64) string) {
	values = make([]float64, len(d.policies))
	words := map[float64]string{}
	for i := range values {
		e := d.summary.Policies[i].Find(q)
		if e == nil || e.Null() || math.IsInf(e.Mean, 0) {
			return nil, nil
		}
		values[i] = e.Mean
		if e.Bound != "" {
			values[i] += boundRank
		}
		if words[values[i]] == "" { // as extremes, the first of equal values
			words[values[i]] = results.CellOf(d.summary, i, q).Value
		}
	}
	return values, func(v float64) string { return words[v] }
}

// ofJobs names the jobs that q is about, unless they are all of one class: " of the worst tenant of mail in
// payments-down".
func (d *drawing) ofJobs(q measure.Query) (words string) {
	switch {
	case q.Tenant == measure.WorstTenant:
		words = " of the worst tenant"
	case q.Tenant != "":
		words = " of tenant " + shorten(clean(q.Tenant), stormLimit)
	case q.Class == "" && d.mixed():
		words = " of all classes"
	}
	if q.Class != "" {
		words += " of " + shorten(clean(q.Class), stormLimit)
	}
	if q.During != "" {
		words += " in " + shorten(clean(q.During), stormLimit)
	}
	if q.After != "" {
		words += " after " + shorten(clean(q.After), stormLimit)
	}
	return words
}

// boundRank is more than any wait, s: what is at least a time ranks above what is a time.
const boundRank = 1e12
