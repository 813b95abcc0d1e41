package world

import (
	"slices"
	"time"

	"qsim/engine"
)

// level is the value of a factor from one time until the next level.
type level struct {
	from   float64 // start of the level in nanoseconds
	factor float64
}

// levels is a factor as a function of time: the product of those of storms. Its first level begins at 0. Times may only
// grow from call to call.
type levels struct {
	all []level
	at  int // index of the present level
}

// levelsOf returns the product of the storms' factors up to the time until; times beyond it are invalid.
func levelsOf(storms []strike, until engine.Time) levels {
	var edges []engine.Time // starts and ends of windows
	for i := range storms {
		s := &storms[i]
		for k := range max(s.Times, 1) {
			from := s.From.Add(time.Duration(k) * s.Every)
			if from >= until {
				break
			}
			edges = append(edges, from, from.Add(s.For))
		}
	}
	slices.Sort(edges)
	l := levels{all: []level{{0, 1}}}
	for _, at := range slices.Compact(edges) {
		product := 1.0
		for i := range storms {
			if storms[i].Has(at) {
				product = float64(product * storms[i].factor)
			}
		}
		if last := &l.all[len(l.all)-1]; last.from == float64(at) {
			last.factor = product
		} else if last.factor != product {
			l.all = append(l.all, level{float64(at), product})
		}
	}
	return l
}

// now returns the factor at the time at, which must not be before that of an earlier call, and the end of its validity:
// Never for no end.
func (l *levels) now(at float64) (factor, until float64) {
	for l.at+1 < len(l.all) && l.all[l.at+1].from <= at {
		l.at++
	}
	if l.at+1 < len(l.all) {
		return l.all[l.at].factor, l.all[l.at+1].from
	}
	return l.all[l.at].factor, float64(engine.Never)
}
