package measure

import (
	"encoding/json"
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"

	"qsim/results/plain"
)

// subBucketBits and the constants below are the layout of a Histogram: one bucket for each of 0 to 255 ns, then 128 of
// equal width for each power of two, so that a bucket is at most 1/128 of its lowest value wide and its middle at most
// 1/256 (0.4 %) off.
const (
	subBucketBits = 7
	subBuckets    = 1 << subBucketBits
	bucketCount   = (63-subBucketBits-1)<<subBucketBits + 2*subBuckets
)

// Histogram counts durations of any length with a relative error of at most 0.4 %; durations below 256 ns, the largest
// one and the mean are exact. It holds the buckets in use only, in a kilobyte or two, since thousands of runs are kept;
// results are stored in this form. The zero value is empty and ready to use. A bucket counts up to 2^32 − 1 values.
//
// The order of records and merges does not matter.
type Histogram struct {
	Buckets []uint16 `json:"buckets"` // indexes of the buckets in use, ascending
	Counts  []uint32 `json:"counts"`  // number of durations, by index of Buckets
	total
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
	shift := bits.Len64(uint64(v)>>subBucketBits|1) - 1
	return shift<<subBucketBits + int(uint64(v)>>(shift&63))
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

// Record counts the duration d in the histogram; a negative one counts as 0.
func (h *Histogram) Record(d time.Duration) {
	v := max(int64(d), 0)
	h.record(bucketOf(v), v)
}

// record counts a duration, v in ns, in the histogram bucket with index i, to which it belongs.
func (h *Histogram) record(i int, v int64) {
	at, found := slices.BinarySearch(h.Buckets, uint16(i))
	if !found {
		h.insert(at, uint16(i))
	}
	h.Counts[at]++
	h.total.add(v)
}

// insert adds a bucket, with a count of 0, at its place among those in use.
func (h *Histogram) insert(at int, bucket uint16) {
	h.Buckets, h.Counts = slices.Insert(h.Buckets, at, bucket), slices.Insert(h.Counts, at, 0)
}

// Merge adds the durations counted by another histogram to this one.
func (h *Histogram) Merge(other *Histogram) {
	h.total.merge(&other.total)
	if len(h.Buckets) == 0 {
		h.Buckets, h.Counts = slices.Clone(other.Buckets), slices.Clone(other.Counts)
		return
	}
	at := 0
	for k, bucket := range other.Buckets {
		for at < len(h.Buckets) && h.Buckets[at] < bucket {
			at++
		}
		if at == len(h.Buckets) || h.Buckets[at] != bucket {
			h.insert(at, bucket)
		}
		h.Counts[at] = uint32(min(uint64(h.Counts[at])+uint64(other.Counts[k]), math.MaxUint32))
	}
}

// UnmarshalJSON reads a histogram from JSON. It fails if its parts contradict each other.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	type stored Histogram
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if *h = (Histogram{}); len(s.Buckets) == 0 {
		return nil
	}
	rising := func(a, b uint16) int { return plain.Either(a <= b, -1, 1) }
	if len(s.Buckets) != len(s.Counts) || s.Longest < 0 || !slices.IsSortedFunc(s.Buckets, rising) ||
		int(s.Buckets[len(s.Buckets)-1]) > bucketOf(s.Longest) {
		return errors.New("a histogram contradicts itself")
	}
	s.N = plain.Sum(s.Counts, func(n uint32) uint64 { return uint64(n) })
	*h = Histogram(s)
	return nil
}

// Count returns how many durations were recorded.
func (h *Histogram) Count() int64 { return int64(h.N) }

// Max returns the largest duration recorded, 0 of an empty histogram.
func (h *Histogram) Max() time.Duration { return time.Duration(h.Longest) }

// sum returns the sum of the durations recorded, in ns.
func (h *Histogram) sum() float64 { return float64(float64(h.SumHigh)*(1<<64)) + float64(h.SumLow) }

// Quantile returns the smallest duration that at least the share q of the durations
// recorded do not exceed, for q in (0, 1]; 0 of an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration { return h.atRank(rankOf(q, h.N)) }

// rankOf returns the rank, counted from 1, of the quantile q among n sorted values. A product q·n that rounding lifted
// just above a whole number counts as that number.
func rankOf(q float64, n uint64) uint64 {
	rank := uint64(math.Ceil(float64(q*float64(n)) * (1 - 1e-12)))
	return min(max(rank, 1), n)
}

// atRank returns the rank-th smallest duration recorded, for rank in [1, Count]; 0 of an empty histogram.
func (h *Histogram) atRank(rank uint64) time.Duration {
	seen, above := uint64(0), h.N-rank // as many durations may lie above the one looked for
	for k := len(h.Counts) - 1; k >= 0 && above > 0; k-- {
		if seen += uint64(h.Counts[k]); seen > above {
			return time.Duration(min(bucketMiddle(int(h.Buckets[k])), h.Longest))
		}
	}
	return h.Max()
}

// in returns how many durations a histogram counts in bucket i.
func (h *Histogram) in(i int) float64 {
	if at, found := slices.BinarySearch(h.Buckets, uint16(i)); found {
		return float64(h.Counts[at])
	}
	return 0
}

// Bucket is a range of durations, both ends included, with the number of durations recorded in it.
type Bucket struct {
	Low, High time.Duration
	Count     int64
}

// Ranges returns the buckets that are not empty, smallest durations first.
func (h *Histogram) Ranges() (ranges []Bucket) {
	for k, n := range h.Counts {
		low, width := bucketRange(int(h.Buckets[k]))
		high := min(low+width-1, h.Longest)
		ranges = append(ranges, Bucket{time.Duration(low), time.Duration(high), int64(n)})
	}
	return ranges
}
