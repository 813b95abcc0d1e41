package engine

import (
	"slices"
	"time"

	"qsim/engine/heap"
)

// runner gives leased jobs to workers, watches execution timeouts, and passes outcomes to the committer.
type runner struct {
	scheduled heap.Heap[slotTime] // leases claimed before they are due, by due time, then by slot
	line      leaseQueues         // buffered leases, first in first out, in one queue
	timeouts  leaseQueues         // running leases by their execution timeout, a queue for each distinct length
	lengths   []time.Duration     // length of the timeouts in each queue
	byKind    []int               // by job kind: index into lengths, or noTimeout
}

const noTimeout = -1

func (r *runner) init(cfg *Config) {
	r.line.addQueue()
	for _, k := range cfg.Kinds {
		at := slices.Index(r.lengths, k.Timeout)
		if k.Timeout > 0 && at == noTimeout {
			at = r.timeouts.addQueue()
			r.lengths = append(r.lengths, k.Timeout)
		}
		r.byKind = append(r.byKind, at)
	}
}

func (r *runner) deadline(e *Engine) Time {
	d := Never
	if len(r.scheduled) > 0 {
		d = r.scheduled[0].at
	}
	for i := range r.lengths {
		_, at := r.timeouts.first(i)
		d = min(d, at)
	}
	return d
}

// tick starts the jobs that were claimed before they were due and now are, and handles execution timeouts: by
// KindConfig it ends the attempt, or only cancels its handler.
func (r *runner) tick(e *Engine) {
	r.placeScheduled(e)
	for i := range r.lengths {
		for s, at := r.timeouts.first(i); at <= e.now; s, at = r.timeouts.first(i) {
			r.timeouts.leave(s)
			h := &e.leases.slots[s]
			if h.lost {
				continue // it has been told to stop
			}
			r.timeOut(e, s, h)
		}
	}
}

func (r *runner) timeOut(e *Engine, s Slot, h *heldLease) {
	k := e.cfg.kind(h.lease.Kind)
	e.record(Event{Kind: TimedOut, Error: Timeout, Ran: k.Timeout, Freed: k.Free, WaitsOut: k.WaitOut}, s, h)
	e.driver.Cancel(s, Timeout)
	if k.WaitOut {
		return
	}
	h.phase = timedOut
	e.commit.add(e, s, &h.lease, Timeout, h.heldAt)
	e.observe(&h.lease, Timeout)
	if k.Free {
		e.leases.idle++
		r.next(e, e.leases.idle == 1)
	}
}

// take accepts a lease from a claim: a worker runs its job now, or it waits in the node. expiry is the end of the lease
// by the wall clock, for LeaseConfig.Local.
func (r *runner) take(e *Engine, l *Lease, expiry Time) {
	s, h := e.leases.hold(l, e.now)
	e.heartbeat.onHeld(e, s)
	if e.cfg.Lease.Local {
		e.expire.onHeld(e, s, expiry)
		if expiry.Add(-e.ahead) <= e.now { // the answer was too long on its way
			e.record(Event{Kind: LeaseLost}, s, h)
			e.leases.release(s)
			return
		}
	}
	if l.Waited < 0 {
		r.holdUntilDue(e, s, h)
		return
	}
	r.place(e, s, h)
}

// place gives a held lease to an idle worker, or appends it to the queue for one.
func (r *runner) place(e *Engine, s Slot, h *heldLease) {
	if e.leases.idle > 0 && !e.stopping {
		r.start(e, s, h)
		return
	}
	h.phase = buffered
	e.leases.waiting++
	r.line.add(0, s, e.now)
}

func (r *runner) start(e *Engine, s Slot, h *heldLease) {
	h.phase = running
	e.leases.idle--
	if i := r.byKind[min(int(h.lease.Kind), len(r.byKind)-1)]; i != noTimeout {
		at := e.now.Add(r.lengths[i])
		r.timeouts.add(i, s, at)
		e.arm(at)
	}
	if e.cfg.Lease.AckAtStart {
		c := e.call(OpExtend)
		c.TTL, c.Keys = Forever, append(c.Keys[:0], h.lease.Key())
		e.driver.Send(c)
	}
	e.recorder.Started(e.now, e.cfg.Engine.Node(), s, &h.lease, h.lease.Waited+e.now.Sub(h.heldAt))
	e.driver.Start(s, &h.lease)
}

// onFinished passes the outcome of a handler that has returned to the committer, and gives its worker the next job.
func (r *runner) onFinished(e *Engine, s Slot, err ErrorKind, ran time.Duration) {
	h := e.leases.get(s)
	if h.phase != running && h.phase != timedOut {
		panic("engine: no handler runs in that slot")
	}
	e.recorder.Finished(e.now, e.cfg.Engine.Node(), s, &h.lease, err, ran)
	busy, freed := e.leases.idle == 0, h.phase == timedOut && e.cfg.kind(h.lease.Kind).Free
	if !freed {
		e.leases.idle++
	}
	r.timeouts.leave(s)
	switch {
	case h.phase == timedOut && h.settled, h.lost && h.phase == running:
		e.leases.release(s)
	case h.phase == timedOut:
		e.leases.finish(h) // its outcome is under way
	default:
		e.leases.finish(h)
		e.commit.add(e, s, &h.lease, err, h.heldAt)
		e.observe(&h.lease, err)
	}
	if !freed {
		r.next(e, busy)
	}
}

// next gives a worker that has become free a buffered job, or makes the engine claim. busy: all were busy before.
func (r *runner) next(e *Engine, busy bool) {
	if e.leases.waiting > 0 && !e.stopping {
		next, h := r.nextInLine(e)
		r.start(e, next, h)
	}
	if busy { // an engine without idle workers is not woken for new jobs
		e.fetch.mayHaveMissed(e)
	}
	if e.cfg.Commit.Eager && e.leases.idle == e.cfg.Workers {
		e.commit.lingered(e)
	}
	e.fetch.onWorkerFree(e)
}

// nextInLine removes and returns the first of the buffered leases (claimed ahead); there must be one.
func (r *runner) nextInLine(e *Engine) (Slot, *heldLease) {
	s, _ := r.line.first(0)
	r.line.leave(s)
	e.leases.waiting--
	return s, e.leases.get(s)
}

// holdUntilDue makes a job that was claimed before it is due (see StoreOptions.Held) wait in its slot s (of the lease
// table) until then. It occupies no worker and no prefetch slot, and policies do not count it as in flight.
func (r *runner) holdUntilDue(e *Engine, s Slot, h *heldLease) {
	at := h.dueAt()
	h.phase = scheduled
	e.leases.inFlight[h.lease.Class()]--
	r.scheduled.Push(slotTime{at, s})
	e.arm(at)
}

// placeScheduled gives the leases whose jobs have become due to workers, or queues them; at a stop it queues all that
// wait, to be returned.
func (r *runner) placeScheduled(e *Engine) {
	for len(r.scheduled) > 0 && (r.scheduled[0].at <= e.now || e.stopping) {
		d := r.scheduled.Pop()
		if h := &e.leases.slots[d.slot]; h.phase == scheduled && h.dueAt() == d.at {
			e.leases.inFlight[h.lease.Class()]++
			r.place(e, d.slot, h)
		}
	}
}

// returnBuffered returns to the store, at a stop, the jobs that were claimed ahead and not started.
func (r *runner) returnBuffered(e *Engine) {
	r.placeScheduled(e)
	for e.leases.waiting > 0 {
		s, h := r.nextInLine(e)
		e.leases.finish(h)
		e.commit.add(e, s, &h.lease, Canceled, h.heldAt)
	}
}

// onLost handles the loss of the lease in slot s: its handler is cancelled, or its job never started.
func (r *runner) onLost(e *Engine, s Slot) {
	h := e.leases.get(s)
	h.lost = true
	e.record(Event{Kind: LeaseLost}, s, h)
	switch h.phase {
	case scheduled:
		e.leases.release(s)
	case buffered:
		r.line.leave(s)
		e.leases.waiting--
		e.leases.release(s)
	case running, timedOut:
		e.driver.Cancel(s, LeaseExpired)
	}
}

// observe reports the end of an execution, with the error kind err, to the fetch policy.
func (e *Engine) observe(l *Lease, err ErrorKind) {
	if e.fetch.observes {
		e.fetch.observed = Observation{Now: e.now, Ended: true, Class: l.Class(), Job: l.Kind, Error: err}
		e.cfg.Policy.Observe(&e.fetch.observed)
	}
}
