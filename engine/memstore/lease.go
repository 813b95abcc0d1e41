package memstore

import (
	"context"
	"time"

	"qsim/engine"
)

// answered remembers what the commits of one engine did until the engine says
// that it has heard.
type answered struct {
	engine  engine.EngineID
	settled uint64
	batches []answeredBatch
	spare   [][]engine.Result
}

type answeredBatch struct {
	seq     uint64
	results []engine.Result
}

// settle forgets the batches up to seq.
func (a *answered) settle(seq uint64) {
	if seq <= a.settled {
		return
	}
	a.settled = seq
	kept := a.batches[:0]
	for _, b := range a.batches {
		if b.seq > seq {
			kept = append(kept, b)
		} else {
			a.spare = append(a.spare, b.results[:0])
		}
	}
	a.batches = kept
}

func (a *answered) find(seq uint64) []engine.Result {
	for i := range a.batches {
		if a.batches[i].seq == seq {
			return a.batches[i].results
		}
	}
	return nil
}

func (a *answered) remember(seq uint64, results []engine.Result) {
	var kept []engine.Result
	if n := len(a.spare); n > 0 {
		kept, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	a.batches = append(a.batches, answeredBatch{seq, append(kept, results...)})
}

// memoryOf returns what is remembered of e's commits: nil for a life of the node
// before the latest, whose commits are judged by their tokens alone.
func (s *Store) memoryOf(e engine.EngineID) *answered {
	node := int(e.Node())
	for len(s.batches) <= node {
		s.batches = append(s.batches, nil)
	}
	a := s.batches[node]
	switch {
	case a == nil:
		a = &answered{engine: e}
		s.batches[node] = a
	case a.engine.Generation() < e.Generation():
		*a = answered{engine: e, spare: a.spare}
	case a.engine != e:
		return nil
	}
	return a
}

// Commit applies a batch, see engine.Store.
func (s *Store) Commit(_ context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	memory := s.memoryOf(b.ID.Engine)
	if memory != nil {
		memory.settle(b.Settled)
		if b.ID.Seq <= memory.settled {
			for range b.Outcomes {
				dst = append(dst, engine.Result{Status: engine.Repeated})
			}
			return dst, nil
		}
		if earlier := memory.find(b.ID.Seq); earlier != nil {
			for _, r := range earlier {
				dst = append(dst, repeated(r))
			}
			return dst, nil
		}
	}
	from := len(dst)
	for i := range b.Outcomes {
		dst = append(dst, s.apply(now, &b.Outcomes[i]))
	}
	if memory != nil && len(b.Outcomes) > 0 {
		memory.remember(b.ID.Seq, dst[from:])
	}
	return dst, nil
}

func repeated(r engine.Result) engine.Result {
	if r.Status == engine.Stale {
		return engine.Result{Status: engine.RepeatedStale}
	}
	return engine.Result{Status: engine.Repeated}
}

// apply carries out one outcome.
func (s *Store) apply(now engine.Time, o *engine.Outcome) engine.Result {
	ref, r := s.match(o.LeaseKey, s.options.Fence)
	if r == nil {
		return engine.Result{Status: engine.Stale}
	}
	result := engine.Result{Status: engine.Applied, From: r.state, Class: r.class(), Age: now.Sub(r.enqueuedAt)}
	s.unplace(ref, r)
	switch o.Verb {
	case engine.Ack:
		s.forget(ref, r)
	case engine.Bury:
		s.stats.Dead++
		s.forget(ref, r)
	case engine.Nack:
		r.failures++
		r.lastDelay = o.Delay
		s.toWaiting(ref, r, now.Add(max(0, o.Delay)))
	case engine.Return:
		r.charged--
		s.toReady(ref, r, now, now)
	}
	return result
}

// match returns the row that a holder of key may change under fence f, or nil.
func (s *Store) match(key engine.LeaseKey, f engine.Fence) (uint32, *row) {
	ref := s.index.find(&s.rows, key.Job)
	if ref == none {
		return none, nil
	}
	r := s.rows.at(ref)
	switch f {
	case engine.FenceNone:
		return ref, r
	case engine.FenceState:
		if r.state == engine.InFlight {
			return ref, r
		}
	case engine.FenceToken:
		if r.state == engine.InFlight && r.token == key.Token {
			return ref, r
		}
	}
	return none, nil
}

// unplace takes a row out of whatever structure holds it and out of the counts.
func (s *Store) unplace(ref uint32, r *row) {
	switch r.state {
	case engine.Ready:
		s.unready(ref, r)
	case engine.Waiting:
		s.stats.Waiting[r.class()]--
		if r.place == inHeap {
			s.waiting.leave(r)
		} else {
			s.waiting.due.remove(&s.rows, ref)
		}
	case engine.InFlight:
		s.stats.InFlight[r.class()]--
		if r.place == inLapsed {
			s.lapsed.remove(&s.rows, ref)
		} else {
			s.leased.remove(&s.rows, ref)
		}
	}
	r.place = inList
}

func (s *Store) unready(ref uint32, r *row) {
	c := r.class()
	s.stats.Ready[c]--
	s.lanes[r.lane].ready[c].remove(&s.rows, ref)
	r.place = inList
}

func (s *Store) forget(ref uint32, r *row) {
	s.index.remove(r.id, ref)
	s.rows.release(ref)
}

// drop undoes an enqueue.
func (s *Store) drop(ref uint32) {
	r := s.rows.at(ref)
	s.unplace(ref, r)
	s.forget(ref, r)
}

// ExtendLease restarts leases, see engine.Store.
func (s *Store) ExtendLease(_ context.Context, keys []engine.LeaseKey, ttl time.Duration, dst []bool) ([]bool, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for _, k := range keys {
		ref, r := s.match(k, s.options.Fence)
		held := r != nil && r.state == engine.InFlight && r.place != inLapsed
		dst = append(dst, held)
		if held {
			s.leased.remove(&s.rows, ref)
			r.key = now.Add(ttl)
			s.leased.insertByKey(&s.rows, ref)
		}
	}
	return dst, nil
}

// lapse takes expired leases from their holders, where the options say so.
func (s *Store) lapse(now engine.Time) {
	for s.leased.head != 0 {
		ref := s.leased.head - 1
		r := s.rows.at(ref)
		if r.key.Add(s.options.LapseAfter) > now {
			return
		}
		s.leased.remove(&s.rows, ref)
		r.token++
		r.place = inLapsed
		s.lapsed.pushBack(&s.rows, ref)
	}
}

// Recover takes expired leases, see engine.Store. Leases that have lapsed come
// first, in the order of their expiry.
func (s *Store) Recover(_ context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ; limit > 0; limit-- {
		ref := none
		if s.lapsed.head != 0 {
			ref = s.lapsed.head - 1
		} else if at := s.leased.head; at != 0 && s.rows.at(at-1).key.Add(grace) <= now {
			ref = at - 1
		} else {
			break
		}
		r := s.rows.at(ref)
		s.unplace(ref, r)
		dst = append(dst, engine.Lease{Holder: r.holder})
		s.lend(ref, r, now, holder, ttl, &dst[len(dst)-1])
	}
	switch {
	case s.lapsed.head != 0:
		return dst, 0, nil
	case s.leased.head != 0:
		return dst, max(0, s.rows.at(s.leased.head-1).key.Add(grace).Sub(now)), nil
	}
	return dst, engine.Forever, nil
}

// Unfinished is a live job, as Each shows it.
type Unfinished struct {
	Job    engine.JobID
	Kind   engine.Kind
	Tenant engine.TenantID
	State  engine.State
	Class  engine.Class
	Age    time.Duration // since it was enqueued
	Ready  time.Duration // since it became ready, if it is ready
}

// Each calls yield for every live job, in no order that means anything but always
// the same one, until yield returns false.
func (s *Store) Each(yield func(Unfinished) bool) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref := range s.rows.size {
		r := s.rows.at(ref)
		if r.state == engine.NoState {
			continue
		}
		u := Unfinished{r.id, r.kind, r.tenant, r.state, r.class(), now.Sub(r.enqueuedAt), 0}
		if r.state == engine.Ready {
			u.Ready = now.Sub(r.dueAt)
		}
		if !yield(u) {
			return
		}
	}
}

// Live is the number of jobs that are ready, waiting or in flight.
func (s *Store) Live() int {
	s.mu.lock()
	defer s.mu.unlock()
	return s.index.used
}
