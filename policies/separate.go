package policies

import (
	"errors"
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

var _ = builtIn(Kind{
	rank: 70, Name: "separate", Cost: CostJobs, State: StateNode, Drawn: Drawn{Weight: 1, Workers: 2},
	Doc: "Retries have workers of their own and fresh jobs the others, as with a second queue. Neither can crowd " +
		"out the other; a lane idles while the other has a backlog.",
	Params: []Param{
		{Name: "retry-workers", Type: TypeCountOrShare, Default: "20%",
			Doc: "workers of each node for retries; at least one, and one must be left for fresh jobs"},
		{Name: "retry-poll", Type: TypeDuration, Default: "0s",
			Doc: "least time between two looks for retries: a slower fetch of their own; 0s: none"},
	},
	New: func(a Arguments) (engine.Policy, error) {
		value := a.Value("retry-workers").(quantity.CountOrShare)
		retry := a.OfWorkers("retry-workers")
		if value.IsShare && value.Share != quantity.Percent(100) {
			retry = min(retry, a.Workers-1)
		}
		switch {
		case a.Workers == 1:
			return nil, errors.New("one worker cannot be divided: it needs at least 2 workers a node")
		case retry == 0:
			return nil, fmt.Errorf("retry-workers: %v leaves no worker for retries", value)
		case retry >= a.Workers:
			return nil, fmt.Errorf("retry-workers: %v of %d workers leaves none for fresh jobs", value, a.Workers)
		}
		return &Separate{RetryWorkers: retry, RetryPoll: a.Duration("retry-poll")}, nil
	},
})

// Separate is the policy separate, which has two lanes: RetryWorkers of an engine's workers take only retries, the
// others only fresh jobs. Prefetched jobs count in their lane, so nothing is prefetched beyond the workers. Each engine
// keeps its own state: which lane was served first, and when retries were last looked for.
type Separate struct {
	byClass
	RetryWorkers int           // workers reserved for retries, in [1, workers-1] of one engine
	RetryPoll    time.Duration // least time between two claims of retries; 0: no limit

	retryFirst bool        // the next plan too small for both lanes serves retries first
	pollAt     engine.Time // earliest time to claim retries

	// The fields below describe the latest plan, until its claim is answered.
	crowded bool        // the latest plan was too small to fill both lanes
	nextAt  engine.Time // pollAt once the plan is answered
}

// Plan lets the next claim take fresh jobs and retries, each as far as there is room in their lane. While it is too
// small to fill both lanes, they take turns in being served first, so that a small batch starves neither.
func (p *Separate) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	fresh, retries := lane(v, engine.Fresh, v.Workers-p.RetryWorkers), lane(v, engine.Retry, p.RetryWorkers)
	p.nextAt = p.pollAt
	if wait := p.pollAt.Sub(v.Now); wait > 0 && wait <= p.RetryPoll { // a clock set back delays no retry
		retries = 0
	} else if retries > 0 {
		p.nextAt = v.Now.Add(p.RetryPoll)
	}
	if p.crowded = fresh+retries > v.Idle; p.crowded && p.retryFirst {
		return term(term(dst, engine.Retry, retries), engine.Fresh, fresh)
	}
	return term(term(dst, engine.Fresh, fresh), engine.Retry, retries)
}

// lane returns how many jobs of a class a plan may claim: its workers less its jobs in flight, at most all idle ones.
func lane(v *engine.View, class engine.Class, workers int) int {
	return max(0, min(v.Idle, workers-v.InFlight[class]))
}

// Observe records that the latest plan was answered: it counts as a poll for retries and a lane's turn only then.
func (p *Separate) Observe(o *engine.Observation) {
	if !o.Ended {
		p.pollAt, p.retryFirst, p.crowded = p.nextAt, p.retryFirst != p.crowded, false
	}
}

// Guarantees declares for the invariant checker: no lane has more jobs in flight than workers, and (checked by a Law) a
// plan fills both lanes or, if too small for that, begins with the lane that the previous such plan filled second.
func (p *Separate) Guarantees() Promise {
	return Promise{Capped: true, Lanes: true, Cap: p.RetryWorkers, Law: func() Law {
		const both = engine.AnyClass + 1 // in place of a lane, for a plan that fills both
		began, last := both, both        // lane served first by the latest plan, and by the latest answered one
		return Law{Plan: func(v *engine.View, terms []engine.Term) string {
			workers := [engine.NumClasses]int{engine.Fresh: v.Workers - p.RetryWorkers, engine.Retry: p.RetryWorkers}
			began = both
			fresh, retries := Asked(v, terms)
			for class, got := range [engine.NumClasses]int{engine.Fresh: fresh, engine.Retry: retries} {
				room := max(0, min(v.Idle, workers[class]-v.InFlight[class]))
				if got > room || got < room && (engine.Class(class) == engine.Fresh || p.RetryPoll == 0) {
					return fmt.Sprintf("a plan for %d jobs has room for %d %v jobs, and their lane for %d",
						v.Idle, got, engine.Class(class), room)
				}
			}
			if fresh+retries <= v.Idle {
				return ""
			}
			if began = terms[0].Class; began == last {
				return fmt.Sprintf("two plans in a row that cannot fill both lanes ask for %v jobs first", began)
			}
			return ""
		}, Observe: func(o *engine.Observation) {
			if !o.Ended && began != both {
				last = began
			}
		}}
	}}
}
