package spec

// Engine is the configuration of the queue's processes (nodes) and of the store they share.
type Engine struct {
	// system whose settings give the values of keys left out here: `qsim list presets` describes them
	Preset string `yaml:"preset,omitempty"`
	// processes sharing one store, each with its own clock, workers and maintenance; in [1, 100000]
	Nodes Count `yaml:"nodes"`
	// jobs that a node runs at once, at least 1; at most a million of all nodes
	Workers Count `yaml:"workers"`
	// most jobs of all nodes that are claimed and unacked: claims stop at this number; 0: no limit
	MaxInFlight Count `yaml:"max-in-flight"`
	// jobs counted by max-in-flight: those that are claimed; or all that are unacked, including retries that wait or
	// are ready, which may always be claimed
	InFlight Either[inFlightOf] `yaml:"in-flight,omitempty"`
	Fetch    Fetch              `yaml:"fetch"`  // claiming of jobs by a node
	Commit   Commit             `yaml:"commit"` // sending of outcomes to the store by a node
	// time of the ack: late, after the handler has run; early, with the claim, or with waiting: held with the start,
	// so that a crash loses the job
	Ack   Either[acks] `yaml:"ack"`
	Lease Lease        `yaml:"lease"` // leases of claims (visibility timeout)
	// condition for a commit to take effect, so that a holder that lost its lease cannot commit: same token, same state,
	// or none
	Fence    Fence    `yaml:"fence"`
	Reaper   Reaper   `yaml:"reaper"`   // recovery of jobs whose lease has expired
	Promoter Promoter `yaml:"promoter"` // promotion of waiting (scheduled) jobs that are due
	// place of a waiting job: in the store, or held by a node, under a lease: any node claims it before it is due
	Waiting Either[waitings] `yaml:"waiting"`
	// position of a due retry among the ready jobs: due, by its due time; tail; head; created, by the time it was enqueued
	Place Place `yaml:"place"`
	// execution timeout: the handler is canceled and the attempt fails as timeout; a class may have its own; 0s: none
	Timeout Duration `yaml:"timeout"`
	// further effect of a timeout: fail, the worker is busy until the handler has ended; free, the worker takes the
	// next job, beside a handler that runs on; wait, the attempt does not fail, and the handler's result counts
	OnTimeout   OnTimeout `yaml:"on-timeout,omitempty"`
	CallTimeout Duration  `yaml:"call-timeout"` // timeout of every call to the store except a commit; more than 0s
	Restart     Duration  `yaml:"restart"`      // time that a process stays down after a job killed it
	// first wait of the polls, ticks and beats of a process: drawn, a random part of a period, so that processes that
	// start together are not in step; together, a whole one
	Phase  Either[phases] `yaml:"phase,omitempty"`
	Leader Leader         `yaml:"leader"` // leader election for owner: leader
	Store  Store          `yaml:"store"`  // costs of calls to the store
}

// Fetch is the configuration of claiming: batch, poll, wakes, prefetch.
type Fetch struct {
	Batch Count        `yaml:"batch"` // most jobs of one claim
	Poll  Distribution `yaml:"poll"`  // pause after a claim that found too few jobs, drawn anew for each; more than 0s
	// nodes woken at once when jobs become ready: true or one, one node; all; false, none
	Wake Wake `yaml:"wake"`
	// way in which nodes find a waiting job that is due again: wake, by a wake, after promoting it, or at the due time
	// in the answer to the last claim; poll, at the next poll or claim
	OnDue    Either[onDues] `yaml:"on-due,omitempty"`
	Prefetch Count          `yaml:"prefetch"` // claimed jobs that may wait in the node under their leases; 0: none
	Cooldown Duration       `yaml:"cooldown"` // least time from one claim of a node to its next; 0s: none
	// event that begins a cooldown: claim, a claim; signal, any wake or poll, even while no worker is idle (a debounced
	// channel): polls then have a fixed pace, whatever is claimed between them
	CooldownFrom Either[coolsFrom] `yaml:"cooldown-from,omitempty"`
	// pause after a claim that failed; 0s: none, the next claim follows at once
	ErrorPause Duration `yaml:"error-pause"`
}

// Commit is the configuration of sending outcomes to the store: batches, linger, retries.
type Commit struct {
	Batch   Count    `yaml:"batch"`           // most outcomes of one call
	Linger  Duration `yaml:"linger"`          // time that an outcome waits for others; 0s: none
	Eager   bool     `yaml:"eager,omitempty"` // end the linger when the last busy worker becomes free
	Calls   Count    `yaml:"calls"`           // most commits under way at once
	Timeout Duration `yaml:"timeout"`         // timeout of one commit; more than 0s
	Tries   Count    `yaml:"tries"`           // most calls for one batch; 0: no limit
	// pause after the first failed try, the second, ...; the last repeats; none: 100ms after an error, 0s after a timeout
	Backoff []Duration `yaml:"backoff,flow"`
	// treatment of outcomes after the last try: requeue, they wait and its tries start over; drop, their leases lapse
	GiveUp Either[giveUps] `yaml:"give-up"`
	// most uncommitted outcomes: claims stop at this number; 0: no limit
	Backpressure Count `yaml:"backpressure"`
}

// Lease is the configuration of leases: TTL (visibility timeout), heartbeat, and what an expiry means.
type Lease struct {
	TTL       Duration `yaml:"ttl"`       // time until an unextended lease expires (visibility timeout); more than 0s
	Heartbeat Duration `yaml:"heartbeat"` // interval at which a node extends the leases of its jobs; 0s: never
	// longest time from the claim to the end of the lease, however often it is extended; 0s, or with of: node and
	// heartbeats: no limit
	Max Duration         `yaml:"max"`
	Of  Either[leasesOf] `yaml:"of"` // job: each has its own lease; node: all leases of a node live while it beats
	// name of a restarted process as a holder: kept, the same as before; new, another
	Names Either[nodeNames] `yaml:"names"`
	// check of expiries: store, only by the store; local, also by the holder's own clock
	Check Either[leaseChecks] `yaml:"check"`
	// treatment of the jobs in the answer to a claim given up on: return, run or ignore
	LateClaim LateClaim `yaml:"late-claim"`
}

// Reaper is the configuration of the recovery of jobs with an expired lease.
type Reaper struct {
	// pause between two searches for expired leases; 0s: each is found at the instant of expiry plus grace
	Every   Duration       `yaml:"every"`
	Batch   Count          `yaml:"batch"`    // most jobs of one call
	Grace   Duration       `yaml:"grace"`    // time after its expiry during which a lease is not recovered
	OnStart bool           `yaml:"on-start"` // at the start of a process, recover until no expired lease is left
	Counts  Either[counts] `yaml:"counts"`   // meaning of an expiry with after: retry: a failure, or nothing
	Owner   Either[owners] `yaml:"owner"`    // nodes that recover: every node, or the leader alone
	// most recoveries of a job (within the time of within); one more buries it; 0: the first one buries it
	Max Limit `yaml:"max"`
	// time from the first recovery that max counts, after which the count starts anew; 0s: no limit
	Within Duration `yaml:"within"`
	// outcome of a recovered job: retry, decided by the retry policy; ready; or dead
	After After `yaml:"after"`
	// position of a recovered job once it is ready: retry, that of a retry; due, tail, head or created
	Place ReaperPlace `yaml:"place"`
	// pause between reading the expired leases and writing the outcomes of their jobs; 0s: one atomic call
	Gap   Duration `yaml:"gap"`
	Guard Fence    `yaml:"guard"` // condition checked by that write: token, state or none
	// rows that the reaper reads: in-flight, including jobs without a lease; lease, without them
	Finds Either[finds] `yaml:"finds"`
}

// Promoter is the configuration of the promotion of waiting (scheduled) jobs that are due.
type Promoter struct {
	// pause between two ticks, drawn anew for each; 0s: there is no promoter, a waiting job is ready the instant it is due
	Every Distribution   `yaml:"every"`
	First *Distribution  `yaml:"first,omitempty"` // time from a process's start to its first tick; left out: as every
	Batch Count          `yaml:"batch"`           // most jobs of one call
	Order PromoteOrder   `yaml:"order"`           // which due jobs are promoted first: oldest or newest
	Owner Either[owners] `yaml:"owner"`           // nodes that promote: every node, or the leader alone
	// time from taking waiting jobs to making them ready: a process that dies in between loses them; 0s: one atomic call
	Gap Duration `yaml:"gap"`
}

// OfNode reports whether one heartbeat extends all leases of a node. If not, each job's lease is extended by itself.
func (l *Lease) OfNode() bool { return l.Of.Value() && l.Heartbeat > 0 }

// Lasts returns the time from a claim until its lease expires if it is never extended: TTL, or Max if that is shorter.
func (l *Lease) Lasts() Duration {
	if l.Max > 0 && !l.OfNode() {
		return min(l.TTL, l.Max)
	}
	return l.TTL
}

// On reports whether the scenario has a promoter, whose ticks make waiting jobs ready: Every is not 0s.
func (p *Promoter) On() bool { return !p.Every.IsNone() }

// Leader is the configuration of the leader election between nodes, for maintenance by one node (owner: leader).
type Leader struct {
	TTL   Duration `yaml:"ttl"`   // time until leadership expires unless it is renewed
	Renew Duration `yaml:"renew"` // interval at which the leader renews, and the others try to become leader
}

// Store holds the one-way delays (costs) of calls between nodes and store, by kind of call.
type Store struct {
	Claim    Distribution `yaml:"claim"`    // cost of a claim, once each way
	Commit   Distribution `yaml:"commit"`   // cost of a commit, once each way
	Extend   Distribution `yaml:"extend"`   // cost of a heartbeat, once each way
	Recover  Distribution `yaml:"recover"`  // cost of a search for expired leases, once each way
	Promote  Distribution `yaml:"promote"`  // cost of a promotion, once each way
	Stats    Distribution `yaml:"stats"`    // cost of counting the jobs, once each way
	Enqueue  Distribution `yaml:"enqueue"`  // cost of an enqueue
	PerJob   Distribution `yaml:"per-job"`  // cost added to a call for each job in its batch
	Scan     Scan         `yaml:"scan"`     // cost added to a call for each row that it passes over
	Parallel Count        `yaml:"parallel"` // calls served at once, the rest wait their turn; 0: no limit
}

// Scan holds, by kind of call to the store, the time added to it for the rows (jobs) that the store scans to answer it.
type Scan struct {
	Claim   RowCosts `yaml:"claim,flow"`   // costs of a claim
	Commit  RowCosts `yaml:"commit,flow"`  // costs of a commit
	Extend  RowCosts `yaml:"extend,flow"`  // costs of a heartbeat
	Recover RowCosts `yaml:"recover,flow"` // costs of a search for expired leases
	Promote RowCosts `yaml:"promote,flow"` // costs of a promotion
	Stats   RowCosts `yaml:"stats,flow"`   // costs of counting the jobs
}

// RowCosts holds the time that one call takes per row (job) in the store, by the state of that job; 0s: none.
type RowCosts struct {
	Ready    Duration `yaml:"ready"`     // time for each ready row
	Ahead    Duration `yaml:"ahead"`     // time for each ready row that stands before the first one the call takes
	Waiting  Duration `yaml:"waiting"`   // time for each waiting row
	InFlight Duration `yaml:"in-flight"` // time for each row in flight
	Ended    Duration `yaml:"ended"`     // time for each row that is done or dead
}
