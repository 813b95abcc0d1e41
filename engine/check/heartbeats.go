package check

import (
	"time"

	"qsim/engine"
)

// onAsked notes that a process has asked the store to prolong a lease, and checks that it
// may: not for longer than Lease.Max lets it.
func (c *Checker) onAsked(e *engine.Event, j *job) {
	if e.Token != j.token {
		return
	}
	j.asked = e.At
	longest, n := c.rules.Node.Lease.Max, &c.nodes[j.node]
	if longest == 0 || n.returnsLate || n.woke > 0 && n.woke >= j.claimed || e.Kind != engine.Extended || !c.heard(e.At) {
		return
	}
	c.hold(Leases, Heartbeats)
	way := c.rules.Way
	if way == 0 {
		way = c.rules.Trip
	}
	// It learned of the lease when the answer had come, and asks when its call sets out.
	if had := e.At.Sub(j.claimed) + c.d.ttl - 2*way; had > longest {
		c.complain(Leases, e, "the lease of %v is prolonged %v after its claim, and may last for %v", c.d.ttl, e.At.Sub(j.claimed), longest)
	}
}

// heard reports whether no call that was executed since so long ago was lost, refused or
// late.
func (c *Checker) heard(since engine.Time) bool {
	return c.rules.Trip > 0 && c.rules.Heard > 0 && since >= c.rules.Heard
}

// beats checks that a process has asked for a lease that it holds as often as it should,
// since it learned of it, which it did at a time at the latest.
func (c *Checker) beats(n *node, j *job, token engine.Token, learned engine.Time) {
	l := &c.rules.Node.Lease
	if l.Heartbeat == 0 || c.rules.Trip == 0 || c.rules.Heard == 0 || n.frozen || j == nil || j.reaped || token != j.token || j.dropped == token {
		return
	}
	if l.Max > 0 && c.now.Sub(j.claimed)+c.d.ttl+l.Heartbeat > l.Max {
		return // it must lapse
	}
	last := j.asked
	if l.OfNode {
		last = n.asked
	}
	from := max(learned, last, n.woke, n.began, c.rules.Heard)
	least := l.Heartbeat + c.rules.Trip
	if c.now.Sub(learned) > least {
		c.hold(Leases, Heartbeats)
	}
	if silent := c.now.Sub(from); silent > least {
		c.Complain(Leases, j.id, "node %d holds its lease and has not asked for longer since %v: a heartbeat is due every %v", j.node, time.Duration(from), l.Heartbeat)
	}
}

// beatsTo checks the same when the lease of an execution is taken that has begun: until the
// store knows what came of it, its process holds the lease.
func (c *Checker) beatsTo(j *job) {
	n := &c.nodes[j.node]
	if n.up && j.life == n.life && j.begun&bit(j.delivery) != 0 {
		c.beats(n, j, j.token, j.claimed.Add(c.rules.Trip))
	}
}
