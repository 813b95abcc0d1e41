package check

import (
	"iter"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// Balance checks that the store's numbers of jobs by state are those of the recorded events. OldestReady is ignored.
func (c *Checker) Balance(have engine.Stats) {
	if c.caughtUp().breach != nil {
		return
	}
	c.checks[Conservation]++
	want := c.counts
	want.OldestReady = have.OldestReady
	if want != have {
		c.Complain(Conservation, 0, "the store counts ready %v, waiting %v, in flight %v (fresh, retry) and dead %d; "+
			"recorded were %v, %v, %v and %d",
			have.Ready, have.Waiting, have.InFlight, have.Dead, want.Ready, want.Waiting, want.InFlight, want.Dead)
	}
}

// Sweep checks that every live job of the store is as the recorded events have it, and that none is missing.
func (c *Checker) Sweep(live iter.Seq[unfinished.Job]) {
	c.caughtUp().jobs.swept++
	missing := sum(&c.counts.Ready) + sum(&c.counts.Waiting) + sum(&c.counts.InFlight)
	for l := range live {
		if c.breach != nil {
			return
		}
		c.checks[NoLoss]++
		r, j := c.jobs.find(l.ID)
		switch {
		case r == noRef:
			c.Complain(NoLoss, l.ID, "the store has it %v, and it was never enqueued", l.State)
		case j == nil:
			c.Complain(Final, l.ID, "the store has it %v, and it is done", l.State)
		case j.swept == c.jobs.swept:
			c.Complain(NoLoss, l.ID, "the store has it twice")
		case l.State != j.state || l.Tenant != j.tenant || l.State != engine.InFlight && l.Class != j.class:
			c.Complain(NoLoss, l.ID, "the store has it %v, as %v of tenant %d; recorded was %v, as %v of tenant %d",
				l.State, l.Class, l.Tenant, j.state, j.class, j.tenant)
		}
		if j != nil {
			if j.swept = c.jobs.swept; isLive(j.state) {
				missing--
			}
		}
	}
	for r := ref(0); missing > 0 && r < c.jobs.size; r++ {
		if j := c.jobs.at(r); j.swept != c.jobs.swept && isLive(j.state) {
			c.Complain(NoLoss, j.id, "it is %v, and the store does not have it", j.state)
		}
	}
}

func isLive(s engine.State) bool {
	return s == engine.Ready || s == engine.Waiting || s == engine.InFlight
}

// Settle checks, at the end of a run, that all executions have ended and all jobs are done, dead, or lost by the rules.
func (c *Checker) Settle() {
	if c.caughtUp().breach != nil {
		return
	}
	c.checks[Liveness]++
	for r := range c.jobs.size {
		j := c.jobs.at(r)
		if j.state == engine.Ready {
			waited := c.now.Sub(max(j.ready, c.rules.Calm))
			if c.rules.Wait > 0 && waited > c.rules.Wait {
				c.Complain(Starvation, j.id, "it has waited for %v, and waits still", waited)
			}
			if c.d.explained && c.loadExplains(&subject{j: j}) {
				c.hold(Starvation, Explained)
			}
		}
		if isLive(j.state) && !c.mayBeLost(r, j) {
			c.Complain(Liveness, j.id, "it is %v, after %d deliveries", j.state, j.delivery)
			return
		}
	}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.busy > 0 {
			c.Complain(Liveness, 0, "node %d runs %d executions that do not end", i, n.busy)
		}
	}
}

// Released checks that the engine of a node is at rest once no work is left and no call is under way: held (the result
// of engine.Engine.Held) must be 0, and all workers idle. Where a job's lease is made to last for ever as its execution
// starts, the node must have asked for that (Extends) as often as it has started executions.
func (c *Checker) Released(node int32, held, idle int) {
	if c.caughtUp().breach != nil {
		return
	}
	c.probes[Releases]++ // Settle counts the run
	n, lease := &c.nodes[node], &c.rules.Node.Lease
	if !lease.RunLate && !lease.IgnoreLate && n.life == 1 && !n.wasStopped && c.rules.Sheds == 0 && n.late > 0 {
		c.hold(Recovery, LateReturns)
		if n.late > n.back { // jobs given up may have been handed back before
			c.Complain(Recovery, 0, "%d jobs came to node %d too late, and it has handed %d back", n.late, node, n.back)
		}
	}
	if lease.AckAtStart && c.rules.Heard == 1 && n.life == 1 {
		c.checks[Leases]++
		if n.extends < n.starts {
			c.Complain(Leases, 0, "node %d began %d executions, and asked %d times for leases that last for ever",
				node, n.starts, n.extends)
		}
	}
	if n.untold != 0 {
		c.Complain(Recount, 0, "the policy of node %d was told of %d executions too few that ended", node, n.untold)
	}
	if held != 0 || idle != c.rules.Node.Workers {
		c.Complain(Liveness, 0, "node %d holds %d leases, outcomes or jobs, and %d of its %d workers are idle: "+
			"nothing is left to do", node, held, idle, c.rules.Node.Workers)
	}
}

// mayBeLost reports whether an unfinished job may be lost without a breach, as when a lease without end has no holder
// left.
func (c *Checker) mayBeLost(r ref, j *job) bool {
	switch j.state {
	case engine.InFlight:
		return c.rules.LostInFlight && c.isAbandoned(r, j) || j.forgotten && !c.rules.Store.Orphans
	case engine.Ready:
		return c.rules.Starves && j.class == engine.Retry
	case engine.Waiting:
		return c.rules.LostWaiting != nil && c.rules.LostWaiting(j.id)
	}
	return false
}

// isAbandoned reports whether a job's lease, which may last for ever, has no holder left: the holder has died, never
// learned of the lease, or has given up committing the outcome.
func (c *Checker) isAbandoned(r ref, j *job) bool {
	l, died := &c.rules.Node.Lease, j.life != c.nodes[j.node].life
	reaps := c.jobs.recoveries[r]
	alive := reaps.reaper.Generation() == c.nodes[reaps.reaper.Node()].life
	if j.reaped && (!j.untimed || c.heard(j.claimed) && alive && reaps.gaveUp != j.token) || died && l.OfNode && !l.Kept {
		// The lease expires, or its reaper ends it; without a fence an earlier holder may have prolonged it for ever, of
		// which a reaper without an answer, or one that died or has given its outcome up, knows nothing.
		return false
	}
	return died || j.begun&bit(j.delivery) == 0 || j.dropped == j.token
}
