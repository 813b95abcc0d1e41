// Package pool runs independent tasks, such as simulations, on several goroutines, begun in a fixed order. The results
// do not depend on the number of goroutines.
package pool

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// ErrEnough is returned by a task to stop Each, without a failure, from beginning further tasks; running ones go on.
var ErrEnough = errors.New("pool: enough is done")

// Width returns the number of tasks to run at once: parallel if it is positive, else runtime.GOMAXPROCS(0).
func Width(parallel int) int {
	if parallel > 0 {
		return parallel
	}
	return runtime.GOMAXPROCS(0)
}

// Each calls do for the tasks 0 to n-1, begun in this order on width goroutines, and returns when all have ended. When
// a task fails, no more begin, and the contexts of those with higher numbers are cancelled; the others go on, so that
// Each returns, whatever the width, the error of the lowest task that fails. If none fails, it returns ctx.Err().
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

// work is the state of one call of Each: the next task, the running ones, and the failure of the lowest that failed.
type work struct {
	caller context.Context
	mutex  sync.Mutex
	n      int // number of tasks to begin; after ErrEnough or a failure, the number of those begun
	next   int // number of the task to begin next

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

// end records that task i, whose context is ctx, returned err. An err that only repeats ctx.Err() is no failure.
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

// Gate is a semaphore that calls of Each share, to limit how many of their tasks run at once. A nil Gate does not.
type Gate chan struct{}

// NewGate returns a Gate through which Width(parallel) tasks pass at once.
func NewGate(parallel int) Gate { return make(Gate, Width(parallel)) }

// Enter waits until a task may run, and returns nil, after which it must call Leave; or ctx.Err() once ctx is done. It
// first yields to other goroutines, such as one that prints progress: on a single processor they would wait for long.
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

// Leave lets another task run in place of one that Enter admitted.
func (g Gate) Leave() {
	if g != nil {
		<-g
	}
}
