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

// Plan appends a term (part of a claim) for retries and then one for fresh jobs, which get the workers that are left.
func (RetryFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return term(term(dst, engine.Retry, v.Idle), engine.Fresh, v.Idle)
}

// Guarantees declares for the invariant checker: no worker idles while a job is ready, nor takes a fresh job while a
// retry is ready.
func (RetryFirst) Guarantees() Promise { return Promise{Ranked: true, Conserving: true, Exact: true} }
