package sim

import (
	"time"

	"qsim/engine"
)

// Workload yields arrivals in time order; ok is false when there are no more.
type Workload interface {
	Next() (at engine.Time, j engine.NewJob, ok bool)
}

// Revoker is a Workload some of whose arrivals may not come after all.
type Revoker interface {
	Workload
	// Comes is asked of every arrival when its time has come, after all else that
	// happens at that instant but timers and before Next is asked for another. One
	// that does not come leaves no trace.
	Comes(now engine.Time, j *engine.NewJob) bool
}

// Execution is how one run of a handler goes, if nothing interrupts it.
type Execution struct {
	Runs          time.Duration // at least 0
	Error         engine.ErrorKind
	Kills         bool // at its end the process dies with all it holds
	IgnoresCancel bool // goes on to its end when it is told to stop
	Undecided     bool // Error depends on what others do until its end: Handlers must be a Judge
}

// Handlers decide how executions go. Begin and End come in the order of the
// virtual clock, so a dependency of finite capacity can be simulated.
type Handlers interface {
	Begin(now engine.Time, node int32, j *engine.Job) Execution
	// End says that an execution ended: err is NoError for success, Canceled,
	// Timeout or LeaseExpired if it was stopped. aborted: its process died.
	End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool)
}

// Judge is Handlers that learn at the end of an execution how it went.
type Judge interface {
	Handlers
	// Decide returns with what an Undecided execution fails that comes to its own end
	// now; NoError if it succeeds. End follows.
	Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind
}
