package results

import (
	"math"
	"math/bits"
	"slices"
)

// RunHistogram is a NamedHistogram of one run, with only the buckets that counted
// something: a kilobyte or two instead of 29, since thousands of runs are kept.
type RunHistogram struct {
	Name       string
	Query      Query
	ended      packedHistogram
	unresolved packedHistogram
}

// packedHistogram is a Histogram without its empty buckets.
type packedHistogram struct {
	buckets      []uint16
	counts       []uint32 // of buckets
	count        uint64
	sumHi, sumLo uint64
	max          int64
}

// pack returns what h holds. h may be nil.
func (h *Histogram) pack() packedHistogram {
	if h.Count() == 0 {
		return packedHistogram{}
	}
	p := packedHistogram{count: h.count, sumHi: h.sumHi, sumLo: h.sumLo, max: h.max}
	used := 0
	for _, n := range h.counts {
		if n > 0 {
			used++
		}
	}
	p.buckets, p.counts = make([]uint16, 0, used), make([]uint32, 0, used)
	for i, n := range h.counts {
		if n > 0 {
			p.buckets, p.counts = append(p.buckets, uint16(i)), append(p.counts, n)
		}
	}
	return p
}

// record counts v, whose bucket is i.
func (p *packedHistogram) record(i int, v int64) {
	at, found := slices.BinarySearch(p.buckets, uint16(i))
	if !found {
		p.buckets, p.counts = slices.Insert(p.buckets, at, uint16(i)), slices.Insert(p.counts, at, 0)
	}
	p.counts[at]++
	p.count++
	var carry uint64
	p.sumLo, carry = bits.Add64(p.sumLo, uint64(v), 0)
	p.sumHi += carry
	p.max = max(p.max, v)
}

// mergePacked adds all that p counts to h.
func (h *Histogram) mergePacked(p *packedHistogram) {
	for k, i := range p.buckets {
		h.counts[i] = uint32(min(uint64(h.counts[i])+uint64(p.counts[k]), math.MaxUint32))
	}
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, p.sumLo, 0)
	h.sumHi += p.sumHi + carry
	h.count += p.count
	h.max = max(h.max, p.max)
}
