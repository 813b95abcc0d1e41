package engine

import (
	"math"
	"time"
)

// Time is a reading of one machine's clock, in nanoseconds since that clock's own origin. Times of different machines
// must not be compared: only durations cross the wire.
type Time int64

// Never is later than every other Time.
const Never Time = math.MaxInt64

// Add returns the time d later than t, or Never if t is Never or the sum overflows.
func (t Time) Add(d time.Duration) Time {
	if sum := t + Time(d); sum >= t || d <= 0 {
		return sum
	}
	return Never
}

// Sub returns the duration since another time u, which is negative if u is the later one.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds returns the time in seconds since the clock's origin.
func (t Time) Seconds() float64 { return time.Duration(t).Seconds() }

// Forever is the longest duration: of a lease without end, or until an event if none is in sight.
const Forever time.Duration = math.MaxInt64

type (
	// JobID identifies a job permanently. Zero is no job.
	JobID uint64
	// TenantID identifies the owner of a job. Zero is no tenant in particular.
	TenantID uint32
	// Kind is the job class of a scenario (payments, mail): an index into Config.Kinds. It is not the
	// Class, fresh or retry.
	Kind uint16
	// Token is the fencing token of one delivery of a job: the store raises it at every claim and every recovery, and
	// under FenceToken accepts a commit or an extension only from the current holder.
	Token uint64
	// EngineID identifies one life of one engine: the node, and the number of its earlier starts.
	EngineID uint64
)

// NewEngineID returns the ID of an engine: its node, and the number of earlier processes (lives) of that node.
func NewEngineID(node int32, generation uint32) EngineID {
	return EngineID(uint64(uint32(node))<<32 | uint64(generation))
}

// Node returns the number of the node that the engine runs on.
func (e EngineID) Node() int32 { return int32(e >> 32) }

// Generation returns the number of earlier processes (lives) of the node.
func (e EngineID) Generation() uint32 { return uint32(e) }

// Class is the class of a job by which fetch policies choose: fresh (never claimed before) or retry.
type Class uint8

const (
	Fresh      Class        = iota // a job never claimed before
	Retry                          // a job claimed before: it failed, its lease expired, or it was returned
	NumClasses                     // number of classes
	AnyClass   = NumClasses        // both classes, in a Term
)

// String returns "fresh", "retry" or "any".
func (c Class) String() string { return [...]string{"fresh", "retry", "any"}[min(c, AnyClass)] }

// ErrorKind is the reason why an attempt failed, by which a RetryPolicy decides. The kinds below are reserved; a
// program numbers its own from FirstErrorKind on.
type ErrorKind uint16

const (
	NoError      ErrorKind = iota // success
	Timeout                       // execution timeout
	LeaseExpired                  // expired lease, which was recovered
	Throttled                     // refusal by a dependency over its limit
	Canceled                      // cancellation of the handler
	Conflict                      // lost race of optimistic locking
	Panicked                      // panic of the handler
	FirstErrorKind
)

// Name returns the name of a reserved error kind, "" for the kinds that programs number.
func (k ErrorKind) Name() string {
	names := [...]string{"", "timeout", "lease-expired", "throttled", "canceled", "conflict", "panic", ""}
	return names[min(k, FirstErrorKind)]
}

// Job is one unit of work as the store hands it out at a claim, with its counts of earlier attempts.
type Job struct {
	ID       JobID
	Kind     Kind
	Priority int16 // smaller is more urgent; a retry keeps it
	Tenant   TenantID
	// Delivery counts the claims of this job, this one included: 1 at first. It is
	// never decremented: random draws are keyed by it.
	Delivery int32
	// Charged counts the claims that a limit on attempts counts: Delivery less
	// those that were given back by Return.
	Charged int32
	// Failures counts the earlier attempts that ended in a nack or redo, expired leases included.
	Failures int32
	// Recoveries counts the recoveries of its expired leases, the one that hands it out included; see
	// StoreOptions.RecoveriesWithin.
	Recoveries int32
	// Snoozes counts the attempts that ended in a snooze, which are not charged.
	Snoozes int32
	// LastDelay is the delay of the latest nack or snooze as it was drawn, the base of decorrelated jitter: Outcome.Delay
	// plus Outcome.Passed.
	LastDelay time.Duration
	Waited    time.Duration // time since it became ready (retry: was due), by the store's clock; see StoreOptions.Held
	Age       time.Duration // time since it was enqueued, by the store's clock
	Payload   []byte
}

// Class returns Fresh for a job that is being delivered for the first time, else Retry.
func (j *Job) Class() Class {
	if j.Delivery <= 1 {
		return Fresh
	}
	return Retry
}

// Lease is the right to run a job until its TTL runs out at the store.
type Lease struct {
	Job
	Token Token
	Ref   uint32 // the store's handle of the job, see LeaseKey
	// Shed is set, in the answer to Claim, for a job that the claim buried in place of leasing it: see Term.Shed.
	Shed bool
	// Holder is, in the answer to Recover, the engine that held the lease until it expired.
	Holder EngineID
}

// LeaseKey identifies a lease by the job's ID and the fencing token, without the other fields of the job.
type LeaseKey struct {
	Job   JobID
	Token Token
	// Ref is a store's own handle of a job, meaningful to that store alone: each lease carries one, and each outcome and
	// extension gives it back, which saves a look-up. With 0 a store finds the job by its ID; with a handle that it gave
	// to another job it may count the lease as lost.
	Ref uint32
}

// Key returns the key of the lease.
func (l *Lease) Key() LeaseKey { return LeaseKey{l.ID, l.Token, l.Ref} }
