// Package check verifies the invariants of a job queue during a simulation and reports the first breach: a lost job,
// more attempts than the limit, a commit under a lost lease.
//
// A Checker is an engine.Recorder: it follows every job through the events of a run and checks the invariants at
// each:
//
//	checker := check.New(rules)
//	// give engine.RecordJobs(another, checker) to the simulation, then, between its steps:
//	if b := checker.Breach(); b != nil {
//		return b // names the invariant, the job and the time
//	}
//
// Between two steps it can also compare the store's own counts and jobs, see Checker.Balance and Checker.Sweep.
//
// Which invariants hold depends on how a queue is set up: without a fence a job may be done twice, and that is no fault
// of the engine. Rules are the guarantees of a run; New derives the invariants that follow, and selects the rules,
// functions that check events of some kinds. Some rules apply only after the storms: injected failures and bursts
// of load. A node runs one process after another, as crashes and restarts have it; each is a life of the node.
//
// A Checker keeps one row of 256 bytes for each live or dead job, and 4 bytes for each that is done, if jobs that
// arrive one after the other have IDs that differ in bits 8 to 13, as those of scenarios (files that describe a
// simulation); up to 300 for IDs without any order.
package check

import "fmt"

// Invariant is a property that must hold in every run, known by its number. Rules check it.
type Invariant uint8

// Conservation and the constants below are the invariants: Invariant.Says describes each, String prints its number.
const (
	Conservation Invariant = iota + 1
	NoLoss
	Final
	Limit
	Deliveries
	Leases
	Fencing
	Due
	Delays
	Effects
	Shares
	Idleness
	Recovery
	Starvation
	Recount
	Atomicity
	Determinism
	Liveness
	NumInvariants
)

var says = [NumInvariants]string{
	Conservation: "the store counts in every state what was recorded",
	NoLoss:       "every enqueued job is in exactly one state, and no other job is anywhere",
	Final:        "a job that is done or dead stays so, until it is redriven",
	Limit:        "no job is claimed or recovered more often than its limit, and none dies early",
	Deliveries:   "every claim raises the delivery of its job by one, and is started once",
	Leases: "a job in flight has one lease, under a token above all earlier ones, and is taken when that has ended; " +
		"its holder asks for it as often as heartbeats are due",
	Fencing: "what does not match the fence changes nothing, and what matches is not refused",
	Due: "no job is claimed before it is due, out of its order of serial keys or over a limit " +
		"on what is in flight",
	Delays:  "a retry is delayed by what its policy says",
	Effects: "every execution that begins ends once, and only its own end is committed",
	Shares: "retries and batches keep to their caps, claims to their pauses and to what their policy promises, " +
		"and fresh jobs and tenants get their share",
	Idleness: "no worker is idle for long while a job is ready, and no claim leaves a job that there is room for",
	Recovery: "a lease that nobody works under is handed back by a process that stops, or recovered in time, " +
		"by the leader alone where only that may",
	Starvation:  "no ready job waits for longer than the load explains",
	Recount:     "what is counted elsewhere agrees with what was recorded",
	Atomicity:   "a commit that is sent again changes nothing, and no batch is given up too early",
	Determinism: "the same seed gives the same events",
	Liveness:    "when all troubles are over every job comes to its end, and no process holds anything then",
}

// String returns the number of the invariant: "I-6".
func (i Invariant) String() string { return fmt.Sprintf("I-%d", uint8(i)) }

// Says returns a sentence that describes the invariant, without a full stop.
func (i Invariant) Says() string { return says[i] }

// Set is a set of invariants. The empty set stands for all.
type Set uint32

// Has reports whether an invariant is in the set; the empty set has all.
func (s Set) Has(i Invariant) bool { return s == 0 || s>>i&1 != 0 }

// With returns the set with invariant i added.
func (s Set) With(i Invariant) Set { return s | 1<<i }
