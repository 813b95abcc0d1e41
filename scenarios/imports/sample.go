package imports

import (
	"container/heap"
	"slices"
	"time"
)

// sample keeps some of many values: those whose hashes are the smallest, a uniform part of
// them that does not depend on the order in which they come.
type sample struct {
	most  int
	seen  int64
	items []sampled // a heap, the largest hash first
}

type sampled struct {
	hash  uint64
	value float64
}

func newSample(most int) *sample { return &sample{most: most} }

func (s *sample) Len() int           { return len(s.items) }
func (s *sample) Less(i, j int) bool { return s.items[i].before(s.items[j]) }
func (s *sample) Swap(i, j int)      { s.items[i], s.items[j] = s.items[j], s.items[i] }
func (s *sample) Push(x any)         { s.items = append(s.items, x.(sampled)) }
func (s *sample) Pop() any {
	last := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return last
}

// before orders the heap: larger hashes first, then larger values.
func (a sampled) before(b sampled) bool {
	return a.hash > b.hash || a.hash == b.hash && a.value > b.value
}

func (s *sample) add(hash uint64, value float64) {
	s.seen++
	item := sampled{hash, value}
	switch {
	case len(s.items) < s.most:
		heap.Push(s, item)
	case s.items[0].before(item):
		s.items[0] = item
		heap.Fix(s, 0)
	}
}

// values returns what was kept, sorted.
func (s *sample) values() []float64 {
	values := make([]float64, len(s.items))
	for i := range s.items {
		values[i] = s.items[i].value
	}
	slices.Sort(values)
	return values
}

// quantile is the smallest of sorted values that at least the share q does not exceed; 0 of
// none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(at, 1), len(sorted))-1]
}

// timeline counts attempts and failures by time, in bins that become wider as the span grows,
// so that there are few of them.
type timeline struct {
	width time.Duration
	bins  map[int64]bin
}

type bin struct{ attempts, failed int64 }

const mostBins = 4096

func newTimeline() *timeline { return &timeline{time.Second, map[int64]bin{}} }

func (t *timeline) add(at moment, failed bool) {
	index := int64(at) / int64(t.width)
	b := t.bins[index]
	if b.attempts++; failed {
		b.failed++
	}
	t.bins[index] = b
	for len(t.bins) > mostBins {
		t.widen()
	}
}

// widen merges bins two by two. The sums do not depend on the order in which they are made.
func (t *timeline) widen() {
	wide := make(map[int64]bin, len(t.bins))
	for _, index := range t.order() {
		b, w := t.bins[index], wide[index/2]
		wide[index/2] = bin{w.attempts + b.attempts, w.failed + b.failed}
	}
	t.bins, t.width = wide, 2*t.width
}
