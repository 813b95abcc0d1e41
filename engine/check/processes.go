package check

import (
	"time"

	"qsim/engine"
)

// onTime checks that an execution times out when it should.
func (c *Checker) onTime(e *engine.Event, n *node, x *execution) {
	kinds := c.rules.Node.Kinds
	if len(kinds) == 0 {
		return
	}
	timeout := kinds[min(int(e.JobKind), len(kinds)-1)].Timeout
	ran := e.At.Sub(x.started)
	switch {
	case e.Kind == engine.TimedOut:
		if timeout == 0 || ran < timeout {
			c.complain(Effects, e, "it has run for %v, its timeout is %v", ran, timeout)
		}
	case timeout > 0 && ran > timeout && !x.over && !n.frozen && (n.woke == 0 || n.woke < x.started):
		c.complain(Effects, e, "it ran for %v and did not time out after %v", ran, timeout)
	}
}

// onLeaseLost notes that an execution was told to stop: it does not time out any more.
func (c *Checker) onLeaseLost(e *engine.Event, r ref) {
	if r != noRef && r != isDone {
		c.drops(e, c.jobs.at(r))
	}
	if slots := c.nodes[e.Node].slots; int(e.Slot) < len(slots) {
		if x := &slots[e.Slot]; x.job == e.Job && x.delivery == e.Delivery {
			if x.over = true; x.told == 0 {
				x.told = c.now
			}
		}
	}
}

// drops notes that a process holds a lease no more, and says no more what became of it.
func (c *Checker) drops(e *engine.Event, j *job) {
	if j.token == e.Token {
		j.dropped = e.Token
		c.nodes[e.Node].onSaid(j)
	}
}

// obeys checks that an execution ended at once that was told to stop.
func (c *Checker) obeys(e *engine.Event, n *node, x *execution) {
	if !c.rules.Heeds || x.told == 0 || n.frozen || n.woke >= x.told {
		return
	}
	c.hold(Effects, Obedience)
	if e.At > x.told {
		c.complain(Effects, e, "it was to be told to stop at %v", time.Duration(x.told))
	}
}

// reaps are the latest calls to recover leases: by one node, and by another before.
type reaps struct {
	node, other int32       // plus 1; 0: none
	otherAt     engine.Time // when other made its last one
	at          engine.Time // and node
}

// forget begins anew where a process comes or goes: who leads may have changed.
func (r *reaps) forget(k engine.EventKind) {
	switch k {
	case engine.NodeUp, engine.NodeDown, engine.NodePause, engine.NodeWake:
		*r = reaps{}
	}
}

// onReaping checks that reapers do not take turns where the leader alone reaps. One that
// leads again has let another lead meanwhile, for as long as leadership lasts.
func (c *Checker) onReaping(e *engine.Event) {
	if c.d.led == 0 || c.now < c.rules.Settled {
		return
	}
	r := &c.reaps
	by := e.Node + 1
	switch {
	case by == r.node:
		r.at = c.now
		return
	case by == r.other:
		c.checks[Recovery]++
		if c.now.Sub(r.otherAt) < c.d.led {
			c.Complain(Recovery, 0, "nodes %d and %d look for expired leases in turn, at %v, %v and now, and only the leader may",
				by-1, r.node-1, time.Duration(r.otherAt), time.Duration(r.at))
		}
	}
	*r = reaps{node: by, other: r.node, otherAt: r.at, at: c.now}
}

// Stopped tells that a process was told to stop at a time: it is to hand back what it holds
// and does not run.
func (c *Checker) Stopped(node int32, at engine.Time) {
	n := &c.nodes[node]
	n.stopped, n.holding, n.wasStopped = at, false, true
	c.idles(n)
	for i := range c.jobs.rows {
		n.holding = n.holding || c.ahead(&c.jobs.rows[i], node, n)
	}
}

// ahead reports whether a node has claimed a job, was told so before it was told to stop,
// and has not begun it.
func (c *Checker) ahead(j *job, node int32, n *node) bool {
	return j.state == engine.InFlight && j.node == node && j.life == n.life && !j.reaped && !j.forgotten && j.begun&bit(j.delivery) == 0 && j.claimed.Add(c.rules.Node.CallTimeout) <= n.stopped
}

// handedBack checks, at the end of a process that had the time to stop, that it has handed
// back all it had claimed ahead.
func (c *Checker) handedBack(e *engine.Event, n *node) {
	least := c.rules.HandBack
	if least == 0 || !c.d.fenced || !c.d.timed || n.unheard || n.returnsLate || n.stopped == engine.Never || c.now.Sub(n.stopped) < least {
		return
	}
	if n.holding {
		c.hold(Recovery, HandBacks)
	}
	for i := range c.jobs.rows {
		j := &c.jobs.rows[i]
		if !c.ahead(j, e.Node, n) {
			continue
		}
		c.Complain(Recovery, j.id, "node %d claimed it at %v and was told to stop at %v: it has neither begun it nor handed it back", e.Node, time.Duration(j.claimed), time.Duration(n.stopped))
		return
	}
}
