package memstore

import (
	"context"
	"time"

	"qsim/engine"
)

// ExtendLease restarts the TTL of leases, see engine.Store.
func (s *Store) ExtendLease(_ context.Context, keys []engine.LeaseKey, ttl time.Duration,
	dst []engine.Status) ([]engine.Status, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for i := range keys {
		ref, r := s.match(&keys[i], s.options.Fence)
		status := engine.Stale
		if r != nil && r.state == engine.InFlight && r.place == inLeased {
			s.extend(ref, r, now.Add(ttl))
			status = engine.Applied
		}
		dst = append(dst, status)
	}
	return dst, nil
}

func (s *Store) extend(ref uint32, r *row, expiry engine.Time) {
	s.unlist(ref, r)
	s.enlist(ref, r, expiry)
}

// nodeLists holds the leased rows of jobs in a list for each node of their holders, in order of expiry.
type nodeLists struct {
	chains
	of []list // by node
}

func (x *nodeLists) insert(rows *rows, ref uint32, r *row) {
	for int(r.holder.Node()) >= len(x.of) {
		x.of = append(x.of, list{})
	}
	x.reach(ref)
	x.insertByKey(&x.of[r.holder.Node()], rows, ref, r)
}

// ExtendNode restarts the TTL of all leases of a holder, see engine.Store. It visits only the leases of that node.
func (s *Store) ExtendNode(_ context.Context, holder engine.EngineID, kept bool, ttl time.Duration) (int, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	if s.byNode == nil {
		s.byNode = &nodeLists{}
		for at := s.inFlight[inLeased].head; at != 0; at = s.rows.links[at].next {
			s.byNode.insert(&s.rows, at, s.rows.at(at))
		}
	}
	s.scratch = s.scratch[:0]
	if node := holder.Node(); int(node) < len(s.byNode.of) {
		for at := s.byNode.of[node].head; at != 0; at = s.byNode.links[at].next {
			if r := s.rows.at(at); r.has&reaped == 0 && (kept || r.holder == holder) {
				s.scratch = append(s.scratch, at)
			}
		}
	}
	for _, ref := range s.scratch {
		s.extend(ref, s.rows.at(ref), now.Add(ttl))
	}
	return len(s.scratch), nil
}

// lapse ends leases that expired StoreOptions.LapseAfter ago: their tokens are void, and the jobs await recovery.
func (s *Store) lapse(now engine.Time) {
	for ref := s.inFlight[inLeased].head; ref != 0; ref = s.inFlight[inLeased].head {
		r := s.rows.at(ref)
		if r.key.Add(s.options.LapseAfter) > now {
			return
		}
		r.token++
		s.relist(ref, r, inLapsed)
	}
}

// Recover leases jobs whose leases have expired to the caller, see engine.Store: first those whose lease record is lost
// (orphans), then those with lapsed leases, then the others, each group in order of time.
func (s *Store) Recover(_ context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	c := claim{now: s.now(), holder: holder, ttl: ttl, dst: dst}
	for _, ref := range s.expired(c.now, grace, limit) {
		r := s.rows.at(ref)
		former := r.holder
		s.countRecovery(s.historyOf(ref, r), c.now)
		has := r.has
		s.unplace(ref, r)
		r.has = has | reaped // its class is that of its claim
		s.lend(&c, ref, r).Holder = former
	}
	return c.dst, s.nextExpiry(c.now, grace), nil
}

// Expired returns expired leases without taking them, see engine.TwoStep. For a lapsed lease it returns the job's
// present token.
func (s *Store) Expired(_ context.Context, limit int, grace time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	c := claim{now: s.now(), dst: dst}
	for _, ref := range s.expired(c.now, grace, limit) {
		r := s.rows.at(ref)
		l := s.describe(&c, ref, r)
		l.Holder = r.holder
		l.Recoveries++
	}
	return c.dst, s.nextExpiry(c.now, grace), nil
}

// expired returns the rows of the first jobs, up to limit, whose leases can be recovered. They are valid until the next
// call.
func (s *Store) expired(now engine.Time, grace time.Duration, limit int) []uint32 {
	s.scratch = s.scratch[:0]
	for _, place := range [...]place{inOrphans, inLapsed, inLeased} {
		if place == inOrphans && !s.options.Orphans {
			continue
		}
		for at := s.inFlight[place].head; at != 0 && len(s.scratch) < limit; at = s.rows.links[at].next {
			if place == inLeased && s.rows.at(at).key.Add(grace) > now {
				break
			}
			s.scratch = append(s.scratch, at)
		}
	}
	return s.scratch
}

// nextExpiry returns the time until the next lease can be recovered; Forever if no job is leased.
func (s *Store) nextExpiry(now engine.Time, grace time.Duration) time.Duration {
	switch first := s.inFlight[inLeased].head; {
	case s.inFlight[inLapsed].head != 0, s.inFlight[inOrphans].head != 0 && s.options.Orphans:
		return 0
	case first != 0:
		return max(0, s.rows.at(first).key.Add(grace).Sub(now))
	}
	return engine.Forever
}
