package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// TestWake enqueues a job when all engines are idle and polls are rare.
func TestWake(t *testing.T) {
	for _, tt := range []struct {
		mode   live.WakeMode
		waited time.Duration
		claims int // expected claims of two engines after the enqueue
	}{
		{live.WakeAll, 0, 2},
		{live.WakeOne, 0, 1},
		{live.WakeNone, 9 * time.Second, 0},
	} {
		t.Run(fmt.Sprintf("mode=%d", tt.mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(engine.StoreOptions{})
				var waited time.Duration
				c := live.Config{Engine: settings(4), Engines: 2, Wake: tt.mode, Handler: func(_ context.Context, j *engine.Job) error {
					waited = j.Waited
					return nil
				}}
				c.Engine.Fetch.Poll, c.Engine.InStep = 10*time.Second, true
				s := start(t, w, c)
				time.Sleep(time.Second)
				before := w.count(engine.OpClaim)
				w.enqueue(t, 1, 1)
				synctest.Wait()
				n := w.count(engine.OpClaim) - before
				time.Sleep(9500 * time.Millisecond)
				synctest.Wait()
				if waited != tt.waited || n != tt.claims {
					t.Errorf("waited %v, %d claims; want %v, %d", waited, n, tt.waited, tt.claims)
				}
				if err := s.end(); err != nil {
					t.Error(err)
				}
				w.once(t, 1)
			})
		})
	}
}

// TestWakeOneForEach wakes an engine for each of the jobs that come at once, or are due at once, as a simulation does:
// none of them waits for a poll while another engine is idle.
func TestWakeOneForEach(t *testing.T) {
	for _, delay := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(engine.StoreOptions{})
			c := live.Config{Engine: settings(1), Engines: 3, Wake: live.WakeOne, StopWithin: time.Minute, Handler: func(_ context.Context, j *engine.Job) error {
				if j.Waited != 0 {
					t.Errorf("delay %v: job %d waited %v", delay, j.ID, j.Waited)
				}
				time.Sleep(time.Minute)
				return nil
			}}
			c.Engine.Fetch = engine.FetchConfig{Batch: 10, Poll: time.Hour, IgnoreDue: true}
			s := start(t, w, c)
			time.Sleep(time.Second)
			jobs := []engine.NewJob{{ID: 1, Delay: delay}, {ID: 2, Delay: delay}, {ID: 3, Delay: delay}}
			if err := w.Enqueue(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
			time.Sleep(delay + time.Second)
			if err := s.end(); err != nil {
				t.Error(err)
			}
			w.once(t, 3)
		})
	}
}

// TestWakeOnePassesBusy wakes the engines in turn, but skips one whose workers are busy.
func TestWakeOnePassesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		c := live.Config{Engine: settings(1), Engines: 2, Wake: live.WakeOne, StopWithin: time.Minute, Handler: func(_ context.Context, j *engine.Job) error {
			if j.Waited != 0 {
				t.Errorf("job %d waited %v", j.ID, j.Waited)
			}
			if j.ID == 1 {
				time.Sleep(time.Minute)
			}
			return nil
		}}
		c.Engine.Fetch.Poll = time.Hour
		s := start(t, w, c)
		time.Sleep(time.Second)
		for id := range 4 {
			w.enqueue(t, id+1, id+1)
			time.Sleep(time.Second)
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 4)
	})
}

// unheard is a store that can be listened to only at the third try.
type unheard struct {
	*world
	mu    sync.Mutex
	tries int
}

func (u *unheard) Listen(ctx context.Context, wake func()) error {
	u.mu.Lock()
	u.tries++
	n := u.tries
	u.mu.Unlock()
	if n < 3 {
		return errors.New("connection lost")
	}
	return u.world.Listen(ctx, wake)
}

// TestListenAgain listens again, after a pause, to a store that it lost.
func TestListenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unheard{world: newWorld(engine.StoreOptions{})}
		var log bytes.Buffer
		c := live.Config{Engine: settings(1), Logger: slog.New(slog.NewTextHandler(&log, nil)), Handler: func(_ context.Context, j *engine.Job) error {
			if want := []time.Duration{50 * time.Millisecond, 0}[j.ID-1]; j.Waited != want {
				t.Errorf("job %d waited %v, want %v", j.ID, j.Waited, want)
			}
			return nil
		}}
		c.Engine.Fetch.Poll = time.Hour
		s := start(t, u, c)
		time.Sleep(50 * time.Millisecond)
		u.enqueue(t, 1, 1) // found after the first pause: engines look when they may have missed something
		time.Sleep(time.Second)
		u.enqueue(t, 2, 2)
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		u.once(t, 2)
		if n := strings.Count(log.String(), "connection lost"); n != 2 {
			t.Errorf("%d complaints, want 2:\n%s", n, log.String())
		}
	})
}

// TestWakeAfterFailedClaim ignores wakes during the pause after a failed claim, for ErrorPause or, if that is 0, for
// Poll; afterwards it does not.
func TestWakeAfterFailedClaim(t *testing.T) {
	const failsAt = 10 * time.Second
	for _, tt := range []struct{ errorPause, poll, pause time.Duration }{
		{time.Second, time.Hour, time.Second},
		{time.Minute, time.Second, time.Minute},
		{0, time.Minute, time.Minute},
	} {
		t.Run(fmt.Sprintf("%v, %v", tt.errorPause, tt.poll), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(engine.StoreOptions{})
				began, failed := time.Now(), false
				w.fault = func(op engine.Op, _ []engine.JobID) fault {
					fails := op == engine.OpClaim && !failed && time.Since(began) >= failsAt
					failed = failed || fails
					return fault{refuse: fails}
				}
				waited := map[engine.JobID]time.Duration{}
				c := live.Config{Engine: settings(1), Handler: func(_ context.Context, j *engine.Job) error {
					waited[j.ID] = j.Waited
					return nil
				}}
				c.Engine.Fetch.ErrorPause, c.Engine.Fetch.Poll, c.Engine.InStep = tt.errorPause, tt.poll, true
				s := start(t, w, c)
				time.Sleep(failsAt)
				w.enqueue(t, 1, 1) // its claim fails, or that of a poll at the same time
				time.Sleep(tt.pause / 2)
				w.enqueue(t, 2, 2)
				time.Sleep(tt.pause/2 + 10*time.Millisecond)
				w.enqueue(t, 3, 3)
				time.Sleep(time.Second / 2)
				synctest.Wait()
				for id, want := range []time.Duration{tt.pause, tt.pause / 2, 0} {
					if got, ran := waited[engine.JobID(id+1)]; !ran || got != want {
						t.Errorf("job %d waited %v (%v), want %v", id+1, got, ran, want)
					}
				}
				if err := s.end(); err != nil {
					t.Error(err)
				}
				w.once(t, 3)
			})
		})
	}
}

// glued is a store whose Listen does not return when its context is done.
type glued struct {
	*world
	let chan struct{}
}

func (g *glued) Listen(context.Context, func()) error {
	<-g.let
	return nil
}

// TestListenerOutlivesStop stops while the store goes on listening: it is reported as a call that did not return.
func TestListenerOutlivesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glued{newWorld(engine.StoreOptions{}), make(chan struct{})}
		s := start(t, g, live.Config{Engine: settings(1), CancelWithin: 3 * time.Second, Handler: none})
		time.Sleep(time.Second)
		began := time.Now()
		var abandoned *live.AbandonedError
		if err := s.end(); !errors.As(err, &abandoned) || *abandoned != (live.AbandonedError{Calls: 1}) || time.Since(began) != 3*time.Second {
			t.Errorf("got %v within %v, want 1 call within 3s", err, time.Since(began))
		}
		close(g.let)
	})
}

// listened is a store on which listening lasts for given times, and then fails.
type listened struct {
	*world
	lasts []time.Duration
	began []time.Time
}

func (l *listened) Listen(ctx context.Context, _ func()) error {
	n := len(l.began)
	if l.began = append(l.began, time.Now()); n == len(l.lasts) {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(l.lasts[n])
	return errors.New("connection lost")
}

// TestPausesOfListening doubles the pause before it listens again, up to five seconds, and begins anew once it could
// listen for longer than that.
func TestPausesOfListening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listened{world: newWorld(engine.StoreOptions{}), lasts: []time.Duration{0, 0, 0, 0, 0, 0, 0, 0, 5 * time.Second, 5*time.Second + 1, 0}}
		want := []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 100, 200}
		s := start(t, l, live.Config{Engine: settings(1), Handler: none})
		time.Sleep(time.Minute)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if len(l.began) != len(want)+1 {
			t.Fatalf("listened %d times, want %d", len(l.began), len(want)+1)
		}
		for i, ms := range want {
			if pause := l.began[i+1].Sub(l.began[i]) - l.lasts[i]; pause != ms*time.Millisecond {
				t.Errorf("pause %d is %v, want %v", i, pause, ms*time.Millisecond)
			}
		}
	})
}

// TestBeforeTheOrigin runs engines whose clock reads less than 0: they handle wakes and store
// errors as usual.
func TestBeforeTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.fault = func(op engine.Op, _ []engine.JobID) fault { return fault{refuse: op == engine.OpRecover} }
		var log bytes.Buffer
		c := live.Config{Engine: settings(1), Origin: time.Now().Add(24 * time.Hour), Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Handler: func(_ context.Context, j *engine.Job) error {
				if j.Waited != 0 {
					t.Errorf("job %d waited %v", j.ID, j.Waited)
				}
				return nil
			}}
		c.Engine.Fetch.Poll = time.Hour
		s := start(t, w, c)
		time.Sleep(50 * time.Millisecond)
		w.enqueue(t, 1, 1)
		time.Sleep(time.Minute)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 1)
		if !strings.Contains(log.String(), errFault.Error()) {
			t.Errorf("no complaint of %v:\n%s", errFault, log.String())
		}
	})
}

// TestManyDeafCalls has more unanswered calls under way than callers, for longer than their
// timeout: calls not sent by then are dropped, and all works again once the store answers.
func TestManyDeafCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		heal := time.Now().Add(time.Minute)
		w.fault = func(engine.Op, []engine.JobID) fault {
			return fault{before: time.Until(heal), deaf: true}
		}
		c := live.Config{Engine: settings(4), StopWithin: time.Minute, Handler: none}
		c.Engine.CallTimeout = 100 * time.Millisecond
		var unsent atomic.Int32
		c.OnCall = func(_ int32, _ *engine.Call, r *engine.Reply, asked, began, ended engine.Time) {
			if began == ended && began.Sub(asked) >= 100*time.Millisecond && errors.Is(r.Err, context.DeadlineExceeded) && began > 0 {
				unsent.Add(1)
			}
		}
		s := start(t, w, c)
		w.enqueue(t, 1, 10)
		time.Sleep(59 * time.Second)
		if n := w.count(engine.OpClaim) + w.count(engine.OpRecover); n != 18 {
			t.Errorf("%d calls under way, want 16 and one for each commit", n)
		}
		if n := unsent.Load(); n < 500 {
			t.Errorf("%d calls were given up in line", n)
		}
		time.Sleep(10 * time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 10)
	})
}

// TestCallsInLine sends a heartbeat every 100 ms, of which the first 20 take 5.05 s: those after 18 wait until the first is
// answered, which is 50 ms after one is sent, and begin then.
func TestCallsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		slow, waited := 0, 0
		w.fault = func(op engine.Op, _ []engine.JobID) (f fault) {
			if op == engine.OpExtend && slow < 20 {
				f.before = 5050 * time.Millisecond
				slow++
			}
			return f
		}
		c := live.Config{Engine: settings(1), StopWithin: time.Minute,
			Handler: func(context.Context, *engine.Job) error { time.Sleep(8 * time.Second); return nil },
			OnCall: func(_ int32, c *engine.Call, _ *engine.Reply, asked, began, _ engine.Time) {
				if began == asked {
					return
				}
				if waited++; began%engine.Time(100*time.Millisecond) != engine.Time(50*time.Millisecond) {
					t.Errorf("%v %d began at %v", c.Op, c.ID, time.Duration(began))
				}
			}}
		c.Engine.Lease.Heartbeat, c.Engine.CallTimeout, c.Engine.Reaper.Off = 100*time.Millisecond, 10*time.Second, true
		s := start(t, w, c)
		time.Sleep(time.Minute)
		if err := s.end(); err != nil || waited < 18 {
			t.Errorf("%v; %d calls waited in line", err, waited)
		}
		w.once(t, 1)
	})
}

// TestOnCall reports each answered call with its times.
func TestOnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 3)
		w.fault = func(op engine.Op, _ []engine.JobID) fault {
			return fault{before: time.Duration(op) * time.Millisecond, lose: op == engine.OpExtend}
		}
		rows := map[engine.Op]int{}
		c := live.Config{Engine: settings(3), FirstNode: 5, Origin: time.Now().Add(-time.Hour), StopWithin: time.Minute,
			Handler: func(context.Context, *engine.Job) error {
				time.Sleep(11 * time.Second)
				return nil
			},
			OnCall: func(node int32, c *engine.Call, r *engine.Reply, asked, began, ended engine.Time) {
				if took := ended.Sub(began); node != 5 || asked != began || took != time.Duration(c.Op)*time.Millisecond || began < engine.Time(time.Hour) {
					t.Errorf("node %d: %v from %v took %v", node, c.Op, time.Duration(began), took)
				}
				if (r.Err != nil) != (c.Op == engine.OpExtend) {
					t.Errorf("%v: %v", c.Op, r.Err)
				}
				rows[c.Op] += r.Rows()
			}}
		s := start(t, w, c)
		time.Sleep(12 * time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if rows[engine.OpClaim] != 3 || rows[engine.OpCommit] != 3 {
			t.Errorf("rows by op: %v, want 3 of claim and of commit", rows)
		}
	})
}

// TestOnWake enqueues three jobs, and two later on, 10 ms apart, each of which takes 35 ms. One engine learns of each at
// once, also while its worker is busy. Of two that are woken in turn the first idle one does; the third job finds none,
// and the first to be idle again learns of it then.
func TestOnWake(t *testing.T) {
	const ms = time.Millisecond
	type word struct {
		node   int32
		at     time.Duration
		missed bool
	}
	for _, tt := range []struct {
		engines int
		want    []word
	}{
		{1, []word{{0, 10 * ms, false}, {0, 20 * ms, false}, {0, 30 * ms, false}, {0, 230 * ms, false}, {0, 240 * ms, false}}},
		{2, []word{{0, 10 * ms, false}, {1, 20 * ms, false}, {0, 45 * ms, true}, {0, 230 * ms, false}, {1, 240 * ms, false}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var words []word
			c := live.Config{Engine: settings(1), Engines: tt.engines, Wake: live.WakeOne}
			c.OnWake = func(node int32, at engine.Time, missed bool) {
				mu.Lock()
				defer mu.Unlock()
				words = append(words, word{node, time.Duration(at), missed})
			}
			c.Handler = func(context.Context, *engine.Job) error { time.Sleep(35 * ms); return nil }
			w := newWorld(engine.StoreOptions{})
			s := start(t, w, c)
			for i, after := range []time.Duration{10 * ms, 10 * ms, 10 * ms, 200 * ms, 10 * ms} {
				time.Sleep(after)
				w.enqueue(t, i+1, i+1)
			}
			time.Sleep(time.Second)
			if err := s.end(); err != nil {
				t.Error(err)
			}
			if !slices.Equal(words, tt.want) {
				t.Errorf("%d engines learnt of jobs at %v, want %v", tt.engines, words, tt.want)
			}
		})
	}
}

// TestOnTick keeps the loop busy for 30 ms while a batch lingers for 5 ms: the engine handles that deadline 25 ms late,
// and no other.
func TestOnTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		var late []time.Duration
		c := live.Config{Engine: settings(2), Handler: none,
			OnTick: func(_ int32, due, at engine.Time) { late = append(late, at.Sub(due)) }}
		c.Engine.Commit.Linger, c.Engine.Commit.Eager = 5*time.Millisecond, false
		c.Handler = func(_ context.Context, j *engine.Job) error {
			time.Sleep(time.Duration(j.ID) * time.Millisecond)
			return nil
		}
		c.OnCall = func(_ int32, call *engine.Call, r *engine.Reply, _, _, _ engine.Time) {
			if call.Op == engine.OpClaim && len(r.Leases) > 0 && r.Leases[0].ID == 12 {
				time.Sleep(30 * time.Millisecond)
			}
		}
		s := start(t, w, c)
		w.enqueue(t, 10, 10) // ends after 10 ms, so that its batch is sent after 15
		time.Sleep(12 * time.Millisecond)
		w.enqueue(t, 12, 12) // its claim's answer is looked at for 30 ms
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if len(late) == 0 || slices.Max(late) != 27*time.Millisecond || slices.Min(late) <= 0 {
			t.Errorf("late by %v, want 27 ms at the most, and none in time: the loop was busy from 12 to 42 ms, and was due at 15", late)
		}
	})
}
