package engine

// expirer gives up the leases that have expired by the node's own wall clock, where
// LeaseConfig.Local wants it: without asking the store, and without telling it what
// became of their jobs.
type expirer struct {
	line slotList // held leases, next to expire first
}

func (x *expirer) init() { x.line = newSlotList(expiryLink) }

func (x *expirer) deadline(e *Engine) Time {
	if s := x.line.head; s != noSlot {
		return e.leases.slots[s].expiry.Add(-e.ahead)
	}
	return Never
}

// onHeld is told that the lease in slot s expires when the wall clock reads expiry.
func (x *expirer) onHeld(e *Engine, s Slot, expiry Time) {
	h := &e.leases.slots[s]
	h.expiry = expiry
	// Looked for from the back, which is where it belongs unless the clock was set
	// back since the others were asked for.
	after := x.line.tail
	for after != noSlot && e.leases.slots[after].expiry > expiry {
		after = x.line.link(&e.leases, after).prev
	}
	x.line.insertAfter(&e.leases, s, after)
}

// onDropped is told that the lease in slot s is held no more.
func (x *expirer) onDropped(e *Engine, s Slot) {
	if h := &e.leases.slots[s]; h.expiry != Never {
		h.expiry = Never
		x.line.remove(&e.leases, s)
	}
}

// onExtended is told that the store has extended those leases of b that are current,
// or all leases.
func (x *expirer) onExtended(e *Engine, b *beat, current []bool) {
	for k, s := range b.slots {
		h := &e.leases.slots[s]
		if current[k] && h.phase != unheld && h.lease.Key() == b.keys[k] {
			x.prolong(e, s, b.expiry)
		}
	}
	if e.cfg.Lease.OfNode {
		for s := range e.leases.slots {
			x.prolong(e, Slot(s), b.expiry)
		}
	}
}

func (x *expirer) prolong(e *Engine, s Slot, expiry Time) {
	if h := &e.leases.slots[s]; h.expiry != Never && h.expiry < expiry {
		x.onDropped(e, s)
		x.onHeld(e, s, expiry)
	}
}

func (x *expirer) tick(e *Engine) {
	for s := x.line.head; s != noSlot && x.expired(e, s); s = x.line.head {
		h := &e.leases.slots[s]
		x.onDropped(e, s)
		if h.lost || h.settled {
			continue
		}
		e.heartbeat.onDropped(e, s)
		if h.phase == finished || h.phase == overrun {
			e.commit.onExpired(e, s)
			continue
		}
		e.run.onLost(e, s)
	}
}

// expired reports whether the lease in slot s has expired by the wall clock.
func (x *expirer) expired(e *Engine, s Slot) bool {
	return e.leases.slots[s].expiry <= e.now.Add(e.ahead)
}
