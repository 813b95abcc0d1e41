package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/policies"
)

// BenchmarkThroughput runs b.N jobs through an engine of 64 workers, from the enqueue in
// batches of a hundred to the last ack: jobs/s, with handlers that return at once. Every
// tenth job fails the first time and is tried again 10 ms later. The store holds about a
// backlog of 2000 ready jobs all the while, and pickup is the time from the enqueue of a
// job to the start of its first handler: at the full rate, that of a backlog ahead.
func BenchmarkThroughput(b *testing.B) {
	for _, policy := range []string{"fifo", "weighted", "inflight-cap", "separate", "fresh-first"} {
		b.Run(fmt.Sprintf("policy=%s/store=postgres/workers=64", policy), func(b *testing.B) { throughput(b, policy) })
	}
}

func newPolicy(b *testing.B, name string) engine.Policy {
	switch name {
	case "fifo":
		return policies.FIFO{}
	case "weighted":
		return &policies.Weighted{Fresh: policies.Fraction(2, 3)}
	case "inflight-cap":
		return policies.InFlightCap{Retries: 16}
	case "separate":
		return &policies.Separate{RetryWorkers: 16}
	case "fresh-first":
		return policies.FreshFirst{}
	}
	b.Fatalf("policy %q", name)
	return nil
}

func throughput(b *testing.B, policy string) {
	const backlog, failing = 2000, 10
	s := openBench(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	began := time.Now()
	enqueued, pickup := make([]int64, b.N+1), make([]int64, b.N+1)
	var ran, acked atomic.Int64
	more := make(chan struct{}, 1)
	errFirst := errors.New("fails the first time")
	c := live.Config{Engine: live.Defaults(64, &policies.Backoff{Kind: policies.Fixed, First: 10 * time.Millisecond, MaxAttempts: 5}), Store: s, StopWithin: time.Minute,
		Policy: func(int32) engine.Policy { return newPolicy(b, policy) },
		Handler: func(_ context.Context, j *engine.Job) error {
			if j.Delivery > 1 {
				return nil
			}
			pickup[j.ID] = int64(time.Since(began)) - atomic.LoadInt64(&enqueued[j.ID])
			if ran.Add(1)%batch == 0 {
				select {
				case more <- struct{}{}:
				default:
				}
			}
			if j.ID%failing == 0 {
				return errFirst
			}
			return nil
		},
		OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, _ engine.Time) {
			for i := range r.Results {
				if r.Results[i].Status == engine.Applied && c.Batch.Outcomes[i].Verb == engine.Ack && acked.Add(1) == int64(b.N) {
					cancel()
				}
			}
		}}
	settle(b, s)
	b.ReportAllocs()
	b.ResetTimer()
	var done sync.WaitGroup
	done.Go(func() {
		if err := live.Run(ctx, c); err != nil {
			b.Error(err)
		}
	})
	for id := 1; id <= b.N; {
		for int64(id)-ran.Load() > backlog {
			<-more
		}
		var some []engine.NewJob
		for ; id <= b.N && len(some) < batch; id++ {
			atomic.StoreInt64(&enqueued[id], int64(time.Since(began)))
			some = append(some, engine.NewJob{ID: engine.JobID(id)})
		}
		if err := s.Enqueue(b.Context(), some); err != nil {
			b.Fatal(err)
		}
	}
	done.Wait()
	b.StopTimer()
	if st, err := s.Stats(b.Context(), 0); err != nil || st != (engine.Stats{}) || acked.Load() != int64(b.N) {
		b.Fatalf("%d of %d jobs acked, the store has %+v, %v", acked.Load(), b.N, st, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	slices.Sort(pickup[1:])
	b.ReportMetric(float64(pickup[1:][b.N/2]), "p50-pickup-ns")
	b.ReportMetric(float64(pickup[1:][b.N*99/100]), "p99-pickup-ns")
}
