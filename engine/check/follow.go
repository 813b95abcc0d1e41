package check

import (
	"math"

	"qsim/engine"
)

// followers update the records of jobs and processes after events of some kinds: the last one listed for a kind does.
var followers = []struct {
	on     kinds
	follow func(c *Checker, s *subject)
}{
	{^kinds(0), (*Checker).followMachine},
	{called, (*Checker).followCall},
	{claims, (*Checker).followClaimCall},
	{looks, (*Checker).followRecoverCall},
	{of(engine.Enqueued), (*Checker).followEnqueued},
	{of(engine.Promoted), (*Checker).followPromoted},
	{leased, (*Checker).followLeased},
	{taken, (*Checker).followTaken},
	{of(engine.LeaseForgotten), (*Checker).followForgotten},
	{committed, (*Checker).followCommitted},
	{of(engine.Fenced, engine.GaveUp), (*Checker).drops},
	{of(engine.LeaseLost), (*Checker).followLost},
	{of(engine.Extended, engine.ExtendRefused), (*Checker).followExtension},
	{of(engine.Redriven), (*Checker).followRedriven},
	{started, (*Checker).followStarted},
	{ended, (*Checker).followEnded},
}

func (c *Checker) followPromoted(s *subject) {
	c.counts.Waiting[s.j.class]--
	c.toReady(s.j, s.j.class, s.j.ready)
}

func (c *Checker) followTaken(s *subject) {
	j := s.j
	c.leave(j)
	c.recovered(s)
	if j.dropped == j.token {
		j.dropped = s.Token
	}
	j.reaped, j.forgotten, j.claimed, j.token = true, false, s.At, s.Token
	c.enter(s.r, j)
}

func (c *Checker) followForgotten(s *subject) {
	c.jobs.delist(s.j) // the lease has no end
	s.j.forgotten = true
}

// followLost follows the loss of a lease, a belief of the engine and not a fact.
func (c *Checker) followLost(s *subject) {
	c.drops(s)
	if x := s.x; s.runs() {
		if x.over, x.lost = true, true; x.told == 0 { // it does not time out any more
			x.told = c.now
		}
	}
}

func (c *Checker) followExtension(s *subject) {
	j := s.j
	if s.Token == j.token {
		j.asked = s.At
	}
	if s.Kind == engine.Extended {
		j.untimed = c.rules.Node.Lease.AckAtStart
		c.jobs.delist(j)
		c.jobs.enlist(s.r, j, s.At)
	}
}

func (c *Checker) followEnqueued(s *subject) {
	r, j := c.jobs.add(s.Job)
	if j == nil {
		c.complain(NoLoss, "it was enqueued before")
		return
	}
	j.enqueued, j.tenant, j.kind = s.At, s.Tenant, s.JobKind
	if t := c.tenant(j.tenant); t != nil {
		t.enqueued = s.At
	}
	c.toWaiting(j, engine.Fresh, s.At.Add(s.Delay), s.Delay > 0)
	if c.rules.Serial == nil {
		return
	}
	delete(c.earlier, r)
	if key := c.rules.Serial(s.Job); key != 0 {
		c.earlier[r], c.latest[key] = c.latest[key], s.Job
	}
}

// toWaiting records that a job waits until due or, if waits is false, is ready at once.
func (c *Checker) toWaiting(j *job, class engine.Class, due engine.Time, waits bool) {
	if !waits || c.rules.Store.Held {
		c.toReady(j, class, due)
		return
	}
	j.state, j.class, j.ready = engine.Waiting, class, due
	c.counts.Waiting[class]++
	c.mostWaiting = max(c.mostWaiting, sum(&c.counts.Waiting))
}

// sum returns the sum of two numbers of jobs, those of fresh jobs and of retries. It takes a pointer, as a copied array
// would wait for the last store to one of its elements.
func sum(of *[engine.NumClasses]int) int { return of[engine.Fresh] + of[engine.Retry] }

// toReady records that a job has become ready, in the given class; its wait counts from since.
func (c *Checker) toReady(j *job, class engine.Class, since engine.Time) {
	j.state, j.class, j.ready = engine.Ready, class, since
	c.placeInLine(j, class)
	if c.d.explained {
		c.load.spend(c.now)
		j.since, j.idled, j.others = c.now, c.load.idled, c.load.begun
	}
	if sum(&c.counts.Ready) == 0 {
		c.ready = c.now
		c.wake()
	}
	c.countReady(j, 1)
}

// placeInLine sets the ready key of a job that becomes ready, its position in line, by the rule of the store or reaper.
func (c *Checker) placeInLine(j *job, class engine.Class) {
	place := j.stand
	if place == engine.PlaceDefault {
		j.stood, place = j.ready, c.rules.Store.Place
		if class == engine.Fresh {
			place = engine.PlaceDefault
		}
	}
	switch place {
	case engine.PlaceTail:
		j.key = c.now
	case engine.PlaceCreated:
		j.key = j.enqueued
	case engine.PlaceHead:
		j.key = j.ready - engine.Never/2
	case engine.PlaceDue:
		j.key = j.stood
	default:
		j.key = j.ready
	}
	j.stand = engine.PlaceDefault
}

// countReady adds by (1 or -1) to the number of ready jobs of j's class (fresh or retry) and, for checks of claim
// orders, to those of its tenant and kind.
func (c *Checker) countReady(j *job, by int) {
	c.counts.Ready[j.class] += by
	if !c.d.counted {
		return
	}
	if c.d.byTenant {
		c.readied(j.tenant, by)
	}
	if c.d.ranked {
		*ofKind(c.ranks[j.class], j.kind) += by
	}
}

// leave takes a job out of the counts of its state, before that changes.
func (c *Checker) leave(j *job) {
	switch j.state {
	case engine.Ready:
		c.countReady(j, -1)
		if sum(&c.counts.Ready) == 0 {
			c.ready = engine.Never
		}
	case engine.Waiting:
		c.counts.Waiting[j.class]--
	case engine.InFlight:
		c.counts.InFlight[inFlightAs(j)]--
		if !j.forgotten {
			c.jobs.delist(j)
		}
		if c.d.counted {
			c.countRunning(j, -1)
		}
		c.nodes[j.node].toldOf(j)
	case engine.Dead:
		c.counts.Dead--
	}
}

// inFlightAs returns the class, fresh or retry, in which a job in flight is counted: retry from its second delivery on.
func inFlightAs(j *job) engine.Class {
	if j.delivery > 1 {
		return engine.Retry
	}
	return engine.Fresh
}

// countRunning adds by (1 or -1) to the jobs in flight of a job's kind, if the kind has a limit, and of its tenant.
func (c *Checker) countRunning(j *job, by int) {
	if c.d.byTenant {
		c.runs(j, by)
	}
	if int(j.kind) < len(c.running) && !j.reaped {
		c.running[j.kind] += by
	}
}

// enter records that a job is in flight, after a claim or under the new lease of a reaper.
func (c *Checker) enter(r ref, j *job) {
	c.counts.InFlight[inFlightAs(j)]++
	c.mostInFlight = max(c.mostInFlight, sum(&c.counts.InFlight))
	if c.d.counted {
		c.countRunning(j, 1)
	}
	j.untimed, j.asked = false, 0
	c.jobs.enlist(r, j, c.now)
}

func (c *Checker) followLeased(s *subject) {
	j := s.j
	c.leave(j)
	c.claim.last = j
	c.brought = c.now
	j.state, j.delivery, j.reaped, j.forgotten, j.token = engine.InFlight, s.Delivery, false, false, s.Token
	mask := ^bit(j.delivery)
	j.begun, j.succeeded, j.failed = j.begun&mask, j.succeeded&mask, j.failed&mask
	j.started, j.finished = 0, 0
	j.node, j.life, j.claimed = s.Node, s.n.life, s.At
	if j.charged.add(1); !c.d.fenced {
		j.unfenced = span{j.charged.least, max(j.unfenced.most, j.charged.most)}
	}
	c.enter(s.r, j)
	if c.claim.open {
		c.claim.claimed[s.Class]++
	}
	if t := c.tenant(j.tenant); t != nil {
		c.tenants.turns++
		t.turn = c.tenants.turns
	}
	if s.n.idleSince != engine.Never {
		s.n.idleSince = c.now // the node has claimed
	}
}

// recovered counts a recovery of a job's lease. Only bounds are known for a reaper with two steps: it reads the count
// in its first step, and StoreOptions.RecoveriesWithin may have restarted the count since.
func (c *Checker) recovered(s *subject) {
	r, within := c.jobs.recoveries[s.r], c.rules.Store.RecoveriesWithin
	before := r.n
	if within > 0 && c.now.Sub(r.at) > within {
		r.n = 0
	}
	if r.n == 0 {
		r.at = c.now
	}
	r.n++
	r.counted = span{r.n, r.n}
	if c.d.guarded {
		r.counted.most = before + 1
	}
	if r.vague {
		r.counted = span{0, math.MaxInt32}
	}
	r.most, r.reaper = max(r.most, r.counted.most), engine.NewEngineID(s.Node, s.n.life)
	c.jobs.recoveries[s.r] = r
}

func (c *Checker) followCommitted(s *subject) {
	j := s.j
	class := engine.Retry
	if j.delivery == 0 {
		class = engine.Fresh
	}
	c.leave(j)
	j.stand = engine.PlaceDefault
	if s.Error == engine.LeaseExpired && s.Kind != engine.Buried {
		j.stand = c.rules.Node.Reaper.Stand
		r := c.jobs.recoveries[s.r]
		r.wrote = s.Token
		c.jobs.recoveries[s.r] = r
	}
	if s.Kind == engine.Acked {
		c.jobs.finish(s.r, j)
		return
	}
	j.committed, j.wrote = s.Token, engine.NewEngineID(j.node, j.life)
	if j.reaped {
		j.wrote = c.jobs.recoveries[s.r].reaper
	}
	switch s.Kind {
	case engine.Buried:
		j.state = engine.Dead
		if s.From == engine.Ready { // shed by a claim: no failure of an attempt
			j.failures.most++
		} else {
			j.failures.add(1)
		}
		c.counts.Dead++
	case engine.Nacked:
		c.charge(s)
		j.delay = s.Delay
		switch k := c.rules.kind(j.kind); {
		case k.From != 0 && c.d.asRead(s.Event): // the lease was read earlier
			j.passed = engine.Forever
		case k.From != 0:
			j.passed = k.Grain + s.At.Sub(j.claimed)
		default:
			j.passed = k.Grain
		}
		c.toWaiting(j, class, s.At.Add(s.Delay), true)
	case engine.Returned:
		c.charge(s)
		due := s.At
		if c.rules.Store.Held {
			due = max(due, j.ready)
		}
		c.toReady(j, class, due)
	}
}

// charge updates a retried job's counts of failures and attempts charged; a return or a snooze gives its charge back.
func (c *Checker) charge(s *subject) {
	j, retry, returned := s.j, c.rules.retry(s.j.kind), s.Kind == engine.Returned
	switch {
	case returned && s.From != engine.InFlight:
		j.failures.most++
	case returned && (s.Error == engine.Canceled || c.rules.Node.Reaper.Nothing):
		j.charged.add(-1)
	case retry == nil && !returned:
	case retry == nil || !retry.isFree(s.Error): // a returned job is redone
		j.failures.add(1)
	case !c.d.fenced || c.jobs.recoveries[s.r].vague: // a failure or a snooze
		j.failures.most++
		if s.From == engine.InFlight {
			j.charged.least--
		}
	case retry.FreeMax < 0 || j.snoozes < retry.FreeMax:
		if !returned { // a snooze that became a return is free
			j.snoozes++
		}
		j.charged.add(-1)
	default:
		j.failures.add(1)
	}
}

func (c *Checker) followRedriven(s *subject) {
	j := s.j
	c.counts.Dead--
	if retry := c.rules.retry(j.kind); retry != nil && retry.MaxAttempts > 0 {
		j.charged.least = min(j.charged.least, retry.MaxAttempts-1) // one more claim is allowed
	}
	if c.rules.Redrive.Resets {
		j.charged = span{0, math.MaxInt32 / 2}
		j.failures = span{0, math.MaxInt32 / 2}
		r := c.jobs.recoveries[s.r]
		r.vague, j.delay, j.passed = true, 0, 0
		c.jobs.recoveries[s.r] = r
		if c.rules.Redrive.Keeps { // and its latest delay
			j.passed = engine.Forever
		}
	}
	c.toReady(j, s.Class, s.At)
}

// drops records that the holder of a lease will commit no outcome under it: the lease is lost, or the outcome refused.
// A reaper's lease counts as dropped once the holder before it drops its own, which may keep it for ever all the same.
func (c *Checker) drops(s *subject) {
	j := s.j
	switch {
	case j == nil:
	case j.token == s.Token && j.reaped:
		r := c.jobs.recoveries[s.r]
		r.gaveUp = s.Token
		c.jobs.recoveries[s.r] = r
	case j.token == s.Token:
		j.dropped = s.Token
		s.n.toldOf(j)
	case j.reaped && s.Delivery == j.delivery && s.Node == j.node:
		j.dropped = j.token
	}
}
