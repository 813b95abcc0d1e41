package memstore

import (
	"math"
	"slices"

	"qsim/engine"
)

// tenants keeps the ready jobs of each tenant, whose turn it is, and what each has in
// flight and has used.
type tenants struct {
	rows *rows
	by   map[engine.TenantID]*tenant
	all  []*tenant // in the order in which they were met
	// ready are the ready rows that may be claimed by (ready key, ID). The trees are
	// those of the cells.
	ready   side
	heads   *side  // the first ready row of each tenant by (ready key, ID); nil: nobody has asked
	root    uint32 // of heads
	jobs    slab[tenantJob]
	turn    *tenant // the first of those with ready jobs: links in a ring
	active  int     // how many those are
	running int     // jobs in flight that no reaper holds
	used    int64   // processing time of all tenants, see engine.RecentHalfLife
	halved  int64   // how often that has been halved
	term    uint64  // numbers the terms that count what they take
}

// tenantJob is what is kept of a live job.
type tenantJob struct {
	tenant    *tenant
	claimedAt engine.Time
}

// tenant is one of them.
type tenant struct {
	id         engine.TenantID
	cells      []cell
	ready      int
	head       uint32 // in heads: row + 1
	running    int
	used       int64 // nanoseconds, while it has ready jobs
	enqueuedAt engine.Time
	prev, next *tenant // in the ring, if ready > 0
	deficit    int64
	granted    bool   // it has its quantum for this turn
	term       uint64 // that took from it last
	taken      int    // how many that took
}

// cell holds the ready rows of one tenant and lane.
type cell struct {
	lane  uint16
	roots [engine.NumClasses]uint32
}

// newTenants begins to keep tenants. They come to turn in the order of their longest
// waiting jobs, and have used nothing.
func (s *Store) newTenants() {
	x := &tenants{rows: &s.rows, by: map[engine.TenantID]*tenant{}, ready: side{rows: &s.rows, order: sideByKey}}
	x.halved = halvings(s.at)
	var line []uint32
	s.eachReady(func(ref uint32, _ *row) { line = append(line, ref) })
	byDue := side{order: sideByDue}
	slices.SortFunc(line, func(a, b uint32) int {
		if byDue.before(s.rows.at(a), s.rows.at(b)) {
			return -1
		}
		return 1
	})
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.state != engine.NoState && r.state != engine.Dead {
			t := x.of(r.tenant)
			t.enqueuedAt = max(t.enqueuedAt, r.enqueuedAt)
			if r.state == engine.InFlight && !r.reaped {
				x.started(ref, r, s.at)
			}
		}
	}
	for _, ref := range line {
		r := s.rows.at(ref)
		x.join(ref, r, r.class())
	}
	s.tenants, s.counting = x, true
}

// of returns the tenant of that ID.
func (x *tenants) of(id engine.TenantID) *tenant {
	t := x.by[id]
	if t == nil {
		t = &tenant{id: id}
		x.by[id] = t
		x.all = append(x.all, t)
	}
	return t
}

func (t *tenant) cell(lane uint16) *cell {
	for i := range t.cells {
		if t.cells[i].lane == lane {
			return &t.cells[i]
		}
	}
	t.cells = append(t.cells, cell{lane: lane})
	return &t.cells[len(t.cells)-1]
}

func (x *tenants) join(ref uint32, r *row, c engine.Class) {
	t := x.of(r.tenant)
	x.jobs.reach(ref).tenant = t
	x.ready.insert(&t.cell(r.lane).roots[c], ref)
	if t.ready++; t.ready == 1 {
		x.enter(t)
	}
	if x.heads != nil {
		x.lead(t)
	}
}

func (x *tenants) leave(ref uint32, r *row, c engine.Class) {
	t := x.jobs.at(ref).tenant
	x.ready.remove(&t.cell(r.lane).roots[c], ref)
	if x.heads != nil {
		x.lead(t)
	}
	if t.ready--; t.ready == 0 {
		x.exit(t)
		t.deficit, t.granted, t.used = 0, false, 0
	}
}

// newHeads begins to keep the heads in order.
func (x *tenants) newHeads() {
	x.heads = &side{rows: x.rows, order: sideByKey}
	for _, t := range x.all {
		x.lead(t)
	}
}

// lead puts into heads what comes first of t now, by priority and then by place.
func (x *tenants) lead(t *tenant) {
	best := none
	for i := range t.cells {
		for _, root := range t.cells[i].roots {
			if root == 0 {
				continue
			}
			ref := x.ready.end(root, false)
			r := x.rows.at(ref)
			if best == none || r.priority < x.rows.at(best).priority || r.priority == x.rows.at(best).priority && r.before(x.rows.at(best)) {
				best = ref
			}
		}
	}
	if best+1 == t.head {
		return
	}
	if t.head != 0 {
		x.heads.remove(&x.root, t.head-1)
	}
	if t.head = best + 1; best != none {
		x.heads.insert(&x.root, best)
	}
}

// enter puts t at the end of the ring.
func (x *tenants) enter(t *tenant) {
	x.active++
	if x.turn == nil {
		x.turn, t.prev, t.next = t, t, t
		return
	}
	t.prev, t.next = x.turn.prev, x.turn
	t.prev.next, t.next.prev = t, t
}

func (x *tenants) exit(t *tenant) {
	x.active--
	t.prev.next, t.next.prev = t.next, t.prev
	if x.turn == t {
		if x.turn = t.next; x.active == 0 {
			x.turn = nil
		}
	}
	t.prev, t.next = nil, nil
}

// pass puts t at the end of the ring: its turn is over.
func (x *tenants) pass(t *tenant) {
	t.granted = false
	if x.turn == t {
		x.turn = t.next
		return
	}
	x.exit(t)
	x.enter(t)
}

func (x *tenants) started(ref uint32, r *row, now engine.Time) {
	t := x.of(r.tenant)
	*x.jobs.reach(ref) = tenantJob{t, now}
	t.running++
	x.running++
}

func (x *tenants) stopped(ref uint32, _ *row, now engine.Time) {
	j := x.jobs.at(ref)
	t := j.tenant
	t.running--
	x.running--
	x.halve(now)
	ran := int64(now.Sub(j.claimedAt))
	x.used = addUp(x.used, ran)
	if t.ready > 0 {
		t.used = addUp(t.used, ran)
	}
}

func addUp(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func halvings(now engine.Time) int64 { return int64(now) / int64(engine.RecentHalfLife) }

// halve makes what was used fade.
func (x *tenants) halve(now engine.Time) {
	times := halvings(now) - x.halved
	if times <= 0 {
		return
	}
	x.halved += times
	by := min(times, 63)
	x.used >>= by
	for _, t := range x.all {
		t.used >>= by
	}
}

// takenBy is how many jobs of t a term has taken so far.
func (t *tenant) takenBy(term uint64) int {
	if t.term != term {
		return 0
	}
	return t.taken
}

func (t *tenant) take(term uint64) {
	t.taken = t.takenBy(term) + 1
	t.term = term
}
