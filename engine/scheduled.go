package engine

// holdUntilDue makes a job that was claimed before it is due (see StoreOptions.Held) wait in its slot s (of the lease
// table) until then. It occupies no worker and no prefetch slot, and policies do not count it as in flight.
func (r *runner) holdUntilDue(e *Engine, s Slot, h *heldLease) {
	h.phase, h.dueAt = scheduled, e.now.Add(-h.lease.Waited)
	e.leases.inFlight[h.lease.Class()]--
	r.scheduled.Push(slotTime{h.dueAt, s})
	e.arm(h.dueAt)
}

// placeScheduled gives the leases whose jobs have become due to workers, or queues them; at a stop it queues all that
// wait, to be returned.
func (r *runner) placeScheduled(e *Engine) {
	for len(r.scheduled) > 0 && (r.scheduled[0].at <= e.now || e.stopping) {
		d := r.scheduled.Pop()
		if h := &e.leases.slots[d.slot]; h.phase == scheduled && h.dueAt == d.at {
			e.leases.inFlight[h.lease.Class()]++
			r.place(e, d.slot, h)
		}
	}
}
