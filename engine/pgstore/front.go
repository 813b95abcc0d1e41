package pgstore

import (
	"context"
	"math"
	"sync"
	"time"

	"qsim/engine"
)

// frontEvery and the constants below control where a claim begins to search the index of ready jobs. A transaction that
// stays open keeps the rows that were deleted or changed since it began from being removed. They pile up at the front
// of the indexes of ready and of waiting jobs, and every claim walks over all of them: with 200,000 it takes ten times
// as long. So when claims take long and there are many dead rows, a claim begins a little before where the one before
// it ended. Jobs that come before that place meanwhile, because they were put back or have a higher priority, are found
// by a claim that begins at the front: there is one every second, or so rarely that those claims take a tenth of the
// time. A recovery walks over as many dead rows: recoveries take a twentieth of the time.
const (
	frontEvery  = time.Second
	frontShare  = 10
	frontMargin = 250 * time.Millisecond
	dearFrom    = 20 * time.Millisecond
	manyDead    = 20_000
	reapShare   = 20
)

// place is a position in an index of ready jobs, which are sorted by priority and then by ready key, mostly a time.
type place struct {
	priority int16
	key      int64
}

var frontOfLine = place{math.MinInt16, math.MinInt64}

// fronts holds the index positions at which claims begin their search, and the time until one searches from the front.
type fronts struct {
	mu    sync.Mutex
	ended [engine.AnyClass + 1]place // index positions at which the previous claim ended, by the class of its terms
	due   time.Time                  // earliest due time of a waiting job
	dear  bool                       // by the latest claim from the front, whether such a claim takes long
	whole time.Time                  // time of the latest claim from the front
	rest  time.Duration              // time until the next claim from the front
	reap  time.Time                  // earliest time of the next recovery
}

// begin decides where a claim begins its search: at which position in the index of each class, how long overdue the
// waiting jobs are at most that it looks for, and whether it searches from the front of the indexes.
func (f *fronts) begin(now time.Time) (from [engine.AnyClass + 1]place, back time.Duration, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if whole = !f.dear || now.Sub(f.whole) >= f.rest; whole {
		f.whole = now
	}
	for class := range from {
		from[class] = frontOfLine
		if at := f.ended[class]; !whole && at.key > frontOfLine.key+int64(frontMargin) {
			from[class] = place{at.priority, at.key - int64(frontMargin)}
		}
	}
	if back = longest; !whole {
		back = min(longest, now.Sub(f.due)) + frontMargin
	}
	return from, back, whole
}

// end records a claim for the next call of begin: the index positions at which it ended, when it began, whether that
// was at the front (whole), the delay until the next waiting job is due, and whether to begin where it ended (dear).
func (f *fronts) end(ended [engine.AnyClass + 1]place, began time.Time, whole bool, next time.Duration, dear bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended, f.dear = ended, dear; next > 0 { // else some are due still
		f.due = began
	}
	if whole {
		f.rest = max(frontEvery, frontShare*time.Since(began))
	}
}

// restOfReaper returns the time until the next recovery of expired leases may run; 0: it may run now.
func (f *fronts) restOfReaper(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, f.reap.Sub(now))
}

// reaped records how long a recovery of expired leases took, and whether the next one should wait (dear).
func (f *fronts) reaped(took time.Duration, dear bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reap = (time.Time{}); dear {
		f.reap = time.Now().Add(reapShare * took)
	}
}

// isDear reports whether a call took long because of dead rows (tuples): the table has many, and it took at least
// dearFrom. Later calls then walk over them less often.
func (s *Store) isDear(ctx context.Context, took time.Duration) bool {
	if took < dearFrom {
		return false
	}
	dead := 0 // also if it cannot be found out
	_ = s.pool.QueryRow(ctx, "select pg_stat_get_dead_tuples('jobs'::regclass)").Scan(&dead)
	return dead >= manyDead
}
