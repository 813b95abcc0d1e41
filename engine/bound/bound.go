// Package bound describes bounds on the jobs that a process begins, which policies guarantee and checkers verify.
package bound

import (
	"time"

	"qsim/engine"
)

// Ration is a retry budget: in any stretch of a process's life no longer than Window, the retries that it begins,
// besides those prefetched, cost at most Burst plus what fresh claims and successes earn in that stretch.
type Ration struct {
	Burst, Cost int64                    // Cost is that of one retry; 0: there is no ration
	Claimed     int64                    // earned by each fresh job claimed, in that stretch or up to Earlier before
	Succeeded   [engine.NumClasses]int64 // earned by each execution that succeeds; only without Window
	Window      time.Duration            // 0: any stretch
	Earlier     time.Duration
}

// Brake is a circuit breaker on a set of jobs. From Failures failed executions in a row to the next success, at most
// AtOnce of the jobs claimed since then run at once in a process or, if Every is set, they are claimed that far apart.
type Brake struct {
	Class    engine.Class // AnyClass: both
	Kinds    engine.Kinds // 0: all
	Failures int
	AtOnce   int
	Every    time.Duration
}
