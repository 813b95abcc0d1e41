package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qsim/engine"
)

// popped is an event taken from a queue, with its rank and number.
type popped struct {
	at   engine.Time
	rank rank
	seq  uint64
	ref  uint32
}

// take removes the next event that is not a scalar; ok is false if the queue is empty.
func (q *queue) take() (p popped, ok bool) {
	next := q.next()
	if next.at == engine.Never {
		return p, false
	}
	from := rank(next.order >> rankBits)
	switch {
	case q.overtakes(min(q.usual(), q.timers.first)):
		e := q.others.Pop()
		p.seq, p.ref = e.order&(1<<rankBits-1), e.ref
	case from == request:
		m := q.requests.pop()
		p.seq, p.ref = m.seq, m.ref
	case from == reply:
		m := q.replies.pop()
		p.seq, p.ref = m.seq, m.ref
	case from == finish:
		key := q.finishes.Pop()
		p.seq, p.ref = key>>refBits, runOf(key)
	}
	p.at, p.rank = next.at, from
	return p, true
}

func newQueue() *queue {
	var q queue
	q.init(1)
	return &q
}

// add pushes an event by the way that its rank takes.
func (q *queue) add(at engine.Time, r rank, ref uint32) {
	switch r {
	case request:
		q.pushNext(&q.requests, at, request, &message{ref: ref})
	case reply:
		q.pushNext(&q.replies, at, reply, &message{ref: ref})
	case finish:
		q.pushFinish(at, ref)
	default:
		q.push(at, r, ref)
	}
}

// TestOrderAtOneInstant pushes events of every rank at one time, in the worst order, and checks
// that they come by rank, then in the order of pushes, and scalars by their rank.
func TestOrderAtOneInstant(t *testing.T) {
	want := []rank{control, request, reply, finish, arrival}
	q := newQueue()
	q.add(9, request, 7) // so that the others come out of order
	q.add(9, reply, 7)
	for copies := range 3 {
		for i := range want {
			q.add(7, want[len(want)-1-i], uint32(copies))
		}
	}
	q.push(6, arrival, 9)
	if p, _ := q.take(); p.at != 6 {
		t.Errorf("rank goes before time: %+v", p)
	}
	for i := range 3 * len(want) {
		if p, _ := q.take(); p.at != 7 || p.rank != want[i/3] || p.ref != uint32(i%3) {
			t.Fatalf("event %d: got %+v, want rank %d of copy %d", i, p, want[i/3], i%3)
		}
	}
	for _, scalar := range []rank{promotion, arrival, timer} {
		q := newQueue()
		switch scalar {
		case promotion:
			q.due = 7
		case arrival:
			q.arrival = 7
		default:
			q.timers.set(0, 7)
		}
		for _, r := range want {
			q.add(7, r, 1)
		}
		for _, r := range want {
			if r > scalar {
				break
			}
			if p, _ := q.take(); p.rank != r {
				t.Errorf("%d: got rank %d before it, want %d", scalar, p.rank, r)
			}
		}
		if e := q.next(); e.at != 7 || rank(e.order>>rankBits) != scalar {
			t.Errorf("%d: got %+v", scalar, e)
		}
	}
}

// TestQueueAgainstSlice pushes and pops at random and compares with a sorted slice.
func TestQueueAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		var want []popped
		now := engine.Time(0)
		ranks := []rank{control, request, reply, finish, arrival}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				others := 0
				for _, p := range want {
					if p.rank != finish {
						others++
					}
				}
				if n := len(q.others) + q.requests.size() + q.replies.size(); n != others {
					t.Fatalf("%d events but ends of executions, want %d", n, others)
				}
				if at := q.next().at; len(want) == 0 && at != engine.Never || len(want) > 0 && at != want[0].at {
					t.Fatalf("the next is at %d, want %+v", at, want)
				}
			},
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					at := now + engine.Time(rapid.IntRange(0, 9).Draw(t, "after"))
					r := rapid.SampledFrom(ranks).Draw(t, "rank")
					ref := uint32(q.seq + 1)
					q.add(at, r, ref)
					want = append(want, popped{at, r, q.seq, ref})
				}
				slices.SortFunc(want, func(a, b popped) int {
					return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank), cmp.Compare(a.seq, b.seq))
				})
			},
			"pop": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(0, 150).Draw(t, "n")) {
					if got, _ := q.take(); got != want[0] {
						t.Fatalf("popped %+v, want %+v", got, want[0])
					}
					now, want = want[0].at, want[1:]
				}
			},
		})
	})
}

// TestManyCallsAtOnce has a thousand calls on their way, while some arrive: they come in order.
func TestManyCallsAtOnce(t *testing.T) {
	q := newQueue()
	next := uint32(0)
	take := func() {
		if p, ok := q.take(); !ok || p.ref != next {
			t.Fatalf("got %+v, %v, want call %d", p, ok, next)
		}
		next++
	}
	for ref := range uint32(1000) {
		if q.add(engine.Time(ref/7), request, ref); ref%3 == 0 {
			take()
		}
	}
	for next < 1000 {
		take()
	}
}

// TestPushNamesItsEvent checks that pushFinish returns the key of its event.
func TestPushNamesItsEvent(t *testing.T) {
	q := newQueue()
	a, b := q.pushFinish(5, 1), q.pushFinish(5, 2)
	if x, y := q.finishes.Pop(), q.finishes.Pop(); x != a || y != b || a == b {
		t.Errorf("pushed %x, %x, popped %x, %x", a, b, x, y)
	}
}

// TestNodeSet holds a set of nodes against a slice of truths.
func TestNodeSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SampledFrom([]int{1, 63, 64, 65, 4096, 4097, 10_000, 270_000}).Draw(t, "nodes")
		var s nodeSet
		s.init(nodes)
		in := make([]bool, nodes)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			i := rapid.IntRange(0, nodes-1).Draw(t, "node")
			if rapid.Bool().Draw(t, "crowded") { // few words, of which each has several nodes
				i = min(nodes-1, rapid.SampledFrom([]int{0, 62, 126, 4094, 262_142}).Draw(t, "word")+i%4)
			}
			in[i] = rapid.Bool().Draw(t, "in")
			s.put(int32(i), in[i])
			from := rapid.IntRange(0, nodes).Draw(t, "from")
			want := slices.Index(in[from:], true)
			if want >= 0 {
				want += from
			}
			if got := s.from(from); got != want {
				t.Fatalf("from %d on: got %d, want %d", from, got, want)
			}
		}
	})
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
			if got, who := tm.first, tm.soonest(); got != slices.Min(want) || int(who) != slices.Index(want, got) {
				t.Fatalf("first is %d of node %d, want the least of %v", got, who, want)
			}
		}
	})
}

// TestSlabReuses checks that freed items are reused before new ones are made.
func TestSlabReuses(t *testing.T) {
	var s slab[int]
	a, one := s.take()
	b, two := s.take()
	*one, *two = 1, 2
	s.release(a)
	if c, left := s.take(); c != a || left != one || s.used != 2 || *s.at(b) != 2 {
		t.Errorf("got item %d of %d, %d used", c, len(s.items), s.used)
	}
}

// BenchmarkWakeNobody searches for a node to wake while all are busy, and BenchmarkWakeOne while
// one is idle, at the far end of the turn: neither visits every node.
func BenchmarkWakeNobody(b *testing.B) { benchmarkWake(b, false) }
func BenchmarkWakeOne(b *testing.B)    { benchmarkWake(b, true) }

func benchmarkWake(b *testing.B, idle bool) {
	for _, nodes := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			var s nodeSet
			s.init(nodes)
			s.put(int32(nodes-1), idle)
			for b.Loop() {
				if (s.from(0) == nodes-1) != idle {
					b.Fatal("found another node")
				}
			}
		})
	}
}
