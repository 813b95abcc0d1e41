package memstore

import "qsim/engine"

// shed buries what has waited too long of the jobs that t could claim.
func (s *Store) shed(now engine.Time, t *engine.Term, dst []engine.Lease) []engine.Lease {
	for range engine.MostShed {
		ref := s.pickLate(t)
		if ref == none || now.Sub(s.rows.at(ref).dueAt) <= t.MaxWait {
			break
		}
		r := s.rows.at(ref)
		dst = append(dst, engine.Lease{Shed: true})
		l := &dst[len(dst)-1]
		s.describe(ref, r, now, l)
		l.Delivery++ // it tells its class
		s.unready(ref, r)
		s.bury(ref, r)
	}
	return dst
}

// pickLate returns the row that has waited longest of those that match t, or none.
func (s *Store) pickLate(t *engine.Term) uint32 {
	best := none
	if t.Tenant != 0 {
		s.eachReady(func(ref uint32, r *row) {
			if s.matches(t, r) && (best == none || s.byDue.before(r, s.rows.at(best))) {
				best = ref
			}
		})
		return best
	}
	for i := range s.lanes {
		l := &s.lanes[i]
		if !t.Kinds.Has(l.kind) || s.full(l.kind) {
			continue
		}
		for c := range l.ready {
			if l.ready[c].size == 0 || t.Class != engine.AnyClass && t.Class != engine.Class(c) {
				continue
			}
			ref := s.byDue.end(s.byDue.root(uint16(i), c), false)
			if best == none || s.byDue.before(s.rows.at(ref), s.rows.at(best)) {
				best = ref
			}
		}
	}
	return best
}

// countAhead returns how many ready rows stand before r in the order of (priority,
// ready key, ID).
func (s *Store) countAhead(r *row) int {
	n := 0
	for _, i := range s.order {
		l := &s.lanes[i]
		if l.priority > r.priority {
			break
		}
		for c := range l.ready {
			for _, q := range [...]*queue{&l.ready[c], &l.behind[c]} {
				if l.priority < r.priority {
					n += q.size
				} else {
					n += q.countBefore(&s.rows, r)
				}
			}
		}
	}
	return n
}

// Passed counts ready jobs, see sim.PassCounter.
func (s *Store) Passed() int {
	s.mu.lock()
	defer s.mu.unlock()
	return s.passed
}
