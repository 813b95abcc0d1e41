package check

import "qsim/engine"

// openRoom begins to look at how much a claim brings. While workers are idle no job waits in
// a process, so how much room there was when it was made is known by how many were busy, at
// the most, since the claim before was executed.
func (c *Checker) openRoom(e *engine.Event) {
	n := &c.nodes[e.Node]
	c.claim.busiest, n.busiest = n.busiest, n.busy
	clean := c.heard(c.now) && (n.missed == 0 || c.now.Sub(n.missed) > c.rules.Trip)
	c.claim.judged = c.d.rooms && clean && n.up && !n.frozen && n.stopped == engine.Never && c.claim.busiest < c.rules.Node.Workers
}

// closeRoom holds the latest claim, which brought that many jobs, against the room that its
// node had: none may leave jobs ready that there was room for.
func (c *Checker) closeRoom(claimed int) {
	l, cfg := &c.claim, &c.rules.Node
	left := l.before[engine.Fresh] + l.before[engine.Retry] - claimed
	if left <= 0 {
		return
	}
	c.hold(Idleness, Rooms)
	if room := min(cfg.Workers-l.busiest+cfg.Fetch.Prefetch, cfg.Fetch.Batch); claimed < room {
		c.Complain(Idleness, 0, "node %d claimed %d jobs and had room for %d, and left %d that were ready", l.node, claimed, room, left)
	}
}
