package check

import "qsim/engine"

// owed is a node's deficit of fresh claims: the number of claims, times the denominator of their share, by which fresh
// jobs lag behind a policy's weight. since counts claims since the sum began.
type owed struct {
	sum    int64
	since  int64
	unsure bool // claims may be under way whose answers the node ignores
	at     engine.Time
}

// share returns the deficit of fresh claims after a claim, and whether the claim counts for it: only if it left jobs of
// both classes. Otherwise one class may have taken the claims that the other could not use.
func (c *Checker) share(l *claim) (o owed, counts bool) {
	o = l.owed[l.node]
	switch fresh, retry := int64(l.claimed[engine.Fresh]), int64(l.claimed[engine.Retry]); {
	case o.unsure, !c.d.shares:
		return o, false
	case l.before[engine.Fresh] == l.claimed[engine.Fresh], l.before[engine.Retry] == l.claimed[engine.Retry]:
		return owed{}, false
	default:
		o.sum += (fresh+retry)*c.rules.Fresh.Num - fresh*c.rules.Fresh.Den
		o.since += fresh + retry
	}
	return o, true
}

// sharesClaims checks that the latest claim gives fresh jobs their share.
func (c *Checker) sharesClaims(*subject) bool {
	l, den := &c.claim, c.rules.Fresh.Den
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

// onUnheard resets the deficit of a node's claims after a possibly lost answer: the node may not count all of them, nor
// know of its next.
func (c *claim) onUnheard(node int32, now engine.Time) {
	if int(node) < len(c.owed) {
		c.owed[node] = owed{unsure: true, at: now}
	}
}

// Overtaken records that the next claim at the store is one that its node counts as lost: it has sent another since.
func (c *Checker) Overtaken(node int32, at engine.Time) { c.claim.onUnheard(node, at) }

// onHeard records that a node begins a job claimed at a time, and so has received that claim's answer.
func (c *claim) onHeard(node int32, claimed engine.Time) {
	if int(node) < len(c.owed) && c.owed[node].unsure && claimed > c.owed[node].at {
		c.owed[node] = owed{}
	}
}
