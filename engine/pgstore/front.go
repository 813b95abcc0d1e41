package pgstore

import (
	"context"
	"math"
	"sync"
	"time"

	"qsim/engine"
)

// A transaction that stays open keeps the rows that were deleted or changed since it began from being removed. They
// pile up at the front of the indexes of ready jobs, and every claim walks over all of them: with 200,000 it takes ten
// times as long. So when claims take long and there are many dead rows, a claim begins where the one before it ended.
// Jobs that come before that place meanwhile, because they were put back or have a higher priority, are found by a
// claim that begins at the front: there is one every second, and one when a claim has found fewer jobs than it asked
// for.
const (
	frontEvery = time.Second
	dearFrom   = 20 * time.Millisecond
	manyDead   = 20_000
)

// place is a position in an index of ready jobs ordered by priority and ready key.
type place struct {
	priority int16
	key      int64
}

var frontOfLine = place{math.MinInt16, math.MinInt64}

// fronts holds the positions at which claims begin.
type fronts struct {
	mu    sync.Mutex
	ended [engine.AnyClass + 1]place // the claim before, by the class of its terms
	dear  bool                       // to begin at the front takes long, as of the latest claim that did
	whole time.Time                  // when one last did
}

// begin returns the positions at which a claim begins, by class, and whether that is the front.
func (f *fronts) begin(now time.Time) (from [engine.AnyClass + 1]place, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dear && now.Sub(f.whole) < frontEvery {
		return f.ended, false
	}
	f.whole = now
	for class := range from {
		from[class] = frontOfLine
	}
	return from, true
}

// end notes the positions where a claim ended, and whether the next claim should begin there.
func (f *fronts) end(ended [engine.AnyClass + 1]place, dear bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.dear = ended, dear
}

// isDear reports whether the next claim should begin where this one ended: it found all jobs that it asked for, and
// either did not begin at the front or took long while the table had many dead rows.
func (s *Store) isDear(ctx context.Context, whole, all bool, took time.Duration) bool {
	switch {
	case !all:
		return false
	case !whole:
		return true
	case took < dearFrom:
		return false
	}
	dead := 0
	err := s.pool.QueryRow(ctx, "select pg_stat_get_dead_tuples('jobs'::regclass)").Scan(&dead)
	return err == nil && dead >= manyDead
}
