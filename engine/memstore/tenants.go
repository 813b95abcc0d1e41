package memstore

import (
	"cmp"
	"math"
	"slices"
	"time"

	"qsim/engine"
)

// tenants holds each tenant's ready jobs, jobs in flight and used processing time, and the order of the tenants' turns.
type tenants struct {
	rows  *rows
	few   []*tenant                   // tenants with small IDs, by ID
	by    map[engine.TenantID]*tenant // the other tenants
	all   []*tenant                   // all tenants, in the order of their first jobs
	lines *lines
	// indexes holds the search trees over the claimable jobs of each tenant and lane, one treap for each sort order.
	indexes indexes
	// fronts holds the tree of each lane (priority, kind) with the first row of every tenant's cell; nil: not needed yet.
	fronts  [numFronts]*treap
	heads   *treap // tree of the first ready row of each tenant by (ready key, ID); nil: not needed yet
	root    uint32 // root of heads
	jobs    slab[tenantJob]
	turn    *tenant // first tenant with ready jobs in the ring of turns
	turns   uint64  // number of moves to the end of the ring
	active  int     // number of tenants with ready jobs
	running int     // number of jobs in flight without a reaper
	used    int64   // processing time of all tenants, see recentHalfLife
	halved  int64   // number of halvings of used
	term    uint64  // number of the latest term that counts its jobs by tenant
}

// tenantJob is the tenant of a job, and when it was claimed, kept beside its row while claims depend on tenants.
type tenantJob struct {
	tenant    *tenant
	claimedAt engine.Time // in flight: time of its claim
}

// tenant is the state of one tenant: its ready jobs, turn and used processing time.
type tenant struct {
	id         engine.TenantID
	cells      []cell // search trees over its claimable jobs, by lane
	ready      int    // number of its claimable ready jobs
	head       uint32 // row of the tenant's first ready job in heads; 0: none
	running    int
	used       int64       // processing time in nanoseconds, while it has ready jobs
	halved     int64       // number of halvings of used, see tenants.halved
	enqueuedAt engine.Time // time of its latest enqueue
	prev, next *tenant     // neighbours in the ring of turns, if ready > 0
	turn       uint64      // number by which the ring is sorted
	deficit    int64       // credit of the order TenantDeficit, in the unit of Rule.Quantum
	granted    bool        // it has its quantum for this turn
	term       uint64      // number of the latest term that took its jobs
	taken      int         // number of its jobs taken by that term
}

// front is a kind of search tree over tenants: it sets which ready job stands for a tenant, and the tenants' order.
type front uint8

const (
	frontOldest front = iota // first row by place
	frontNewest              // last row by place
	frontInTurn              // first row in the order of turns
	numFronts
)

func frontOf(t *engine.Term) front {
	if t.Order == engine.NewestReady {
		return frontNewest
	}
	return frontOldest
}

// newTenants begins to maintain the state of tenants, when a claim first needs it. Their turns come in the order of
// their longest waiting jobs, and they have used no processing time.
func (s *Store) newTenants() {
	s.splitByKind()
	x := &tenants{rows: &s.rows, lines: &s.lines, by: map[engine.TenantID]*tenant{}}
	byKey := treap{rows: &s.rows}
	x.indexes[sortByKey] = &byKey
	x.halved = halvings(s.at)
	var line []uint32 // claimable ready rows
	for ref, r := range s.rows.all {
		if r.state != engine.Dead {
			t := x.called(r.tenant)
			x.jobs.reach(ref).tenant = t
			t.enqueuedAt = max(t.enqueuedAt, r.enqueuedAt)
			if r.state == engine.InFlight && r.has&reaped == 0 {
				x.started(ref, s.at)
			}
		}
		if r.state == engine.Ready && !s.isBehind(r) {
			line = append(line, ref)
		}
	}
	slices.SortFunc(line, func(a, b uint32) int {
		p, q := s.rows.at(a), s.rows.at(b)
		return cmp.Or(cmp.Compare(p.dueAt, q.dueAt), cmp.Compare(p.id, q.id))
	})
	for _, ref := range line {
		x.join(ref, s.rows.at(ref))
	}
	s.tenants, s.counting, s.special = x, true, true
}

// mostFew is the lowest tenant ID for which a tenant is looked up in a map rather than a slice.
const mostFew = 1 << 16

// called returns the tenant with that ID, creating it if there is none.
func (x *tenants) called(id engine.TenantID) *tenant {
	if uint(id) < uint(len(x.few)) && x.few[id] != nil {
		return x.few[id]
	}
	t := x.by[id]
	if t == nil {
		t = &tenant{id: id}
		x.all = append(x.all, t)
		if id >= mostFew {
			x.by[id] = t
			return t
		}
		for int(id) >= len(x.few) {
			x.few = append(x.few, nil)
		}
		x.few[id] = t
	}
	return t
}

// ofRow returns the tenant of the job with row ref, which must be or have been ready since tenants are kept.
func (x *tenants) ofRow(ref uint32) *tenant { return x.jobs.at(ref).tenant }

func (t *tenant) cell(lane uint16) *cell {
	for i := range t.cells {
		if t.cells[i].lane == lane {
			return &t.cells[i]
		}
	}
	t.cells = append(t.cells, cell{lane: lane})
	return &t.cells[len(t.cells)-1]
}

func (x *tenants) join(ref uint32, r *row) {
	t := x.called(r.tenant)
	x.jobs.reach(ref).tenant = t
	c := t.cell(r.lane)
	x.indexes.insert(c, r.class(), ref)
	if t.ready++; t.ready == 1 {
		x.enter(t)
	}
	x.moved(c, r.class())
	if x.heads != nil {
		x.heads.replace(&x.root, &t.head, x.firstOf(t.head, ref))
	}
}

func (x *tenants) leave(ref uint32, r *row) {
	t := x.ofRow(ref)
	c := t.cell(r.lane)
	x.indexes.remove(c, r.class(), ref)
	x.moved(c, r.class())
	if t.head == ref {
		x.lead(t)
	}
	if t.ready--; t.ready == 0 {
		x.exit(t)
		t.deficit, t.granted, t.used = 0, false, 0
	}
}

// moved updates the search trees over tenants, which hold the first row of each, once a ready row has joined or left
// the jobs of a tenant in one lane (priority and kind): another row may be its first now.
func (x *tenants) moved(c *cell, class engine.Class) {
	for f := range numFronts {
		if x.fronts[f] != nil {
			x.face(f, c, class)
		}
	}
}

// face brings up to date which ready job stands for a tenant in the search tree of kind f over the tenants of a lane.
func (x *tenants) face(f front, c *cell, class engine.Class) {
	now := x.indexes[sortByKey].end(c.roots[sortByKey][class], f == frontNewest)
	x.fronts[f].replace(&x.lines.lanes[c.lane].cell.fronts[f][class], &c.fronts[f][class], now)
}

// newFronts builds, and keeps from then on, a search tree over the tenants of each lane, each by one of its jobs.
func (x *tenants) newFronts(f front) {
	if x.fronts[f] != nil {
		return
	}
	x.fronts[f] = &treap{rows: x.rows, tenants: x}
	if f == frontInTurn {
		x.fronts[f].sort = sortByTurn
	}
	for _, t := range x.all {
		for i := range t.cells {
			for class := range engine.NumClasses {
				x.face(f, &t.cells[i], class)
			}
		}
	}
}

// newHeads builds, and keeps from then on, the search tree of the first ready jobs of all tenants, for TenantFair.
func (x *tenants) newHeads() {
	x.heads = &treap{rows: x.rows}
	for _, t := range x.all {
		x.lead(t)
	}
}

// lead makes a tenant's first ready row by priority and ready key stand for it in heads, the search tree of first rows.
func (x *tenants) lead(t *tenant) {
	first := uint32(0)
	for i := range t.cells {
		for _, root := range t.cells[i].roots[sortByKey] {
			first = x.firstOf(first, x.indexes[sortByKey].end(root, false))
		}
	}
	x.heads.replace(&x.root, &t.head, first)
}

// firstOf returns which of two ready rows comes first by priority and ready key; either may be 0, for none.
func (x *tenants) firstOf(a, b uint32) uint32 {
	if a == 0 || b == 0 {
		return a + b
	}
	p, q := x.rows.at(a), x.rows.at(b)
	i, j := x.lines.lanes[p.lane].priority, x.lines.lanes[q.lane].priority
	if i < j || i == j && p.before(q) {
		return a
	}
	return b
}

// enter appends a tenant that has ready jobs from now on to the ring of turns of the round robin.
func (x *tenants) enter(t *tenant) {
	x.active++
	x.turns++
	t.turn = x.turns
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

// pass ends the turn of a tenant with ready jobs: it moves to the end of the ring of turns.
func (x *tenants) pass(t *tenant) {
	t.granted = false
	x.eachFace(t, (*treap).remove)
	x.exit(t)
	x.enter(t)
	x.eachFace(t, (*treap).insert)
}

// eachFace calls do for every row that stands for tenant t in the search trees by turn, to remove or insert it.
func (x *tenants) eachFace(t *tenant, do func(x *treap, root *uint32, ref uint32)) {
	if x.fronts[frontInTurn] == nil {
		return
	}
	for i := range t.cells {
		roots := &x.lines.lanes[t.cells[i].lane].cell.fronts[frontInTurn]
		for class, ref := range t.cells[i].fronts[frontInTurn] {
			if ref != 0 {
				do(x.fronts[frontInTurn], &roots[class], ref)
			}
		}
	}
}

func (x *tenants) started(ref uint32, now engine.Time) {
	j := x.jobs.at(ref)
	j.claimedAt = now
	j.tenant.running++
	x.running++
}

func (x *tenants) stopped(ref uint32, now engine.Time) {
	j := x.jobs.at(ref)
	t := j.tenant
	t.running--
	x.running--
	x.halve(now)
	ran := int64(now.Sub(j.claimedAt))
	x.used = addUp(x.used, ran)
	if t.ready > 0 {
		t.used = addUp(x.usedBy(t), ran)
	}
}

func addUp(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// recentHalfLife is the half-life of the processing times that engine.TenantFair sums, and quietAfter the time without
// an enqueue after which a tenant is quiet.
const (
	recentHalfLife = time.Minute
	quietAfter     = 5 * time.Minute
)

func halvings(now engine.Time) int64 { return int64(now) / int64(recentHalfLife) }

// halve halves the sum of processing time used by all tenants, once for each half-life that has passed by now.
func (x *tenants) halve(now engine.Time) {
	if times := halvings(now) - x.halved; times > 0 {
		x.halved += times
		x.used >>= min(times, 63)
	}
}

// usedBy returns the processing time in nanoseconds that a tenant used, halved as often as that of all tenants.
func (x *tenants) usedBy(t *tenant) int64 {
	t.used >>= min(x.halved-t.halved, 63)
	t.halved = x.halved
	return t.used
}

// takenBy returns how many of a tenant's jobs a claim's term (filter, order, limit) with that number has taken so far.
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
