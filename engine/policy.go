package engine

import (
	"time"

	"qsim/engine/keyed"
)

// View is the state of an engine as seen by a Policy when it plans. Idle, InFlight and Committing are exact and free;
// Store is as old as StatsAge says.
type View struct {
	Now        Time
	Workers    int             // workers of this engine
	Idle       int             // the most this plan may claim: at least 1
	InFlight   [NumClasses]int // prefetched and running executions of this engine
	Committing [NumClasses]int // finished, not yet committed
	Store      Stats           // only for a policy that is a StatsReader
	StatsAge   time.Duration   // negative: no Stats yet

	rand   keyed.Rand
	engine EngineID
	number uint64
}

// Draw returns a number in (0, 1) that depends only on the seed, the engine, the number of this plan and n.
func (v *View) Draw(n uint16) float64 {
	return v.rand.Uniform(keyed.ForPolicy, uint64(v.engine), v.number, n)
}

// Observation is an event reported to a Policy: an execution ended, or else the latest plan brought Count jobs
// of Class.
type Observation struct {
	Now   Time
	Ended bool // one execution
	Class Class
	Job   Kind      // Ended: the job's kind
	Error ErrorKind // Ended: why it failed, or NoError
	Kinds Kinds     // of the jobs that a plan brought, those below 64; empty: Count is 0, or all are above
	Count int       // may be 0
}

// Succeeded reports whether the observation is of an execution without an error.
func (o *Observation) Succeeded() bool { return o.Ended && o.Error == NoError }

// Failed reports whether the observation is of an execution that ended with an error.
func (o *Observation) Failed() bool { return o.Ended && o.Error != NoError }

// Policy decides what an engine claims next. A Policy belongs to one engine and
// is called from one goroutine. It may keep state, but must be deterministic:
// no clock, no global randomness, no map iteration. One whose terms select jobs by
// Class alone, that draws nothing, and whose plans leave no trace unless they are carried
// out may have a method ByClass(): it is then not asked while no class may have ready jobs.
type Policy interface {
	// Plan appends the terms of the next claim to dst. No terms: claim nothing
	// until something changes or the poll interval passes. The sum of what the
	// terms may claim is bounded by v.Idle whatever their limits say.
	Plan(v *View, dst []Term) []Term
	// Observe is called for every claim that was answered (at most one is under
	// way), with one observation for each class, and for every execution
	// that ended.
	Observe(o *Observation)
}

// StatsReader is a Policy whose plans depend on View.Store: the engine calls the store's Stats at the interval
// StatsEvery.
type StatsReader interface {
	Policy
	StatsEvery() time.Duration
}

// RetryPolicy decides the outcome of a job after a failure. It must be a pure function of its arguments: one value
// serves all engines.
type RetryPolicy interface {
	// Next returns Bury, Nack or Snooze, and for the last two the delay until the job
	// is ready again. j is as it was claimed: its Failures do not include this one, its
	// Charged does. u is uniform in (0, 1), for jitter; the same job and delivery
	// always get the same u.
	Next(j *Job, e ErrorKind, u float64) (v Verb, delay time.Duration)
}
