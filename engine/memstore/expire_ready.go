package memstore

import "qsim/engine"

// shed buries up to Term.Shed ready jobs that match a term and have waited longer than its MaxWait, for claim c.
func (s *Store) shed(c *claim, t *engine.Term) {
	of := s.tenantFor(t)
	for range t.Shed {
		ref := s.search(t, of, true)
		if ref == 0 || c.now.Sub(s.rows.at(ref).dueAt) <= t.MaxWait {
			break
		}
		r := s.rows.at(ref)
		l := s.describe(c, ref, r)
		l.Token, l.Shed = 0, true
		l.Delivery++ // the delivery determines its class
		s.unready(ref)
		s.bury(ref, r)
	}
}
