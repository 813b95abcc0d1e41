package memstore

import (
	"slices"
	"testing"

	"qsim/engine"
)

// fatal is what testing.T and rapid.T have in common.
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
		if r := s.rows.at(ref); r.state == engine.Waiting && r.place == inTransit {
			visit(ref, "transit")
			stats.Waiting[r.class()]++
		}
	}
	if stats != s.stats {
		t.Fatalf("counted %+v, the store says %+v", stats, s.stats)
	}
	free := 0
	for at := s.rows.free; at != 0; at = s.rows.at(at - 1).next {
		if r := visit(at-1, "the free rows"); r.state != engine.NoState || r.id != 0 {
			t.Fatalf("free row %d holds job %d, %v", at-1, r.id, r.state)
		}
		free++
	}
	if len(seen) != int(s.rows.size) {
		t.Fatalf("%d of %d rows are in no structure", int(s.rows.size)-len(seen), s.rows.size)
	}
	if checkIndex(t, s, int(s.rows.size)-free); s.index.used-s.kept < 0 {
		t.Fatalf("%d jobs, %d of them dead", s.index.used, s.kept)
	}
}

func checkReady(t fatal, s *Store, visit func(uint32, string) *row, stats *engine.Stats) {
	t.Helper()
	if len(s.order) != len(s.lanes) || len(s.byKey) != len(s.lanes) {
		t.Fatalf("%d lanes, %d in order, %d by key", len(s.lanes), len(s.order), len(s.byKey))
	}
	for i, at := range s.order {
		l := &s.lanes[at]
		if s.byKey[l.laneKey] != at {
			t.Fatalf("lane %d is not the one of its key", at)
		}
		if i > 0 {
			if p := &s.lanes[s.order[i-1]]; p.priority > l.priority || p.priority == l.priority && p.kind >= l.kind {
				t.Fatalf("lanes %v, %v are out of order", p.laneKey, l.laneKey)
			}
		}
		for k := range 2 * len(l.ready) {
			c := k / 2
			q := [...]*queue{&l.ready[c], &l.behind[c]}[k%2]
			size, trees := 0, 0
			ready := func(ref uint32, where string, p place) *row {
				r := visit(ref, where)
				if behind := r.serial != 0 && s.serials.isBehind(ref); behind != (k%2 == 1) {
					t.Fatalf("row %+v is in line: %v", r, behind)
				}
				if p == inTree {
					trees++
				}
				if r.state != engine.Ready || r.place != p || r.lane != at || r.class() != engine.Class(c) || r.priority != l.priority || r.kind != l.kind {
					t.Fatalf("row %+v is in %s of lane %v, class %d", r, where, l.laneKey, c)
				}
				size++
				return r
			}
			checkList(t, s, &q.list, "a queue's list", func(ref uint32) *row { return ready(ref, "a queue's list", inList) }, (*row).before)
			var last *row
			checkTree(t, s, q.tree.root, func(ref uint32) {
				r := ready(ref, "a queue's tree", inTree)
				if last != nil && !last.before(r) {
					t.Fatalf("a tree is out of order at job %d", r.id)
				}
				last = r
			})
			if size != q.size || trees != q.inTree {
				t.Fatalf("a queue holds %d rows, %d of them in its tree, and says %d, %d", size, trees, q.size, q.inTree)
			}
			stats.Ready[c] += size
		}
	}
}

// checkList walks a list forwards, its links back as well.
func checkList(t fatal, s *Store, l *list, where string, visit func(ref uint32) *row, before func(a, b *row) bool) {
	t.Helper()
	prev := uint32(0)
	for at := l.head; at != 0; at = s.rows.at(at - 1).next {
		r := visit(at - 1)
		if r.prev != prev {
			t.Fatalf("%s: job %d links back to %d, want %d", where, r.id, r.prev, prev)
		}
		if prev != 0 && !before(s.rows.at(prev-1), r) {
			t.Fatalf("%s: job %d is out of order", where, r.id)
		}
		prev = at
	}
	if l.tail != prev {
		t.Fatalf("%s: the tail is %d, want %d", where, l.tail, prev)
	}
}

// checkTree visits a tree in order and checks that parents outrank their children.
func checkTree(t fatal, s *Store, at uint32, visit func(ref uint32)) {
	t.Helper()
	if at == 0 {
		return
	}
	r := s.rows.at(at - 1)
	for _, child := range []uint32{r.prev, r.next} {
		if child != 0 && rank(s.rows.at(child-1).id) < rank(r.id) {
			continue
		}
		if child != 0 && rank(s.rows.at(child-1).id) > rank(r.id) {
			t.Fatalf("job %d hangs below job %d, which it outranks", s.rows.at(child-1).id, r.id)
		}
	}
	checkTree(t, s, r.prev, visit)
	visit(at - 1)
	checkTree(t, s, r.next, visit)
}

func checkWaiting(t fatal, s *Store, visit func(uint32, string) *row, stats *engine.Stats) {
	t.Helper()
	w := &s.waiting
	stale := 0
	for i := range w.heap {
		e := &w.heap[i]
		if i > 0 && e.before(&w.heap[(i-1)/2]) {
			t.Fatalf("entry %d of the heap comes before its parent", i)
		}
		if s.rows.at(e.ref).stamp != e.stamp {
			stale++
			continue
		}
		r := visit(e.ref, "the heap")
		if r.state != engine.Waiting || r.place != inHeap || r.dueAt != e.dueAt || r.id != e.id {
			t.Fatalf("entry %+v of the heap is for row %+v", e, r)
		}
		stats.Waiting[r.class()]++
	}
	if stale != w.stale {
		t.Fatalf("%d of %d entries of the heap are stale, the store says %d", stale, len(w.heap), w.stale)
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
	for _, l := range []struct {
		*list
		name  string
		place place
	}{{&s.leased, "the leased list", inList}, {&s.lapsed, "the lapsed list", inLapsed}, {&s.orphaned, "the orphans", inOrphans}} {
		checkList(t, s, l.list, l.name, func(ref uint32) *row {
			r := visit(ref, l.name)
			if r.state != engine.InFlight || r.place != l.place || r.token == 0 || r.delivery == 0 {
				t.Fatalf("row %+v is in %s", r, l.name)
			}
			stats.InFlight[r.class()]++
			return r
		}, func(a, b *row) bool { return a.key <= b.key || l.place == inOrphans })
	}
	if s.lapsed.head != 0 && s.options.LapseAfter < 0 {
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
	if kept != s.kept || s.options.KeepDead && kept != s.stats.Dead {
		t.Fatalf("%d dead are kept, the store says %d of %d", kept, s.kept, s.stats.Dead)
	}
}

// checkSerials walks every key: its live jobs, each once, linked both ways.
func checkSerials(t fatal, s *Store) {
	t.Helper()
	linked := 0
	for key, k := range s.serials.keys {
		prev := uint32(0)
		for at := k.first; at != 0; at = s.serials.links.at(at - 1).next {
			r := s.rows.at(at - 1)
			if r.serial != key || r.state == engine.Dead || r.state == engine.NoState || s.serials.links.at(at-1).prev != prev {
				t.Fatalf("row %+v is in key %d behind %d", r, key, prev)
			}
			linked++
			prev = at
		}
		if k.last != prev || prev == 0 {
			t.Fatalf("key %d ends at %d, it says at %d", key, prev, k.last)
		}
	}
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.serial != 0 && r.state != engine.Dead {
			linked--
		}
	}
	if linked != 0 {
		t.Fatalf("%d jobs too many in keys", linked)
	}
}

// checkSides wants in every order that is kept the rows that may be claimed, each once.
func checkSides(t fatal, s *Store) {
	t.Helper()
	claimable := 0
	s.eachReady(func(uint32, *row) { claimable++ })
	for _, x := range []*side{s.byDue, s.byAge} {
		if x == nil {
			continue
		}
		n := 0
		for lane, roots := range x.roots {
			for c, root := range roots {
				n += checkSide(t, s, x, root, func(r *row) bool { return int(r.lane) == lane && int(r.class()) == c })
			}
		}
		if n != claimable {
			t.Fatalf("order %d has %d of %d rows", x.order, n, claimable)
		}
	}
	if s.tenants == nil {
		return
	}
	n, active := 0, 0
	for _, of := range s.tenants.all {
		mine := 0
		for i := range of.cells {
			for c, root := range of.cells[i].roots {
				mine += checkSide(t, s, &s.tenants.ready, root, func(r *row) bool {
					return r.lane == of.cells[i].lane && int(r.class()) == c && r.tenant == of.id
				})
			}
		}
		if of.ready != mine || (of.next != nil) != (mine > 0) || mine == 0 && (of.used != 0 || of.deficit != 0 || of.granted) {
			t.Fatalf("tenant %+v has %d rows", of, mine)
		}
		if n += mine; mine > 0 {
			active++
		}
		if any := (&engine.Term{Class: engine.AnyClass}); s.tenants.heads != nil && s.running == nil && s.offer(any, of)+1 != of.head {
			t.Fatalf("tenant %+v begins with row %d", of, s.offer(any, of))
		}
	}
	if x := s.tenants.heads; x != nil {
		heads := checkSide(t, s, x, s.tenants.root, func(r *row) bool { return s.rows.at(s.tenants.of(r.tenant).head-1) == r })
		if heads != active {
			t.Fatalf("%d heads of %d tenants", heads, active)
		}
	}
	at := s.tenants.turn
	for range active {
		if at == nil || at.next.prev != at {
			t.Fatalf("the turn breaks off at %+v", at)
		}
		at = at.next
	}
	if n != claimable || active != s.tenants.active || at != s.tenants.turn {
		t.Fatalf("the tenants have %d of %d rows, %d of them are in turn, they say %d", n, claimable, active, s.tenants.active)
	}
}

// checkSide walks a tree in order and returns its size.
func checkSide(t fatal, s *Store, x *side, root uint32, belongs func(r *row) bool) int {
	t.Helper()
	n := 0
	var last *row
	var walk func(at uint32) uint32
	walk = func(at uint32) uint32 {
		if at == 0 {
			return 0
		}
		node, r := x.nodes.at(at-1), s.rows.at(at-1)
		first := x.firstOf(walk(node.left), at)
		if last != nil && !x.before(last, r) || !belongs(r) || r.state != engine.Ready {
			t.Fatalf("row %+v is in a tree of order %d behind %+v", r, x.order, last)
		}
		last = r
		n++
		for _, child := range []uint32{node.left, node.right} {
			if child != 0 && rank(s.rows.at(child-1).id) >= rank(r.id) {
				t.Fatalf("job %d hangs below job %d, which it outranks", s.rows.at(child-1).id, r.id)
			}
		}
		if first = x.firstOf(first, walk(node.right)); x.order == sideByDue && first != node.first {
			t.Fatalf("below job %d row %d is first in line, it says %d", r.id, first, node.first)
		}
		return first
	}
	walk(root)
	return n
}

// checkCounts counts the jobs in flight that no reaper holds.
func checkCounts(t fatal, s *Store) {
	t.Helper()
	byKind, byTenant, all := make([]int, len(s.running)), map[engine.TenantID]int{}, 0
	for ref := range s.rows.size {
		if r := s.rows.at(ref); r.state == engine.InFlight && !r.reaped {
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
	used := 0
	for _, v := range x.slots {
		if v == 0 {
			continue
		}
		used++
		if id := s.rows.at(uint32(v) - 1).id; id == 0 || x.find(&s.rows, id) != uint32(v)-1 {
			t.Fatalf("job %d is not found where it lies", id)
		}
	}
	if used != x.used || used != live || used*4 > len(x.slots)*3 || used*8 < len(x.slots) && len(x.slots) > smallestIndex {
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
		{"a size", func(s *Store) { s.lanes[0].ready[0].size++ }},
		{"a link back", func(s *Store) { s.rows.at(s.leased.head - 1).prev = 9 }},
		{"a tail", func(s *Store) { s.leased.tail = s.leased.head }},
		{"a lost row", func(s *Store) { s.leased = list{} }},
		{"an expiry", func(s *Store) { s.rows.at(s.leased.head - 1).key += 1 << 40 }},
		{"a heap", func(s *Store) { w := s.waiting.heap; w[0], w[1] = w[1], w[0] }},
		{"a stale count", func(s *Store) { s.waiting.stale++ }},
		{"a tree", func(s *Store) { r := s.rows.at(s.lanes[0].ready[1].tree.root - 1); r.prev, r.next = r.next, r.prev }},
		{"a rank", func(s *Store) {
			root := &s.lanes[0].ready[1].tree.root
			r := s.rows.at(*root - 1)
			child := r.prev | r.next
			if r.prev != 0 {
				child = r.prev
				c := s.rows.at(child - 1)
				r.prev, c.next = c.next, *root
			} else {
				c := s.rows.at(child - 1)
				r.next, c.prev = c.prev, *root
			}
			*root = child
		}},
		{"an index", func(s *Store) { s.index.slots[s.index.home(half(1))] = 0 }},
		{"a free row", func(s *Store) { s.rows.at(s.rows.free - 1).id = 5 }},
		{"a reader of the tree", func(s *Store) { s.lanes[0].ready[1].inTree++ }},
		{"a kept count", func(s *Store) { s.kept++ }},
		{"a lost dead row", func(s *Store) { s.dead = list{} }},
		{"a serial link", func(s *Store) { s.serials.links.at(s.serials.keys[3].last - 1).prev = 0 }},
		{"a serial end", func(s *Store) { k := s.serials.keys[3]; k.last = k.first; s.serials.keys[3] = k }},
		{"a side tree", func(s *Store) { s.byAge.roots[0][1] = 0 }},
		{"a side's order", func(s *Store) { n := s.byAge.nodes.at(s.byAge.roots[0][1] - 1); n.left, n.right = n.right, n.left }},
		{"a side's first", func(s *Store) { s.byDue.nodes.at(s.byDue.roots[0][1] - 1).first = 0 }},
		{"a tenant's tree", func(s *Store) { s.tenants.all[0].cells[0].roots[1] = 0 }},
		{"a tenant's count", func(s *Store) { s.tenants.all[0].running++ }},
		{"the tenants' count", func(s *Store) { s.tenants.running++ }},
		{"a head", func(s *Store) { s.tenants.turn.head++ }},
		{"the heads", func(s *Store) { s.tenants.root = 0 }},
		{"a ring", func(s *Store) { s.tenants.turn.next = s.tenants.turn }},
		{"a count by kind", func(s *Store) { s.running[0]++ }},
		{"a state", func(s *Store) { s.rows.at(s.leased.head - 1).state = engine.Ready }},
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
	none := engine.Term{Class: engine.AnyClass, PerTenant: 1, MaxWait: 1, Rule: &engine.Rule{}}
	c.plan(0, none, engine.Term{Order: engine.Deadline, Rule: none.Rule}, engine.Term{Order: engine.TenantFair, Rule: &engine.Rule{ShareDen: 1}})
	c.commit(l[4], engine.Ack)
	return c.Store
}
