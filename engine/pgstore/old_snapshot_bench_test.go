package pgstore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/policies"
)

var held = flag.Duration("held", 3*time.Second, "how long BenchmarkOldSnapshot holds a transaction open; the aim is for 5m")

// BenchmarkOldSnapshot runs 1,000 jobs/s through an engine while a transaction stays open: nothing that is deleted or
// changed meanwhile can be removed. It reports how fast a backlog is worked off at the end against the start, and the
// median time of a call of each kind in the first and the last tenth. A tenth of the jobs fails once.
func BenchmarkOldSnapshot(b *testing.B) {
	for b.Loop() {
		s := openBench(b)
		holdSnapshot(b)
		w := &steady{b: b, s: s, changed: make(chan struct{}, 1)}
		ctx, stop := context.WithCancel(b.Context())
		var engines sync.WaitGroup
		engines.Go(func() {
			if err := live.Run(ctx, w.config()); err != nil {
				b.Error(err)
			}
		})
		first := w.drain()
		calls := w.flow(*held)
		last := w.drain()
		stop()
		engines.Wait()
		var dead int64
		if err := s.pool.QueryRow(b.Context(), "select pg_stat_get_dead_tuples('jobs'::regclass)").Scan(&dead); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(first, "first-jobs/s")
		b.ReportMetric(last, "last-jobs/s")
		b.ReportMetric(first/last, "slower")
		b.ReportMetric(float64(dead), "dead-rows")
		b.ReportMetric(0, "ns/op")
		report(b, calls)
	}
}

// holdSnapshot keeps a transaction open until the benchmark ends.
func holdSnapshot(b *testing.B) {
	b.Helper()
	old, err := pgx.Connect(b.Context(), server.DSN())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = old.Close(context.Background()) })
	for _, text := range []string{"begin isolation level repeatable read", "select count(*) from pg_class"} {
		if _, err := old.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
}

// steady is a stream of jobs to an engine, whose acks it counts and whose calls it times.
type steady struct {
	b       *testing.B
	s       *Store
	came    int64
	acked   atomic.Int64
	changed chan struct{} // more were acked

	mu    sync.Mutex
	began time.Time // start of the measurement; zero: none
	calls []timedCall
}

type timedCall struct {
	op       engine.Op
	at, took time.Duration
}

func (w *steady) config() live.Config {
	fails := errors.New("fails the first time")
	return live.Config{Engine: live.Defaults(64, &policies.Backoff{Kind: policies.Fixed, First: 10 * time.Millisecond, MaxAttempts: 5}),
		Engines: 1, Store: w.s, Policy: func(int32) engine.Policy { return policies.FIFO{} },
		Handler: func(_ context.Context, j *engine.Job) error {
			if j.ID%10 == 0 && j.Delivery == 1 {
				return fails
			}
			return nil
		},
		OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, sent, answered engine.Time) {
			for i := range r.Results {
				if r.Results[i].Status == engine.Applied && c.Batch.Outcomes[i].Verb == engine.Ack {
					w.acked.Add(1)
				}
			}
			select {
			case w.changed <- struct{}{}:
			default:
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if !w.began.IsZero() {
				w.calls = append(w.calls, timedCall{c.Op, time.Since(w.began), answered.Sub(sent)})
			}
		}}
}

func (w *steady) enqueue(n int) {
	fill(w.b, w.s, benchIDs+int(w.came), n)
	w.came += int64(n)
}

// drain returns how many jobs a second the engine acks of a backlog that comes at once: the median of seven.
func (w *steady) drain() float64 {
	const backlog = 5000
	var rates [7]float64
	for i := range rates {
		began := time.Now()
		w.enqueue(backlog)
		w.wait(0)
		rates[i] = backlog / time.Since(began).Seconds()
	}
	slices.Sort(rates[:])
	return rates[len(rates)/2]
}

// wait returns as soon as at most left jobs are not acked.
func (w *steady) wait(left int64) {
	for w.came-w.acked.Load() > left {
		select {
		case <-w.changed:
		case <-w.b.Context().Done():
			w.b.Fatal(w.b.Context().Err())
		}
	}
}

// flow enqueues 1,000 jobs a second for a time, and returns the engine's calls in it.
func (w *steady) flow(d time.Duration) []timedCall {
	w.mu.Lock()
	w.began = time.Now()
	w.mu.Unlock()
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for n := 0; time.Since(w.began) < d; n++ {
		w.enqueue(20)
		<-every.C
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.began = time.Time{}
	return calls
}

// report adds to a benchmark's metrics the median time of calls of each kind in the first and in the last tenth.
func report(b *testing.B, calls []timedCall) {
	b.Helper()
	end := calls[len(calls)-1].at
	for op := engine.OpClaim; op < engine.NumOps; op++ {
		var tenths [2][]time.Duration
		for _, c := range calls {
			switch {
			case c.op != op:
			case c.at < end/10:
				tenths[0] = append(tenths[0], c.took)
			case c.at > end-end/10:
				tenths[1] = append(tenths[1], c.took)
			}
		}
		for i, name := range []string{"first", "last"} {
			if n := len(tenths[i]); n > 0 {
				slices.Sort(tenths[i])
				b.ReportMetric(float64(tenths[i][n/2].Microseconds())/1000, fmt.Sprintf("%s-%v-ms", name, op))
			}
		}
	}
}
