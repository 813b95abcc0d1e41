package policies

import (
	"qsim/engine"
	"qsim/engine/quantity"
)

var splitKind = Kind{
	Name: "split", Needs: NeedsPriorities, Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1},
	Doc: "A share of all claims for the most urgent jobs, the rest for those that have been ready longest, " +
		"whatever their priority; exact over any number of claims because fractions are carried to the next. " +
		"Urgent jobs keep most of the workers, and no job of low priority starves.",
	Params: []Param{
		{Name: "priority", Type: TypeShare, Default: "80%", Doc: "share of the claims that go by priority"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		return &Split{Priority: a.Value("priority").(quantity.Share)}, nil
	},
}

// Split is the policy split, which claims a share s by priority and the rest oldest first: a job of any priority is
// reached at the latest after 1/(1-s) times as many claims as jobs became ready before it. Each engine keeps its carry;
// the share needs no coordination.
type Split struct {
	Priority quantity.Share // of the claims

	// carry is what the most urgent are owed, in claims times the denominator of
	// Priority, in (-1, 0] claims.
	carry  int64
	plan   pending
	urgent int // part of the plan
}

// Plan appends a term for ⌈carry + share·idle⌉ jobs by priority, and one for the rest oldest first.
func (p *Split) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	num, den := p.Priority.Fraction()
	p.plan = pending{limit: v.Idle}
	p.urgent = int((p.carry + int64(v.Idle)*num + den - 1) / den)
	if p.urgent > 0 {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Limit: p.urgent})
	}
	if p.urgent < v.Idle {
		dst = append(dst, engine.Term{Class: engine.AnyClass, Order: engine.OldestOfAny, Limit: v.Idle - p.urgent})
	}
	return dst
}

// Observe updates the carry once the claims of both terms are answered. A plan that brought fewer jobs than it asked
// for has emptied the queue: the carry is then 0.
func (p *Split) Observe(o *engine.Observation) {
	if !p.plan.answers(o) {
		return
	}
	num, den := p.Priority.Fraction()
	if p.plan.total() == p.plan.limit {
		p.carry += int64(p.plan.limit)*num - int64(p.urgent)*den
	} else {
		p.carry = 0
	}
	p.plan.limit = 0
}

// Guarantees returns the promise that no worker idles while a job is ready.
func (*Split) Guarantees() Promise { return Promise{Conserving: true} }
