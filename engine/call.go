package engine

import (
	"context"
	"time"
)

// Op is a call to the Store.
type Op uint8

const (
	OpClaim Op = iota + 1
	OpCommit
	OpExtend
	OpRecover
	OpPromote
	OpLead
	OpStats
	NumOps
)

var opNames = [NumOps]string{"?", "claim", "commit", "extend", "recover", "promote", "lead", "stats"}

// String returns the op's name as scenarios spell it.
func (o Op) String() string { return opNames[o] }

// CallID numbers the calls of one engine from 1.
type CallID uint64

// Call is a request to the store. Its slices are valid until the engine is next
// called: a driver copies what it keeps.
type Call struct {
	ID     CallID
	Op     Op
	Node   bool // OpExtend: all leases of the engine instead, see NodeExtender
	Kept   bool // OpExtend with Node: those of its former lives too
	Read   bool // OpRecover: only show the leases, see ExpiryReader
	Step   Step // OpPromote
	Engine EngineID
	Plan   Plan          // OpClaim
	TTL    time.Duration // OpClaim, OpExtend, OpRecover, OpLead
	Grace  time.Duration // OpRecover
	Limit  int           // OpRecover, OpPromote, OpStats
	Order  Order         // OpPromote
	Role   Role          // OpLead
	Batch  Batch         // OpCommit
	Leases []LeaseKey    // OpExtend
	Jobs   []JobID       // OpPromote with StepInsert
}

// Step says how much of a promotion a call is, see TwoStepPromoter.
type Step uint8

const (
	StepWhole  Step = iota // all of it, in one atomic call
	StepTake               // the first of two
	StepInsert             // the second
)

// Rows is how many jobs c is about: those it names, or the most it may take.
func (c *Call) Rows() int {
	switch c.Op {
	case OpClaim:
		return c.Plan.Limit
	case OpCommit:
		return len(c.Batch.Outcomes)
	case OpExtend:
		return len(c.Leases)
	case OpRecover:
		return c.Limit
	case OpPromote:
		return max(c.Limit, len(c.Jobs))
	}
	return 0
}

// Reply answers a Call. The engine keeps none of its slices.
type Reply struct {
	ID       CallID
	Op       Op
	Err      error
	Leases   []Lease       // OpClaim, OpRecover
	Next     time.Duration // OpClaim: until a waiting job is due; OpRecover: until a lease expires
	Results  []Result      // OpCommit
	Current  []bool        // OpExtend
	Extended int           // OpExtend with Node
	Promoted []Promotion   // OpPromote
	Leading  bool          // OpLead
	Stats    Stats         // OpStats
}

// Rows is how many jobs r brought or changed.
func (r *Reply) Rows() int {
	return len(r.Leases) + len(r.Results) + len(r.Current) + len(r.Promoted) + r.Extended
}

// Execute performs c on store and fills in r, reusing its slices. A non-nil
// refuse is the answer of a store that did not even try.
func (c *Call) Execute(ctx context.Context, store Store, r *Reply, refuse error) {
	r.ID, r.Op, r.Err, r.Extended = c.ID, c.Op, refuse, 0
	r.Leases, r.Results, r.Current, r.Promoted = r.Leases[:0], r.Results[:0], r.Current[:0], r.Promoted[:0]
	if refuse != nil {
		return
	}
	switch c.Op {
	case OpClaim:
		r.Leases, r.Next, r.Err = store.Claim(ctx, c.Engine, c.Plan, c.TTL, r.Leases)
	case OpCommit:
		r.Results, r.Err = store.Commit(ctx, c.Batch, r.Results)
	case OpExtend:
		if c.Node {
			c.extendNode(ctx, store, r)
			return
		}
		r.Current, r.Err = store.ExtendLease(ctx, c.Leases, c.TTL, r.Current)
	case OpRecover:
		if c.Read {
			c.readExpired(ctx, store, r)
			return
		}
		r.Leases, r.Next, r.Err = store.Recover(ctx, c.Engine, c.Limit, c.Grace, c.TTL, r.Leases)
	case OpPromote:
		if c.Step != StepWhole {
			c.promoteStep(ctx, store, r)
			return
		}
		r.Promoted, r.Err = store.Promote(ctx, c.Limit, c.Order, r.Promoted)
	case OpLead:
		r.Leading, r.Err = store.Lead(ctx, c.Role, c.Engine, c.TTL)
	case OpStats:
		r.Stats, r.Err = store.Stats(ctx, c.Limit)
	}
}

func (c *Call) extendNode(ctx context.Context, store Store, r *Reply) {
	r.Err = ErrUnsupported
	if x, ok := store.(NodeExtender); ok {
		r.Extended, r.Err = x.ExtendNode(ctx, c.Engine, c.Kept, c.TTL)
	}
}

func (c *Call) readExpired(ctx context.Context, store Store, r *Reply) {
	r.Err = ErrUnsupported
	if x, ok := store.(ExpiryReader); ok {
		r.Leases, r.Next, r.Err = x.Expired(ctx, c.Limit, c.Grace, r.Leases)
	}
}

func (c *Call) promoteStep(ctx context.Context, store Store, r *Reply) {
	x, ok := store.(TwoStepPromoter)
	switch {
	case !ok:
		r.Err = ErrUnsupported
	case c.Step == StepTake:
		r.Promoted, r.Err = x.TakeDue(ctx, c.Limit, c.Order, r.Promoted)
	default:
		r.Promoted, r.Err = x.Insert(ctx, c.Jobs, r.Promoted)
	}
}
