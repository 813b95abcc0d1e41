package sim

import (
	"math/bits"

	"qsim/engine"
)

// finishes holds the ends of executions in a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms for the
// Shortest Path Problem, Journal of the ACM 37, 1990): since no end is added before the latest one removed, they need
// not be sorted, but only parted by the highest bit in which their time differs from the time of that one.
type finishes struct {
	first   engine.Time // time of the first end; Never: there is none
	at      uint        // its bucket
	index   int         // its index there
	latest  engine.Time // time of the latest end removed
	used    uint64      // set of the buckets that are not empty
	buckets [64][]brief // by the number of bits from the highest such bit down, each in the order of additions
}

func (f *finishes) init() { f.first = engine.Never }

// push adds the end of an execution to the radix heap; it comes out after those of the same time.
func (f *finishes) push(e brief) {
	if e.at < f.latest {
		panic("sim: an execution ends in the past")
	}
	at := f.bucket(e.at)
	f.buckets[at] = append(f.buckets[at], e)
	f.used |= 1 << at
	if e.at < f.first {
		f.first, f.at, f.index = e.at, at, len(f.buckets[at])-1
	}
}

// bucket returns the number of the radix heap's bucket for executions that end at the time at.
func (f *finishes) bucket(at engine.Time) uint { return uint(bits.Len64(uint64(at^f.latest))) & 63 }

// next returns the first end of an execution; the heap must not be empty.
func (f *finishes) next() *brief { return &f.buckets[f.at&63][f.index] }

// pop removes and returns the first end of an execution. The others of its bucket go to lower ones. There must be one.
func (f *finishes) pop() brief {
	bucket := &f.buckets[f.at&63]
	ends, i := *bucket, f.index
	first := ends[i]
	if f.at == 0 { // all are of the same time
		if f.index++; f.index < len(ends) {
			return first
		}
		ends = nil
	}
	f.latest, f.first, f.index = first.at, engine.Never, 0
	*bucket = (*bucket)[:0]
	f.used &^= 1 << (f.at & 63)
	if len(ends) < 2 {
		f.seek()
		return first
	}
	for n := range ends { // the next is among them
		if n != i {
			f.push(ends[n])
		}
	}
	return first
}

// seek finds the first end of an execution: the earliest in the radix heap's lowest bucket that is not empty.
func (f *finishes) seek() {
	if f.used == 0 {
		return
	}
	f.at = uint(bits.TrailingZeros64(f.used)) & 63
	ends := f.buckets[f.at]
	for i := range ends {
		if ends[i].at < f.first {
			f.first, f.index = ends[i].at, i
		}
	}
}
