package memstore

import (
	"context"
	"fmt"

	"qsim/engine"
)

// waiting keeps jobs that are not yet due in a binary heap by (due time, ID), and
// jobs that are due but must be promoted in a list by due time.
type waiting struct {
	rows  *rows
	heap  []waiter
	stale int  // entries of the heap whose row has left
	due   list // due, not yet promoted
}

type waiter struct {
	dueAt engine.Time
	id    engine.JobID // of the row; one that has left may hold another job by now
	ref   uint32
	stamp uint32
}

func (w *waiting) init(s *rows) { w.rows = s }

func (a *waiter) before(b *waiter) bool {
	if a.dueAt != b.dueAt {
		return a.dueAt < b.dueAt
	}
	return a.id < b.id
}

func (w *waiting) push(e waiter) {
	w.heap = append(w.heap, e)
	w.up(len(w.heap) - 1)
}

func (w *waiting) up(i int) {
	e := w.heap[i]
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(&w.heap[p]) {
			break
		}
		w.heap[i] = w.heap[p]
		i = p
	}
	w.heap[i] = e
}

func (w *waiting) down(i int) {
	e, n := w.heap[i], len(w.heap)
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && w.heap[c+1].before(&w.heap[c]) {
			c++
		}
		if !w.heap[c].before(&e) {
			break
		}
		w.heap[i] = w.heap[c]
		i = c
	}
	w.heap[i] = e
}

func (w *waiting) pop() {
	n := len(w.heap) - 1
	w.heap[0] = w.heap[n]
	w.heap = w.heap[:n]
	if n > 0 {
		w.down(0)
	}
}

// top drops entries whose row has left and reports whether one is left.
func (w *waiting) top() (waiter, bool) {
	for len(w.heap) > 0 {
		e := w.heap[0]
		if w.rows.at(e.ref).stamp == e.stamp {
			return e, true
		}
		w.pop()
		w.stale--
	}
	return waiter{}, false
}

// leave marks the heap entry of a row as stale; a heap of mostly stale entries is
// rebuilt from the others.
func (w *waiting) leave(r *row) {
	r.stamp++
	if w.stale++; w.stale*2 <= len(w.heap) || w.stale < 64 {
		return
	}
	kept := w.heap[:0]
	for _, e := range w.heap {
		if w.rows.at(e.ref).stamp == e.stamp {
			kept = append(kept, e)
		}
	}
	w.heap, w.stale = kept, 0
	for i := len(w.heap)/2 - 1; i >= 0; i-- {
		w.down(i)
	}
}

// takeDue removes the earliest job from the heap if it is due.
func (w *waiting) takeDue(now engine.Time) uint32 {
	e, ok := w.top()
	if !ok || e.dueAt > now {
		return none
	}
	w.pop()
	return e.ref
}

// toWaiting makes a row that is in no index wait until due, to be ready then where stand
// says; where jobs are handed out before they are due, it is ready at once.
func (s *Store) toWaiting(ref uint32, r *row, due, now engine.Time, stand engine.Place) {
	if s.options.Held {
		s.toReadyAs(ref, r, due, now, stand)
		return
	}
	r.stand = stand
	r.state, r.place, r.dueAt = engine.Waiting, inHeap, due
	s.stats.Waiting[r.class()]++
	s.waiting.push(waiter{due, r.id, ref, r.stamp})
	s.mu.sooner = s.mu.sooner || s.waiting.heap[0].ref == ref
}

// promoteOne makes the waiting job that is due first ready, if it is due.
func (s *Store) promoteOne(now engine.Time) uint32 {
	ref := s.waiting.takeDue(now)
	if ref != none {
		r := s.rows.at(ref)
		s.stats.Waiting[r.class()]--
		s.toReadyAs(ref, r, r.dueAt, now, r.stand)
	}
	return ref
}

// Promote makes up to limit due jobs ready, see engine.Store. Without
// StoreOptions.Promoted they are ready by themselves and there are none.
func (s *Store) Promote(_ context.Context, limit int, order engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	return s.takeDue(limit, order, dst, func(ref uint32, r *row, now engine.Time) {
		s.stats.Waiting[r.class()]--
		s.toReadyAs(ref, r, r.dueAt, now, r.stand)
	})
}

// TakeDue is the first half of Promote, see engine.TwoStepPromoter.
func (s *Store) TakeDue(_ context.Context, limit int, order engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	return s.takeDue(limit, order, dst, func(_ uint32, r *row, _ engine.Time) { r.place = inTransit })
}

// Insert is the second half of Promote, see engine.TwoStepPromoter.
func (s *Store) Insert(_ context.Context, jobs []engine.JobID, dst []engine.Promotion) ([]engine.Promotion, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for _, id := range jobs {
		ref := s.index.find(&s.rows, id)
		if ref == none {
			continue
		}
		r := s.rows.at(ref)
		if r.state != engine.Waiting || r.place != inTransit {
			continue
		}
		r.place = inList
		s.stats.Waiting[r.class()]--
		s.toReadyAs(ref, r, r.dueAt, now, r.stand)
		dst = append(dst, r.promotion())
	}
	return dst, nil
}

// takeDue takes up to limit due jobs out of the due list, to take does the rest.
func (s *Store) takeDue(limit int, order engine.Order, dst []engine.Promotion, take func(ref uint32, r *row, now engine.Time)) ([]engine.Promotion, error) {
	if order > engine.NewestReady {
		return dst, fmt.Errorf("promote: order %v: %w", order, engine.ErrUnsupported)
	}
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref := s.waiting.takeDue(now); ref != none; ref = s.waiting.takeDue(now) {
		s.rows.at(ref).place = inList
		s.waiting.due.pushBack(&s.rows, ref)
	}
	for ; limit > 0; limit-- {
		at := s.waiting.due.head
		if order == engine.NewestReady {
			at = s.waiting.due.tail
		}
		if at == 0 {
			break
		}
		r := s.rows.at(at - 1)
		s.waiting.due.remove(&s.rows, at-1)
		take(at-1, r, now)
		dst = append(dst, r.promotion())
	}
	return dst, nil
}

func (r *row) promotion() engine.Promotion {
	return engine.Promotion{Job: r.id, Kind: r.kind, Tenant: r.tenant, Class: r.class()}
}

// NextDue is when the earliest waiting job becomes ready by itself, by the
// store's clock; Never if none will.
func (s *Store) NextDue() engine.Time {
	s.mu.lock()
	defer s.mu.unlock()
	return s.nextDue()
}

func (s *Store) nextDue() engine.Time {
	if !s.options.Promoted {
		if e, ok := s.waiting.top(); ok {
			return e.dueAt
		}
	}
	return engine.Never
}

// PromoteDue makes the jobs that are due by now ready, as every other method
// does too, and appends them to dst in the order in which they became due. A
// simulation calls it at NextDue to see each job the instant it becomes ready.
func (s *Store) PromoteDue(dst []engine.Promotion) []engine.Promotion {
	s.mu.lock()
	defer s.mu.unlock()
	if s.options.Promoted {
		return dst
	}
	now := s.clock()
	s.at = now
	for ref := s.promoteOne(now); ref != none; ref = s.promoteOne(now) {
		dst = append(dst, s.rows.at(ref).promotion())
	}
	return dst
}
