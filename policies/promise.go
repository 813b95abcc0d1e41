package policies

import (
	"fmt"

	"qsim/engine"
	"qsim/engine/bound"
)

// Promise lists the guarantees of a policy, for the invariant checker to verify.
type Promise = bound.Promise

// Law checks the plans of one engine's policy for guarantees that recorded events do not show.
type Law = bound.Law

// ration returns the Law (plan checker) of a policy that claims as fifo, except for a limit on retries. The function
// room returns the least and the most retries that a plan may allow, of which negative numbers count as 0; observe
// updates what room depends on, nil if that is constant.
func ration(room func(v *engine.View) (least, most int64), observe func(o *engine.Observation)) Law {
	return Law{Plan: func(v *engine.View, terms []engine.Term) string {
		least, most := room(v)
		idle := int64(v.Idle)
		least, most = max(0, min(least, idle)), max(0, min(most, idle))
		switch fresh, retries := Asked(v, terms); {
		case int64(retries) < least || int64(retries) > most:
			return fmt.Sprintf("a plan for %d jobs has room for %d retries, want %d to %d", v.Idle, retries, least, most)
		case fresh < v.Idle:
			return fmt.Sprintf("a plan for %d jobs has room for %d fresh jobs", v.Idle, fresh)
		}
		return ""
	}, Observe: observe}
}

// Asked returns the highest numbers of fresh jobs and of retries that a plan could claim, at most v.Idle each.
func Asked(v *engine.View, terms []engine.Term) (fresh, retries int) {
	for i := range terms {
		n := min(terms[i].Limit, v.Idle)
		if terms[i].Class != engine.Retry {
			fresh += n
		}
		if terms[i].Class != engine.Fresh {
			retries += n
		}
	}
	return min(fresh, v.Idle), min(retries, v.Idle)
}

// Guarantor is a policy that lists its guarantees, for the invariant checker to verify.
type Guarantor interface{ Guarantees() Promise }

// Guarantees returns the guarantees of a policy, for tests to check a run by; none if it is no Guarantor.
func Guarantees(p engine.Policy) Promise {
	if g, ok := p.(Guarantor); ok {
		return g.Guarantees()
	}
	return Promise{}
}

// Entitled returns the share of claims, in [0, 1], that a policy of that kind with those parameter values guarantees to
// fresh jobs while fresh jobs and retries are both ready; 0 for none, or for an invalid policy.
func Entitled(kind string, values map[string]Value) float64 {
	policy, _ := New(kind, values, 1, nil) // no policy at all guarantees nothing
	return Guarantees(policy).Share.Float()
}

// Conserving reports whether policies of kind k, with default parameters, leave no worker idle while a job is ready.
func (k *Kind) Conserving() bool {
	policy, _ := New(k.Name, nil, 100, nil)
	return Guarantees(policy).Conserving
}
