package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// TestFaults runs jobs that fail, panic, hang and end their goroutines on a store that
// refuses, delays, loses answers and does not notice that nobody waits any more: each
// job is acked exactly once. Then it stops a second load midway, with all that under way,
// and lets another process finish.
func TestFaults(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { storm(t, seed) })
		})
	}
}

func storm(t *testing.T, seed uint64) {
	const jobs = 600
	w := newWorld(engine.StoreOptions{})
	random := rand.New(rand.NewPCG(seed, 1))
	midway := time.Duration(100+random.IntN(1500)) * time.Millisecond
	w.fault = func(op engine.Op, _ []engine.JobID) (f fault) {
		p := random.Float64()
		switch {
		case p < 0.1:
			f.refuse = true
		case p < 0.2:
			f.lose = true
		case p < 0.25:
			f.before = time.Duration(random.ExpFloat64() * float64(time.Second))
		case p < 0.3:
			// It returns within the 5 s of a stop: of one that does not, the stop says so.
			f.after, f.deaf = min(4*time.Second, time.Duration(random.ExpFloat64()*float64(time.Second))), true
		case p < 0.31:
			f.before = time.Hour
		case p < 0.32:
			f.after = time.Hour
		}
		if f.after < time.Hour {
			f.before += time.Duration(random.IntN(3)) * time.Millisecond
		}
		return f
	}
	c := stormy(seed)
	var mu sync.Mutex
	executions := map[engine.JobID]int{}
	c.Handler = func(ctx context.Context, j *engine.Job) error {
		mu.Lock()
		executions[j.ID]++
		mu.Unlock()
		return misbehave(ctx, j, seed)
	}
	w.enqueue(t, 1, jobs)
	s := start(t, w, c)
	wait(t, w, 10*time.Minute)
	if err := s.end(); err != nil {
		t.Errorf("first run: %v", err)
	}
	w.once(t, jobs)

	w.enqueue(t, jobs+1, 2*jobs)
	s = start(t, w, c)
	time.Sleep(midway)
	if err := s.end(); err != nil {
		t.Logf("stopped midway: %v", err)
	}
	if w.Live() == 0 {
		t.Errorf("the stop came too late to show anything")
	}
	c.FirstNode = 10
	s = start(t, w, c)
	wait(t, w, 10*time.Minute)
	if err := s.end(); err != nil {
		t.Errorf("last run: %v", err)
	}
	w.once(t, 2*jobs)

	mu.Lock()
	defer mu.Unlock()
	if len(executions) != 2*jobs {
		t.Errorf("%d jobs were executed, want %d", len(executions), 2*jobs)
	}
}

// stormy returns the configuration of a process with two engines and short timeouts.
func stormy(seed uint64) live.Config {
	c := live.Config{Engine: settings(20), Engines: 2, StopWithin: 5 * time.Second, Wake: live.WakeMode(seed % 3)}
	c.Engine.CallTimeout, c.Engine.Commit.Timeout = 500*time.Millisecond, 500*time.Millisecond
	c.Engine.Lease = engine.LeaseConfig{TTL: 3 * time.Second, Heartbeat: time.Second, RunLate: seed%2 == 1}
	c.Engine.Kinds[0].Timeout = 2 * time.Second
	c.Engine.Fetch.Prefetch = int(seed%2) * 7
	c.Engine.Commit.Batch, c.Engine.Fetch.Batch = 16, 16
	return c
}

// misbehave executes a job in a way that depends on the job, the delivery and the seed.
func misbehave(ctx context.Context, j *engine.Job, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, uint64(j.ID)<<16|uint64(j.Delivery)))
	runs := time.Duration(random.ExpFloat64() * float64(30*time.Millisecond))
	switch p := random.Float64(); {
	case p < 0.1:
		return errFault
	case p < 0.15:
		panic("by design")
	case p < 0.16:
		<-ctx.Done() // until it times out, or its lease is lost
		return ctx.Err()
	case p < 0.17:
		runs = 3 * time.Second // whoever tells it to stop
	case p < 0.2:
		runs = 1500 * time.Millisecond
	}
	time.Sleep(runs)
	return nil
}

// wait waits until the store is empty.
func wait(t *testing.T, w *world, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); w.Live() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d jobs are left after %v", w.Live(), within)
		}
	}
}

// TestRealClock is TestFaults' load on the real clock, without faults of the store, for
// the race detector: goroutines meet as they do in production.
func TestRealClock(t *testing.T) {
	w := newWorld(engine.StoreOptions{})
	const jobs = 3000
	c := live.Config{Engine: settings(32), Engines: 2, StopWithin: 10 * time.Second}
	c.Recorder = func(int32) engine.Recorder { return &unshared{} }
	c.Handler = func(_ context.Context, j *engine.Job) error {
		if j.ID%50 == 0 {
			time.Sleep(time.Millisecond)
		}
		if j.ID%7 == 0 && j.Delivery == 1 {
			return errFault
		}
		return nil
	}
	s := start(t, w, c)
	for id := 1; id <= jobs; id += 10 {
		w.enqueue(t, id, id+9)
	}
	wait(t, w, 20*time.Second)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	w.once(t, jobs)
}

// unshared is a Recorder that a second goroutine would race on.
type unshared struct {
	last  engine.Time
	count int
}

func (u *unshared) Record(e *engine.Event) {
	if u.count++; e.At < u.last {
		panic("an event before the one that was recorded first")
	}
	u.last = e.At
}
