package engine

// heartbeater extends each held lease every LeaseConfig.Heartbeat, counted from
// when the lease was learned of, and cancels the jobs whose lease turns out to be
// gone. A heartbeat that is lost is not repeated: the next one is soon.
type heartbeater struct {
	nodeAt Time     // next heartbeat of the node, where leases are of the node
	line   slotList // held leases, next heartbeat first, where they are not
	flying []beat
	spare  []beat
}

// beat is a call under way.
type beat struct {
	id     CallID
	lostAt Time
	expiry Time // of what it extends, by the wall clock
	slots  []Slot
	keys   []LeaseKey
}

func (h *heartbeater) init(cfg *Config, now Time) {
	h.line, h.nodeAt = newSlotList(beatLink), Never
	if cfg.Lease.OfNode {
		h.nodeAt = now
	}
}

func (h *heartbeater) deadline(t *leaseTable) Time {
	d := h.nodeAt
	if s := h.line.head; s != noSlot {
		d = min(d, t.slots[s].beatAt)
	}
	if len(h.flying) > 0 {
		d = min(d, h.flying[0].lostAt) // sent in order, all time out alike
	}
	return d
}

func (h *heartbeater) onHeld(e *Engine, s Slot) {
	if e.cfg.Lease.Heartbeat > 0 && !e.cfg.Lease.OfNode {
		h.enlist(e, s, e.now)
	}
}

func (h *heartbeater) enlist(e *Engine, s Slot, from Time) {
	e.leases.slots[s].beatAt = from.Add(e.cfg.Lease.Heartbeat)
	h.line.pushBack(&e.leases, s)
}

// onDropped is told that the lease in slot s needs no more heartbeats.
func (h *heartbeater) onDropped(e *Engine, s Slot) {
	if l := &e.leases.slots[s]; l.beatAt != Never {
		l.beatAt = Never
		h.line.remove(&e.leases, s)
	}
}

func (h *heartbeater) tick(e *Engine) {
	for len(h.flying) > 0 && e.now >= h.flying[0].lostAt {
		e.event = Event{Kind: CallTimedOut, Op: OpExtend, Count: int32(len(h.flying[0].keys))}
		e.record(noSlot, nil)
		h.land(0)
	}
	if e.now >= h.nodeAt {
		h.nodeAt = e.now.Add(e.cfg.Lease.Heartbeat)
		h.send(e, h.newBeat())
	}
	if s := h.line.head; s == noSlot || e.leases.slots[s].beatAt > e.now {
		return
	}
	b := h.newBeat()
	for s := h.line.head; s != noSlot && e.leases.slots[s].beatAt <= e.now; s = h.line.head {
		l := &e.leases.slots[s]
		if longest := e.cfg.Lease.Max; longest > 0 && e.now.Add(e.cfg.Lease.TTL).Sub(l.heldAt) > longest {
			h.onDropped(e, s) // it must lapse
			continue
		}
		b.slots, b.keys = append(b.slots, s), append(b.keys, l.lease.Key())
		h.line.remove(&e.leases, s)
		// A process that was frozen skips the heartbeats it missed: otherwise the
		// list would lose its order.
		h.enlist(e, s, max(l.beatAt, e.now))
	}
	if len(b.keys) == 0 {
		h.spare = append(h.spare, b)
		return
	}
	h.send(e, b)
}

// send asks for the extension of the leases in b; none: of all that the node holds.
func (h *heartbeater) send(e *Engine, b beat) {
	c := e.call(OpExtend)
	c.TTL, c.Leases = e.ttl(), b.keys
	if e.cfg.Lease.OfNode {
		c.Node, c.Kept = true, e.cfg.Lease.Kept
	}
	b.id, b.lostAt, b.expiry = c.ID, e.now.Add(e.cfg.CallTimeout), e.now.Add(c.TTL)
	h.flying = append(h.flying, b)
}

func (h *heartbeater) onExtended(e *Engine, r *Reply) {
	for i := range h.flying {
		if h.flying[i].id != r.ID {
			continue
		}
		b := &h.flying[i]
		if e.cfg.Lease.Local && r.Err == nil {
			e.expire.onExtended(e, b, r.Current)
		}
		for k, s := range b.slots {
			l := &e.leases.slots[s]
			// The slot may have been released, even reused, since we asked.
			if r.Err != nil || r.Current[k] || l.phase == unheld || l.lease.Key() != b.keys[k] || l.lost {
				continue
			}
			if l.phase == finished || l.settled {
				continue // the commit will be told
			}
			h.onDropped(e, s)
			e.run.onLost(e, s)
		}
		h.land(i)
		return
	}
}

func (h *heartbeater) land(i int) {
	b := h.flying[i]
	h.flying = append(h.flying[:i], h.flying[i+1:]...)
	b.slots, b.keys = b.slots[:0], b.keys[:0]
	h.spare = append(h.spare, b)
}

func (h *heartbeater) newBeat() beat {
	if n := len(h.spare); n > 0 {
		b := h.spare[n-1]
		h.spare = h.spare[:n-1]
		return b
	}
	return beat{}
}
