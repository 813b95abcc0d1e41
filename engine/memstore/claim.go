package memstore

import (
	"context"
	"fmt"
	"time"

	"qsim/engine"
)

// Claim leases ready jobs as engine.Store says. It allocates only to grow dst. What a
// plan costs follows the jobs that it takes, but for terms that ask for two orders at
// once, such as the longest waiting job of one tenant: these look at every job.
func (s *Store) Claim(_ context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for i := range p.Terms {
		if t := &p.Terms[i]; t.Order > engine.NewestReady || t.Tenant != 0 || t.PerTenant != 0 || t.MaxWait != 0 {
			if err := s.prepare(t); err != nil {
				return dst, engine.Forever, fmt.Errorf("claim: term %d: %w", i, err)
			}
		}
	}
	left := p.Limit
	if most := s.options.MaxInFlight; most > 0 {
		left = min(left, most-s.stats.InFlight[engine.Fresh]-s.stats.InFlight[engine.Retry])
	}
	first := true
	for i := range p.Terms {
		t := &p.Terms[i]
		find := inLanes
		if t.Order > engine.NewestReady || t.Tenant != 0 || t.PerTenant != 0 || t.MaxWait != 0 {
			find = s.finder(t)
			if t.Late == engine.ShedLate && t.MaxWait > 0 {
				dst = s.shed(now, t, dst)
			}
		}
		for n := min(t.Limit, left); n > 0; n-- {
			ref := none
			if find == inLanes {
				ref = s.pick(t)
			} else {
				ref = s.find(find, t)
			}
			if ref == none {
				break
			}
			left--
			r := s.rows.at(ref)
			if first && s.options.CountAhead {
				s.passed = s.countAhead(r)
			}
			first = false
			s.unready(ref, r)
			r.delivery++
			r.charged++
			r.reaped = false
			dst = append(dst, engine.Lease{})
			s.lend(ref, r, now, holder, ttl, &dst[len(dst)-1])
			if s.counting {
				s.started(ref, r)
			}
		}
	}
	if first && s.options.CountAhead {
		s.passed = s.stats.Ready[engine.Fresh] + s.stats.Ready[engine.Retry]
	}
	next := engine.Forever
	if due := s.nextDue(); due != engine.Never {
		next = due.Sub(now)
	}
	return dst, next, nil
}

// prepare checks a term that asks for more than priority and place, and builds what it
// needs.
func (s *Store) prepare(t *engine.Term) error {
	byPlace := t.Order <= engine.NewestReady
	switch {
	case t.Order > engine.TenantFair:
		return fmt.Errorf("order %d: %w", t.Order, engine.ErrUnsupported)
	case t.PerTenant < 0 || t.MaxWait < 0:
		return fmt.Errorf("%d per tenant, wait of %v: neither may be negative", t.PerTenant, t.MaxWait)
	case t.PerTenant > 0 && !byPlace || t.MaxWait > 0 && t.Order != engine.OldestReady:
		return fmt.Errorf("%d per tenant, wait of %v, order %v: %w", t.PerTenant, t.MaxWait, t.Order, engine.ErrUnsupported)
	case t.Order == engine.Aging && (t.Rule == nil || t.Rule.Every <= 0),
		t.Order == engine.Deadline && t.Rule == nil,
		t.Order == engine.TenantDeficit && (t.Rule == nil || t.Rule.Quantum < 1),
		t.Order == engine.TenantFair && (t.Rule == nil || t.Rule.ShareDen < 1):
		return fmt.Errorf("order %v: its rule is missing or impossible", t.Order)
	}
	if s.tenants == nil && (t.Order.ByTenant() || t.Tenant != 0 || t.PerTenant > 0) {
		s.newTenants()
	}
	if t.Order == engine.TenantFair && s.tenants.heads == nil {
		s.tenants.newHeads()
	}
	if s.byDue == nil && (t.Order == engine.Aging || t.MaxWait > 0) {
		s.byDue = s.newSide(sideByDue)
	}
	if s.byAge == nil && t.Order == engine.Deadline {
		s.byAge = s.newSide(sideByAge)
	}
	s.special = s.byDue != nil || s.byAge != nil || s.tenants != nil
	return nil
}

// finder says where a term looks for its next job.
type finder uint8

const (
	inLanes    finder = iota // by priority, first or last in line
	inAnyLane                // first in line, whatever the priority
	inTime                   // as inLanes, of those that have not waited too long
	byAging                  //
	byDeadline               //
	inTenants                // as inLanes, by tenant
	inTurn                   //
	byDeficit                //
	byNoise                  // of the quiet tenants, then of the noisy ones
	everywhere               // looks at every ready job
)

// finder returns where t looks, and begins anew to count what it takes of each tenant.
func (s *Store) finder(t *engine.Term) finder {
	timely := t.MaxWait > 0 && t.Late == engine.LeaveLate
	ofTenants := t.Tenant != 0 || t.PerTenant > 0
	if ofTenants {
		s.tenants.term++
	}
	switch {
	case t.Order == engine.TenantRoundRobin:
		return inTurn
	case t.Order == engine.TenantDeficit:
		return byDeficit
	case t.Order == engine.TenantFair:
		return byNoise
	case ofTenants && !timely && t.Order <= engine.NewestReady:
		return inTenants
	case ofTenants:
		return everywhere
	case timely:
		return inTime
	case t.Order == engine.Aging:
		return byAging
	case t.Order == engine.Deadline:
		return byDeadline
	case t.Order == engine.OldestOfAny:
		return inAnyLane
	}
	return inLanes
}

// find returns the ready row that t takes next, or none. What is found is taken: a
// tenant may have lost its turn by it.
func (s *Store) find(f finder, t *engine.Term) uint32 {
	switch f {
	case inLanes:
		return s.pick(t)
	case inAnyLane, inTime, byAging, byDeadline:
		return s.pickSide(f, t)
	case inTenants:
		return s.pickOfTenants(t)
	case inTurn:
		return s.pickTurn(t)
	case byDeficit:
		return s.pickDeficit(t)
	case byNoise:
		return s.pickFair(t)
	}
	return s.pickAnywhere(t)
}

// pick returns the first ready row that matches t, by priority and then by place.
func (s *Store) pick(t *engine.Term) uint32 {
	best, bestPriority := none, int16(0)
	var bestRow *row
	for _, i := range s.order {
		l := &s.lanes[i]
		if best != none && l.priority != bestPriority {
			break
		}
		if !t.Kinds.Has(l.kind) || s.running != nil && s.full(l.kind) {
			continue
		}
		for c := range l.ready {
			q := &l.ready[c]
			if q.size == 0 || t.Class != engine.AnyClass && t.Class != engine.Class(c) {
				continue
			}
			ref := q.peek(&s.rows, t.Order)
			r := s.rows.at(ref)
			if best == none || r.before(bestRow) == (t.Order != engine.NewestReady) {
				best, bestRow, bestPriority = ref, r, l.priority
			}
		}
	}
	return best
}

// pickSide asks every lane for its first row in the order that f stands for, and
// returns the first of those.
func (s *Store) pickSide(f finder, t *engine.Term) uint32 {
	best := none
	for _, i := range s.order {
		l := &s.lanes[i]
		if !t.Kinds.Has(l.kind) || s.full(l.kind) {
			continue
		}
		if f == inTime && best != none && s.rows.at(best).priority != l.priority {
			break
		}
		for c := range l.ready {
			if l.ready[c].size == 0 || t.Class != engine.AnyClass && t.Class != engine.Class(c) {
				continue
			}
			ref := none
			switch f {
			case inAnyLane:
				ref = l.ready[c].peek(&s.rows, engine.OldestReady)
			case inTime:
				ref = s.byDue.since(s.byDue.root(i, c), s.at.Add(-t.MaxWait))
			case byAging:
				ref = s.byDue.end(s.byDue.root(i, c), false)
			case byDeadline:
				ref = s.byAge.end(s.byAge.root(i, c), false)
			}
			if ref != none && (best == none || s.before(t, s.rows.at(ref), s.rows.at(best))) {
				best = ref
			}
		}
	}
	return best
}

// before reports whether t, whose order is not one by tenant, takes a before b.
func (s *Store) before(t *engine.Term, a, b *row) bool {
	switch t.Order {
	case engine.OldestOfAny:
		return a.before(b)
	case engine.Aging:
		p, q := s.agedPriority(t.Rule, a), s.agedPriority(t.Rule, b)
		if p == q {
			p, q = int64(a.dueAt), int64(b.dueAt)
		}
		return p < q || p == q && a.id < b.id
	case engine.Deadline:
		p, q := deadline(t.Rule, a), deadline(t.Rule, b)
		if p == q {
			p, q = a.enqueuedAt, b.enqueuedAt
		}
		return p < q || p == q && a.id < b.id
	}
	if a.priority != b.priority {
		return a.priority < b.priority
	}
	return a.before(b) == (t.Order != engine.NewestReady)
}

// agedPriority is the priority of r less what it has gained by waiting.
func (s *Store) agedPriority(rule *engine.Rule, r *row) int64 {
	gained := max(0, int64(s.at.Sub(r.dueAt)/rule.Every))
	if rule.Cap > 0 {
		gained = min(gained, rule.Cap)
	}
	return int64(r.priority) - gained
}

// deadline is when r should have been claimed.
func deadline(rule *engine.Rule, r *row) engine.Time {
	if len(rule.Budgets) == 0 {
		return r.enqueuedAt
	}
	return r.enqueuedAt.Add(rule.Budgets[min(int(r.kind), len(rule.Budgets)-1)])
}

// pickAnywhere looks at every row: for terms of a tenant in an order of their own.
func (s *Store) pickAnywhere(t *engine.Term) uint32 {
	best := none
	timely := t.MaxWait > 0 && t.Late == engine.LeaveLate
	s.eachReady(func(ref uint32, r *row) {
		switch {
		case !s.matches(t, r), timely && s.at.Sub(r.dueAt) > t.MaxWait, t.PerTenant > 0 && s.tenants.of(r.tenant).takenBy(s.tenants.term) >= t.PerTenant:
		case best == none || s.before(t, r, s.rows.at(best)):
			best = ref
		}
	})
	if best != none && t.PerTenant > 0 {
		s.tenants.of(s.rows.at(best).tenant).take(s.tenants.term)
	}
	return best
}

// matches reports whether t may take the ready row r.
func (s *Store) matches(t *engine.Term, r *row) bool {
	return (t.Class == engine.AnyClass || t.Class == r.class()) && t.Kinds.Has(r.kind) && (t.Tenant == 0 || t.Tenant == r.tenant) && !s.full(r.kind)
}

// lend leases a row that is in no index to holder and describes it in l.
func (s *Store) lend(ref uint32, r *row, now engine.Time, holder engine.EngineID, ttl time.Duration, l *engine.Lease) {
	s.describe(ref, r, now, l)
	r.token++
	l.Token = r.token
	r.state, r.holder, r.key = engine.InFlight, holder, now.Add(ttl)
	s.stats.InFlight[r.class()]++
	s.leased.insertByKey(&s.rows, ref)
}

// describe fills in the job of l.
func (s *Store) describe(ref uint32, r *row, now engine.Time, l *engine.Lease) {
	// Fields are set one by one: a composite literal would be built elsewhere and
	// copied.
	l.ID, l.Kind, l.Priority, l.Tenant, l.Delivery, l.Charged = r.id, r.kind, r.priority, r.tenant, r.delivery, r.charged
	l.Failures, l.Recoveries, l.Snoozes, l.LastDelay = r.failures, r.recoveries, r.snoozes, r.lastDelay
	l.Ref = engine.Ref(ref + 1)
	l.Waited, l.Age = now.Sub(r.dueAt), now.Sub(r.enqueuedAt)
	if s.options.RecoveriesWithin > 0 {
		l.Recoveries = s.recoveriesOf(r, now)
	}
	if s.payloads.chunks != nil {
		l.Payload = *s.payloads.reach(ref)
	}
}
