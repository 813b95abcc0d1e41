package check

import "qsim/engine"

// claim is the latest claim, whose leases are recorded after it, and what the nodes
// have claimed while both classes were ready.
type claim struct {
	node   int32
	open   bool // the latest call is a claim
	judged bool // by the room of its node
	// Of the job that it brought last: whether it is known, since when it was ready, and its kind.
	lastKnown bool
	lastReady engine.Time
	lastKind  engine.Kind
	busiest   int // the most that its node ran since the claim before
	before    [engine.NumClasses]int
	claimed   [engine.NumClasses]int
	owed      []owed // by node
}

// owed is what fresh jobs are owed by a node: claims, times the denominator of their
// share. since counts claims since the sum began.
type owed struct {
	sum    int64
	since  int64
	unsure bool // claims may be under way whose answers do not count for the node
	at     engine.Time
}

// onUnheard forgets what a node claimed: it does not know of all of it, and perhaps not of
// what it claims next.
func (c *claim) onUnheard(node int32, now engine.Time) {
	if int(node) < len(c.owed) {
		c.owed[node] = owed{unsure: true, at: now}
	}
}

// onHeard is told that a node begins a job that it claimed at a time, which shows that the
// answer counted for it.
func (c *claim) onHeard(node int32, claimed engine.Time) {
	if int(node) < len(c.owed) && c.owed[node].unsure && claimed > c.owed[node].at {
		c.owed[node] = owed{}
	}
}

// onCalled sees calls executed. One that comes after a claim closes that.
func (c *Checker) onCalled(e *engine.Event) {
	if e.Op == engine.OpRecover {
		c.onReaping(e)
		c.onInVain(e, &c.nodes[e.Node])
	}
	c.onLimits(e)
	if e.Op == engine.OpClaim {
		c.onPressure(e, &c.nodes[e.Node])
		c.onCooldown(e, &c.nodes[e.Node])
	}
	if e.Op == engine.OpExtend {
		c.nodes[e.Node].asked = e.At
		c.nodes[e.Node].extends++
	}
	if !c.d.shares && !c.d.rooms && !c.d.aged {
		return
	}
	c.closeClaim()
	if e.Op != engine.OpClaim {
		return
	}
	for len(c.claim.owed) < len(c.nodes) {
		c.claim.owed = append(c.claim.owed, owed{})
	}
	c.openRoom(e)
	c.claim.lastKnown = false
	c.claim.node, c.claim.open = e.Node, true
	c.claim.before, c.claim.claimed = c.counts.Ready, [engine.NumClasses]int{}
}

// onShared counts a job of the open claim.
func (c *Checker) onShared(e *engine.Event) {
	if c.claim.open {
		c.claim.claimed[e.Class]++
	}
}

// closeClaim holds the latest claim against the share of fresh jobs. Only claims count
// that left jobs of both classes: in any other, one class may have taken what the other
// could not.
func (c *Checker) closeClaim() {
	l := &c.claim
	if !l.open {
		return
	}
	l.open = false
	o := &l.owed[l.node]
	fresh, retry := int64(l.claimed[engine.Fresh]), int64(l.claimed[engine.Retry])
	if l.judged {
		c.closeRoom(l.claimed[engine.Fresh] + l.claimed[engine.Retry])
	}
	if o.unsure || !c.d.shares {
		return
	}
	if l.before[engine.Fresh] == l.claimed[engine.Fresh] || l.before[engine.Retry] == l.claimed[engine.Retry] {
		*o = owed{}
		return
	}
	c.checks[Shares]++
	num, den := c.rules.ShareNum, c.rules.ShareDen
	o.sum += (fresh+retry)*num - fresh*den
	o.since += fresh + retry
	// A sum may begin anywhere in (-1, 1), and be anywhere there.
	if o.sum <= -2*den || o.sum >= 2*den {
		c.Complain(Shares, 0, "node %d owes fresh jobs %d/%d of %d claims, while jobs of both classes were ready", l.node, o.sum, den, o.since)
	}
}
