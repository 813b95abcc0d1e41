package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
	if lost := d.lost(); lost != nil {
		title = d.claimedTitle("Fresh p99 wait peaks at", peaks, best, worst) + d.lostWords(lost)
	} else if title == "" {
		what := "In the worst " + duration(d.settings.Bucket) + " fresh p99 wait is"
		title = d.rangeTitle(what, seconds, peaks, best, worst)
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
	for _, l := range d.limits() {
		return measure.Query{Metric: waitMetric, During: l.during, Class: l.class}
	}
	if len(d.settings.Storms) > 0 {
		q.During = d.settings.Storms[0].Name
		if d.summary.Policies[0].Find(q) == nil {
			q.During = ""
		}
	}
	return q
}

// tableTitle says how the estimates of q differ between policies, by the numbers that tables have; empty unless every
// policy has one that is no bound.
func (d *drawing) tableTitle(q measure.Query) string {
	values := make([]float64, len(d.policies))
	for i := range values {
		e := d.summary.Policies[i].Find(q)
		if e == nil || e.Null() || e.Bound != "" || math.IsInf(e.Mean, 0) {
			return ""
		}
		values[i] = e.Mean
	}
	what := "Fresh p99 wait"
	if q.Class != "" {
		what += " of " + shorten(clean(q.Class), stormLimit)
	}
	if q.During != "" {
		what += " in " + shorten(clean(q.During), stormLimit)
	}
	best, worst := extremes(values)
	return d.rangeTitle(what+" is", seconds, values, best, worst)
}

// lost are, by policy, the fresh jobs of all seeds that were never claimed, where they are so
// many that the p99 wait of the whole run is but a bound; nil if that is so under no policy. The
// waits of the others, which are what the chart shows, then tell no policy from another.
func (d *drawing) lost() []int64 {
	lost, any := make([]int64, len(d.policies)), false
	for i := range d.policies {
		h := find(d.summary.Data[i].Pooled, "", "")
		if h == nil || h.Unresolved.Count() == 0 {
			continue
		}
		e := d.summary.Policies[i].Metric(waitMetric)
		n, all := h.Unresolved.Count(), h.Hist.Count()+h.Unresolved.Count()
		if e != nil && e.Bound != "" || n*100 > all {
			lost[i], any = n, true
		}
	}
	if !any {
		return nil
	}
	return lost
}

// claimedTitle gives the waits of the jobs that were claimed without naming a best policy.
func (d *drawing) claimedTitle(what string, peaks []float64, best, worst int) string {
	what = "Of the jobs that were claimed, " + strings.ToLower(what[:1]) + what[1:]
	low, high, every := seconds(peaks[best]), seconds(peaks[worst]), "every policy"
	if slices.ContainsFunc(peaks, math.IsNaN) {
		every = "every other policy"
	}
	switch {
	case len(d.policies) == 1:
		return fmt.Sprintf("%s %s with %s", what, high, d.policies[worst].name)
	case low == high:
		return fmt.Sprintf("%s %s under %s", what, high, every)
	}
	return fmt.Sprintf("%s %s to %s under %s", what, low, high, every)
}

// lostWords say under which policies most jobs were never claimed.
func (d *drawing) lostWords(lost []int64) string {
	var order []int
	for i, n := range lost {
		if n > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	words := "; " + count(float64(lost[order[0]])) + " never were"
	if len(d.policies) == 1 {
		return words
	}
	words += " with " + d.policies[order[0]].name
	if len(order) > 1 {
		words += ", " + count(float64(lost[order[1]])) + " with " + d.policies[order[1]].name
	}
	if len(order) > 2 {
		words += fmt.Sprintf(", and some with %s", plural(len(order)-2, "other"))
	}
	return words
}
