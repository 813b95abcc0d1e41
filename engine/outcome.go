package engine

import "time"

// Verb is the action of a commit on a job: ack, nack, bury, return, redo or snooze.
type Verb uint8

const (
	Ack    Verb = iota + 1 // done: the job has succeeded
	Nack                   // failed: a retry, ready again after Delay; Failures goes up
	Bury                   // given up: dead (moved to the dead-letter set); Failures goes up
	Return                 // not run, or the expiry costs no attempt: ready again at once, Charged goes down
	Redo                   // failed, but ready again at once: Failures goes up, Charged stays
	Snooze                 // failed without costing an attempt: as Nack, but Charged goes down and Failures stays
)

// String returns "ack", "nack", "bury", "return", "redo" or "snooze".
func (v Verb) String() string {
	return [...]string{"?", "ack", "nack", "bury", "return", "redo", "snooze"}[v]
}

// Outcome is the entry of one job in a commit: the lease under which it ran, and what becomes of it.
type Outcome struct {
	LeaseKey
	Verb     Verb
	Stand    Place         // Return, Redo: position among the ready jobs; Nack, Snooze: position once it is ready
	Guard    Fence         // if not FenceDefault: condition for a reaper to take a lease it had only read, see Expired
	Reaped   bool          // Bury, for the record: buried by the rules of the reaper, not by the retry policy
	Aged     bool          // Bury, for the record: as too old for another attempt, see KindConfig.Deadline
	Refused  bool          // order to a simulated store that applies part of a batch: answer Unapplied and do nothing
	Error    ErrorKind     // reason of the failure, for the record
	Kind     Kind          // job kind, for the record
	Tenant   TenantID      // tenant, for the record
	Delivery int32         // delivery count, for the record
	Delay    time.Duration // Nack, Snooze: time until the job is ready again, at least 0
	Passed   time.Duration // Nack, Snooze: part of the drawn delay that was over before, at least 0; see Job.LastDelay
	slot     Slot          // slot of the lease in the engine's table; noSlot: no worker held it
	due      Time          // end of the delay by the engine's clock, if it does not run from the commit; else 0
}

// BatchID identifies a batch of outcomes over all its resends. Seq counts from 1 in each engine.
type BatchID struct {
	Engine EngineID
	Seq    uint64
}

// Batch is the list of outcomes in one commit call.
type Batch struct {
	ID BatchID
	// Settled is a sequence number: every batch of this engine with Seq <= Settled has been answered,
	// and the store may forget its answer.
	Settled  uint64
	Outcomes []Outcome
}

// Status is the store's answer to one outcome of a batch, or one lease of a heartbeat: applied, stale and so on.
type Status uint8

const (
	Unapplied Status = iota // not executed by the store, and not refused: send it again
	Applied                 // executed
	Stale                   // fenced off: the lease had passed to another, or the job had ended
)

// Again returns the status, Applied or Stale, marked as a repeated answer: an earlier copy of the same batch got the
// same answer. The engine treats it like the unmarked one, but no event is recorded.
func (s Status) Again() Status { return s | 1<<7 }

// Result is the store's answer to one Outcome of a commit.
type Result struct {
	Status   Status
	From     State         // Applied: the job's former state
	Class    Class         // From Ready or Waiting: the job's class
	Delivery int32         // Applied, with a Guard: the delivery whose lease was taken
	Age      time.Duration // time since the job was enqueued, by the store's clock
	Holder   EngineID      // Applied, with a Guard: the former holder of the lease
	Token    Token         // Applied, with a Guard: the former token of the lease
}
