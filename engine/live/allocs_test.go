package live_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
)

// TestAllocationsPerJob runs no-op jobs from the claim to the commit: the only allocations are
// blocks of cells and calls to the store, shared by many jobs.
func TestAllocationsPerJob(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const jobs = 200_000
	store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
	batch := make([]engine.NewJob, jobs)
	for i := range batch {
		batch[i].ID = engine.JobID(i + 1)
	}
	if err := store.Enqueue(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var ran atomic.Int64
	c := live.Config{Engine: fast(64), Store: store, StopWithin: time.Minute, Handler: func(context.Context, *engine.Job) error {
		if ran.Add(1) == jobs {
			stop()
		}
		return nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := live.Run(ctx, c); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if store.Live() != 0 {
		t.Fatalf("%d jobs are left", store.Live())
	}
	each := float64(after.Mallocs-before.Mallocs) / jobs
	t.Logf("%.3f allocations a job, %d bytes", each, (after.TotalAlloc-before.TotalAlloc)/jobs)
	if each > 0.25 {
		t.Errorf("%.3f allocations a job, want at most 0.25", each)
	}
}
