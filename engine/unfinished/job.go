// Package unfinished describes the unfinished jobs in a store, for packages that check or measure a run.
package unfinished

import (
	"time"

	"qsim/engine"
)

// Job is a job that a store holds and that is neither done nor dead.
type Job struct {
	ID     engine.JobID
	Kind   engine.Kind
	Tenant engine.TenantID
	State  engine.State  // Ready, Waiting or InFlight
	Class  engine.Class  // Fresh: never claimed, or in flight for the first time
	Age    time.Duration // time since it was enqueued
	Waited time.Duration // Ready or Waiting: time since it was due, whether or not it has been promoted; 0 before
	// Delivery and Charged are those of the job, see engine.Job.
	Delivery, Charged int32
}
