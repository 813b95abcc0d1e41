package measure

import (
	"time"

	"qsim/engine"
)

// Enqueued counts a job that enters the store at time at, for engine.JobRecorder.
func (c *Collector) Enqueued(at engine.Time, j *engine.NewJob) {
	c.passOf(at, j.Kind, j.Tenant)
	c.jobs++
	first := c.copyOf(j.ID) == 0
	for _, s := range c.setsOf(at, j.Kind, j.Tenant) {
		s.enqueued++
		if first {
			s.callers++
			if c.patience(j.Kind) > 0 {
				s.patient++
			}
		}
	}
	if !first {
		c.onResubmitted(j.ID)
	}
	for _, v := range c.views {
		switch {
		case !v.has(j.Kind, j.Tenant):
			continue
		case j.Delay > 0:
			v.becomeWaiting()
		default:
			v.becomeReady(engine.Fresh, j.Tenant)
		}
	}
	if j.Delay <= 0 {
		c.starving.ready(at, j.Kind, j.Tenant)
	}
}

// Promoted counts a waiting job that becomes ready at that time, for engine.JobRecorder.
func (c *Collector) Promoted(at engine.Time, _ int32, p *engine.Promotion) {
	c.passOf(at, p.Kind, p.Tenant)
	for _, v := range c.views {
		if v.has(p.Kind, p.Tenant) {
			v.change(waitingArea, -1)
			v.becomeReady(p.Class, p.Tenant)
		}
	}
	if p.Class == engine.Fresh {
		c.starving.ready(at, p.Kind, p.Tenant)
	}
}

// Leased counts a claim of a job under lease l, for engine.JobRecorder.
func (c *Collector) Leased(at engine.Time, _ int32, l *engine.Lease) { c.leased(at, l, l.Class()) }

// leased counts a claim of the job of lease l, as a job of the given priority class (fresh or retry).
func (c *Collector) leased(at engine.Time, l *engine.Lease, class engine.Class) {
	c.passAll(at)
	waited := max(int64(l.Waited), 0)
	bucket := bucketOf(waited)
	enqueued := at - engine.Time(l.Age)
	c.tries = max(c.tries, l.Delivery)
	for _, v := range c.views {
		if v.has(l.Kind, l.Tenant) {
			v.claimed(class, waited, bucket)
		} else {
			v.claimedElsewhere(class)
		}
	}
	starved := c.starving.claimed(at, l, class)
	if series := c.whole.series; series != nil && int(l.Kind) < len(series.classes) && class == engine.Fresh {
		series.classes[l.Kind].recordAt(bucket, waited)
	}
	if c.byTenant && class == engine.Fresh {
		c.whole.claimedOfTenant(l.Tenant, waited, bucket, c.sets[0].has(enqueued, l.Kind, l.Tenant))
	}
	cohort := c.cohorts.of(enqueued, l.Kind, l.Tenant)
	sets := c.cohorts.lists[cohort]
	for _, s := range sets {
		s.claimed(class, l.Delivery, waited, bucket, starved)
	}
	if since := c.callerSince(l.ID, l.Kind, enqueued); since != enqueued {
		sets = c.setsOf(since, l.Kind, l.Tenant)
	}
	for _, s := range sets {
		s.deliveries++
	}
	j := c.known.put(l.ID)
	j.enqueued, j.readySince, j.token = enqueued, at-engine.Time(waited), l.Token
	j.cohort, j.leased, j.lost, j.ended = cohort, true, false, false
	j.expires = c.expiry(at)
	j.pending++
}

// Started counts a worker that becomes busy with an execution, for engine.JobRecorder.
func (c *Collector) Started(at engine.Time, _ int32, _ engine.Slot, l *engine.Lease, _ time.Duration) {
	c.passAll(at)
	c.machines.busy++
	for _, v := range c.views {
		v.changeBusy(v.has(l.Kind, l.Tenant), 1)
	}
	j := c.known.find(l.ID)
	if j == nil {
		c.strange++
		return
	}
	j.running++
	if j.successes > 0 {
		j.found = l.Token
	}
	if j.pending > 0 {
		j.pending--
	}
	if j.token != l.Token {
		return // the lease is no longer the latest: the time the job became ready is forgotten
	}
	waited := max(int64(at-j.readySince), 0)
	bucket := bucketOf(waited)
	for _, s := range c.cohorts.lists[j.cohort] {
		if h := s.ended[startWait]; h != nil {
			h.recordAt(bucket, waited)
		}
	}
}

// Finished counts an execution whose handler returned err after ran, for engine.JobRecorder.
func (c *Collector) Finished(at engine.Time, _ int32, _ engine.Slot, l *engine.Lease, err engine.ErrorKind, ran time.Duration) {
	c.onEnded(at, l, true, err, ran)
}

// onEnded counts an execution that finished, or that ended because its process died.
func (c *Collector) onEnded(at engine.Time, l *engine.Lease, finished bool, err engine.ErrorKind, ran time.Duration) {
	c.passAll(at)
	success := finished && err == engine.NoError
	j := c.known.find(l.ID)
	workers := c.workersOf(l)
	c.machines.busy -= workers
	for _, v := range c.views {
		own := v.has(l.Kind, l.Tenant)
		if v.changeBusy(own, -workers); !own {
			continue
		}
		if finished {
			v.segment.finished++
			if v.tenants != nil {
				v.tenants.serve(l.Tenant)
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
			c.firstSuccess(l.Kind, l.Tenant)
		}
	}
	accepted := success && j.acked == l.Token
	if success {
		j.remember(l.Token, ran, at)
	}
	lapsed := finished && err != engine.Canceled && j.taken > l.Token
	again := success && j.successes > 1
	twice := again && !j.twice && c.appliesAgain(j, l, ran)
	j.twice = j.twice || twice
	if success && !again {
		c.onCopyDone(j, l.Kind, l.Tenant)
	}
	for _, s := range c.cohorts.lists[j.cohort] {
		s.busy += float64(ran)
		if accepted {
			s.accepted += float64(ran)
		}
		if lapsed {
			s.lapsed++
		}
		if again {
			s.duplicates++
			s.causes[j.cause]++
			if twice {
				s.doubled++
			}
		}
	}
	c.settle(j)
}

// firstSuccess counts the first execution of a job that ended in success.
func (c *Collector) firstSuccess(kind engine.Kind, tenant engine.TenantID) {
	for _, v := range c.views {
		if v.has(kind, tenant) {
			v.segment.firsts++
		}
	}
}

// appliesAgain reports whether an execution that ended in success, but not as the first of its job, applies the job's
// effect once more: without an idempotency guard, or if it checked the key before the first one set it.
func (c *Collector) appliesAgain(j *knownJob, l *engine.Lease, ran time.Duration) bool {
	guard := NoGuard
	if int(l.Kind) < len(c.settings.Guards) {
		guard = c.settings.Guards[l.Kind]
	}
	return guard == NoGuard || guard == CheckGuard && j.found != l.Token && ran > 0
}

// Committed counts an outcome that the store has applied or fenced (stale token), for engine.JobRecorder.
func (c *Collector) Committed(at engine.Time, _ int32, kind engine.EventKind, o *engine.Outcome, r *engine.Result) {
	c.committed(at, kind, o, r, 0)
}

// committed counts an outcome; waited is the time the job had been ready, 0 if it was not or it is unknown.
func (c *Collector) committed(at engine.Time, kind engine.EventKind, o *engine.Outcome, r *engine.Result, waited time.Duration) {
	c.passOf(at, o.Kind, o.Tenant)
	after := c.patience(o.Kind)
	answered := kind == engine.Acked && after > 0 && r.Age <= after
	for _, v := range c.views {
		if v.has(o.Kind, o.Tenant) {
			v.outcome(kind, o.Tenant, r, answered)
		}
	}
	j := c.known.find(o.Job)
	ran := c.closeLease(j, kind, o.Token)
	enqueued := at - engine.Time(r.Age)
	starved := r.From == engine.Ready && r.Class == engine.Fresh && c.starving.left(at, o.Kind, o.Tenant, waited)
	var why death
	if kind == engine.Buried {
		why = c.deathOf(o, r)
	}
	for _, s := range c.setsOfJob(j, enqueued, o) {
		s.outcome(kind, o, r, ran, starved, why)
	}
	if c.resubmitted != nil && (kind == engine.Acked || kind == engine.Buried) {
		c.onCopyEnded(o.Job)
	}
	switch {
	case kind == engine.Acked:
		c.acked++
		if answered {
			for _, s := range c.setsOf(c.callerSince(o.Job, o.Kind, enqueued), o.Kind, o.Tenant) {
				s.answered++
			}
		}
	case kind == engine.Buried && c.dead != nil:
		c.dead[o.Job] = enqueued
	}
	if j != nil {
		c.settle(j)
	}
}

// setsOfJob returns the job sets that count the job of an outcome; j may be nil.
func (c *Collector) setsOfJob(j *knownJob, enqueued engine.Time, o *engine.Outcome) []*jobSet {
	if j != nil {
		return c.cohorts.lists[j.cohort]
	}
	return c.setsOf(enqueued, o.Kind, o.Tenant)
}

// outcome counts, for the view v, an outcome of one of its jobs, and the job's transition from the state r.From.
func (v *view) outcome(kind engine.EventKind, tenant engine.TenantID, r *engine.Result, answered bool) {
	switch r.From {
	case engine.Ready:
		v.leaveReady(r.Class)
	case engine.Waiting:
		v.change(waitingArea, -1)
	}
	if v.tenants != nil && (r.From == engine.Ready || r.From == engine.InFlight) {
		v.tenants.want(tenant, -1)
	}
	switch {
	case answered:
		v.segment.answered++
	case kind == engine.Nacked:
		v.becomeWaiting()
	case kind == engine.Returned:
		v.becomeReady(engine.Retry, tenant)
	}
}

// onRedriven counts a redrive: a dead job that an operator has made ready again.
func (c *Collector) onRedriven(e *engine.Event) {
	for _, v := range c.views {
		if v.has(e.JobKind, e.Tenant) {
			v.becomeReady(e.Class, e.Tenant)
		}
	}
	if e.Class == engine.Fresh {
		c.starving.ready(e.At, e.JobKind, e.Tenant)
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

// Called counts a store call of the given operation and the jobs in its reply, for engine.JobRecorder. A call brings
// jobs of any class.
func (c *Collector) Called(at engine.Time, _ int32, op engine.Op, rows int32) {
	c.pass(at)
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

// onExtended records the new expiry of a job's lease after a heartbeat.
func (c *Collector) onExtended(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.expires = c.expiry(e.At)
	}
}

// onLeaseLost counts a lease that its holder has given up: no outcome of the running handler will reach the store.
func (c *Collector) onLeaseLost(e *engine.Event) {
	if j := c.known.find(e.Job); j != nil && j.token == e.Token {
		j.lost = true
	}
}

// expiry returns the expiry time of a lease that is claimed or extended now.
func (c *Collector) expiry(now engine.Time) engine.Time {
	if c.lease > 0 {
		return now.Add(c.lease)
	}
	return engine.Never
}

// closeLease records in j, which may be nil, that an outcome was committed under token, and returns how long the acked
// execution ran.
func (c *Collector) closeLease(j *knownJob, kind engine.EventKind, token engine.Token) (ran int64) {
	if j == nil {
		return 0
	}
	j.leased = false
	switch kind {
	case engine.Nacked, engine.Returned:
		if token == j.token && j.taken < j.token { // by its holder
			j.overrun()
		}
	}
	switch kind {
	case engine.Acked:
		j.ended = true
		return int64(j.accept(token))
	case engine.Buried:
		j.ended = true
	case engine.Returned:
		if token != j.taken && j.pending > 0 {
			j.pending-- // handed back by who claimed it, not run
		}
	}
	return 0
}
