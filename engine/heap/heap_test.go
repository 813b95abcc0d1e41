package heap_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"qsim/engine/heap"
)

type number int

// Before orders by size.
func (a number) Before(b number) bool { return a < b }

// TestHeap holds a heap against a sorted slice.
func TestHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h heap.Heap[number]
		var want []number
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			if len(want) == 0 || rapid.IntRange(0, 2).Draw(t, "action") > 0 {
				n := number(rapid.IntRange(0, 50).Draw(t, "number"))
				h.Push(n)
				want = append(want, n)
				slices.Sort(want)
			} else if got := h.Pop(); got != want[0] {
				t.Fatalf("popped %d, want %d", got, want[0])
			} else {
				want = want[1:]
			}
			if len(h) != len(want) || len(h) > 0 && h[0] != want[0] {
				t.Fatalf("the first of %d is wrong, want that of %v", len(h), want)
			}
		}
	})
}
