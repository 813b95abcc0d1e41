package measure

import (
	"qsim/engine"
)

// advance lets the state of the narrow views stand until an event: of all of them if it is about the workers,
// whom all jobs share, or about a claim, which may pass over a job; else of those that its job belongs to.
func (c *Collector) advance(e *engine.Event) {
	shared := false
	switch e.Kind {
	case engine.Called, engine.Extended, engine.LeaseLost: // these do not say whose
		return
	case engine.Leased, engine.Started, engine.Finished, engine.Aborted, engine.NodeUp, engine.NodeDown:
		shared = true
	}
	for _, v := range c.views[1:] {
		if shared || v.has(e.JobKind, e.Tenant) {
			v.advanceTo(e.At)
		}
	}
}

func (c *Collector) onEnqueued(e *engine.Event) {
	c.jobs++
	first := c.copyOf(e.Job) == 0
	for _, s := range c.setsOf(e.At, e.JobKind, e.Tenant) {
		s.enqueued++
		if first {
			s.callers++
			if c.patience(e.JobKind) > 0 {
				s.patient++
			}
		}
	}
	if !first && len(c.settings.Patience) > 0 {
		c.onResubmitted(e.Job)
	}
	for _, v := range c.views {
		switch {
		case !v.has(e.JobKind, e.Tenant):
			continue
		case e.Delay > 0:
			v.becomeWaiting()
		default:
			v.becomeReady(e.Class, e.Tenant)
		}
	}
}

func (c *Collector) onPromoted(e *engine.Event) {
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.waiting--
			v.becomeReady(e.Class, e.Tenant)
		}
	}
}

func (c *Collector) onLeased(e *engine.Event) {
	waited := max(int64(e.Waited), 0)
	bucket := bucketOf(waited)
	enqueued := e.At - engine.Time(e.Age)
	c.tries = max(c.tries, e.Delivery)
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.claimed(e.Class, waited, bucket)
		} else {
			v.claimedElsewhere(e.Class)
		}
	}
	if c.byTenant && e.Class == engine.Fresh {
		c.whole.claimedOfTenant(e.Tenant, waited, bucket, c.sets[0].has(enqueued, e.JobKind, e.Tenant))
	}
	cohort := c.cohorts.of(enqueued, e.JobKind, e.Tenant)
	sets := c.cohorts.lists[cohort]
	for _, s := range sets {
		s.claimed(e, waited, bucket)
	}
	if since := c.callerSince(e.Job, e.JobKind, enqueued); since != enqueued {
		sets = c.setsOf(since, e.JobKind, e.Tenant)
	}
	for _, s := range sets {
		s.deliveries++
	}
	j := c.known.put(e.Job)
	j.enqueued, j.readySince, j.token = enqueued, e.At-engine.Time(waited), e.Token
	j.cohort, j.leased, j.lost, j.ended = cohort, true, false, false
	j.expires = c.expiry(e.At)
	j.pending++
}

func (c *Collector) onStarted(e *engine.Event) {
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.busy++
		} else {
			v.others++
		}
	}
	j := c.known.find(e.Job)
	if j == nil {
		c.strange++
		return
	}
	j.running++
	if j.pending > 0 {
		j.pending--
	}
	if j.token != e.Token {
		return // of a lease that is no longer the latest: when it became ready is forgotten
	}
	waited := max(int64(e.At-j.readySince), 0)
	bucket := bucketOf(waited)
	for _, s := range c.cohorts.lists[j.cohort] {
		if h := s.ended[startWait]; h != nil {
			h.recordAt(bucket, waited)
		}
	}
}

// onEnded takes note of an execution that finished, or died with its process.
func (c *Collector) onEnded(e *engine.Event) {
	finished := e.Kind == engine.Finished
	success := finished && e.Error == engine.NoError
	j := c.known.find(e.Job)
	for _, v := range c.views {
		if !v.has(e.JobKind, e.Tenant) {
			v.others--
			continue
		}
		v.busy--
		if finished {
			v.segment.finished++
			if v.tenants != nil {
				v.tenants.serve(e.Tenant)
			}
		}
		if !success {
			v.segment.failures++
		}
	}
	if j == nil {
		c.strange++
		return
	}
	if j.running > 0 {
		j.running--
	}
	if success {
		c.succeeded++
		if j.successes++; j.successes == 1 {
			c.firstSuccess(e)
		}
	}
	accepted := success && j.acked != 0 && j.acked == e.Token
	if success && !accepted {
		j.remember(e.Token, e.Ran, e.At)
	}
	lapsed := finished && e.Error != engine.Canceled && j.taken > e.Token
	again := success && j.successes > 1
	if success && !again && len(c.settings.Patience) > 0 {
		c.onCopyDone(j, e.JobKind, e.Tenant)
	}
	for _, s := range c.cohorts.lists[j.cohort] {
		s.busy += float64(e.Ran)
		if accepted {
			s.accepted += float64(e.Ran)
		}
		if lapsed {
			s.lapsed++
		}
		if again {
			s.duplicates++
			s.causes[j.cause]++
			if j.successes == 2 && !c.idempotent(e.JobKind) {
				s.doubled++
			}
		}
	}
	c.settle(j)
}

// firstSuccess counts the first execution of a job that ended in success.
func (c *Collector) firstSuccess(e *engine.Event) {
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.segment.firsts++
		}
	}
}

// idempotent reports whether jobs of that kind apply no second effect.
func (c *Collector) idempotent(kind engine.Kind) bool {
	return int(kind) < len(c.settings.Idempotent) && c.settings.Idempotent[kind]
}

func (c *Collector) onOutcome(e *engine.Event) {
	after := c.patience(e.JobKind)
	answered := e.Kind == engine.Acked && after > 0 && e.Age <= after
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.outcome(e, answered)
		}
	}
	j := c.known.find(e.Job)
	ran := c.closeLease(j, e)
	enqueued := e.At - engine.Time(e.Age)
	for _, s := range c.setsOfJob(j, enqueued, e) {
		s.outcome(e, ran)
	}
	if c.resubmitted != nil && (e.Kind == engine.Acked || e.Kind == engine.Buried) {
		c.onCopyEnded(e.Job)
	}
	switch {
	case e.Kind == engine.Acked:
		c.acked++
		if answered {
			for _, s := range c.setsOf(c.callerSince(e.Job, e.JobKind, enqueued), e.JobKind, e.Tenant) {
				s.answered++
			}
		}
	case e.Kind == engine.Buried && c.dead != nil:
		c.dead[e.Job] = enqueued
	}
	if j != nil {
		c.settle(j)
	}
}

// setsOfJob returns the sets of the job that an event is about; j may be nil.
func (c *Collector) setsOfJob(j *knownJob, enqueued engine.Time, e *engine.Event) []*jobSet {
	if j != nil && j.enqueued == enqueued {
		return c.cohorts.lists[j.cohort]
	}
	return c.setsOf(enqueued, e.JobKind, e.Tenant)
}

// outcome counts what became of one of these jobs.
func (v *view) outcome(e *engine.Event, answered bool) {
	switch e.From {
	case engine.Ready:
		v.leaveReady(e.Class)
	case engine.Waiting:
		v.waiting--
	}
	if v.tenants != nil && (e.From == engine.Ready || e.From == engine.InFlight) {
		v.tenants.want(e.Tenant, -1)
	}
	switch {
	case answered:
		v.segment.answered++
	case e.Kind == engine.Nacked:
		v.becomeWaiting()
	case e.Kind == engine.Returned:
		v.becomeReady(engine.Retry, e.Tenant)
	}
}

// onRedriven counts a dead job that is ready again.
func (c *Collector) onRedriven(e *engine.Event) {
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.becomeReady(e.Class, e.Tenant)
		}
	}
	enqueued, known := c.dead[e.Job]
	if !known {
		return
	}
	delete(c.dead, e.Job)
	for _, s := range c.setsOf(enqueued, e.JobKind, e.Tenant) {
		s.revived++
	}
}

func (c *Collector) onFenced(e *engine.Event) {
	c.fenced++
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.segment.fenced++
		}
	}
}

// onCalled counts a call, which brings jobs of any class.
func (c *Collector) onCalled(op engine.Op, rows int32) {
	c.whole.segment.calls[op]++
	c.whole.segment.rows[op] += uint64(rows)
}

func (c *Collector) onLeaseTaken(e *engine.Event) {
	alive := c.machines.alive(e.Holder)
	for _, s := range c.setsOf(e.At-engine.Time(e.Age), e.JobKind, e.Tenant) {
		s.leasesExpired++
		if alive {
			s.leasesFalse++
		}
	}
	if j := c.known.find(e.Job); j != nil {
		j.blame(alive)
		j.taken = e.Token
	}
}

// onExtended takes note that a heartbeat has reached the store.
func (c *Collector) onExtended(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.expires = c.expiry(e.At)
	}
}

// onLeaseLost takes note that a holder has given up its lease, and will tell the store nothing
// of what its handler goes on to do.
func (c *Collector) onLeaseLost(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.lost = true
	}
}

// expiry is when a lease ends that begins now, or is prolonged now.
func (c *Collector) expiry(now engine.Time) engine.Time {
	if c.lease > 0 {
		return now.Add(c.lease)
	}
	return engine.Never
}

// closeLease takes note in j, which may be nil, of an outcome, and returns how long
// the execution ran whose ack it is.
func (c *Collector) closeLease(j *knownJob, e *engine.Event) (ran int64) {
	if j == nil {
		return 0
	}
	j.leased = false
	switch e.Kind {
	case engine.Nacked, engine.Returned:
		if e.Token == j.token && j.taken < j.token { // by its holder
			j.overrun()
		}
	}
	switch e.Kind {
	case engine.Acked:
		j.ended = true
		return int64(j.accept(e.Token))
	case engine.Buried:
		j.ended = true
	case engine.Returned:
		if e.Token != j.taken && j.pending > 0 {
			j.pending-- // handed back by who claimed it, not run
		}
	}
	return 0
}
