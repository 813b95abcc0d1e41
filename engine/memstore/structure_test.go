package memstore

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"qsim/engine"
)

// fatal is the common interface of testing.T and rapid.T.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check walks every structure of the store and compares it with the rows: each row
// lies in exactly one place, the one its state names, in order, and all counts agree.
func check(t fatal, s *Store) {
	t.Helper()
	seen := make(map[uint32]string)
	visit := func(ref uint32, where string) *row {
		if before, ok := seen[ref]; ok {
			t.Fatalf("row %d is in %s and in %s", ref, before, where)
		}
		seen[ref] = where
		return s.rows.at(ref)
	}
	var stats engine.Stats
	stats.Dead = s.stats.Dead
	checkReady(t, s, visit, &stats)
	checkWaiting(t, s, visit, &stats)
	checkLeased(t, s, visit, &stats)
	checkDead(t, s, visit)
	checkSerials(t, s)
	checkSides(t, s)
	checkCounts(t, s)
	for ref := range s.rows.size {
		if ref == 0 && *s.rows.at(ref) != (row{}) {
			t.Fatalf("row 0, which is no job, is %+v", *s.rows.at(ref))
		}
		if r := s.rows.at(ref); r.state == engine.Waiting && r.place == inTransit {
			visit(ref, "transit")
			stats.Waiting[r.class()]++
		}
	}
	if stats != s.stats {
		t.Fatalf("counted %+v, the store says %+v", stats, s.stats)
	}
	free := 0
	for at := s.rows.free; at != 0; at = s.rows.links[at].next {
		if r := visit(at, "the free rows"); r.state != engine.NoState || r.id != 0 {
			t.Fatalf("free row %d holds job %d, %v", at, r.id, r.state)
		}
		free++
	}
	inUse := 0
	for ref, r := range s.rows.all {
		if r != s.rows.at(ref) || r.state == engine.NoState {
			t.Fatalf("row %d is said to be in use, and is %v", ref, r.state)
		}
		inUse++
	}
	rows := max(0, int(s.rows.size)-1) // without row 0
	if inUse != rows-free {
		t.Fatalf("%d rows are said to be in use, and %d of %d are free", inUse, free, rows)
	}
	if len(seen) != rows {
		t.Fatalf("%d of %d rows are in no structure", rows-len(seen), rows)
	}
	checkIndex(t, s, inUse)
}

func checkReady(t fatal, s *Store, visit func(uint32, string) *row, stats *engine.Stats) {
	t.Helper()
	if len(s.lines.order) != len(s.lines.lanes) {
		t.Fatalf("%d lanes, %d in order", len(s.lines.lanes), len(s.lines.order))
	}
	for i, at := range s.lines.order {
		l := &s.lines.lanes[at]
		if s.lines.of(l.priority, l.kind, l.behind) != at || l.cell.lane != at {
			t.Fatalf("lane %d is not the one of its key", at)
		}
		if i > 0 {
			if p := &s.lines.lanes[s.lines.order[i-1]]; p.priority > l.priority || p.priority == l.priority && p.kind > l.kind || p.key >= l.key {
				t.Fatalf("lanes of %d, %d are out of order", p.priority, l.priority)
			}
		}
		for c := range l.ready {
			q, size := &l.ready[c], 0
			ready := func(ref uint32, where string, p place) *row {
				r := visit(ref, where)
				if behind := r.has&hasSerial != 0 && s.serials.links[ref].prev != 0; behind != l.behind {
					t.Fatalf("row %+v is behind another: %v", r, behind)
				}
				if r.state != engine.Ready || r.place != p || r.lane != at || r.class() != engine.Class(c) || s.lines.byKind && r.kind != l.kind {
					t.Fatalf("row %+v is in %s of lane %d, class %d", r, where, at, c)
				}
				size++
				return r
			}
			checkList(t, s, &q.list, "a queue's list", func(ref uint32) *row { return ready(ref, "a queue's list", inList) }, (*row).before)
			checkTree(t, &s.late, q.root, func(ref uint32) { ready(ref, "a queue's tree", inTree) })
			if size != int(q.size) {
				t.Fatalf("a queue holds %d rows and says %d", size, q.size)
			}
			stats.Ready[c] += size
		}
	}
}

// checkList walks a list forwards, its links back as well.
func checkList(t fatal, s *Store, l *list, where string, visit func(ref uint32) *row, before func(a, b *row) bool) {
	t.Helper()
	prev := uint32(0)
	for at := l.head; at != 0; at = s.rows.links[at].next {
		r := visit(at)
		if back := s.rows.links[at].prev; back != prev {
			t.Fatalf("%s: job %d links back to %d, want %d", where, r.id, back, prev)
		}
		if prev != 0 && !before(s.rows.at(prev), r) {
			t.Fatalf("%s: job %d is out of order", where, r.id)
		}
		prev = at
	}
	if l.tail != prev {
		t.Fatalf("%s: the tail is %d, want %d", where, l.tail, prev)
	}
}

// checkTree visits a tree in order, checks that parents outrank their children and that the nodes'
// sums are right, and returns its size.
func checkTree(t fatal, x *treap, root uint32, visit func(ref uint32)) int {
	t.Helper()
	size, last := 0, uint32(0)
	var walk func(at uint32) (first, below uint32)
	walk = func(at uint32) (uint32, uint32) {
		if at == 0 {
			return 0, 0
		}
		n := x.nodes.at(at)
		leftFirst, leftBelow := walk(n.left)
		if last != 0 && !x.less(last, x.rows.at(last), at, x.rows.at(at)) {
			t.Fatalf("row %d is in a tree of order %d behind row %d", at, x.sort, last)
		}
		last = at
		size++
		visit(at)
		for _, child := range []uint32{n.left, n.right} {
			if child != 0 && x.rank(child) > x.rank(at) {
				t.Fatalf("row %d hangs below row %d, which it outranks", child, at)
			}
		}
		rightFirst, rightBelow := walk(n.right)
		first, below := x.rows.former(x.rows.former(at, leftFirst, false), rightFirst, false), 1+leftBelow+rightBelow
		if x.counts && n.of != below || x.sort == sortByDue && n.of != first {
			t.Fatalf("below row %d there are %d rows and %d comes first, it says %d", at, below, first, n.of)
		}
		return first, below
	}
	walk(root)
	return size
}

func checkWaiting(t fatal, s *Store, visit func(uint32, string) *row, stats *engine.Stats) {
	t.Helper()
	w := &s.waiting
	var refs []uint32
	first := engine.Never
	for ref, r := range s.rows.all {
		if r.state == engine.Waiting && r.place == inHeap {
			visit(ref, "the heap")
			refs, first = append(refs, ref), min(first, r.dueAt)
			stats.Waiting[r.class()]++
		}
	}
	if w.heap.First != first {
		t.Fatalf("the first waiting job is due at %d, the heap says %d", first, w.heap.First)
	}
	for _, ref := range refs {
		w.heap.Remove(s.rows.at(ref).dueAt, uint64(ref))
	}
	if w.heap.First != engine.Never {
		t.Fatalf("the heap holds row %d, due at %d, which is none of its %d", w.heap.Next(), w.heap.First, len(refs))
	}
	for _, ref := range refs {
		w.heap.Push(s.rows.at(ref).dueAt, uint64(ref))
	}
	checkList(t, s, &w.due, "the due list", func(ref uint32) *row {
		r := visit(ref, "the due list")
		if r.state != engine.Waiting || r.place != inList || !s.options.Promoted {
			t.Fatalf("row %+v is in the due list", r)
		}
		stats.Waiting[r.class()]++
		return r
	}, func(a, b *row) bool { return a.dueAt <= b.dueAt })
}

func checkLeased(t fatal, s *Store, visit func(uint32, string) *row, stats *engine.Stats) {
	t.Helper()
	for i, name := range []string{inLeased: "the leased list", inLapsed: "the lapsed list", inOrphans: "the orphans"} {
		checkList(t, s, &s.inFlight[i], name, func(ref uint32) *row {
			r := visit(ref, name)
			if r.state != engine.InFlight || r.place != place(i) || r.token == 0 || r.delivery == 0 {
				t.Fatalf("row %+v is in %s", r, name)
			}
			stats.InFlight[r.class()]++
			return r
		}, func(a, b *row) bool { return a.key <= b.key || place(i) == inOrphans })
	}
	if x := s.byNode; x != nil {
		checkNodes(t, s, x)
	}
	if s.inFlight[inLapsed].head != 0 && s.options.LapseAfter < 0 {
		t.Fatalf("a lease lapsed against the options")
	}
}

func checkDead(t fatal, s *Store, visit func(uint32, string) *row) {
	t.Helper()
	kept := 0
	checkList(t, s, &s.dead, "the dead", func(ref uint32) *row {
		r := visit(ref, "the dead")
		if r.state != engine.Dead || !s.options.KeepDead {
			t.Fatalf("row %+v is among the dead", r)
		}
		kept++
		return r
	}, func(a, b *row) bool { return true })
	if s.options.KeepDead && kept != s.stats.Dead {
		t.Fatalf("%d of %d dead are kept", kept, s.stats.Dead)
	}
}

// checkNodes checks that the leases of each node are in the order of all leases.
func checkNodes(t fatal, s *Store, x *nodeLists) {
	t.Helper()
	next := make([]uint32, len(x.of))
	for node := range x.of {
		next[node] = x.of[node].head
	}
	for at := s.inFlight[inLeased].head; at != 0; at = s.rows.links[at].next {
		node := s.rows.at(at).holder.Node()
		if next[node] != at {
			t.Fatalf("node %d has row link %d next, want %d", node, next[node], at)
		}
		if next[node] = x.links[at].next; next[node] == 0 && x.of[node].tail != at {
			t.Fatalf("node %d ends at %d, it says at %d", node, at, x.of[node].tail)
		}
	}
	for node, at := range next {
		if at != 0 {
			t.Fatalf("node %d has row link %d, which is not leased", node, at)
		}
	}
}

// checkSerials walks every key: its live jobs, each once, linked both ways.
func checkSerials(t fatal, s *Store) {
	t.Helper()
	linked := 0
	for key, k := range s.serials.keys {
		prev := uint32(0)
		for at := k.head; at != 0; at = s.serials.links[at].next {
			r := s.rows.at(at)
			if *s.serials.keyOf.at(at) != key || r.state == engine.Dead || r.state == engine.NoState || s.serials.links[at].prev != prev {
				t.Fatalf("row %+v is in key %d behind %d", r, key, prev)
			}
			linked++
			prev = at
		}
		if k.tail != prev || prev == 0 {
			t.Fatalf("key %d ends at %d, it says at %d", key, prev, k.tail)
		}
	}
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.has&hasSerial != 0 && r.state != engine.Dead {
			linked--
		}
	}
	if linked != 0 {
		t.Fatalf("%d jobs too many in keys", linked)
	}
}

// checkSides checks that every maintained order has each claimable row exactly once.
func checkSides(t fatal, s *Store) {
	t.Helper()
	claimable := 0
	for _, r := range s.rows.all {
		if r.state == engine.Ready && !s.isBehind(r) {
			claimable++
		}
	}
	for i := range s.lines.lanes {
		l := &s.lines.lanes[i]
		for by, x := range s.indexes {
			for c := range engine.NumClasses {
				if x == nil {
					continue
				}
				n := checkTree(t, x, l.cell.roots[by][c], func(ref uint32) {
					if r := s.rows.at(ref); int(r.lane) != i || r.class() != c || r.state != engine.Ready {
						t.Fatalf("row %+v is in order %d of lane %d", r, by, i)
					}
				})
				if n != int(l.ready[c].size) {
					t.Fatalf("order %d has %d of %d rows", by, n, l.ready[c].size)
				}
			}
		}
	}
	x := s.tenants
	if x == nil {
		return
	}
	n, active := 0, 0
	faces := map[[3]int]int{}
	for _, of := range x.all {
		mine := 0
		for i := range of.cells {
			cell := &of.cells[i]
			for c := range engine.NumClasses {
				rows := 0
				for by, index := range x.indexes {
					if index == nil {
						continue
					}
					size := checkTree(t, index, cell.roots[by][c], func(ref uint32) {
						if r := s.rows.at(ref); r.lane != cell.lane || r.class() != c || r.tenant != of.id || r.state != engine.Ready {
							t.Fatalf("row %+v is in order %d of tenant %d", r, by, of.id)
						}
					})
					if rows = max(rows, size); rows != size {
						t.Fatalf("order %d of tenant %d has %d of %d rows", by, of.id, size, rows)
					}
				}
				for f, front := range x.fronts {
					if front != nil && rows > 0 {
						faces[[3]int{f, int(cell.lane), int(c)}]++
						if want := x.indexes[sortByKey].end(cell.roots[sortByKey][c], front == x.fronts[frontNewest]); cell.fronts[f][c] != want {
							t.Fatalf("tenant %d shows link %d, want row %d", of.id, cell.fronts[f][c], want)
						}
					}
				}
				mine += rows
			}
		}
		if of.ready != mine || (of.next != nil) != (mine > 0) || mine == 0 && (of.used != 0 || of.deficit != 0 || of.granted) {
			t.Fatalf("tenant %+v has %d rows", of, mine)
		}
		if n += mine; mine > 0 {
			active++
		}
		if any := (&engine.Term{Class: engine.AnyClass}); x.heads != nil && s.running == nil && s.search(any, of, false) != of.head {
			t.Fatalf("tenant %+v begins with row %d", of, s.search(any, of, false))
		}
	}
	for f, front := range x.fronts {
		for i := range s.lines.lanes {
			for c, root := range s.lines.lanes[i].cell.fronts[f] {
				if front == nil {
					continue
				}
				size := checkTree(t, front, root, func(ref uint32) {
					if of := x.ofRow(ref); of.cell(uint16(i)).fronts[f][c] != ref {
						t.Fatalf("row %d stands for tenant %d, not %d", ref, of.id, of.cell(uint16(i)).fronts[f][c])
					}
				})
				if want := faces[[3]int{f, i, c}]; size != want {
					t.Fatalf("%d tenants of %d have a front %d in lane %d", size, want, f, i)
				}
			}
		}
	}
	if x.heads != nil {
		heads := checkTree(t, x.heads, x.root, func(ref uint32) {
			if x.ofRow(ref).head != ref {
				t.Fatalf("row %d is the head of no tenant", ref)
			}
		})
		if heads != active {
			t.Fatalf("%d heads of %d tenants", heads, active)
		}
	}
	at := s.tenants.turn
	for range active {
		if at == nil || at.next.prev != at || at.next != s.tenants.turn && at.next.turn <= at.turn {
			t.Fatalf("the turn breaks off at %+v", at)
		}
		at = at.next
	}
	if n != claimable || active != s.tenants.active || at != s.tenants.turn {
		t.Fatalf("the tenants have %d of %d rows, %d of them are in turn, they say %d", n, claimable, active, s.tenants.active)
	}
}

// checkCounts counts the jobs in flight that no reaper holds.
func checkCounts(t fatal, s *Store) {
	t.Helper()
	byKind, byTenant, all := make([]int, len(s.running)), map[engine.TenantID]int{}, 0
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.state == engine.InFlight && r.has&reaped == 0 {
			if int(r.kind) < len(byKind) {
				byKind[r.kind]++
			}
			byTenant[r.tenant]++
			all++
		}
	}
	if !slices.Equal(byKind, s.running) {
		t.Fatalf("%v jobs run by kind, the store says %v", byKind, s.running)
	}
	if x := s.tenants; x != nil {
		for _, of := range x.all {
			if of.running != byTenant[of.id] {
				t.Fatalf("%d jobs of tenant %d run, it says %d", byTenant[of.id], of.id, of.running)
			}
		}
		if x.running != all {
			t.Fatalf("%d jobs run, the tenants say %d", all, x.running)
		}
	}
}

func checkIndex(t fatal, s *Store, live int) {
	t.Helper()
	x := &s.index
	if x.slots == nil {
		ids := map[engine.JobID]bool{}
		for ref, r := range s.rows.all {
			if latest := x.latest[r.id>>(64-seriesBits)]; ids[r.id] || r.id > latest {
				t.Fatalf("job %d in row %d is there twice, or above %d, the highest of its series", r.id, ref, latest)
			}
			ids[r.id] = true
		}
		return
	}
	used := 0
	for _, v := range x.slots {
		if v == 0 {
			continue
		}
		used++
		if id := s.rows.at(uint32(v)).id; id == 0 || x.find(&s.rows, id) != uint32(v) {
			t.Fatalf("job %d is not found where it lies", id)
		}
	}
	if used != x.used || used != live || used*4 > len(x.slots)*3 || used*4 < len(x.slots) && len(x.slots) > smallestIndex {
		t.Fatalf("%d of %d slots of the index are used, it says %d; %d rows are live", used, len(x.slots), x.used, live)
	}
}

// TestCheckSeesDamage breaks one thing at a time in a store of every state.
func TestCheckSeesDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(s *Store)
	}{
		{"a count", func(s *Store) { s.stats.Ready[0]++ }},
		{"a size", func(s *Store) { s.lines.lanes[0].ready[0].size++ }},
		{"a link back", func(s *Store) { s.rows.links[s.inFlight[inLeased].head].prev = 9 }},
		{"a tail", func(s *Store) { s.inFlight[inLeased].tail = s.inFlight[inLeased].head }},
		{"a lost row", func(s *Store) { s.inFlight[inLeased] = list{} }},
		{"an expiry", func(s *Store) { s.rows.at(s.inFlight[inLeased].head).key += 1 << 40 }},
		{"a heap", func(s *Store) { s.waiting.heap.First++ }},
		{"a lost waiting row", func(s *Store) { s.waiting.heap.Pop() }},
		{"an entry without a row", func(s *Store) { s.waiting.heap.Push(1<<40, 1) }},
		{"a tree", func(s *Store) {
			n := s.late.nodes.at(s.lines.lanes[0].ready[1].root)
			n.left, n.right = n.right, n.left
		}},
		{"a rank", func(s *Store) {
			root := &s.lines.lanes[0].ready[1].root
			n := s.late.nodes.at(*root)
			child := n.left | n.right
			if n.left != 0 {
				child = n.left
				c := s.late.nodes.at(child)
				n.left, c.right = c.right, *root
			} else {
				c := s.late.nodes.at(child)
				n.right, c.left = c.left, *root
			}
			*root = child
		}},
		{"a series", func(s *Store) { s.index.latest[0] = 42 }},
		{"an index", func(s *Store) { s.index.need(&s.rows); s.index.slots[s.index.home(half(1))] = 0 }},
		{"row 0", func(s *Store) { s.rows.at(0).lane = 1 }},
		{"a free row", func(s *Store) { s.rows.at(s.rows.free).id = 5 }},
		{"a front", func(s *Store) { s.tenants.turn.cells[0].fronts[frontOldest][0]++ }},
		{"the fronts", func(s *Store) { s.lines.lanes[0].cell.fronts[frontInTurn] = [engine.NumClasses]uint32{} }},
		{"a turn", func(s *Store) { s.tenants.turn.turn = 1 << 40 }},
		{"the leases of a node", func(s *Store) { s.byNode.of[0].tail = 0 }},
		{"a count of the dead", func(s *Store) { s.stats.Dead++ }},
		{"a lost dead row", func(s *Store) { s.dead = list{} }},
		{"a serial link", func(s *Store) { s.serials.links[s.serials.keys[3].tail].prev = 0 }},
		{"a serial end", func(s *Store) { k := s.serials.keys[3]; k.tail = k.head; s.serials.keys[3] = k }},
		{"a side tree", func(s *Store) { s.lines.lanes[0].cell.roots[sortByAge][1] = 0 }},
		{"a side's order", func(s *Store) {
			n := s.indexes[sortByAge].nodes.at(s.lines.lanes[0].cell.roots[sortByAge][1])
			n.left, n.right = n.right, n.left
		}},
		{"a side's first", func(s *Store) { s.indexes[sortByDue].nodes.at(s.lines.lanes[0].cell.roots[sortByDue][1]).of = 0 }},
		{"a tenant's tree", func(s *Store) { s.tenants.all[0].cells[0].roots[sortByKey][1] = 0 }},
		{"a tenant's count", func(s *Store) { s.tenants.all[0].running++ }},
		{"the tenants' count", func(s *Store) { s.tenants.running++ }},
		{"a head", func(s *Store) { s.tenants.turn.head++ }},
		{"the heads", func(s *Store) { s.tenants.root = 0 }},
		{"a ring", func(s *Store) { s.tenants.turn.next = s.tenants.turn }},
		{"a count by kind", func(s *Store) { s.running[0]++ }},
		{"a state", func(s *Store) { s.rows.at(s.inFlight[inLeased].head).state = engine.Ready }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := storeOfEveryState(t)
			check(t, s)
			tt.damage(s)
			var seen damaged
			func() {
				defer func() { _ = recover() }()
				check(&seen, s)
			}()
			if !seen.failed {
				t.Errorf("not seen")
			}
		})
	}
}

type damaged struct{ failed bool }

func (d *damaged) Helper() {}

func (d *damaged) Fatalf(string, ...any) {
	d.failed = true
	panic("damaged")
}

// storeOfEveryState has fresh jobs, retries in a list and in a tree, waiting jobs,
// leases and free rows.
func storeOfEveryState(t *testing.T) *Store {
	c := &client{t: t, Store: NewSingle(nil, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceCreated, KeepDead: true, MaxRunning: []int{1000}})}
	c.Store.clock = func() engine.Time { return c.at }
	for id := range 20 {
		c.at++
		c.add(engine.NewJob{ID: engine.JobID(id + 1)})
	}
	l := c.claim(20)
	for _, i := range []int{19, 3, 7, 5, 9, 1, 6} { // out of the order of their creation: into the tree
		c.commit(l[i], engine.Return)
	}
	for _, i := range []int{10, 16, 17, 18} {
		c.commit(l[i], engine.Ack)
	}
	for i := range 5 {
		c.nack(l[11+i], 1000)
	}
	c.commit(l[8], engine.Bury)
	c.add(engine.NewJob{ID: 31}, engine.NewJob{ID: 32}, engine.NewJob{ID: 33, Delay: 50})
	c.add(engine.NewJob{ID: 41, Serial: 3, Tenant: 1}, engine.NewJob{ID: 42, Serial: 3, Tenant: 2}, engine.NewJob{ID: 43, Tenant: 2})
	none := engine.Term{Class: engine.AnyClass, MaxWait: 1, Rule: &engine.Rule{}}
	if _, err := c.ExtendNode(t.Context(), c.engine, true, 1000); err != nil {
		t.Fatal(err)
	}
	c.plan(0, none, engine.Term{PerTenant: 1}, engine.Term{Order: engine.TenantRoundRobin}, engine.Term{Order: engine.Deadline, Rule: none.Rule}, engine.Term{Order: engine.TenantFair, Rule: &engine.Rule{ShareDen: 1}})
	c.commit(l[4], engine.Ack)
	return c.Store
}

// TestIndexOnDemand enqueues jobs of two series in ascending order and commits them with the handles of their leases:
// no index is built. A job that is enqueued twice, one below an earlier one of its series, a look-up without a handle and
// an insertion by ID each need it, and see all jobs.
func TestIndexOnDemand(t *testing.T) {
	const other = engine.JobID(1) << (64 - seriesBits)
	add := func(id engine.JobID, want error) func(*client) {
		return func(c *client) {
			if err := c.Enqueue(t.Context(), []engine.NewJob{{ID: id}}); !errors.Is(err, want) {
				t.Errorf("job %d: error %v, want %v", id, err, want)
			}
		}
	}
	needs := map[string]func(*client){
		"twice": add(5, engine.ErrDuplicate), "twice in the other": add(other+3, engine.ErrDuplicate), "ended": add(1, nil), "below": add(other+2, nil),
		"without a handle": func(c *client) {
			l := c.claim(1)[0]
			l.Ref = 0
			if got := c.commit(l, engine.Ack); got.Status != engine.Applied {
				t.Errorf("ack without a handle: %+v", got)
			}
		},
		"an insertion": func(c *client) {
			if inserted, err := c.Insert(t.Context(), []engine.JobID{5}, nil); len(inserted) != 0 || err != nil {
				t.Errorf("inserted %v, %v: the job was not taken", inserted, err)
			}
		},
	}
	for name, need := range needs {
		c := newClient(t, engine.StoreOptions{LapseAfter: -1})
		c.add(engine.NewJob{ID: other + 1}, engine.NewJob{ID: 1}, engine.NewJob{ID: 2}, engine.NewJob{ID: other + 3}, engine.NewJob{ID: 5}, engine.NewJob{ID: 6, Delay: 5})
		for _, l := range c.claim(2) {
			c.commit(l, engine.Ack)
		}
		if check(t, c.Store); c.index.slots != nil {
			t.Errorf("%s: an index of %d jobs that nothing needed", name, c.index.used)
		}
		if need(c); c.index.slots == nil {
			t.Errorf("%s: no index", name)
		}
		check(t, c.Store)
	}
}

// TestEachPassesByFreeRows works off a backlog of three chunks of rows, but for four jobs of the first, one in each state.
// It takes the others away, which are free: whoever reads them fails.
func TestEachPassesByFreeRows(t *testing.T) {
	c := newClient(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true})
	for id := range engine.JobID(3 * chunkSize) {
		c.add(engine.NewJob{ID: id + 1})
	}
	for _, l := range c.claim(3 * chunkSize) {
		switch l.ID {
		case 1: // stays in flight
		case 2:
			c.nack(l, time.Hour)
		case 3:
			c.commit(l, engine.Return)
		case 4:
			c.commit(l, engine.Bury)
		default:
			c.commit(l, engine.Ack)
		}
	}
	for range c.Each { // finds out that most are free
	}
	check(t, c.Store)
	for i := range c.rows.chunks[1:] {
		c.rows.chunks[1+i] = nil
	}
	got := map[engine.JobID]engine.State{}
	for u := range c.Each {
		got[u.ID] = u.State
	}
	want := map[engine.JobID]engine.State{1: engine.InFlight, 2: engine.Waiting, 3: engine.Ready}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	n := 0
	for range c.Each {
		if n++; n == 2 {
			break
		}
	}
}

// TestStaleHandles uses the lease of an ended job whose row another job has got, which takes no index: the job has ended.
// With an index, which a lease without a handle needs, the job's ID decides, whatever the handle.
func TestStaleHandles(t *testing.T) {
	for fence := engine.FenceToken; fence <= engine.FenceNone; fence++ {
		t.Run(fence.String(), func(t *testing.T) {
			c := newClient(t, engine.StoreOptions{LapseAfter: -1, Fence: fence})
			c.add(engine.NewJob{ID: 1}, engine.NewJob{ID: 2})
			leases := c.claim(2)
			ended, held := leases[0], leases[1]
			c.commit(ended, engine.Ack)
			c.add(engine.NewJob{ID: 3})
			heir := c.claim(1)[0]
			if heir.Ref != ended.Ref {
				t.Fatalf("job 3 is in row %d, want %d", heir.Ref, ended.Ref)
			}
			if c.extend(ended) {
				t.Error("the lease of job 1, which has ended, was extended")
			}
			for _, v := range []engine.Verb{engine.Ack, engine.Nack, engine.Return} {
				if got := c.commit(ended, v); got.Status != engine.Stale {
					t.Errorf("%v of job 1, which has ended: %+v", v, got)
				}
			}
			if c.index.slots != nil {
				t.Error("an index for a job that has ended")
			}
			for _, ref := range []uint32{0, heir.Ref, 1000, 1<<32 - 1, held.Ref} {
				if held.Ref = ref; !c.extend(held) {
					t.Errorf("job 2 is not found beside row %d", ref)
				}
			}
			held.Ref = heir.Ref
			if got := c.commit(held, engine.Ack); got.Status != engine.Applied {
				t.Errorf("ack of job 2 beside the row of job 3: %+v", got)
			}
			if got := c.commit(heir, engine.Ack); got.Status != engine.Applied {
				t.Errorf("ack of job 3: %+v", got)
			}
		})
	}
}

// TestHandlesOfManyRows commits outcomes with handles of rows that do not exist to a store with so many rows that it
// fetches those of a batch first.
func TestHandlesOfManyRows(t *testing.T) {
	c := newClient(t, plain)
	for id := engine.JobID(1); c.rows.size < resident+chunkSize; id++ {
		c.add(engine.NewJob{ID: id})
	}
	held := c.claim(3)
	for i, ref := range []uint32{c.rows.size, 1<<32 - 1, 0} {
		held[i].Ref = ref
		if got := c.commit(held[i], engine.Ack); (got.Status == engine.Applied) != (ref == 0) {
			t.Errorf("ack of job %d with the handle %d of no row: %+v", held[i].ID, ref, got)
		}
	}
}
