package main

import (
	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
)

// even is a policy that claims retries and fresh jobs in turn. With a lie it claims the newest job first, and
// guarantees the oldest.
type even struct {
	retries quantity.Share
	lies    bool
	turn    int
}

func (e *even) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if e.lies {
		return append(dst, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: v.Idle})
	}
	first, second := engine.Fresh, engine.Retry
	if e.turn++; e.turn%2 == 0 {
		first, second = second, first
	}
	some := max(1, e.retries.Of(v.Idle))
	return append(dst, engine.Term{Class: first, Limit: some}, engine.Term{Class: second, Limit: v.Idle}, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (*even) Observe(*engine.Observation) {}

func (e *even) Guarantees() policies.Promise {
	return policies.Promise{Conserving: true, Ranked: e.lies, Ordered: e.lies, Order: engine.OldestReady}
}

// extended is qsim with policies of a user's own.
func extended() {
	kind := func(name string, lies bool, weight int) policies.Kind {
		return policies.Kind{Name: name, Cost: policies.CostJobs, State: policies.StateNode, Drawn: policies.Drawn{Weight: weight},
			Doc:    "Retries and fresh jobs come first in turn.",
			Params: []policies.Param{{Name: "retries", Type: policies.TypeShare, Default: "50%", Doc: "share of the claims at a turn"}},
			New: func(a policies.Arguments) (engine.Policy, error) {
				return &even{retries: a.Value("retries").(quantity.Share), lies: lies}, nil
			}}
	}
	if err := policies.Add(kind("even", false, 1000), kind("newest", true, 1000)); err != nil {
		panic(err)
	}
	main()
}
