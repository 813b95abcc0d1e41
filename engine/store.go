package engine

import (
	"context"
	"errors"
	"time"
)

// Errors a Store may return, alone or wrapped.
var (
	// ErrUnavailable means that the store did not answer: the call may or may not have taken effect.
	ErrUnavailable = errors.New("engine: store unavailable")
	// ErrUnsupported means that this store lacks the requested feature; it did nothing.
	ErrUnsupported = errors.New("engine: not supported by this store")
	// ErrDuplicate means a job of that ID was enqueued before, or one with that unique key is
	// live; none of the call's jobs was added.
	ErrDuplicate = errors.New("engine: job is already enqueued")
)

// NewJob is a job to enqueue; it becomes ready after Delay, at once if that is 0.
type NewJob struct {
	ID       JobID
	Kind     Kind
	Priority int16
	Tenant   TenantID
	// Serial, if not 0, is a key whose jobs run one at a time, in the order in which they were enqueued: one may be
	// claimed only when all before it are done or dead, also while the first of them is in flight or waits for its retry.
	// The later ones count as ready in Stats once they are due, and their Waited runs from then.
	Serial  uint32
	Delay   time.Duration
	Payload []byte
	// Unique, if not "", is a key that no two jobs of a Kind have while they are live: ready, waiting
	// or in flight. Enqueue refuses a second one with ErrDuplicate; once the first is done or dead its
	// key is free. A store without unique keys answers ErrUnsupported.
	Unique string
}

// State is the state of a job: ready, waiting, in flight, done or dead.
type State uint8

const (
	NoState  State = iota
	Ready          // may be claimed
	Waiting        // a retry or scheduled job that is not yet due, or due and not yet promoted
	InFlight       // leased (unacked)
	Done           // acked; a store may forget it
	Dead           // buried
)

// String returns the name of the state: "ready", "waiting", "in-flight", "done" or "dead".
func (s State) String() string {
	return [...]string{"?", "ready", "waiting", "in-flight", "done", "dead"}[s]
}

// Stats counts jobs by state and class, by the store's clock.
type Stats struct {
	Ready, Waiting, InFlight [NumClasses]int
	// OldestReady is the time since the job that has been ready longest was due, whatever its place; 0: none is ready.
	OldestReady [NumClasses]time.Duration
	Dead        int
}

// Promotion describes a waiting job that became ready, because it was due.
type Promotion struct {
	Job    JobID
	Kind   Kind
	Tenant TenantID
	Class  Class
}

// Store keeps jobs and leases them to engines. Every method is atomic and safe for concurrent use. On error a method
// may or may not have taken effect. The append-style dst lets a driver reuse memory.
//
// Stores order ready jobs by (priority, ready key, job ID), smaller first, where StoreOptions.Place defines the ready
// key.
type Store interface {
	// Enqueue adds jobs, all or none: ErrDuplicate if an ID or a unique key is taken.
	Enqueue(ctx context.Context, jobs []NewJob) error
	// Claim leases ready jobs to holder for ttl according to plan and appends them to dst. nextDue is
	// the time until the earliest waiting job becomes ready by itself; Forever: never.
	Claim(ctx context.Context, holder EngineID, plan Plan, ttl time.Duration, dst []Lease) (
		leases []Lease, nextDue time.Duration, err error)
	// Commit applies a batch and appends a Result for each outcome. If an earlier copy of the batch
	// took effect, it answers as it did then, but tries the outcomes that were Unapplied again.
	Commit(ctx context.Context, batch Batch, dst []Result) ([]Result, error)
	// ExtendLease restarts the TTL of each lease and appends its status to dst: Applied, Stale if the holder has lost the
	// lease, or Unapplied if it still has the lease, but its TTL could not be restarted now. A lease that expired but was
	// not recovered is still held.
	ExtendLease(ctx context.Context, leases []LeaseKey, ttl time.Duration, dst []Status) ([]Status, error)
	// ExtendNode restarts the TTL of every lease of holder, or with kept of every life of its node,
	// and returns their number. Leases that lapsed or are held by a reaper are not extended. A store
	// without this feature answers ErrUnsupported.
	ExtendNode(ctx context.Context, holder EngineID, kept bool, ttl time.Duration) (extended int, err error)
	// Recover takes up to limit leases that expired at least grace ago from their holders, leases the jobs to holder for
	// ttl under new tokens and appends them to dst: the caller commits their outcomes. A recovery is no delivery.
	// nextExpiry is a lower bound of the time until the next lease can be recovered; Forever if nothing is leased.
	Recover(ctx context.Context, holder EngineID, limit int, grace, ttl time.Duration, dst []Lease) (
		leases []Lease, nextExpiry time.Duration, err error)
	// Promote makes up to limit due jobs ready, oldest or newest due first, and
	// appends them to dst. Only OldestReady and NewestReady are valid orders.
	Promote(ctx context.Context, limit int, order Order, dst []Promotion) ([]Promotion, error)
	// Lead makes engine the leader for role for ttl, or prolongs its leadership, unless another engine
	// leads. It reports whether engine leads now. The roles, tasks that at most one engine performs for
	// all, are the ops OpRecover and OpPromote.
	Lead(ctx context.Context, role Op, engine EngineID, ttl time.Duration) (bool, error)
	// Stats counts jobs by state and class; a store may stop counting at limit (0: exact counts).
	Stats(ctx context.Context, limit int) (Stats, error)
}

// TwoStep is a Store with calls for doing recovery and promotion in two steps, as programs do that read, decide, and
// write, or pop from one structure and push to another. The engine uses it only if its Config selects it. Other
// optional interfaces of stores are in package sim, and in package live for drivers on the wall clock.
type TwoStep interface {
	// Expired appends the leases that Recover would take, with Token and Holder as their holders have them, but changes
	// nothing. Recoveries already includes this one. A later Commit of an outcome with a Guard other than FenceDefault
	// takes the lease: if the guard lets it, the job's token rises, its Recoveries go up, and Result.Holder is set.
	Expired(ctx context.Context, limit int, grace time.Duration, dst []Lease) (
		leases []Lease, nextExpiry time.Duration, err error)
	// TakeDue appends the jobs that Promote would make ready to dst and hides them from Promote, Claim
	// and TakeDue. They are still Waiting, for Stats too, and a commit under FenceNone may end them. A
	// process that dies before it inserts them loses them.
	TakeDue(ctx context.Context, limit int, order Order, dst []Promotion) ([]Promotion, error)
	// Insert makes jobs that TakeDue has taken ready, as Promote does, and appends them to dst. It
	// skips jobs that were not taken, or were inserted before.
	Insert(ctx context.Context, jobs []JobID, dst []Promotion) ([]Promotion, error)
}
