package policies

import "qsim/engine"

var lifoKind = Kind{
	Name: "lifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that became ready last. Under a backlog new jobs hardly wait, and the oldest wait until it is " +
		"gone.",
	New: always(LIFO{}),
}

// LIFO is the policy lifo, newest first: it worsens the worst waits and improves the common ones. It keeps no state.
type LIFO struct{ classwise }

// Plan lets the next claim take any ready jobs, the newest first.
func (LIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: v.Idle})
}

// Guarantees returns the guarantee of claims newest first within a priority, and of no worker idle while a job is
// ready.
func (LIFO) Guarantees() Promise {
	return Promise{Ranked: true, Ordered: true, Order: engine.NewestReady, Conserving: true}
}
