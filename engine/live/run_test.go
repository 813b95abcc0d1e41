package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// TestStop stops engines: running jobs are finished and committed, buffered jobs are handed back at
// no cost, no more are claimed, and no goroutine is left (synctest fails when one is).
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 100)
		c := live.Config{Engine: settings(10), StopWithin: time.Minute, Handler: func(ctx context.Context, j *engine.Job) error {
			time.Sleep(time.Second)
			return ctx.Err()
		}}
		c.Engine.Fetch.Prefetch = 5
		s := start(t, w, c)
		time.Sleep(1500 * time.Millisecond)
		began := time.Now()
		if err := s.end(); err != nil {
			t.Errorf("got %v, want a clean stop", err)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("stopped within %v, want 500ms", took)
		}
		if len(w.acks) != 20 || len(w.returns) != 5 {
			t.Errorf("acked %d and returned %d, want 20 and 5", len(w.acks), len(w.returns))
		}
		leases, _, err := w.Store.Claim(t.Context(), 1, engine.Plan{Limit: 100, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 100}}}, time.Second, nil)
		if err != nil || len(leases) != 80 {
			t.Fatalf("%d jobs are ready (%v), want 80", len(leases), err)
		}
		for i := range leases {
			if l := &leases[i]; l.Charged != 1 {
				t.Errorf("job %d was charged %d claims, want 1", l.ID, l.Charged)
			}
		}
	})
}

// TestStopWaitsForClaim stops while a claim is under way: the jobs it brings are handed
// back.
func TestStopWaitsForClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 10)
		w.fault = func(op engine.Op, _ []engine.JobID) (f fault) {
			if op == engine.OpClaim {
				f.after = time.Second
			}
			return f
		}
		var log bytes.Buffer
		s := start(t, w, live.Config{Engine: settings(10), Logger: slog.New(slog.NewTextHandler(&log, nil)), Handler: func(context.Context, *engine.Job) error {
			t.Error("a job ran after the stop")
			return nil
		}})
		time.Sleep(500 * time.Millisecond)
		if err := s.end(); err != nil || len(w.returns) != 10 {
			t.Errorf("got %v and %d jobs returned, want nil and 10", err, len(w.returns))
		}
		if !strings.Contains(log.String(), "outcomes=0 claims=1") {
			t.Errorf("nothing is said of the claim that is waited for:\n%s", log.String())
		}
	})
}

// TestStopBound cancels handlers at the end of StopWithin: one obeys and its job is handed back,
// one finishes all the same, one returns an error with a kind, one a usual error, and one ignores
// it and is abandoned.
func TestStopBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 5)
		const usual = engine.FirstErrorKind + 7
		let := make(chan struct{})
		var mu sync.Mutex
		causes := map[engine.JobID]error{}
		var recorded collected
		s := start(t, w, live.Config{Engine: settings(10), StopWithin: 10 * time.Second, CancelWithin: 3 * time.Second, OtherError: usual,
			Recorder: func(int32) engine.Recorder { return &recorded },
			Handler: func(ctx context.Context, j *engine.Job) error {
				if j.ID == 4 {
					<-let
					return nil
				}
				<-ctx.Done()
				mu.Lock()
				causes[j.ID] = context.Cause(ctx)
				mu.Unlock()
				switch j.ID {
				case 2:
					return nil
				case 3:
					return fmt.Errorf("query: %w", &live.Error{Kind: engine.Conflict})
				case 5:
					return fmt.Errorf("query: %w", &live.Error{Err: ctx.Err()})
				}
				return fmt.Errorf("query: %w", ctx.Err())
			}})
		time.Sleep(time.Second)
		began := time.Now()
		err := s.end()
		if took := time.Since(began); took != 13*time.Second {
			t.Errorf("stopped within %v, want 13s", took)
		}
		var abandoned *live.AbandonedError
		if !errors.As(err, &abandoned) || *abandoned != (live.AbandonedError{Jobs: 1, Handlers: 1}) {
			t.Errorf("got %v, want 1 job abandoned and 1 handler", err)
		}
		for _, id := range []engine.JobID{1, 2, 3, 5} {
			if causes[id] != live.ErrStopped {
				t.Errorf("job %d was cancelled because of %v", id, causes[id])
			}
		}
		if w.returns[1] != 1 || w.acks[2] != 1 {
			t.Errorf("job 1 was returned %d times, job 2 acked %d times, want 1 and 1", w.returns[1], w.acks[2])
		}
		for _, kind := range []engine.ErrorKind{engine.Conflict, usual} {
			if text := recorded.lives(); !strings.Contains(text, fmt.Sprintf("error %d, delay 100ms", kind)) {
				t.Errorf("no nack of kind %d in\n%s", kind, text)
			}
		}
		close(let)
	})
}

// TestDeafStore stops while a call does not return although its time is over.
func TestDeafStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.fault = func(op engine.Op, _ []engine.JobID) (f fault) {
			if op == engine.OpClaim {
				f.before, f.deaf = time.Hour, true
			}
			return f
		}
		s := start(t, w, live.Config{Engine: settings(10), CancelWithin: time.Second, Handler: none})
		time.Sleep(12 * time.Second)
		if n := w.count(engine.OpClaim); n != 3 {
			t.Errorf("%d claims in 12s with a call timeout of 5s, want 3", n)
		}
		var abandoned *live.AbandonedError
		if err := s.end(); !errors.As(err, &abandoned) || *abandoned != (live.AbandonedError{Calls: 3}) {
			t.Errorf("got %v, want 3 calls", err)
		}
		time.Sleep(time.Hour)
	})
}

func none(context.Context, *engine.Job) error { return nil }

// TestTimeout nacks a job when it exceeds its execution timeout, with ErrTimeout as the cause for the handler. Its
// deadline is a time of the wall clock, whatever the origin of the engine's clock.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		c := live.Config{Engine: settings(1), StopWithin: time.Minute}
		c.Engine.Kinds[0].Timeout = 2 * time.Second
		began := time.Now()
		c.Origin = began.Add(-time.Hour)
		var recorded collected
		c.Recorder = func(int32) engine.Recorder { return &recorded }
		c.Handler = func(ctx context.Context, j *engine.Job) error {
			if j.Delivery > 1 {
				return nil
			}
			if ends, ok := ctx.Deadline(); !ok || ends.Sub(began) != 2*time.Second {
				t.Errorf("the context ends %v after the start (%v), want 2s", ends.Sub(began), ok)
			}
			<-ctx.Done()
			if cause := context.Cause(ctx); cause != live.ErrTimeout || !errors.Is(cause, context.DeadlineExceeded) {
				t.Errorf("cancelled because of %v", cause)
			}
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("cancelled after %v", took)
			}
			return ctx.Err()
		}
		s := start(t, w, c)
		time.Sleep(3 * time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 1)
		if text := recorded.lives(); !strings.Contains(text, fmt.Sprintf("nacked       fresh from in-flight, token 1, delivery 1, error %d", engine.Timeout)) {
			t.Errorf("no nack of kind timeout in\n%s", text)
		}
	})
}

// TestTimeoutThatWaits lets the result of a handler count that goes on after its timeout, where the kind of job waits
// for that: an error of its own has the kind that the handler gave it, as in a simulation, and any other is a timeout.
func TestTimeoutThatWaits(t *testing.T) {
	const own = engine.FirstErrorKind + 1
	for _, tt := range []struct {
		name   string
		result error
		want   engine.ErrorKind
	}{
		{"success", nil, engine.NoError},
		{"an error of its own", &live.Error{Kind: own}, own},
		{"the error of its context", context.DeadlineExceeded, engine.Timeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(engine.StoreOptions{})
				w.enqueue(t, 1, 1)
				c := live.Config{Engine: settings(1), StopWithin: time.Minute}
				c.Engine.Kinds[0].Timeout, c.Engine.Kinds[0].WaitOut = time.Second, true
				var failed engine.ErrorKind
				c.OnFailure = func(_ *engine.Job, kind engine.ErrorKind, _ error) { failed = kind }
				c.Handler = func(_ context.Context, j *engine.Job) error {
					if j.Delivery > 1 {
						return nil
					}
					time.Sleep(2 * time.Second)
					return tt.result
				}
				s := start(t, w, c)
				time.Sleep(time.Minute)
				if err := s.end(); err != nil {
					t.Error(err)
				}
				w.once(t, 1)
				if failed != tt.want {
					t.Errorf("the attempt failed with kind %d, want %d", failed, tt.want)
				}
			})
		})
	}
}

// TestFreedWorker gives the worker that a timeout frees the next job, beside a handler that does not listen.
func TestFreedWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 2)
		c := live.Config{Engine: settings(1), StopWithin: time.Hour, CancelWithin: time.Hour}
		c.Engine.Kinds[0].Timeout, c.Engine.Kinds[0].Free = time.Second, true
		began := time.Now()
		c.Handler = func(_ context.Context, j *engine.Job) error {
			if j.ID == 1 && j.Delivery == 1 {
				time.Sleep(time.Minute)
			} else if after := time.Since(began); j.ID == 2 && after != time.Second {
				t.Errorf("the next job begins after %v, want the timeout of 1s", after)
			}
			return nil
		}
		s := start(t, w, c)
		time.Sleep(2 * time.Minute)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 2)
	})
}

// TestLeaseLost cancels a handler whose lease another engine has taken, and ignores its result.
func TestLeaseLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		deaf := true
		w.fault = func(op engine.Op, _ []engine.JobID) fault { return fault{refuse: deaf && op == engine.OpExtend} }
		c := live.Config{Engine: settings(1), StopWithin: time.Minute}
		c.Engine.Lease = engine.LeaseConfig{TTL: time.Second, Heartbeat: 300 * time.Millisecond}
		c.Engine.Reaper.Off = true
		var cause error
		c.Handler = func(ctx context.Context, _ *engine.Job) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		}
		s := start(t, w, c)
		time.Sleep(1100 * time.Millisecond)
		taken, _, err := w.Store.Recover(t.Context(), 7, 1, 0, time.Hour, nil)
		if err != nil || len(taken) != 1 {
			t.Fatalf("recovered %d leases: %v", len(taken), err)
		}
		w.mu.Lock()
		deaf = false
		w.mu.Unlock()
		time.Sleep(300 * time.Millisecond)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if cause != live.ErrLeaseLost || len(w.acks) != 0 || w.fenced != 0 {
			t.Errorf("cancelled because of %v; %d acks, %d fenced", cause, len(w.acks), w.fenced)
		}
	})
}

// TestPanic keeps the worker when a handler panics or ends its goroutine, and shows the
// stack.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 3)
		var log bytes.Buffer
		var mu sync.Mutex
		failed := map[engine.JobID]error{}
		c := live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: explode,
			OnFailure: func(j *engine.Job, kind engine.ErrorKind, err error) {
				mu.Lock()
				defer mu.Unlock()
				failed[j.ID] = err
				if kind != engine.Panicked {
					t.Errorf("job %d failed with kind %d", j.ID, kind)
				}
			}}
		s := start(t, w, c)
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 3)
		for id, want := range map[engine.JobID]string{1: "handler panicked: no <b>bold</b> 🎈", 2: "handler called runtime.Goexit"} {
			var p *live.PanicError
			if !errors.As(failed[id], &p) || p.Error() != want || !bytes.Contains(p.Stack, []byte("live_test.explode")) {
				t.Errorf("job %d failed with %v, want %s and a stack", id, failed[id], want)
			}
		}
		w = newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		c.OnFailure, c.Logger = nil, slog.New(slog.NewTextHandler(&log, nil))
		s = start(t, w, c)
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		if text := log.String(); !strings.Contains(text, "handler panicked") || !strings.Contains(text, "live_test.explode") || !strings.Contains(text, "job=1") {
			t.Errorf("no panic with its stack and job in the log:\n%s", text)
		}
	})
}

func explode(_ context.Context, j *engine.Job) error {
	if j.Delivery == 1 {
		switch j.ID {
		case 1:
			panic("no <b>bold</b> 🎈")
		case 2:
			runtime.Goexit()
		}
	}
	return nil
}

// TestGoexit lets every handler end its goroutine, on the real clock: the next execution
// may come before the worker has gone, and still finds another.
func TestGoexit(t *testing.T) {
	const jobs = 5000
	w := newWorld(engine.StoreOptions{})
	w.enqueue(t, 1, jobs)
	c := live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: func(context.Context, *engine.Job) error {
		runtime.Goexit()
		return nil
	}, OnFailure: func(*engine.Job, engine.ErrorKind, error) {}}
	c.Engine.Kinds[0].Retry = &witness{}
	c.Engine.Fetch.Prefetch = 100
	s := start(t, w, c)
	wait(t, w, 20*time.Second)
	if err := s.end(); err != nil {
		t.Error(err)
	}
	if len(w.dead) != jobs {
		t.Errorf("buried %d jobs, want %d", len(w.dead), jobs)
	}
}

// TestErrorKinds checks that the retry policy gets the kind that an error carries.
func TestErrorKinds(t *testing.T) {
	const mine = engine.FirstErrorKind + 7
	for _, tt := range []struct {
		name  string
		err   error
		other engine.ErrorKind
		want  engine.ErrorKind
	}{
		{"none", nil, 0, engine.NoError},
		{"an error that says nothing", errFault, 0, engine.FirstErrorKind},
		{"the same with a default", errFault, mine, mine},
		{"an error that says its kind", &live.Error{Kind: engine.Throttled, Err: errFault}, mine, engine.Throttled},
		{"a wrapped one", fmt.Errorf("call: %w", &live.Error{Kind: mine}), 0, mine},
		{"a kind of 0", &live.Error{Err: errFault}, mine, mine},
		{"a context that was not cancelled by the driver", context.Canceled, 0, engine.FirstErrorKind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(engine.StoreOptions{})
				w.enqueue(t, 1, 1)
				asked := &witness{}
				c := live.Config{Engine: settings(1), OtherError: tt.other, Handler: func(context.Context, *engine.Job) error { return tt.err }}
				c.Engine.Kinds[0].Retry = asked
				s := start(t, w, c)
				time.Sleep(time.Second)
				if err := s.end(); err != nil {
					t.Error(err)
				}
				if got := engine.ErrorKind(asked.kind.Load()); got != tt.want {
					t.Errorf("the retry policy was asked with kind %d, want %d", got, tt.want)
				}
			})
		})
	}
}

// witness is a retry policy that buries, and stores the error kind of its call.
type witness struct{ kind atomic.Int32 }

func (w *witness) Next(_ *engine.Job, e engine.ErrorKind, _ float64) (engine.Verb, time.Duration) {
	w.kind.Store(int32(e))
	return engine.Bury, 0
}

// TestBrokenStore calls a store that refuses everything at the pace of the pauses, however often it
// announces new jobs, and resumes when the store works again.
func TestBrokenStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.fault = func(engine.Op, []engine.JobID) fault { return fault{refuse: true} }
		var log bytes.Buffer
		s := start(t, w, live.Config{Engine: settings(10), StopWithin: time.Minute, Handler: none, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for i := range 1000 {
			w.enqueue(t, i+1, i+1)
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if n := w.count(engine.OpClaim); n < 90 || n > 101 {
			t.Errorf("%d claims in 10s with a pause of 100ms", n)
		}
		if n := strings.Count(log.String(), "op=claim"); n != 11 {
			t.Errorf("%d complaints of claims in 10s, want one each second:\n%s", n, log.String())
		}
		w.mu.Lock()
		w.fault = nil
		w.mu.Unlock()
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 1000)
	})
}

// TestGenerations lets two Runs of the same node follow each other on a store that
// counts no lives: its memory of the first's commits must not swallow the second's.
func TestGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		for i := range 3 {
			w.enqueue(t, i*10+1, i*10+10)
			s := start(t, struct{ engine.Store }{w}, live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: none})
			time.Sleep(500 * time.Millisecond)
			if err := s.end(); err != nil {
				t.Error(err)
			}
		}
		w.once(t, 30)
	})
}

// TestValidate checks that all errors of a configuration are returned at once.
func TestValidate(t *testing.T) {
	c := live.Config{Engines: -1, FirstNode: -2, StopWithin: -1, CancelWithin: -3, Wake: 9}
	c.Engine.Commit.Backoff, c.Engine.Fetch.ErrorPause = []time.Duration{0}, -1
	err := live.Run(t.Context(), c)
	for _, want := range []string{"engines: -1", "first node: -2", "store: none", "handler: none", "stop within: -1ns", "cancel within: -3ns", "wake: 9", "fetch.error-pause: -1ns", "commit.backoff[0]", "engine: workers: 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
