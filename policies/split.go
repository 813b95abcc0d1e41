package policies

import (
	"fmt"

	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 210, Name: "split", Needs: NeedsPriorities, Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1},
	Doc: "A share of all claims for the most urgent jobs, the rest for those that have been ready longest, " +
		"whatever their priority; exact over any number of claims because fractions are carried to the next. " +
		"Urgent jobs keep most of the workers, and no job of low priority starves.",
	Params: []Param{
		{Name: "priority", Type: TypeShare, Default: "80%", Doc: "share of the claims that go by priority"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		return &Split{Priority: a.Value("priority").(quantity.Share)}, nil
	},
})

// Split is the policy split, which gives a share s of the claims to jobs by priority and the rest to the oldest: a job
// of any priority is reached at the latest after 1/(1-s) times as many claims as jobs became ready before it. Each
// engine carries fractions of a claim to its next plan; the share needs no coordination.
type Split struct {
	Priority quantity.Share // share of the claims that goes by priority

	carry carry // fraction of a claim by priority left over from earlier plans
}

// Plan appends a term (part of a claim) for ⌈carry + share·idle⌉ jobs by priority, where carry is the fraction left
// over from earlier plans, and for the other idle workers one for the jobs that have been ready longest.
func (p *Split) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	urgent := p.carry.divide(v.Idle, p.Priority)
	dst = term(dst, engine.AnyClass, urgent)
	if urgent < v.Idle {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: v.Idle - urgent})
	}
	return dst
}

// Observe updates the carry, the fraction of a claim left for the next plan, once a plan's claim is answered. A plan
// that claimed fewer jobs than its limit has emptied the queue: the carry is then 0.
func (p *Split) Observe(o *engine.Observation) {
	p.carry.settle(o, p.Priority, totalClaimed(o) == p.carry.limit)
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, and the share of claims by
// priority, counted since a plan last emptied the queue, is exact to less than a job. A Law verifies the share.
func (p *Split) Guarantees() Promise {
	return Promise{Conserving: true, Law: func() Law {
		num, den := p.Priority.Fraction()
		var owed, after int64 // claims owed to priority before and after the latest plan, in jobs times den
		limit := 0
		return Law{Plan: func(v *engine.View, terms []engine.Term) string {
			limit = v.Idle
			urgent, oldest := 0, 0
			for i := range terms {
				if terms[i].Order == engine.OldestOfAny {
					oldest += terms[i].Limit
				} else {
					urgent += terms[i].Limit
				}
			}
			after = owed + int64(v.Idle)*num - int64(urgent)*den
			if urgent+oldest != v.Idle || after <= -den || after >= den {
				return fmt.Sprintf("a plan asks for %d jobs by priority and %d of the oldest, and owes priority %d/%d of a job",
					urgent, oldest, after, den)
			}
			return ""
		}, Observe: func(o *engine.Observation) {
			if o.Ended || limit == 0 {
				return
			}
			if owed = after; totalClaimed(o) < limit {
				owed = 0
			}
			limit = 0
		}}
	}}
}
