package memstore

import (
	"math"

	"qsim/engine"
)

// offer returns the ready row of t that a term takes next, by priority and then by
// place, or none.
func (s *Store) offer(t *engine.Term, of *tenant) uint32 {
	best := none
	var bestRow *row
	newest := t.Order == engine.NewestReady
	for i := range of.cells {
		c := &of.cells[i]
		l := &s.lanes[c.lane]
		if !t.Kinds.Has(l.kind) || s.full(l.kind) {
			continue
		}
		for class, root := range c.roots {
			if root == 0 || t.Class != engine.AnyClass && t.Class != engine.Class(class) {
				continue
			}
			ref := s.tenants.ready.end(root, newest)
			r := s.rows.at(ref)
			if best == none || r.priority < bestRow.priority || r.priority == bestRow.priority && r.before(bestRow) != newest {
				best, bestRow = ref, r
			}
		}
	}
	return best
}

// pickOfTenants takes by priority and place, of one tenant or at most so many of each.
func (s *Store) pickOfTenants(t *engine.Term) uint32 {
	x := s.tenants
	if t.Tenant != 0 {
		of := x.of(t.Tenant)
		if t.PerTenant > 0 && of.takenBy(x.term) >= t.PerTenant {
			return none
		}
		of.take(x.term)
		return s.offer(t, of)
	}
	best := none
	var bestOf *tenant
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		if of.takenBy(x.term) >= t.PerTenant {
			continue
		}
		if ref := s.offer(t, of); ref != none && (best == none || s.before(t, s.rows.at(ref), s.rows.at(best))) {
			best, bestOf = ref, of
		}
	}
	if best != none {
		bestOf.take(x.term)
	}
	return best
}

// pickTurn takes from the first tenant in turn that has a job for t. Those before it
// keep their turn.
func (s *Store) pickTurn(t *engine.Term) uint32 {
	x := s.tenants
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		if t.Tenant != 0 && t.Tenant != of.id {
			continue
		}
		if ref := s.offer(t, of); ref != none {
			x.pass(of)
			return ref
		}
	}
	return none
}

// pickDeficit takes from the first tenant in turn that can pay for its job. Those that
// have no job for t keep their turn and get nothing.
func (s *Store) pickDeficit(t *engine.Term) uint32 {
	x := s.tenants
	for {
		rounds, asked := int64(math.MaxInt64), 0
		for of, n := x.turn, x.active; n > 0; n-- {
			at := of
			of = of.next
			ref := s.offerTo(t, at)
			if ref == none {
				continue
			}
			asked++
			if !at.granted {
				at.deficit, at.granted = addUp(at.deficit, t.Rule.Quantum), true
			}
			cost := s.cost(t.Rule, s.rows.at(ref))
			if cost <= at.deficit {
				at.deficit -= cost
				return ref
			}
			// Whole rounds from here until it can pay.
			rounds = min(rounds, (cost-at.deficit-1)/t.Rule.Quantum)
			x.pass(at)
		}
		if asked == 0 {
			return none
		}
		if rounds > 0 {
			s.grant(t, rounds)
		}
	}
}

// offerTo is offer for a term that may be of one tenant.
func (s *Store) offerTo(t *engine.Term, of *tenant) uint32 {
	if t.Tenant != 0 && t.Tenant != of.id {
		return none
	}
	return s.offer(t, of)
}

// grant gives the tenants that have a job for t the quanta of rounds in which nobody
// could have paid.
func (s *Store) grant(t *engine.Term, rounds int64) {
	x := s.tenants
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		if s.offerTo(t, of) != none {
			of.deficit = addUp(of.deficit, rounds*t.Rule.Quantum)
		}
	}
}

// cost is what r costs under TenantDeficit.
func (s *Store) cost(rule *engine.Rule, r *row) int64 {
	switch service := s.options.Service; {
	case rule.PerJob:
		return 1
	case len(service) == 0:
		return 1e9
	default:
		return int64(service[min(int(r.kind), len(service)-1)])
	}
}

// pickFair takes the oldest of what the quiet tenants offer; if there is none, what the
// noisy tenant offers that has the fewest jobs in flight, or of several the oldest.
func (s *Store) pickFair(t *engine.Term) uint32 {
	x := s.tenants
	x.halve(s.at)
	if t.Class == engine.AnyClass && t.Kinds == 0 && t.Tenant == 0 && s.running == nil {
		// Each offers its head, and few are noisy.
		if ref := x.firstQuiet(x.root, t.Rule, s.at); ref != none {
			return ref
		}
	}
	quiet, noisy := none, none
	var least int
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		ref := s.offerTo(t, of)
		if ref == none {
			continue
		}
		r := s.rows.at(ref)
		switch {
		case !x.isNoisy(of, t.Rule, s.at):
			if quiet == none || r.before(s.rows.at(quiet)) {
				quiet = ref
			}
		case noisy == none || of.running < least || of.running == least && r.before(s.rows.at(noisy)):
			noisy, least = ref, of.running
		}
	}
	if quiet != none {
		return quiet
	}
	return noisy
}

// firstQuiet returns the first of the heads below at whose tenant is quiet.
func (x *tenants) firstQuiet(at uint32, rule *engine.Rule, now engine.Time) uint32 {
	if at == 0 {
		return none
	}
	n := x.heads.nodes.at(at - 1)
	if ref := x.firstQuiet(n.left, rule, now); ref != none {
		return ref
	}
	if !x.isNoisy(x.jobs.at(at-1).tenant, rule, now) {
		return at - 1
	}
	return x.firstQuiet(n.right, rule, now)
}

func (x *tenants) isNoisy(t *tenant, rule *engine.Rule, now engine.Time) bool {
	if now.Sub(t.enqueuedAt) >= engine.QuietAfter {
		return false
	}
	return t.running >= rule.AtLeast && int64(t.running)*rule.ShareDen > rule.ShareNum*int64(x.running) || t.used > x.used/10
}
