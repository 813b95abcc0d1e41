package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"qsim/engine"
)

// entry is one line of a history: a call that begins, or, without an op, its answer.
type entry struct {
	Number  uint64          `json:"n"`
	At      engine.Time     `json:"at"`
	Op      Op              `json:"op,omitempty"`
	TTL     time.Duration   `json:"ttl,omitempty"`
	Engine  engine.EngineID `json:"engine,omitempty"`
	Seq     uint64          `json:"seq,omitempty"`
	Role    engine.Op       `json:"role,omitempty"`
	Kept    bool            `json:"kept,omitempty"`
	Answer  Answer          `json:"answer,omitempty"`
	Granted int             `json:"granted,omitempty"`
	Error   string          `json:"error,omitempty"`
	Items   []Item          `json:"items,omitempty"`
}

// Recorder is a Store that records the calls of one process: all but Stats, which changes nothing.
type Recorder struct {
	engine.Store
	clock func() engine.Time

	mu     sync.Mutex
	to     io.Writer
	number uint64
}

// Record returns a store that passes every call to store and records it in to, one line in one Write, before it is made
// and when it was answered. clock reads the store's clock. A call that cannot be written down is not made.
func Record(store engine.Store, to io.Writer, clock func() engine.Time) *Recorder {
	return &Recorder{Store: store, to: to, clock: clock}
}

// begin records a call that is about to be made and returns its number.
func (r *Recorder) begin(e entry) (uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	e.Number = r.number
	return e.Number, r.write(&e)
}

// end records the answer of a call and returns the error for the caller.
func (r *Recorder) end(number uint64, items []Item, err error) error {
	return r.endGranted(number, 0, items, err)
}

// endGranted is end for an answer that is a count.
func (r *Recorder) endGranted(number uint64, granted int, items []Item, err error) error {
	e := entry{Number: number, Answer: Answered, Granted: granted, Items: items}
	switch {
	case errors.Is(err, engine.ErrDuplicate), errors.Is(err, engine.ErrUnsupported):
		e.Answer, e.Granted, e.Items, e.Error = Refused, 0, nil, err.Error()
	case err != nil:
		e.Answer, e.Granted, e.Items, e.Error = Unknown, 0, nil, err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed := r.write(&e); err == nil {
		err = failed
	}
	return err
}

// write stamps an entry and writes it.
func (r *Recorder) write(e *entry) error {
	e.At = r.clock()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.to.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return nil
}

// Enqueue implements engine.Store.
func (r *Recorder) Enqueue(ctx context.Context, jobs []engine.NewJob) error {
	items := make([]Item, len(jobs))
	for i := range jobs {
		items[i].Job = jobs[i].ID
	}
	n, err := r.begin(entry{Op: Enqueue, Items: items})
	if err != nil {
		return err
	}
	return r.end(n, nil, r.Store.Enqueue(ctx, jobs))
}

// Claim implements engine.Store.
func (r *Recorder) Claim(ctx context.Context, holder engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	n, err := r.begin(entry{Op: Claim, TTL: ttl, Engine: holder})
	if err != nil {
		return dst, engine.Forever, err
	}
	leases, next, err := r.Store.Claim(ctx, holder, plan, ttl, dst)
	err = r.end(n, granted(leases, len(dst), err), err)
	return leases, next, err
}

// Recover implements engine.Store.
func (r *Recorder) Recover(ctx context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	n, err := r.begin(entry{Op: Recover, TTL: ttl, Engine: holder})
	if err != nil {
		return dst, engine.Forever, err
	}
	leases, next, err := r.Store.Recover(ctx, holder, limit, grace, ttl, dst)
	err = r.end(n, granted(leases, len(dst), err), err)
	return leases, next, err
}

// granted returns the leases of an answer, from index from on. A job that was shed is dead: it counts as buried under
// no lease.
func granted(leases []engine.Lease, from int, err error) (items []Item) {
	if err != nil {
		return nil
	}
	for i := range leases[from:] {
		l := &leases[from+i]
		item := Item{Job: l.ID, Token: l.Token}
		if l.Shed {
			item = Item{Job: l.ID, Verb: engine.Bury, Status: engine.Applied}
		}
		items = append(items, item)
	}
	return items
}

// Commit implements engine.Store.
func (r *Recorder) Commit(ctx context.Context, batch engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	items := make([]Item, len(batch.Outcomes))
	for i := range batch.Outcomes {
		o := &batch.Outcomes[i]
		items[i] = Item{Job: o.Job, Token: o.Token, Verb: o.Verb}
	}
	n, err := r.begin(entry{Op: Commit, Engine: batch.ID.Engine, Seq: batch.ID.Seq, Items: items})
	if err != nil {
		return dst, err
	}
	results, err := r.Store.Commit(ctx, batch, dst)
	if err == nil {
		if got := len(results) - len(dst); got != len(items) {
			err = fmt.Errorf("commit of %d: the store answered for %d", len(items), got)
		}
	}
	if err == nil {
		for i := range items {
			items[i].Status = results[len(dst)+i].Status
		}
	}
	return results, r.end(n, items, err)
}

// ExtendLease implements engine.Store.
func (r *Recorder) ExtendLease(ctx context.Context, leases []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
	items := make([]Item, len(leases))
	for i, k := range leases {
		items[i] = Item{Job: k.Job, Token: k.Token}
	}
	n, err := r.begin(entry{Op: Extend, TTL: ttl, Items: items})
	if err != nil {
		return dst, err
	}
	statuses, err := r.Store.ExtendLease(ctx, leases, ttl, dst)
	if err == nil {
		if got := len(statuses) - len(dst); got != len(items) {
			err = fmt.Errorf("extend %d leases: the store answered for %d", len(items), got)
		}
	}
	if err == nil {
		for i := range items {
			items[i].Status = statuses[len(dst)+i]
		}
	}
	return statuses, r.end(n, items, err)
}

// Redriver is a store that makes dead jobs ready again, like pgstore.Store: the given jobs, or if there are none
// given the first to die, up to a limit.
type Redriver interface {
	Redrive(ctx context.Context, jobs []engine.JobID, most int, reset bool, dst []engine.Promotion) ([]engine.Promotion, error)
}

// Promote implements engine.Store.
func (r *Recorder) Promote(ctx context.Context, limit int, order engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	n, err := r.begin(entry{Op: Promote})
	if err != nil {
		return dst, err
	}
	ready, err := r.Store.Promote(ctx, limit, order, dst)
	return ready, r.end(n, promoted(ready, len(dst), err), err)
}

// Redrive has a store that is a Redriver redrive; another one answers ErrUnsupported.
func (r *Recorder) Redrive(ctx context.Context, jobs []engine.JobID, most int, reset bool, dst []engine.Promotion) ([]engine.Promotion, error) {
	store, ok := r.Store.(Redriver)
	if !ok {
		return dst, fmt.Errorf("redrive: %w", engine.ErrUnsupported)
	}
	n, err := r.begin(entry{Op: Redrive})
	if err != nil {
		return dst, err
	}
	ready, err := store.Redrive(ctx, jobs, most, reset, dst)
	return ready, r.end(n, promoted(ready, len(dst), err), err)
}

// promoted returns the promoted jobs of an answer, from index from on.
func promoted(ready []engine.Promotion, from int, err error) (items []Item) {
	if err != nil {
		return nil
	}
	for i := range ready[from:] {
		items = append(items, Item{Job: ready[from+i].Job})
	}
	return items
}

// ExtendNode implements engine.Store.
func (r *Recorder) ExtendNode(ctx context.Context, holder engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	n, err := r.begin(entry{Op: ExtendNode, TTL: ttl, Engine: holder, Kept: kept})
	if err != nil {
		return 0, err
	}
	extended, err := r.Store.ExtendNode(ctx, holder, kept, ttl)
	return extended, r.endGranted(n, extended, nil, err)
}

// Lead implements engine.Store.
func (r *Recorder) Lead(ctx context.Context, role engine.Op, e engine.EngineID, ttl time.Duration) (bool, error) {
	n, err := r.begin(entry{Op: Lead, TTL: ttl, Engine: e, Role: role})
	if err != nil {
		return false, err
	}
	leads, err := r.Store.Lead(ctx, role, e, ttl)
	granted := 0
	if leads {
		granted = 1
	}
	return leads, r.endGranted(n, granted, nil, err)
}
