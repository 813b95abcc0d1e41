package policies

import "qsim/engine"

var freshFirstKind = Kind{
	Name: "fresh-first", Needs: NeedsRetries, Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "Retries only when no fresh job is ready. Fresh jobs wait as if there were no retries in the queue; " +
		"retries may starve.",
	New: always(FreshFirst{}),
}

// FreshFirst is the kind fresh-first. It keeps no state.
type FreshFirst struct{ stateless }

// Plan appends a term for fresh jobs and one for retries.
func (FreshFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst,
		engine.Term{Class: engine.Fresh, Limit: v.Idle},
		engine.Term{Class: engine.Retry, Limit: v.Idle})
}

// Guarantees implements Guarantor.
func (FreshFirst) Guarantees() Promise { return Promise{Ranked: true, Conserving: true, Entitled: 1} }
