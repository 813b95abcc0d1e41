package measure

import (
	"math"
	"time"

	"qsim/results/plain"
)

// dense records durations as a Histogram does, with a count for every bucket, in use or not: in 29 KiB, and fast. The
// zero value is empty and ready to use.
type dense struct {
	counts [bucketCount]uint32
	depth  int // number of buckets from the lowest one in use on; 0: none is in use
	total  total
}

// record counts a duration, v in ns, in the bucket with index i, to which it belongs; nil counts nothing.
func (d *dense) record(i int, v int64) {
	if d == nil {
		return
	}
	d.counts[i]++
	if depth := bucketCount - i; depth > d.depth {
		d.depth = depth
	}
	d.total.add(v)
}

// used returns the range [from, to) of the buckets outside which all counts are 0.
func (d *dense) used() (from, to int) {
	if d.depth == 0 {
		return 0, 0
	}
	return bucketCount - d.depth, bucketOf(d.total.Longest) + 1
}

// reset forgets all durations. It clears only the range of buckets in use, which is small for waits of a short time.
func (d *dense) reset() {
	from, to := d.used()
	clear(d.counts[from:to])
	d.depth, d.total = 0, total{}
}

// quantile returns what Histogram.Quantile returns of the durations recorded; 0 of none.
func (d *dense) quantile(q float64) time.Duration {
	rank := rankOf(q, d.total.N)
	seen, above := uint64(0), d.total.N-rank // as in Histogram.atRank
	switch {
	case above == 0:
		return time.Duration(d.total.Longest)
	case rank <= uint64(d.counts[0]):
		return 0
	}
	for i := bucketOf(d.total.Longest); ; i-- {
		if seen += uint64(d.counts[i]); seen > above {
			return time.Duration(min(bucketMiddle(i), d.total.Longest))
		}
	}
}

// seconds returns a quantile in seconds; NaN without durations.
func (d *dense) seconds(q float64) float64 {
	return plain.Either(d.total.N == 0, math.NaN(), d.quantile(q).Seconds())
}

// histogram returns the durations recorded as a Histogram.
func (d *dense) histogram() Histogram {
	if d.total.N == 0 {
		return Histogram{}
	}
	from, to := d.used()
	used := plain.Count(d.counts[from:to], func(n uint32) bool { return n > 0 })
	h := Histogram{make([]uint16, 0, used), make([]uint32, 0, used), d.total}
	for i := from; i < to; i++ {
		if n := d.counts[i]; n > 0 {
			h.Buckets, h.Counts = append(h.Buckets, uint16(i)), append(h.Counts, n)
		}
	}
	return h
}
