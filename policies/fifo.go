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

// stateless provides the Observe method of a policy that learns nothing from its claims.
type stateless struct{}

func (stateless) Observe(*engine.Observation) {}

// Unobservant marks the policy as one whose Observe method does nothing, see engine.Policy.
func (stateless) Unobservant() {}

// classwise marks a stateless policy whose terms select jobs by priority class (fresh or retry) alone, see
// engine.Policy.
type classwise struct{ stateless }

func (classwise) ByClass() {}
