package policies

import "qsim/engine"

// TokenBucket is FIFO with retries paid from a bucket that starts full: a retry takes
// Cost tokens when it is claimed and gives them back if it succeeds; if it fails by
// timeout it has cost TimeoutCost in all, for the work behind a timeout may well go on.
// A first attempt that succeeds adds Refill, up to Capacity. Blips cost nothing;
// in an outage retries stop after Capacity ÷ Cost failures and come back only as fast
// as fresh jobs succeed. It is not work-conserving: an empty bucket leaves workers idle
// while retries are ready, and if no fresh job succeeds any more they never run. The
// bucket is the engine's own, so more engines hold more tokens: for a fleet divide
// Capacity by the engines. (The AWS SDKs' standard retry quota. They charge a retry by
// the error before it; here that was often another engine's, so a retry is charged by
// its own.)
type TokenBucket struct {
	Capacity    int64 // at least Cost and TimeoutCost
	Cost        int64 // at least 1
	TimeoutCost int64 // at least Cost
	Refill      int64 // at least 0

	spent int64 // Capacity less the tokens in the bucket
}

// Plan appends the terms of capped, with as much room as the tokens pay.
func (p *TokenBucket) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return capped(dst, v.Idle, int(min(int64(v.Idle), (p.Capacity-p.spent)/p.Cost)))
}

// Observe takes and returns tokens.
func (p *TokenBucket) Observe(o *engine.Observation) {
	switch {
	case o.Kind == engine.Claimed && o.Class == engine.Retry:
		p.spent += int64(o.Count) * p.Cost
	case o.Kind == engine.Succeeded && o.Class == engine.Retry:
		p.spent -= p.Cost
	case o.Kind == engine.Succeeded:
		p.spent -= p.Refill
	case o.Kind == engine.Failed && o.Class == engine.Retry && o.Error == engine.Timeout:
		p.spent += p.TimeoutCost - p.Cost
	}
	p.spent = max(0, min(p.spent, p.Capacity))
}
