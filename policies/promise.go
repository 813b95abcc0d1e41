package policies

import (
	"qsim/engine"
	"qsim/engine/quantity"
)

// Promise lists the guarantees of a policy, whatever happens to its jobs: an invariant checker may verify them claim by
// claim. The zero Promise guarantees nothing.
type Promise struct {
	Conserving bool           // no worker idles while a job is ready
	Ranked     bool           // within one term, no job is claimed before a ready one of higher priority
	Ordered    bool           // claims go by Order within a priority, whatever the class
	Order      engine.Order   //
	Capped     bool           // each node has at most Cap retries in flight
	Cap        int            //
	Exact      bool           // while both classes are ready, Share of the claims goes to fresh jobs, to less than one claim
	Share      quantity.Share //
	Sheds      bool           // it may bury jobs that it does not run
	Entitled   float64        // the share of claims, in [0, 1], that fresh jobs get in the mean while both classes are ready
}

// Guarantor is a policy with guarantees.
type Guarantor interface{ Guarantees() Promise }

// Guarantees returns the guarantees of a policy; none if it is no Guarantor.
func Guarantees(p engine.Policy) Promise {
	if g, ok := p.(Guarantor); ok {
		return g.Guarantees()
	}
	return Promise{}
}

// Entitled returns the share of claims, in [0, 1], that a policy of that kind, with parameter values, promises to fresh
// jobs while both classes are ready; 0 for one that promises none or is invalid.
func Entitled(kind string, values map[string]Value) float64 {
	policy, err := New(kind, values, 1)
	if err != nil {
		return 0
	}
	return Guarantees(policy).Entitled
}

// Conserving reports whether a policy of kind k leaves no worker idle while a job is ready, with the defaults of its
// parameters.
func (k *Kind) Conserving() bool {
	policy, err := New(k.Name, nil, 100)
	return err == nil && Guarantees(policy).Conserving
}
