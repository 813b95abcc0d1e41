package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// checkLoad compares the offered load with the workers' capacity, and with the size of a run that one machine can
// simulate.
func (c *checker) checkLoad() {
	if !c.sound("jobs") || !c.sound("duration") || !c.sound("engine") || !c.sound("storms") || len(c.sc.Jobs) == 0 {
		return
	}
	var jobs, most float64
	var busiest *yaml.Node
	for i := range c.sc.Jobs {
		count := c.sc.Jobs[i].comes(c.sc.Duration)
		if jobs += count; count >= most && count > 0 {
			most, busiest = count, c.near("jobs", i, "arrivals", "rate")
		}
	}
	c.checkTotal(jobs, busiest)
	for i := range c.sc.Jobs {
		if math.IsInf(c.sc.Jobs[i].Service.Dist().Mean(), 1) {
			return
		}
	}
	for i := range c.sc.Jobs {
		c.checkClassLoad(i, &c.sc.Jobs[i])
	}
	c.checkOffered()
}

// comes returns the expected number of jobs of a class without storms, including all copies by callers; 0 for a trace,
// whose length is not known.
func (job *JobClass) comes(duration Duration) float64 {
	a := &job.Arrivals
	count := a.MeanRate() * a.length(duration).Seconds()
	if a.Process == "batch" && a.Size != nil && count > 0 {
		count += float64(*a.Size) // the first arrival is at the start
	}
	return count * job.copies()
}

// copies returns the highest number of copies of one job that a caller enqueues, the first included.
func (job *JobClass) copies() float64 {
	if job.Patience == nil {
		return 1
	}
	return 1 + float64(job.Patience.Resubmits)
}

// burstJobs returns the number of jobs that a storm adds to the usual arrivals, including copies.
func (sc *Scenario) burstJobs(s *Storm) float64 {
	x := s.Effect()
	class := sc.ClassIndex(x.Class)
	windows, copies := s.windows(), 1.0
	if class >= 0 {
		copies = sc.Jobs[class].copies()
	}
	switch {
	case x.Jobs != nil:
		return float64(*x.Jobs) * windows * copies
	case x.Rate != nil && class >= 0:
		return sc.Jobs[class].Arrivals.MeanRate() * float64(*x.Rate) * s.For.Std().Seconds() * windows * copies
	}
	return 0
}

// windows returns the number of windows of a storm.
func (s *Storm) windows() float64 {
	if s.Repeat == nil {
		return 1
	}
	return float64(s.Repeat.Times)
}

// checkClassLoad warns of a class whose limit on jobs in flight is too low for its load.
func (c *checker) checkClassLoad(i int, job *JobClass) {
	need := job.Arrivals.MeanRate() * job.Service.Dist().Mean()
	if most := float64(job.MaxRunning); most > 0 && need > most {
		c.warnf(c.near("jobs", i, "max-running"), "the class needs %s jobs running at once: the backlog will never drain", short(need))
	}
	if job.Serial != nil && need > float64(job.Serial.Keys) {
		c.warnf(c.near("jobs", i, "serial"), "the class needs %s jobs running at once, but has %d keys: the backlog will never drain", short(need), job.Serial.Keys)
	}
}

// checkOffered warns of a load that exceeds the workers' capacity, at the busiest time of all classes together.
func (c *checker) checkOffered() {
	workers := float64(c.sc.Engine.Nodes) * float64(c.sc.Engine.Workers)
	var worst float64
	var classes []int // indexes of the classes active at the busiest time
	for i := range c.sc.Jobs {
		var load float64
		var active []int
		for k := range c.sc.Jobs {
			if a := &c.sc.Jobs[k].Arrivals; a.activeAt(c.sc.Jobs[i].Arrivals.Start, c.sc.Duration) && a.MeanRate() > 0 {
				load += a.MeanRate() * c.sc.Jobs[k].Service.Dist().Mean()
				active = append(active, k)
			}
		}
		if load > worst {
			worst, classes = load, active
		}
	}
	if workers < 1 || worst <= workers {
		return
	}
	var terms []string
	var heaviest float64
	var at *yaml.Node
	for _, i := range classes {
		rate, mean := c.sc.Jobs[i].Arrivals.MeanRate(), c.sc.Jobs[i].Service.Dist().Mean()
		terms = append(terms, fmt.Sprintf("%s × %s", c.sc.Jobs[i].Arrivals.meanText(), seconds(mean)))
		if rate*mean >= heaviest {
			heaviest, at = rate*mean, c.near("jobs", i, "arrivals", "rate")
		}
	}
	even := ""
	if len(c.sc.Storms) > 0 {
		even = " even without the storm"
	}
	e := c.warnf(at, "offered load is %s × the capacity%s: the backlog will never drain", short(worst/workers), even)
	e.Note = fmt.Sprintf("%s ÷ %.0f workers", strings.Join(terms, " + "), workers)
	if len(terms) > 1 {
		e.Note = fmt.Sprintf("(%s) ÷ %.0f workers", strings.Join(terms, " + "), workers)
	}
}

// checkTotal reports more jobs than one run can hold: usual arrivals and bursts together.
func (c *checker) checkTotal(jobs float64, at *yaml.Node) {
	for i := range c.sc.Storms {
		s := &c.sc.Storms[i]
		_, key := s.Trouble()
		more := c.sc.burstJobs(s)
		if jobs += more; s.Effect().Class != "" && (at == nil || more > mostJobs/2) {
			at = c.near("storms", i, key)
		}
	}
	if jobs > mostJobs && at != nil {
		c.errorf(at, "one run would have %.2g jobs: at most %.0g", jobs, float64(mostJobs)).Help = "lower the rate or the duration"
	}
}

// MeanRate returns the mean arrivals per second of a class between its start and stop; 0 for a trace, whose content is
// not known.
func (a *Arrivals) MeanRate() float64 {
	switch {
	case a.Process == "on-off" && a.On != nil && a.Off != nil:
		on, off := a.On.Dist().Mean(), a.Off.Dist().Mean()
		if math.IsInf(on, 1) {
			return a.Rate.PerSecond()
		}
		return a.Rate.PerSecond() * on / max(on+off, 1e-9)
	case a.Process == "ramp" && a.From != nil && a.To != nil:
		return (a.From.PerSecond() + a.To.PerSecond()) / 2
	case a.Process == "diurnal" && a.Mean != nil:
		return a.Mean.PerSecond()
	case a.Process == "batch" && a.Size != nil && a.Every != nil && *a.Every > 0:
		return float64(*a.Size) / a.Every.Std().Seconds()
	}
	return a.Rate.PerSecond()
}

// meanText returns the mean rate as text, spelled as in the file if possible.
func (a *Arrivals) meanText() string {
	if a.Rate.Num > 0 && a.On == nil {
		return a.Rate.String()
	}
	return short(a.MeanRate()) + "/s"
}

// activeAt reports whether the class has arrivals at that time.
func (a *Arrivals) activeAt(moment, duration Duration) bool {
	return moment < duration && a.Start <= moment && (a.Stop == nil || moment < *a.Stop)
}

// length returns the time from a class's first to its last possible arrival.
func (a *Arrivals) length(duration Duration) time.Duration {
	stop := duration
	if a.Stop != nil {
		stop = min(stop, *a.Stop)
	}
	return max(0, stop.Std()-a.Start.Std())
}

// short returns a ratio as text with three digits.
func short(ratio float64) string {
	if ratio >= 100 {
		return strconv.FormatFloat(ratio, 'f', 0, 64)
	}
	return strconv.FormatFloat(ratio, 'g', 3, 64)
}

// seconds returns a mean time with its unit as text, with three digits.
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
