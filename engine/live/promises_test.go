package live_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/policies"
)

// TestKindPastTheEnd gives a job whose kind has no configuration of its own that of the last kind, and no other's.
func TestKindPastTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		began := time.Now()
		want := map[engine.Kind]time.Duration{0: 0, 1: time.Second, 2: time.Second, 3: time.Second}
		var jobs []engine.NewJob
		for kind := range want {
			jobs = append(jobs, engine.NewJob{ID: engine.JobID(kind) + 1, Kind: kind})
		}
		if err := w.Enqueue(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		c := live.Config{Engine: settings(4), StopWithin: time.Minute, Handler: func(ctx context.Context, j *engine.Job) error {
			if j.Delivery > 1 {
				return nil
			}
			ends, ok := ctx.Deadline()
			if ok != (want[j.Kind] > 0) || ok && ends.Sub(began) != want[j.Kind] {
				t.Errorf("kind %d: the deadline is after %v (%v), want %v", j.Kind, ends.Sub(began), ok, want[j.Kind])
			}
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Second):
			}
			if timedOut := context.Cause(ctx) == live.ErrTimeout; timedOut != ok {
				t.Errorf("kind %d: timed out: %v, want %v", j.Kind, timedOut, ok)
			}
			return ctx.Err()
		}}
		c.Engine.Kinds = append(c.Engine.Kinds, engine.KindConfig{Retry: c.Engine.Kinds[0].Retry, Timeout: time.Second})
		s := start(t, w, c)
		time.Sleep(3 * time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, len(want))
	})
}

// TestWorkerFreedByTimeout lets a handler that heeds nothing run on beside the next job where the kind frees its worker
// at the timeout; where it does not, the next job waits until the handler has returned.
func TestWorkerFreedByTimeout(t *testing.T) {
	for _, free := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(engine.StoreOptions{})
			w.enqueue(t, 1, 3)
			began := time.Now()
			var mu sync.Mutex
			var at []time.Duration
			c := live.Config{Engine: settings(1), StopWithin: time.Hour, Handler: func(_ context.Context, j *engine.Job) error {
				mu.Lock()
				at = append(at, time.Since(began))
				mu.Unlock()
				if j.Delivery == 1 {
					time.Sleep(10 * time.Second)
				}
				return nil
			}}
			c.Engine.Fetch.Prefetch = 0
			c.Engine.Kinds[0] = engine.KindConfig{Timeout: time.Second, Free: free,
				Retry: &policies.Backoff{Kind: policies.Fixed, First: time.Hour}}
			s := start(t, w, c)
			time.Sleep(35 * time.Second)
			want := []time.Duration{0, time.Second, 2 * time.Second}
			if !free {
				want = []time.Duration{0, 10 * time.Second, 20 * time.Second}
			}
			mu.Lock()
			if !slices.Equal(at, want) {
				t.Errorf("free %v: begun at %v, want %v", free, at, want)
			}
			mu.Unlock()
			if err := s.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// named is a store that notes under which numbers engines claim.
type named struct {
	engine.Store
	mu      sync.Mutex
	holders []engine.EngineID
}

func (n *named) Claim(ctx context.Context, holder engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	n.mu.Lock()
	if !slices.Contains(n.holders, holder) {
		n.holders = append(n.holders, holder)
	}
	n.mu.Unlock()
	return n.Store.Claim(ctx, holder, plan, ttl, dst)
}

// run runs engines on the store until each has claimed, and returns their numbers in the order of their nodes.
func (n *named) run(t *testing.T, store engine.Store, c live.Config) []engine.EngineID {
	t.Helper()
	n.holders = nil
	c.Engine, c.Handler = settings(1), none
	s := start(t, store, c)
	for ; ; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		all := len(n.holders) == max(1, c.Engines)
		n.mu.Unlock()
		if all {
			break
		}
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
	slices.Sort(n.holders)
	return n.holders
}

// registered is a store that counts lives, slowly.
type registered struct {
	*named
	asked  []int32
	within []time.Duration
	err    error
}

func (r *registered) NextLife(ctx context.Context, node int32) (uint32, error) {
	r.asked = append(r.asked, node)
	if ends, ok := ctx.Deadline(); ok {
		r.within = append(r.within, time.Until(ends))
	}
	return uint32(10 + node), r.err
}

// TestGeneration names the life of an engine: as the configuration says, else as the store counts, else by the time.
func TestGeneration(t *testing.T) {
	n := &named{Store: newWorld(engine.StoreOptions{})}
	of := engine.NewEngineID
	if got := n.run(t, n, live.Config{Engines: 2, FirstNode: 3, Generation: 77}); !slices.Equal(got, []engine.EngineID{of(3, 77), of(4, 77)}) {
		t.Errorf("as configured: %v", got)
	}
	r := &registered{named: n}
	if got := n.run(t, r, live.Config{FirstNode: 5, Generation: 78}); got[0] != of(5, 78) || len(r.asked) > 0 {
		t.Errorf("as configured: %v; the store was asked for %v", got, r.asked)
	}
	if got := n.run(t, r, live.Config{Engines: 2, FirstNode: 3}); !slices.Equal(got, []engine.EngineID{of(3, 13), of(4, 14)}) {
		t.Errorf("as the store counts: %v; it was asked for %v", got, r.asked)
	}
	now := uint32(time.Now().Unix())
	first := n.run(t, n, live.Config{Engines: 2})
	if g := first[0].Generation(); g < now || g > uint32(time.Now().Unix())+100 {
		t.Errorf("by the time: %d, it is %d", g, now)
	}
	if second := n.run(t, n, live.Config{}); first[1].Generation() <= first[0].Generation() || second[0].Generation() <= first[1].Generation() {
		t.Errorf("one after the other: %v, %v", first, second)
	}
}

// TestRegistryThatDoesNotAnswer waits for the number of a life as long as for any call, but five seconds at least, and
// runs nothing if there is none: that is an error, unless Run was to stop before.
func TestRegistryThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registered{named: &named{Store: newWorld(engine.StoreOptions{})}, err: errFault}
		for _, timeout := range []time.Duration{time.Millisecond, 20 * time.Second} {
			c := live.Config{Engine: settings(1), Store: r, Handler: none, FirstNode: 6}
			c.Engine.CallTimeout = timeout
			if err := live.Run(t.Context(), c); !errors.Is(err, errFault) || !strings.Contains(err.Error(), "node 6") {
				t.Errorf("got %v", err)
			}
		}
		if want := []time.Duration{5 * time.Second, 20 * time.Second}; !slices.Equal(r.within, want) || len(r.holders) > 0 {
			t.Errorf("waited %v, want %v; claims by %v", r.within, want, r.holders)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := live.Run(stopped, live.Config{Engine: settings(1), Store: r, Handler: none}); err != nil || len(r.asked) != 3 {
			t.Errorf("stopped before that: %v, nodes %v", err, r.asked)
		}
	})
}

// TestPolicyOfEachNode asks the policy of a node what its engine claims.
func TestPolicyOfEachNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		for i := range 3 {
			w.enqueue(t, i+1, i+1)
			time.Sleep(time.Second)
		}
		var nodes []int32
		var order []engine.JobID
		c := live.Config{Engine: settings(1), FirstNode: 8, StopWithin: time.Minute,
			Policy: func(node int32) engine.Policy { nodes = append(nodes, node); return newestFirst{} },
			Handler: func(_ context.Context, j *engine.Job) error {
				order = append(order, j.ID)
				return nil
			}}
		c.Engine.Fetch.Prefetch = 0
		s := start(t, w, c)
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(order, []engine.JobID{3, 2, 1}) || !slices.Equal(nodes, []int32{8}) {
			t.Errorf("ran %v by the policies of nodes %v, want the newest first by that of node 8", order, nodes)
		}
	})
}

type newestFirst struct{}

func (newestFirst) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle, Order: engine.NewestReady})
}

func (newestFirst) Observe(*engine.Observation) {}

// TestDefaults claims five jobs ahead for each worker, and takes up at its start what a dead process has left.
func TestDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		left, _, err := w.Store.Claim(t.Context(), engine.NewEngineID(9, 0), engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}, time.Second, nil)
		if err != nil || len(left) != 1 {
			t.Fatalf("%v, %v", left, err)
		}
		time.Sleep(time.Minute)
		w.enqueue(t, 2, 100)
		most, first, began := 0, -1, time.Now()
		s := start(t, w, live.Config{Engine: settings(3), StopWithin: time.Minute,
			OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
				if most = max(most, len(r.Leases)); c.Op == engine.OpRecover && first < 0 && time.Since(began) == 0 {
					first = len(r.Leases)
				}
			},
			Handler: func(context.Context, *engine.Job) error { time.Sleep(10 * time.Second); return nil }})
		time.Sleep(time.Second / 2)
		synctest.Wait()
		if most != 3+5*3 {
			t.Errorf("claimed %d jobs with 3 workers, want 18", most)
		}
		if first != 1 {
			t.Errorf("at the start %d leases are recovered, want that of the dead; -1: nobody looked", first)
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestDefaultsSendAtOnce has the default engine send the outcome of a job that runs alone when its handler has ended.
func TestDefaultsSendAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		began, sent := time.Now(), time.Duration(0)
		s := start(t, w, live.Config{Engine: settings(3), Handler: none,
			OnCall: func(_ int32, c *engine.Call, _ *engine.Reply, _, _, _ engine.Time) {
				if c.Op == engine.OpCommit {
					sent = time.Since(began)
				}
			}})
		time.Sleep(time.Second)
		w.enqueue(t, 1, 1)
		time.Sleep(time.Second)
		synctest.Wait()
		if sent != time.Second {
			t.Errorf("it is sent %v after it was enqueued", sent-time.Second)
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestBusyEngineIsNotWoken does not claim ahead for each job that is announced while no worker is idle; an engine whose
// signals begin a cooldown hears of them nevertheless.
func TestBusyEngineIsNotWoken(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		name     string
		debounce bool
		begins   time.Duration // of the second job
	}{{"busy", false, 10 * second}, {"every signal counts", true, 14 * second}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(engine.StoreOptions{})
				var began time.Time
				var begins time.Duration
				c := live.Config{Engine: settings(1), Wake: live.WakeOne, StopWithin: time.Minute, Handler: func(_ context.Context, j *engine.Job) error {
					if j.ID == 2 {
						begins = time.Since(began)
						return nil
					}
					time.Sleep(10 * second)
					return nil
				}}
				c.Engine.Fetch.Prefetch, c.Engine.Fetch.Poll, c.Engine.Fetch.Cooldown, c.Engine.Fetch.Debounce = 0, time.Hour, 5*second, tt.debounce
				if !tt.debounce {
					c.Engine.Fetch.Prefetch = 3
				}
				s := start(t, w, c)
				time.Sleep(20 * second)
				began = time.Now()
				w.enqueue(t, 1, 1)
				time.Sleep(9 * second)
				before := w.count(engine.OpClaim)
				w.enqueue(t, 2, 2)
				time.Sleep(second / 2)
				synctest.Wait()
				if n := w.count(engine.OpClaim) - before; n != 0 {
					t.Errorf("%d claims while no worker was idle", n)
				}
				time.Sleep(20 * second)
				if err := s.end(); err != nil || begins != tt.begins {
					t.Errorf("the second job began after %v, want %v; %v", begins, tt.begins, err)
				}
			})
		})
	}
}

// TestStopDoesNotWaitForHeartbeat stops while the extension of a lease that is not needed any more is under way: its
// answer brings nothing, and nobody waits for it.
func TestStopDoesNotWaitForHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		w.fault = func(op engine.Op, _ []engine.JobID) (f fault) {
			if op == engine.OpExtend {
				f.before = 4 * time.Second
			}
			return f
		}
		s := start(t, w, live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: func(context.Context, *engine.Job) error {
			time.Sleep(11 * time.Second)
			return nil
		}})
		time.Sleep(12050 * time.Millisecond)
		began := time.Now()
		if err := s.end(); err != nil || time.Since(began) != 0 || w.count(engine.OpExtend) != 1 {
			t.Errorf("stopped within %v after %d extensions, %v; want at once, after one", time.Since(began), w.count(engine.OpExtend), err)
		}
		w.once(t, 1)
	})
}

// TestErrorOfTheStore passes on what the store says of a call, whatever else is wrong with its answer, and at most once
// a second for each kind of call.
func TestErrorOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 2)
		refused := map[engine.Op]int{}
		w.fault = func(op engine.Op, _ []engine.JobID) fault {
			refuse := (op == engine.OpExtend || op == engine.OpCommit) && refused[op] == 0
			if refuse {
				refused[op]++
			}
			return fault{refuse: refuse}
		}
		failed := map[engine.Op]int{}
		s := start(t, w, live.Config{Engine: settings(2), StopWithin: time.Minute,
			Handler: func(context.Context, *engine.Job) error { time.Sleep(11 * time.Second); return nil },
			OnCall: func(_ int32, c *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
				if r.Err == nil {
					return
				}
				if failed[c.Op]++; r.Err != errFault {
					t.Errorf("%v: %v, want what the store says", c.Op, r.Err)
				}
			}})
		time.Sleep(20 * time.Second)
		if err := s.end(); err != nil || failed[engine.OpExtend] != 1 || failed[engine.OpCommit] != 1 {
			t.Errorf("%v; failed %v", err, failed)
		}
		w.once(t, 2)
	})
}

// hurried is a store that notes how long its callers wait.
type hurried struct {
	*world
	within map[engine.Op]time.Duration
}

func (h *hurried) note(ctx context.Context, op engine.Op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ends, ok := ctx.Deadline(); ok {
		h.within[op] = time.Until(ends)
	}
}

func (h *hurried) Claim(ctx context.Context, holder engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	h.note(ctx, engine.OpClaim)
	return h.world.Claim(ctx, holder, plan, ttl, dst)
}

func (h *hurried) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	h.note(ctx, engine.OpCommit)
	return h.world.Commit(ctx, b, dst)
}

// TestTimeoutsOfCalls waits for a commit as long as commits may take, and for other calls as long as those may.
func TestTimeoutsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hurried{newWorld(engine.StoreOptions{}), map[engine.Op]time.Duration{}}
		h.enqueue(t, 1, 1)
		c := live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: none}
		c.Engine.Reaper.Off = true
		c.Engine.CallTimeout, c.Engine.Commit.Timeout = 3*time.Second, 7*time.Second
		s := start(t, h, c)
		time.Sleep(time.Second)
		if err := s.end(); err != nil || h.within[engine.OpClaim] != 3*time.Second || h.within[engine.OpCommit] != 7*time.Second {
			t.Errorf("waited for %v, want 3 s for a claim and 7 s for a commit; %v", h.within, err)
		}
	})
}

// TestHeartbeatOfNode keeps the leases of a node by one call that names none of them.
func TestHeartbeatOfNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 3)
		var log strings.Builder
		c := live.Config{Engine: settings(3), StopWithin: time.Minute, Logger: slog.New(slog.NewTextHandler(&log, nil)), Handler: func(ctx context.Context, _ *engine.Job) error {
			time.Sleep(time.Minute)
			return ctx.Err()
		}}
		c.Engine.Lease.OfNode = true
		s := start(t, w, c)
		time.Sleep(61 * time.Second)
		synctest.Wait() // for the poll of this instant
		if err := s.end(); err != nil || log.Len() > 0 {
			t.Errorf("%v; %s", err, log.String())
		}
		w.once(t, 3)
	})
}

// TestLeaseThatExpiresUnseen is busy elsewhere while a handler returns and its lease expires by the process's own clock:
// nothing of it is committed, and the job runs again.
func TestLeaseThatExpiresUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		began, runs, frozen := time.Now(), 0, false
		c := live.Config{Engine: settings(2), StopWithin: time.Minute,
			Handler: func(context.Context, *engine.Job) error {
				runs++
				time.Sleep(500 * time.Millisecond)
				return nil
			},
			OnCall: func(int32, *engine.Call, *engine.Reply, engine.Time, engine.Time, engine.Time) {
				if !frozen && time.Since(began) >= 200*time.Millisecond {
					frozen = true
					time.Sleep(2 * time.Second)
				}
			}}
		c.Engine.Lease = engine.LeaseConfig{TTL: time.Second, Local: true}
		s := start(t, w, c)
		time.Sleep(10 * time.Second)
		if err := s.end(); err != nil || runs != 2 || !frozen || w.fenced != 0 {
			t.Errorf("%v; %d runs, %d outcomes fenced, want 2 and none", err, runs, w.fenced)
		}
		w.once(t, 1)
	})
}

// TestNothingIsDue sleeps until it is woken where nothing is ever due.
func TestNothingIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		c := live.Config{Engine: settings(1), Handler: none}
		c.Engine.Fetch.Poll, c.Engine.Reaper.Off = engine.Forever, true
		s := start(t, w, c)
		time.Sleep(time.Hour)
		if n := w.count(engine.OpClaim); n != 1 {
			t.Errorf("%d claims in an hour, want one at the start", n)
		}
		w.enqueue(t, 1, 1)
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 1)
	})
}
