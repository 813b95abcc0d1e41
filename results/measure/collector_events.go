package measure

import (
	"qsim/engine"
)

// becomeReady counts a job that is ready from now on.
func (c *Collector) becomeReady(class engine.Class) {
	c.ready[class]++
	c.segment.peak[class] = max(c.segment.peak[class], c.ready[class])
	if class == engine.Fresh && c.ready[class] == 1 {
		c.starve.since = c.now
	}
}

// leaveReady counts a job that is no longer ready, without having been claimed.
func (c *Collector) leaveReady(class engine.Class) {
	c.ready[class]--
	if class == engine.Fresh && c.ready[class] == 0 {
		c.endStretch()
		c.endStreak()
		c.deficit.now = 0
	}
}

func (c *Collector) becomeWaiting() {
	c.waiting++
	c.segment.peak[waitingArea] = max(c.segment.peak[waitingArea], c.waiting)
}

func (c *Collector) onEnqueued(e *engine.Event) {
	c.all++
	for i := range c.sets {
		if s := &c.sets[i]; s.has(e.At, e.JobKind, e.Tenant) {
			s.enqueued++
			if c.copyOf(e.Job) == 0 {
				s.callers++
				if c.patience(e.JobKind) > 0 {
					s.patient++
				}
			}
		}
	}
	if len(c.settings.Patience) > 0 && c.copyOf(e.Job) > 0 {
		c.onResubmitted(e.Job)
	}
	if e.Delay > 0 {
		c.becomeWaiting()
	} else {
		c.becomeReady(e.Class)
		c.tenants.want(e.Tenant, 1)
	}
}

func (c *Collector) onLeased(e *engine.Event) {
	waited := max(int64(e.Waited), 0)
	bucket := bucketOf(waited)
	c.segment.claims[e.Class]++
	c.weighClaim(e.Class)
	c.tries = max(c.tries, e.Delivery)
	if e.Class == engine.Fresh {
		c.endStretch()
		c.endStreak()
		c.starve.since = c.now
		c.ready[engine.Fresh]--
		c.segment.freshWaits += uint64(waited)
		if len(c.settings.Tenants) > 2 {
			c.claimedOfTenant(e, waited, bucket)
		}
		if c.settings.Bucket > 0 {
			c.bucket.waits.recordAt(bucket, waited)
		}
		if len(c.recoveries) > 0 && c.now >= c.calm.from { // what was before the warm-up's end is no measure of calm
			for _, r := range c.recoveries {
				r.claimed(bucket)
			}
		}
	} else {
		c.ready[engine.Retry]--
		if c.ready[engine.Fresh] > 0 {
			c.passOver()
		} else {
			c.endStreak()
		}
	}
	enqueued := e.At - engine.Time(e.Age)
	since := c.callerSince(e.Job, e.JobKind, enqueued)
	for i := range c.sets {
		s := &c.sets[i]
		in := s.has(enqueued, e.JobKind, e.Tenant)
		if in {
			s.claimed(e, waited, bucket)
		}
		if since != enqueued {
			in = s.has(since, e.JobKind, e.Tenant)
		}
		if in {
			s.deliveries++
		}
	}
	j := c.known.put(e.Job)
	j.enqueued, j.readySince, j.token = enqueued, e.At-engine.Time(waited), e.Token
	j.kind, j.tenant, j.leased, j.lost, j.ended = e.JobKind, e.Tenant, true, false, false
	j.expires = c.expiry(e.At)
	j.pending++
}

// weighClaim follows the worst stretch of claims with fresh jobs ready throughout: the
// sum of what each claim adds to the deficit, begun anew where it fell below nothing.
func (c *Collector) weighClaim(class engine.Class) {
	if c.entitled == 0 || c.ready[engine.Fresh] == 0 || !c.windows[0].covers(c.now) {
		return
	}
	d := &c.deficit
	d.now = max(d.now, 0) + c.entitled
	if class == engine.Fresh {
		d.now--
	}
	d.worst = max(d.worst, d.now)
	if class == engine.Fresh && c.ready[engine.Fresh] == 1 {
		d.now = 0 // that was the last one
	}
}

func (c *Collector) onStarted(e *engine.Event) {
	c.busy++
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
	for i := range c.sets {
		s := &c.sets[i]
		if h := s.ended[startWait]; h != nil && s.has(j.enqueued, j.kind, j.tenant) {
			h.recordAt(bucket, waited)
		}
	}
}

// onEnded takes note of an execution that finished, or died with its process.
func (c *Collector) onEnded(e *engine.Event) {
	c.busy--
	finished := e.Kind == engine.Finished
	success := finished && e.Error == engine.NoError
	if finished {
		c.segment.finished++
		c.tenants.serve(e.Tenant)
	}
	if !success {
		c.segment.failures++
	}
	j := c.known.find(e.Job)
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
			c.segment.firsts++
		}
	}
	accepted := success && j.acked != 0 && j.acked == e.Token
	if success && !accepted {
		j.remember(e.Token, e.Ran, e.At)
	}
	lapsed := finished && e.Error != engine.Canceled && j.taken > e.Token
	why := noCause
	if success && j.successes > 1 {
		why = j.cause
	}
	if success && j.successes == 1 && len(c.settings.Patience) > 0 {
		c.onCopyDone(j)
	}
	for i := range c.sets {
		s := &c.sets[i]
		if !s.has(j.enqueued, j.kind, j.tenant) {
			continue
		}
		s.busy += float64(e.Ran)
		if accepted {
			s.accepted += float64(e.Ran)
		}
		if lapsed {
			s.lapsed++
		}
		if success && j.successes > 1 {
			s.duplicates++
			s.causes[why]++
			if j.successes == 2 && !c.idempotent(j.kind) {
				s.doubled++
			}
		}
	}
	c.settle(j)
}

// idempotent reports whether jobs of that kind apply no second effect.
func (c *Collector) idempotent(kind engine.Kind) bool {
	return int(kind) < len(c.settings.Idempotent) && c.settings.Idempotent[kind]
}

func (c *Collector) onOutcome(e *engine.Event) {
	switch e.From {
	case engine.Ready:
		c.leaveReady(e.Class)
	case engine.Waiting:
		c.waiting--
	}
	j := c.known.find(e.Job)
	ran := c.closeLease(j, e)
	enqueued := e.At - engine.Time(e.Age)
	age := max(int64(e.Age), 0)
	for i := range c.sets {
		s := &c.sets[i]
		if !s.has(enqueued, e.JobKind, e.Tenant) {
			continue
		}
		switch e.Kind {
		case engine.Acked:
			if h := s.ended[sojourn]; h != nil {
				h.recordAt(bucketOf(age), age)
			}
			if e.Delivery > 1 {
				s.retriesDone++
			}
			s.accepted += float64(ran)
		case engine.Nacked:
			s.nacks++
			s.delaySum += float64(e.Delay)
			if s.delays != nil {
				s.delays.Record(e.Delay)
			}
		case engine.Buried:
			s.deaths++
			if e.From == engine.Ready && e.Class == engine.Fresh {
				s.neverClaimed()
			}
		}
	}
	if e.From == engine.Ready || e.From == engine.InFlight {
		c.tenants.want(e.Tenant, -1)
	}
	if c.resubmitted != nil && (e.Kind == engine.Acked || e.Kind == engine.Buried) {
		c.onCopyEnded(e.Job)
	}
	switch e.Kind {
	case engine.Acked:
		c.acked++
		if after := c.patience(e.JobKind); after > 0 && e.Age <= after {
			c.segment.answered++
			c.ofCaller(e.Job, e.JobKind, e.Tenant, enqueued, func(s *jobSet) { s.answered++ })
		}
	case engine.Buried:
		if c.dead != nil {
			c.dead[e.Job] = enqueued
		}
	case engine.Nacked:
		c.becomeWaiting()
	case engine.Returned:
		c.becomeReady(engine.Retry)
		c.tenants.want(e.Tenant, 1)
	}
	if j != nil {
		c.settle(j)
	}
}

// onRedriven counts a dead job that is ready again.
func (c *Collector) onRedriven(e *engine.Event) {
	c.becomeReady(e.Class)
	c.tenants.want(e.Tenant, 1)
	enqueued, known := c.dead[e.Job]
	if !known {
		return
	}
	delete(c.dead, e.Job)
	for i := range c.sets {
		if s := &c.sets[i]; s.has(enqueued, e.JobKind, e.Tenant) {
			s.revived++
		}
	}
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
