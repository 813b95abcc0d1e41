package engine

import "slices"

// heartbeater extends each held lease every LeaseConfig.Heartbeat, counted from the answer to its claim, and cancels
// the jobs whose lease turns out to be lost. A lost heartbeat is not repeated: the next one is soon.
type heartbeater struct {
	nodeAt Time   // time of the next heartbeat of the node, with LeaseConfig.OfNode
	pulse  pulse  // timer of the node's heartbeats
	flying []beat // heartbeat calls under way, in the order in which they were sent
}

// beat is a heartbeat call under way.
type beat struct {
	id     uint64
	lostAt Time  // time at which it counts as lost
	leases int32 // number of leases that it lists
}

// slotKey is a lease that a heartbeat extends, with its slot in the lease table, which may hold another lease by the
// time of the answer.
type slotKey struct {
	slot Slot
	key  LeaseKey
}

func (h *heartbeater) init(cfg *Config, now Time) {
	h.nodeAt, h.pulse.timer = Never, beats
	if cfg.Lease.OfNode {
		h.nodeAt = now
	}
}

func (h *heartbeater) deadline(e *Engine) Time {
	_, d := e.leases.beats.first(0)
	d = min(d, h.nodeAt)
	if len(h.flying) > 0 {
		d = min(d, h.flying[0].lostAt) // sent in order, all time out alike
	}
	return d
}

func (h *heartbeater) onHeld(e *Engine, s Slot) {
	if e.cfg.Lease.Heartbeat > 0 && !e.cfg.Lease.OfNode {
		h.enlist(e, s)
	}
}

func (h *heartbeater) enlist(e *Engine, s Slot) {
	at := e.now.Add(e.cfg.Lease.Heartbeat)
	e.leases.beats.add(0, s, at)
	e.arm(at)
}

func (h *heartbeater) tick(e *Engine) {
	for len(h.flying) > 0 && e.now >= h.flying[0].lostAt {
		e.record(Event{Kind: CallTimedOut, Op: OpExtend, Count: h.flying[0].leases}, noSlot, nil)
		h.flying = slices.Delete(h.flying, 0, 1)
	}
	if e.now >= h.nodeAt {
		h.nodeAt = e.now.Add(h.pulse.pause(&e.cfg, e.cfg.Lease.Heartbeat, nil))
		c := h.call(e)
		c.OfNode, c.Kept = true, e.cfg.Lease.Kept
		h.send(e, c)
	}
	var c *Call
	for s, at := e.leases.beats.first(0); at <= e.now; s, at = e.leases.beats.first(0) {
		e.leases.beats.leave(s)
		l := &e.leases.slots[s]
		if longest := e.cfg.Lease.Max; longest > 0 && e.now.Add(e.cfg.Lease.TTL).Sub(l.heldAt) > longest {
			continue // it must lapse
		}
		if c == nil {
			c = h.call(e)
		}
		c.extends, c.Keys = append(c.extends, slotKey{s, l.lease.Key()}), append(c.Keys, l.lease.Key())
		h.enlist(e, s) // a process that was frozen skips the heartbeats it missed, and the list keeps its order
	}
	if c != nil {
		h.send(e, c)
	}
}

// call returns a record for a heartbeat, which lists no leases yet.
func (h *heartbeater) call(e *Engine) *Call {
	c := e.call(OpExtend)
	c.TTL, c.Keys, c.extends = e.ttl(), c.Keys[:0], c.extends[:0]
	return c
}

// send sends a heartbeat, which extends the leases that it lists or, with LeaseConfig.OfNode, all leases of the node.
func (h *heartbeater) send(e *Engine, c *Call) {
	lostAt := e.now.Add(e.cfg.CallTimeout)
	h.flying = append(h.flying, beat{c.ID, lostAt, int32(len(c.Keys))})
	e.arm(lostAt)
	e.driver.Send(c)
}

func (h *heartbeater) onExtended(e *Engine, r *Call) {
	i := slices.IndexFunc(h.flying, func(b beat) bool { return b.id == r.ID })
	if i < 0 {
		return
	}
	if h.flying = slices.Delete(h.flying, i, i+1); r.Err != nil {
		return
	}
	if e.cfg.Lease.Local {
		e.expire.onExtended(e, r)
	}
	for i, x := range r.extends {
		l := &e.leases.slots[x.slot]
		// The slot may have been released, even reused, since we asked.
		if r.Extensions[i] != Stale || l.phase == unheld || l.lease.Key() != x.key || l.lost {
			continue
		}
		if l.phase == finished || l.settled {
			continue // its commit will be refused
		}
		e.leases.beats.leave(x.slot)
		e.run.onLost(e, x.slot)
	}
}
