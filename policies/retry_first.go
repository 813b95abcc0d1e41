package policies

import "qsim/engine"

var _ = builtIn(Kind{
	rank: 40, Name: "retry-first", Needs: NeedsRetries, Cost: CostNothing, State: StateNone, Drawn: Drawn{Weight: 1},
	Doc: "Fresh jobs only when no retry is ready, as brokers do that put redeliveries first. Fresh jobs starve in " +
		"a storm of retries.",
	New: always(RetryFirst{}),
})

// RetryFirst is the policy retry-first: fresh jobs are claimed only if no retry is ready. It keeps no state.
type RetryFirst struct{ classwise }

// Plan lets the next claim take retries and, if they are too few for the idle workers, fresh jobs.
func (RetryFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return term(term(dst, engine.Retry, v.Idle), engine.Fresh, v.Idle)
}

// Guarantees returns the guarantee of no claims to fresh jobs while a retry is ready, and of no idle worker while a job
// is ready.
func (RetryFirst) Guarantees() Promise { return Promise{Ranked: true, Conserving: true, Exact: true} }
