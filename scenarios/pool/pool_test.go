package pool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestEachReturnsTheFirstFailure checks that Each returns the error of the failing piece with the least index.
func TestEachReturnsTheFirstFailure(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2, 5, 20} {
		synctest.Test(t, func(t *testing.T) {
			var done atomic.Int64
			err := Each(t.Context(), width, 20, func(ctx context.Context, i int) error {
				time.Sleep(time.Duration(20-i) * time.Second) // later pieces end first
				if i == 3 || i == 4 || i == 7 {
					return fmt.Errorf("piece %d", i)
				}
				if i < 3 && ctx.Err() != nil {
					t.Errorf("width %d: piece %d, before the failure, is cancelled", width, i)
				}
				done.Add(1)
				return nil
			})
			if err == nil || err.Error() != "piece 3" {
				t.Errorf("width %d: got %v, want piece 3", width, err)
			}
			if done.Load() < 3 {
				t.Errorf("width %d: %d pieces have ended, want at least those before the failure", width, done.Load())
			}
		})
	}
}

// TestEachCancelsLaterPieces checks that a failure cancels the pieces after it, whose errors do not replace it.
func TestEachCancelsLaterPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("boom")
		err := Each(t.Context(), 4, 4, func(ctx context.Context, i int) error {
			if i == 0 {
				time.Sleep(time.Second)
				return boom
			}
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, boom) {
			t.Errorf("got %v, want %v", err, boom)
		}
	})
}

// TestEachUntilThereIsEnough checks that a piece's ErrEnough makes Each begin no more pieces and return no error.
func TestEachUntilThereIsEnough(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 3} {
		var begun atomic.Int64
		err := Each(t.Context(), width, 1000, func(ctx context.Context, i int) error {
			begun.Add(1)
			if i == 5 {
				return ErrEnough
			}
			return ctx.Err()
		})
		if n := begun.Load(); err != nil || n < 6 || width == 1 && n != 6 || n == 1000 {
			t.Errorf("width %d: %v after %d pieces", width, err, n)
		}
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	err := Each(ctx, 1, 10, func(context.Context, int) error {
		if begun++; begun == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || begun != 2 {
		t.Errorf("got %v after %d pieces, want 2 and %v", err, begun, context.Canceled)
	}
}

// TestEachFailsWithACancellationOfAPieceAlone checks that context.Canceled from something of a piece's own, without its
// context being cancelled, is an error like any other.
func TestEachFailsWithACancellationOfAPieceAlone(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 3} {
		err := Each(t.Context(), width, 10, func(_ context.Context, i int) error {
			if i < 2 {
				return nil
			}
			own, cancel := context.WithCancel(context.Background())
			cancel()
			return fmt.Errorf("piece %d: %w", i, own.Err())
		})
		if err == nil || err.Error() != "piece 2: context canceled" {
			t.Errorf("width %d: got %v, want the error of piece 2", width, err)
		}
	}
}

// TestEachReturnsTheErrorOfItsContext checks that Each returns the context's error when pieces fail because that ended.
func TestEachReturnsTheErrorOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cancelled, cancel := context.WithCancel(t.Context())
		late, done := context.WithTimeout(t.Context(), 2*time.Second)
		defer done()
		time.AfterFunc(time.Second, cancel)
		for _, ctx := range []context.Context{cancelled, late} {
			err := Each(ctx, 2, 10, func(ctx context.Context, i int) error {
				<-ctx.Done()
				return fmt.Errorf("piece %d: %w", i, ctx.Err())
			})
			if err != ctx.Err() {
				t.Errorf("got %v, want %v", err, ctx.Err())
			}
		}
	})
}

// TestGate checks that a gate admits as many pieces at once as it has places, in all pools that share it.
func TestGate(t *testing.T) {
	t.Parallel()
	gate := NewGate(2)
	var inside, most atomic.Int64
	err := Each(t.Context(), 8, 100, func(ctx context.Context, _ int) error {
		if err := gate.Enter(ctx); err != nil {
			return err
		}
		defer gate.Leave()
		if n := inside.Add(1); n > most.Load() {
			most.Store(n)
		}
		inside.Add(-1)
		return nil
	})
	if err != nil || most.Load() > 2 || most.Load() < 1 {
		t.Errorf("%d at once (%v), want at most 2", most.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gate.Enter(ctx); !errors.Is(err, context.Canceled) || len(gate) != 0 {
		t.Errorf("got %v with %d places taken, want %v and none", err, len(gate), context.Canceled)
	}
}
