package check

import (
	"math"
	"time"

	"qsim/engine"
)

func (c *Checker) onEnqueued(e *engine.Event, r ref) {
	c.checks[NoLoss]++
	if r != noRef {
		c.complain(NoLoss, e, "it was enqueued before")
		return
	}
	r = c.jobs.add(e.Job)
	j := c.jobs.at(r)
	j.enqueued, j.tenant, j.kind = e.At, e.Tenant, e.JobKind
	c.toWaiting(j, engine.Fresh, e.Delay, e.Delay > 0)
	if c.rules.Serial == nil {
		return
	}
	if key := c.rules.Serial(e.Job); key != 0 {
		j.before, c.latest[key] = c.latest[key], e.Job
	}
}

// toWaiting counts a job that waits, if it does, or is ready at once.
func (c *Checker) toWaiting(j *job, class engine.Class, delay time.Duration, waits bool) {
	due := c.now.Add(delay)
	if !waits || c.rules.Store.Held {
		c.toReady(j, class, due)
		return
	}
	j.state, j.class, j.ready = engine.Waiting, class, due
	c.counts.Waiting[class]++
	c.mostWaiting = max(c.mostWaiting, c.counts.Waiting[engine.Fresh]+c.counts.Waiting[engine.Retry])
}

func (c *Checker) onPromoted(e *engine.Event, j *job) {
	c.checks[Due]++
	switch {
	case j.state != engine.Waiting:
		c.complain(NoLoss, e, "it is %v", j.state)
		return
	case e.At < j.ready, !c.rules.Store.Promoted && e.At != j.ready:
		c.complain(Due, e, "it is due at %v", time.Duration(j.ready))
	case e.Class != j.class:
		c.complain(Conservation, e, "it is %v, not %v", j.class, e.Class)
	}
	c.promotedLate(e, j)
	c.counts.Waiting[j.class]--
	c.toReady(j, j.class, j.ready)
}

func (c *Checker) onLeased(e *engine.Event, r ref, j *job) {
	c.checks[Leases]++
	c.checks[Deliveries]++
	c.checks[Due]++
	c.checks[Recount]++
	switch {
	case j.state == engine.InFlight:
		c.complain(Leases, e, "node %d has it under token %d since %v", j.node, j.token, time.Duration(j.renewed))
		return
	case j.state != engine.Ready:
		c.complain(Due, e, "it is %v until %v", j.state, time.Duration(j.ready))
		return
	case e.Delivery != j.delivery+1:
		c.complain(Deliveries, e, "delivery %d comes after %d", e.Delivery, j.delivery)
	case e.Class != j.class:
		c.complain(Conservation, e, "it is %v, not %v", j.class, e.Class)
	case e.Waited != j.waitedAt(e.At) || e.Age != e.At.Sub(j.enqueued):
		c.complain(Recount, e, "it waited %v of %v, and says %v of %v", j.waitedAt(e.At), e.At.Sub(j.enqueued), e.Waited, e.Age)
	case j.before != 0 && c.isLive(j.before):
		c.complain(Due, e, "job %d of the same serial key comes first", j.before)
	}
	c.late(e, j)
	c.leave(r, j)
	c.inOrder(e, j)
	j.state, j.delivery, j.reaped, j.forgotten = engine.InFlight, e.Delivery, false, false
	mask := ^bit(j.delivery)
	j.begun, j.succeeded, j.failed = j.begun&mask, j.succeeded&mask, j.failed&mask
	j.started, j.finished = 0, 0
	j.node, j.life, j.claimed = e.Node, c.nodes[e.Node].life, e.At
	j.charged.add(1)
	j.last, j.peak = j.charged, max(j.peak, j.charged.most)
	c.attempt(e, j)
	c.raise(e, j)
	c.enter(e, r, j)
	c.bound(e, j)
	c.onShared(e)
	if n := &c.nodes[e.Node]; n.idleSince != engine.Never {
		n.idleSince = c.now // it has claimed
	}
}

// enter counts a job that comes to be in flight, or has another lease now.
func (c *Checker) enter(e *engine.Event, r ref, j *job) {
	c.counts.InFlight[inFlightAs(j)]++
	c.mostInFlight = max(c.mostInFlight, c.counts.InFlight[engine.Fresh]+c.counts.InFlight[engine.Retry])
	if !j.reaped && int(j.kind) < len(c.running) {
		c.running[j.kind]++
	}
	j.untimed, j.asked = false, 0
	c.jobs.enlist(r, e.At)
}

// isLive reports whether a job is neither done nor dead.
func (c *Checker) isLive(id engine.JobID) bool {
	r := c.jobs.find(id)
	return r != isDone && c.jobs.at(r).state != engine.Dead
}

// raise takes over the token of a lease, which must be above all earlier ones.
func (c *Checker) raise(e *engine.Event, j *job) {
	if e.Token <= j.token {
		c.complain(Leases, e, "token %d comes after %d", e.Token, j.token)
	}
	j.token = e.Token
}

// attempt checks that a job may be claimed once more.
func (c *Checker) attempt(e *engine.Event, j *job) {
	retry := c.rules.retry(j.kind)
	if retry == nil || retry.MaxAttempts == 0 || retry.ByFailure || !c.d.attempts {
		return
	}
	c.checks[Limit]++
	if j.charged.least > retry.MaxAttempts {
		c.complain(Limit, e, "it is attempt %d of %d", j.charged.least, retry.MaxAttempts)
	}
}

// bound checks that no more is in flight than may be.
func (c *Checker) bound(e *engine.Event, j *job) {
	if !c.d.bounded {
		return
	}
	n := c.counts.InFlight[engine.Fresh] + c.counts.InFlight[engine.Retry]
	if most := c.rules.Store.MaxInFlight; most > 0 && n > most {
		c.complain(Due, e, "%d jobs are in flight, and %d may be", n, most)
	}
	if int(j.kind) >= len(c.running) {
		return
	}
	if most := c.rules.Store.MaxRunning[j.kind]; most > 0 && c.running[j.kind] > most {
		c.complain(Due, e, "%d jobs of its class are in flight, and %d may be", c.running[j.kind], most)
	}
}

func (c *Checker) onTaken(e *engine.Event, r ref, j *job) {
	c.checks[Leases]++
	switch {
	case j.state != engine.InFlight:
		c.complain(Leases, e, "it is %v", j.state)
		return
	case e.Delivery != j.delivery:
		c.complain(Deliveries, e, "it is of delivery %d, not %d", j.delivery, e.Delivery)
	case j.forgotten && !c.rules.Store.Orphans && c.rules.Node.Reaper.Guard == engine.FenceDefault: // else it may have been read before
		c.complain(Leases, e, "the record of its lease is lost")
	case e.At < c.takeable(j):
		c.complain(Leases, e, "its lease ends at %v", time.Duration(c.takeable(j)))
	}
	c.beatsTo(j)
	c.saysIn(e, j)
	c.leave(r, j)
	c.recovered(j)
	j.reaped, j.forgotten, j.claimed = true, false, e.At
	c.raise(e, j)
	c.enter(e, r, j)
}

// recovered counts a recovery. A reaper that reads first has counted before: what lapses in
// between may have counted for it.
func (c *Checker) recovered(j *job) {
	within, before := c.rules.Store.RecoveriesWithin, j.recoveries
	if within > 0 && c.now.Sub(j.recovered) > within {
		j.recoveries = 0
	}
	if j.recoveries == 0 {
		j.recovered = c.now
	}
	j.recoveries++
	j.counted = span{j.recoveries, j.recoveries}
	if c.rules.Node.Reaper.Guard != engine.FenceDefault {
		j.counted.most = before + 1
	}
	if j.vague {
		j.counted = span{0, math.MaxInt32}
	}
	j.most = max(j.most, j.counted.most)
}

// takeable is the earliest that the lease of a job may be taken, as far as that is known.
func (c *Checker) takeable(j *job) engine.Time {
	reaper := &c.rules.Node.Reaper
	switch {
	case !c.d.timed, j.untimed, j.forgotten:
	case reaper.Guard == engine.FenceDefault:
		return j.ended(&c.d).Add(reaper.Grace)
	case reaper.Guard == engine.FenceToken:
		// It had ended when it was read, and has been extended since, or not; but it is
		// the same lease.
		return j.claimed.Add(c.d.ttl).Add(reaper.Grace)
	}
	return 0
}

func (c *Checker) onForgotten(e *engine.Event, r ref, j *job) {
	if j.state != engine.InFlight || j.forgotten || e.Delivery != j.delivery {
		c.complain(Leases, e, "it is %v in delivery %d, not %d", j.state, j.delivery, e.Delivery)
		return
	}
	c.jobs.delist(r) // it has no end
	j.forgotten = true
}

func (c *Checker) onExtended(e *engine.Event, r ref, j *job) {
	c.checks[Fencing]++
	c.onAsked(e, j)
	current := j.state == engine.InFlight && !j.forgotten
	if c.rules.Store.Fence == engine.FenceToken {
		current = current && e.Token == j.token
	}
	if e.Kind == engine.ExtendRefused {
		if current && !j.mayLapse(&c.d, e.At) && c.rules.Store.Fence != engine.FenceNone {
			c.complain(Fencing, e, "the lease is current")
		}
		return
	}
	if !current || c.d.timed && !j.untimed && j.lapsed(&c.d, e.At) {
		c.complain(Fencing, e, "it is %v under token %d, the lease was to end at %v", j.state, j.token, time.Duration(j.ended(&c.d)))
		return
	}
	j.untimed = c.rules.Node.Lease.AckAtStart
	c.jobs.delist(r)
	c.jobs.enlist(r, e.At)
}

func (c *Checker) onRedriven(e *engine.Event, j *job) {
	if j.state != engine.Dead {
		c.complain(Final, e, "it is %v", j.state)
		return
	}
	c.counts.Dead--
	if retry := c.rules.retry(j.kind); retry != nil && retry.MaxAttempts > 0 {
		j.charged.least = min(j.charged.least, retry.MaxAttempts-1) // it may be claimed once more
	}
	if c.rules.Resets {
		j.charged.least, j.failures.least = 0, 0
		j.charged.most, j.failures.most = math.MaxInt32/2, math.MaxInt32/2
		j.vague = true
	}
	j.odd = true
	c.toReady(j, e.Class, e.At)
}
