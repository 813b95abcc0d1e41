package memstore

import (
	"context"
	"fmt"
	"time"

	"qsim/engine"
)

// Claim leases ready jobs, see engine.Store. It allocates only to grow dst. The cost of a plan grows with the jobs that
// it takes and the logarithm of those ready, except for terms that ask every tenant with ready jobs: with MaxWait
// beside PerTenant, by TenantDeficit, and by TenantFair where the plan or the options leave jobs out.
func (s *Store) Claim(_ context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	now := s.now()
	plain, err := s.prepareAll(p.Terms)
	if err != nil {
		s.mu.unlock()
		return dst, engine.Forever, err
	}
	left, fresh := p.Limit, p.Limit
	if most := s.options.MaxInFlight; most > 0 && !s.options.CountUnacked {
		left = min(left, most-s.stats.InFlight[engine.Fresh]-s.stats.InFlight[engine.Retry])
	} else if most > 0 {
		fresh = min(fresh, most-s.unacked())
	}
	first := true
	for i := range p.Terms {
		t := &p.Terms[i]
		var special order
		if !plain && !s.isPlain(t) {
			if t.Shed > 0 && t.MaxWait > 0 {
				dst = s.shed(now, t, dst)
			}
			special = s.orderOf(t)
		}
		for n := min(t.Limit, left); n > 0 && s.anyReady(t.Class); n, left = n-1, left-1 {
			if fresh <= 0 && t.Class != engine.Retry {
				if t.Class == engine.Fresh {
					break
				}
				t = s.retriesOf(t)
			}
			ref := none
			if special == nil {
				ref = s.pick(t)
			} else {
				ref = special.pick(t)
			}
			if ref == none {
				break
			}
			r := s.rows.at(ref)
			if first && s.options.CountAhead {
				s.passed = s.countAhead(r)
			}
			first = false
			s.unready(ref, r)
			r.delivery++
			r.charged++
			r.has &^= reaped
			if r.delivery == 1 {
				fresh--
			}
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
	s.mu.unlock()
	return dst, next, nil
}

// prepareAll builds the indexes for the orders of a plan's terms, and reports whether all terms are plain.
func (s *Store) prepareAll(terms []engine.Term) (plain bool, err error) {
	plain = true
	for i := range terms {
		if t := &terms[i]; !s.isPlain(t) {
			plain = false
			if err := s.prepare(t); err != nil {
				return false, fmt.Errorf("claim: term %d: %w", i, err)
			}
			if s.options.CountUnacked && t.Class == engine.AnyClass {
				_ = s.prepare(s.retriesOf(t)) // the term for retries is valid if the plan's is
			}
		}
	}
	return plain, nil
}

// retriesOf returns the term t limited to retries, for a claim that may take no more fresh jobs.
func (s *Store) retriesOf(t *engine.Term) *engine.Term {
	s.retries = *t
	s.retries.Class = engine.Retry
	return &s.retries
}

// unacked returns the number of jobs that were claimed at least once and are neither done nor dead.
func (s *Store) unacked() int {
	st := &s.stats
	return st.InFlight[engine.Fresh] + st.InFlight[engine.Retry] + st.Ready[engine.Retry] + st.Waiting[engine.Retry]
}

// isPlain reports whether a term needs no index beyond the queues of ready jobs.
func (s *Store) isPlain(t *engine.Term) bool {
	return t.Order <= engine.NewestReady && t.Tenant == 0 && t.PerTenant == 0 && t.MaxWait == 0 &&
		(t.Kinds == 0 || s.lines.byKind)
}

// pick returns the first ready row that matches a term, by priority and then by ready key.
func (s *Store) pick(t *engine.Term) uint32 {
	best, bestPriority := none, int16(0)
	var bestRow *row
	newest := t.Order == engine.NewestReady
	for _, i := range s.lines.order {
		l := &s.lines.lanes[i]
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
			ref := q.peek(&s.late, newest)
			r := s.rows.at(ref)
			if best == none || r.before(bestRow) != newest {
				best, bestRow, bestPriority = ref, r, l.priority
			}
		}
	}
	return best
}

// anyReady reports whether a job of a class is ready, even if only behind another of its serial key.
func (s *Store) anyReady(class engine.Class) bool {
	if class != engine.AnyClass {
		return s.stats.Ready[class] > 0
	}
	return s.stats.Ready[engine.Fresh]+s.stats.Ready[engine.Retry] > 0
}

// lend leases a job's row that is in no structure to holder and fills in the lease l.
func (s *Store) lend(ref uint32, r *row, now engine.Time, holder engine.EngineID, ttl time.Duration, l *engine.Lease) {
	s.describe(ref, r, now, l)
	r.token++
	l.Token = engine.Token(r.token)
	*s.holders.reach(ref) = holder
	r.state = engine.InFlight
	s.stats.InFlight[r.class()]++
	s.enlist(ref, r, now.Add(ttl))
}

// enlist adds a job's row that is in no list to the leased ones.
func (s *Store) enlist(ref uint32, r *row, expiry engine.Time) {
	r.key = expiry
	s.leased.insertByKey(&s.rows, ref, r)
	if s.byNode != nil {
		s.byNode.insert(&s.rows, s.nodeOf(ref), ref)
	}
}

// describe fills in the job of the lease l from its row.
func (s *Store) describe(ref uint32, r *row, now engine.Time, l *engine.Lease) {
	// Fields are set one by one: a composite literal would be built elsewhere and
	// copied.
	l.ID, l.Kind, l.Priority, l.Tenant = r.id, r.kind, s.lines.lanes[r.lane].priority, s.tenantOf(ref, r)
	l.Ref = uint32(ref + 1)
	l.Delivery, l.Charged, l.Failures = r.delivery, r.charged, r.failures
	l.Waited, l.Age = now.Sub(r.dueAt), now.Sub(r.enqueuedAt)
	if r.has&hasHistory != 0 {
		h := s.histories.at(ref)
		l.Recoveries, l.Snoozes, l.LastDelay = s.recoveriesOf(h, now), h.snoozes, h.lastDelay
	}
	if s.payloads.chunks != nil {
		l.Payload = *s.payloads.reach(ref)
	}
}
