package history

import (
	"context"
	"fmt"
	"time"

	"qsim/engine"
)

// Redriver is a store that gives dead jobs another chance, as pgstore.Store does: those of
// jobs, or if that is nil those that died first, at most so many.
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

// promoted are the jobs of an answer that begins at from.
func promoted(ready []engine.Promotion, from int, err error) (items []Item) {
	if err != nil {
		return nil
	}
	for i := range ready[from:] {
		items = append(items, Item{Job: ready[from+i].Job})
	}
	return items
}

// ExtendNode implements engine.NodeExtender where the store does; another one answers
// ErrUnsupported.
func (r *Recorder) ExtendNode(ctx context.Context, holder engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	store, ok := r.Store.(engine.NodeExtender)
	if !ok {
		return 0, fmt.Errorf("extend leases of a node: %w", engine.ErrUnsupported)
	}
	n, err := r.begin(entry{Op: ExtendNode, TTL: ttl, Engine: holder, Kept: kept})
	if err != nil {
		return 0, err
	}
	extended, err := store.ExtendNode(ctx, holder, kept, ttl)
	return extended, r.endGranted(n, extended, nil, err)
}

// Lead implements engine.Store.
func (r *Recorder) Lead(ctx context.Context, role engine.Role, e engine.EngineID, ttl time.Duration) (bool, error) {
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
