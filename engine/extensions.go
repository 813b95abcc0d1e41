package engine

import (
	"context"
	"time"
)

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
