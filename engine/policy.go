package engine

import (
	"time"

	"qsim/engine/keyed"
)

// View is the state of an engine that a Policy sees when it plans a claim. Idle, InFlight and Committing are exact and
// cost nothing; Store was read from the store StatsAge ago.
type View struct {
	Now        Time
	Workers    int             // workers of this engine
	Idle       int             // idle workers, the most jobs this plan may claim: at least 1
	InFlight   [NumClasses]int // prefetched and running jobs of this engine, by class
	Committing [NumClasses]int // jobs finished but not yet committed, by class
	Store      Stats           // the store's statistics; only for a StatsReader
	StatsAge   time.Duration   // time since Store was read; negative: not yet

	rand   keyed.Rand
	engine EngineID
	number uint64
}

// Draw returns the n-th random number, in (0, 1), for this plan, a function of the seed, the engine, the plan and n.
func (v *View) Draw(n uint16) float64 {
	return v.rand.Uniform(keyed.ForPolicy, uint64(v.engine), v.number, n)
}

// Observation is an event that a Policy learns: the end of an execution, or the number of jobs that the claim by its
// latest plan returned.
type Observation struct {
	Now     Time
	Ended   bool            // the event is the end of an execution, not a claim
	Class   Class           // Ended: the job's class (fresh, retry)
	Job     Kind            // Ended: the job's kind
	Error   ErrorKind       // Ended: reason of the failure, or NoError
	Claimed [NumClasses]int // not Ended: number of jobs claimed, by class
	Kinds   Kinds           // not Ended: the job kinds claimed, as far as below 64; empty: no job, or none below 64
}

// Succeeded reports whether the observation is the end of an execution without an error.
func (o *Observation) Succeeded() bool { return o.Ended && o.Error == NoError }

// Failed reports whether the observation is the end of an execution with an error.
func (o *Observation) Failed() bool { return o.Ended && o.Error != NoError }

// Policy decides what an engine claims next. A Policy belongs to one engine and is called from one goroutine. It may
// keep state, but must be deterministic: no clock, no global randomness, no map iteration. A policy whose terms select
// jobs by Class alone, that draws no random numbers, and whose Plan has no side effects, may have a method ByClass():
// the engine then does not call Plan while the last claim has left no ready job of either class. One whose Observe does
// nothing may have a method Unobservant(): the engine then does not call it.
type Policy interface {
	// Plan appends the terms of the next claim to dst. No terms: claim nothing until something changes or the poll
	// interval passes. v.Idle bounds the jobs claimed in all, whatever the limits of the terms.
	Plan(v *View, dst []Term) []Term
	// Observe is called after every answered claim (at most one is under way) and at the end of every execution.
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
	// is ready again. j is as it was claimed, but for its age, which is that at the end of
	// the attempt: its Failures do not include this one, its Charged does. u is uniform in
	// (0, 1), for jitter; the same job and delivery always get the same u.
	Next(j *Job, e ErrorKind, u float64) (v Verb, delay time.Duration)
}
