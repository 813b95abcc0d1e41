package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"qsim/engine"
)

// Handler runs one execution of a job. A nil error acks it. An error that wraps an *Error carries the error kind for
// the retry policy; any other counts as Config.OtherError. j and its payload must not be changed; they may be kept.
//
// ctx is cancelled when the execution should end, and context.Cause returns why: ErrTimeout, ErrLeaseLost or
// ErrStopped. After the first two, the handler's return value has no effect; after ErrStopped, nil still acks, an
// error that wraps an *Error counts as usual, and any other error hands the job back, which costs no attempt. After an
// ErrTimeout under engine.KindConfig.WaitOut, nil acks, too, and any other error than an *Error counts as a timeout.
// ctx.Deadline is the end of the execution timeout. When the handler returns its ctx is cancelled.
//
// A handler that goes on in spite of a cancelled context keeps its worker busy, and its goroutine outlives Run: a
// goroutine cannot be stopped from outside.
type Handler func(ctx context.Context, j *engine.Job) error

// WakeMode selects which engines of a process are woken when the store announces ready jobs.
type WakeMode uint8

const (
	WakeAll  WakeMode = iota // wake every engine: one announcement may stand for many jobs
	WakeOne                  // wake one engine with idle workers, in turn
	WakeNone                 // wake none: Listen is not called, engines poll
)

// Config is the configuration of Run. Engine, Store and Handler must be given; zero values of the others are defaults.
type Config struct {
	// Engine configures each engine. Run sets its Engine, Policy and Recorder. Defaults returns usual values.
	Engine engine.Config
	// Engines is the number of engines in the process, each with its own loop, workers and node
	// number; 0 is 1. More than one pays only with stores that answer within microseconds.
	Engines int
	// FirstNode is the node number of the first engine, at least 0; the others have the next ones.
	// Engines that share a store must have distinct numbers.
	FirstNode int32
	// Generation is the number of earlier lives of these engines. It must grow with every Run of the same node on the same
	// store: a store takes commits under a known life for repetitions. 0: taken from a Registry; with other stores the
	// Unix time in seconds, or one more than that of the previous Run in this process.
	Generation uint32
	// Policy returns a new policy for a node. nil: the oldest ready job first.
	Policy  func(node int32) engine.Policy
	Store   engine.Store
	Handler Handler // handler of all jobs; Handler.With adds hooks
	// OtherError is the error kind of handlers' errors that do not wrap an *Error; 0: engine.FirstErrorKind.
	OtherError engine.ErrorKind

	// StopWithin is the time for executions to finish after the context of Run is done; then their
	// contexts are cancelled with ErrStopped. 0: at once.
	StopWithin time.Duration
	// CancelWithin is the time after StopWithin for handlers to return and for the store to receive their outcomes, before
	// Run abandons them; 0: 5 s.
	CancelWithin time.Duration

	// Wake selects the engines to wake when the store announces ready jobs, if it is an Announcer.
	Wake WakeMode
	// Origin is the time at which the clock of the engines reads 0; zero: the start of Run. It affects
	// recorded times only, and may be in the past or in the future.
	Origin time.Time

	// Recorder returns the recorder of a node's events, or nil: its engine's own events, and the effects of its calls as
	// far as the store answered, with the time of the answer. Each Recorder is called from one goroutine in the order of
	// time; events of different nodes have no order. nil: no events.
	Recorder func(node int32) engine.Recorder
	// OnCall, if not nil, is called after every answer of the store, an error included, before the engine gets it, and
	// for answers, and commits cut off, once the engine has stopped; from one goroutine for each node, which waits for it.
	// asked is the time at which the engine asked for the call, began and ended those of the call and its answer; these
	// are equal for a call that was not made, because its timeout was over before its turn. c and r are valid until OnCall
	// returns.
	OnCall func(node int32, c *engine.Call, r *engine.Reply, asked, began, ended engine.Time)
	// OnTick, if not nil, is called when an engine handles a deadline, to measure how late timers are: due is the
	// deadline, at the time by the engines' clock. From one goroutine for each node.
	OnTick func(node int32, due, at engine.Time)
	// OnWake, if not nil, is called when an engine learns, at the time at, that the store announced ready jobs, once for
	// all announcements since the last time. missed: one came while no engine had an idle worker, and this engine now has
	// one; see WakeOne. From one goroutine for each node.
	OnWake func(node int32, at engine.Time, missed bool)
	// OnFailure, if not nil, is called after every execution that failed, from the goroutine that ran
	// it, with the error that the handler returned or the *PanicError of a panic. nil: panics are
	// logged with their stack, other errors are not.
	OnFailure func(j *engine.Job, kind engine.ErrorKind, err error)
	// Logger receives errors of the store, at most one a second and kind of call, panics that
	// OnFailure does not receive, and the work that a stop waits for; nil: slog.Default().
	Logger *slog.Logger
}

// Defaults returns the default configuration of an engine with so many workers: polls every 100 ms, leases of 30 s
// extended every 10 s, the retry policy retry, no execution timeout, as a scenario without an engine section has.
//
// Unlike in a scenario, a claim or a commit has up to 200 jobs, and five jobs for each worker are claimed ahead
// (Fetch.Prefetch). With handlers that return at once, the round trip of claims limits an engine, and prefetching
// nearly doubles its rate on PostgreSQL. The price: a job may wait in a process, its lease extended, while another
// process is idle or a job of higher priority comes; and a crash holds up more jobs until their leases expire. A
// process that stops hands them back. Set Prefetch to 0 where handlers take longer than a few claims (tens of
// milliseconds and more): there it gains nothing.
//
// And a batch of outcomes waits for 1 ms instead of 5 ms to fill (Commit.Linger), and no longer once the last busy
// worker is free (Commit.Eager): with 1,000 to 3,000 jobs/s on PostgreSQL that wait was half of a job's time from
// enqueue to done, while a backlog keeps workers busy and so fills batches anyway.
func Defaults(workers int, retry engine.RetryPolicy) engine.Config {
	return engine.Config{
		Workers: workers,
		Fetch:   engine.FetchConfig{Batch: 200, Prefetch: 5 * workers, Poll: 100 * time.Millisecond},
		Commit: engine.CommitConfig{Batch: 200, Linger: time.Millisecond, Eager: true, Calls: 2, Timeout: 5 * time.Second,
			Backpressure: 10_000},
		Lease:       engine.LeaseConfig{TTL: 30 * time.Second, Heartbeat: 10 * time.Second},
		Reaper:      engine.ReaperConfig{Every: time.Second, Batch: 100, OnStart: true},
		CallTimeout: 5 * time.Second,
		Kinds:       []engine.KindConfig{{Retry: retry}},
	}
}

// Validate returns all errors in the configuration, joined; nil if there are none.
func (c *Config) Validate() error {
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	need(c.Engines >= 0, "engines: %d is negative", c.Engines)
	need(c.FirstNode >= 0, "first node: %d is negative", c.FirstNode)
	need(c.Store != nil, "store: none")
	need(c.Handler != nil, "handler: none")
	need(c.StopWithin >= 0, "stop within: %v is negative", c.StopWithin)
	need(c.CancelWithin >= 0, "cancel within: %v is negative", c.CancelWithin)
	need(c.Wake <= WakeNone, "wake: %d is no mode", c.Wake)
	const why = ": a store that is down would be asked without a pause"
	need(c.Engine.Fetch.ErrorPause >= 0, "engine: fetch.error-pause: %v is negative"+why, c.Engine.Fetch.ErrorPause)
	for i, pause := range c.Engine.Commit.Backoff {
		need(pause > 0, "engine: commit.backoff[%d]: %v is not positive"+why, i, pause)
	}
	probe := c.Engine
	probe.Policy = fifo{}
	if err := probe.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("engine: %w", err))
	}
	return errors.Join(errs...)
}

// fifo is the default policy: the oldest ready job is claimed first.
type fifo struct{}

func (fifo) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (fifo) Observe(*engine.Observation) {}

// Clock returns a monotonic clock that read 0 at origin, unaffected by changes of the wall clock: for stores that
// need a clock, such as memstore's, and for comparing times with events recorded under a Config with that Origin.
func Clock(origin time.Time) func() engine.Time {
	begin := time.Now()
	since := begin.Sub(origin)
	return func() engine.Time { return engine.Time(since + time.Since(begin)) }
}
