package policies

import (
	"time"

	"qsim/engine"
)

// Separate gives retries RetryWorkers of the engine's workers for their own and fresh
// jobs the rest, as a second queue with its own worker pool does: neither class ever
// runs on the other's workers. Fresh jobs keep their lane whatever the retries do. It
// is not work-conserving: a lane idles while the other one has a backlog, which is
// what it pays. With a RetryPoll the retry lane is looked after by a fetch of its own
// that claims no more often than that. Lanes count prefetched and running jobs, so
// nothing is prefetched beyond the workers. Its state, which lane was served first and
// the time of the latest look for retries, is the engine's own.
type Separate struct {
	RetryWorkers int           // in [1, workers-1] of one engine
	RetryPoll    time.Duration // least time between two claims of retries; 0: none

	retryFirst bool // at the next plan that cannot fill both lanes
	polled     bool // whether polledAt was ever set
	polledAt   engine.Time

	// The latest plan, until it is answered.
	crowded     bool // it could not fill both lanes
	retriesAt   engine.Time
	withRetries bool
}

// Plan appends a term for each lane with room. While the plan is too small to fill
// both, the lanes take turns in being served first, so that a small batch starves
// neither.
func (p *Separate) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	fresh := engine.Term{Class: engine.Fresh, Limit: lane(v, engine.Fresh, v.Workers-p.RetryWorkers)}
	retry := engine.Term{Class: engine.Retry, Limit: lane(v, engine.Retry, p.RetryWorkers)}
	if !p.mayPoll(v.Now) {
		retry.Limit = 0
	}
	p.withRetries, p.retriesAt = retry.Limit > 0, v.Now
	p.crowded = fresh.Limit+retry.Limit > v.Idle
	first, second := fresh, retry
	if p.crowded && p.retryFirst {
		first, second = retry, fresh
	}
	if first.Limit > 0 {
		dst = append(dst, first)
	}
	if second.Limit > 0 {
		dst = append(dst, second)
	}
	return dst
}

// lane returns how many jobs of class may still be claimed for its workers.
func lane(v *engine.View, class engine.Class, workers int) int {
	return max(0, min(v.Idle, workers-v.InFlight[class]))
}

// mayPoll reports whether retries may be claimed now. A clock that was set back must
// not hold them up.
func (p *Separate) mayPoll(now engine.Time) bool {
	return !p.polled || now < p.polledAt || now.Sub(p.polledAt) >= p.RetryPoll
}

// Observe notes that the latest plan was carried out: one that was not, or whose
// answer was lost, is no look for retries and no lane's turn.
func (p *Separate) Observe(o *engine.Observation) {
	if o.Kind != engine.Claimed {
		return
	}
	if p.withRetries {
		p.polled, p.polledAt = true, p.retriesAt
	}
	p.retryFirst = p.retryFirst != p.crowded
	p.withRetries, p.crowded = false, false
}
