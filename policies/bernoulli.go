package policies

import (
	"fmt"
	"math"

	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 60, Name: "bernoulli", Needs: NeedsRetries, Cost: CostJobs, State: StateNone,
	Drawn:  Drawn{Weight: 1, Params: []string{"fresh: 20%", "fresh: 50%", "fresh: 80%"}},
	Doc:    "As weighted, with a coin tossed for every claim: the share is right in the mean, with runs of bad luck.",
	Params: []Param{freshShare, lend},
	New: func(a Arguments) (engine.Policy, error) {
		return Bernoulli{Fresh: a.Value("fresh").(quantity.Share), NoLending: !a.Value("lend").(bool)}, nil
	},
})

// Bernoulli is the policy bernoulli: a coin with probability Fresh decides for each claim whether it goes to a fresh
// job or a retry. Over n claims the share s is off by about √(s(1−s)/n). It keeps no state; its coins depend on the
// seed, the engine and the number of the plan alone.
type Bernoulli struct {
	stateless
	Fresh     quantity.Share // probability that a claim goes to fresh jobs
	NoLending bool           // leave claims unused for which the class drawn has no ready job
}

// Plan tosses a coin for each idle worker, and appends a term (part of a claim) for as many fresh jobs and one for as
// many retries as the coins say. Unless NoLending, a last term lets jobs of any class use what one class leaves. A plan
// tosses at most 65,536 coins: further jobs are left to that last term, or to the next plan.
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
		dst = term(dst, engine.AnyClass, v.Idle)
	}
	return dst
}

// Guarantees declares for the invariant checker: a mean share of claims for fresh jobs (checked by a Law, since
// recorded events do not show it) and, unless NoLending, no idle worker while a job is ready.
func (p Bernoulli) Guarantees() Promise {
	return Promise{Conserving: !p.NoLending, Share: p.Fresh, Law: func() Law {
		chance, tossed, fresh := p.Fresh.Float(), 0, 0
		return Law{Plan: func(v *engine.View, terms []engine.Term) string {
			tossed += min(v.Idle, math.MaxUint16+1)
			for i := range terms {
				if terms[i].Class == engine.Fresh {
					fresh += terms[i].Limit
				}
			}
			if isUnlikely(fresh, tossed, chance) {
				return fmt.Sprintf("%d of %d coins fell for fresh jobs, at a chance of %v", fresh, tossed, chance)
			}
			return ""
		}}
	}}
}

// isUnlikely reports whether fell successes in n independent trials of that chance lie more than eight standard
// deviations from the mean, which is practically impossible.
func isUnlikely(fell, n int, chance float64) bool {
	mean := float64(n) * chance
	return math.Abs(float64(fell)-mean) > 2+8*math.Sqrt(mean*(1-chance))
}
