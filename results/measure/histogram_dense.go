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
	total  total
}

// record counts a duration, v in ns, in the bucket with index i, to which it belongs; nil counts nothing.
func (d *dense) record(i int, v int64) {
	if d == nil {
		return
	}
	d.counts[i]++
	d.total.add(v)
}

// reset forgets all durations, none of which is in a bucket below lowest. It clears only the buckets from there to the
// last one in use: few, for waits of a short time.
func (d *dense) reset(lowest int) {
	if d.total.N > 0 {
		clear(d.counts[lowest : bucketOf(d.total.Longest)+1])
		d.total = total{}
	}
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
	counts := d.counts[:bucketOf(d.total.Longest)+1]
	used := plain.Count(counts, func(n uint32) bool { return n > 0 })
	h := Histogram{make([]uint16, 0, used), make([]uint32, 0, used), d.total}
	for i, n := range counts {
		if n > 0 {
			h.Buckets, h.Counts = append(h.Buckets, uint16(i)), append(h.Counts, n)
		}
	}
	return h
}
