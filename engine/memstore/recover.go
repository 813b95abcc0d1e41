package memstore

import (
	"context"
	"time"

	"qsim/engine"
)

// ExtendLease restarts leases, see engine.Store.
func (s *Store) ExtendLease(_ context.Context, keys []engine.LeaseKey, ttl time.Duration, dst []bool) ([]bool, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for _, k := range keys {
		ref, r := s.match(k, s.options.Fence)
		held := r != nil && r.state == engine.InFlight && r.place == inList
		dst = append(dst, held)
		if held {
			s.extend(ref, r, now.Add(ttl))
		}
	}
	return dst, nil
}

func (s *Store) extend(ref uint32, r *row, expiry engine.Time) {
	s.leased.remove(&s.rows, ref)
	r.key = expiry
	s.leased.insertByKey(&s.rows, ref)
}

// ExtendNode restarts all leases of a holder, see engine.NodeExtender. It looks at every
// lease that there is.
func (s *Store) ExtendNode(_ context.Context, holder engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	s.scratch = s.scratch[:0]
	for at := s.leased.head; at != 0; at = s.rows.at(at - 1).next {
		r := s.rows.at(at - 1)
		if !r.reaped && (r.holder == holder || kept && r.holder.Node() == holder.Node()) {
			s.scratch = append(s.scratch, at-1)
		}
	}
	for _, ref := range s.scratch {
		s.extend(ref, s.rows.at(ref), now.Add(ttl))
	}
	return len(s.scratch), nil
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

// Recover takes expired leases, see engine.Store. Orphans come first, then leases that
// have lapsed, then the others, each in the order in which that came about.
func (s *Store) Recover(_ context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ; limit > 0; limit-- {
		ref := s.expired(now, grace, none)
		if ref == none {
			break
		}
		r := s.rows.at(ref)
		s.unplace(ref, r)
		dst = append(dst, engine.Lease{Holder: r.holder})
		s.countRecovery(r, now)
		r.reaped = true
		s.lend(ref, r, now, holder, ttl, &dst[len(dst)-1])
	}
	return dst, s.nextExpiry(now, grace), nil
}

// Expired shows expired leases, see engine.ExpiryReader. Of a lease that has lapsed it
// shows the token that the job has now.
func (s *Store) Expired(_ context.Context, limit int, grace time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref := none; limit > 0; limit-- {
		if ref = s.expired(now, grace, ref); ref == none {
			break
		}
		r := s.rows.at(ref)
		dst = append(dst, engine.Lease{Token: r.token, Holder: r.holder})
		l := &dst[len(dst)-1]
		s.describe(ref, r, now, l)
		l.Recoveries++
	}
	return dst, s.nextExpiry(now, grace), nil
}

// expired returns the row whose lease is to be recovered next after another one, or
// before all others: none if there is none.
func (s *Store) expired(now engine.Time, grace time.Duration, after uint32) uint32 {
	lists := [...]*list{&s.orphaned, &s.lapsed, &s.leased}
	which, at := 0, s.orphaned.head
	if after != none {
		r := s.rows.at(after)
		at = r.next
		switch r.place {
		case inLapsed:
			which = 1
		case inList:
			which = 2
		}
	}
	if which == 0 && (at == 0 || !s.options.Orphans) {
		which, at = 1, s.lapsed.head
	}
	for at == 0 && which < len(lists)-1 {
		which++
		at = lists[which].head
	}
	if at == 0 || which == 2 && s.rows.at(at-1).key.Add(grace) > now {
		return none
	}
	return at - 1
}

// nextExpiry is how long until there is a lease to recover.
func (s *Store) nextExpiry(now engine.Time, grace time.Duration) time.Duration {
	switch {
	case s.lapsed.head != 0, s.orphaned.head != 0 && s.options.Orphans:
		return 0
	case s.leased.head != 0:
		return max(0, s.rows.at(s.leased.head-1).key.Add(grace).Sub(now))
	}
	return engine.Forever
}

// LoseLeases deletes lease records, see sim.LeaseLoser. It asks for each in the order
// of their expiries; leases that have lapsed have none.
func (s *Store) LoseLeases(lose func(engine.JobID) bool, dst []engine.Lease) []engine.Lease {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for at := s.leased.head; at != 0; {
		ref := at - 1
		r := s.rows.at(ref)
		at = r.next
		if !lose(r.id) {
			continue
		}
		s.leased.remove(&s.rows, ref)
		r.place = inOrphans
		s.orphaned.pushBack(&s.rows, ref)
		dst = append(dst, engine.Lease{Token: r.token, Holder: r.holder})
		s.describe(ref, r, now, &dst[len(dst)-1])
	}
	return dst
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
	// Delivery and Charged are those of the job, see engine.Job.
	Delivery, Charged int32
}

// Each calls yield for every live job, in no order that means anything but always
// the same one, until yield returns false.
func (s *Store) Each(yield func(Unfinished) bool) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for ref := range s.rows.size {
		r := s.rows.at(ref)
		if r.state == engine.NoState || r.state == engine.Dead {
			continue
		}
		u := Unfinished{r.id, r.kind, r.tenant, r.state, r.class(), now.Sub(r.enqueuedAt), 0, r.delivery, r.charged}
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
	return s.index.used - s.kept
}
