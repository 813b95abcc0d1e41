package measure

import (
	"math"
	"slices"
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

// quantileOf returns what Histogram.Quantile returns of the durations recorded in all of a list together; 0 of none.
func quantileOf(q float64, list ...*dense) time.Duration {
	var all total
	zeros := uint64(0)
	for _, d := range list {
		all.merge(&d.total)
		zeros += uint64(d.counts[0])
	}
	rank := rankOf(q, all.N)
	seen, above := uint64(0), all.N-rank // as in Histogram.atRank
	switch {
	case above == 0:
		return time.Duration(all.Longest)
	case rank <= zeros:
		return 0
	}
	for i := bucketOf(all.Longest); ; i-- {
		for _, d := range list {
			seen += uint64(d.counts[i])
		}
		if seen > above {
			return time.Duration(min(bucketMiddle(i), all.Longest))
		}
	}
}

// secondsOf returns a quantile of the durations in a list of recordings in seconds; NaN without durations.
func secondsOf(q float64, list ...*dense) float64 {
	none := !slices.ContainsFunc(list, func(d *dense) bool { return d.total.N > 0 })
	return plain.Either(none, math.NaN(), quantileOf(q, list...).Seconds())
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
