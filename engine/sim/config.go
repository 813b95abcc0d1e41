package sim

import (
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
)

// Store is the interface of a store in a simulation, implemented by memstore.Store.
type Store interface {
	engine.Store
	// NextDue is when the earliest waiting job becomes ready by itself.
	NextDue() engine.Time
	// PromoteDue makes what is due ready and appends it to dst.
	PromoteDue(dst []engine.Promotion) []engine.Promotion
}

// WakeMode selects the nodes that are woken when jobs become ready.
type WakeMode uint8

const (
	WakeOne  WakeMode = iota // one node with idle workers, in turn
	WakeAll                  // every node with idle workers, or with engine.FetchConfig.Debounce
	WakeNone                 // nobody: nodes poll
)

// Config is the configuration of one simulated run.
type Config struct {
	// Nodes configures the engine of each node; Engine, Policy and Recorder are
	// filled in.
	Nodes []engine.Config
	// Policy returns the policy of a node that starts: a restarted process begins
	// anew.
	Policy   func(node int32) engine.Policy
	Store    func(clock func() engine.Time) Store
	Network  Network
	Handlers Handlers
	Workload Workload
	Recorder engine.Recorder // may be nil
	Wake     WakeMode
	// SilentDue says that nobody is woken when a waiting job becomes ready.
	SilentDue bool
	Restart   time.Duration // from an execution that kills its process to the next start
	Controls  []Control     // in any order
	// Late is by how much a node notices a deadline late; nil: not at all.
	Late func(node int32, due engine.Time) time.Duration
	// Claimed may change the leases of a claim, before they are recorded; nil: nobody does.
	Claimed func(leases []engine.Lease)
	// Announce is how long it takes from when jobs become ready until nodes are woken, one announcement
	// standing for all jobs that become ready meanwhile; nil: no time.
	Announce func(at engine.Time) time.Duration
	// Befell is told when a control has made a difference, by its index in Controls, and to
	// which node, if it is one of a node; nil: nobody asks.
	Befell func(control int, node int32, at engine.Time)
	Rand   keyed.Rand // of what befalls the store
	// Parallel is how many calls the store serves at once, the rest wait their turn: a
	// call is being served until its answer has arrived. 0: no limit.
	Parallel  int
	CountRows bool // tell Network.Reply what lies in the store
	// Held says that waiting jobs are ready at once, see engine.StoreOptions.
	Held bool
	// MakesRoom says that a job may become claimable when another is committed, as the
	// store's options or the jobs' keys say.
	MakesRoom bool
	// EnqueueDelay is the way of a new job to the store; nil: none.
	EnqueueDelay func(at engine.Time, j *engine.NewJob) time.Duration
	Until        engine.Time // the run ends then, at the latest
	// Rest is how long the run goes on when nothing is left to do: an engine may still be
	// waiting for answers. 0: not at all.
	Rest time.Duration
}
