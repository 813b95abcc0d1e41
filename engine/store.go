package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors a Store may return, alone or wrapped.
var (
	// ErrUnavailable means the call may or may not have taken effect.
	ErrUnavailable = errors.New("engine: store unavailable")
	// ErrUnsupported means that this store cannot do what was asked; it did nothing.
	ErrUnsupported = errors.New("engine: not supported by this store")
	// ErrDuplicate means a job of that ID was enqueued before; none of the call's
	// jobs was added.
	ErrDuplicate = errors.New("engine: job is already enqueued")
)

// NewJob is a job to enqueue; it becomes ready after Delay.
type NewJob struct {
	ID       JobID
	Kind     Kind
	Priority int16
	Tenant   TenantID
	Delay    time.Duration
	Payload  []byte
}

// Order is the order in which a Term claims, within one priority.
type Order uint8

const (
	OldestReady Order = iota // by the store's place rule: smallest ready key first
	NewestReady              // largest ready key first (LIFO)
)

// String returns the order's name as scenarios spell it.
func (o Order) String() string {
	return [...]string{"oldest", "newest"}[o]
}

// Kinds is a set of job kinds below 64. The empty set stands for all kinds.
type Kinds uint64

// Has reports whether kind k is in the set, or the set is empty.
func (s Kinds) Has(k Kind) bool { return s == 0 || k < 64 && s>>k&1 != 0 }

// Term claims up to Limit ready jobs that match.
type Term struct {
	Class     Class    // Fresh, Retry or AnyClass
	Order     Order    //
	Kinds     Kinds    // empty: every kind
	Tenant    TenantID // 0 matches every tenant
	PerTenant int      // at most this many per tenant; 0 means no cap
	Limit     int      // at least 0
}

// Plan is an ordered list of Terms: each claims from what the earlier ones left,
// until Limit jobs are claimed in all. A last Term of AnyClass makes a plan
// work-conserving.
type Plan struct {
	Limit int
	Terms []Term
}

// Verb is what a commit does to a job.
type Verb uint8

const (
	Ack    Verb = iota + 1 // done
	Nack                   // failed: ready again after Delay, as Retry; Failures goes up
	Bury                   // given up: dead; Failures goes up
	Return                 // not run, or its expiry counts for nothing: ready again at once, Charged goes down
)

// String returns "ack", "nack", "bury" or "return".
func (v Verb) String() string { return [...]string{"?", "ack", "nack", "bury", "return"}[v] }

// Outcome is one line of a commit.
type Outcome struct {
	LeaseKey
	Verb     Verb
	Error    ErrorKind     // why, for the record
	Kind     Kind          // for the record
	Tenant   TenantID      // for the record
	Delivery int32         // for the record
	Delay    time.Duration // Nack only: at least 0
}

// BatchID names a batch of outcomes over all its resends. Seq counts from 1 in
// each engine.
type BatchID struct {
	Engine EngineID
	Seq    uint64
}

// Batch is what one commit call carries.
type Batch struct {
	ID BatchID
	// Settled says that every batch of this engine with Seq <= Settled has been
	// answered: the store may forget what it answered.
	Settled  uint64
	Outcomes []Outcome
}

// Status is what became of one outcome of a batch.
type Status uint8

const (
	Unapplied Status = iota // the store could not apply it: send it again
	Applied                 // it took effect
	Stale                   // fenced off: the lease had passed to another, or the job had ended
	// Repeated marks an outcome of a batch that had taken effect when an earlier
	// copy of it arrived. For the engine it is Applied; nothing is recorded.
	Repeated
	// RepeatedStale is the same for an outcome that was Stale then.
	RepeatedStale
)

// State is where a job is.
type State uint8

const (
	NoState  State = iota
	Ready          // may be claimed
	Waiting        // a retry or scheduled job that is not yet due, or due and not yet promoted
	InFlight       // leased
	Done           // acked; a store may forget it
	Dead           // buried
)

// String returns the state's name as documents spell it.
func (s State) String() string {
	return [...]string{"?", "ready", "waiting", "in-flight", "done", "dead"}[s]
}

// Result answers one Outcome.
type Result struct {
	Status Status
	From   State         // what the job was before, if Applied
	Class  Class         // Ready and Waiting: as which it stood there
	Age    time.Duration // since the job was enqueued, by the store's clock
}

// Stats counts jobs by state and class, by the store's clock.
type Stats struct {
	Ready, Waiting, InFlight [NumClasses]int
	OldestReady              [NumClasses]time.Duration
	Dead                     int
}

// Promotion is a job that became ready by becoming due.
type Promotion struct {
	Job    JobID
	Kind   Kind
	Tenant TenantID
	Class  Class
}

// Role is what at most one engine at a time should do for all, see Store.Lead.
type Role uint8

const (
	ReaperRole Role = iota
	PromoterRole
	NumRoles
)

// Fence is what a commit must match to take effect.
type Fence uint8

const (
	FenceToken Fence = iota // the job is in flight under the same token
	FenceState              // the job is in flight, whoever holds it
	FenceNone               // the job has not ended
)

// String returns the fence's name as scenarios spell it.
func (f Fence) String() string { return [...]string{"token", "state", "none"}[f] }

// Place is where a job stands among the ready jobs of its priority: the meaning
// of OldestReady.
type Place uint8

const (
	PlaceDue     Place = iota // by due time; a fresh job is due when it is enqueued or its delay is over
	PlaceTail                 // by the time it was made ready, behind whatever was ready then
	PlaceHead                 // retries before all fresh jobs, by due time
	PlaceCreated              // by enqueue time
)

// String returns the place's name as scenarios spell it.
func (p Place) String() string { return [...]string{"due", "tail", "head", "created"}[p] }

// StoreOptions are rules that a store keeps for all its engines.
type StoreOptions struct {
	Fence Fence
	Place Place
	// Promoted makes a waiting job ready only by Promote. Otherwise it is ready
	// the instant it is due.
	Promoted bool
	// LapseAfter, if not negative, takes a lease from its holder at the instant
	// its TTL ended this long ago: commits and extensions are stale from then on,
	// before Recover hands the job to a reaper. Negative: Recover takes it.
	LapseAfter time.Duration
}

// Store keeps jobs and lends them out. Every method is atomic and safe for
// concurrent use. On error a method may or may not have taken effect. The
// append-style dst lets a driver reuse memory.
//
// Stores order ready jobs by (priority, ready key, job ID), smaller first, where
// StoreOptions.Place defines the ready key.
type Store interface {
	// Enqueue adds jobs, all or none.
	Enqueue(ctx context.Context, jobs []NewJob) error
	// Claim leases ready jobs to holder for ttl as plan says and appends them to
	// dst. nextDue is how long until the earliest waiting job becomes ready by
	// itself; Forever if none will.
	Claim(ctx context.Context, holder EngineID, plan Plan, ttl time.Duration, dst []Lease) (leases []Lease, nextDue time.Duration, err error)
	// Commit applies a batch and appends a Result for each outcome. When an
	// earlier copy of the batch took effect it answers as it did then. Outcomes
	// that were Unapplied then are tried again.
	Commit(ctx context.Context, batch Batch, dst []Result) ([]Result, error)
	// ExtendLease restarts the TTL of each lease and appends to dst, for each,
	// whether the holder still has it. A lease that expired but was not recovered
	// is still held.
	ExtendLease(ctx context.Context, leases []LeaseKey, ttl time.Duration, dst []bool) ([]bool, error)
	// Recover takes up to limit leases that expired at least grace ago from their
	// holders, leases the jobs to holder for ttl under new tokens and appends them
	// to dst: the caller commits what becomes of them. It counts as no delivery.
	// nextExpiry is how long, at the least, until there is another to recover;
	// Forever if nothing is leased.
	Recover(ctx context.Context, holder EngineID, limit int, grace, ttl time.Duration, dst []Lease) (leases []Lease, nextExpiry time.Duration, err error)
	// Promote makes up to limit due jobs ready, oldest or newest due first, and
	// appends them to dst. Only OldestReady and NewestReady are valid orders.
	Promote(ctx context.Context, limit int, order Order, dst []Promotion) ([]Promotion, error)
	// Lead makes engine the leader for role for ttl, or prolongs that, unless
	// another engine is. It reports whether engine leads now.
	Lead(ctx context.Context, role Role, engine EngineID, ttl time.Duration) (bool, error)
	// Stats counts jobs; a store may stop counting at limit (0: exact).
	Stats(ctx context.Context, limit int) (Stats, error)
}

// ParseFence returns the fence that scenarios spell s.
func ParseFence(s string) (Fence, error) { return parseEnum[Fence]("fence", s, FenceNone) }

// ParsePlace returns the place that scenarios spell s.
func ParsePlace(s string) (Place, error) { return parseEnum[Place]("place", s, PlaceCreated) }

func parseEnum[E interface {
	~uint8
	fmt.Stringer
}](what, s string, last E) (E, error) {
	var names []string
	for e := E(0); e <= last; e++ {
		if e.String() == s {
			return e, nil
		}
		names = append(names, e.String())
	}
	return 0, fmt.Errorf("unknown %s %q: want one of %v", what, s, names)
}
