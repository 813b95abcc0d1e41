package sim

import (
	"time"

	"qsim/engine"
)

// Workload is the sequence of jobs that arrive, in order of time: Next fills in j with the next job, overwriting all of
// it, and returns its time; ok is false when there are no more.
type Workload interface {
	Next(j *engine.NewJob) (at engine.Time, ok bool)
}

// Revoker is a Workload that can cancel an arrival at the moment when the job would be enqueued.
type Revoker interface {
	Workload
	// Comes decides whether an arrival is enqueued when its time has come, after all other events of that instant except
	// timers and before the call of Next for another arrival. One that is not leaves no trace.
	Comes(now engine.Time, j *engine.NewJob) bool
}

// Execution is the scripted behaviour of a handler for one attempt: its run time and outcome, unless it is interrupted.
type Execution struct {
	Runs          time.Duration // run time, at least 0
	Error         engine.ErrorKind
	Kills         bool // at the end of the execution its process dies
	IgnoresCancel bool // runs to its end even if it is cancelled
	Undecided     bool // Error depends on other executions until the end: Handlers must be a Judge
}

// Handlers determines run times and outcomes of executions. Begin and End are called in the order of the virtual clock,
// so that a dependency of finite capacity can be simulated.
type Handlers interface {
	Begin(now engine.Time, node int32, j *engine.Job) Execution
	// End handles the end of an execution: err is NoError for success, Canceled, Timeout or
	// LeaseExpired if it was stopped. aborted: its process died.
	End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool)
}

// Judge is a Handlers that can leave the outcome of an execution (Undecided) open until the end of its run time.
type Judge interface {
	Handlers
	// Decide returns the error of an Undecided execution that reaches its own end now; NoError if it
	// succeeds. End follows.
	Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind
}
