package engine

import (
	"context"
	"time"
)

// What follows a Store may offer beyond the contract. The engine asks for the first
// three only where a Config wants them; the others are for drivers on the wall clock. What
// only simulations need is declared by package sim.

// ExpiryReader is a Store that shows expired leases without taking them, for
// reapers that read, think, and write.
type ExpiryReader interface {
	// Expired appends the leases that Recover would take, as their holders have
	// them: Token and Holder are theirs. Recoveries counts this one already, but
	// nothing changes. Commit takes the lease, when it is given an outcome with a
	// Guard other than FenceDefault: if the guard lets it, the job's token rises, its
	// Recoveries go up, and Result.Holder is set.
	Expired(ctx context.Context, limit int, grace time.Duration, dst []Lease) (leases []Lease, nextExpiry time.Duration, err error)
}

// NodeExtender is a Store that extends all leases of a node with one call.
type NodeExtender interface {
	// ExtendNode restarts the TTL of every lease of holder, or with kept of every
	// life of its node, and reports how many those are. Leases that lapsed or are
	// held by a reaper are not among them.
	ExtendNode(ctx context.Context, holder EngineID, kept bool, ttl time.Duration) (extended int, err error)
}

// TwoStepPromoter is a Store that makes waiting jobs ready as programs do that pop
// from one structure and push to another: who dies in between loses them.
type TwoStepPromoter interface {
	// TakeDue appends the jobs that Promote would make ready to dst and takes them out
	// of those that Promote, Claim and TakeDue see. They are still Waiting, for Stats
	// too, and a commit under FenceNone may end them.
	TakeDue(ctx context.Context, limit int, order Order, dst []Promotion) ([]Promotion, error)
	// Insert makes jobs ready as Promote does that TakeDue has taken, and appends them
	// to dst. What is not among those, or was inserted before, it passes by.
	Insert(ctx context.Context, jobs []JobID, dst []Promotion) ([]Promotion, error)
}

// Announcer is a Store that tells of new ready work, so that engines need not poll
// for it.
type Announcer interface {
	// Listen calls wake, from any goroutine, whenever jobs may have become ready, or
	// may be claimed now that could not be before; several at once may be told of by
	// one call. wake does not block and may be called while a method of the store runs.
	// It returns when ctx is done, or with an error when it cannot listen any more:
	// what became ready since may have gone unheard, so whoever listens again asks the
	// store first.
	Listen(ctx context.Context, wake func()) error
}

// Registry is a Store that counts the lives of engines.
type Registry interface {
	// NextLife returns how many lives the engine of that node had before this one:
	// each call returns more than those before it, those of other processes included,
	// so that the EngineID made of it was never used.
	NextLife(ctx context.Context, node int32) (generation uint32, err error)
}
