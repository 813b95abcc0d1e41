package memstore_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// TestBytesPerLiveJob limits the memory of a live job to 120 bytes.
func TestBytesPerLiveJob(t *testing.T) {
	if got := bytesPerLiveJob(t, 300_000); got > 120 || got < 64 {
		t.Errorf("a live job takes %.1f bytes", got)
	}
}

// BenchmarkMemory reports the heap that a million live jobs hold as bytes/live-job.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(bytesPerLiveJob(b, 999_999), "bytes/live-job")
	}
}

// bytesPerLiveJob measures the heap of a store whose jobs are a third each ready, waiting
// and in flight.
func bytesPerLiveJob(t testing.TB, jobs int) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	now := engine.Time(0)
	s := memstore.NewSingle(func() engine.Time { return now }, engine.StoreOptions{LapseAfter: -1})
	ctx := context.Background()
	var leases []engine.Lease
	for i := range jobs {
		j := engine.NewJob{ID: engine.JobID(i + 1)}
		if i%3 == 1 {
			j.Delay = time.Hour
		}
		if err := s.Enqueue(ctx, []engine.NewJob{j}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}
			leases, _, _ = s.Claim(ctx, 1, plan, time.Minute, leases[:0])
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if s.Live() != jobs {
		t.Fatalf("%d live jobs", s.Live())
	}
	runtime.KeepAlive(s)
	return float64(after.HeapAlloc-before.HeapAlloc) / float64(jobs)
}
