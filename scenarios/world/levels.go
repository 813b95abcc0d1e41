package world

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
)

// scaling is a factor that applies during the windows of a storm.
type scaling struct {
	sim.Window
	storm  int // index of the storm
	factor float64
}

// level is the value of a factor from one time until the next level.
type level struct {
	from   float64 // start of the level in nanoseconds
	factor float64
}

// levels is a factor as a function of time: the product of scalings. Its first level begins at 0. Times may only grow
// from call to call.
type levels struct {
	all []level
	at  int // index of the present level
}

// levelsOf returns the product of scalings up to the time until; times beyond it are invalid.
func levelsOf(scalings []scaling, until engine.Time) levels {
	type edge struct {
		at     engine.Time
		which  int
		begins bool
	}
	var edges []edge
	for i := range scalings {
		s := &scalings[i]
		for k := range max(s.Times, 1) {
			from := s.From.Add(time.Duration(k) * s.Every)
			if from >= until {
				break
			}
			edges = append(edges, edge{from, i, true}, edge{from.Add(s.For), i, false})
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	l := levels{all: []level{{0, 1}}}
	open := make([]int, len(scalings))
	var active []int // ascending, so that products are taken in one order
	for i, e := range edges {
		if e.begins {
			open[e.which]++
		} else {
			open[e.which]--
		}
		at, found := slices.BinarySearch(active, e.which)
		switch {
		case open[e.which] > 0 && !found:
			active = slices.Insert(active, at, e.which)
		case open[e.which] == 0 && found:
			active = slices.Delete(active, at, at+1)
		}
		if i+1 < len(edges) && edges[i+1].at == e.at {
			continue
		}
		product := 1.0
		for _, which := range active {
			product = float64(product * scalings[which].factor)
		}
		if last := &l.all[len(l.all)-1]; last.from == float64(e.at) {
			last.factor = product
		} else if last.factor != product {
			l.all = append(l.all, level{float64(e.at), product})
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
