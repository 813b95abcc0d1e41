package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/live/livetest"
	"qsim/engine/memstore"
	"qsim/policies"
)

// BenchmarkThroughput runs b.N jobs whose handlers return at once, from the enqueue in
// batches to the commit: jobs/s. The store holds about backlog ready jobs all the while,
// and pickup is the time from the enqueue of a job to the start of its handler, of every
// 16th job: at the full rate, that of a backlog ahead. cpu-ns/job is what the process
// spent in all, enqueues included. With failing=10 every tenth job fails the first time and
// comes back 10 ms later: without retries all policies do the same.
func BenchmarkThroughput(b *testing.B) {
	for _, policy := range livetest.Policies() {
		for _, engines := range []int{1, 2} {
			b.Run(fmt.Sprintf("policy=%s/store=memory/workers=64/engines=%d", policy, engines), func(b *testing.B) {
				throughput(b, policy, 64, engines, 0)
			})
		}
		b.Run(fmt.Sprintf("policy=%s/store=memory/workers=64/engines=1/failing=10", policy), func(b *testing.B) {
			throughput(b, policy, 64, 1, 10)
		})
	}
}

func throughput(b *testing.B, policy string, workers, engines, failing int) {
	store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
	before := cpu()
	livetest.Load{Policy: policy, Engine: fast(workers), Engines: engines, Enqueue: enqueues, Backlog: 8192, Sampled: 16, Failing: failing}.Run(b, store)
	b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/job")
}

const enqueues = 512 // jobs of one enqueue

// BenchmarkPickup runs handlers of 1 ms at a tenth of the workers' capacity, woken by each enqueue:
// pickup is the delay of an idle engine, from the enqueue to the start of the handler.
func BenchmarkPickup(b *testing.B) {
	for _, engines := range []int{1, 2} {
		b.Run(fmt.Sprintf("policy=fifo/store=memory/workers=64/engines=%d/rate=6400", engines), func(b *testing.B) {
			pickup(b, 64, engines)
		})
	}
}

func pickup(b *testing.B, workers, engines int) {
	clock := live.Clock(time.Now())
	store := memstore.New(clock, engine.StoreOptions{LapseAfter: -1})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	stamps, samples := make([]atomic.Int64, b.N), make([]int64, b.N)
	var ran atomic.Int64
	c := live.Config{Engine: fast(workers / engines), Engines: engines, Store: store, StopWithin: time.Minute,
		Logger: slog.New(slog.DiscardHandler),
		Handler: func(_ context.Context, j *engine.Job) error {
			samples[j.ID-1] = int64(clock()) - stamps[j.ID-1].Load()
			time.Sleep(time.Millisecond)
			if ran.Add(1) == int64(b.N) {
				cancel()
			}
			return nil
		}}
	var done sync.WaitGroup
	done.Go(func() {
		if err := live.Run(ctx, c); err != nil {
			b.Error(err)
		}
	})
	b.ResetTimer()
	begin := clock()
	gap := time.Second / time.Duration(workers*100)
	for i := range b.N {
		if ahead := begin.Add(time.Duration(i) * gap).Sub(clock()); ahead > 0 {
			time.Sleep(ahead)
		}
		stamps[i].Store(int64(clock()))
		if err := store.Enqueue(ctx, []engine.NewJob{{ID: engine.JobID(i + 1)}}); err != nil {
			b.Fatal(err)
		}
	}
	done.Wait()
	b.StopTimer()
	if store.Live() != 0 {
		b.Fatalf("%d jobs are left", store.Live())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	livetest.ReportPickup(b, samples)
}

// BenchmarkBare is the comparison for BenchmarkThroughput: goroutines that enqueue, claim, call the
// handler and commit by themselves, without heartbeats, retries, or a way to stop.
func BenchmarkBare(b *testing.B) {
	b.Run("policy=none/store=memory/workers=2", func(b *testing.B) {
		store := memstore.New(live.Clock(time.Now()), engine.StoreOptions{LapseAfter: -1})
		var lastID, acked atomic.Int64
		before := cpu()
		b.ReportAllocs()
		b.ResetTimer()
		var done sync.WaitGroup
		for worker := range 2 {
			done.Go(func() { acked.Add(bare(b, store, engine.EngineID(worker)<<32, &lastID)) })
		}
		done.Wait()
		b.StopTimer()
		if acked.Load() != int64(b.N) || store.Live() != 0 {
			b.Fatalf("acked %d of %d jobs, %d are left", acked.Load(), b.N, store.Live())
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		b.ReportMetric(float64(cpu()-before)/float64(b.N), "cpu-ns/job")
	})
}

// bare enqueues the rest of b.N jobs, batch by batch, and acks as many.
func bare(b *testing.B, store *memstore.Store, id engine.EngineID, lastID *atomic.Int64) (acked int64) {
	plan := engine.Plan{Limit: enqueues, Terms: []engine.Term{{Class: engine.AnyClass, Limit: enqueues}}}
	var jobs []engine.NewJob
	var leases []engine.Lease
	var results []engine.Result
	batch := engine.Batch{ID: engine.BatchID{Engine: id}}
	for {
		last := lastID.Add(enqueues)
		first := last - enqueues + 1
		last = min(last, int64(b.N))
		jobs = jobs[:0]
		for ; first <= last; first++ {
			jobs = append(jobs, engine.NewJob{ID: engine.JobID(first)})
		}
		if err := store.Enqueue(b.Context(), jobs); err != nil {
			b.Error(err)
		}
		var err error
		if leases, _, err = store.Claim(b.Context(), id, plan, time.Minute, leases[:0]); err != nil {
			b.Error(err)
		}
		if len(jobs) == 0 && len(leases) == 0 {
			return acked
		}
		batch.Outcomes = batch.Outcomes[:0]
		for i := range leases {
			if none(b.Context(), &leases[i].Job) == nil {
				batch.Outcomes = append(batch.Outcomes, engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Ack})
			}
		}
		batch.Settled = batch.ID.Seq
		batch.ID.Seq++
		if results, err = store.Commit(b.Context(), batch, results[:0]); err != nil {
			b.Error(err)
		}
		for i := range results {
			if results[i].Status == engine.Applied {
				acked++
			}
		}
	}
}

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fast is an engine for jobs of a microsecond: large batches.
func fast(workers int) engine.Config {
	c := live.Defaults(workers, &policies.Backoff{MaxAttempts: 20, Kind: policies.Fixed, First: 10 * time.Millisecond})
	c.Fetch.Batch = 512
	c.Commit.Batch, c.Commit.Linger, c.Commit.Calls = 512, time.Millisecond, 4
	return c
}
