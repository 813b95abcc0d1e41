package memstore_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// BenchmarkMemory reports the heap that a million live jobs hold, a third each
// ready, waiting and in flight, as bytes/live-job.
func BenchmarkMemory(b *testing.B) {
	const jobs = 999_999
	for b.Loop() {
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
				b.Fatal(err)
			}
			if i%3 == 2 {
				plan := engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}
				leases, _, _ = s.Claim(ctx, 1, plan, time.Minute, leases[:0])
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if s.Live() != jobs {
			b.Fatalf("%d live jobs", s.Live())
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/jobs, "bytes/live-job")
		runtime.KeepAlive(s)
	}
}
