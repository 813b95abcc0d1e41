package scenarios

import (
	"fmt"
	"math"
	"slices"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/policies"
)

// mostTries is the highest limit of attempts of one job that is treated as a limit: a higher one is as good as none.
const mostTries = 1000

// failing is one way in which attempts of a job class can fail, with its share.
type failing struct {
	kinds []string // possible error kinds
	share float64  // share of the attempts, in (0, 1]
	jobs  float64  // number of jobs that may fail in this way
	takes float64  // mean seconds of such an attempt
	lasts float64  // number of seconds of the run in which attempts fail in this way
}

// checkEndless refuses a class whose jobs would fail again and again at one instant, so that the run never ends, or too
// often for one run.
func (c *checker) checkEndless(i int, job *JobClass) {
	if !c.sound() || i >= len(c.sc.retry) {
		return
	}
	r := &c.sc.retry[i]
	b, err := r.retryPolicy(func(string) engine.ErrorKind { return engine.NoError })
	if err != nil {
		return // an error has already been reported
	}
	most, worst := 0.0, failing{}
	for _, f := range c.failings(i, job) {
		if times := c.attempts(&f, r, b); times > most {
			most, worst = times, f
		}
	}
	switch workers := float64(c.sc.Engine.Nodes) * float64(c.sc.Engine.Workers); {
	case math.IsInf(most, 1):
		c.errorf(c.near("jobs", i), "jobs that fail would be tried again and again at one instant: the run would never end").Help =
			"limit max-attempts, or let a retry, an attempt or the store take some time"
	case most > mostTicks:
		e := c.errorf(c.near("jobs", i), "one run would make %.1g attempts: at most %.0g", most, float64(mostTicks))
		e.Help = "limit max-attempts, or let a retry, an attempt or the store take longer"
		e.Note = fmt.Sprintf("they fail after %s on %.0f workers", seconds(worst.takes), min(workers, worst.jobs))
	}
}

// attempts returns the number of attempts that can fail in the way f under the retry settings r, or the same as a
// policy, b: +Inf if no time passes between attempts, and 0 if the retries end soon.
func (c *checker) attempts(f *failing, r *Retry, b *policies.Backoff) float64 {
	most := 0.0
	for _, kind := range f.kinds {
		var delay float64
		switch free := slices.Contains(r.Free, kind) && (r.FreeMax < 0 || r.FreeMax > mostTries); {
		case slices.Contains(r.Never, kind):
			continue
		case free:
			delay = freeDelay(b)
		case r.MaxAttempts == 0 || r.MaxAttempts > mostTries:
			delay = lateDelay(b, c.total().Seconds())
		default:
			continue
		}
		cycle := delay + f.takes + c.overhead(f.jobs)
		if cycle == 0 {
			return math.Inf(1)
		}
		workers := float64(c.sc.Engine.Nodes) * float64(c.sc.Engine.Workers)
		times := f.lasts / cycle * min(workers, f.jobs)
		if f.share < 1 {
			times = min(times, f.jobs/(1-f.share))
		}
		most = max(most, times)
	}
	return most
}

// overhead returns the mean seconds between a failed attempt and the next, without backoff and waiting: the store calls
// and the commit's linger, if that many jobs fail.
func (c *checker) overhead(jobs float64) float64 {
	e := &c.sc.Engine
	time := 2 * (e.Store.Claim.Dist().Mean() + e.Store.Commit.Dist().Mean() + 2*e.Store.PerJob.Dist().Mean())
	if jobs >= float64(e.Commit.Batch) {
		return time // a full batch does not linger
	}
	return time + e.Commit.Linger.Std().Seconds()
}

// lateDelay returns the mean backoff, in seconds, after the last failure of a job that fits into total seconds.
func lateDelay(b *policies.Backoff, total float64) float64 {
	delay, passed := 0.0, 0.0
	for n := int32(1); n <= 1<<20 && passed <= total; n *= 2 {
		delay = meanDelay(b, n)
		passed += delay * float64(n)
	}
	return delay
}

// freeDelay returns the least mean backoff, in seconds: that of a job whose failures do not count, so that its backoff
// does not grow.
func freeDelay(b *policies.Backoff) float64 {
	delay, most := math.Inf(1), 32
	if b.MaxAttempts > 0 {
		most = min(most, b.MaxAttempts)
	}
	for n := 1; n <= most; n++ {
		delay = min(delay, meanDelay(b, int32(n)))
	}
	return delay
}

// meanDelay returns the mean delay after the n-th failure in seconds, with jitter.
func meanDelay(b *policies.Backoff, n int32) float64 {
	if d, ok := b.Distribution.(dist.Dist); ok && b.Kind == policies.Random {
		mean := d.Mean()
		if b.Max > 0 {
			mean = min(mean, b.Max.Seconds())
		}
		return mean
	}
	forgiving := *b
	forgiving.Count, forgiving.Deadline, forgiving.Never = policies.CountClaim, 0, nil
	job := engine.Job{Failures: n - 1, LastDelay: b.Delay(1)}
	const draws = 16
	sum := 0.0
	for i := range draws {
		_, delay := forgiving.Next(&job, engine.NoError, (float64(i)+0.5)/draws)
		sum += delay.Seconds()
	}
	return sum / draws
}

// failings returns the ways in which attempts of a class can fail.
func (c *checker) failings(i int, job *JobClass) []failing {
	jobs, total := c.jobsOf(job), c.total().Seconds()
	var all []failing
	add := func(kinds []string, share, jobs, takes, lasts float64) {
		if share > 0 {
			all = append(all, failing{kinds, share, jobs, takes, min(lasts, total)})
		}
	}
	own := job.Fails.kinds()
	add(own, job.Fails.Rate.Float(), jobs, job.takes(job.Fails.Takes), total)
	if poison := job.Poison.Float(); poison > 0 {
		add(own, 1, max(1, jobs*poison), job.takes(job.Fails.Takes), total)
	}
	if limit := c.sc.TimeoutOf(i).Seconds(); limit > 0 {
		takes := limit
		if job.IgnoresCancel {
			takes = max(limit, job.takes(nil)) // its worker is busy for that long
		}
		add([]string{engine.Timeout.Name()}, above(job.Service.Dist(), limit), jobs, takes, total)
	}
	for k := range c.sc.Dependencies {
		d := &c.sc.Dependencies[k]
		if d.Name != job.Calls || d.Limit == nil || d.Over.Slow != nil {
			continue
		}
		share := 1.0
		if d.Over.Fail != nil {
			share = d.Over.Fail.Float()
		}
		add([]string{engine.Throttled.Name()}, share, jobs, job.takes(d.Over.RejectsIn), total)
	}
	for k := range c.sc.Storms {
		s := &c.sc.Storms[k]
		x := s.Effect()
		if x.Error != "" && (x.Dependency == "" && slices.Contains(c.sc.ClassesHit(x.Hits), i) || x.Dependency != "" && x.Dependency == job.Calls) {
			add([]string{x.Error}, x.Fails, jobs, job.takes(x.Takes), s.For.Std().Seconds()*s.windows())
		}
	}
	return all
}

// jobsOf returns the most jobs of a class: with bursts, the limit of a run for a trace, and at least one.
func (c *checker) jobsOf(job *JobClass) float64 {
	if job.Arrivals.Process == "trace" {
		return mostJobs
	}
	jobs := job.comes(c.sc.Duration)
	for k := range c.sc.Storms {
		if s := &c.sc.Storms[k]; s.Effect().Class == job.Class {
			jobs += c.sc.burstJobs(s)
		}
	}
	return max(1, jobs)
}

// takes returns an attempt's mean run time in seconds: of instead, or if it is nil the service time.
func (job *JobClass) takes(instead *Distribution) float64 {
	if instead != nil {
		return instead.Dist().Mean()
	}
	return job.Service.Dist().Mean()
}

// kinds returns the names of the error kinds that attempts may fail with.
func (f *Fails) kinds() []string {
	if len(f.Errors) == 0 {
		return []string{defaultError}
	}
	var kinds []string
	for _, e := range f.Errors {
		if e.Share.Num > 0 {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

// above returns the share of draws from d that are longer than limit seconds, accurate to a thousandth of a millionth.
func above(d dist.Dist, limit float64) float64 {
	if d.IsConstant() {
		if d.Mean() > limit {
			return 1
		}
		return 0
	}
	low, high := 0.0, 1.0
	for range 30 {
		if middle := (low + high) / 2; d.Sample(middle) > limit {
			high = middle
		} else {
			low = middle
		}
	}
	if low == 0 {
		return 1
	}
	if share := 1 - high; share > 1e-9 {
		return share
	}
	return 0
}

// checkExpiries reports too many recoveries for one run where each lease is recovered the instant it expires. A reaper
// holds recovered jobs under a lease of its own, which nothing extends; leases of workers expire too if there are no
// heartbeats in time.
func (c *checker) checkExpiries() {
	e := &c.sc.Engine
	if e.Reaper.Every > 0 || e.Lease.TTL <= 0 || !c.sound() || e.Nodes > mostNodes || e.Workers > mostWorkers {
		return
	}
	holders, who := float64(e.Nodes), "nodes"
	if e.Lease.Heartbeat == 0 || e.Lease.Heartbeat >= e.Lease.TTL {
		holders, who = holders*max(1, float64(e.Workers)), "workers"
	}
	cycle := (e.Lease.TTL + e.Reaper.Grace).Std().Seconds() + 2*e.Store.Recover.Dist().Mean()
	if times := c.total().Seconds() / cycle * holders; times > mostTicks {
		c.errorf(c.near("engine", "lease", "ttl"), "one run would make %.1g recoveries: at most %.0g", times, float64(mostTicks)).Note =
			fmt.Sprintf("every %s for %v on %.0f %s", seconds(cycle), Duration(c.total()), holders, who)
	}
}
