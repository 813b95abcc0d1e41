package heap

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// room returns the number of entries for which a queue has memory.
func (f *Radix[T]) room() (n int) {
	for _, bucket := range f.buckets {
		n += cap(bucket)
	}
	return n
}

// TestRadix pushes, pops and removes entries at random, several of one time, and holds the queue against a sorted slice.
func TestRadix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f Radix[int64]
		f.Init()
		var want []timed[int64]
		now, key, most := int64(0), uint64(0), 0
		spread := rapid.SampledFrom([]int{0, 3, 40}).Draw(t, "spread") // bits by which some times lie further apart
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if len(want) == 0 && f.First != math.MaxInt64 || len(want) > 0 && (f.First != want[0].at || f.Next() != want[0].key) {
					t.Fatalf("the first is at %d, want that of %v", f.First, want)
				}
				if most = max(most, len(want)); f.room() > 64*most {
					t.Fatalf("room for %d entries, of which there were %d", f.room(), most)
				}
			},
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "n") {
					key++
					at := now + int64(rapid.IntRange(0, 9).Draw(t, "after"))<<rapid.IntRange(0, spread).Draw(t, "bits")
					f.Push(at, key)
					want = append(want, timed[int64]{at, key})
				}
				slices.SortFunc(want, func(a, b timed[int64]) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
			},
			"pop": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(0, 150).Draw(t, "n")) {
					if got := f.Pop(); got != want[0].key {
						t.Fatalf("popped %d, want %+v", got, want[0])
					}
					now, want = want[0].at, want[1:]
				}
			},
			"remove": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(0, 30).Draw(t, "n")) {
					i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
					f.Remove(want[i].at, want[i].key)
					want = slices.Delete(want, i, i+1)
				}
			},
		})
	})
}

// TestRadixStaysSmall has a thousand entries at any time, of which each is replaced by one up to a second later when it is
// popped or, one in ten, removed. Each bucket keeps room for the most that it ever held, so that the whole grows with the
// logarithm of the time alone.
func TestRadixStaysSmall(t *testing.T) {
	const live, second = 1000, 1_000_000_000
	var f Radix[int64]
	f.Init()
	times := make([]int64, live)
	now, draw := int64(0), uint64(1)
	push := func(key uint64) {
		draw = draw*6364136223846793005 + 1442695040888963407
		times[key] = now + int64(draw>>33)%second
		f.Push(times[key], key)
	}
	for key := range uint64(live) {
		push(key)
	}
	most := 0
	for n := range 300_000 {
		key := f.Next()
		if now = f.First; n%10 == 0 {
			key = draw >> 33 % live
			f.Remove(times[key], key)
		} else {
			f.Pop()
		}
		push(key)
		most = max(most, f.room())
	}
	if most > 16*live {
		t.Errorf("room for %d entries, of which there are %d", most, live)
	}
}

// TestRadixGivesMemoryBack pushes more entries than a bucket keeps memory for and pops them all.
func TestRadixGivesMemoryBack(t *testing.T) {
	var f Radix[int64]
	f.Init()
	for i := range int64(3 * mostKept) {
		f.Push(1<<40+i*i%(1<<30), uint64(i))
	}
	last := int64(0)
	for range 3 * mostKept {
		if f.First < last {
			t.Fatalf("%d comes after %d", f.First, last)
		}
		last = f.First
		f.Pop()
	}
	if f.First != math.MaxInt64 || f.room() > 4*mostKept {
		t.Errorf("room for %d entries, the first at %d", f.room(), f.First)
	}
}

// TestRadixRefusesThePast pushes an entry before one that was popped, which was alone or the first of a few.
func TestRadixRefusesThePast(t *testing.T) {
	for others := range uint64(3) {
		var f Radix[int64]
		f.Init()
		f.Push(5, 0)
		for key := range others {
			f.Push(6, key+1)
		}
		f.Pop()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("not refused beside %d others", others)
				}
			}()
			f.Push(4, 10)
		}()
	}
}
