package engine

// holdUntilDue keeps the lease in slot s, which the store has handed out before it is due, see
// StoreOptions.Held. It takes up no worker and no place among those claimed ahead, and is not
// in flight for a policy: it waits.
func (r *runner) holdUntilDue(e *Engine, s Slot) {
	h := &e.leases.slots[s]
	h.phase, h.dueAt = scheduled, e.now.Add(-h.lease.Waited)
	e.leases.inFlight[h.lease.Class()]--
	r.scheduled.Push(e.leases.at(h.dueAt, s))
	e.arm(h.dueAt)
}

// nextScheduled is when the first of the scheduled leases may run. What has left its slot since
// counts until its time.
func (r *runner) nextScheduled() Time {
	if len(r.scheduled) == 0 {
		return Never
	}
	return r.scheduled[0].at
}

// popScheduled takes out the scheduled lease that comes first, or nil in its place if it is held no
// more.
func (r *runner) popScheduled(e *Engine) (Slot, *heldLease) {
	d := r.scheduled.Pop()
	if h := e.leases.of(d); h != nil && h.phase == scheduled {
		return d.slot, h
	}
	return noSlot, nil
}

// startScheduled places the leases whose time has come.
func (r *runner) startScheduled(e *Engine) {
	for r.nextScheduled() <= e.now && len(r.scheduled) > 0 {
		if s, h := r.popScheduled(e); h != nil {
			h.dueAt = Never
			e.leases.inFlight[h.lease.Class()]++
			r.place(e, s)
		}
	}
}

// returnScheduled hands back what is held for its time.
func (r *runner) returnScheduled(e *Engine) {
	for len(r.scheduled) > 0 {
		if s, h := r.popScheduled(e); h != nil {
			e.leases.finish(h)
			e.commit.add(e, s, &h.lease, Canceled, h.heldAt)
		}
	}
}
