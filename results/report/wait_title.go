package report

import (
	"fmt"
	"math"

	"qsim/results/measure"
)

// waitTitle states which policy lets fresh jobs wait longest, and which shortest.
func (d *drawing) waitTitle(peaks []float64, best, worst int) string {
	var silent []string
	for i, v := range peaks {
		if math.IsNaN(v) {
			silent = append(silent, d.policies[i].name)
		}
	}
	if best < 0 {
		if len(silent) == 1 {
			return "No fresh job is claimed with " + silent[0]
		}
		return "No fresh job is claimed under any policy"
	}
	title := d.tableTitle(d.waitQuery())
	if title == "" {
		title = d.rangeTitle("In the worst "+duration(d.settings.Bucket)+" fresh p99 wait is", seconds, peaks, best, worst)
	}
	if len(silent) > 3 {
		silent = append(silent[:2], fmt.Sprintf("%d others", len(silent)-2))
	}
	if len(silent) > 0 {
		title += "; none is claimed with " + list(silent)
	}
	return title
}

// waitQuery is what the table has of the p99 of fresh waits: what the first objective is about, else the first storm
// or the whole run.
func (d *drawing) waitQuery() measure.Query {
	q := measure.Query{Metric: waitMetric}
	for _, o := range d.settings.Objectives {
		if o.Metric == waitMetric && o.Tenant == "" {
			return o.Query
		}
	}
	if len(d.settings.Storms) > 0 {
		q.During = d.settings.Storms[0].Name
		if d.summary.Policies[0].Find(q) == nil {
			q.During = ""
		}
	}
	return q
}

// tableTitle says how the estimates of q differ between policies, by the numbers and words of the tables; empty unless
// every policy has one. A lower bound is longer than what is no bound, and no winner.
func (d *drawing) tableTitle(q measure.Query) string {
	values, words := make([]float64, len(d.policies)), map[float64]string{}
	for i := range values {
		e := d.summary.Policies[i].Find(q)
		if e == nil || e.Null() || math.IsInf(e.Mean, 0) {
			return ""
		}
		values[i] = e.Mean
		words[e.Mean] = seconds(e.Mean)
		if e.Bound != "" {
			values[i] += boundRank
			words[values[i]] = "≥ " + seconds(e.Mean)
		}
	}
	what := "Fresh p99 wait"
	if q.Class != "" {
		what += " of " + shorten(clean(q.Class), stormLimit)
	}
	if q.During != "" {
		what += " in " + shorten(clean(q.During), stormLimit)
	}
	if q.After != "" {
		what += " after " + shorten(clean(q.After), stormLimit)
	}
	best, worst := extremes(values)
	if len(values) > 1 && values[best] >= boundRank {
		return fmt.Sprintf("%s is not known under any policy: jobs were left; at least %s with %s", what, seconds(values[worst]-boundRank), d.policies[worst].name)
	}
	return d.rangeTitle(what+" is", func(v float64) string { return words[v] }, values, best, worst)
}

// boundRank is more than any wait, s: what is at least a time ranks above what is a time.
const boundRank = 1e12
