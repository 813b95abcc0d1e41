package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 10, Name: "fifo", Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "The job that has been ready longest, fresh or retry, in the order of engine.place. It promises neither " +
		"class anything: a storm of retries delays fresh jobs until it is worked off.",
	New: always(FIFO{}),
})

// FIFO is the policy fifo: the job that has been ready longest is claimed first, which is the order of a zero Ordered.
type FIFO struct{ Ordered }

// stateless is embedded by policies that learn nothing from claims and executions: its Observe does nothing.
type stateless struct{}

func (stateless) Observe(*engine.Observation) {}

// Unobservant marks a policy whose Observe method does nothing, so that the engine does not call it: see engine.Policy.
func (stateless) Unobservant() {}

// byClass marks a policy that selects jobs by class (fresh or retry) alone: the engine asks it for no plan while the
// last claim has left no ready job (see engine.Policy).
type byClass struct{}

func (byClass) ByClass() {}

// classwise is embedded by policies that keep no state and select jobs by class (fresh or retry) alone.
type classwise struct {
	stateless
	byClass
}
