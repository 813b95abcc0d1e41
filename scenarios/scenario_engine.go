package scenarios

// Engine is the configuration of the queue's processes (nodes) and of the store they share.
type Engine struct {
	// a system whose settings lie below the other keys: `qsim list presets` describes them
	Preset string `yaml:"preset,omitempty"`
	// processes sharing one store, each with its own clock, workers and maintenance; in [1, 100000]
	Nodes Count `yaml:"nodes"`
	// jobs that a node runs at once, at least 1; at most a million of all nodes
	Workers Count `yaml:"workers"`
	// nobody claims while so many jobs of all nodes are claimed and unacked; 0: no limit
	MaxInFlight Count `yaml:"max-in-flight"`
	// what max-in-flight counts: jobs that are claimed; or all that are unacked, retries that wait or are ready too, of
	// which any number may be claimed
	InFlight InFlightOf `yaml:"in-flight,omitempty"`
	Fetch    Fetch      `yaml:"fetch"`  // how a node claims jobs
	Commit   Commit     `yaml:"commit"` // how a node sends outcomes to the store
	// late: a job is acked after its handler has run; early: the claim is the ack, or with waiting: held the start, so
	// that a crash loses the job
	Ack   Ack   `yaml:"ack"`
	Lease Lease `yaml:"lease"` // how long a claim is good for (visibility timeout)
	// what a commit must match, so that a holder that lost its lease cannot commit: token, state, or none
	Fence    Fence    `yaml:"fence"`
	Reaper   Reaper   `yaml:"reaper"`   // recovery of jobs whose lease has expired
	Promoter Promoter `yaml:"promoter"` // who makes waiting jobs ready once they are due
	// where a waiting job is: in the store, or held by the node that failed it, its lease running
	Waiting Waiting `yaml:"waiting"`
	// where a due retry stands: due, by its due time; tail; head; created, by the time it was enqueued
	Place Place `yaml:"place"`
	// of an execution: the handler is canceled and the attempt fails as timeout; a class may have its own; 0s: none
	Timeout Duration `yaml:"timeout"`
	// what else a timeout does: fail, the worker is busy until the handler has ended; free, the worker takes the next
	// job, beside a handler that runs on; wait, the attempt does not fail, and what the handler returns counts
	OnTimeout   OnTimeout `yaml:"on-timeout,omitempty"`
	CallTimeout Duration  `yaml:"call-timeout"` // of every call to the store but a commit; more than 0s
	Restart     Duration  `yaml:"restart"`      // how long a process that a job killed stays down
	// how long the polls, ticks and beats of a process wait at first: together, a whole period; drawn, a part of one, so
	// that processes that start together are not in step
	Phase  Phase  `yaml:"phase,omitempty"`
	Leader Leader `yaml:"leader"` // the election for owner: leader
	Store  Store  `yaml:"store"`  // what calls to the store cost
}

// Fetch is the configuration of claiming: batch, poll, wakes, prefetch.
type Fetch struct {
	Batch Count        `yaml:"batch"` // most jobs of one claim
	Poll  Distribution `yaml:"poll"`  // pause after a claim that found too little, drawn anew for each; more than 0s
	// who is told at once of new ready jobs: true or one, one node; all; false, nobody
	Wake Wake `yaml:"wake"`
	// what finds a waiting job that is ready again: wake, the nodes that wake tells, one that has promoted it, and one
	// that knows from its last claim when it falls due; poll, the next poll or claim
	OnDue    OnDue    `yaml:"on-due,omitempty"`
	Prefetch Count    `yaml:"prefetch"` // claimed jobs that may wait in the node, leases running; 0: none
	Cooldown Duration `yaml:"cooldown"` // least time from one claim of a node to its next; 0s: none
	// what a cooldown begins with: claim, a claim; signal, whatever asks for one, a wake or a poll, even while no worker is
	// idle (a debounced channel): polls then come at their own pace, whatever is claimed between them
	CooldownFrom CooldownFrom `yaml:"cooldown-from,omitempty"`
	// pause after a claim that failed; 0s: none, the next claim follows at once
	ErrorPause Duration `yaml:"error-pause"`
}

// Commit is the configuration of sending outcomes to the store: batches, linger, retries.
type Commit struct {
	Batch   Count    `yaml:"batch"`   // most outcomes of one call
	Linger  Duration `yaml:"linger"`  // how long an outcome waits for others; 0s: not at all
	Calls   Count    `yaml:"calls"`   // most commits under way at once
	Timeout Duration `yaml:"timeout"` // of one commit; more than 0s
	Tries   Count    `yaml:"tries"`   // calls in all for one batch; 0: for ever
	// pause after the first failed try, the second, ...; the last repeats; none: 100ms after an error, 0s after a
	// timeout
	Backoff []Duration `yaml:"backoff,flow"`
	// what becomes of outcomes after the last try: requeue, the jobs run again; drop, their leases lapse
	GiveUp GiveUp `yaml:"give-up"`
	// no claims while so many outcomes wait; 0: claims never stop for that
	Backpressure Count `yaml:"backpressure"`
}

// Lease is the configuration of leases: TTL (visibility timeout), heartbeat, and what an expiry means.
type Lease struct {
	TTL       Duration `yaml:"ttl"`       // how long a claim lasts unless it is extended; more than 0s
	Heartbeat Duration `yaml:"heartbeat"` // how often a node extends the leases of its jobs; 0s: never
	// longest time from the claim to the end of the lease, however often it is extended; 0s: no limit
	Max Duration `yaml:"max"`
	Of  LeaseOf  `yaml:"of"` // job: each has its own lease; node: all of a node live while it beats
	// whether a process that starts again is the holder it was: kept; or another: new
	Names NodeNames `yaml:"names"`
	// who finds a lease expired: the store; or local, the holder too, by its own clock
	Check LeaseCheck `yaml:"check"`
	// what to do with the answer of a claim given up on: return, run or ignore its jobs
	LateClaim LateClaim `yaml:"late-claim"`
}

// Reaper is the configuration of the recovery of jobs with an expired lease.
type Reaper struct {
	// pause between two looks for expired leases; 0s: each is found at the instant of expiry plus grace
	Every   Duration `yaml:"every"`
	Batch   Count    `yaml:"batch"`    // most jobs of one call
	Grace   Duration `yaml:"grace"`    // how long after its expiry a lease is left alone
	OnStart bool     `yaml:"on-start"` // recover until nothing is left when a process starts
	Counts  Counts   `yaml:"counts"`   // what an expiry counts as, where after is retry: a failure, or nothing
	Owner   Owner    `yaml:"owner"`    // who recovers: every node, or the leader alone
	// a job recovered more often (within the time of within) is buried; 0: at its first recovery
	Max Limit `yaml:"max"`
	// the span of time, up to now, in which max counts; 0s: since the job was enqueued
	Within Duration `yaml:"within"`
	// what a recovered job becomes: retry, what the retry policy says; ready; or dead
	After After `yaml:"after"`
	// where a recovered job stands once it is ready: retry, where a retry stands; due, tail, head or created
	Place ReaperPlace `yaml:"place"`
	// pause between reading which leases have expired and writing what becomes of their jobs; 0s: one atomic call
	Gap   Duration `yaml:"gap"`
	Guard Fence    `yaml:"guard"` // what that write checks: token, state or none
	// which rows it reads: in-flight, so that one without a lease is found; lease, so that it is not
	Finds ReaperFinds `yaml:"finds"`
}

// Promoter is the configuration of the promotion of waiting (scheduled) jobs that are due.
type Promoter struct {
	// pause between two ticks, drawn anew for each; 0s: there is no promoter, a waiting job is ready the instant it is
	// due
	Every Distribution  `yaml:"every"`
	First *Distribution `yaml:"first,omitempty"` // from the start of a process to its first tick; left out: as every
	Batch Count         `yaml:"batch"`           // most jobs of one call
	Order PromoteOrder  `yaml:"order"`           // which due jobs are promoted first: oldest or newest
	Owner Owner         `yaml:"owner"`           // who promotes: every node, or the leader alone
	// from taking jobs from where they wait to putting them where they are ready: a process that dies in between loses
	// them; 0s: one atomic call
	Gap Duration `yaml:"gap"`
}

// On reports whether a promoter is configured.
func (p *Promoter) On() bool { return !p.Every.IsNone() }

// Leader is the configuration of the leader election behind owner: leader.
type Leader struct {
	TTL   Duration `yaml:"ttl"`   // how long an office lasts that is not renewed
	Renew Duration `yaml:"renew"` // how often the leader renews it, and the others try to get it
}

// Store holds the one-way delays of calls to the store, by kind of call.
type Store struct {
	Claim    Distribution `yaml:"claim"`    // cost of a claim, once each way
	Commit   Distribution `yaml:"commit"`   // cost of a commit, once each way
	Extend   Distribution `yaml:"extend"`   // cost of a heartbeat, once each way
	Recover  Distribution `yaml:"recover"`  // cost of a look for expired leases, once each way
	Promote  Distribution `yaml:"promote"`  // cost of a promotion, once each way
	Stats    Distribution `yaml:"stats"`    // cost of reading how many jobs there are, once each way
	Enqueue  Distribution `yaml:"enqueue"`  // cost of an enqueue
	PerJob   Distribution `yaml:"per-job"`  // added to a call for each job in its batch
	Scan     Scan         `yaml:"scan"`     // added to a call for each row that it passes over
	Parallel Count        `yaml:"parallel"` // calls served at once, the rest wait their turn; 0: no limit
}

// Scan holds the costs of calls for the rows that lie in the store when they are served, by kind of call.
type Scan struct {
	Claim   RowCosts `yaml:"claim,flow"`   // of a claim
	Commit  RowCosts `yaml:"commit,flow"`  // of a commit
	Extend  RowCosts `yaml:"extend,flow"`  // of a heartbeat
	Recover RowCosts `yaml:"recover,flow"` // of a look for expired leases
	Promote RowCosts `yaml:"promote,flow"` // of a promotion
	Stats   RowCosts `yaml:"stats,flow"`   // of reading how many jobs there are
}

// RowCosts holds the time that one call takes per row in each state; 0: none.
type RowCosts struct {
	Ready    Duration `yaml:"ready"`     // time for each ready row
	Ahead    Duration `yaml:"ahead"`     // time for each ready row that stands before the first one the call takes
	Waiting  Duration `yaml:"waiting"`   // time for each waiting row
	InFlight Duration `yaml:"in-flight"` // time for each row in flight
	Ended    Duration `yaml:"ended"`     // time for each row that is done or dead
}
