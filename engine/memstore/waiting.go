package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/heap"
)

// waiting holds the waiting (scheduled) jobs: those not yet due in a heap by due time, and those that are due but must
// be promoted in a list by due time.
type waiting struct {
	heap  heap.Radix[engine.Time] // of numbers of rows
	due   list
	batch []uint32 // scratch memory for the rows due at one instant
}

// eachDue removes the jobs that are due by now from the heap of waiting jobs, in the order of (due time, ID), and calls
// take for the row of each.
func (s *Store) eachDue(now engine.Time, take func(ref uint32, r *row)) {
	w := &s.waiting
	for at := w.heap.First; at <= now; at = w.heap.First {
		w.batch = w.batch[:0]
		for w.heap.First == at {
			w.batch = append(w.batch, uint32(w.heap.Pop()))
		}
		if len(w.batch) > 1 {
			slices.SortFunc(w.batch, func(a, b uint32) int { return cmp.Compare(s.rows.at(a).id, s.rows.at(b).id) })
		}
		for _, ref := range w.batch {
			r := s.rows.at(ref)
			r.place = inList
			take(ref, r)
		}
	}
}

// toWaiting makes a job, whose row is in no queue, list or tree, wait until due, and keeps stand, the rule for its
// place among ready jobs then; with StoreOptions.Held it is ready at once.
func (s *Store) toWaiting(ref uint32, r *row, due, now engine.Time, stand engine.Place) {
	if s.options.Held {
		s.toReady(ref, r, due, now, stand)
		return
	}
	r.state, r.place, r.dueAt, r.stand = engine.Waiting, inHeap, due, stand
	s.stats.Waiting[r.class()]++
	s.mu.sooner = s.mu.sooner || due < s.waiting.heap.First
	s.waiting.heap.Push(due, uint64(ref))
}

// fromWaiting makes a waiting job ready; its row must be out of the heap and the list of waiting jobs.
func (s *Store) fromWaiting(ref uint32, r *row, now engine.Time) {
	s.stats.Waiting[r.class()]--
	told := s.mu.ready
	s.toReady(ref, r, r.dueAt, now, r.stand)
	if s.options.SilentDue {
		s.mu.ready = told
	}
}

// Promote makes up to limit due jobs ready, see engine.Store. Without StoreOptions.Promoted it returns none.
func (s *Store) Promote(_ context.Context, limit int, order engine.Order,
	dst []engine.Promotion) ([]engine.Promotion, error) {
	return s.takeDue(limit, order, dst, true)
}

// takeDue removes up to limit due jobs from the due list, in the given order, and returns them: ready if put is set,
// otherwise in transit.
func (s *Store) takeDue(limit int, order engine.Order, dst []engine.Promotion, put bool) ([]engine.Promotion, error) {
	if order > engine.NewestReady {
		return dst, fmt.Errorf("promote: order %v: %w", order, engine.ErrUnsupported)
	}
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	s.eachDue(now, func(ref uint32, _ *row) { s.rows.insertAfter(&s.waiting.due, ref, s.waiting.due.tail) })
	for ; limit > 0; limit-- {
		at := s.waiting.due.head
		if order == engine.NewestReady {
			at = s.waiting.due.tail
		}
		if at == 0 {
			break
		}
		r := s.rows.at(at)
		s.rows.remove(&s.waiting.due, at)
		if r.place = inTransit; put {
			s.fromWaiting(at, r, now)
		}
		dst = append(dst, r.promotion())
	}
	return dst, nil
}

func (r *row) promotion() engine.Promotion {
	return engine.Promotion{Job: r.id, Kind: r.kind, Tenant: r.tenant, Class: r.class()}
}

// nextDue returns the time at which the earliest waiting job becomes ready by itself; Never if none will.
func (s *Store) nextDue() engine.Time {
	if s.options.Promoted {
		return engine.Never
	}
	return s.waiting.heap.First
}

// untilDue returns the time from now until the earliest waiting job becomes ready by itself; Forever if none will.
func (s *Store) untilDue(now engine.Time) time.Duration {
	if due := s.nextDue(); due != engine.Never {
		return due.Sub(now)
	}
	return engine.Forever
}
