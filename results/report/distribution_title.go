package report

import (
	"fmt"
	"math"
	"strings"
)

// distributionValues returns, for each policy, the share of jobs that wait longer than the limit or, without a limit,
// the p99 wait (infinite if it falls among jobs never claimed), for the title and the alternative text.
func distributionValues(all []distribution, at limit) ([]float64, func(float64) string) {
	values := make([]float64, len(all))
	for i := range all {
		switch {
		case all[i].none:
			values[i] = math.NaN()
		case at.seconds > 0:
			values[i] = all[i].over(at.seconds)
		default:
			wait, more := all[i].exceeded(.01)
			if values[i] = wait; more {
				values[i] = math.Inf(1)
			}
		}
	}
	if at.seconds > 0 {
		return values, percent
	}
	return values, func(v float64) string {
		if math.IsInf(v, 1) {
			return "endless"
		}
		return seconds(v)
	}
}

func (d *drawing) distributionWords(at limit) string {
	if at.seconds > 0 {
		return "Share of " + d.jobsOf(at) + " that wait longer than " + seconds(at.seconds)
	}
	return "Fresh p99 wait" + d.ofJobs(at.Query, "")
}

// distributionTitle returns the sentence on how distributionValues differ between policies.
func (d *drawing) distributionTitle(all []distribution, at limit, values []float64, best, worst int) string {
	if best < 0 {
		return "There is no fresh job to speak of" + d.under()
	}
	if at.seconds == 0 {
		return d.exceededTitle(all, at, values, best, worst)
	}
	jobs := d.jobsOf(at)
	which := strings.TrimPrefix(jobs, "fresh jobs")
	what := jobs + " wait longer than " + seconds(at.seconds)
	if all[best].unclaimed > 0 || all[worst].unclaimed > 0 {
		what += " or are never claimed"
	}
	high, low := percent(values[worst]), percent(values[best])
	switch {
	case all[best].unclaimed == 1:
		return "No fresh job" + which + " is claimed" + d.under()
	case values[worst] == 0:
		return "No " + strings.Replace(strings.Replace(what, "jobs", "job", 1), "wait ", "waits ", 1) + d.under()
	case len(d.policies) == 1:
		return fmt.Sprintf("%s of %s with %s", high, what, d.policies[worst].name)
	case high == low:
		return fmt.Sprintf("%s of %s under every policy", high, what)
	}
	return fmt.Sprintf("%s of %s with %s, %s with %s", high, what, d.policies[worst].name, low, d.policies[best].name)
}

// exceededTitle returns the sentence on the p99 waits, worded as in the results table if it has all of them.
func (d *drawing) exceededTitle(all []distribution, at limit, values []float64, best, worst int) string {
	asked, jobs := at.query(waitMetric), d.jobsOf(at)
	if math.IsInf(values[worst], 1) {
		lost := make([]float64, len(all))
		for i := range all {
			lost[i] = all[i].unclaimed
		}
		least, most := extremes(lost)
		title := fmt.Sprintf("%s of %s are never claimed with %s", percent(lost[most]), jobs, d.policies[most].name)
		switch {
		case !math.IsInf(values[best], 1):
			return fmt.Sprintf("%s; with %s p99 wait is %s", title, d.policies[best].name, seconds(values[best]))
		case percent(lost[least]) != percent(lost[most]):
			return fmt.Sprintf("%s, %s with %s", title, percent(lost[least]), d.policies[least].name)
		case len(all) > 1:
			return fmt.Sprintf("%s of %s are never claimed under any policy", percent(lost[most]), jobs)
		}
		return title
	}
	if title := d.tableTitle(asked); title != "" {
		return title
	}
	return d.rangeTitle("Fresh p99 wait"+d.ofJobs(asked, "")+" is", seconds, values, best, worst)
}
