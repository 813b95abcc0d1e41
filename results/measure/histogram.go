package measure

import (
	"math"
	"math/bits"
	"time"
)

// subBucketBits and the constants below are the layout of a Histogram: one bucket for each of 0 to 255 ns, then 128 of
// equal width for each power of two, so that a bucket is at most 1/128 of its lowest value wide and its middle at most
// 1/256 (0.4 %) off.
const (
	subBucketBits = 7
	subBuckets    = 1 << subBucketBits
	bucketCount   = (63-subBucketBits-1)<<subBucketBits + 2*subBuckets
)

// Histogram records durations of any length in 29 KiB, with a relative error of at most 0.4 %; durations below 256 ns,
// the largest one and the mean are exact. The zero value is empty and ready to use. A bucket counts up to 2^32 − 1
// values.
//
// The order of records and merges does not matter.
type Histogram struct {
	counts [bucketCount]uint32
	depth  int // number of buckets from the lowest one in use on; 0: none is in use
	total  total
}

// total holds the number of some durations, their sum as a 128-bit number of ns, in two halves, and the longest.
type total struct {
	N       uint64 `json:"-"`
	SumHigh uint64 `json:"sum_high"`
	SumLow  uint64 `json:"sum_low"`
	Longest int64  `json:"max"`
}

func (t *total) add(v int64) {
	t.N++
	if t.SumLow += uint64(v); t.SumLow < uint64(v) {
		t.SumHigh++ // the carry
	}
	if v > t.Longest {
		t.Longest = v
	}
}

func (t *total) merge(other *total) {
	var carry uint64
	t.SumLow, carry = bits.Add64(t.SumLow, other.SumLow, 0)
	t.SumHigh += other.SumHigh + carry
	t.N += other.N
	t.Longest = max(t.Longest, other.Longest)
}

// bucketOf returns the index of the histogram bucket that counts a value, which must not be negative.
func bucketOf(v int64) int {
	shift := max(bits.Len64(uint64(v))-subBucketBits-1, 0)
	return shift<<subBucketBits + int(uint64(v)>>uint(shift))
}

// bucketRange returns the lowest value that bucket i counts and how many values it spans.
func bucketRange(i int) (low, width int64) {
	if i < 2*subBuckets {
		return int64(i), 1
	}
	shift := uint(i>>subBucketBits - 1)
	return int64(i&(subBuckets-1)+subBuckets) << shift, 1 << shift
}

// bucketMiddle returns the middle of histogram bucket i, which stands for the durations counted there.
func bucketMiddle(i int) int64 {
	low, width := bucketRange(i)
	return low + (width-1)/2
}

// Record counts the duration d in the histogram; a negative one counts as 0. A nil histogram counts nothing.
func (h *Histogram) Record(d time.Duration) {
	v := max(int64(d), 0)
	h.recordAt(bucketOf(v), v)
}

// recordAt counts a duration, v in ns, in the histogram bucket with index i, to which it belongs; nil counts nothing.
func (h *Histogram) recordAt(i int, v int64) {
	if h == nil {
		return
	}
	h.counts[i]++
	if depth := bucketCount - i; depth > h.depth {
		h.depth = depth
	}
	h.total.add(v)
}

// used returns the range [from, to) of a histogram's buckets outside which all counts are 0; empty if it is nil.
func (h *Histogram) used() (from, to int) {
	if h == nil || h.depth == 0 {
		return 0, 0
	}
	return bucketCount - h.depth, bucketOf(h.total.Longest) + 1
}

// Merge adds the durations counted by another histogram to this one. A nil histogram counts nothing.
func (h *Histogram) Merge(other *Histogram) {
	if other == nil {
		return
	}
	from, to := other.used()
	for i := from; i < to; i++ {
		h.counts[i] = uint32(min(uint64(h.counts[i])+uint64(other.counts[i]), math.MaxUint32))
	}
	h.depth = max(h.depth, other.depth)
	h.total.merge(&other.total)
}

// Reset empties the histogram. It clears only the range of buckets in use, which is small for waits of a short time.
func (h *Histogram) Reset() {
	from, to := h.used()
	clear(h.counts[from:to])
	h.depth, h.total = 0, total{}
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() int64 {
	if h == nil {
		return 0
	}
	return int64(h.total.N)
}

// Max returns the largest duration recorded, 0 of an empty histogram.
func (h *Histogram) Max() time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.total.Longest)
}

// sum returns the sum of the durations recorded, in ns.
func (h *Histogram) sum() float64 {
	if h == nil {
		return 0
	}
	return float64(float64(h.total.SumHigh)*(1<<64)) + float64(h.total.SumLow)
}

// Quantile returns the smallest duration that at least the share q of the durations
// recorded do not exceed, for q in (0, 1]; 0 of an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count() == 0 {
		return 0
	}
	return h.atRank(rankOf(q, h.total.N))
}

// rankOf returns the rank, counted from 1, of the quantile q among n sorted values. A product q·n that rounding lifted
// just above a whole number counts as that number.
func rankOf(q float64, n uint64) uint64 {
	rank := uint64(math.Ceil(float64(q*float64(n)) * (1 - 1e-12)))
	return min(max(rank, 1), n)
}

// atRank returns the rank-th smallest duration recorded, for rank in [1, Count].
func (h *Histogram) atRank(rank uint64) time.Duration {
	above := h.total.N - rank // as many values may lie above the one looked for
	if above == 0 {
		return time.Duration(h.total.Longest)
	}
	if rank <= uint64(h.counts[0]) {
		return 0
	}
	seen := uint64(0)
	for i := bucketOf(h.total.Longest); ; i-- {
		if seen += uint64(h.counts[i]); seen > above {
			return time.Duration(min(bucketMiddle(i), h.total.Longest))
		}
	}
}

// Bucket is a range of durations, both ends included, with the number of durations recorded in it.
type Bucket struct {
	Low, High time.Duration
	Count     int64
}

// Buckets returns the buckets that are not empty, smallest durations first.
func (h *Histogram) Buckets() []Bucket {
	var buckets []Bucket
	from, to := h.used()
	for i := from; i < to; i++ {
		if n := h.counts[i]; n > 0 {
			low, width := bucketRange(i)
			high := min(low+width-1, h.total.Longest)
			buckets = append(buckets, Bucket{time.Duration(low), time.Duration(high), int64(n)})
		}
	}
	return buckets
}
