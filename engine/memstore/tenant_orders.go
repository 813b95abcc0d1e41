package memstore

import (
	"math"

	"qsim/engine"
)

// nextCapped is the claim order by priority and ready key with a limit on the jobs that a term takes of each tenant.
func (s *Store) nextCapped(t *engine.Term) uint32 {
	x := s.tenants
	best := uint32(0)
	switch {
	case t.Tenant != 0:
		if of := x.called(t.Tenant); of.takenBy(x.term) < t.PerTenant {
			best = s.search(t, of, false)
		}
	case isTimely(t):
		for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
			if of.takenBy(x.term) >= t.PerTenant {
				continue
			}
			if ref := s.search(t, of, false); ref != 0 && (best == 0 || s.before(t, ref, best, false)) {
				best = ref
			}
		}
	default:
		best = s.firstFront(t)
	}
	if best != 0 {
		x.ofRow(best).take(x.term)
	}
	return best
}

// firstFront returns the row of the next job for a claim's term (filter, order, limit) with a limit per tenant: of the
// first ready jobs of the tenants that have not reached the limit, the one that comes first.
func (s *Store) firstFront(t *engine.Term) uint32 {
	x, f := s.tenants, frontOf(t)
	best := uint32(0)
	for _, i := range s.lines.order {
		l := &s.lines.lanes[i]
		if !s.admits(t, l) {
			continue
		}
		for class, root := range l.cell.fronts[f] {
			if t.Class != engine.AnyClass && t.Class != engine.Class(class) {
				continue
			}
			ref := x.fronts[f].find(root, f == frontNewest, func(ref uint32) bool {
				return x.ofRow(ref).takenBy(x.term) < t.PerTenant
			})
			if ref != 0 && (best == 0 || s.before(t, ref, best, false)) {
				best = ref
			}
		}
	}
	return best
}

// nextInTurn is the claim order TenantRoundRobin: it takes from the next tenant in turn that has a job for a claim's
// term. Tenants passed over keep their turn.
func (s *Store) nextInTurn(t *engine.Term) uint32 {
	x := s.tenants
	of := x.turn
	if s.leavesOut(t) {
		of = s.tenantFor(t)
	}
	if of == nil {
		for i := range s.lines.lanes {
			l := &s.lines.lanes[i]
			for class, root := range l.cell.fronts[frontInTurn] {
				if root == 0 || !s.admits(t, l) || t.Class != engine.AnyClass && t.Class != engine.Class(class) {
					continue
				}
				if first := x.ofRow(x.fronts[frontInTurn].end(root, false)); of == nil || first.turn < of.turn {
					of = first
				}
			}
		}
	}
	if of == nil {
		return 0
	}
	ref := s.search(t, of, false)
	if ref != 0 {
		x.pass(of)
	}
	return ref
}

// nextByDeficit is the claim order TenantDeficit (round robin): it takes from the next tenant in turn whose credit pays
// for its job. Tenants without a job for a claim's term (filter, order, limit) keep their turn and get no credit.
func (s *Store) nextByDeficit(t *engine.Term) uint32 {
	x := s.tenants
	for pass := 1; ; pass++ {
		if pass > 3 {
			panic("memstore: no tenant can pay for its job, whatever it is granted")
		}
		rounds, asked := int64(math.MaxInt64), 0
		for of, n := x.turn, x.active; n > 0; n-- {
			at := of
			of = of.next
			ref := s.offerTo(t, at)
			if ref == 0 {
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
			return 0
		}
		if rounds > 0 {
			s.grant(t, rounds)
		}
	}
}

// offerTo returns the row of the next ready job of a tenant that a claim's term (filter and order) may take, or none.
func (s *Store) offerTo(t *engine.Term, of *tenant) uint32 {
	if t.Tenant != 0 && t.Tenant != of.id {
		return 0
	}
	return s.search(t, of, false)
}

// grant gives each tenant with a job for a claim's term the quanta of several rounds, in which none could pay for one.
func (s *Store) grant(t *engine.Term, rounds int64) {
	x := s.tenants
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		if s.offerTo(t, of) != 0 {
			of.deficit = addUp(of.deficit, rounds*t.Rule.Quantum)
		}
	}
}

// cost returns the cost of a job under the order TenantDeficit, in the unit of Rule.Quantum: nanoseconds or jobs.
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

// nextByNoise is the claim order TenantFair: it takes the oldest of the first jobs of quiet tenants (see isNoisy) or,
// if there is none, that of the noisy tenant with the fewest jobs in flight, on a tie the oldest.
func (s *Store) nextByNoise(t *engine.Term) uint32 {
	x := s.tenants
	x.halve(s.at)
	if !s.leavesOut(t) {
		// Each offers its head, and few are noisy.
		ref := x.heads.find(x.root, false, func(ref uint32) bool { return !x.isNoisy(x.ofRow(ref), t.Rule, s.at) })
		if ref != 0 {
			return ref
		}
	}
	quiet, noisy := uint32(0), uint32(0)
	var least int
	for of, n := x.turn, x.active; n > 0; of, n = of.next, n-1 {
		ref := s.offerTo(t, of)
		if ref == 0 {
			continue
		}
		r := s.rows.at(ref)
		switch {
		case !x.isNoisy(of, t.Rule, s.at):
			if quiet == 0 || r.before(s.rows.at(quiet)) {
				quiet = ref
			}
		case noisy == 0 || of.running < least || of.running == least && r.before(s.rows.at(noisy)):
			noisy, least = ref, of.running
		}
	}
	if quiet != 0 {
		return quiet
	}
	return noisy
}

func (x *tenants) isNoisy(t *tenant, rule *engine.Rule, now engine.Time) bool {
	if now.Sub(t.enqueuedAt) >= quietAfter {
		return false
	}
	runsMost := t.running >= rule.AtLeast && int64(t.running)*rule.ShareDen > rule.ShareNum*int64(x.running)
	return runsMost || x.usedBy(t) > x.used/10
}
