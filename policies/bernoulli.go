package policies

import (
	"math"

	"qsim/engine"
	"qsim/engine/quantity"
)

var bernoulliKind = Kind{
	Name: "bernoulli", Needs: NeedsRetries, Cost: CostJobs, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc:    "As weighted, with a coin tossed for every claim: the share is right in the mean, with runs of bad luck.",
	Params: []Param{freshShare, lend},
	New: func(a Arguments) (engine.Policy, error) {
		return Bernoulli{Fresh: a.Value("fresh").(quantity.Share), NoLending: !a.Value("lend").(bool)}, nil
	},
}

// Bernoulli is the policy bernoulli, which tosses a coin for each claim: over n claims the share s is off by about
// √(s(1−s)/n). It keeps no state; its coins depend on the seed, the engine and the number of the plan alone.
type Bernoulli struct {
	stateless
	Fresh     quantity.Share // the chance of a claim to go to fresh jobs
	NoLending bool           // leave unclaimed what a class cannot take of its part
}

// Plan appends a term for as many fresh jobs as coins fell for them, one for retries with the rest, and a term that
// lends what a class leaves. A plan tosses at most 65,536 coins: further claims are left to the lending term, or to the
// next plan.
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

// Guarantees returns the promise of a share of claims to fresh jobs and, with lending, of no idle worker while a job is
// ready.
func (p Bernoulli) Guarantees() Promise {
	return Promise{Conserving: !p.NoLending, Entitled: p.Fresh.Float()}
}
