package memstore

import (
	"context"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// What follows only simulations ask for.

// NextDue returns the time, by the store's clock, at which the next waiting job becomes ready by itself; else Never.
func (s *Store) NextDue() engine.Time {
	s.mu.lock()
	due := s.nextDue()
	s.mu.unlock()
	return due
}

// PromoteDue makes the jobs due by now ready, and appends them to dst in the order in which they became due. A
// simulation calls it at NextDue to see each job the instant it becomes ready.
func (s *Store) PromoteDue(dst []engine.Promotion) []engine.Promotion {
	s.mu.lock()
	if !s.options.Promoted {
		s.at = s.clock()
		s.eachDue(s.at, func(ref uint32, r *row) {
			s.fromWaiting(ref, r, s.at)
			dst = append(dst, r.promotion())
		})
	}
	s.mu.unlock()
	return dst
}

// TakeDue takes due jobs out of the waiting ones, the first of the two steps of Promote, see engine.TwoStep.
func (s *Store) TakeDue(_ context.Context, limit int, order engine.Order,
	dst []engine.Promotion) ([]engine.Promotion, error) {
	return s.takeDue(limit, order, dst, false)
}

// Insert makes the jobs taken by TakeDue ready, the second of the two steps of Promote, see engine.TwoStep.
func (s *Store) Insert(_ context.Context, jobs []engine.JobID, dst []engine.Promotion) ([]engine.Promotion, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for _, id := range jobs {
		ref := s.index.find(&s.rows, id)
		if ref == 0 {
			continue
		}
		r := s.rows.at(ref)
		if r.state != engine.Waiting || r.place != inTransit {
			continue
		}
		s.fromWaiting(ref, r, now)
		dst = append(dst, r.promotion())
	}
	return dst, nil
}

// Redrive makes dead jobs ready again, those for which revive returns true, see sim.Store. It calls revive in the
// order of their deaths. A job with a serial key goes behind the others of that key.
func (s *Store) Redrive(revive func(engine.JobID) bool, reset bool, dst []engine.Promotion) []engine.Promotion {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref, next := s.dead.head, uint32(0); ref != 0; ref = next {
		r := s.rows.at(ref)
		next = s.rows.links[ref].next
		if !revive(r.id) {
			continue
		}
		s.rows.remove(&s.dead, ref)
		s.stats.Dead--
		if reset {
			r.failures, r.has = 0, r.has&^hasHistory
			s.historyOf(ref, r).refunds = r.delivery
		}
		if r.has&hasSerial != 0 {
			behind := s.serials.join(ref, *s.serials.keyOf.at(ref))
			r.lane = s.lines.of(s.lines.lanes[r.lane].priority, r.kind, behind)
		}
		s.toReady(ref, r, now, now, engine.PlaceDefault)
		dst = append(dst, r.promotion())
	}
	return dst
}

// LoseLeases deletes the lease records for which lose returns true, see sim.Store. It calls lose in the order of
// expiries; lapsed leases have no record.
func (s *Store) LoseLeases(lose func(engine.JobID) bool, dst []engine.Lease) []engine.Lease {
	s.mu.lock()
	defer s.mu.unlock()
	c := claim{now: s.now(), dst: dst}
	for ref, next := s.inFlight[inLeased].head, uint32(0); ref != 0; ref = next {
		r := s.rows.at(ref)
		next = s.rows.links[ref].next
		if !lose(r.id) {
			continue
		}
		s.relist(ref, r, inOrphans)
		s.describe(&c, ref, r).Holder = r.holder
	}
	return c.dst
}

// Each calls yield for every live (unfinished) job, in an arbitrary but fixed order, until yield returns false.
func (s *Store) Each(yield func(unfinished.Job) bool) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref, r := range s.eachRow {
		if r.state == engine.Dead {
			continue
		}
		u := unfinished.Job{ID: r.id, Kind: r.kind, Tenant: r.tenant, State: r.state, Class: r.class(),
			Age: now.Sub(r.enqueuedAt), Delivery: r.delivery, Charged: r.delivery}
		if r.has&hasHistory != 0 {
			u.Charged -= s.histories.at(ref).refunds
		}
		if r.state != engine.InFlight {
			u.Waited = max(now.Sub(r.dueAt), 0)
		}
		if !yield(u) {
			return
		}
	}
}

// eachRow yields the rows of all jobs. Where most rows are free, after a backlog, it passes by them: it finds the jobs
// in the hash table of their IDs, which shrinks with their number.
func (s *Store) eachRow(yield func(ref uint32, r *row) bool) {
	if int(s.rows.size) <= chunkSize+4*s.live() {
		s.rows.all(yield)
		return
	}
	s.index.need(&s.rows)
	for _, v := range s.index.slots {
		if ref := uint32(v); ref != 0 && !yield(ref, s.rows.at(ref)) {
			return
		}
	}
}

// Live returns the number of jobs that are ready, waiting or in flight.
func (s *Store) Live() int {
	s.mu.lock()
	defer s.mu.unlock()
	return s.live()
}

func (s *Store) live() int {
	live := 0
	for c := range engine.NumClasses {
		live += s.stats.Ready[c] + s.stats.Waiting[c] + s.stats.InFlight[c]
	}
	return live
}

// countAhead returns how many ready jobs come before row r in the order of (priority, ready key, ID), for Passed.
func (s *Store) countAhead(r *row) int {
	n, priority := 0, s.lines.lanes[r.lane].priority
	for i := range s.lines.lanes {
		l := &s.lines.lanes[i]
		for c := range l.ready {
			switch {
			case l.priority < priority:
				n += int(l.ready[c].size)
			case l.priority == priority:
				n += int(s.late.countBefore(l.ready[c].root, r))
			}
		}
	}
	return n
}

// Passed returns how many ready jobs came before the first one that the latest claim leased, see sim.Store.
func (s *Store) Passed() int {
	s.mu.lock()
	defer s.mu.unlock()
	return s.passed
}
