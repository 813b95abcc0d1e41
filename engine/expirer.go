package engine

import "qsim/engine/heap"

// expirer gives up the leases that have expired by the node's own wall clock, if LeaseConfig.Local is set: without a
// call to the store, and without sending it the outcomes of their jobs.
type expirer struct {
	due heap.Heap[slotTime] // expiries by the node's wall clock
}

func (x *expirer) deadline(e *Engine) Time {
	if _, h := x.first(e); h != nil {
		return h.due[forExpiry].Add(-e.ahead)
	}
	return Never
}

// first returns the lease that expires first by the node's wall clock, with its slot; noSlot and nil if there is none.
func (x *expirer) first(e *Engine) (Slot, *heldLease) {
	for len(x.due) > 0 {
		d := x.due[0]
		if h := &e.leases.slots[d.slot]; h.due[forExpiry] == d.at {
			return d.slot, h
		}
		x.due.Pop()
	}
	return noSlot, nil
}

// onHeld records the time at which the lease in slot s (of the lease table) expires by the wall clock, for first.
func (x *expirer) onHeld(e *Engine, s Slot, at Time) {
	e.leases.slots[s].due[forExpiry] = at
	x.due.Push(slotTime{at, s})
	e.arm(at.Add(-e.ahead))
}

// onExtended records the new expiry of the leases that a heartbeat has extended: those with Applied in the answer or,
// with LeaseConfig.OfNode, all leases of the node.
func (x *expirer) onExtended(e *Engine, r *Call) {
	expiry := r.sentAt.Add(r.TTL)
	for i, l := range r.extends {
		if r.Extensions[i] == Applied && e.leases.slots[l.slot].lease.Key() == l.key {
			x.prolong(e, l.slot, expiry)
		}
	}
	if e.cfg.Lease.OfNode {
		for s := range e.leases.slots {
			x.prolong(e, Slot(s), expiry)
		}
	}
}

func (x *expirer) prolong(e *Engine, s Slot, until Time) {
	if e.leases.slots[s].due[forExpiry] < until { // else it has none, or a later one
		x.onHeld(e, s, until)
	}
}

func (x *expirer) tick(e *Engine) {
	for x.deadline(e) <= e.now {
		s, h := x.first(e)
		h.leave(forExpiry)
		if h.lost || h.settled {
			continue
		}
		h.leave(forBeat)
		if h.phase == finished || h.phase == timedOut {
			e.commit.onExpired(e, s)
			continue
		}
		e.run.onLost(e, s)
	}
}
