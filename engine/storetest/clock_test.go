package storetest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// TestOwnClock plays the stories on a store whose clock runs by itself, in synctest bubbles where
// that takes no time.
func TestOwnClock(t *testing.T) {
	for _, s := range slices.Concat(claimStories, lineStories, commitStories, batchStories, leaseStories, waitingStories, crowdStories) {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t, onOwnClock, s.options)
				c.flat = true
				s.play(c)
			})
		})
	}
}

func onOwnClock(_ *testing.T, o engine.StoreOptions) (Subject, error) {
	began := time.Now()
	return Subject{Store: memstore.New(func() engine.Time { return engine.Time(time.Since(began)) }, o)}, nil
}
