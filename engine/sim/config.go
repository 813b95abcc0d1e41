package sim

import (
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
)

// Store is the interface of a store in a simulation, implemented by memstore.Store.
type Store interface {
	engine.Store
	// NextDue returns the time at which the earliest waiting job becomes ready by itself; Never if none will.
	NextDue() engine.Time
	// PromoteDue makes the jobs due by now ready and appends them to dst.
	PromoteDue(dst []engine.Promotion) []engine.Promotion
	// Passed returns the number of ready jobs before the first one that the latest Claim leased, in the order of
	// (priority, ready key, job ID), whatever the plan; all that were ready if it leased none. Buried jobs do not count.
	// It requires engine.StoreOptions.CountAhead.
	Passed() int
	// LoseLeases deletes the lease record of every job in flight for which lose returns true, as a fault does, and appends
	// the leases to dst as their holders have them. The jobs stay in flight: see engine.StoreOptions.Orphans for their
	// recovery. lose is called once for each, in an order that depends only on earlier calls.
	LoseLeases(lose func(engine.JobID) bool, dst []engine.Lease) []engine.Lease
	// Redrive makes the dead jobs for which revive returns true ready, as if they had become due now, and appends them to
	// dst. With reset they start over: Charged, Failures, Recoveries, Snoozes and LastDelay are 0; Delivery, Token and Age
	// go on in any case. revive is called once for each, in an order that depends only on earlier calls. It requires
	// engine.StoreOptions.KeepDead.
	Redrive(revive func(engine.JobID) bool, reset bool, dst []engine.Promotion) []engine.Promotion
}

// WakeMode selects the nodes that are woken when jobs become ready.
type WakeMode uint8

const (
	WakeOne  WakeMode = iota // one node with idle workers, in turn
	WakeAll                  // every node with idle workers, or with engine.FetchConfig.Debounce
	WakeNone                 // no node: nodes poll
)

// Config is the configuration of one simulated run.
type Config struct {
	// Nodes holds the engine configuration of each node, by number; New sets Engine, Policy and Recorder.
	Nodes []engine.Config
	// Policy returns the policy of a node that starts: a restarted process begins
	// anew.
	Policy   func(node int32) engine.Policy
	Store    func(clock func() engine.Time) Store // makes the store, which reads the virtual clock
	Network  Network                              // delays and faults of store calls
	Handlers Handlers                             // run times and outcomes of executions
	Workload Workload                             // arrivals of jobs
	Recorder engine.Recorder                      // receiver of all events; may be nil
	Wake     WakeMode
	// SilentDue keeps jobs that become ready because they are due from waking nodes.
	SilentDue bool
	Restart   time.Duration   // time from an execution that kills its process to the next start
	Controls  []fault.Control // injected faults of processes and the store, in any order
	// Late returns by how much a node reacts too late to a deadline of its engine; nil: not at all.
	Late func(node int32, due engine.Time) time.Duration
	// Claimed, if not nil, may change the leases in the answer to a claim, before they are recorded.
	Claimed func(c *engine.Call)
	// Announce returns the delay from a job becoming ready until nodes are woken for it, together with the jobs that
	// become ready meanwhile (with WakeOne one node for each); nil: none.
	Announce func(at engine.Time) time.Duration
	// Befell, if not nil, is called when an injected fault has had an effect, with the fault's index in Controls and the
	// node, if it is a fault of a node.
	Befell func(control int, node int32, at engine.Time)
	Rand   keyed.Rand // random draws of the store's faults
	// Parallel is the most calls that the store serves at once, while others wait: a call is served
	// until its answer has arrived. 0: no limit.
	Parallel  int
	CountRows bool // pass the store's counts of jobs to Network.Reply
	// Held must be set if the store has engine.StoreOptions.Held: jobs are then claimable before they are due.
	Held bool
	// MakesRoom must be set if the end of one job may make another claimable, by limits of the store or serial keys.
	MakesRoom bool
	// EnqueueDelay returns the delay of a new job on its way to the store; nil: none.
	EnqueueDelay func(at engine.Time, j *engine.NewJob) time.Duration
	Until        engine.Time // latest end of the run
	// Rest is the time for which the run continues when no work is left, for answers that engines wait for. 0: none.
	Rest time.Duration
}

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
