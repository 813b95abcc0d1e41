// Package bound describes bounds on the jobs that a process begins, which policies guarantee and checkers verify.
package bound

import (
	"time"

	"qsim/engine"
)

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
