package live_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/memstore"
	"qsim/policies"
)

// world is a store in memory behind injected faults, with a record of the effects.
type world struct {
	*memstore.Store
	fault func(op engine.Op, jobs []engine.JobID) fault // fault of a call; nil: none; called under mu

	mu      sync.Mutex
	calls   map[engine.Op]int
	acks    map[engine.JobID]int
	dead    map[engine.JobID]int
	returns map[engine.JobID]int
	fenced  int
}

// fault is the fault of one call.
type fault struct {
	before time.Duration // delay of the request
	after  time.Duration // delay of the answer
	refuse bool          // no effect, an error
	lose   bool          // takes effect, an error
	deaf   bool          // waits whether or not the caller still does
}

var errFault = errors.New("store: broken pipe")

func newWorld(options engine.StoreOptions) *world {
	options.LapseAfter = -1
	return &world{Store: memstore.New(live.Clock(time.Now()), options),
		calls: map[engine.Op]int{}, acks: map[engine.JobID]int{}, dead: map[engine.JobID]int{}, returns: map[engine.JobID]int{}}
}

// enqueue adds jobs from..to.
func (w *world) enqueue(t testing.TB, from, to int) {
	t.Helper()
	var jobs []engine.NewJob
	for i := from; i <= to; i++ {
		jobs = append(jobs, engine.NewJob{ID: engine.JobID(i)})
	}
	if err := w.Enqueue(context.Background(), jobs); err != nil {
		t.Fatal(err)
	}
}

// through makes a call with whatever befalls it.
func (w *world) through(ctx context.Context, op engine.Op, jobs []engine.JobID, call func() error) error {
	w.mu.Lock()
	w.calls[op]++
	var f fault
	if w.fault != nil {
		f = w.fault(op, jobs)
	}
	w.mu.Unlock()
	if err := f.wait(ctx, f.before); err != nil {
		return err
	}
	if f.refuse {
		return errFault
	}
	if err := call(); err != nil {
		return err
	}
	if err := f.wait(ctx, f.after); err != nil {
		return err
	}
	if f.lose {
		return errFault
	}
	return nil
}

func (f *fault) wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	if f.deaf {
		time.Sleep(d)
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (w *world) Claim(ctx context.Context, holder engine.EngineID, plan engine.Plan, ttl time.Duration, dst []engine.Lease) (leases []engine.Lease, next time.Duration, err error) {
	err = w.through(ctx, engine.OpClaim, nil, func() (err error) {
		leases, next, err = w.Store.Claim(ctx, holder, plan, ttl, dst)
		return err
	})
	return leases, next, err
}

func (w *world) Commit(ctx context.Context, batch engine.Batch, dst []engine.Result) (results []engine.Result, err error) {
	var jobs []engine.JobID
	for _, o := range batch.Outcomes {
		jobs = append(jobs, o.Job)
	}
	err = w.through(ctx, engine.OpCommit, jobs, func() (err error) {
		results, err = w.Store.Commit(ctx, batch, dst)
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, r := range results {
			switch {
			case r.Status == engine.Stale:
				w.fenced++
			case r.Status != engine.Applied:
			case batch.Outcomes[i].Verb == engine.Ack:
				w.acks[jobs[i]]++
			case batch.Outcomes[i].Verb == engine.Bury:
				w.dead[jobs[i]]++
			case batch.Outcomes[i].Verb == engine.Return:
				w.returns[jobs[i]]++
			}
		}
		return err
	})
	return results, err
}

func (w *world) ExtendLease(ctx context.Context, leases []engine.LeaseKey, ttl time.Duration, dst []engine.Status) (statuses []engine.Status, err error) {
	err = w.through(ctx, engine.OpExtend, nil, func() (err error) {
		statuses, err = w.Store.ExtendLease(ctx, leases, ttl, dst)
		return err
	})
	return statuses, err
}

func (w *world) Recover(ctx context.Context, holder engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) (leases []engine.Lease, next time.Duration, err error) {
	err = w.through(ctx, engine.OpRecover, nil, func() (err error) {
		leases, next, err = w.Store.Recover(ctx, holder, limit, grace, ttl, dst)
		return err
	})
	return leases, next, err
}

// once fails unless the jobs 1..n were each acked exactly once and nothing is left.
func (w *world) once(t *testing.T, n int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range n {
		if got := w.acks[engine.JobID(i+1)]; got != 1 {
			t.Errorf("job %d was acked %d times", i+1, got)
		}
	}
	if len(w.acks) != n || w.Live() != 0 {
		t.Errorf("acked %d jobs, want %d; %d are left", len(w.acks), n, w.Live())
	}
}

// count returns the number of calls of an operation.
func (w *world) count(op engine.Op) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[op]
}

// settings returns the configuration of an engine with that many workers, whose failed jobs are
// retried after 100 ms without limit.
func settings(workers int) engine.Config {
	return live.Defaults(workers, &policies.Backoff{Kind: policies.Fixed, First: 100 * time.Millisecond})
}

// started is a Run in a separate goroutine.
type started struct {
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// start runs c, on the store of w, until its stop or the end of the test.
func start(t *testing.T, w engine.Store, c live.Config) *started {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Store = w
	ctx, stop := context.WithCancel(t.Context())
	s := &started{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = live.Run(ctx, c)
	}()
	return s
}

// end stops the run and returns its error.
func (s *started) end() error {
	s.stop()
	<-s.done
	return s.err
}

// collected is a Recorder that stores events as text.
type collected struct {
	mu     sync.Mutex
	events []engine.Event
}

func (c *collected) Record(e *engine.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, *e)
}

// lives returns the events of each job in their order, without internal ones.
func (c *collected) lives() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := map[engine.JobID]string{}
	// Two calls that are answered at one instant are two goroutines, either of which may be first: the delivery that
	// ends is told before the one that begins.
	events := slices.Clone(c.events)
	slices.SortStableFunc(events, func(a, b engine.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Delivery, b.Delivery))
	})
	for _, e := range events {
		if e.Job != 0 {
			of[e.Job] += fmt.Sprintf("  %8v %-12v %v from %v, token %d, delivery %d, error %d, delay %v, ran %v, waited %v, age %v\n",
				time.Duration(e.At), e.Kind, e.Class, e.From, e.Token, e.Delivery, e.Error, e.Delay, e.Ran, e.Waited, e.Age)
		}
	}
	text := ""
	for _, id := range slices.Sorted(maps.Keys(of)) {
		text += fmt.Sprintf("job %d\n%s", id, of[id])
	}
	return text
}
