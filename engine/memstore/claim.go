package memstore

import (
	"context"
	"fmt"
	"time"

	"qsim/engine"
)

// Claim leases ready jobs to a holder by a plan, see engine.Store. It allocates only to grow dst. Its cost grows with
// the jobs taken and the logarithm of those ready, except for terms that visit every tenant with ready jobs: those with
// PerTenant and MaxWait, of order TenantDeficit, or of order TenantFair where some jobs are not eligible.
func (s *Store) Claim(_ context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration,
	dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	var c claim
	c.now, c.holder, c.ttl, c.left, c.fresh, c.dst = s.now(), holder, ttl, p.Limit, p.Limit, dst
	plain := true
	for i := range p.Terms {
		plain = plain && s.isPlain(&p.Terms[i])
	}
	if !plain {
		if err := s.prepareAll(p.Terms); err != nil {
			s.mu.unlock()
			return dst, engine.Forever, err
		}
	}
	if most := s.options.MaxInFlight; most > 0 && !s.options.CountUnacked {
		c.left = min(c.left, most-s.stats.InFlight[engine.Fresh]-s.stats.InFlight[engine.Retry])
	} else if most > 0 {
		c.fresh = min(c.fresh, most-s.unacked())
	}
	for i := range p.Terms {
		t := &p.Terms[i]
		if !plain {
			if t.Shed > 0 && t.MaxWait > 0 {
				s.shed(&c, t)
			}
			c.special = s.orderOf(t)
		}
		for n := min(t.Limit, c.left, s.ready(t.Class)); n > 0; n-- {
			if c.fresh <= 0 && t.Class != engine.Retry {
				if t.Class == engine.Fresh {
					break
				}
				t = s.retriesOf(t)
			}
			ref := uint32(0)
			if c.special == nil {
				ref = s.pick(t)
			} else {
				ref = c.special(s, t)
			}
			if ref == 0 {
				break
			}
			if s.options.CountAhead && !c.counted {
				s.passed, c.counted = s.countAhead(s.rows.at(ref)), true
			}
			r := s.unready(ref)
			c.left--
			if r.delivery == 0 {
				c.fresh--
			}
			r.delivery++
			r.has &^= reaped
			s.lend(&c, ref, r)
			if s.counting {
				s.started(ref, r)
			}
		}
	}
	if s.options.CountAhead && !c.counted {
		s.passed = s.ready(engine.AnyClass)
	}
	next := s.untilDue(c.now)
	s.mu.unlock()
	return c.dst, next, nil
}

// claim is the state of a call that returns leases: of Claim or, with fewer fields, Recover, Expired or LoseLeases.
type claim struct {
	now     engine.Time     // time of the call
	holder  engine.EngineID // engine that gets the leases
	ttl     time.Duration
	left    int            // most jobs that it may still lease
	fresh   int            // most fresh jobs that it may still lease
	counted bool           // whether the jobs before its first one are counted, see StoreOptions.CountAhead
	special order          // order of the present term; nil: the plain one
	dst     []engine.Lease // result so far
}

// lend leases a job, whose row (record) is in no queue or list, to c.holder for c.ttl, and appends the lease to c.dst.
func (s *Store) lend(c *claim, ref uint32, r *row) *engine.Lease {
	r.token++
	r.state = engine.InFlight
	s.stats.InFlight[r.class()]++
	r.holder = c.holder
	s.enlist(ref, r, c.now.Add(c.ttl))
	return s.describe(c, ref, r)
}

// enlist adds a job's row (record), which must be in no list, to the list of leased jobs, in the order of expiry.
func (s *Store) enlist(ref uint32, r *row, expiry engine.Time) {
	r.key = expiry
	s.rows.insertByKey(&s.inFlight[inLeased], &s.rows, ref, r)
	if s.byNode != nil {
		s.byNode.insert(&s.rows, ref, r)
	}
}

// prepareAll builds the search trees that the terms of a claim's plan need; its error names the first invalid term.
func (s *Store) prepareAll(terms []engine.Term) error {
	for i := range terms {
		t := &terms[i]
		if err := s.prepare(t); err != nil {
			return fmt.Errorf("claim: term %d: %w", i, err)
		}
		if s.options.CountUnacked && t.Class == engine.AnyClass {
			_ = s.prepare(s.retriesOf(t)) // the term for retries is valid if the plan's is
		}
	}
	return nil
}

// retriesOf returns a copy of a claim's term restricted to retries, for a claim that may lease no more fresh jobs.
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

// isPlain reports whether a claim's term can be served from the queues of ready jobs alone, without a search tree.
func (s *Store) isPlain(t *engine.Term) bool {
	return t.Order <= engine.NewestReady && t.Tenant == 0 && t.PerTenant == 0 && t.MaxWait == 0 &&
		(t.Kinds == 0 || s.lines.byKind)
}

// pick returns the row of the first ready job that a claim's term (filter, order) selects, by priority, then ready key.
func (s *Store) pick(t *engine.Term) uint32 {
	best, newest := uint32(0), t.Order == engine.NewestReady
	bestPriority := int16(0)
	for _, i := range s.lines.order {
		l := &s.lines.lanes[i]
		if best != 0 && l.priority != bestPriority {
			break
		}
		if l.behind || s.lines.byKind && !s.admits(t, l) {
			continue
		}
		ref := uint32(0)
		if t.Class != engine.AnyClass {
			ref = l.ready[t.Class].peek(&s.late, newest)
		} else {
			ref = s.rows.former(l.ready[engine.Fresh].peek(&s.late, newest), l.ready[engine.Retry].peek(&s.late, newest), newest)
		}
		if ref != 0 && !s.lines.byKind {
			return ref // no other lane has its priority
		}
		best, bestPriority = s.rows.former(best, ref, newest), l.priority
	}
	return best
}

// ready returns the number of ready jobs of a class, those that must wait for an earlier job of their serial key
// included.
func (s *Store) ready(class engine.Class) int {
	if class != engine.AnyClass {
		return s.stats.Ready[class]
	}
	return s.stats.Ready[engine.Fresh] + s.stats.Ready[engine.Retry]
}

// describe appends a lease to the result of call c, filled in from a job's row (record) except for the holder.
func (s *Store) describe(c *claim, ref uint32, r *row) *engine.Lease {
	c.dst = append(c.dst, engine.Lease{})
	l := &c.dst[len(c.dst)-1]
	// Fields are set one by one: a composite literal would be built elsewhere and copied.
	l.ID, l.Kind, l.Priority, l.Tenant = r.id, r.kind, s.lines.lanes[r.lane].priority, r.tenant
	l.Token, l.Ref = engine.Token(r.token), ref
	l.Delivery, l.Charged, l.Failures = r.delivery, r.delivery, r.failures
	l.Waited, l.Age = c.now.Sub(r.dueAt), c.now.Sub(r.enqueuedAt)
	if r.has&hasHistory != 0 {
		h := s.histories.at(ref)
		l.Charged -= h.refunds
		l.Recoveries, l.Snoozes, l.LastDelay = s.recoveriesOf(h, c.now), h.snoozes, h.lastDelay
	}
	if s.payloads.chunks != nil {
		l.Payload = *s.payloads.reach(ref)
	}
	return l
}
