package memstore

import (
	"context"
	"fmt"
	"time"

	"qsim/engine"
)

// waiting holds the waiting (scheduled) jobs: those not yet due in a heap by (due time, ID), with four children a node,
// in chunks so that it grows without a copy, and those that are due but must be promoted in a list by due time.
type waiting struct {
	rows   *rows
	chunks []*[chunkSize]waiter
	size   int
	first  engine.Time // due time of the first job; Never: none
	stamps uint32      // number of entries pushed
	void   int         // number of void entries: their job has left the heap
	due    list        // jobs due, not yet promoted
}

type waiter struct {
	dueAt engine.Time // due time of the job
	job   engine.JobID
	ref   uint32 // row of the job
	stamp uint32 // void unless the row has the same
}

func (w *waiting) init(s *rows) { w.rows, w.first = s, engine.Never }

// at returns entry i of the heap of waiting jobs, stored three places further on so that siblings share a chunk.
func (w *waiting) at(i int) *waiter { return &w.chunks[(i+3)>>chunkBits][(i+3)&chunkMask] }

func (a *waiter) before(b *waiter) bool {
	return a.dueAt < b.dueAt || a.dueAt == b.dueAt && a.job < b.job
}

// holds reports whether an entry of the heap of waiting jobs is valid: its job still waits for that time.
func (w *waiting) holds(e *waiter) bool {
	r := w.rows.at(e.ref)
	return r.place == inHeap && r.prev == e.stamp
}

// push adds a job, due at its row's dueAt, to the heap of waiting jobs, and reports whether it is now the first.
func (w *waiting) push(ref uint32, r *row) bool {
	w.stamps++
	r.place, r.prev = inHeap, w.stamps
	if (w.size+3)>>chunkBits == len(w.chunks) {
		w.chunks = append(w.chunks, new([chunkSize]waiter))
	}
	w.size++
	if w.up(w.size-1, waiter{r.dueAt, r.id, ref, w.stamps}) > 0 {
		return false
	}
	w.first = r.dueAt
	return true
}

// up moves the gap at position i of the heap of waiting jobs rootwards until entry e fits, and returns the position.
func (w *waiting) up(i int, e waiter) int {
	for i > 0 {
		p := (i - 1) / 4
		if !e.before(w.at(p)) {
			break
		}
		*w.at(i) = *w.at(p)
		i = p
	}
	*w.at(i) = e
	return i
}

// down moves the gap at position i of the heap of waiting jobs leafwards until entry e fits, and stores e there.
func (w *waiting) down(i int, e waiter) {
	for {
		at, n := 4*i+4, min(4, w.size-4*i-1)
		if n <= 0 {
			break
		}
		kids := w.chunks[at>>chunkBits][at&chunkMask:][:n]
		least := 0
		for c := 1; c < n; c++ {
			if kids[c].before(&kids[least]) {
				least = c
			}
		}
		if !kids[least].before(&e) {
			break
		}
		*w.at(i) = kids[least]
		i = 4*i + 1 + least
	}
	*w.at(i) = e
}

func (w *waiting) pop() {
	w.size--
	last := *w.at(w.size)
	if spare := (w.size+3)>>chunkBits + 2; spare < len(w.chunks) {
		w.chunks[spare] = nil
		w.chunks = w.chunks[:spare]
	}
	if w.size > 0 {
		w.down(0, last)
	}
}

// uncover removes void entries, whose jobs have left, from the top of the heap of waiting jobs until it is valid.
func (w *waiting) uncover() {
	w.first = engine.Never
	for w.size > 0 {
		if e := w.at(0); w.holds(e) {
			w.first = e.dueAt
			return
		}
		w.pop()
		w.void--
	}
}

// leave makes the entry of a job's row in the heap of waiting jobs void; once most are void the heap is rebuilt.
func (w *waiting) leave(r *row) {
	r.place = inList
	w.void++
	if w.void*2 > w.size && w.void >= 64 {
		w.rebuild()
	}
	w.uncover()
}

// rebuild makes the heap of waiting jobs anew from its valid entries alone.
func (w *waiting) rebuild() {
	size := w.size
	w.size, w.void = 0, 0
	for i := range size {
		if e := *w.at(i); w.holds(&e) {
			w.size++
			w.up(w.size-1, e)
		}
	}
}

// takeDue removes the earliest job from the heap of waiting jobs if it is due, and returns its row, else none.
func (w *waiting) takeDue(now engine.Time) uint32 {
	if w.first > now {
		return none
	}
	ref := w.at(0).ref
	w.rows.at(ref).place = inList
	w.pop()
	w.uncover()
	return ref
}

// toWaiting makes a job, whose row is in no queue, list or tree, wait until due, and keeps stand, the rule for its
// place among ready jobs then; with StoreOptions.Held it is ready at once.
func (s *Store) toWaiting(ref uint32, r *row, due, now engine.Time, stand engine.Place) {
	if s.options.Held {
		s.toReady(ref, r, due, now, stand)
		return
	}
	r.state, r.dueAt, r.stand = engine.Waiting, due, stand
	s.stats.Waiting[r.class()]++
	if s.waiting.push(ref, r) {
		s.mu.sooner = true
	}
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

// promoteOne makes the first waiting job ready, if it is due, and returns its row, else none.
func (s *Store) promoteOne(now engine.Time) uint32 {
	ref := s.waiting.takeDue(now)
	if ref != none {
		s.fromWaiting(ref, s.rows.at(ref), now)
	}
	return ref
}

// Promote makes up to limit due jobs ready, see engine.Store. Without StoreOptions.Promoted it returns none.
func (s *Store) Promote(_ context.Context, limit int, order engine.Order,
	dst []engine.Promotion) ([]engine.Promotion, error) {
	return s.takeDue(limit, order, dst, s.fromWaiting)
}

// takeDue removes up to limit due jobs from the due list, in the given order, calls take for each and returns them.
func (s *Store) takeDue(limit int, order engine.Order, dst []engine.Promotion,
	take func(uint32, *row, engine.Time)) ([]engine.Promotion, error) {
	if order > engine.NewestReady {
		return dst, fmt.Errorf("promote: order %v: %w", order, engine.ErrUnsupported)
	}
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref := s.waiting.takeDue(now); ref != none; ref = s.waiting.takeDue(now) {
		r := s.rows.at(ref)
		s.waiting.due.pushBack(s.waiting.due.last(&s.rows), ref, r)
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
		s.waiting.due.remove(&s.rows, r)
		take(at-1, r, now)
		dst = append(dst, s.promotion(at-1, r))
	}
	return dst, nil
}

func (s *Store) promotion(ref uint32, r *row) engine.Promotion {
	return engine.Promotion{Job: r.id, Kind: r.kind, Tenant: s.tenantOf(ref, r), Class: r.class()}
}

// nextDue returns the time at which the earliest waiting job becomes ready by itself; Never if none will.
func (s *Store) nextDue() engine.Time {
	if s.options.Promoted {
		return engine.Never
	}
	return s.waiting.first
}

// untilDue returns the time from now until the earliest waiting job becomes ready by itself; Forever if none will.
func (s *Store) untilDue(now engine.Time) time.Duration {
	if due := s.nextDue(); due != engine.Never {
		return due.Sub(now)
	}
	return engine.Forever
}
