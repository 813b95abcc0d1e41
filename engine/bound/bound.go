// Package bound describes bounds on the jobs that a process begins, as a policy promises them and a checker holds them.
package bound

import (
	"time"

	"qsim/engine"
)

// Ration bounds the retries that a process begins, besides those prefetched, in any stretch of its life no longer than
// Window: they cost at most Burst and what the stretch earns.
type Ration struct {
	Burst, Cost int64                    // Cost is that of one retry; 0: there is no ration
	Claimed     int64                    // earned by each fresh job claimed, in that stretch or up to Earlier before
	Succeeded   [engine.NumClasses]int64 // earned by each execution that succeeds; only without Window
	Window      time.Duration            // 0: any stretch
	Earlier     time.Duration
}

// Brake bounds the jobs of a set once so many of their executions in a row have failed, until one succeeds: of those
// that a process claims from then on at most AtOnce run at once or, if Every is set, they are claimed that far apart.
type Brake struct {
	Class    engine.Class // AnyClass: both
	Kinds    engine.Kinds // 0: all
	Failures int
	AtOnce   int
	Every    time.Duration
}
