package engine

import (
	"context"
	"time"
)

// TwoStep is a Store with calls for doing recovery and promotion in two steps, as programs do that read, think, and
// write, or pop from one structure and push to another. The engine uses it only if its Config asks for that. What only
// drivers on the wall clock need of a store is declared by package live, and what only simulations need by package sim.
type TwoStep interface {
	// Expired appends the leases that Recover would take, as their holders have
	// them: Token and Holder are theirs. Recoveries counts this one already, but
	// nothing changes. Commit takes the lease, when it is given an outcome with a
	// Guard other than FenceDefault: if the guard lets it, the job's token rises, its
	// Recoveries go up, and Result.Holder is set.
	Expired(ctx context.Context, limit int, grace time.Duration, dst []Lease) (leases []Lease, nextExpiry time.Duration, err error)
	// TakeDue appends the jobs that Promote would make ready to dst and takes them out
	// of those that Promote, Claim and TakeDue see. They are still Waiting, for Stats
	// too, and a commit under FenceNone may end them. Who dies before they are inserted loses them.
	TakeDue(ctx context.Context, limit int, order Order, dst []Promotion) ([]Promotion, error)
	// Insert makes jobs ready as Promote does that TakeDue has taken, and appends them
	// to dst. What is not among those, or was inserted before, it passes by.
	Insert(ctx context.Context, jobs []JobID, dst []Promotion) ([]Promotion, error)
}
