package imports

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// sample is a random sample of a stream of values: those with the smallest hashes, whatever the order of the stream.
type sample struct {
	most  int
	seen  int64
	items []sampled // chosen values, and up to as many more that are dropped later
}

type sampled struct {
	hash  uint64
	value float64
}

func (s *sample) add(hash uint64, value float64) {
	s.seen++
	if s.items = append(s.items, sampled{hash, value}); len(s.items) >= 2*s.most {
		s.trim()
	}
}

// trim drops the values beyond the sample's size.
func (s *sample) trim() {
	slices.SortFunc(s.items, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.value, b.value))
	})
	s.items = s.items[:min(len(s.items), s.most)]
}

func (s *sample) values() []float64 {
	s.trim()
	values := make([]float64, len(s.items))
	for i := range s.items {
		values[i] = s.items[i].value
	}
	slices.Sort(values)
	return values
}

// quantile returns the smallest of sorted values that at least the share q of them do not exceed; 0 for an empty list.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := int(q*float64(len(sorted)) + 0.999999)
	return sorted[min(max(at, 1), len(sorted))-1]
}

// timeline counts attempts and failures in bins of time, which widen with the span, to bound their number.
type timeline struct {
	width time.Duration
	bins  map[int64]bin
}

type bin struct{ attempts, failed int64 }

func (b bin) plus(c bin) bin { return bin{b.attempts + c.attempts, b.failed + c.failed} }

func (b bin) minus(c bin) bin { return bin{b.attempts - c.attempts, b.failed - c.failed} }

const mostBins = 4096

func (t *timeline) add(at timestamp, failed bool) {
	one := bin{attempts: 1}
	if failed {
		one.failed = 1
	}
	index := int64(at) / int64(t.width)
	t.bins[index] = t.bins[index].plus(one)
	for len(t.bins) > mostBins {
		t.widen()
	}
}

// widen merges the bins two by two. The sums do not depend on the order of merging.
func (t *timeline) widen() {
	wide := make(map[int64]bin, len(t.bins))
	for _, index := range t.order() {
		wide[index/2] = wide[index/2].plus(t.bins[index])
	}
	t.bins, t.width = wide, 2*t.width
}

func (t *timeline) order() []int64 { return slices.Sorted(maps.Keys(t.bins)) }

// leastInBin and the constants below define an incident, a time in which attempts fail unusually often.
const (
	leastInBin  = 20   // attempts
	timesUsual  = 5    // its share of failures ÷ that of all time
	leastShare  = 0.25 // least share of failures in an incident
	binsOfSpan  = 200
	leastTrying = 400 // attempts in all
)

// incident returns the stretch of time in which attempts fail most above the usual share; share is 0 if there is none.
func (t *timeline) incident() (from, to timestamp, share float64) {
	order := t.order()
	if len(order) == 0 {
		return 0, 0, 0
	}
	for span := order[len(order)-1] - order[0]; span > binsOfSpan; span /= 2 {
		t.widen()
	}
	order = t.order()
	var all, worst, stretch bin
	for _, i := range order {
		all = all.plus(t.bins[i])
	}
	if all.attempts < leastTrying {
		return 0, 0, 0
	}
	usual := func(without bin) float64 {
		rest := all.minus(without)
		return float64(rest.failed) / float64(max(1, rest.attempts))
	}
	var begun int64
	for n, i := range order {
		b := t.bins[i]
		attempts, failed := float64(b.attempts), float64(b.failed)
		bad := b.attempts >= leastInBin && failed >= leastShare*attempts && failed >= timesUsual/2*usual(b)*attempts
		if !bad || n > 0 && order[n-1] != i-1 {
			stretch = bin{}
		}
		if !bad {
			continue
		}
		if stretch.attempts == 0 {
			begun = i
		}
		stretch = stretch.plus(b)
		if stretch.failed > worst.failed && float64(stretch.failed) >= timesUsual*usual(stretch)*float64(stretch.attempts) {
			worst, from, to = stretch, timestamp(begun*int64(t.width)), timestamp((i+1)*int64(t.width))
		}
	}
	if worst.attempts == 0 {
		return 0, 0, 0
	}
	return from, to, float64(worst.failed) / float64(worst.attempts)
}
