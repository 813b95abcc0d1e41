package engine

// holdUntilDue makes a job that was claimed before it is due (see StoreOptions.Held) wait in its slot s (of the lease
// table) until then. It occupies no worker and no prefetch slot, and policies do not count it as in flight.
func (r *runner) holdUntilDue(e *Engine, s Slot, h *heldLease) {
	h.phase, h.dueAt = scheduled, e.now.Add(-h.lease.Waited)
	e.leases.inFlight[h.lease.Class()]--
	r.scheduled.Push(e.leases.at(h.dueAt, s))
	e.arm(h.dueAt)
}

// nextScheduled returns the earliest due time of the jobs that were claimed before they are due, Never if there are
// none. A job whose lease has been lost counts until then.
func (r *runner) nextScheduled() Time {
	if len(r.scheduled) == 0 {
		return Never
	}
	return r.scheduled[0].at
}

// popScheduled removes and returns the first lease that waits until its job is due, nil if it was released since.
func (r *runner) popScheduled(e *Engine) (Slot, *heldLease) {
	d := r.scheduled.Pop()
	if h := e.leases.of(d); h != nil && h.phase == scheduled {
		return d.slot, h
	}
	return noSlot, nil
}

// startScheduled gives the leases that waited until their jobs were due, and are due now, to workers, or queues them.
func (r *runner) startScheduled(e *Engine) {
	for r.nextScheduled() <= e.now && len(r.scheduled) > 0 {
		if s, h := r.popScheduled(e); h != nil {
			e.leases.inFlight[h.lease.Class()]++
			r.place(e, s, h)
		}
	}
}

// returnScheduled returns to the store, at a stop, the jobs that were claimed before they are due and wait for that.
func (r *runner) returnScheduled(e *Engine) {
	for len(r.scheduled) > 0 {
		if s, h := r.popScheduled(e); h != nil {
			e.leases.finish(h)
			e.commit.add(e, s, &h.lease, Canceled, h.heldAt)
		}
	}
}
