package engine

import (
	"context"
	"slices"
	"time"
)

// Op is the operation of a store call.
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

// String returns the operation's name in the spelling of scenarios.
func (o Op) String() string { return opNames[o] }

// Call is a request to the store and, once it is answered, the answer: a record of the driver's, which the engine fills
// in and the store answers in place. Fields that the op does not use mean nothing: they may hold values of an earlier
// call.
type Call struct {
	ID     uint64 // of the engine's calls, counted from 1
	Op     Op
	Woken  bool  // Wake made the engine call: there was new ready work; not a timer, the end of an execution or another answer
	Step   uint8 // OpRecover, OpPromote: 0: all at once; 1: the first of two steps, which reads or takes, see TwoStep; 2: the second, which inserts
	OfNode bool  // OpExtend: all leases of the engine, see Store.ExtendNode
	Kept   bool  // OpExtend of a node: those of its former lives too
	Order  Order // OpPromote, but for the second step
	Role   Op    // OpLead: OpRecover or OpPromote
	Engine EngineID
	TTL    time.Duration // OpClaim, OpExtend, OpRecover, OpLead
	Grace  time.Duration // OpRecover
	Limit  int           // OpClaim, OpRecover, OpPromote, OpStats
	Terms  []Term        // OpClaim: with Limit the Plan
	// Batch, of OpCommit, is shared with the engine and with the other calls that carry it. It
	// does not change once it has been sent: who wants it otherwise makes a copy.
	Batch Batch
	Keys  []LeaseKey // OpExtend
	Jobs  []JobID    // OpPromote, second step

	Reply // once it is answered
}

// Reply is the result of a store call. The engine keeps none of its slices.
type Reply struct {
	Err      error
	Leases   []Lease       // OpClaim, OpRecover
	Next     time.Duration // OpClaim: until a waiting job is due; OpRecover: until a lease expires
	Results  []Result      // OpCommit
	Current  []bool        // OpExtend
	Extended int           // OpExtend of a node
	Promoted []Promotion   // OpPromote
	Leading  bool          // OpLead
	Stats    Stats         // OpStats
}

// Rows returns the number of jobs in a call: those it names, or the most it may take.
func (c *Call) Rows() int {
	switch c.Op {
	case OpClaim, OpRecover:
		return c.Limit
	case OpCommit:
		return len(c.Batch.Outcomes)
	case OpExtend:
		if !c.OfNode {
			return len(c.Keys)
		}
	case OpPromote:
		if c.Step == 2 {
			return len(c.Jobs)
		}
		return c.Limit
	}
	return 0
}

// Rows returns the number of jobs that a reply returns or has changed.
func (r *Reply) Rows() int {
	return len(r.Leases) + len(r.Results) + len(r.Current) + len(r.Promoted) + r.Extended
}

// CopyFrom makes c a copy of another call's request, with slices of its own, its batch included: for a driver that
// delivers a call to the store twice, or changes its content.
func (c *Call) CopyFrom(o *Call) {
	terms, keys, jobs := append(c.Terms[:0], o.Terms...), append(c.Keys[:0], o.Keys...), append(c.Jobs[:0], o.Jobs...)
	reply := c.Reply
	*c = *o
	c.Reply, c.Terms, c.Keys, c.Jobs = reply, terms, keys, jobs
	c.Batch.Outcomes = slices.Clone(o.Batch.Outcomes)
}

// Execute performs c on store and fills in the answer, reusing its slices. A non-nil
// refuse is the answer of a store that did not even try.
func (c *Call) Execute(ctx context.Context, store Store, refuse error) {
	c.Err, c.Extended = refuse, 0
	c.Leases, c.Results, c.Current, c.Promoted = c.Leases[:0], c.Results[:0], c.Current[:0], c.Promoted[:0]
	if refuse != nil {
		return
	}
	switch {
	case c.Step > 0:
		c.executeStep(ctx, store)
	case c.Op == OpClaim:
		c.Leases, c.Next, c.Err = store.Claim(ctx, c.Engine, Plan{c.Limit, c.Terms}, c.TTL, c.Leases)
	case c.Op == OpCommit:
		c.Results, c.Err = store.Commit(ctx, c.Batch, c.Results)
	case c.Op == OpExtend && c.OfNode:
		c.Extended, c.Err = store.ExtendNode(ctx, c.Engine, c.Kept, c.TTL)
	case c.Op == OpExtend:
		c.Current, c.Err = store.ExtendLease(ctx, c.Keys, c.TTL, c.Current)
	case c.Op == OpRecover:
		c.Leases, c.Next, c.Err = store.Recover(ctx, c.Engine, c.Limit, c.Grace, c.TTL, c.Leases)
	case c.Op == OpPromote:
		c.Promoted, c.Err = store.Promote(ctx, c.Limit, c.Order, c.Promoted)
	case c.Op == OpLead:
		c.Leading, c.Err = store.Lead(ctx, c.Role, c.Engine, c.TTL)
	case c.Op == OpStats:
		c.Stats, c.Err = store.Stats(ctx, c.Limit)
	}
}

// executeStep performs a call that is one of two steps, which only some stores support.
func (c *Call) executeStep(ctx context.Context, store Store) {
	x, ok := store.(TwoStep)
	switch {
	case !ok:
		c.Err = ErrUnsupported
	case c.Op == OpRecover:
		c.Leases, c.Next, c.Err = x.Expired(ctx, c.Limit, c.Grace, c.Leases)
	case c.Step == 1:
		c.Promoted, c.Err = x.TakeDue(ctx, c.Limit, c.Order, c.Promoted)
	default:
		c.Promoted, c.Err = x.Insert(ctx, c.Jobs, c.Promoted)
	}
}
