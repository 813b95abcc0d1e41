package history

import (
	"fmt"
	"strings"
	"time"

	"qsim/engine"
)

// Op is a method of the store that changes its content.
type Op string

// Enqueue and the constants below are the recorded methods.
const (
	Enqueue    Op = "enqueue"
	Claim      Op = "claim"
	Recover    Op = "recover"
	Extend     Op = "extend"
	ExtendNode Op = "extend-node"
	Commit     Op = "commit"
	Promote    Op = "promote"
	Redrive    Op = "redrive"
	Lead       Op = "lead"
)

var ops = [...]Op{Enqueue, Claim, Recover, Extend, ExtendNode, Commit, Promote, Redrive, Lead}

// Answer is the caller's knowledge of the result of its call: answered, refused or unknown.
type Answer uint8

const (
	Unknown  Answer = iota // no answer came, or an error: it may have taken effect, or may yet
	Refused                // the call had no effect
	Answered               // the items say what it did
)

// String returns "unknown", "refused" or "answered".
func (a Answer) String() string { return [...]string{"unknown", "refused", "answered"}[a] }

// Item is one job of a call.
type Item struct {
	Job    engine.JobID  `json:"j"`
	Token  engine.Token  `json:"t,omitempty"` // not of an enqueue
	Verb   engine.Verb   `json:"v,omitempty"` // of a commit
	Status engine.Status `json:"s,omitempty"` // of an answered commit; of an answered extension not Again
}

// Call is a recorded call to the store, with its arguments and its answer. Times are by the store's clock, such that it
// took effect, if it did, in [Began, Ended].
type Call struct {
	Process string // process whose history contains the call
	Number  uint64 // number of the call in that history, from 1
	Op      Op
	Began   engine.Time
	Ended   engine.Time // engine.Never if Unknown
	Answer  Answer
	Error   string         // error of the store; empty: none
	TTL     time.Duration  // Claim, Recover, Extend, ExtendNode, Lead
	Batch   engine.BatchID // Commit; Claim, Recover, ExtendNode, Lead: for which engine, Seq is 0
	Role    engine.Op      // Lead
	Kept    bool           // ExtendNode
	Granted int            // if Answered: ExtendNode: number of leases extended; Lead: 1 if the engine leads
	// Items are what the call named and what it was answered; of a claim or a recovery
	// the leases that were granted, of a promotion or a redrive the jobs that became
	// ready, none if it is Unknown.
	Items []Item
}

// tell returns the part of c about one job as text.
func (c *Call) tell(i *Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s call %d: %s", c.Process, c.Number, c.Op)
	if c.Op == Commit {
		fmt.Fprintf(&b, " %v, batch %d of engine %d/%d,", i.Verb, c.Batch.Seq, c.Batch.Engine.Node(), c.Batch.Engine.Generation())
	}
	if c.Op == Lead {
		fmt.Fprintf(&b, " role %d for engine %d/%d", c.Role, c.Batch.Engine.Node(), c.Batch.Engine.Generation())
	}
	if i.Token != 0 {
		fmt.Fprintf(&b, " token %d", i.Token)
	}
	if c.TTL > 0 {
		fmt.Fprintf(&b, " for %v", c.TTL)
	}
	fmt.Fprintf(&b, ": %v", c.Answer)
	if c.Answer == Answered && (c.Op == Commit || c.Op == Extend) {
		fmt.Fprintf(&b, ", %s", statusNames[min(int(i.Status), len(statusNames)-1)])
	}
	if c.Error != "" {
		fmt.Fprintf(&b, " (%s)", c.Error)
	}
	return b.String()
}

var statusNames = [...]string{"not applied", "applied", "stale", "applied by an earlier copy", "stale in an earlier copy", "?"}
