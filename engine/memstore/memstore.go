// Package memstore keeps jobs in memory. It is the reference semantics of
// engine.Store: the simulation runs on it, and other stores are tested against
// it. It forgets a job when it ends, so its memory follows the live jobs.
package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"qsim/engine"
)

// Store is an in-memory engine.Store with its own clock.
type Store struct {
	mu      mutex
	clock   func() engine.Time
	options engine.StoreOptions

	rows  rows
	index index

	lanes   []lane   // append-only: rows refer to them by index
	order   []uint16 // lanes by (priority, kind)
	byKey   map[laneKey]uint16
	latest  uint16 // lane of the latest job
	waiting waiting
	leased  list // by expiry
	lapsed  list // taken from their holders, not yet handed to a reaper

	stats   engine.Stats
	leaders [engine.NumRoles]leader
	batches []*answered // by node; nil: it has committed nothing
}

// mutex locks only in a store that is shared.
type mutex struct {
	sync.Mutex
	shared bool
}

func (m *mutex) lock() {
	if m.shared {
		m.Lock()
	}
}

func (m *mutex) unlock() {
	if m.shared {
		m.Unlock()
	}
}

type laneKey struct {
	priority int16
	kind     engine.Kind
}

// lane holds the ready jobs of one priority and kind.
type lane struct {
	laneKey
	ready [engine.NumClasses]queue
}

// New returns an empty store that reads time from clock, which must not go
// backwards. It is safe for concurrent use.
func New(clock func() engine.Time, options engine.StoreOptions) *Store {
	s := NewSingle(clock, options)
	s.mu.shared = true
	return s
}

// NewSingle is New for a store that only one goroutine uses, such as a
// simulation's: it does without locking.
func NewSingle(clock func() engine.Time, options engine.StoreOptions) *Store {
	s := &Store{clock: clock, options: options, byKey: make(map[laneKey]uint16)}
	s.index.init()
	s.waiting.init(&s.rows)
	return s
}

// Enqueue adds jobs, all or none. IDs of jobs that are live must be unique; an
// ended job is forgotten, so its ID is not recognised.
func (s *Store) Enqueue(_ context.Context, jobs []engine.NewJob) error {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for i := range jobs {
		if err := s.add(now, &jobs[i]); err != nil {
			for _, added := range jobs[:i] {
				s.drop(s.index.find(&s.rows, added.ID))
			}
			return err
		}
	}
	return nil
}

func (s *Store) add(now engine.Time, j *engine.NewJob) error {
	if j.ID == 0 || j.Delay < 0 {
		return fmt.Errorf("enqueue job %d, delay %v: the ID must not be 0, the delay not negative", j.ID, j.Delay)
	}
	if s.index.find(&s.rows, j.ID) != none {
		return fmt.Errorf("enqueue job %d: %w", j.ID, engine.ErrDuplicate)
	}
	ref := s.rows.alloc()
	r := s.rows.at(ref)
	r.id, r.kind, r.priority, r.tenant, r.payload = j.ID, j.Kind, j.Priority, j.Tenant, j.Payload
	r.enqueuedAt, r.lane = now, s.laneOf(laneKey{j.Priority, j.Kind})
	s.index.insert(j.ID, ref)
	if j.Delay > 0 {
		s.toWaiting(ref, r, now.Add(j.Delay))
	} else {
		s.toReady(ref, r, now, now)
	}
	return nil
}

func (s *Store) laneOf(k laneKey) uint16 {
	if int(s.latest) < len(s.lanes) && s.lanes[s.latest].laneKey == k {
		return s.latest
	}
	if i, ok := s.byKey[k]; ok {
		s.latest = i
		return i
	}
	i := uint16(len(s.lanes))
	s.lanes = append(s.lanes, lane{laneKey: k})
	s.byKey[k] = i
	at, _ := slices.BinarySearchFunc(s.order, k, func(have uint16, want laneKey) int {
		if d := int(s.lanes[have].priority) - int(want.priority); d != 0 {
			return d
		}
		return int(s.lanes[have].kind) - int(want.kind)
	})
	s.order = slices.Insert(s.order, at, i)
	return i
}

// Claim leases ready jobs as engine.Store says. It allocates only to grow dst.
func (s *Store) Claim(_ context.Context, holder engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	for i := range p.Terms {
		if p.Terms[i].Tenant != 0 || p.Terms[i].PerTenant != 0 {
			return dst, engine.Forever, fmt.Errorf("claim: terms by tenant: %w", engine.ErrUnsupported)
		}
	}
	left := p.Limit
	for i := range p.Terms {
		t := &p.Terms[i]
		for n := min(t.Limit, left); n > 0; n-- {
			ref := s.pick(t)
			if ref == none {
				break
			}
			left--
			r := s.rows.at(ref)
			s.unready(ref, r)
			r.delivery++
			r.charged++
			dst = append(dst, engine.Lease{})
			s.lend(ref, r, now, holder, ttl, &dst[len(dst)-1])
		}
	}
	next := engine.Forever
	if due := s.nextDue(); due != engine.Never {
		next = due.Sub(now)
	}
	return dst, next, nil
}

// pick returns the first ready row that matches t, or none.
func (s *Store) pick(t *engine.Term) uint32 {
	best, bestPriority := none, int16(0)
	var bestRow *row
	for _, i := range s.order {
		l := &s.lanes[i]
		if best != none && l.priority != bestPriority {
			break
		}
		if !t.Kinds.Has(l.kind) {
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

// lend leases a row that is in no index to holder and describes it in l.
func (s *Store) lend(ref uint32, r *row, now engine.Time, holder engine.EngineID, ttl time.Duration, l *engine.Lease) {
	l.Job = engine.Job{ID: r.id, Kind: r.kind, Priority: r.priority, Tenant: r.tenant, Delivery: r.delivery, Charged: r.charged,
		Failures: r.failures, LastDelay: r.lastDelay, Waited: now.Sub(r.dueAt), Age: now.Sub(r.enqueuedAt), Payload: r.payload}
	r.token++
	l.Token = r.token
	r.state, r.holder, r.key = engine.InFlight, holder, now.Add(ttl)
	s.stats.InFlight[r.class()]++
	s.leased.insertByKey(&s.rows, ref)
}

// Stats counts jobs exactly, whatever the limit: it has the counts at hand. Of each
// priority and kind it looks at the job that is first in line.
func (s *Store) Stats(context.Context, int) (engine.Stats, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	st := s.stats
	for c := range engine.NumClasses {
		for i := range s.lanes {
			if q := &s.lanes[i].ready[c]; q.size > 0 {
				first := s.rows.at(q.peek(&s.rows, engine.OldestReady))
				st.OldestReady[c] = max(st.OldestReady[c], now.Sub(first.dueAt))
			}
		}
	}
	return st, nil
}

// Lead makes e the leader for role unless another one is.
func (s *Store) Lead(_ context.Context, role engine.Role, e engine.EngineID, ttl time.Duration) (bool, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	l := &s.leaders[role]
	if l.held && l.engine != e && now < l.until {
		return false, nil
	}
	*l = leader{e, true, now.Add(ttl)}
	return true, nil
}

type leader struct {
	engine engine.EngineID
	held   bool
	until  engine.Time
}

// now reads the clock and does what is due by then: leases lapse first, then
// waiting jobs become ready.
func (s *Store) now() engine.Time {
	now := s.clock()
	if s.options.LapseAfter >= 0 {
		s.lapse(now)
	}
	if !s.options.Promoted && len(s.waiting.heap) > 0 && s.waiting.heap[0].dueAt <= now {
		for s.promoteOne(now) != none {
		}
	}
	return now
}

var _ engine.Store = (*Store)(nil)
