package check

import "qsim/engine"

// owed is by how much fresh jobs lag behind their guaranteed share of a node's claims: sum is the number of claims that
// they lack, times the share's denominator; since is the number of claims counted.
type owed struct {
	sum    int64
	since  int64
	unsure bool // claims may be under way whose answers the node ignores
	at     engine.Time
}

// share returns a node's deficit of fresh claims (those that fresh jobs lack to their share) after a claim, and whether
// that claim counts: only if jobs of both classes were left. Else one may have taken what the other could not use.
func (c *Checker) share(l *claim) (o owed, counts bool) {
	o = c.nodes[l.node].owed
	switch fresh, retry := int64(l.claimed[engine.Fresh]), int64(l.claimed[engine.Retry]); {
	case o.unsure, !c.d.shares:
		return o, false
	case l.before[engine.Fresh] == l.claimed[engine.Fresh], l.before[engine.Retry] == l.claimed[engine.Retry]:
		return owed{}, false
	default:
		o.sum += (fresh+retry)*c.d.num - fresh*c.d.den
		o.since += fresh + retry
	}
	return o, true
}

// sharesClaims checks that up to the latest claim, fresh jobs have got their guaranteed share of a node's claims.
func (c *Checker) sharesClaims(*subject) bool {
	l, den := &c.claim, c.d.den
	if !l.open {
		return false
	}
	o, counts := c.share(l)
	// The sum may begin anywhere in (-1, 1), and be anywhere in it.
	if counts && (o.sum <= -2*den || o.sum >= 2*den) {
		c.Complain(Shares, 0, "node %d owes fresh jobs %d/%d of %d claims, while jobs of both classes were ready",
			l.node, o.sum, den, o.since)
	}
	return counts
}

// onUnheard stops the count of a node's deficit of fresh claims when the answer to a claim may be lost: the node's
// policy then counts other claims than the store.
func (n *node) onUnheard(now engine.Time) { n.owed = owed{unsure: true, at: now} }

// Overtaken records that the next claim of a node at the store is late: the node has given it up and sent another.
func (c *Checker) Overtaken(node int32, at engine.Time) { c.caughtUp().nodes[node].onUnheard(at) }

// onHeard resumes, from 0, the count that onUnheard stopped, once the node begins a job claimed after the lost answer.
func (n *node) onHeard(claimed engine.Time) {
	if n.owed.unsure && claimed > n.owed.at {
		n.owed = owed{}
	}
}
