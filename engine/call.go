package engine

import (
	"context"
	"slices"
	"time"
)

// Op is the operation of a store call: the method of Store that it calls.
type Op uint8

const (
	OpClaim   Op = iota + 1 // lease ready jobs: Store.Claim
	OpCommit                // store the outcomes of attempts: Store.Commit
	OpExtend                // restart the TTL of leases: Store.ExtendLease, Store.ExtendNode
	OpRecover               // take expired leases: Store.Recover
	OpPromote               // make due waiting jobs ready: Store.Promote
	OpLead                  // become or stay the leader for a role: Store.Lead
	OpStats                 // count jobs: Store.Stats
	NumOps                  // number of operations plus 1: the length of a table by Op
)

var opNames = [NumOps]string{"?", "claim", "commit", "extend", "recover", "promote", "lead", "stats"}

// String returns the operation's name in scenario files, such as "claim".
func (o Op) String() string { return opNames[o] }

// Call is a request to the store and, once it is answered, the answer. The driver provides the record, the engine fills
// in the request and Execute the answer. Fields that the operation does not use may hold values of an earlier call.
type Call struct {
	ID    uint64 // number of the call in its engine, counted from 1
	Op    Op
	Woken bool // caused by Wake (new ready work), not by a timer, the end of an execution or an answer
	// Step, of OpRecover and OpPromote, is 0 for all in one step, 1 for the first of two (which reads or takes, see
	// TwoStep), 2 for the second, which inserts.
	Step   uint8
	OfNode bool  // OpExtend: extend all leases of the engine, see Store.ExtendNode
	Kept   bool  // OpExtend with OfNode: also the leases of the node's former lives
	Order  Order // OpPromote, except for the second step: order of the due jobs
	Role   Op    // OpLead: the role, OpRecover or OpPromote
	Engine EngineID
	TTL    time.Duration // OpClaim, OpExtend, OpRecover, OpLead: the time until the lease or the leadership expires
	Grace  time.Duration // OpRecover: least time since a lease's expiry
	Limit  int           // OpClaim, OpRecover, OpPromote, OpStats: most jobs
	Terms  []Term        // OpClaim: the terms of the plan, whose limit is Limit
	// Batch is the batch of an OpCommit. The record shares it with the engine and with resends: it must not change once it
	// has been sent, only a copy may.
	Batch Batch
	Keys  []LeaseKey // OpExtend: the leases to extend
	Jobs  []JobID    // OpPromote, second step: the jobs to make ready

	// The engine's own, which a record keeps until Handle has returned it, and a copy has too.
	sentAt  Time
	extends []slotKey // OpExtend: the leases to extend

	Reply // answer: set by Execute
}

// Reply is the result of a store call. The engine keeps none of its slices.
type Reply struct {
	Err        error
	Leases     []Lease       // OpClaim, OpRecover: the leases granted
	Next       time.Duration // OpClaim: until a waiting job is due; OpRecover: until a lease expires
	Results    []Result      // OpCommit: a result for each outcome of the batch
	Extensions []Status      // OpExtend: the result for each lease, see Store.ExtendLease
	Extended   int           // OpExtend with OfNode: number of leases extended
	Promoted   []Promotion   // OpPromote: the jobs taken or made ready
	Leading    bool          // OpLead: whether the engine leads
	Stats      Stats         // OpStats: the counts
}

// Rows returns the number of jobs that a store call returned or changed: Count of its event Called.
func (r *Reply) Rows() int {
	return len(r.Leases) + len(r.Results) + len(r.Extensions) + len(r.Promoted) + r.Extended
}

// CopyFrom copies another call's request into c, with slices of its own, its batch included: for a driver that delivers
// a call to the store twice, or changes its content.
func (c *Call) CopyFrom(o *Call) {
	terms, keys, jobs := append(c.Terms[:0], o.Terms...), append(c.Keys[:0], o.Keys...), append(c.Jobs[:0], o.Jobs...)
	extends, reply := append(c.extends[:0], o.extends...), c.Reply
	*c = *o
	c.Reply, c.Terms, c.Keys, c.Jobs, c.extends = reply, terms, keys, jobs, extends
	c.Batch.Outcomes = slices.Clone(o.Batch.Outcomes)
}

// Execute performs the call on a store and fills in its answer, reusing the slices of its last answer. If refuse is not
// nil, it becomes the answer's error, and the store is not called.
func (c *Call) Execute(ctx context.Context, store Store, refuse error) {
	c.Err, c.Extended = refuse, 0
	c.Leases, c.Results, c.Extensions, c.Promoted = c.Leases[:0], c.Results[:0], c.Extensions[:0], c.Promoted[:0]
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
		c.Extensions, c.Err = store.ExtendLease(ctx, c.Keys, c.TTL, c.Extensions)
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

// executeStep performs one step of a two-step recovery or promotion; ErrUnsupported if the store is no TwoStep.
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
