package memstore

import "qsim/engine"

// toReady makes a job ready, in line by the place rule of its outcome (stand) or, by default, that of the store's
// options. Its row must be in no queue, list or tree. Its wait counts from dueAt.
func (s *Store) toReady(ref uint32, r *row, dueAt, now engine.Time, stand engine.Place) {
	key := dueAt
	switch stand {
	case engine.PlaceDefault:
		if r.has&hasHistory != 0 {
			s.histories.at(ref).stoodAt = dueAt
		}
		if r.delivery > 0 {
			key = r.keyIn(s.options.Place, dueAt, now)
		}
	case engine.PlaceDue:
		key = s.histories.at(ref).stoodAt
	default:
		key = r.keyIn(stand, dueAt, now)
	}
	s.toReadyAt(ref, r, dueAt, key)
}

// keyIn returns the ready key, by a place rule (head, tail and so on), of a job that was due at dueAt and becomes ready
// now.
func (r *row) keyIn(place engine.Place, dueAt, now engine.Time) engine.Time {
	switch place {
	case engine.PlaceTail:
		return now
	case engine.PlaceCreated:
		return r.enqueuedAt
	case engine.PlaceHead:
		return dueAt - engine.Never/2 // before all keys made from times
	}
	return dueAt
}

// toReadyAt makes a job ready, due at dueAt and in line by key. Its row must be in no queue, list or tree.
func (s *Store) toReadyAt(ref uint32, r *row, dueAt, key engine.Time) {
	r.state, r.place, r.dueAt, r.key = engine.Ready, inList, dueAt, key
	s.mu.ready++
	s.stats.Ready[r.class()]++
	s.lineOf(r).insert(&s.late, ref, r)
	if key != dueAt {
		s.lines.moved = true
	}
	if s.special {
		s.join(ref, r)
	}
}

// unready takes a ready job's row out of its queue, the search trees and the counts, and returns it.
func (s *Store) unready(ref uint32) *row {
	r := s.rows.at(ref)
	s.stats.Ready[r.class()]--
	if s.special {
		s.leave(ref, r)
	}
	s.lineOf(r).remove(&s.late, ref, r)
	return r
}

// lineOf returns the queue to which a ready job's row belongs, by lane and class.
func (s *Store) lineOf(r *row) *queue { return &s.lines.lanes[r.lane].ready[r.class()] }

// unplace takes a job's row (record) out of the queue, list or tree that holds it and out of the counts.
func (s *Store) unplace(ref uint32, r *row) {
	switch r.state {
	case engine.InFlight:
		s.stats.InFlight[r.class()]--
		s.unlist(ref, r)
		if s.counting {
			s.stopped(ref, r)
		}
		r.has |= isRetry
	case engine.Ready:
		s.unready(ref)
	case engine.Waiting:
		s.stats.Waiting[r.class()]--
		switch r.place {
		case inHeap:
			s.waiting.heap.Remove(r.dueAt, uint64(ref))
		case inList:
			s.rows.remove(&s.waiting.due, ref)
		}
	}
	r.place = inList
}

// unlist takes the row of a job in flight out of the list that holds it: of leased, lapsed or orphaned jobs.
func (s *Store) unlist(ref uint32, r *row) {
	s.rows.remove(&s.inFlight[r.place], ref)
	if r.place == inLeased && s.byNode != nil {
		s.byNode.remove(&s.byNode.of[r.holder.Node()], ref)
	}
}

// relist moves the row of a leased job to the end of the list of lapsed or of orphaned jobs.
func (s *Store) relist(ref uint32, r *row, to place) {
	s.unlist(ref, r)
	r.place = to
	s.rows.insertAfter(&s.inFlight[to], ref, s.inFlight[to].tail)
}

// started counts a claimed job towards the limits on jobs in flight; stopped removes it from the count when it leaves
// that state, or when a reaper takes it, and thus makes room for others.
func (s *Store) started(ref uint32, r *row) {
	if int(r.kind) < len(s.running) {
		s.running[r.kind]++
	}
	if s.tenants != nil {
		s.tenants.started(ref, s.at)
	}
}

func (s *Store) stopped(ref uint32, r *row) {
	if s.running != nil || s.options.MaxInFlight > 0 {
		s.mu.ready++
	}
	if r.has&reaped != 0 {
		return
	}
	if int(r.kind) < len(s.running) {
		s.running[r.kind]--
	}
	if s.tenants != nil {
		s.tenants.stopped(ref, s.at)
	}
}

// full reports whether as many jobs of a kind are in flight as StoreOptions.MaxRunning allows.
func (s *Store) full(k engine.Kind) bool {
	return int(k) < len(s.running) && s.options.MaxRunning[k] > 0 && s.running[k] >= s.options.MaxRunning[k]
}

// historyOf returns the history of a job's row (counters of earlier attempts), a new one if it has none.
func (s *Store) historyOf(ref uint32, r *row) *history {
	h := s.histories.reach(ref)
	if r.has&hasHistory == 0 {
		r.has |= hasHistory
		*h = history{stoodAt: r.dueAt}
		if r.state == engine.Waiting { // the job was never ready
			h.stoodAt = r.enqueuedAt
		}
	}
	return h
}

// bury makes a job dead and deletes it unless dead jobs are kept. Its row must be in no queue, list or tree.
func (s *Store) bury(ref uint32, r *row) {
	s.stats.Dead++
	if !s.options.KeepDead {
		s.forget(ref, r)
		return
	}
	if r.has&hasSerial != 0 {
		s.leaveSerial(ref)
	}
	r.state = engine.Dead
	s.rows.insertAfter(&s.dead, ref, s.dead.tail)
}

// forget deletes a job that has ended and frees its row, which must be in no queue, list or tree.
func (s *Store) forget(ref uint32, r *row) {
	if r.has&hasSerial != 0 {
		s.leaveSerial(ref)
	}
	if s.payloads.chunks != nil {
		*s.payloads.reach(ref) = nil
	}
	if s.index.slots != nil {
		s.index.remove(r.id, ref)
	}
	s.rows.release(ref, r)
}
