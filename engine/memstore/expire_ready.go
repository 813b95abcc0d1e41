package memstore

import "qsim/engine"

// shed buries jobs that the term t could claim and that have waited longer than its MaxWait.
func (s *Store) shed(now engine.Time, t *engine.Term, dst []engine.Lease) []engine.Lease {
	var of *tenant
	if t.Tenant != 0 {
		of = s.tenants.called(t.Tenant)
	}
	for range t.Shed {
		ref := s.search(t, of, true)
		if ref == none || now.Sub(s.rows.at(ref).dueAt) <= t.MaxWait {
			break
		}
		r := s.rows.at(ref)
		dst = append(dst, engine.Lease{Shed: true})
		l := &dst[len(dst)-1]
		s.describe(ref, r, now, l)
		l.Delivery++ // the delivery determines its class
		s.unready(ref, r)
		s.bury(ref, r)
	}
	return dst
}
