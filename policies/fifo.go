package policies

import "qsim/engine"

var fifoKind = Kind{
	Name: "fifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither " +
		"class anything: a storm of retries delays fresh jobs until it is worked off.",
	New: always(FIFO{}),
}

// FIFO is the policy fifo: the job that has been ready longest is claimed first. It keeps no state.
type FIFO struct{ classwise }

// Plan lets the next claim take any ready jobs, the oldest first.
func (FIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// Guarantees returns the guarantee of claims in the order of readiness within a priority, and of no idle worker while a
// job is ready.
func (FIFO) Guarantees() Promise {
	return Promise{Ranked: true, Ordered: true, Order: engine.OldestReady, Conserving: true}
}

// stateless provides the Observe method of a policy, or of a Law (plan checker), that learns nothing from its claims.
type stateless struct{}

func (stateless) Observe(*engine.Observation) {}

// Unobservant marks the policy as one whose Observe method does nothing, see engine.Policy.
func (stateless) Unobservant() {}

// classwise marks a stateless policy whose terms select jobs by priority class (fresh or retry) alone, see
// engine.Policy.
type classwise struct{ stateless }

func (classwise) ByClass() {}
