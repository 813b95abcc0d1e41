package engine

import "time"

// runner hands leases to workers, watches execution timeouts, and hands what came
// of them to the committer.
type runner struct {
	early    earlyHeap  // leases claimed before they are due
	line     slotList   // buffered leases, first come first
	timeouts []timeouts // one list per distinct execution timeout
	byKind   []uint8    // index into timeouts, by kind; noTimeout: none
	acked    []LeaseKey // with LeaseConfig.AckAtStart: what the calls of this step name
}

// timeouts lists the running leases of one execution timeout: they time out in the
// order in which they started.
type timeouts struct {
	after time.Duration
	list  slotList
}

const noTimeout = ^uint8(0)

func (r *runner) init(cfg *Config) {
	r.line = newSlotList(queueLink)
	for _, k := range cfg.Kinds {
		at := noTimeout
		for i := range r.timeouts {
			if r.timeouts[i].after == k.Timeout {
				at = uint8(i)
			}
		}
		if k.Timeout > 0 && at == noTimeout && len(r.timeouts) < int(noTimeout) {
			at = uint8(len(r.timeouts))
			r.timeouts = append(r.timeouts, timeouts{k.Timeout, newSlotList(queueLink)})
		}
		r.byKind = append(r.byKind, at)
	}
}

func (r *runner) deadline(t *leaseTable) Time {
	d := r.early.next()
	for i := range r.timeouts {
		if s := r.timeouts[i].list.head; s != noSlot {
			d = min(d, t.slots[s].dueAt)
		}
	}
	return d
}

// tick nacks what has run too long and asks for it to be stopped. The worker stays
// busy until the handler returns.
func (r *runner) tick(e *Engine) {
	r.runDue(e)
	for i := range r.timeouts {
		list := &r.timeouts[i].list
		for list.head != noSlot && e.leases.slots[list.head].dueAt <= e.now {
			s := list.head
			h := e.leases.get(s)
			list.remove(&e.leases, s)
			h.timeouts = noTimeout
			if h.lost {
				continue // it has been told to stop
			}
			e.event = Event{Kind: TimedOut, Error: Timeout, Ran: r.timeouts[i].after}
			e.record(s, h)
			e.effects.Cancels = append(e.effects.Cancels, Cancel{s, Timeout})
			h.phase = overrun
			e.commit.add(e, s, e.outcome(&h.lease, Timeout, h.heldAt))
			e.observe(&h.lease, Timeout)
		}
	}
}

// take holds a lease that a claim brought until the wall clock reads expiry, which
// matters only to LeaseConfig.Local: a worker runs its job now, or it waits.
func (r *runner) take(e *Engine, l *Lease, expiry Time) {
	s := e.leases.hold(l, e.now)
	e.heartbeat.onHeld(e, s)
	if e.cfg.Lease.Local {
		e.expire.onHeld(e, s, expiry)
		if e.expire.expired(e, s) { // the answer was too long on its way
			e.event = Event{Kind: LeaseLost}
			e.record(s, &e.leases.slots[s])
			e.drop(s)
			return
		}
	}
	if l.Waited < 0 {
		r.hold(e, s)
		return
	}
	r.place(e, s)
}

// place gives a held lease to a worker, or puts it in line for one.
func (r *runner) place(e *Engine, s Slot) {
	if e.leases.idle > 0 && !e.stopping {
		r.start(e, s)
		return
	}
	e.leases.slots[s].phase = buffered
	e.leases.waiting++
	r.line.pushBack(&e.leases, s)
}

func (r *runner) start(e *Engine, s Slot) {
	h := &e.leases.slots[s]
	h.phase = running
	e.leases.idle--
	h.timeouts = r.byKind[min(int(h.lease.Kind), len(r.byKind)-1)]
	if h.timeouts != noTimeout {
		t := &r.timeouts[h.timeouts]
		h.dueAt = e.now.Add(t.after)
		t.list.pushBack(&e.leases, s)
	}
	if e.cfg.Lease.AckAtStart {
		r.acked = append(r.acked, h.lease.Key())
		c := e.call(OpExtend)
		c.TTL, c.Leases = Forever, r.acked[len(r.acked)-1:]
	}
	e.effects.Starts = append(e.effects.Starts, Start{s, h.lease.Job})
	e.event = Event{}
	e.event.Kind, e.event.Waited = Started, h.lease.Waited+e.now.Sub(h.heldAt)
	e.record(s, h)
}

// onFinished takes the outcome of a handler and gives its worker the next job.
func (r *runner) onFinished(e *Engine, s Slot, err ErrorKind, ran time.Duration) {
	h := e.leases.get(s)
	if h.phase != running && h.phase != overrun {
		panic("engine: no handler runs in that slot")
	}
	e.event = Event{}
	e.event.Kind, e.event.Error, e.event.Ran = Finished, err, ran
	e.record(s, h)
	busy := e.leases.idle == 0
	e.leases.idle++
	if h.timeouts != noTimeout {
		r.timeouts[h.timeouts].list.remove(&e.leases, s)
		h.timeouts = noTimeout
	}
	switch {
	case h.phase == overrun && h.settled, h.lost && h.phase == running:
		e.drop(s)
	case h.phase == overrun:
		e.leases.finish(h) // its outcome is under way
	default:
		e.leases.finish(h)
		e.commit.add(e, s, e.outcome(&h.lease, err, h.heldAt))
		e.observe(&h.lease, err)
	}
	if next := r.line.head; next != noSlot && !e.stopping {
		r.unline(e, next)
		r.start(e, next)
	}
	if busy {
		e.fetch.onUnheard()
	}
	e.fetch.onWorkerFree(e)
}

func (r *runner) unline(e *Engine, s Slot) {
	r.line.remove(&e.leases, s)
	e.leases.waiting--
}

// returnBuffered hands back what has been claimed ahead and not started.
func (r *runner) returnBuffered(e *Engine) {
	r.returnEarly(e)
	for s := r.line.head; s != noSlot; s = r.line.head {
		h := e.leases.get(s)
		r.unline(e, s)
		e.leases.finish(h)
		e.commit.add(e, s, e.outcome(&h.lease, Canceled, h.heldAt))
	}
}

// onLost is told that the lease in slot s is gone.
func (r *runner) onLost(e *Engine, s Slot) {
	h := e.leases.get(s)
	h.lost = true
	e.event = Event{Kind: LeaseLost}
	e.record(s, h)
	switch h.phase {
	case early:
		e.drop(s)
	case buffered:
		r.unline(e, s)
		e.drop(s)
	case running, overrun:
		e.effects.Cancels = append(e.effects.Cancels, Cancel{s, LeaseExpired})
	}
}

// drop lets go of a lease whose handler does not run.
func (e *Engine) drop(s Slot) {
	e.heartbeat.onDropped(e, s)
	e.expire.onDropped(e, s)
	e.leases.release(s)
}

func (e *Engine) observe(l *Lease, err ErrorKind) {
	o := &e.fetch.observed
	o.Now, o.Kind, o.Class, o.Job, o.Error, o.Kinds, o.Count = e.now, Succeeded, l.Class(), l.Kind, err, 0, 1
	if err != NoError {
		o.Kind = Failed
	}
	e.cfg.Policy.Observe(o)
}
