// Package bound describes what policies guarantee, such as bounds on the jobs that a process begins, for checkers.
package bound

import (
	"time"

	"qsim/engine"
	"qsim/engine/quantity"
)

// Promise lists the guarantees of a policy, for the invariant checker to verify claim by claim from the recorded events
// of a run, or by Law from the policy's plans. The zero Promise guarantees nothing.
type Promise struct {
	Conserving bool           // no worker idles while a job is ready
	Ranked     bool           // no job is claimed before a ready one of higher priority in the same term (part of a claim)
	Ordered    bool           // claims go by Order (OldestReady, NewestReady: within a priority), fresh and retry alike
	Order      engine.Order   // order of the claims if Ordered
	Rule       *engine.Rule   // parameters of Order; nil if it has none
	Capped     bool           // each node has at most Cap retries in flight
	Cap        int            // most retries in flight if Capped
	Lanes      bool           // and each node has at most (its workers − Cap) fresh jobs in flight
	Ration     Ration         // retries are rationed: how many claims pay for one
	Brakes     []Brake        // jobs are held back after failures: which, and for how long
	Interval   time.Duration  // longest time ready of a claimed job, unless its claim buried Buries; 0: none; see Sheds
	Buries     int            // most late jobs that one claim buries
	Exact      bool           // while both classes are ready, fresh jobs get Share of the claims, to less than one claim
	Share      quantity.Share // share of the claims that goes to fresh jobs, in the mean unless Exact; 0: no guarantee
	Sheds      time.Duration  // the policy may bury jobs that have been ready for longer than this; 0: it buries none
	Starves    bool           // the policy may leave retries ready for ever, although nothing fails any more
	// Hesitates returns an upper bound on the time for which the policy holds back ready jobs while workers are idle, in
	// all, if so many attempts fail and so many jobs arrive; nil: none that does not follow from the other guarantees.
	Hesitates func(fails, jobs int) time.Duration
	Law       func() Law // makes a checker of one node's plans, for guarantees that no event shows; nil: none
}

// Law checks the plans of one engine's policy, one after the other, for guarantees that recorded events do not show.
// Its functions share the variables around them as their state.
type Law struct {
	// Plan checks the plan (terms) made for the state v, and returns the breach of a guarantee, a sentence without full
	// stop; "": none.
	Plan    func(v *engine.View, terms []engine.Term) string
	Observe func(o *engine.Observation) // receives the same observations as the policy; nil: it learns nothing from them
}

// Ration is a retry budget. In any period of at most Window within the life of a process, the retries that it begins,
// except prefetched ones, cost at most Burst plus what its fresh claims and successes earn in that period.
type Ration struct {
	Burst, Cost int64                    // Cost is that of one retry; 0: there is no ration
	Claimed     int64                    // earned by each fresh job claimed, in that stretch or up to Earlier before
	Succeeded   [engine.NumClasses]int64 // earned by each execution that succeeds; only without Window
	Window      time.Duration            // 0: any stretch
	Earlier     time.Duration
}

// Brake is a circuit breaker on a set of jobs. After Failures failed executions in a row, until the next success, a
// process runs at most AtOnce of the jobs claimed since then at once or, if Every is set, claims them that far apart.
type Brake struct {
	Class    engine.Class // AnyClass: both
	Kinds    engine.Kinds // 0: all
	Failures int
	AtOnce   int
	Every    time.Duration
}
