package verify

import (
	"math/bits"
	"time"
)

// durations is a histogram of durations with buckets narrower than 1/4096 of their values: compared with intervals of a
// percent, its quantiles are exact. Its zero value is empty.
type durations struct {
	counts []uint32
	total  uint64
}

const fineBits = 12 // number of leading bits of a duration that are kept

func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	shift := max(bits.Len64(v)-fineBits-1, 0)
	return shift<<fineBits + int(v>>shift)
}

func middleOf(bucket int) time.Duration {
	shift := max(bucket>>fineBits-1, 0)
	low := uint64(bucket-shift<<fineBits) << shift
	return time.Duration(low + (uint64(1)<<shift-1)/2)
}

func (d *durations) record(v time.Duration) {
	b := bucketOf(v)
	for b >= len(d.counts) {
		d.counts = append(d.counts, make([]uint32, b+1-len(d.counts))...)
	}
	d.counts[b]++
	d.total++
}

func (d *durations) merge(other *durations) {
	if len(other.counts) > len(d.counts) {
		d.counts = append(d.counts, make([]uint32, len(other.counts)-len(d.counts))...)
	}
	for i, n := range other.counts {
		d.counts[i] += n
	}
	d.total += other.total
}

// quantile returns, in seconds, the least duration that a share q of all do not exceed; 0 if there are none.
func (d *durations) quantile(q float64) float64 {
	rank := q * float64(d.total)
	var below uint64
	for i, n := range d.counts {
		if below += uint64(n); n > 0 && float64(below) >= rank {
			return middleOf(i).Seconds()
		}
	}
	return 0
}
