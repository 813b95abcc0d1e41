package policies

import "qsim/engine"

var fifoKind = Kind{
	Name: "fifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither " +
		"class anything: a storm of retries delays fresh jobs until it is worked off.",
	New: always(FIFO{}),
}

// FIFO is the kind fifo. It keeps no state.
type FIFO struct{ stateless }

// Plan appends one term for everything.
func (FIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Guarantees implements Guarantor.
func (FIFO) Guarantees() Promise {
	return Promise{Ranked: true, Ordered: true, Order: engine.OldestReady, Conserving: true}
}

// stateless gives a policy that learns nothing from its claims its Observe method.
type stateless struct{}

// Observe ignores o.
func (stateless) Observe(*engine.Observation) {}
