package live

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Announcer is a Store that tells of new ready work, so that engines need not poll
// for it.
type Announcer interface {
	// Listen calls wake, from any goroutine, whenever jobs may have become ready, or
	// may be claimed now that could not be before; several at once may be told of by
	// one call. wake does not block and may be called while a method of the store runs.
	// It returns when ctx is done, or with an error when it cannot listen any more:
	// what became ready since may have gone unheard, so whoever listens again asks the
	// store first.
	Listen(ctx context.Context, wake func()) error
}

// Pauses between two tries to listen: doubled after each that lasted less than the
// longest.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// listen has the loops told of new ready jobs until ctx is done; then the channel that
// it returns is closed. nil: nobody announces anything.
func (p *process) listen(ctx context.Context, loops []*loop) <-chan struct{} {
	store, ok := p.Store.(Announcer)
	if !ok || p.Wake == WakeNone {
		return nil
	}
	wake := func() {
		for _, l := range loops {
			l.box.wake()
		}
	}
	tell := wake
	if p.Wake == WakeOne && len(loops) > 1 {
		w := waker{loops: loops}
		tell = w.next
	}
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		pause := shortestPause
		for {
			began := time.Now()
			err := store.Listen(ctx, tell)
			if ctx.Err() != nil {
				return
			}
			if time.Since(began) > longestPause {
				pause = shortestPause
			}
			p.logger().Warn("live: listen for new jobs: engines poll until it works again", slog.Any("error", err))
			wait(ctx, pause)
			pause = min(2*pause, longestPause)
			wake() // for what nobody heard of
		}
	}()
	return heard
}

// waker tells one loop with idle workers at each call, in turn; none if there is none:
// who has no idle workers claims when one falls idle.
type waker struct {
	mu    sync.Mutex
	loops []*loop
	turn  int
}

func (w *waker) next() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range w.loops {
		l := w.loops[w.turn]
		if w.turn++; w.turn == len(w.loops) {
			w.turn = 0
		}
		if l.idle.Load() > 0 {
			l.box.wake()
			return
		}
	}
}

// wait returns after d, or when ctx is done.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
