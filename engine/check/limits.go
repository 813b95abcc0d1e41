package check

import (
	"time"

	"qsim/engine"
)

// onLimits checks that a call is about no more jobs than one may be.
func (c *Checker) onLimits(e *engine.Event) {
	cfg, most := &c.rules.Node, 0
	switch e.Op {
	case engine.OpClaim:
		if !c.rules.Sheds { // those that it buries do not count
			most = cfg.Fetch.Batch
		}
	case engine.OpCommit:
		most = cfg.Commit.Batch
	case engine.OpRecover:
		most = cfg.Reaper.Batch
	case engine.OpPromote:
		most = cfg.Promoter.Batch
	}
	if most > 0 && int(e.Count) > most {
		c.complain(Shares, e, "a %v is about %d jobs, and %d may be in a batch", e.Op, e.Count, most)
	}
	n := &c.nodes[e.Node]
	if e.Op == engine.OpClaim && n.stopped != engine.Never && n.up && c.heard(n.stopped) && c.now.Sub(n.stopped) > c.rules.Trip {
		c.complain(Recovery, e, "it was told to stop at %v, and claims", time.Duration(n.stopped))
	}
	if n.reapBy == engine.Never || n.life == 0 {
		return
	}
	switch {
	case e.Op == engine.OpRecover:
		c.hold(Recovery, StartUps)
		n.reapBy = engine.Never
	case c.now > n.reapBy && n.up && !n.frozen:
		c.complain(Recovery, e, "it started at %v, and has not looked for expired leases", time.Duration(n.began))
	}
}

// startsUp notes by when a process that has started must have looked for expired leases.
func (c *Checker) startsUp(n *node) {
	r := &c.rules.Node.Reaper
	n.reapBy = engine.Never
	if r.OnStart && !r.Off && r.Owner == engine.EveryNode && c.heard(c.now) && (!c.rules.Stalls || c.now >= c.rules.Calm) {
		n.reapBy = c.now.Add(c.rules.Trip)
	}
}

// owing counts the outcomes of a node that the store does not have, by whether its latest
// claim came before the execution ended: how many there are at least when it claims again.
type owing struct {
	turn       uint32 // how many claims there were
	since, all int    // of those that ended since the latest, and before
}

// onEnded counts an outcome that is to be committed.
func (n *node) onEnded(j *job, token engine.Token, at engine.Time) {
	if j != nil && j.token == token && j.owed == 0 && j.state == engine.InFlight {
		n.owing.since++
		j.finished = at
		j.owed, j.turn = n.life, n.owing.turn
	}
}

// saysIn checks, when the lease of a job is taken, that its process had not had the time to
// tell the store what came of it, or to ask for a lease that lasts for ever.
func (c *Checker) saysIn(e *engine.Event, j *job) {
	n := &c.nodes[j.node]
	if j.reaped || !n.up || n.frozen || j.life != n.life || j.dropped == j.token || j.started == 0 {
		return
	}
	if from := max(j.started, n.woke); c.rules.Node.Lease.AckAtStart && c.heard(j.started) && j.asked < j.started && c.now.Sub(from) > c.rules.Trip {
		c.complain(Leases, e, "it began at %v, and its lease was to last for ever from then on", time.Duration(j.started))
	}
	if j.finished == 0 || c.rules.Commits == 0 || !c.heard(c.now) {
		return
	}
	c.hold(Atomicity, Commits)
	from, most := max(j.finished, n.woke, c.rules.Heard, c.rules.Calm), c.rules.Commits+c.rules.CommitEach*time.Duration(n.owing.all+n.owing.since)
	if c.now.Sub(from) > most {
		c.complain(Atomicity, e, "its execution ended at %v, and the store has not been told of it", time.Duration(j.finished))
	}
}

// onSaid counts that the store has an outcome, or that it will never have it.
func (n *node) onSaid(j *job) {
	if j.owed == n.life && j.owed != 0 {
		if j.turn == n.owing.turn {
			n.owing.since--
		} else {
			n.owing.all--
		}
	}
	j.owed = 0
}

// onPressure checks, at a claim, that its node had not too much to commit when it made it:
// what had ended when its claim before was executed and is not committed yet was so then.
func (c *Checker) onPressure(e *engine.Event, n *node) {
	most := c.rules.Node.Commit.Backpressure
	if most > 0 && c.heard(c.now) && c.d.fenced && n.up && !n.frozen && (n.missed == 0 || c.now.Sub(n.missed) > c.rules.Trip) {
		c.checks[Shares]++
		if n.owing.all >= most {
			c.complain(Shares, e, "it has %d outcomes to commit, and claims nothing with %d", n.owing.all, most)
		}
	}
	n.owing.turn++
	n.owing.all, n.owing.since = n.owing.all+n.owing.since, 0
}

// onCooldown checks that claims keep apart. One may be on its way for longer than the next.
func (c *Checker) onCooldown(e *engine.Event, n *node) {
	least := c.rules.Node.Fetch.Cooldown
	if least == 0 || !c.heard(c.now) {
		return
	}
	c.checks[Shares]++
	n.debt = max(0, n.debt-c.now.Sub(n.claimedAt)) + least
	n.claimedAt = c.now
	if n.debt > 2*least+c.rules.Trip {
		c.complain(Shares, e, "its claims are to be %v apart, and are %v ahead of that", least, n.debt)
	}
}

// shortestRest is the least that recoveries which bring nothing are apart, on average, where
// they come when leases end, and those are long.
const shortestRest = 20 * time.Millisecond

// rest is the least that recoveries which bring nothing are apart, on average.
func (c *Checker) rest() time.Duration {
	if every := c.rules.Node.Reaper.Every; every > 0 {
		return every / 2
	}
	l := &c.rules.Node.Lease
	least := min(shortestRest, l.TTL/8)
	if l.Heartbeat > 0 {
		least = min(least, l.Heartbeat/8)
	}
	return least
}

// onInVain checks that a process does not look for expired leases again and again.
func (c *Checker) onInVain(e *engine.Event, n *node) {
	if e.Count > 0 || !c.heard(c.now) {
		return
	}
	c.checks[Shares]++
	least := c.rest()
	if moved := c.leasesMoved(); c.rules.Node.Reaper.Every == 0 && moved != n.movedAt {
		// It came when a lease was to end, and another process took that, or its holder was done or asked for
		// more time just before.
		n.movedAt, n.inVain = moved, 0
	}
	n.inVain = max(0, n.inVain-c.now.Sub(n.inVainAt)) + least
	n.inVainAt = c.now
	if n.inVain > 4*least+c.rules.Trip {
		c.complain(Shares, e, "it looks for expired leases again and again, and finds none: %v ahead of one every %v", n.inVain, least)
	}
}

// leasesMoved counts what gives, extends or ends leases.
func (c *Checker) leasesMoved() (n int64) {
	for _, k := range []engine.EventKind{engine.Leased, engine.LeaseTaken, engine.Extended, engine.Acked, engine.Nacked, engine.Buried, engine.Returned} {
		n += c.events[k]
	}
	return n
}

// inOrder checks that no job of its class was more urgent than one that is claimed, and that
// jobs of one claim come by their age where the policy goes by that.
func (c *Checker) inOrder(e *engine.Event, j *job) {
	l := &c.claim
	if c.d.aged && l.open && l.lastKnown && j.usual && l.lastKind == j.kind && (c.rules.Order == engine.OldestReady) != (l.lastReady <= j.ready) && l.lastReady != j.ready {
		c.complain(Due, e, "it is ready since %v, and one that is since %v came before it", time.Duration(j.ready), time.Duration(l.lastReady))
	}
	l.lastKnown, l.lastReady, l.lastKind = j.usual, j.ready, j.kind
	if !c.d.ranked {
		return
	}
	c.hold(Due, Ranks)
	mine := c.rules.Priority(j.kind)
	for k, n := range c.ranks[e.Class] {
		if n > 0 && c.rules.Priority(engine.Kind(k)) < mine {
			c.complain(Due, e, "%d jobs of its class are more urgent, of kind %d", n, k)
		}
	}
}

// rank counts one job more, or less, that is ready.
func (c *Checker) rank(j *job, by int) {
	if !c.d.ranked {
		return
	}
	of := &c.ranks[j.class]
	for len(*of) <= int(j.kind) {
		*of = append(*of, 0)
	}
	(*of)[j.kind] += by
}

// promotedLate checks that a job was promoted not too long after it was due.
func (c *Checker) promotedLate(e *engine.Event, j *job) {
	each := c.rules.Promote
	if each == 0 || !c.rules.Store.Promoted {
		return
	}
	from := max(j.ready, c.rules.Calm, c.rules.Settled)
	if c.now < from {
		return
	}
	c.checks[Due]++
	p := &c.rules.Node.Promoter
	if late := c.now.Sub(from); late > each*time.Duration(2+c.mostWaiting/p.Batch)+c.rules.Node.Leader.TTL+c.rules.Node.Leader.Renew {
		c.complain(Due, e, "it was due at %v, %v ago", time.Duration(j.ready), late)
	}
}
