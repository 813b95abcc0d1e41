package heap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestFIFO compares a FIFO with a slice under random pushes and pops, which must not allocate.
func TestFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q FIFO[int]
		var want []int
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if n := rapid.IntRange(0, 9).Draw(t, "action"); len(want) == 0 || n < 5 {
				q.Push(n)
				want = append(want, n)
			} else if got := q.Pop(); got != want[0] {
				t.Fatalf("popped %d, want %d", got, want[0])
			} else {
				want = want[1:]
			}
			var got []int
			for i := range q.Size() {
				got = append(got, *q.At(i))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	})
	var q FIFO[int]
	for range 10 {
		q.Push(1)
	}
	if n := testing.AllocsPerRun(1000, func() { q.Push(1); q.Pop() }); n != 0 || len(q.ring) > 16 {
		t.Errorf("%v allocations for each that comes and goes, room for %d", n, len(q.ring))
	}
}

// TestFIFOForgets looks for what was popped in the ring.
func TestFIFOForgets(t *testing.T) {
	var q FIFO[*int]
	q.Push(new(int))
	q.Pop()
	if slices.ContainsFunc(q.ring, func(p *int) bool { return p != nil }) {
		t.Error("a popped value is kept alive")
	}
}

// TestFIFOStaysShort has a queue that is never empty: it takes no more memory than a few times the values that wait, and
// hands them out in order.
func TestFIFOStaysShort(t *testing.T) {
	var q FIFO[int]
	for n := range 10_000 {
		if q.Push(n); n < 100 {
			continue
		}
		if got := q.Pop(); got != n-100 {
			t.Fatalf("got %d, want %d", got, n-100)
		}
	}
	if q.Size() != 100 || len(q.ring) > 1000 {
		t.Errorf("%d values wait in a ring of %d", q.Size(), len(q.ring))
	}
}
