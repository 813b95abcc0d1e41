package heap

import (
	"math"
	"math/bits"
	"slices"
)

// Radix is a priority queue of keys by time: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the
// Shortest Path Problem, Journal of the ACM 37, 1990). Since no time is added before the latest one removed, entries
// need not be sorted, but only parted by the highest bit in which their time differs from that one; the first of a few
// is searched for. Entries of equal times come out in the order of their additions. Init makes it ready for use.
type Radix[T ~int64] struct {
	First   T              // time of the first entry; the greatest value of T: there is none
	at      uint           // its bucket
	index   int            // its index there; bucket 0 begins with as many entries that were removed
	latest  T              // time of the latest entry popped
	from    T              // time from which entries differ in a bit: that of the latest popped, or of an earlier one
	used    uint64         // set of the buckets that are not empty
	buckets [64][]timed[T] // by the number of bits from the highest such bit down, each in the order of additions
}

// timed is an entry of a Radix.
type timed[T ~int64] struct {
	at  T
	key uint64
}

// few is the largest number of entries that are not parted: searching them takes less.
const few = 8

// mostKept is the largest number of entries for which the memory of an empty bucket is kept.
const mostKept = 1 << 16

// Init makes a zero Radix an empty queue.
func (f *Radix[T]) Init() { f.First = math.MaxInt64 }

// Push adds a key with its time, which must not be before that of the latest entry popped.
func (f *Radix[T]) Push(at T, key uint64) {
	if at < f.latest {
		panic("heap: an entry is before one that was popped")
	}
	f.put(at, key)
}

// put puts a key with its time into its bucket.
func (f *Radix[T]) put(at T, key uint64) {
	b := f.bucket(at)
	f.buckets[b] = append(f.buckets[b], timed[T]{at, key})
	f.used |= 1 << b
	if at < f.First {
		f.First, f.at, f.index = at, b, len(f.buckets[b])-1
	}
}

// bucket returns the number of the bucket for entries of the time at.
func (f *Radix[T]) bucket(at T) uint { return uint(bits.Len64(uint64(at^f.from))) & 63 }

// Next returns the key of the first entry of a queue that is not empty.
func (f *Radix[T]) Next() uint64 { return f.buckets[f.at&63][f.index].key }

// Pop removes the first entry of a queue that is not empty and returns its key. The others of its bucket go to lower
// ones, unless they are few.
func (f *Radix[T]) Pop() uint64 {
	bucket := &f.buckets[f.at&63]
	all, i := *bucket, f.index
	first := all[i]
	if f.at == 0 { // all are of the same time
		if f.index++; f.index < len(all) {
			return first.key
		}
	}
	f.latest, f.First, f.index = first.at, math.MaxInt64, 0
	if last := len(all) - 1; f.at > 0 && 0 < last && last < few {
		for ; i < last; i++ {
			all[i] = all[i+1]
		}
		*bucket = all[:last]
		f.seek()
		return first.key
	}
	f.from = first.at
	*bucket = all[:0]
	if cap(all) > mostKept {
		*bucket = nil
	}
	f.used &^= 1 << (f.at & 63)
	if f.at == 0 || len(all) < 2 {
		f.seek()
		return first.key
	}
	for n, e := range all { // the next is among them
		if n != i {
			f.put(e.at, e.key)
		}
	}
	return first.key
}

// Remove removes the entry with a key that was pushed with the time at. It looks at those pushed later into the same
// bucket, and at all of the first bucket if the entry is the first.
func (f *Radix[T]) Remove(at T, key uint64) {
	if f.at == 0 {
		f.buckets[0], f.index = slices.Delete(f.buckets[0], 0, f.index), 0
	}
	b := f.bucket(at)
	all := f.buckets[b]
	i := len(all) - 1
	for all[i].key != key {
		i--
	}
	if f.buckets[b] = slices.Delete(all, i, i+1); len(all) == 1 {
		f.used &^= 1 << b
	}
	switch {
	case b != f.at || i > f.index:
	case i < f.index:
		f.index--
	default:
		f.First, f.index = math.MaxInt64, 0
		f.seek()
	}
}

// seek finds the first entry: the earliest in the lowest bucket that is not empty.
func (f *Radix[T]) seek() {
	if f.used == 0 {
		return
	}
	f.at = uint(bits.TrailingZeros64(f.used)) & 63
	all := f.buckets[f.at]
	for i := range all {
		if all[i].at < f.First {
			f.First, f.index = all[i].at, i
		}
	}
}
