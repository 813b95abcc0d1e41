package policies

import (
	"math"

	"qsim/engine"
)

// Bernoulli tosses a coin for every claim: with probability Fresh it goes to a fresh
// job, else to a retry. In the mean it shares claims as Weighted does, but with runs
// of bad luck: over n claims the share is off by about √(s(1−s)/n). It is
// work-conserving, what a class leaves being lent to the other, unless NoLending is
// set. It keeps no state; its coins depend on the seed, the engine and the number of
// the plan alone.
type Bernoulli struct {
	stateless
	Fresh     Share // the chance of a claim to go to fresh jobs
	NoLending bool  // leave unclaimed what a class cannot take of its part
}

// Plan appends as many fresh jobs as coins fell for them, the rest as retries, and
// the lending term. A plan tosses at most 65,536 coins: what it may claim beyond that
// is left to the lending term, or to the next plan.
func (p Bernoulli) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	chance, fresh := p.Fresh.Float(), 0
	coins := min(v.Idle, math.MaxUint16+1)
	for n := range coins {
		if v.Draw(uint16(n)) < chance {
			fresh++
		}
	}
	dst = shares(dst, coins, fresh, false)
	if !p.NoLending {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
	}
	return dst
}
