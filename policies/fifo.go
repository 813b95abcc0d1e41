package policies

import "qsim/engine"

// stateless gives a policy that learns nothing from its claims its Observe method.
type stateless struct{}

// Observe ignores o.
func (stateless) Observe(*engine.Observation) {}

// FIFO claims whatever has been ready longest, fresh or retry, in the order of the
// store's place rule. It promises neither class anything: a storm of retries delays
// fresh jobs by as long as it takes to work off. It is work-conserving and keeps no
// state.
type FIFO struct{ stateless }

// Plan appends one term for everything.
func (FIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

// LIFO claims whatever became ready last. While there is a backlog, new jobs see
// nearly no wait and the oldest wait until it is gone: it trades the worst waits for
// the common ones. It is work-conserving and keeps no state.
type LIFO struct{ stateless }

// Plan appends one term for everything, newest first.
func (LIFO) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Order: engine.NewestReady, Limit: v.Idle})
}

// FreshFirst claims a retry only when no fresh job is ready. Fresh jobs wait as if no
// retry existed, but for the retries already running; retries may starve. It is
// work-conserving and keeps no state.
type FreshFirst struct{ stateless }

// Plan appends a term for fresh jobs and one for retries.
func (FreshFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst,
		engine.Term{Class: engine.Fresh, Limit: v.Idle},
		engine.Term{Class: engine.Retry, Limit: v.Idle})
}

// RetryFirst claims a fresh job only when no retry is ready, as brokers do that serve
// redeliveries before new messages. Fresh jobs starve in a storm of retries. It is
// work-conserving and keeps no state.
type RetryFirst struct{ stateless }

// Plan appends a term for retries and one for fresh jobs.
func (RetryFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst,
		engine.Term{Class: engine.Retry, Limit: v.Idle},
		engine.Term{Class: engine.Fresh, Limit: v.Idle})
}
