package live_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"qsim/engine"
	"qsim/engine/live"
)

// TestStopAfterFailedClaims stops engines while the store refuses every claim: the stop does not wait for failed
// claims.
func TestStopAfterFailedClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(engine.StoreOptions{})
		w.fault = func(op engine.Op, _ []engine.JobID) fault { return fault{refuse: op == engine.OpClaim} }
		s := start(t, w, live.Config{Engine: settings(10), StopWithin: time.Minute, Handler: none})
		time.Sleep(1050 * time.Millisecond)
		if n := w.count(engine.OpClaim); n < 2 {
			t.Errorf("%d claims failed, want some", n)
		}
		began := time.Now()
		if err := s.end(); err != nil {
			t.Errorf("got %v, want a clean stop", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("stopped within %v, want at once", took)
		}
	})
}

// curt is a store that refuses the first batches and answers without results.
type curt struct {
	*world
	left int
}

func (c *curt) Commit(ctx context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	c.mu.Lock()
	c.left--
	left := c.left
	c.mu.Unlock()
	if left >= 0 {
		return dst, nil
	}
	return c.world.Commit(ctx, b, dst)
}

// TestCommitAnsweredTooShort commits to a store that answers with fewer results than outcomes: these outcomes are
// sent again until all have a result.
func TestCommitAnsweredTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &curt{newWorld(engine.StoreOptions{}), 3}
		w.enqueue(t, 1, 5)
		var log bytes.Buffer
		var runs atomic.Int32
		s := start(t, w, live.Config{Engine: settings(5), Logger: slog.New(slog.NewTextHandler(&log, nil)), StopWithin: time.Minute,
			Handler: func(context.Context, *engine.Job) error { runs.Add(1); return nil }})
		time.Sleep(10 * time.Second)
		if err := s.end(); err != nil {
			t.Errorf("got %v, want a clean stop", err)
		}
		w.once(t, 5)
		if n := runs.Load(); n != 5 {
			t.Errorf("%d executions of 5 jobs", n)
		}
		if !strings.Contains(log.String(), "the store answered for 0") {
			t.Errorf("nothing is said of what the store did:\n%s", log.String())
		}
	})
}

// laconic is a store whose first answer to an extension has fewer results than leases.
type laconic struct {
	*world
	asked atomic.Int32
}

func (l *laconic) ExtendLease(ctx context.Context, leases []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
	current, err := l.world.ExtendLease(ctx, leases, ttl, dst)
	if l.asked.Add(1) == 1 {
		return current[:1], err
	}
	return current, err
}

// TestExtensionAnsweredTooShort gets an answer with fewer results than leases: since their leases are unknown, no
// handler is cancelled for a lost lease.
func TestExtensionAnsweredTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &laconic{world: newWorld(engine.StoreOptions{})}
		w.enqueue(t, 1, 3)
		var log bytes.Buffer
		s := start(t, w, live.Config{Engine: settings(3), Logger: slog.New(slog.NewTextHandler(&log, nil)), StopWithin: time.Minute,
			Handler: func(ctx context.Context, _ *engine.Job) error {
				time.Sleep(35 * time.Second)
				return ctx.Err()
			}})
		time.Sleep(time.Minute)
		if err := s.end(); err != nil || w.asked.Load() < 3 {
			t.Errorf("got %v, want a clean stop; extended %d times", err, w.asked.Load())
		}
		w.once(t, 3)
		if !strings.Contains(log.String(), "extend of 3: the store answered for 1") {
			t.Errorf("nothing is said of what the store did:\n%s", log.String())
		}
	})
}
