package check

import "qsim/engine"

// claim is the record of the latest claim call of any node. The events of the leases that it granted follow it.
type claim struct {
	node    int32                  // node that made it
	open    bool                   // the latest call is a claim
	judged  bool                   // the claim was checked against its node's capacity
	last    *job                   // latest job that it returned; nil: none yet
	busiest int                    // most jobs that its node ran since the previous claim
	before  [engine.NumClasses]int // by class, ready jobs when the claim was executed
	claimed [engine.NumClasses]int // by class, jobs of its leases so far
}

// followCall ends the latest claim, as another call is executed: the leases that it granted have been recorded.
func (c *Checker) followCall(s *subject) {
	if s.Op == engine.OpExtend {
		s.n.asked = s.At
	}
	if l := &c.claim; l.open {
		l.open = false
		if c.d.shares {
			c.nodes[l.node].owed, _ = c.share(l)
		}
	}
}

func (c *Checker) followRecoverCall(s *subject) {
	c.followCall(s)
	n := s.n
	if n.reapBy != engine.Never && s.Count > 0 && !c.d.guarded && !c.rules.Node.Lease.Local {
		n.reapBy = c.now.Add(c.rules.Trip) // it recovers again until no expired lease is found
	} else {
		n.reapBy = engine.Never
	}
	if c.d.led > 0 && c.now >= c.rules.Calm {
		c.reaps.by(s.Node+1, c.now)
	}
}

// followClaimCall begins to count the leases that a claim grants.
func (c *Checker) followClaimCall(s *subject) {
	c.followCall(s)
	n := s.n
	c.woken = engine.Never
	n.owing.turn++
	n.owing.all, n.owing.since = n.owing.all+n.owing.since, 0
	undisturbed := c.undisturbed(n)
	if n.plans.buried = 0; s.Count == 0 && undisturbed {
		n.plans.emptied = c.now
	}
	l := &c.claim
	l.node, l.open, l.last = s.Node, true, nil
	l.judged = undisturbed && n.stopped == engine.Never && n.busiest < c.rules.Node.Workers
	l.busiest, n.busiest = n.busiest, n.busy
	l.before, l.claimed = c.counts.Ready, [engine.NumClasses]int{}
}

// fillsRoom checks that the latest claim took as many ready jobs as its node had capacity for. While workers are idle
// no claimed job waits for one, so that capacity follows from the most workers busy since the previous claim.
func (c *Checker) fillsRoom(*subject) bool {
	l, cfg := &c.claim, &c.rules.Node
	claimed := sum(&l.claimed)
	left := sum(&l.before) - claimed
	if !l.open || !l.judged || left <= 0 {
		return false
	}
	room := min(cfg.Workers-l.busiest+cfg.Fetch.Prefetch, cfg.Fetch.Batch)
	return claimed >= room || c.Complain(Idleness, 0,
		"node %d claimed %d jobs and had room for %d, and left %d that were ready", l.node, claimed, room, left)
}

// comesByAge checks that a claim returns jobs of one kind in order of their ready keys, where the policy claims by age.
func (c *Checker) comesByAge(s *subject) bool {
	l, j := &c.claim, s.j
	last, oldest := l.last, c.rules.Order == engine.OldestReady
	return !l.open || last == nil || last.kind != j.kind || last.key == j.key || oldest == (last.key <= j.key) ||
		c.complain(Due, "it is ready since %v, and one that stands behind it in line came before it", j.ready)
}

// isMostUrgent checks that no ready job of a claimed job's class (fresh or retry) was more urgent.
func (c *Checker) isMostUrgent(s *subject) bool {
	mine := *ofKind(c.rules.Priorities, s.j.kind)
	for k, n := range c.ranks[s.Class] {
		if n > 0 && c.rules.Priorities[k] < mine {
			c.complain(Due, "%d jobs of its class are more urgent, of kind %d", n, k)
		}
	}
	return true
}

// reaps holds the latest recoveries of leases by two nodes, for leaderReaps: only the leader may recover.
type reaps struct {
	node, other int32       // number of a node plus 1; 0: none
	otherAt     engine.Time // time of the latest recovery by other
	at          engine.Time // time of the latest recovery by node
}

func (r *reaps) by(node int32, now engine.Time) {
	if node != r.node {
		*r = reaps{node: node, other: r.node, otherAt: r.at}
	}
	r.at = now
}
