package policies

import (
	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 30, Name: "fresh-first", Needs: NeedsRetries, Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "Retries only when no fresh job is ready. Fresh jobs wait as if there were no retries in the queue; " +
		"retries may starve.",
	New: always(FreshFirst{}),
})

// FreshFirst is the policy fresh-first: retries are claimed only if no fresh job is ready. It keeps no state.
type FreshFirst struct{ classwise }

// Plan appends a term (part of a claim) for fresh jobs and then one for retries, which get the workers that are left.
func (FreshFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return term(term(dst, engine.Fresh, v.Idle), engine.Retry, v.Idle)
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, nor takes a retry while a fresh
// job is ready.
func (FreshFirst) Guarantees() Promise {
	return Promise{Ranked: true, Conserving: true, Exact: true, Share: quantity.Percent(100)}
}
