package measure

import (
	"errors"
	"math"
	"slices"

	"qsim/results/plain"
)

// RunHistogram is the distribution of the waits that a query selects, in one run or pooled over several, without empty
// buckets: a kilobyte or two instead of 29, since thousands of runs are kept. Results are stored in this form.
type RunHistogram struct {
	Query Query `json:"query"`
	PackedWaits
}

// PackedWaits is a distribution of waits (Waits) without empty buckets.
type PackedWaits struct {
	Ended      Packed `json:"ended"`
	Unresolved Packed `json:"unresolved"`
}

// Packed is a Histogram without its empty buckets: the indexes of the others and their counts.
type Packed struct {
	Buckets []uint16 `json:"buckets"`
	Counts  []uint32 `json:"counts"` // number of durations, by index of Buckets
	total
}

// Pack returns the content of a histogram, which may be nil, without empty buckets.
func (h *Histogram) Pack() Packed {
	if h.Count() == 0 {
		return Packed{}
	}
	from, to := h.used()
	used := plain.Count(h.counts[from:to], func(n uint32) bool { return n > 0 })
	p := Packed{make([]uint16, 0, used), make([]uint32, 0, used), h.total}
	for i := from; i < to; i++ {
		if n := h.counts[i]; n > 0 {
			p.Buckets, p.Counts = append(p.Buckets, uint16(i)), append(p.Counts, n)
		}
	}
	return p
}

// record counts a duration, v in ns, in the histogram bucket with index i, to which it belongs.
func (p *Packed) record(i int, v int64) {
	at, found := slices.BinarySearch(p.Buckets, uint16(i))
	if !found {
		p.Buckets, p.Counts = slices.Insert(p.Buckets, at, uint16(i)), slices.Insert(p.Counts, at, 0)
	}
	p.Counts[at]++
	p.add(v)
}

// mergePacked adds the durations that a packed histogram counts to this histogram.
func (h *Histogram) mergePacked(p *Packed) {
	for k, i := range p.Buckets {
		h.counts[i] = uint32(min(uint64(h.counts[i])+uint64(p.Counts[k]), math.MaxUint32))
		h.depth = max(h.depth, bucketCount-int(i))
	}
	h.total.merge(&p.total)
}

// Unpack returns the whole Histogram, nil without counts, or an error if the packed one, as from a file, is invalid.
func (p *Packed) Unpack() (*Histogram, error) {
	if len(p.Buckets) == 0 {
		return nil, nil
	}
	if len(p.Buckets) != len(p.Counts) || p.Longest < 0 {
		return nil, errors.New("a histogram contradicts itself")
	}
	q := *p
	q.N = 0
	for i, bucket := range p.Buckets {
		if int(bucket) > bucketOf(p.Longest) || i > 0 && bucket <= p.Buckets[i-1] {
			return nil, errors.New("a histogram contradicts itself")
		}
		q.N += uint64(p.Counts[i])
	}
	h := new(Histogram)
	h.mergePacked(&q)
	return h, nil
}
