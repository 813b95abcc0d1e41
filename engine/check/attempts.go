package check

import (
	"slices"
	"time"

	"qsim/engine"
)

// The rules of retry policies: how often a job is tried, when it dies, how long it waits.

// mayBeTried checks that another attempt at a job, which a claim begins, is within the job's limit on attempts.
func (c *Checker) mayBeTried(s *subject) bool {
	retry, attempt := c.rules.retry(s.j.kind), s.j.charged.least+1
	if retry.MaxAttempts == 0 || retry.ByFailure {
		return false
	}
	return attempt <= retry.MaxAttempts || c.complain(Limit, "it is attempt %d of %d", attempt, retry.MaxAttempts)
}

// Asked checks the arguments of a node's call of its retry policy at time now: it is a breach if the failed job is not
// as recorded, or if the uniform draw for jitter repeats that of another delivery of the job.
func (c *Checker) Asked(now engine.Time, node int32, have *engine.Job, draw float64) {
	_, j := c.caughtUp().jobs.find(have.ID)
	if c.breach != nil || j == nil {
		return
	}
	c.checks[Recount]++
	if j.drawn != 0 && j.drawn != have.Delivery && j.draw == draw {
		c.Complain(Delays, j.id, "the jitter after delivery %d is drawn as that after %d", have.Delivery, j.drawn)
	}
	j.draw, j.drawn = draw, have.Delivery
	if !c.d.fenced || j.state != engine.InFlight || j.delivery != have.Delivery {
		return // another engine has the lease, or has had it since
	}
	if have.LastDelay < j.delay || have.LastDelay-j.delay > j.passed {
		c.Complain(Recount, j.id, "its latest delay was %v, and the retry policy is told %v", j.delay, have.LastDelay)
	}
	if j.reaped && c.at.Job == j.id && (c.at.Kind == engine.Finished || c.at.Kind == engine.TimedOut) {
		return // the former holder asks, whose lease began earlier
	}
	n := &c.nodes[node]
	prompt := c.heard(j.claimed) && n.woke < j.claimed && !n.returnsLate
	if age := now.Sub(j.enqueued); have.Age > age || prompt && have.Age < age-c.rules.Way {
		c.Complain(Recount, j.id, "it is %v old, and the retry policy is told %v", age, have.Age)
	}
}

// Told records that a node's fetch policy was told the end of an execution: Released checks that it was told of all.
func (c *Checker) Told(node int32) { c.nodes[node].untold-- }

// mayDie checks that a job was buried for a reason: the limit on attempts or recoveries, the error kind, or its age.
// Without a fence by token earlier holders may bury it too, so that its highest counts so far apply.
func (c *Checker) mayDie(s *subject) bool {
	j, retry, reaper := s.j, c.rules.retry(s.j.kind), &c.rules.Node.Reaper
	recoveries := c.jobs.recoveries[s.r]
	attempts, recovered := j.charged.most, recoveries.counted.most
	if !c.d.fenced {
		attempts, recovered = max(attempts, j.unfenced.most), max(recovered, recoveries.most)
	}
	if retry.ByFailure {
		attempts = j.failures.most + 1
	}
	reaped := reaper.After == engine.Bury || reaper.BuryAt > 0 && recovered >= reaper.BuryAt
	return reaped && s.Error == engine.LeaseExpired || s.Aged && c.tooOld(s) ||
		slices.Contains(retry.Never, s.Error) ||
		s.From == engine.Ready && c.rules.Sheds > 0 && c.now.Sub(j.ready) > c.rules.Sheds ||
		retry.MaxAttempts > 0 && attempts >= retry.MaxAttempts ||
		c.complain(Limit, "it has had %d of %d attempts, and was recovered %d times of %d",
			attempts, retry.MaxAttempts, recovered, reaper.BuryAt)
}

// mayGoOn checks that a job that is to be retried did not have to be buried, by its limits on attempts and recoveries
// or its age. Without a fence by token only outcomes of its latest lease are judged: others depend on earlier counts.
func (c *Checker) mayGoOn(s *subject) bool {
	j, retry, reaper := s.j, c.rules.retry(s.j.kind), &c.rules.Node.Reaper
	expired := s.Error == engine.LeaseExpired
	if s.Delivery != j.delivery || s.From != engine.InFlight || s.Error == engine.Canceled ||
		!c.d.fenced && s.Token != j.token {
		return false
	}
	exact, recovered := c.d.fenced || reaper.Guard <= engine.FenceToken, c.jobs.recoveries[s.r].counted.least
	switch {
	case expired && (reaper.After == engine.Bury || exact && reaper.BuryAt > 0 && recovered >= reaper.BuryAt):
		return c.complain(Limit, "it was recovered %d times, and was to be buried at %d", recovered, reaper.BuryAt)
	case !(expired && reaper.Nothing) && !c.d.asRead(s.Event) && c.comesTooLate(s):
		return c.complain(Limit, "another attempt in %v comes at its deadline or later", s.Delay)
	case c.d.fenced: // the next claim will exceed the limit
		return false
	case expired && reaper.Nothing, retry.ByFailure, retry.MaxAttempts == 0, retry.isFree(s.Error):
	case j.unfenced.least >= retry.MaxAttempts:
		c.complain(Limit, "it was attempt %d of %d", j.unfenced.least, retry.MaxAttempts)
	}
	return true
}

func (c *Checker) burySuch(s *subject) bool {
	return s.Kind == engine.Returned && s.Error == engine.Canceled || c.rules.Node.Reaper.Nothing ||
		!slices.Contains(c.rules.retry(s.j.kind).Never, s.Error) || c.complain(Limit, "such an error buries")
}

// tooOld reports whether a job buried for its age was old enough: its retry may have come at its Deadline or later.
func (c *Checker) tooOld(s *subject) bool {
	j, k, longest := s.j, c.rules.kind(s.j.kind), engine.Forever
	if retry := c.rules.retry(j.kind); retry.Delay != nil {
		_, longest, _ = c.delays(j, retry)
	}
	if k.From == engine.Leased && !c.d.asRead(s.Event) { // part of the delay is over
		longest -= min(longest, s.At.Sub(j.claimed))
	}
	return k.Deadline > 0 && longest >= k.Deadline-s.At.Sub(j.enqueued)
}

// comesTooLate reports whether a retry comes at its job's KindConfig.Deadline or later: at the age that the job had at
// its claim or recovery, plus the run time of the attempt, plus what is left of the delay.
func (c *Checker) comesTooLate(s *subject) bool {
	j, k := s.j, c.rules.kind(s.j.kind)
	age := j.claimed.Sub(j.enqueued)
	if s.Error != engine.LeaseExpired {
		age += max(0, j.finished.Sub(j.started))
	}
	return k.Deadline > 0 && age >= k.Deadline-s.Delay
}

// delays returns the shortest and the longest delay after the job's next failure, and the highest number that this
// failure may have. Without a fence by token it may be of an earlier holder, which knows of fewer failures.
func (c *Checker) delays(j *job, retry *Retry) (shortest, longest time.Duration, failure int32) {
	n, least := min(j.failures.most, 1<<20), int32(0) // delays stop growing before
	if c.d.fenced {
		least = min(j.failures.least, n)
	}
	shortest, longest = retry.Delay(least+1, n+1)
	return shortest, longest, n + 1
}

func (c *Checker) delaysSo(s *subject) bool {
	j, retry := s.j, c.rules.retry(s.j.kind)
	if retry.Delay == nil {
		return false
	}
	shortest, longest, failure := c.delays(j, retry)
	k := c.rules.kind(s.JobKind)
	if shortest -= k.Grain; k.From != 0 {
		shortest -= s.At.Sub(j.claimed) // part of the delay is over
	}
	if k.From != 0 && c.d.asRead(s.Event) {
		shortest = 0 // all of the delay may be over, since the lease was read earlier
	}
	return s.Delay >= shortest && s.Delay <= longest ||
		c.complain(Delays, "a delay of %v after failure %d, want %v to %v", s.Delay, failure, shortest, longest)
}
