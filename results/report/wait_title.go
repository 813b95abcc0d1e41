package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
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
	what := "Fresh p99 wait peaks at"
	if peaks[worst] == 0 {
		what = "Fresh p99 wait stays at"
	}
	title := d.rangeTitle(what, seconds, peaks, best, worst)
	if lost := d.lost(); lost != nil {
		title = d.claimedTitle(what, peaks, best, worst) + d.lostWords(lost)
	}
	if len(silent) > 3 {
		silent = append(silent[:2], fmt.Sprintf("%d others", len(silent)-2))
	}
	if len(silent) > 0 {
		title += "; none is claimed with " + list(silent)
	}
	return title
}

// lost are, by policy, the fresh jobs of all seeds that were never claimed, where they are so
// many that the p99 wait of the whole run is but a bound; nil if that is so under no policy. The
// waits of the others, which are what the chart shows, then tell no policy from another.
func (d *drawing) lost() []int64 {
	lost, any := make([]int64, len(d.policies)), false
	for i := range d.policies {
		h := find(d.summary.Data[i].Pooled, "")
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
