package engine

import "qsim/engine/heap"

// expirer gives up the leases that have expired by the node's own wall clock, if LeaseConfig.Local is set: without a
// call to the store, and without sending it the outcomes of their jobs.
type expirer struct {
	due   heap.Heap[slotTime] // expiries by the node's wall clock
	until []Time              // by slot, expiry of the lease; Never once that was handled
}

func (x *expirer) deadline(e *Engine) Time {
	if x.first(e) == noSlot {
		return Never
	}
	return x.due[0].at.Add(-e.ahead)
}

// first returns the slot of the lease that expires first by the node's wall clock; noSlot if there is none.
func (x *expirer) first(e *Engine) Slot {
	for len(x.due) > 0 {
		if d := x.due[0]; x.until[d.slot] == d.at && e.leases.slots[d.slot].phase != unheld {
			return d.slot
		}
		x.due.Pop()
	}
	return noSlot
}

// onHeld records the time at which the lease in slot s (of the lease table) expires by the wall clock, for first.
func (x *expirer) onHeld(e *Engine, s Slot, at Time) {
	x.until = append(x.until, make([]Time, max(0, int(s)+1-len(x.until)))...)
	x.until[s] = at
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
	if e.leases.slots[s].phase != unheld && x.until[s] < until { // else it has expired, or has a later one
		x.onHeld(e, s, until)
	}
}

func (x *expirer) tick(e *Engine) {
	for x.deadline(e) <= e.now {
		s := x.first(e)
		h := e.leases.get(s)
		x.until[s] = Never
		if h.lost || h.settled {
			continue
		}
		e.leases.beats.leave(s)
		if h.phase == finished || h.phase == timedOut {
			e.commit.onExpired(e, s)
			continue
		}
		e.run.onLost(e, s)
	}
}
