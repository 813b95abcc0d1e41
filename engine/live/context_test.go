package live_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

type contextKey struct{}

// TestContext looks at a handler's context as a library would: it carries the values of
// Run's, has no deadline without an execution timeout, others can be derived from it, and
// all of them end with the handler, kept or not, whatever runs in its worker next.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 3)
		kept := map[engine.JobID][]context.Context{}
		c := live.Config{Engine: settings(1), Store: w, StopWithin: time.Minute, Handler: func(ctx context.Context, j *engine.Job) error {
			if err := ctx.Err(); err != nil {
				t.Errorf("job %d begins with %v", j.ID, err)
			}
			kept[j.ID] = []context.Context{ctx}
			if j.ID == 1 {
				return nil // never looked at
			}
			derived, cancel := context.WithTimeout(ctx, time.Hour)
			if j.ID == 2 {
				cancel()
				if ctx.Err() != nil || derived.Err() == nil {
					t.Errorf("cancelled a derived context: its own error is %v, that of the handler's %v", derived.Err(), ctx.Err())
				}
				return nil
			}
			context.AfterFunc(derived, cancel)
			if v := ctx.Value(contextKey{}); v != "value" {
				t.Errorf("the value of Run's context is %v", v)
			}
			if ends, ok := ctx.Deadline(); ok {
				t.Errorf("ends at %v without an execution timeout", ends)
			}
			kept[j.ID] = append(kept[j.ID], derived)
			return nil
		}}
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), contextKey{}, "value"))
		done := make(chan error)
		go func() { done <- live.Run(ctx, c) }()
		time.Sleep(time.Second)
		synctest.Wait()
		for id := engine.JobID(1); id <= 3; id++ {
			for _, kept := range kept[id] {
				select {
				case <-kept.Done():
				default:
					t.Errorf("the context %v of job %d goes on after its handler", kept, id)
				}
				if kept.Err() != context.Canceled || context.Cause(kept) != context.Canceled {
					t.Errorf("the context of job %d ended with %v because of %v", id, kept.Err(), context.Cause(kept))
				}
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		w.once(t, 3)
	})
}

// TestHandlerOutlivesStop lets handlers go on after Run's context is done, as their own
// is not.
func TestHandlerOutlivesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.enqueue(t, 1, 1)
		s := start(t, w, live.Config{Engine: settings(1), StopWithin: time.Minute, Handler: func(ctx context.Context, _ *engine.Job) error {
			select {
			case <-ctx.Done():
				t.Errorf("cancelled because of %v", context.Cause(ctx))
			case <-time.After(30 * time.Second):
			}
			return nil
		}})
		time.Sleep(time.Second)
		if err := s.end(); err != nil {
			t.Error(err)
		}
		w.once(t, 1)
	})
}

// TestClock reads the same time whether the origin has a monotonic reading or not, and
// none that depends on the wall clock afterwards.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := time.Now().Add(-time.Hour)
		one, two := live.Clock(origin), live.Clock(origin.Round(0))
		time.Sleep(time.Second)
		if a, b := one(), two(); a != b || a != engine.Time(time.Hour+time.Second) {
			t.Errorf("got %v and %v, want 1h0m1s", time.Duration(a), time.Duration(b))
		}
	})
}

// TestErrorTexts compares the messages of the package's error types, and unwraps their causes.
func TestErrorTexts(t *testing.T) {
	cause := errors.New("disk full")
	for _, tt := range []struct {
		err   error
		text  string
		wraps bool
	}{
		{&live.Error{Kind: 7, Err: cause}, "disk full", true},
		{&live.Error{Kind: 7}, "error of kind 7", false},
		{&live.PanicError{Value: cause}, "handler panicked: disk full", true},
		{&live.PanicError{Value: "disk full"}, "handler panicked: disk full", false},
		{&live.PanicError{}, "handler called runtime.Goexit", false},
		{&live.AbandonedError{Jobs: 3, Handlers: 2, Calls: 1}, "stop: abandoned 3 jobs; 2 handlers and 1 calls to the store did not return", false},
	} {
		if tt.err.Error() != tt.text || errors.Is(tt.err, cause) != tt.wraps {
			t.Errorf("got %q, want %q; wraps its cause: %v", tt.err, tt.text, !tt.wraps)
		}
	}
}
