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
	// NextDue returns when the earliest waiting job becomes ready by itself.
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
	// Nodes is the engine configuration of each node; New sets Engine, Policy and Recorder.
	Nodes []engine.Config
	// Policy returns the policy of a node that starts: a restarted process begins
	// anew.
	Policy   func(node int32) engine.Policy
	Store    func(clock func() engine.Time) Store
	Network  Network
	Handlers Handlers
	Workload Workload
	Recorder engine.Recorder // receiver of all events; may be nil
	Wake     WakeMode
	// SilentDue suppresses wakes when a waiting job becomes ready.
	SilentDue bool
	Restart   time.Duration   // time from an execution that kills its process to the next start
	Controls  []fault.Control // injected faults of processes and the store, in any order
	// Late returns the delay with which a node notices a deadline; nil: none.
	Late func(node int32, due engine.Time) time.Duration
	// Claimed may change the leases of a claim, its answer, before they are recorded; nil: no change.
	Claimed func(c *engine.Call)
	// Announce returns the delay of a wake after jobs become ready; one announcement stands for all jobs that
	// become ready meanwhile, with WakeOne as the wake of a node for each; nil: none.
	Announce func(at engine.Time) time.Duration
	// Befell is called when a control has an effect, with its index in Controls and the node, if it is
	// a control of a node; may be nil.
	Befell func(control int, node int32, at engine.Time)
	Rand   keyed.Rand // random draws of the store's faults
	// Parallel is the most calls that the store serves at once, while others wait: a call is served
	// until its answer has arrived. 0: no limit.
	Parallel  int
	CountRows bool // pass the store's counts of jobs to Network.Reply
	// Held is set if waiting jobs are ready at once, see engine.StoreOptions.
	Held bool
	// MakesRoom is set if the end of one job may make another claimable, by the store's options or the jobs' keys.
	MakesRoom bool
	// EnqueueDelay returns the delay of a new job on its way to the store; nil: none.
	EnqueueDelay func(at engine.Time, j *engine.NewJob) time.Duration
	Until        engine.Time // latest end of the run
	// Rest is the time for which the run continues when no work is left, for answers that engines wait for. 0: none.
	Rest time.Duration
}
