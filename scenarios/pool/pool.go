// Package pool runs independent tasks, such as simulations, on several goroutines, begun in a fixed order. The results
// do not depend on the number of goroutines.
package pool

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// ErrEnough is the error by which a task stops Each from beginning further tasks; those under way end.
var ErrEnough = errors.New("pool: enough is done")

// Width returns the number of goroutines: parallel if it is positive, else one per core that Go uses.
func Width(parallel int) int {
	if parallel > 0 {
		return parallel
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls do for the tasks 0 to n-1, begun in this order on width goroutines, and returns when all have ended. When
// a task fails, no more begin, and the contexts of those after it are cancelled. Those before it go on, so that the
// error, whatever the width, is that of the first task in order that fails; or ctx.Err() once ctx is done.
func Each(ctx context.Context, width, n int, do func(ctx context.Context, i int) error) error {
	w := work{caller: ctx, n: n, failedAt: n, running: map[int]context.CancelFunc{}}
	var group sync.WaitGroup
	for range min(width, n) {
		group.Go(func() {
			for i, inner, ok := w.begin(); ok; i, inner, ok = w.begin() {
				w.end(inner, i, do(inner, i))
			}
		})
	}
	group.Wait()
	if w.failed != nil {
		return w.failed
	}
	return ctx.Err()
}

// work is the state of one call of Each: the tasks still to begin, those that run, and the first failure.
type work struct {
	caller context.Context
	mutex  sync.Mutex
	n      int // tasks; no more than have begun once there are enough or one has failed
	next   int

	running  map[int]context.CancelFunc
	failed   error // error of the first task, in order, that failed
	failedAt int
}

func (w *work) begin() (i int, ctx context.Context, ok bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.next >= w.n || w.caller.Err() != nil {
		return 0, nil, false
	}
	ctx, w.running[w.next] = context.WithCancel(w.caller)
	w.next++
	return w.next - 1, ctx, true
}

// end ends task i, whose context is ctx. An error that only passes on the end of ctx is no failure of the task.
func (w *work) end(ctx context.Context, i int, err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	done := ctx.Err()
	w.running[i]()
	delete(w.running, i)
	if err == nil {
		return
	}
	w.n = min(w.n, w.next)
	if errors.Is(err, ErrEnough) || done != nil && errors.Is(err, done) || i > w.failedAt {
		return
	}
	w.failed, w.failedAt = err, i
	for later := i + 1; later < w.next; later++ {
		if cancel := w.running[later]; cancel != nil {
			cancel()
		}
	}
}

// Gate is a semaphore: it limits how many tasks, of all its users together, run at once. A nil Gate has no limit.
type Gate chan struct{}

// NewGate returns a Gate for as many tasks at once as Width returns.
func NewGate(parallel int) Gate { return make(Gate, Width(parallel)) }

// Enter waits for a free place and returns nil, or ctx.Err() once ctx is done. Each Enter without error needs a Leave.
// It first yields to other goroutines (progress, timers, callers that give up), which a single processor needs.
func (g Gate) Enter(ctx context.Context) error {
	if g == nil {
		return ctx.Err()
	}
	runtime.Gosched()
	select {
	case g <- struct{}{}:
		if err := ctx.Err(); err != nil {
			g.Leave()
			return err
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave frees the place that Enter took.
func (g Gate) Leave() {
	if g != nil {
		<-g
	}
}
