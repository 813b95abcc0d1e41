package memstore

import (
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
	checkIndex(t, s, int(s.rows.size)-free)
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
		for c := range l.ready {
			q := &l.ready[c]
			size := 0
			ready := func(ref uint32, where string, p place) *row {
				r := visit(ref, where)
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
			if size != q.size {
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
	}{{&s.leased, "the leased list", inList}, {&s.lapsed, "the lapsed list", inLapsed}} {
		checkList(t, s, l.list, l.name, func(ref uint32) *row {
			r := visit(ref, l.name)
			if r.state != engine.InFlight || r.place != l.place || r.token == 0 || r.delivery == 0 {
				t.Fatalf("row %+v is in %s", r, l.name)
			}
			stats.InFlight[r.class()]++
			return r
		}, func(a, b *row) bool { return a.key <= b.key })
	}
	if s.lapsed.head != 0 && s.options.LapseAfter < 0 {
		t.Fatalf("a lease lapsed against the options")
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
	c := &client{t: t, Store: NewSingle(nil, engine.StoreOptions{LapseAfter: -1, Place: engine.PlaceCreated})}
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
	c.add(engine.NewJob{ID: 31}, engine.NewJob{ID: 32}, engine.NewJob{ID: 33, Delay: 50})
	return c.Store
}
