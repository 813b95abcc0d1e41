package engine

import "time"

// Verb is the action of a commit on a job: ack, nack, bury or return.
type Verb uint8

const (
	Ack    Verb = iota + 1 // done
	Nack                   // failed: ready again after Delay, as Retry; Failures goes up
	Bury                   // given up: dead; Failures goes up
	Return                 // not run, or its expiry counts for nothing: ready again at once, Charged goes down
	Redo                   // failed, but ready again at once: Failures goes up, Charged stays
	Snooze                 // failed for a reason that costs no attempt: as Nack, but Charged goes down and Failures stays
)

// String returns "ack", "nack", "bury", "return", "redo" or "snooze".
func (v Verb) String() string {
	return [...]string{"?", "ack", "nack", "bury", "return", "redo", "snooze"}[v]
}

// Outcome is the result of one job in a commit.
type Outcome struct {
	LeaseKey
	Verb     Verb
	Stand    Place         // Return, Redo; Nack, Snooze: once it becomes ready
	Guard    Fence         // not FenceDefault: a reaper that had only read the lease takes it with this, see Expired
	Reaped   bool          // Bury, for the record: by the rules of the reaper, whatever the retry policy says
	Refused  bool          // a simulated store applies part of a batch only: it must answer Unapplied for this one and do nothing
	Error    ErrorKind     // why, for the record
	Kind     Kind          // for the record
	Tenant   TenantID      // for the record
	Delivery int32         // for the record
	Delay    time.Duration // Nack, Snooze: at least 0
	due      Time          // when the delay is over by the engine's clock, where it does not run from the commit; else 0
}

// BatchID identifies a batch of outcomes over all its resends. Seq counts from 1 in each engine.
type BatchID struct {
	Engine EngineID
	Seq    uint64
}

// Batch is the list of outcomes in one commit call.
type Batch struct {
	ID BatchID
	// Settled says that every batch of this engine with Seq <= Settled has been
	// answered: the store may forget what it answered.
	Settled  uint64
	Outcomes []Outcome
}

// Status is the store's answer to one outcome of a batch: applied, stale and so on.
type Status uint8

const (
	Unapplied Status = iota // the store could not apply it: send it again
	Applied                 // it took effect
	Stale                   // fenced off: the lease had passed to another, or the job had ended
)

// Again returns the status, Applied or Stale, marked as the answer to a resent batch whose earlier copy had that
// status. The engine treats it as the same; no event is recorded.
func (s Status) Again() Status { return s | 1<<7 }

// Result is the store's answer to one Outcome.
type Result struct {
	Status   Status
	From     State         // what the job was before, if Applied
	Class    Class         // Ready and Waiting: as which it stood there
	Delivery int32         // Applied, of an outcome with a Guard: the one whose lease was taken
	Age      time.Duration // since the job was enqueued, by the store's clock
	Holder   EngineID      // Applied, of an outcome with a Guard: who held the lease
	Token    Token         // Applied, of an outcome with a Guard: under which the lease was taken
}
