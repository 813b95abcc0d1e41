package storetest_test

import (
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
	"qsim/engine/storetest"
)

// inMemory opens a memory store with a clock moved by the test.
func inMemory(_ *testing.T, o engine.StoreOptions) (storetest.Subject, error) {
	var clock atomic.Int64 // time of the store's clock, also read by listeners
	s := memstore.New(func() engine.Time { return engine.Time(clock.Load()) }, o)
	return storetest.Subject{Store: s, Advance: func(d time.Duration) { clock.Add(int64(d)) }, Redrive: redrive(s)}, nil
}

func redrive(s *memstore.Store) func([]engine.JobID, bool) ([]engine.Promotion, error) {
	return func(jobs []engine.JobID, reset bool) ([]engine.Promotion, error) {
		wanted := map[engine.JobID]bool{}
		for _, id := range jobs {
			wanted[id] = true
		}
		return s.Redrive(func(id engine.JobID) bool { return wanted[id] }, reset, nil), nil
	}
}

func TestMemory(t *testing.T) { storetest.Exercise(t, inMemory) }

// TestSameAsItself plays the random calls of Same on two memory stores: the answers are equal.
func TestSameAsItself(t *testing.T) {
	storetest.Same(t, storetest.Lives{Seed: 1, Count: 40, Calls: 200}, inMemory, inMemory)
}
