// Package livetest measures engines on the wall clock over any store, as benchmarks.
package livetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/quantity"
	"qsim/policies"
)

// Policies returns the names of the policies under which a Load can be measured.
func Policies() []string {
	return []string{"fifo", "weighted", "inflight-cap", "separate", "fresh-first"}
}

func newPolicy(name string) engine.Policy {
	return map[string]engine.Policy{
		"fifo":         policies.FIFO{},
		"weighted":     &policies.Weighted{Fresh: quantity.Fraction(2, 3)},
		"inflight-cap": policies.InFlightCap{Retries: 16},
		"separate":     &policies.Separate{RetryWorkers: 16},
		"fresh-first":  policies.FreshFirst{},
	}[name]
}

// Load is a benchmark with b.N jobs whose handlers return at once. They are enqueued while engines process them.
type Load struct {
	Policy  string // policy, one of Policies
	Engine  engine.Config
	Engines int // number of engines in this process, at least 1
	Enqueue int // jobs per enqueue call, at least 1
	Backlog int // approximate number of ready jobs throughout, at least Enqueue
	Sampled int // pickup is measured for every Sampled-th job, at least 1
	Failing int // every Failing-th job fails the first time; 0: none
}

// stamps is the number of latest enqueue calls whose times are kept: more than the jobs of a backlog need.
const stamps = 1 << 16

var errFirst = errors.New("fails the first time")

// work is the state of one run of a Load (a benchmark): the jobs enqueued, begun and done, and sampled times.
type work struct {
	Load
	clock    func() engine.Time
	enqueued [stamps]atomic.Int64 // enqueue times by the number of the call, see engine.Time
	pickups  []int64              // pickup times of the sampled jobs, in ns
	begun    atomic.Int64         // number of jobs whose first execution has begun
	acked    atomic.Int64
	more     chan struct{} // signal that there may be room below the backlog
	ended    chan struct{} // closed when the engines have stopped
}

// Run measures the load on an empty store, from the first enqueue to the last ack. It reports jobs/s, and the time from
// the enqueue of a job to the start of its first handler: at the full rate, that of a backlog ahead.
func (l Load) Run(b *testing.B, store engine.Store) {
	b.Helper()
	if newPolicy(l.Policy) == nil {
		b.Fatalf("policy %q", l.Policy)
	}
	w := &work{Load: l, clock: live.Clock(time.Now()), pickups: make([]int64, b.N/l.Sampled+1),
		more: make(chan struct{}, 1), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	total := int64(b.N)
	c := live.Config{Engine: l.Engine, Engines: l.Engines, Store: store, StopWithin: time.Minute, Handler: w.handle,
		Logger: slog.New(slog.DiscardHandler), // benchstat reads what is printed
		Policy: func(int32) engine.Policy { return newPolicy(l.Policy) },
		OnCall: func(_ int32, call *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
			for i := range r.Results {
				if r.Results[i].Status == engine.Applied && call.Batch.Outcomes[i].Verb == engine.Ack && w.acked.Add(1) == total {
					cancel()
				}
			}
		}}
	b.ReportAllocs()
	b.ResetTimer()
	var done sync.WaitGroup
	done.Go(func() {
		defer close(w.ended)
		if err := live.Run(ctx, c); err != nil {
			b.Error(err)
		}
	})
	w.feed(b, store)
	done.Wait()
	b.StopTimer()
	if left, err := store.Stats(b.Context(), 0); err != nil || left != (engine.Stats{}) || w.acked.Load() != total {
		b.Fatalf("acked %d of %d jobs, the store has %+v, %v", w.acked.Load(), total, left, err)
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "jobs/s")
	ReportPickup(b, w.pickups[1:])
}

// handle is the handler of all jobs: it returns at once, and samples the times of pickups.
func (w *work) handle(_ context.Context, j *engine.Job) error {
	if w.Failing > 0 && j.Delivery > 1 {
		return nil
	}
	if id := int(j.ID); id%w.Sampled == 0 {
		w.pickups[id/w.Sampled] = int64(w.clock()) - w.enqueued[id/w.Enqueue%stamps].Load()
	}
	if w.begun.Add(1)%int64(w.Enqueue) == 0 {
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
	if w.Failing > 0 && int(j.ID)%w.Failing == 0 {
		return errFirst
	}
	return nil
}

// feed enqueues the jobs 1 to b.N, and pauses while the backlog is full, unless the engines have stopped.
func (w *work) feed(b *testing.B, store engine.Store) {
	jobs := make([]engine.NewJob, 0, w.Enqueue)
	for id := 1; id <= b.N; {
		for int64(id)-w.begun.Load() > int64(w.Backlog) {
			select {
			case <-w.more:
			case <-w.ended: // the engines have stopped with an error
				return
			}
		}
		jobs = jobs[:0]
		// A call ends where its stamp does.
		for ; id <= b.N && (len(jobs) == 0 || id%w.Enqueue != 0); id++ {
			jobs = append(jobs, engine.NewJob{ID: engine.JobID(id)})
		}
		w.enqueued[int(jobs[0].ID)/w.Enqueue%stamps].Store(int64(w.clock()))
		if err := store.Enqueue(b.Context(), jobs); err != nil {
			b.Fatal(err)
		}
	}
}

// ReportPickup reports the median and the p99 of times in nanoseconds, which it sorts.
func ReportPickup(b *testing.B, samples []int64) {
	b.Helper()
	if len(samples) == 0 {
		return
	}
	slices.Sort(samples)
	b.ReportMetric(float64(samples[len(samples)/2]), "p50-pickup-ns")
	b.ReportMetric(float64(samples[len(samples)*99/100]), "p99-pickup-ns")
}
