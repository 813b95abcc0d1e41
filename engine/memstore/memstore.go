// Package memstore keeps jobs in memory. It is the reference implementation of engine.Store: the simulation runs on it,
// and other stores are tested against it. It deletes a job that ends, unless it is told to keep the dead.
//
// A row is the record of one job, addressed by number. Ready rows are ordered by priority and then by ready key, by
// default the time at which the job became ready. A lane holds the ready rows of one priority, or of one priority and
// kind. A plan is the list of terms (filter, order and limit) by which a claim selects jobs.
//
// Every feature beyond priorities, kinds and classes has separate structures, built at its first use: other claim
// orders (orders.go), tenants (tenants.go), serial keys (serial.go), leases by node, ages of ready jobs, jobs by ID.
// Unused, a feature costs one branch; its first use takes time for each job, with 10^6 jobs 50 ms for those by ID.
package memstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"qsim/engine"
)

// Store is an in-memory engine.Store with its own clock, which also has the extensions that package engine defines.
type Store struct {
	mu      mutex
	clock   func() engine.Time
	at      engine.Time // latest reading of the clock
	options engine.StoreOptions

	rows      rows
	index     index
	histories slab[history]
	payloads  slab[[]byte]

	lines    lines
	late     treap // trees of ready rows that arrived out of order
	waiting  waiting
	inFlight [3]list    // rows in flight, by their place: inLeased, inLapsed, inOrphans
	dead     list       // dead jobs that are kept
	byNode   *nodeLists // leased rows by the holder's node; nil: not needed yet

	special  bool  // whether there are indexes, tenants or trees by age
	counting bool  // whether running or tenants count the jobs in flight, or their number is limited
	running  []int // by kind, number of jobs in flight without a reaper; nil: no limit needs it
	serials  serials
	indexes  indexes // search trees of all ready jobs
	tenants  *tenants
	passed   int         // number of ready jobs before the first that the latest claim took
	retries  engine.Term // scratch memory for the term of the present claim, limited to retries
	scratch  []uint32

	stats   engine.Stats
	leaders [engine.NumOps]leader // by role
	batches []answered            // answers to commits by node
	lives   []uint32              // by node, number of calls of NextLife
}

// mutex is the store's lock; its release also wakes the listeners if the holder has set the flags for that. In a store
// with a single user it does nothing. The methods that simulations call most release it without defer, which would add
// a twentieth to the store's instructions.
type mutex struct {
	sync.Mutex
	shared    bool
	ready     int  // number of jobs that have become claimable, perhaps
	sooner    bool // a waiting job is due earlier than all others
	listeners []*listener
}

func (m *mutex) lock() {
	if m.shared {
		m.Lock()
	}
}

func (m *mutex) unlock() {
	if m.shared {
		m.release()
	}
}

func (m *mutex) release() {
	if (m.ready > 0 || m.sooner) && m.listeners != nil {
		m.tell()
	} else {
		m.Unlock()
	}
}

// New returns an empty store that reads time from clock, which must not go backwards. It is safe for concurrent use. It
// keeps the slices of options.
func New(clock func() engine.Time, options engine.StoreOptions) *Store {
	s := NewSingle(clock, options)
	s.mu.shared = true
	return s
}

// NewSingle returns a store as New does, for use by a single goroutine, such as a simulation's: it does no locking.
func NewSingle(clock func() engine.Time, options engine.StoreOptions) *Store {
	options = options.Complete()
	s := &Store{clock: clock, options: options}
	s.waiting.heap.Init()
	s.late = treap{rows: &s.rows, counts: options.CountAhead}
	if slices.ContainsFunc(options.MaxRunning, func(most int) bool { return most > 0 }) {
		s.running = make([]int, len(options.MaxRunning))
		s.lines.byKind = true
	}
	s.counting = s.running != nil || options.MaxInFlight > 0
	return s
}

// Enqueue adds jobs, all or none. IDs of live jobs must be unique; an ended job is deleted, so that its ID may return,
// unless it is dead and StoreOptions.KeepDead is set.
func (s *Store) Enqueue(_ context.Context, jobs []engine.NewJob) error {
	s.mu.lock()
	now := s.now()
	for i := range jobs {
		if err := s.add(now, &jobs[i]); err != nil {
			for _, added := range jobs[:i] {
				ref := s.index.find(&s.rows, added.ID)
				s.unplace(ref, s.rows.at(ref))
				s.forget(ref, s.rows.at(ref))
			}
			s.mu.unlock()
			return err
		}
	}
	if s.tenants != nil {
		for i := range jobs {
			s.tenants.called(jobs[i].Tenant).enqueuedAt = now
		}
	}
	s.mu.unlock()
	return nil
}

func (s *Store) add(now engine.Time, j *engine.NewJob) error {
	if j.ID == 0 || j.Delay < 0 {
		return fmt.Errorf("enqueue job %d, delay %v: the ID must not be 0, the delay not negative", j.ID, j.Delay)
	}
	if j.Unique != "" {
		return fmt.Errorf("enqueue job %d: a unique key: %w", j.ID, engine.ErrUnsupported)
	}
	ref, r := s.rows.alloc()
	if !s.index.add(&s.rows, j.ID, ref) {
		s.rows.release(ref, r)
		return fmt.Errorf("enqueue job %d: %w", j.ID, engine.ErrDuplicate)
	}
	r.id, r.kind, r.tenant, r.enqueuedAt = j.ID, j.Kind, j.Tenant, now
	if j.Payload != nil || s.payloads.chunks != nil {
		*s.payloads.reach(ref) = j.Payload
	}
	behind := false
	if j.Serial != 0 {
		r.has |= hasSerial
		behind = s.serials.join(ref, j.Serial)
	}
	r.lane = s.lines.of(j.Priority, j.Kind, behind)
	if j.Delay > 0 {
		s.toWaiting(ref, r, now.Add(j.Delay), now, engine.PlaceDefault)
	} else {
		s.toReadyAt(ref, r, now, now)
	}
	return nil
}

// Stats counts jobs exactly, whatever the limit, since the counts are kept up to date. The jobs that became ready first
// are the first of the queues or, once a job has had another place, those of search trees by age, kept from then on.
func (s *Store) Stats(context.Context, int) (engine.Stats, error) {
	s.mu.lock()
	defer s.mu.unlock()
	now := s.now()
	if s.lines.moved {
		s.keep(&s.indexes, sortByDue, nil)
	}
	st := s.stats
	for i := range s.lines.lanes {
		l := &s.lines.lanes[i]
		for c := range engine.NumClasses {
			if l.ready[c].size == 0 {
				continue
			}
			first := l.ready[c].peek(&s.late, false)
			if s.lines.moved {
				first = s.indexes[sortByDue].end(l.cell.roots[sortByDue][c], false)
			}
			st.OldestReady[c] = max(st.OldestReady[c], now.Sub(s.rows.at(first).dueAt))
		}
	}
	return st, nil
}

// Lead makes engine e the leader for a role until ttl has passed and returns true, or false if another engine leads.
func (s *Store) Lead(_ context.Context, role engine.Op, e engine.EngineID, ttl time.Duration) (bool, error) {
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

// now returns the store's time, after the changes due by then: leases lapse first, then waiting jobs become ready.
func (s *Store) now() engine.Time {
	now := s.clock()
	s.at = now
	if s.options.LapseAfter >= 0 {
		s.lapse(now)
	}
	if now >= s.waiting.heap.First && !s.options.Promoted {
		s.eachDue(now, func(ref uint32, r *row) { s.fromWaiting(ref, r, now) })
	}
	return now
}

var (
	_ engine.Store   = (*Store)(nil)
	_ engine.TwoStep = (*Store)(nil)
)
