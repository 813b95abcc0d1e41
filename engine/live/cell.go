package live

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"qsim/engine"
)

// cell is one execution of a job, and the context of its handler. It is not reused, because a handler may keep either;
// cells are allocated in blocks of cellBlock.
type cell struct {
	job     engine.Job
	slot    engine.Slot // the engine's number for this execution
	began   engine.Time // start of the execution
	ends    engine.Time // time of the execution timeout; Never: none
	process *process
	state   atomic.Pointer[cancelable] // real context; nil: not created yet
}

const cellBlock = 64

// cancelable is the standard library's context behind a handler's own, created when that is waited for or cancelled.
type cancelable struct {
	context.Context
	cancel context.CancelCauseFunc
}

var _ context.Context = (*cell)(nil)

// Deadline returns the end of the execution timeout, for the handler; false if the job's kind has none.
func (c *cell) Deadline() (time.Time, bool) {
	if c.ends == engine.Never {
		return time.Time{}, false
	}
	return c.process.timeOf(c.ends), true
}

// Done returns a channel that is closed when the execution should end (see Handler) or has ended.
func (c *cell) Done() <-chan struct{} { return c.watched().Done() }

// Err returns nil until the execution should end (see Handler) or has ended.
func (c *cell) Err() error {
	if w := c.state.Load(); w != nil {
		return w.Err()
	}
	return nil
}

// Value returns the value that the context of Run has for key. Package context finds its own keys in the context behind
// this one: so context.Cause works, and derived contexts cost no goroutine.
func (c *cell) Value(key any) any { return c.watched().Value(key) }

// String returns the name of the context of a handler that package context prints for it.
func (c *cell) String() string { return "live.Handler" }

// watched returns the standard library's context behind a handler's context, which it creates at the first call.
func (c *cell) watched() *cancelable {
	if c.state.Load() == nil {
		c.state.CompareAndSwap(nil, c.process.newCancelable())
	}
	return c.state.Load()
}

// cancel cancels the context of a handler with a cause (see Handler), unless it has ended.
func (c *cell) cancel(cause error) { c.watched().cancel(cause) }

// end cancels the context of a handler that has returned, and returns the cause of an earlier cancellation, else nil.
func (c *cell) end() error {
	if c.state.CompareAndSwap(nil, c.process.ended) {
		return nil
	}
	w := c.state.Load()
	cause := context.Cause(w.Context)
	w.cancel(nil)
	return cause
}

// process holds the configuration, context and clock shared by all engines that one call of Run has started.
type process struct {
	Config
	values context.Context // context of Run with its values, never cancelled
	ended  *cancelable     // shared context of all ended handlers that never used theirs
	begin  time.Time
	since  time.Duration // time of the engines' clock at begin
}

func (p *process) init(ctx context.Context, c Config) {
	p.Config, p.begin = c, time.Now()
	p.CancelWithin = cmp.Or(p.CancelWithin, 5*time.Second)
	p.Logger = cmp.Or(p.Logger, slog.Default())
	if !c.Origin.IsZero() {
		p.since = p.begin.Sub(c.Origin)
	}
	p.values = context.WithoutCancel(ctx)
	p.ended = p.newCancelable()
	p.ended.cancel(nil)
}

func (p *process) newCancelable() *cancelable {
	w := &cancelable{}
	w.Context, w.cancel = context.WithCancelCause(p.values)
	return w
}

// now returns the time by the clock of the engines, which is monotonic and reads 0 at Config.Origin.
func (p *process) now() engine.Time { return engine.Time(p.since + time.Since(p.begin)) }

func (p *process) timeOf(t engine.Time) time.Time { return p.begin.Add(time.Duration(t) - p.since) }
