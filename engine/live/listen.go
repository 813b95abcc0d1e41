package live

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Announcer is a Store that announces new ready jobs, so that engines need not poll for them.
type Announcer interface {
	// Listen calls wake, from any goroutine, whenever jobs may have become ready or claimable: best once for
	// each of them, as WakeOne wakes an engine at each call, although one may stand for several. wake does
	// not block and may be called during a method of the store. Listen returns when ctx is done, or with an
	// error when it cannot listen any more: announcements since then may be lost, so the caller must poll
	// the store before it listens again.
	Listen(ctx context.Context, wake func()) error
}

// shortestPause and longestPause bound the pauses between calls of Announcer.Listen, which double after short calls.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// listen starts a goroutine that wakes the loops for jobs that the store announces, until ctx is done. It returns a
// channel that is closed when that has ended, nil if the store announces nothing.
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
		for _, l := range loops {
			l.unheard = &w.unheard
		}
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
			p.Logger.Warn("live: listen for new jobs: engines poll until it works again", slog.Any("error", err))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, longestPause)
			wake() // for announcements missed meanwhile
		}
	}()
	return heard
}

// waker distributes the store's announcements if Config.Wake is WakeOne: each wakes one loop with idle workers, in
// turn. If there is none, it wakes the first whose worker becomes idle: that claims anyway, but perhaps too early.
type waker struct {
	mu      sync.Mutex
	loops   []*loop
	turn    int
	unheard atomic.Bool // no loop had idle workers at the latest wake
}

func (w *waker) next() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.wakeIdle() && !w.unheard.Swap(true) { // a loop that has become idle since may not have seen unheard
	}
}

// wakeIdle wakes the next loop whose engine has idle workers, and reports whether there is one.
func (w *waker) wakeIdle() bool {
	for range w.loops {
		l := w.loops[w.turn]
		if w.turn++; w.turn == len(w.loops) {
			w.turn = 0
		}
		if l.idle.Load() > 0 {
			l.box.wake()
			return true
		}
	}
	return false
}

// sayIdle publishes the loop's number of idle workers to the waker, and wakes the loop if it missed a wake while busy.
func (l *loop) sayIdle(workers int) {
	if l.idle.Swap(int32(workers)) == 0 && workers > 0 && l.unheard != nil && l.unheard.Swap(false) {
		l.missed = true
		l.box.wake()
	}
}
