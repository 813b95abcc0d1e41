package memstore

import "qsim/engine"

// toReady makes a row that is in no index ready: dueAt is since when it waits.
func (s *Store) toReady(ref uint32, r *row, dueAt, now engine.Time) {
	r.stoodAt = dueAt
	s.toReadyAt(ref, r, dueAt, s.usualKey(r, dueAt, now))
}

// usualKey is the ready key by StoreOptions.Place.
func (s *Store) usualKey(r *row, dueAt, now engine.Time) engine.Time {
	if r.delivery == 0 {
		return dueAt
	}
	switch s.options.Place {
	case engine.PlaceTail:
		return now
	case engine.PlaceCreated:
		return r.enqueuedAt
	case engine.PlaceHead:
		return headKey(dueAt)
	}
	return dueAt
}

// headKey comes before every key that is a time of day.
func headKey(dueAt engine.Time) engine.Time { return dueAt - engine.Never/2 }

// toReadyAs makes a row ready where stand says.
func (s *Store) toReadyAs(ref uint32, r *row, dueAt, now engine.Time, stand engine.Place) {
	switch stand {
	case engine.PlaceHead:
		s.toReadyAt(ref, r, dueAt, headKey(dueAt))
	case engine.PlaceDue:
		s.toReadyAt(ref, r, dueAt, r.stoodAt)
	case engine.PlaceTail:
		s.toReadyAt(ref, r, dueAt, now)
	case engine.PlaceCreated:
		s.toReadyAt(ref, r, dueAt, r.enqueuedAt)
	default:
		s.toReady(ref, r, dueAt, now)
	}
}

func (s *Store) toReadyAt(ref uint32, r *row, dueAt, key engine.Time) {
	r.state, r.dueAt, r.key = engine.Ready, dueAt, key
	s.mu.ready = true
	s.stats.Ready[r.class()]++
	if r.serial != 0 && s.serials.isBehind(ref) {
		s.lanes[r.lane].behind[r.class()].insert(&s.rows, ref)
		return
	}
	s.join(ref, r)
}

// unready takes a ready row out of its line and out of the counts.
func (s *Store) unready(ref uint32, r *row) {
	c := r.class()
	s.stats.Ready[c]--
	if r.serial != 0 && s.serials.isBehind(ref) {
		s.lanes[r.lane].behind[c].remove(&s.rows, ref)
	} else {
		s.leave(ref, r)
	}
	r.place = inList
}

// join puts a row where claims look: into its queue, and into what else keeps ready
// rows in some order.
func (s *Store) join(ref uint32, r *row) {
	c := r.class()
	s.lanes[r.lane].ready[c].insert(&s.rows, ref)
	if !s.special {
		return
	}
	if s.byDue != nil {
		s.byDue.join(ref, r, c)
	}
	if s.byAge != nil {
		s.byAge.join(ref, r, c)
	}
	if s.tenants != nil {
		s.tenants.join(ref, r, c)
	}
}

// leave takes a row out of all that.
func (s *Store) leave(ref uint32, r *row) {
	c := r.class()
	if !s.special {
		s.lanes[r.lane].ready[c].remove(&s.rows, ref)
		return
	}
	if s.byDue != nil {
		s.byDue.leave(ref, r, c)
	}
	if s.byAge != nil {
		s.byAge.leave(ref, r, c)
	}
	if s.tenants != nil {
		s.tenants.leave(ref, r, c)
	}
	s.lanes[r.lane].ready[c].remove(&s.rows, ref)
}

// unplace takes a row out of whatever structure holds it and out of the counts.
func (s *Store) unplace(ref uint32, r *row) {
	switch r.state {
	case engine.Ready:
		s.unready(ref, r)
	case engine.Waiting:
		s.stats.Waiting[r.class()]--
		switch r.place {
		case inHeap:
			s.waiting.leave(r)
		case inList:
			s.waiting.due.remove(&s.rows, ref)
		}
	case engine.InFlight:
		s.stats.InFlight[r.class()]--
		s.leasesOf(r).remove(&s.rows, ref)
		s.mu.ready = s.mu.ready || s.running != nil || s.options.MaxInFlight > 0 // it makes room
		if s.counting && !r.reaped {
			s.stopped(ref, r)
		}
	}
	r.place = inList
}

// leasesOf is the list that a row in flight is in.
func (s *Store) leasesOf(r *row) *list {
	switch r.place {
	case inLapsed:
		return &s.lapsed
	case inOrphans:
		return &s.orphaned
	}
	return &s.leased
}

// started counts a row that was claimed, stopped one that is not in flight any more,
// or that a reaper takes.
func (s *Store) started(ref uint32, r *row) {
	if int(r.kind) < len(s.running) {
		s.running[r.kind]++
	}
	if s.tenants != nil {
		s.tenants.started(ref, r, s.at)
	}
}

func (s *Store) stopped(ref uint32, r *row) {
	if int(r.kind) < len(s.running) {
		s.running[r.kind]--
	}
	if s.tenants != nil {
		s.tenants.stopped(ref, r, s.at)
	}
}

// full reports whether no more jobs of a kind may be in flight.
func (s *Store) full(k engine.Kind) bool {
	return int(k) < len(s.running) && s.options.MaxRunning[k] > 0 && s.running[k] >= s.options.MaxRunning[k]
}

// bury ends a row that is in no structure.
func (s *Store) bury(ref uint32, r *row) {
	s.stats.Dead++
	s.leaveSerial(ref, r)
	if !s.options.KeepDead {
		s.forget(ref, r)
		return
	}
	r.state = engine.Dead
	s.kept++
	s.dead.pushBack(&s.rows, ref)
}

// Redrive makes dead jobs ready again, see sim.Redriver. They are asked for in the
// order in which they died. One with a serial key goes behind the others of it.
func (s *Store) Redrive(revive func(engine.JobID) bool, reset bool, dst []engine.Promotion) []engine.Promotion {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for at := s.dead.head; at != 0; {
		ref := at - 1
		r := s.rows.at(ref)
		at = r.next
		if !revive(r.id) {
			continue
		}
		s.dead.remove(&s.rows, ref)
		s.kept--
		s.stats.Dead--
		if reset {
			r.charged, r.failures, r.recoveries, r.snoozes, r.lastDelay = 0, 0, 0, 0, 0
		}
		if r.serial != 0 {
			s.serials.join(ref, r.serial)
		}
		s.toReady(ref, r, now, now)
		dst = append(dst, r.promotion())
	}
	return dst
}

func (s *Store) forget(ref uint32, r *row) {
	if s.payloads.chunks != nil {
		*s.payloads.reach(ref) = nil
	}
	s.index.remove(r.id, ref)
	s.rows.release(ref)
}
