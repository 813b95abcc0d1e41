package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// checkLoad compares what comes in with what the workers can do, and with what one
// machine can simulate.
func (c *checker) checkLoad() {
	if !c.sound("jobs") || !c.sound("duration") || !c.sound("engine") || !c.sound("storms") || len(c.sc.Jobs) == 0 {
		return
	}
	var terms []string
	var load, heaviest, jobs, most float64
	var at, busiest *yaml.Node
	for i := range c.sc.Jobs {
		job := &c.sc.Jobs[i]
		rate, mean := job.Arrivals.Rate.PerSecond(), job.Service.Dist().Mean()
		if math.IsInf(mean, 1) {
			return
		}
		if rate == 0 {
			continue
		}
		terms = append(terms, fmt.Sprintf("%v × %s", job.Arrivals.Rate, seconds(mean)))
		if load += rate * mean; rate*mean >= heaviest {
			heaviest, at = rate*mean, c.near("jobs", i, "arrivals", "rate")
		}
		count := rate * job.Arrivals.length(c.sc.Duration).Seconds()
		if jobs += count; count >= most {
			most, busiest = count, c.near("jobs", i, "arrivals", "rate")
		}
	}
	workers := int(c.sc.Engine.Nodes) * int(c.sc.Engine.Workers)
	c.checkTotal(jobs, busiest)
	if workers < 1 || at == nil {
		return
	}
	ratio := load / float64(workers)
	if ratio > 1 {
		even := ""
		if len(c.sc.Storms) > 0 {
			even = " even without the storm"
		}
		e := c.warnf(at, "offered load is %s of capacity%s: the backlog will never drain", short(ratio), even)
		e.note = fmt.Sprintf("%s ÷ %d workers", strings.Join(terms, " + "), workers)
		if len(terms) > 1 {
			e.note = fmt.Sprintf("(%s) ÷ %d workers", strings.Join(terms, " + "), workers)
		}
	}
}

// checkTotal refuses more jobs than a run can have: those that come at rest, and those
// of bursts.
func (c *checker) checkTotal(jobs float64, at *yaml.Node) {
	for i := range c.sc.Storms {
		b := c.sc.Storms[i].Burst
		if b == nil {
			continue
		}
		more := 0.0
		if b.Count != nil {
			more = float64(*b.Count)
		}
		if class := c.sc.ClassIndex(b.Class); b.Factor != nil && class >= 0 {
			more = c.sc.Jobs[class].Arrivals.Rate.PerSecond() * float64(*b.Factor) * c.sc.Storms[i].For.Std().Seconds()
		}
		if jobs += more; at == nil || more > mostJobs/2 {
			at = c.near("storms", i, "burst")
		}
	}
	if jobs > mostJobs && at != nil {
		c.errorf(at, "one run would have %.2g jobs: at most %.0g", jobs, float64(mostJobs)).help = "lower the rate or the duration"
	}
}

// length is how long a class has arrivals.
func (a *Arrivals) length(duration Duration) time.Duration {
	stop := duration
	if a.Stop != nil {
		stop = min(stop, *a.Stop)
	}
	return max(0, stop.Std()-a.Start.Std())
}

// short writes a ratio in three digits.
func short(ratio float64) string {
	if ratio >= 100 {
		return strconv.FormatFloat(ratio, 'f', 0, 64)
	}
	return strconv.FormatFloat(ratio, 'g', 3, 64)
}

// seconds writes a mean time with its unit, in three digits.
func seconds(s float64) string {
	switch {
	case s < 1e-3:
		return strconv.FormatFloat(s*1e6, 'g', 3, 64) + " us"
	case s < 1:
		return strconv.FormatFloat(s*1e3, 'g', 3, 64) + " ms"
	case s < 120:
		return strconv.FormatFloat(s, 'g', 3, 64) + " s"
	}
	return strconv.FormatFloat(s/60, 'g', 3, 64) + " min"
}
