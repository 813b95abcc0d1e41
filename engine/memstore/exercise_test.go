package memstore

import (
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/storetest"
)

// TestExercise plays the stories of the contract, and looks at every structure of the
// store when one has ended.
func TestExercise(t *testing.T) {
	storetest.Exercise(t, func(t *testing.T, o engine.StoreOptions) (storetest.Subject, error) {
		var clock atomic.Int64 // time of the store's clock, also read by listeners
		s := New(func() engine.Time { return engine.Time(clock.Load()) }, o)
		t.Cleanup(func() { check(t, s) })
		return storetest.Subject{Store: s, Advance: func(d time.Duration) { clock.Add(int64(d)) }}, nil
	})
}
