package pgstore

import (
	"context"
	"math"
	"sync"
	"time"

	"qsim/engine"
)

// A transaction that stays open keeps the rows that were deleted or changed since it began from being removed. They
// pile up at the front of the ready lines, and every claim walks over all of them: with 200,000 it takes ten times as
// long. So when claims take long and there are many dead rows, a claim begins where the one before it ended. What comes
// to stand before that place meanwhile, because it was put back or is of higher priority, is found by a claim that
// begins at the front: there is one every second, and one when a claim has found fewer jobs than it asked for.
const (
	frontEvery = time.Second
	dearFrom   = 20 * time.Millisecond
	manyDead   = 20_000
)

// place is a place in a line that is ordered by priority and ready key.
type place struct {
	priority int16
	key      int64
}

var frontOfLine = place{math.MinInt16, math.MinInt64}

// fronts is where claims begin.
type fronts struct {
	mu    sync.Mutex
	ended [engine.AnyClass + 1]place // the claim before, by the class of its terms
	dear  bool                       // to begin at the front takes long, as of the latest claim that did
	whole time.Time                  // when one last did
}

// begin returns the places at which a claim begins, by class.
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

// end takes note of where a claim ended, and whether to begin there pays from now on.
func (f *fronts) end(ended [engine.AnyClass + 1]place, dear bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.dear = ended, dear
}

// isDear reports whether the next claim is to begin where one ended that took so long and found all that it asked for
// or not.
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
