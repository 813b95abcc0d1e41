package check

import (
	"slices"
	"time"

	"qsim/engine"
)

// fence is what an outcome must match that e records.
func (c *Checker) fence(e *engine.Event) engine.Fence {
	fence := c.rules.Store.Fence
	if e.Error == engine.LeaseExpired { // it may be a reaper's, under a guard of its own
		fence = max(fence, c.rules.Node.Reaper.Guard.Or(fence))
	}
	if c.rules.Sheds && e.Kind == engine.Buried && e.From == engine.Ready {
		fence = engine.FenceNone
	}
	return fence
}

func (c *Checker) onCommitted(e *engine.Event, r ref, j *job) {
	c.checks[Fencing]++
	fence := c.fence(e)
	switch {
	case e.From != j.state:
		c.complain(Conservation, e, "it was %v, not %v", j.state, e.From)
		return
	case fence != engine.FenceNone && j.state != engine.InFlight,
		fence == engine.FenceToken && e.Token != j.token:
		c.complain(Fencing, e, "it is %v under token %d, the outcome has %d", j.state, j.token, e.Token)
	case fence == engine.FenceToken && c.d.timed && !j.untimed && !j.forgotten && !j.reaped && j.lapsed(&c.d, e.At):
		c.complain(Fencing, e, "its lease lapsed at %v", time.Duration(j.ended(&c.d).Add(c.d.lapse)))
	}
	if e.Error == engine.LeaseExpired && e.From != engine.InFlight && c.rules.Node.Reaper.Guard != engine.FenceDefault {
		c.recovered(j) // what was in flight when it was read
	}
	c.judge(e, j)
	j.committed = e.Token
	class := engine.Retry
	if j.delivery == 0 {
		class = engine.Fresh
	}
	c.leave(r, j)
	j.odd = e.Kind == engine.Returned || e.Error == engine.LeaseExpired
	switch e.Kind {
	case engine.Acked:
		c.jobs.finish(r)
	case engine.Buried:
		j.state = engine.Dead
		if e.From == engine.Ready { // shed: that is no failure of its own
			j.failures.most++
		} else {
			j.failures.add(1)
		}
		c.counts.Dead++
	case engine.Nacked:
		c.onNacked(e, j)
		c.toWaiting(j, class, e.Delay, true)
	case engine.Returned:
		c.onReturned(e, j)
		due := e.At
		if c.rules.Store.Held {
			due = max(due, j.ready)
		}
		c.toReady(j, class, due)
	}
}

// judge checks that an outcome is what came of its execution.
func (c *Checker) judge(e *engine.Event, j *job) {
	c.checks[Effects]++
	switch {
	case e.Delivery <= j.delivery-64: // forgotten
	case e.Kind == engine.Acked:
		if j.succeeded&bit(e.Delivery) == 0 {
			c.complain(Effects, e, "delivery %d did not succeed", e.Delivery)
		}
	case e.Error == engine.LeaseExpired:
		if c.d.fenced && !j.reaped {
			c.complain(Effects, e, "no reaper has it")
		}
	case e.Error != engine.Canceled && e.From != engine.Ready:
		if j.failed&bit(e.Delivery) == 0 {
			c.complain(Effects, e, "delivery %d did not fail", e.Delivery)
		}
	}
	retry := c.rules.retry(j.kind)
	if retry == nil {
		return
	}
	if e.Kind == engine.Buried {
		c.judgeDeath(e, j, retry)
	}
	if e.Kind == engine.Nacked || e.Kind == engine.Returned {
		c.judgeRequeue(e, j, retry)
	}
	if (e.Kind == engine.Nacked || e.Kind == engine.Returned && e.Error != engine.Canceled) && !c.rules.Node.Reaper.Nothing && slices.Contains(retry.Never, e.Error) {
		c.complain(Limit, e, "such an error buries")
	}
}

// judgeDeath checks that a job had a reason to die. Without a fence by token whoever had it
// some time may say so, by what was counted then.
func (c *Checker) judgeDeath(e *engine.Event, j *job, retry *Retry) {
	c.checks[Limit]++
	reaper := &c.rules.Node.Reaper
	attempts, recovered := j.charged.most, j.counted.most
	if !c.d.attempts {
		c.parts[Unfenced]++
		attempts, recovered = max(attempts, j.peak), max(recovered, j.most)
	}
	if retry.ByFailure {
		attempts = j.failures.most + 1
	}
	reaped := e.Error == engine.LeaseExpired && (reaper.After == engine.DeadAtOnce || reaper.BuryAt > 0 && recovered >= reaper.BuryAt)
	switch {
	case reaped, retry.Aged, slices.Contains(retry.Never, e.Error), e.From == engine.Ready && c.rules.Sheds:
	case retry.MaxAttempts > 0 && attempts >= retry.MaxAttempts:
	default:
		c.complain(Limit, e, "it has had %d of %d attempts, and was recovered %d times of %d", attempts, retry.MaxAttempts, recovered, reaper.BuryAt)
	}
}

// judgeRequeue checks that no job goes on that should have been buried. Without a fence by
// token only those are judged who had its latest lease: others went by what was counted
// before.
func (c *Checker) judgeRequeue(e *engine.Event, j *job, retry *Retry) {
	reaper := &c.rules.Node.Reaper
	expired := e.Error == engine.LeaseExpired
	if e.Delivery != j.delivery || e.From != engine.InFlight || e.Error == engine.Canceled || !c.d.attempts && e.Token != j.token {
		return
	}
	if !c.d.attempts {
		c.hold(Limit, Unfenced)
	}
	exact := c.d.attempts || reaper.Guard <= engine.FenceToken
	if expired && (reaper.After == engine.DeadAtOnce || exact && reaper.BuryAt > 0 && j.counted.least >= reaper.BuryAt) {
		c.checks[Limit]++
		c.complain(Limit, e, "it was recovered %d times, and was to be buried at %d", j.counted.least, reaper.BuryAt)
	}
	if c.d.attempts || expired && reaper.Nothing || retry.ByFailure || retry.MaxAttempts == 0 || retry.isFree(e.Error) {
		return // with a fence, the next claim is one too many
	}
	c.checks[Limit]++
	if j.last.least >= retry.MaxAttempts {
		c.complain(Limit, e, "it was attempt %d of %d", j.last.least, retry.MaxAttempts)
	}
}

// onNacked counts a failure, and checks its delay.
func (c *Checker) onNacked(e *engine.Event, j *job) {
	retry := c.rules.retry(j.kind)
	if retry == nil {
		return
	}
	if retry.Delay != nil && c.d.fenced {
		c.checks[Delays]++
		n := min(j.failures.most, 1<<20) // no delay grows for longer
		shortest, longest := retry.Delay(n + 1)
		if least := min(j.failures.least, n); least < n {
			a, b := retry.Delay(least + 1)
			shortest, longest = min(a, shortest), max(b, longest)
		}
		if e.Delay < shortest || e.Delay > longest {
			c.complain(Delays, e, "a delay of %v after failure %d, want %v to %v", e.Delay, n+1, shortest, longest)
		}
	}
	switch {
	case !retry.isFree(e.Error):
		j.failures.add(1)
	case !c.d.fenced || j.vague: // a failure or a snooze
		j.failures.most++
		if e.From == engine.InFlight {
			j.charged.least--
		}
	case retry.FreeMax < 0 || j.snoozes < retry.FreeMax:
		j.snoozes++
		j.charged.add(-1)
	default:
		j.failures.add(1)
	}
}

// onReturned counts what a job that is ready at once is given back, or not.
func (c *Checker) onReturned(e *engine.Event, j *job) {
	retry := c.rules.retry(j.kind)
	switch {
	case e.From != engine.InFlight:
		j.failures.most++
	case e.Error == engine.Canceled || c.rules.Node.Reaper.Nothing:
		j.charged.add(-1)
	case retry == nil || !retry.isFree(e.Error): // it is redone
		j.failures.add(1)
	case !c.d.fenced || j.vague:
		j.failures.most++
		j.charged.least--
	case retry.FreeMax < 0 || j.snoozes < retry.FreeMax: // a snooze that became a return counts as none
		j.charged.add(-1)
	default:
		j.failures.add(1)
	}
}

func (c *Checker) onFenced(e *engine.Event, j *job) {
	c.drops(e, j)
	c.checks[Fencing]++
	c.checks[Atomicity]++
	if j.state == engine.InFlight && !j.mayLapse(&c.d, e.At) {
		fence := c.rules.Store.Fence
		if e.Error == engine.LeaseExpired && c.rules.Node.Reaper.Guard != engine.FenceDefault {
			fence = engine.FenceToken // the strictest there may be
		}
		if e.Token == j.token || fence == engine.FenceState {
			c.complain(Fencing, e, "the lease under token %d is current", j.token)
		}
		return
	}
	// One process says once what becomes of a lease: this is a copy of what has taken
	// effect, and should have been recognised as that.
	n := &c.nodes[e.Node]
	asRead := e.Error == engine.LeaseExpired && c.rules.Node.Reaper.Guard != engine.FenceDefault // a reaper's, of a lease that it had only read
	if c.d.fenced && !asRead && e.Token == j.committed && e.Node == j.node && j.life == n.life && !n.returnsLate {
		c.complain(Atomicity, e, "the outcome under token %d took effect already", e.Token)
	}
}

func (c *Checker) onGaveUp(e *engine.Event, r ref) {
	if r != noRef && r != isDone {
		c.drops(e, c.jobs.at(r))
	}
	c.checks[Atomicity]++
	commit := &c.rules.Node.Commit
	if commit.Tries == 0 || commit.GiveUp != engine.Drop {
		c.complain(Atomicity, e, "it was to be tried for ever")
	}
}
