package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/policies"
)

// atOnce is a workload of n jobs at one instant.
type atOnce struct{ n, i engine.JobID }

func (w *atOnce) Next(j *engine.NewJob) (engine.Time, bool) {
	w.i++
	*j = engine.NewJob{ID: w.i}
	return second, w.i <= w.n
}

// hasty returns a world without durations: n jobs that all fail, at every attempt, and are retried at once.
func hasty(t *testing.T, n engine.JobID, attempts int) *world {
	w := newWorld(t, 1, 1, 1)
	w.workload = &atOnce{n: n}
	w.flaky.service, w.flaky.fail = drawn(t)(dist.Constant(0)), 1
	for op := range w.links.OneWay {
		w.links.OneWay[op] = drawn(t)(dist.Constant(0))
	}
	w.node.Commit.Linger = 0
	w.node.Kinds = []engine.KindConfig{{Retry: &policies.Backoff{MaxAttempts: attempts, Kind: policies.NoBackoff}}}
	return w
}

// becalmed is a store that never makes due jobs ready.
type becalmed struct{ *memstore.Store }

func (becalmed) PromoteDue(dst []engine.Promotion) []engine.Promotion { return dst }

// TestEndless ends a run whose clock stands still, at the same event each time, and no run that only does much at one
// instant.
func TestEndless(t *testing.T) {
	stuck := func(w *world) *world {
		w.wrap = func(m *memstore.Store) sim.Store { return becalmed{m} }
		return w
	}
	round := []string{"a waiting job becomes due", "claim of node 0 reaches the store", "the answer to claim reaches node 0", "an execution ends",
		"commit of node 0 reaches the store", "the answer to commit reaches node 0"}
	for _, tt := range []struct {
		name  string
		world func() *world
		last  []string // among the last events; nil: it ends by itself
	}{
		{"a job that is due stays waiting", func() *world { return stuck(quietWorldOfRetries(t)) }, round[:1]},
		{"a job is tried for ever", func() *world { return hasty(t, 1, 0) }, round},
		{"nodes are woken by announcements", func() *world {
			w := hasty(t, 1, 0)
			w.config.Announce = func(engine.Time) time.Duration { return 0 }
			return w
		}, append(round[:6:6], "nodes are woken for ready jobs")},
		{"tens of thousands of storms begin", func() *world {
			w := quietWorld(t, 1)
			w.config.Controls = slices.Repeat([]fault.Control{{Kind: fault.StallReaper, For: time.Minute}}, 1e5)
			return w
		}, []string{"a fault begins or ends"}},
		{"calls overtake a recovery", func() *world {
			w := hasty(t, 1, 0)
			w.node.Reaper.OnStart, w.links.OneWay[engine.OpRecover] = true, drawn(t)(dist.Constant(60))
			return w
		}, round},
		{"three jobs are tried for ever", func() *world { return hasty(t, 3, 0) }, round},
		{"a job is tried a thousand times", func() *world { return hasty(t, 1, 1000) }, nil},
		{"3000 jobs are tried ten times by 40 nodes that are all told", func() *world {
			w := hasty(t, 3000, 10)
			w.nodes, w.node.Workers, w.config.Wake = 40, 5, sim.WakeAll
			return w
		}, nil},
		{"3000 jobs on one worker, one a call", func() *world {
			w := hasty(t, 3000, 10)
			w.node.Workers, w.node.Fetch.Batch, w.node.Commit.Batch = 1, 1, 1
			return w
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first := tt.world().ends()
			switch {
			case (first == nil) != (tt.last == nil):
				t.Fatalf("it ended with %v", first)
			case first == nil:
				return
			case len(first.Last) != 8:
				t.Errorf("%v, want 8 events", first)
			}
			for _, event := range tt.last {
				if !slices.Contains(first.Last, event) || !strings.Contains(first.Error(), event) {
					t.Errorf("%v, want %q among the last events", first, event)
				}
			}
			if again := tt.world().ends(); again.Error() != first.Error() || again.At != first.At {
				t.Errorf("%v at %v, then %v at %v", first, first.At, again, again.At)
			}
		})
	}
}

// quietWorldOfRetries returns a world of jobs that fail once and wait for their retry.
func quietWorldOfRetries(t *testing.T) *world {
	w := quietWorld(t, 5)
	w.flaky.fail = 1
	return w
}

// ends runs w to its end, or until its clock stands still.
func (w *world) ends() (e *sim.Endless) {
	defer func() {
		if err, ok := recover().(error); ok && !errors.As(err, &e) {
			panic(err)
		}
	}()
	w.config.Until = engine.Time(time.Hour)
	w.start().Run()
	return nil
}
