package validate

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/checks"
	"qsim/scenarios/estimate"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
)

// checkLoad adds an error if a run has more jobs than can be simulated, and warns if the offered load exceeds the
// capacity of workers, or a limit on jobs in flight.
func (c *validator) checkLoad() {
	if !c.Sound("jobs", "duration", "engine", "storms") || len(c.sc.Jobs) == 0 {
		return
	}
	var jobs, most float64
	var busiest *yaml.Node
	for i := range c.sc.Jobs {
		count := estimate.JobsOf(&c.sc.Jobs[i], c.sc.Duration)
		if jobs += count; count >= most && count > 0 {
			most, busiest = count, c.In("jobs", i).Place("arrivals.rate")
		}
	}
	c.checkTotal(jobs, busiest)
	busy, retries := make([]float64, len(c.sc.Jobs)), make([]float64, len(c.sc.Jobs)) // by class, see estimate.Busy
	for i := range c.sc.Jobs {
		if busy[i], retries[i] = estimate.Busy(c.sc, i); math.IsInf(busy[i], 1) {
			return
		}
	}
	for i := range c.sc.Jobs {
		c.checkClassLoad(i, &c.sc.Jobs[i], busy[i])
	}
	c.checkOffered(busy, retries)
	c.checkBuffer(busy, retries)
}

// checkBuffer warns of so many heartbeats that a run is slow, and of prefetched jobs that wait for a worker longer than
// their leases last. busy and again are, by class, the mean seconds of a worker and retries that a job takes.
func (c *validator) checkBuffer(busy, again []float64) {
	e, lease, total, attempts, running := &c.sc.Engine, &c.sc.Engine.Lease, 0.0, 0.0, 0.0
	for i := range c.sc.Jobs {
		rate := c.sc.Jobs[i].Arrivals.MeanRate()
		total, attempts = total+rate*busy[i], attempts+rate*(1+again[i])
		running += estimate.Limit(c.sc.Jobs[i].MaxRunning)
	}
	if lease.Heartbeat > 0 && !lease.OfNode() { // one for each lease
		c.warnTicks("lease.heartbeat", lease.Heartbeat, min(total, float64(e.Nodes)*float64(e.Workers)), "heartbeats")
	}
	lasts := lease.Lasts()
	if lease.Heartbeat > 0 && lease.Heartbeat < lasts {
		lasts = lease.Max // 0: heartbeats keep it
	}
	held := min(float64(e.Fetch.Prefetch), min(estimate.Limit(e.MaxInFlight), running)-float64(e.Workers))
	wait := held / float64(e.Workers) * total / attempts
	c.In("engine").Warn(lasts > 0 && wait > lasts.Std().Seconds() && !lease.OfNode() && !e.Ack.Value(),
		"fetch.prefetch lease.max lease.ttl", "under load the last of %.0f prefetched jobs waits %s for a worker, longer "+
			"than its lease lasts (%v), and may run twice", held, plain.Duration(wait), lasts).
		Help = "prefetch fewer jobs, or give them longer leases"
}

// checkClassLoad warns if the jobs of class i, each running for busy seconds, come too fast for max-running or serial.
func (c *validator) checkClassLoad(i int, job *spec.JobClass, busy float64) {
	need := job.Arrivals.MeanRate() * busy
	keys := cmp.Or(job.Serial, &spec.Serial{}).Keys
	in, grows := c.In("jobs", i), c.grows(job.Arrivals.End(c.sc.Duration))
	in.Warn(job.MaxRunning > 0 && need > float64(job.MaxRunning), "max-running",
		"the class needs %s jobs running at once%s", plain.Digits(need, 3), grows)
	in.Warn(job.Serial != nil && need > float64(keys), "serial",
		"the class needs %s jobs running at once, but has %d keys%s", plain.Digits(need, 3), keys, grows)
}

// grows returns the end of a warning about overload: until when the backlog grows, if arrivals stop at end.
func (c *validator) grows(end spec.Duration) string {
	if end < c.sc.Duration {
		return fmt.Sprintf(": the backlog grows until %v", end)
	}
	return ": the backlog will never drain"
}

// checkOffered warns if the offered load of all classes at its highest exceeds the workers. busy and again are, by
// class, the mean seconds of a worker and retries that a job takes.
func (c *validator) checkOffered(busy, again []float64) {
	jobs, workers := c.sc.Jobs, float64(c.sc.Engine.Nodes)*float64(c.sc.Engine.Workers)
	capacity := plain.Plural(int(workers), "worker")
	if most := estimate.Limit(c.sc.Engine.MaxInFlight); most < workers {
		workers, capacity = most, fmt.Sprintf("%.0f in flight at once", most)
	}
	load := func(i int) float64 { return jobs[i].Arrivals.MeanRate() * busy[i] }
	loadAt := func(at spec.Duration) (total float64, active []int) {
		for k := range jobs {
			if a := &jobs[k].Arrivals; a.Start <= at && at < a.End(c.sc.Duration) && a.MeanRate() > 0 {
				total, active = total+load(k), append(active, k)
			}
		}
		return total, active
	}
	// the load at the busiest time, the indexes of the classes active then, and from when
	worst, classes, from := 0.0, []int(nil), spec.Duration(0)
	for i := range jobs {
		if total, active := loadAt(jobs[i].Arrivals.Start); total > worst {
			worst, classes, from = total, active, jobs[i].Arrivals.Start
		}
	}
	if workers < 1 || worst <= workers {
		return
	}
	var terms []string
	heaviest, retries := classes[0], ""
	for _, i := range classes {
		terms = append(terms, meanText(&jobs[i].Arrivals)+" × "+plain.Duration(busy[i]))
		if again[i] > 0 {
			retries = ", retries included"
		}
		if load(i) >= load(heaviest) {
			heaviest = i
		}
	}
	end := c.sc.Duration // of the overload
	for i := range jobs {
		stop := jobs[i].Arrivals.End(c.sc.Duration)
		if left, _ := loadAt(stop); stop > from && left <= workers {
			end = min(end, stop)
		}
	}
	sum, even := strings.Join(terms, " + "), ""
	if len(terms) > 1 {
		sum = "(" + sum + ")"
	}
	if len(c.sc.Storms) > 0 {
		even = " even without the storm"
	}
	c.In("jobs", heaviest).Warn(true, "arrivals.rate", "offered load is %s × the capacity%s%s",
		plain.Digits(worst/workers, 3), even, c.grows(end)).Note = fmt.Sprintf("%s ÷ %s%s", sum, capacity, retries)
}

// checkTotal adds an error for more jobs, with bursts, than a run can have. at: the node of the largest arrival rate.
func (c *validator) checkTotal(jobs float64, at *yaml.Node) {
	for i := range c.sc.Storms {
		s := &c.sc.Storms[i]
		more := estimate.BurstJobs(c.sc, s)
		if jobs += more; s.Effect().Class != "" && (at == nil || more > reference.MostJobs/2) {
			at = c.In("storms", i).Place(s.Kind())
		}
	}
	if jobs > reference.MostJobs && at != nil {
		c.Errorf(at, "one run would have %s jobs: at most %s", many(jobs), many(reference.MostJobs)).Help =
			"lower the rate or the duration"
	}
}

// many returns a number of jobs as text, such as 1,000,000,050.
func many(jobs float64) string { return plain.Grouped(plain.Digits(jobs, 1)) }

// meanText returns the mean arrival rate of a class as text for a warning, such as "72/s", as in the file if possible.
func meanText(a *spec.Arrivals) string {
	if a.Rate.Num > 0 && a.On == nil {
		return a.Rate.String()
	}
	return plain.Digits(a.MeanRate(), 3) + "/s"
}

// checkEndless adds an error if the jobs of class i that fail are retried without a pause, so that virtual time stands
// still, or more often than one run can simulate.
func (c *validator) checkEndless(i int) {
	if !c.Sound() {
		return
	}
	most, takes, jobs := estimate.Attempts(c.sc, i)
	in, workers := c.In("jobs", i), float64(c.sc.Engine.Nodes)*float64(c.sc.Engine.Workers)
	if math.IsInf(most, 1) {
		in.Fault(true, "", "jobs that fail would be tried again and again at one instant: the run would never end").Help =
			"limit max-attempts, or let a retry, an attempt or the store take some time"
		return
	}
	e := tooOften(in, "", most, "attempts")
	e.Help = "limit max-attempts, or let a retry, an attempt or the store take longer"
	e.Note = fmt.Sprintf("they fail after %s on %.0f workers", plain.Duration(takes), min(workers, jobs))
}

// checkExpiries adds an error if leases expire and are recovered at once (reaper.every: 0s) so often that a run is too
// large: leases of workers without heartbeats, or those under which the reaper holds recovered jobs.
func (c *validator) checkExpiries() {
	e := &c.sc.Engine
	if e.Reaper.Every > 0 || e.Lease.Lasts() <= 0 || !c.Sound() || tooLarge(e) {
		return
	}
	holders, who := float64(e.Nodes), "nodes"
	if e.Lease.Heartbeat == 0 || e.Lease.Heartbeat >= e.Lease.Lasts() {
		holders, who = holders*max(1, float64(e.Workers)), "workers"
	}
	cycle := (e.Lease.Lasts() + e.Reaper.Grace).Std().Seconds() + 2*e.Store.Recover.Dist().Mean()
	times := c.sc.Longest().Seconds() / cycle * holders
	tooOften(c.In("engine"), "lease.ttl", times, "recoveries").Note =
		fmt.Sprintf("every %s for %v on %.0f %s", plain.Duration(cycle), spec.Duration(c.sc.Longest()), holders, who)
}

// tooOften adds an error at a key if a run would have more events of a kind (what, in plural) than reference.MostTicks.
func tooOften(in checks.Section, key string, times float64, what string) *quantity.Error {
	const most = reference.MostTicks
	return in.Fault(times > most, key, "one run would make %.2g %s: at most %.0g", times, what, float64(most))
}

// tooLarge reports whether the engine has more nodes or workers than allowed, which other checks report as an error.
func tooLarge(e *spec.Engine) bool {
	return int(e.Nodes) > reference.MostOf("engine.nodes") || int(e.Workers) > reference.MostOf("engine.workers")
}
