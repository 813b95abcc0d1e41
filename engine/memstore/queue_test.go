package memstore

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qsim/engine"
)

// line is a queue with a plain slice of the same rows.
type line struct {
	rows rows
	late treap
	q    queue
	want []uint32
	id   engine.JobID
}

func (l *line) order(a, b uint32) int {
	x, y := l.rows.at(a), l.rows.at(b)
	return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.id, y.id))
}

func (l *line) insert(key engine.Time, id engine.JobID) {
	ref, r := l.rows.alloc()
	r.key, r.id, r.state = key, id, engine.Ready
	l.q.insert(&l.late, ref, r)
	at, _ := slices.BinarySearchFunc(l.want, ref, l.order)
	l.want = slices.Insert(l.want, at, ref)
}

func (l *line) remove(i int) {
	l.q.remove(&l.late, l.want[i], l.rows.at(l.want[i]))
	l.rows.release(l.want[i], l.rows.at(l.want[i]))
	l.want = slices.Delete(l.want, i, i+1)
}

// check compares list and tree with the slice: each is in order, and together they have its rows.
func (l *line) check(t *rapid.T) {
	s := &Store{rows: l.rows}
	var got []uint32
	checkList(t, s, &l.q.list, "the list", func(ref uint32) *row { got = append(got, ref); return l.rows.at(ref) }, (*row).before)
	checkTree(t, &l.late, l.q.root, func(ref uint32) { got = append(got, ref) })
	if l.late.counts {
		for i, ref := range l.want {
			if n := l.late.countBefore(l.q.root, l.rows.at(ref)); int(n) != i {
				t.Fatalf("%d rows come before row %d, want %d", n, ref, i)
			}
		}
	}
	slices.SortFunc(got, l.order)
	if !slices.Equal(got, l.want) || int(l.q.size) != len(l.want) {
		t.Fatalf("holds %v, says %d, want %v", got, l.q.size, l.want)
	}
	if n := len(l.want); n > 0 {
		if first, end := l.q.peek(&l.late, false), l.q.peek(&l.late, true); first != l.want[0] || end != l.want[n-1] {
			t.Fatalf("first %d, last %d, want %d, %d", first, end, l.want[0], l.want[n-1])
		}
	}
}

// TestQueueAgainstSlice inserts and removes at random, mostly out of order so that
// the tree grows.
func TestQueueAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &line{}
		l.late = treap{rows: &l.rows, counts: rapid.Bool().Draw(t, "counts")}
		insert := func(t *rapid.T) {
			for range rapid.IntRange(1, 20).Draw(t, "n") {
				l.id++
				l.insert(engine.Time(rapid.IntRange(0, 30).Draw(t, "key")), l.id*7919%10007)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"":     l.check,
			"grow": insert,
			"more": insert,
			"remove": func(t *rapid.T) {
				for range min(len(l.want), rapid.IntRange(0, 15).Draw(t, "n")) {
					l.remove(rapid.IntRange(0, len(l.want)-1).Draw(t, "which"))
				}
			},
			"take": func(t *rapid.T) {
				for range min(len(l.want)/2, rapid.IntRange(0, 15).Draw(t, "n")) {
					if l.remove(0); len(l.want) > 0 {
						l.remove(len(l.want) - 1)
					}
				}
			},
		})
	})
}

// TestIndexAgainstMap grows an index over its resizes and shrinks it again. IDs are
// dense, as a workload numbers jobs, or far apart.
func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s rows
		var x index
		want := map[engine.JobID]uint32{}
		var ids []engine.JobID
		next := engine.JobID(0)
		stride := engine.JobID(rapid.SampledFrom([]uint64{1, 64, 1 << 32, 1<<40 + 1, 1<<63 + 1}).Draw(t, "stride"))
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if x.used != len(want) || x.used*4 > len(x.slots)*3 || x.used*4 < len(x.slots) && len(x.slots) > smallestIndex {
					t.Fatalf("%d slots, %d used, want %d", len(x.slots), x.used, len(want))
				}
				for _, id := range ids {
					if got := x.find(&s, id); got != want[id] {
						t.Fatalf("job %d is row %d, want %d", id, got, want[id])
					}
				}
				if got := x.find(&s, next+stride); got != 0 {
					t.Fatalf("a job that was never added is row %d", got)
				}
			},
			"insert": func(t *rapid.T) {
				for range rapid.IntRange(1, 600).Draw(t, "n") {
					next += stride
					ref, r := s.alloc()
					r.id, r.state = next, engine.Ready
					if !x.add(&s, next, ref) || x.add(&s, next, ref+1) {
						t.Fatalf("job %d is new twice or never", next)
					}
					want[next], ids = ref, append(ids, next)
				}
			},
			"remove": func(t *rapid.T) {
				n := min(len(ids), rapid.IntRange(1, 800).Draw(t, "n"))
				at := rapid.IntRange(0, len(ids)-n).Draw(t, "from")
				for _, id := range ids[at : at+n] {
					x.remove(id, want[id])
					s.release(want[id], s.at(want[id]))
					delete(want, id)
				}
				ids = slices.Delete(ids, at, at+n)
			},
		})
	})
}

// TestWaitingAgainstSlice lets jobs wait, some of which leave before they are due, reuses their rows at once, and takes
// the others in order.
func TestWaitingAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewSingle(nil, engine.StoreOptions{})
		var want []uint32
		id, now := engine.JobID(0), engine.Time(0)
		order := func(a, b uint32) int {
			x, y := s.rows.at(a), s.rows.at(b)
			return cmp.Or(cmp.Compare(x.dueAt, y.dueAt), cmp.Compare(x.id, y.id))
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				slices.SortFunc(want, order)
				if first := s.NextDue(); len(want) == 0 && first != engine.Never || len(want) > 0 && first != s.rows.at(want[0]).dueAt {
					t.Fatalf("of %d jobs the first is due at %v", len(want), first)
				}
			},
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					id++
					ref, r := s.rows.alloc()
					r.id = id * 7919 % 10007
					s.toWaiting(ref, r, now+engine.Time(rapid.IntRange(0, 20).Draw(t, "due")), now, engine.PlaceDefault)
					want = append(want, ref)
				}
			},
			"leave": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(0, 90).Draw(t, "n")) {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
					s.unplace(want[i], s.rows.at(want[i]))
					s.rows.release(want[i], s.rows.at(want[i]))
					want = slices.Delete(want, i, i+1)
				}
			},
			"take": func(t *rapid.T) {
				now += engine.Time(rapid.IntRange(0, 9).Draw(t, "later"))
				slices.SortFunc(want, order)
				s.eachDue(now, func(ref uint32, r *row) {
					if ref != want[0] || r.dueAt > now {
						t.Fatalf("took row %d due at %d by %d, want %d", ref, r.dueAt, now, want[0])
					}
					want = want[1:]
					s.rows.release(ref, r)
				})
				if len(want) > 0 && s.rows.at(want[0]).dueAt <= now {
					t.Fatalf("row %d is due by %d and was not taken", want[0], now)
				}
			},
		})
	})
}
