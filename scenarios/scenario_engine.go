package scenarios

// Engine is what one process of the queue does, and the store they share.
type Engine struct {
	Preset      string   `yaml:"preset,omitempty"` // the engine preset that lies below the other keys; empty: none
	Nodes       Count    `yaml:"nodes"`            // processes sharing one store, in [1, 100000]
	Workers     Count    `yaml:"workers"`          // per node, at least 1; at most a million of all nodes
	MaxInFlight Count    `yaml:"max-in-flight"`    // nobody claims while so many jobs of all nodes are claimed and unacked; 0: no limit
	Fetch       Fetch    `yaml:"fetch"`
	Commit      Commit   `yaml:"commit"`
	Ack         Ack      `yaml:"ack"` // late: after the handler; early: the claim is the ack, or with waiting: held the start, so that a crash loses the job
	Lease       Lease    `yaml:"lease"`
	Fence       Fence    `yaml:"fence"` // what a commit must match
	Reaper      Reaper   `yaml:"reaper"`
	Promoter    Promoter `yaml:"promoter"`
	Waiting     Waiting  `yaml:"waiting"`      // where a waiting job is: in the store, or held by the node that failed it, its lease running
	Place       Place    `yaml:"place"`        // where a due retry stands
	Timeout     Duration `yaml:"timeout"`      // of an execution; a class may have its own; 0: none
	CallTimeout Duration `yaml:"call-timeout"` // of every call but a commit; more than 0
	Restart     Duration `yaml:"restart"`      // how long a process that a job killed stays down
	Leader      Leader   `yaml:"leader"`       // for owner: leader
	Store       Store    `yaml:"store"`
}

// Fetch is how a node claims.
type Fetch struct {
	Batch      Count    `yaml:"batch"`       // most jobs of one claim
	Poll       Duration `yaml:"poll"`        // pause after a claim that found too little; more than 0
	Wake       Wake     `yaml:"wake"`        // who is told at once of new ready jobs
	Prefetch   Count    `yaml:"prefetch"`    // claimed jobs that may wait in the node, leases running; 0: none
	Cooldown   Duration `yaml:"cooldown"`    // least time from one claim of a node to its next; 0: none
	ErrorPause Duration `yaml:"error-pause"` // pause after a claim that failed; 0: none, the next claim follows at once
}

// Commit is how a node sends outcomes to the store.
type Commit struct {
	Batch        Count      `yaml:"batch"`        // most outcomes of one call
	Linger       Duration   `yaml:"linger"`       // how long an outcome waits for others; 0: not at all
	Calls        Count      `yaml:"calls"`        // most commits under way at once
	Timeout      Duration   `yaml:"timeout"`      // of one call; more than 0
	Tries        Count      `yaml:"tries"`        // calls in all for one batch; 0: for ever
	Backoff      []Duration `yaml:"backoff,flow"` // pause after the first failed try, the second, ...; the last repeats; none: 100ms after an error, 0s after a timeout
	GiveUp       GiveUp     `yaml:"give-up"`      // what becomes of outcomes after the last try
	Backpressure Count      `yaml:"backpressure"` // no claims while so many outcomes wait; 0: claims never stop for that
}

// Lease is how long a claim is good for.
type Lease struct {
	TTL       Duration   `yaml:"ttl"`        // more than 0
	Heartbeat Duration   `yaml:"heartbeat"`  // 0: none
	Max       Duration   `yaml:"max"`        // longest time from the claim to the end of the lease, however often it is extended; 0: no limit
	Of        LeaseOf    `yaml:"of"`         // job: each has its own; node: all of a node live while it beats
	Names     NodeNames  `yaml:"names"`      // whether a process that starts again is the holder it was: kept; or another: new
	Check     LeaseCheck `yaml:"check"`      // who finds a lease expired: the store; or local, the holder too, by its own clock
	LateClaim LateClaim  `yaml:"late-claim"` // what to do with the answer of a claim given up on
}

// Reaper is who looks for expired leases.
type Reaper struct {
	Every   Duration    `yaml:"every"`    // 0: at the instant of expiry plus grace
	Batch   Count       `yaml:"batch"`    // most jobs of one call
	Grace   Duration    `yaml:"grace"`    // how long after its expiry a lease is left alone
	OnStart bool        `yaml:"on-start"` // recover until nothing is left when a process starts
	Counts  Counts      `yaml:"counts"`   // what an expiry counts as; for After: retry
	Owner   Owner       `yaml:"owner"`
	Max     Limit       `yaml:"max"`    // a job recovered more often (within Within) is buried; 0: at its first recovery
	Within  Duration    `yaml:"within"` // the span of time, up to now, in which Max counts; 0: since it was enqueued
	After   After       `yaml:"after"`  // what a recovered job becomes: what the retry policy says, ready, or dead
	Place   ReaperPlace `yaml:"place"`  // where a recovered job stands once it is ready
	Gap     Duration    `yaml:"gap"`    // pause between reading which leases have expired and writing what becomes of their jobs; 0: one atomic call
	Guard   Fence       `yaml:"guard"`  // what that write checks: token, state or none
	Finds   ReaperFinds `yaml:"finds"`  // which rows it reads: in-flight, so that one without a lease is found; lease, so that it is not
}

// Promoter is who makes waiting jobs ready.
type Promoter struct {
	Every Distribution  `yaml:"every"`           // drawn anew for each tick; constant 0: there is none, a waiting job is ready the instant it is due
	First *Distribution `yaml:"first,omitempty"` // from the start of a process to its first tick; nil: Every
	Batch Count         `yaml:"batch"`           // most jobs of one call
	Order PromoteOrder  `yaml:"order"`
	Owner Owner         `yaml:"owner"`
	Gap   Duration      `yaml:"gap"` // from taking jobs from where they wait to putting them where they are ready: a process that dies in between loses them; 0: one atomic call
}

// On reports whether there is a promoter.
func (p *Promoter) On() bool { return !p.Every.IsNone() }

// Leader is the election for owner: leader.
type Leader struct {
	TTL   Duration `yaml:"ttl"`
	Renew Duration `yaml:"renew"`
}

// Store is what a call to the store costs, one way, by kind of call.
type Store struct {
	Claim    Distribution `yaml:"claim"`
	Commit   Distribution `yaml:"commit"`
	Extend   Distribution `yaml:"extend"`
	Recover  Distribution `yaml:"recover"`
	Promote  Distribution `yaml:"promote"`
	Stats    Distribution `yaml:"stats"`
	Enqueue  Distribution `yaml:"enqueue"`
	PerJob   Distribution `yaml:"per-job"`  // added per job in the batch
	Scan     Scan         `yaml:"scan"`     // added per row that the call passes over
	Parallel Count        `yaml:"parallel"` // calls served at once, the rest wait their turn; 0: no limit
}

// Scan is what calls of each kind pay for the rows that lie in the store when they are
// served.
type Scan struct {
	Claim   RowCosts `yaml:"claim,flow"`
	Commit  RowCosts `yaml:"commit,flow"`
	Extend  RowCosts `yaml:"extend,flow"`
	Recover RowCosts `yaml:"recover,flow"`
	Promote RowCosts `yaml:"promote,flow"`
	Stats   RowCosts `yaml:"stats,flow"`
}

// RowCosts are the times that one call spends per row in a state; 0: none.
type RowCosts struct {
	Ready    Duration `yaml:"ready"`
	Ahead    Duration `yaml:"ahead"` // ready rows that stand before the first one the call takes
	Waiting  Duration `yaml:"waiting"`
	InFlight Duration `yaml:"in-flight"`
	Ended    Duration `yaml:"ended"` // done and dead
}
