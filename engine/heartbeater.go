package engine

// heartbeater extends each held lease every LeaseConfig.Heartbeat, counted from the answer to its claim, and cancels
// the jobs whose lease turns out to be lost. A lost heartbeat is not repeated: the next one is soon.
type heartbeater struct {
	nodeAt Time       // time of the next heartbeat of the node, with LeaseConfig.OfNode
	pulse  pulse      // timer of the node's heartbeats
	due    leaseQueue // without LeaseConfig.OfNode: held leases, next heartbeat first
	flying []beat     // heartbeat calls under way, in the order in which they were sent
	spare  []beat     // records to reuse
}

// beat is a heartbeat call under way, with the leases that it extends.
type beat struct {
	id     uint64
	lostAt Time       // time at which it counts as lost
	expiry Time       // expiry of the extended leases, by the wall clock
	slots  []Slot     // slots of these leases in the lease table
	keys   []LeaseKey // their keys, since a slot may hold another lease when the answer comes
}

func (h *heartbeater) init(cfg *Config, now Time) {
	h.nodeAt, h.pulse.timer = Never, beats
	h.due.of = forBeat
	if cfg.Lease.OfNode {
		h.nodeAt = now
	}
}

func (h *heartbeater) deadline(e *Engine) Time {
	d := h.nodeAt
	if _, l := h.due.first(&e.leases); l != nil {
		d = min(d, l.due[forBeat])
	}
	if len(h.flying) > 0 {
		d = min(d, h.flying[0].lostAt) // sent in order, all time out alike
	}
	return d
}

func (h *heartbeater) onHeld(e *Engine, s Slot, l *heldLease) {
	if e.cfg.Lease.Heartbeat > 0 && !e.cfg.Lease.OfNode {
		h.enlist(e, s, l, e.now)
	}
}

func (h *heartbeater) enlist(e *Engine, s Slot, l *heldLease, from Time) {
	at := from.Add(e.cfg.Lease.Heartbeat)
	h.due.add(&e.leases, s, l, at)
	e.arm(at)
}

// onSettled stops the heartbeats of the lease in slot s (of the lease table), which is lost or whose job is settled.
func (h *heartbeater) onSettled(e *Engine, s Slot) { e.leases.slots[s].leave(forBeat) }

func (h *heartbeater) tick(e *Engine) {
	for len(h.flying) > 0 && e.now >= h.flying[0].lostAt {
		e.record(Event{Kind: CallTimedOut, Op: OpExtend, Count: int32(len(h.flying[0].keys))}, noSlot, nil)
		h.land(0)
	}
	if e.now >= h.nodeAt {
		h.nodeAt = e.now.Add(h.pulse.pause(&e.cfg, e.cfg.Lease.Heartbeat, nil))
		h.send(e, h.newBeat())
	}
	s, l := h.due.first(&e.leases)
	if l == nil || l.due[forBeat] > e.now {
		return
	}
	b := h.newBeat()
	for ; l != nil && l.due[forBeat] <= e.now; s, l = h.due.first(&e.leases) {
		if longest := e.cfg.Lease.Max; longest > 0 && e.now.Add(e.cfg.Lease.TTL).Sub(l.heldAt) > longest {
			h.onSettled(e, s) // it must lapse
			continue
		}
		b.slots, b.keys = append(b.slots, s), append(b.keys, l.lease.Key())
		// A process that was frozen skips the heartbeats it missed: otherwise the
		// list would lose its order.
		h.enlist(e, s, l, max(l.due[forBeat], e.now))
	}
	if len(b.keys) == 0 {
		h.spare = append(h.spare, b)
		return
	}
	h.send(e, b)
}

// send sends heartbeat b, which extends the leases that it lists or, with LeaseConfig.OfNode, all leases of the node.
func (h *heartbeater) send(e *Engine, b beat) {
	c := e.call(OpExtend)
	c.TTL, c.Keys = e.ttl(), append(c.Keys[:0], b.keys...)
	if e.cfg.Lease.OfNode {
		c.OfNode, c.Kept = true, e.cfg.Lease.Kept
	}
	b.id, b.lostAt, b.expiry = c.ID, e.now.Add(e.cfg.CallTimeout), e.now.Add(c.TTL)
	h.flying = append(h.flying, b)
	e.arm(b.lostAt)
	e.driver.Send(c)
}

func (h *heartbeater) onExtended(e *Engine, r *Call) {
	for i := range h.flying {
		if h.flying[i].id != r.ID {
			continue
		}
		b := &h.flying[i]
		if e.cfg.Lease.Local && r.Err == nil {
			e.expire.onExtended(e, b, r.Extensions)
		}
		for k, s := range b.slots {
			l := &e.leases.slots[s]
			// The slot may have been released, even reused, since we asked.
			if r.Err != nil || r.Extensions[k] != Stale || l.phase == unheld || l.lease.Key() != b.keys[k] || l.lost {
				continue
			}
			if l.phase == finished || l.settled {
				continue // its commit will be refused
			}
			h.onSettled(e, s)
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
