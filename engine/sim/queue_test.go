package sim

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qsim/engine"
)

// TestOrderAtOneInstant pushes one event of every rank at one time, in the worst
// order and by both ways into the queue, and wants them by rank, then as pushed.
func TestOrderAtOneInstant(t *testing.T) {
	want := []rank{control, promotion, request, reply, finish, arrival, timer}
	for _, next := range []bool{false, true} {
		var q queue
		for copies := range 3 {
			for i := range want {
				r := want[len(want)-1-i]
				if next {
					q.pushNext(7, r, uint32(copies))
				} else {
					q.push(7, r, uint32(copies))
				}
			}
		}
		q.push(6, timer, 9)
		q.push(8, control, 9)
		var got []rank
		var copies []uint32
		for q.first() != nil {
			ev := q.pop()
			got, copies = append(got, rank(ev.order>>rankBits)), append(copies, ev.ref)
		}
		if got[0] != timer || got[len(got)-1] != control {
			t.Errorf("rank goes before time: %v", got)
		}
		for i, r := range got[1 : len(got)-1] {
			if r != want[i/3] || copies[i+1] != uint32(i%3) {
				t.Fatalf("by pushNext %v: got ranks %v of copies %v, want %v, each three times in order", next, got, copies, want)
			}
		}
	}
}

// TestQueueAgainstSlice pushes and pops at random and compares with a sorted slice.
func TestQueueAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []event
		now := engine.Time(0)
		push := func(how func(at engine.Time, r rank, ref uint32)) func(t *rapid.T) {
			return func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					at := now + engine.Time(rapid.IntRange(0, 9).Draw(t, "after"))
					r := rank(rapid.IntRange(0, int(timer)).Draw(t, "rank"))
					ref := uint32(q.seq + 1)
					how(at, r, ref)
					want = append(want, event{at, uint64(r)<<rankBits | q.seq, ref})
				}
				slices.SortFunc(want, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if n := len(q.heap) + q.size; n != len(want) {
					t.Fatalf("%d events, want %d", n, len(want))
				}
				if first := q.first(); (first == nil) != (len(want) == 0) || first != nil && *first != want[0] {
					t.Fatalf("first is %+v, want %+v", first, want)
				}
			},
			"push":     push(func(at engine.Time, r rank, ref uint32) { q.push(at, r, ref) }),
			"pushNext": push(q.pushNext),
			"pop": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(0, 150).Draw(t, "n")) {
					if got := q.pop(); got != want[0] {
						t.Fatalf("popped %+v, want %+v", got, want[0])
					}
					now, want = want[0].at, want[1:]
				}
			},
		})
	})
}

// TestPushNamesItsEvent wants the order that push returns to be that of the event.
func TestPushNamesItsEvent(t *testing.T) {
	var q queue
	a, b := q.push(5, finish, 1), q.push(5, finish, 2)
	if x, y := q.pop(), q.pop(); x.order != a || y.order != b || a == b {
		t.Errorf("pushed %x, %x, popped %x, %x", a, b, x.order, y.order)
	}
}

// TestTimersAgainstSlice moves deadlines at random and looks for the earliest.
func TestTimersAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 20).Draw(t, "nodes")
		var tm timers
		tm.init(nodes)
		want := make([]engine.Time, nodes)
		for i := range want {
			want[i] = engine.Never
		}
		for range rapid.IntRange(1, 100).Draw(t, "moves") {
			at := engine.Time(rapid.IntRange(0, 12).Draw(t, "at"))
			if at == 12 {
				at = engine.Never
			}
			node := rapid.IntRange(0, nodes-1).Draw(t, "node")
			tm.set(int32(node), at)
			want[node] = at
			if got, who := tm.first(); got != slices.Min(want) || int(who) != slices.Index(want, got) {
				t.Fatalf("first is %d of node %d, want the least of %v", got, who, want)
			}
		}
	})
}

// TestSlabReuses wants freed items to come back before new ones are made.
func TestSlabReuses(t *testing.T) {
	var s slab[int]
	a, b := s.alloc(), s.alloc()
	*s.at(a), *s.at(b) = 1, 2
	s.release(a)
	if c := s.alloc(); c != a || len(s.items) != 2 || s.used != 2 || *s.at(b) != 2 {
		t.Errorf("got item %d of %d, %d used", c, len(s.items), s.used)
	}
}
