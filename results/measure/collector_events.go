package measure

import (
	"time"

	"qsim/engine"
)

// Called counts a store call of an operation and the jobs in its reply, for engine.JobRecorder. These counts are not
// kept by class or tenant, since one call brings jobs of several.
func (c *Collector) Called(at engine.Time, _ int32, op engine.Op, rows int32) {
	c.pass(at)
	t := &c.whole.segment.tally
	t.calls[op]++
	t.rows[op] += uint64(rows)
}

// Enqueued counts a job that enters the store at time at, for engine.JobRecorder.
func (c *Collector) Enqueued(at engine.Time, j *engine.NewJob) {
	c.pass(at)
	c.jobs++
	c.whole.enqueued(j)
	for v := c.narrowed; v != nil; v = v.next {
		if v.has(j.Kind, j.Tenant) {
			v.enqueued(j)
		}
	}
	if j.Delay <= 0 {
		c.starving.ready(at, j.Kind, j.Tenant)
	} else if c.settings.Promoted {
		c.starving.wait(at.Add(j.Delay), j.Kind, j.Tenant)
	}
	sets := c.setsOf(at, j.Kind, j.Tenant)
	for s := sets; s != nil; s = s.next {
		s.enqueued++
	}
	switch {
	case c.copyOf(j.ID) > 0:
		for s := sets; s != nil; s = s.next {
			s.further++
		}
		c.onResubmitted(j.ID)
	case c.impatient && element(c.settings.Patience, j.Kind) > 0:
		for s := sets; s != nil; s = s.next {
			s.patient++
		}
	}
}

// Promoted counts a waiting job (scheduled, or a retry in backoff) that becomes ready, for engine.JobRecorder.
func (c *Collector) Promoted(at engine.Time, _ int32, p *engine.Promotion) {
	c.pass(at)
	for _, v := range c.views {
		if v.has(p.Kind, p.Tenant) {
			v.change(waitingArea, -1)
			v.becomeReady(p.Class, p.Tenant)
		}
	}
	if p.Class == engine.Fresh && !c.settings.Promoted {
		c.starving.ready(at, p.Kind, p.Tenant)
	}
}

// claim is a claim of a job with its wait before it, in ns, and the histogram bucket of that wait.
type claim struct {
	*engine.Lease
	class    engine.Class // as which the job was claimed: fresh or retry
	starved  bool         // a fresh job whose wait exceeds its class's threshold
	waited   int64
	bucket   int
	enqueued engine.Time
}

// Leased counts a claim of a job under lease l, for engine.JobRecorder.
func (c *Collector) Leased(at engine.Time, _ int32, l *engine.Lease) {
	c.pass(at)
	var k claim // set field by field: a composite literal would be built elsewhere and copied
	k.Lease, k.class, k.waited, k.enqueued = l, l.Class(), max(int64(l.Waited), 0), at-engine.Time(l.Age)
	k.bucket = bucketOf(k.waited)
	c.whole.claimed(&k)
	for v := c.narrowed; v != nil; v = v.next {
		if v.has(l.Kind, l.Tenant) {
			v.claimed(&k)
		} else {
			v.claimedElsewhere(k.class)
		}
	}
	if at > c.starving.calm {
		c.starving.judge(at, &k)
	}
	sets := c.setsOf(k.enqueued, l.Kind, l.Tenant)
	if k.class == engine.Fresh {
		if c.settings.Held && l.Waited != l.Age { // enqueued before it was due: never among the ready jobs of starving
			k.starved = c.starving.starved(at, l.Kind, l.Tenant, time.Duration(k.waited))
		} else {
			k.starved = c.starving.left(at, l.Kind, l.Tenant, time.Duration(k.waited))
		}
		if c.byTenant {
			c.whole.claimedOfTenant(&k, sets != nil)
		}
	} else if l.Delivery > c.tries {
		c.tries = l.Delivery
	}
	j := c.known.put(l.ID)
	j.enqueued, j.readySince, j.token = k.enqueued, at-engine.Time(k.waited), l.Token
	j.leased, j.started, j.runs, j.lost, j.ended = true, false, false, false, false
	j.held, j.sets = at, sets
	j.pending++
	for s := sets; s != nil; s = s.next {
		s.claimed(&k)
	}
	if c.copyOf(l.ID) > 0 {
		c.onCopyClaimed(&k, sets)
	}
}

// Started counts a worker that becomes busy with an execution, for engine.JobRecorder.
func (c *Collector) Started(at engine.Time, _ int32, _ engine.Slot, l *engine.Lease, _ time.Duration) {
	c.pass(at)
	c.machines.change(c.now, -1)
	c.whole.change(busyArea, 1)
	for v := c.narrowed; v != nil; v = v.next {
		if v.has(l.Kind, l.Tenant) {
			v.change(busyArea, 1)
		}
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
	j.started, j.runs = true, true
	waited := max(int64(at-j.readySince), 0)
	bucket := bucketOf(waited)
	for s := j.sets; s != nil; s = s.next {
		s.recorded[startWait].record(bucket, waited)
	}
}

// Finished counts an execution whose handler returned err after ran, for engine.JobRecorder; err is died for one that
// ended because its process died.
func (c *Collector) Finished(
	at engine.Time, node int32, slot engine.Slot, l *engine.Lease, err engine.ErrorKind, ran time.Duration,
) {
	c.pass(at)
	workers := c.workersOf(workerSlot{node, slot})
	c.machines.change(c.now, workers)
	j := c.known.find(l.ID)
	c.whole.ended(l.Tenant, err, workers)
	for v := c.narrowed; v != nil; v = v.next {
		if v.has(l.Kind, l.Tenant) {
			v.ended(l.Tenant, err, workers)
		}
	}
	if j == nil {
		c.strange++
		return
	}
	if j.running > 0 {
		j.running--
	}
	j.runs = j.runs && j.token != l.Token
	for s := j.sets; s != nil; s = s.next {
		s.busy += float64(ran)
	}
	if err != died && err != engine.Canceled && j.lapsed(l.Delivery) {
		for s := j.sets; s != nil; s = s.next {
			s.lapsed++
		}
	}
	if err == engine.NoError {
		c.onSuccess(at, j, l, ran)
	}
	if j.settled() {
		c.forget(j)
	}
}

// onSuccess counts an execution of the job j that ended in success, as a duplicate if it is not the first.
func (c *Collector) onSuccess(at engine.Time, j *knownJob, l *engine.Lease, ran time.Duration) {
	c.succeeded++
	j.ran[0], j.ran[1] = execution{l.Token, ran, j.lost || at.Sub(j.held) >= c.lease}, j.ran[0]
	if j.acked == l.Token {
		for s := j.sets; s != nil; s = s.next {
			s.accepted += float64(ran)
		}
	}
	if j.successes++; j.successes > 1 {
		c.onDuplicate(j, l, ran)
		return
	}
	for _, v := range c.views {
		if v.has(l.Kind, l.Tenant) {
			v.segment.firsts++
		}
	}
	if len(c.resubmitted) > 0 {
		c.onCopyDone(j, l.Kind, l.Tenant)
	}
}

// onDuplicate counts a duplicate: an execution of the job j that ended in success after another execution of j had.
func (c *Collector) onDuplicate(j *knownJob, l *engine.Lease, ran time.Duration) {
	twice := !j.twice && c.appliesAgain(j, l, ran)
	j.twice = j.twice || twice
	for s := j.sets; s != nil; s = s.next {
		s.duplicates++
		s.causes[j.cause]++
		if twice {
			s.doubled++
		}
	}
}

// appliesAgain reports whether an execution that ended in success, but not as the first of its job, applies the job's
// effect once more: without an idempotency guard, or if it checked the idempotency key before the first success set it.
func (c *Collector) appliesAgain(j *knownJob, l *engine.Lease, ran time.Duration) bool {
	guard := element(c.settings.Guards, l.Kind)
	return guard == NoGuard || guard == CheckGuard && j.found != l.Token && ran > 0
}

// Committed counts an outcome (ack, nack, burial, return) that the store has applied, for engine.JobRecorder.
func (c *Collector) Committed(at engine.Time, _ int32, kind engine.EventKind, o *engine.Outcome, r *engine.Result) {
	c.pass(at)
	c.whole.outcome(kind, o.Tenant, r)
	for v := c.narrowed; v != nil; v = v.next {
		if v.has(o.Kind, o.Tenant) {
			v.outcome(kind, o.Tenant, r)
		}
	}
	j := c.known.find(o.Job)
	var sets *membership
	ran := time.Duration(0)
	if j != nil {
		sets = j.sets
		ran = j.commit(kind, o)
	} else {
		sets = c.setsOf(at-engine.Time(r.Age), o.Kind, o.Tenant)
	}
	switch kind {
	case engine.Acked:
		c.acked++
		age := max(int64(r.Age), 0)
		bucket := bucketOf(age)
		for s := sets; s != nil; s = s.next {
			s.recorded[sojourn].record(bucket, age)
			s.accepted += float64(ran)
			if o.Delivery > 1 {
				s.retriesDone++
			}
		}
		if c.impatient {
			c.onAnswer(at, o, r)
		}
	case engine.Nacked:
		for s := sets; s != nil; s = s.next {
			s.nacked(o.Delay)
		}
	case engine.Buried:
		c.onBuried(at, o, r, sets)
	}
	switch {
	case j == nil && (kind == engine.Acked || kind == engine.Buried && !c.settings.Redrives):
		c.onCopyEnded(o.Job)
	case j != nil && j.settled():
		c.forget(j)
	}
}

// onBuried counts the burial of a job in the job sets that it belongs to.
func (c *Collector) onBuried(at engine.Time, o *engine.Outcome, r *engine.Result, sets *membership) {
	why := c.deathOf(o, r)
	for s := sets; s != nil; s = s.next {
		s.deaths++
		s.deathsBy[why]++
	}
	if c.dead != nil {
		c.dead[o.Job] = at - engine.Time(r.Age)
	}
}

// onLeft counts a fresh job that is no longer ready for another reason than a claim. If it was buried, it has no wait.
func (c *Collector) onLeft(e *engine.Event) {
	starved := c.starving.left(e.At, e.JobKind, e.Tenant, e.Waited)
	if e.Kind != engine.Buried {
		return
	}
	for s := c.setsOf(e.At-engine.Time(e.Age), e.JobKind, e.Tenant); s != nil; s = s.next {
		for i := range s.limits {
			s.limits[i].late++
		}
		if starved {
			s.starved++
		}
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
	if j := c.known.find(e.Job); j != nil {
		j.ended = false
	}
	enqueued, known := c.dead[e.Job]
	if !known {
		return
	}
	delete(c.dead, e.Job)
	for s := c.setsOf(enqueued, e.JobKind, e.Tenant); s != nil; s = s.next {
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

func (c *Collector) onLeaseTaken(e *engine.Event) {
	alive := c.machines.alive(e.Holder)
	for s := c.setsOf(e.At-engine.Time(e.Age), e.JobKind, e.Tenant); s != nil; s = s.next {
		s.leasesExpired++
		if alive {
			s.leasesFalse++
		}
	}
	if j := c.known.find(e.Job); j != nil {
		if j.taken < j.token { // from the one that claimed the job, and not from a reaper
			j.blame(alive)
		}
		j.taken = e.Token
		j.lapses, j.lapsedAt = j.lapses<<uint32(e.Delivery-j.lapsedAt)|1, e.Delivery
	}
}

// onHolder records what the holder of a lease has learned of it: that a heartbeat extended it, or its loss, after which
// no outcome of the handler will reach the store.
func (c *Collector) onHolder(e *engine.Event) {
	switch j := c.known.find(e.Job); {
	case j == nil || j.token != e.Token:
	case e.Kind == engine.Extended:
		j.held = e.At
	default:
		j.lost = true
	}
}
