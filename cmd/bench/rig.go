package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/results/measure"
	"qsim/scenarios/world"
)

// rig runs the engines of one policy on one store: it feeds them jobs, times their calls, and stops them when no job is
// left. Its clock reads 0 when the engines start.
type rig struct {
	wall    *world.Wall
	store   engine.Store
	drop    func() error // closes the store and deletes its data
	engines live.Config  // configuration of the engines; before the run, recorders and OnTick and the like may be added
	clock   func() engine.Time
	meters  []meter                     // durations of calls, by node
	doubts  []map[engine.BatchID]*doubt // commits of which some call was not answered in time, by node
	onEnd   func(o *engine.Outcome, r *engine.Result, at engine.Time)

	enqueued atomic.Int64    // number of jobs that the store has accepted
	ended    atomic.Int64    // number of jobs done or dead, by the answers to commits
	latest   atomic.Int64    // engine.Time of the latest end of a job
	late     atomic.Int64    // number of store calls without an answer in time
	fed      chan struct{}   // closed when no more jobs will be enqueued
	arriving context.Context // done when no job may be enqueued any more, of which timeUp is one reason
	timeUp   context.CancelFunc
	unfed    atomic.Int64 // number of jobs not enqueued because time was up
	fail     context.CancelCauseFunc
	stopping atomic.Bool
	feeding  feeding
}

// doubt is a commit without an answer so far, with the time at which its first call failed. nil, in rig.doubts, stands
// for a commit that was answered, of which copies may be answered yet.
type doubt struct {
	batch engine.Batch
	at    engine.Time
}

// meter holds the durations of one engine's calls, by operation. It belongs to the goroutine of the engine's loop.
type meter [engine.NumOps]phase

// phase holds the durations of one kind of call, such as claims, which may be for several jobs.
type phase struct {
	calls measure.Histogram // durations of single calls
	rows  int64             // number of jobs in all calls
	total time.Duration
}

func (p *phase) add(took time.Duration, rows int) {
	p.calls.Record(took)
	p.rows += int64(rows)
	p.total += took
}

func (p *phase) merge(other *phase) {
	p.calls.Merge(&other.calls)
	p.rows += other.rows
	p.total += other.total
}

// perJob returns the mean duration per job of one kind of store call, such as claims, in seconds; NaN if no call was
// for a job.
func (p *phase) perJob() float64 { return p.total.Seconds() / float64(p.rows) }

var wakeModes = map[string]live.WakeMode{"one": live.WakeOne, "all": live.WakeAll, "none": live.WakeNone}

func newRig(w *world.Wall, store engine.Store) *rig {
	r := &rig{wall: w, store: store, meters: make([]meter, w.Nodes), fed: make(chan struct{})}
	for range r.meters {
		r.doubts = append(r.doubts, map[engine.BatchID]*doubt{})
	}
	c := enginesOf(w, store)
	c.OnCall, c.CancelWithin, c.Logger = r.onCall, 10*time.Second, slog.New(slog.DiscardHandler)
	c.OnFailure = func(*engine.Job, engine.ErrorKind, error) {}
	r.engines = c
	return r
}

// enginesOf returns the configuration of a driver (package live) for all engines of a scenario on a store.
func enginesOf(w *world.Wall, store engine.Store) live.Config {
	return live.Config{Engine: w.Engine, Engines: w.Nodes, Store: store, Wake: wakeModes[string(w.Wake)],
		Policy: func(int32) engine.Policy { return w.Policy() }}
}

// storeError returns a store's error prefixed with the name of the call, unless it begins with that already.
func storeError(doing string, err error) error {
	if strings.HasPrefix(err.Error(), doing+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// errFinished is the cause for stopping the engines when no jobs are left.
var errFinished = errors.New("finished")

// quietFor is the time without the end of a job after which the store is asked how many are left, stuckFor that after
// which a run without a time limit fails, and answerFor the limit for enqueue calls under way when time is up.
const (
	quietFor  = time.Second
	stuckFor  = time.Minute
	answerFor = 10 * time.Second
)

// run runs the engines, and enqueues jobs by calling feed, until all jobs have ended, the clock reaches until (a time;
// 0: no limit), or ctx is done. It returns when the engines have stopped.
func (r *rig) run(ctx context.Context, handler live.Handler, feed func(ctx context.Context) error,
	until time.Duration) error {
	r.engines.Origin = time.Now()
	r.clock = live.Clock(r.engines.Origin)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.fail = cancel
	r.arriving, r.timeUp = context.WithCancel(ctx)
	defer r.timeUp()
	var helpers sync.WaitGroup
	defer helpers.Wait()
	helpers.Go(func() {
		if err := feed(ctx); err != nil && ctx.Err() == nil {
			cancel(err)
		}
		close(r.fed)
	})
	helpers.Go(func() { r.watch(ctx, until) })
	stop := context.AfterFunc(ctx, func() { r.stopping.Store(true) })
	defer stop()
	r.engines.Handler = handler
	err := live.Run(ctx, r.engines)
	cancel(errFinished) // stops the helpers if the engines did not run at all
	helpers.Wait()
	switch cause := context.Cause(ctx); {
	case !errors.Is(cause, errFinished) && !errors.Is(cause, context.Canceled):
		return cause
	case errors.Is(cause, context.Canceled):
		return context.Canceled
	case errors.As(err, new(*live.AbandonedError)): // jobs in flight are still in the store, and counted there
		return nil
	default:
		return err
	}
}

// settle returns the numbers of unfinished and of dead jobs in the store after a run: the dead include those that a
// claim without an answer shed. It counts the jobs that had ended although no answer came: the commits that were not
// answered are sent once more, and the store answers as it would have then.
func (r *rig) settle(ctx context.Context) (left, dead int64, err error) {
	ctx = context.WithoutCancel(ctx)
	if left, dead, err = countLeft(ctx, r.store, 0); err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	for _, doubts := range r.doubts {
		for _, d := range doubts {
			if d == nil {
				continue
			}
			results, err := r.store.Commit(ctx, d.batch, nil)
			if err != nil {
				return 0, 0, storeError("commit", err)
			}
			for i := range results {
				if results[i].Status == engine.Applied { // only now: the job was left
					results[i].Status = engine.Unapplied
				}
			}
			r.count(&d.batch, results, d.at)
		}
	}
	return left, dead, nil
}

// onCall records the duration of a call and counts the jobs that it ended: a commit, or a claim that sheds.
func (r *rig) onCall(node int32, c *engine.Call, reply *engine.Reply, asked, began, ended engine.Time) {
	if c.Op == engine.OpCommit {
		slow := ended.Sub(asked) >= r.engines.Engine.Commit.Timeout/2 // there may be copies
		r.onCommit(r.doubts[node], &c.Batch, reply, slow, ended)
	}
	if reply.Err != nil {
		r.onError(c.Op.String(), reply.Err)
		return
	}
	r.meters[node][c.Op].add(ended.Sub(began), reply.Rows())
	if c.Op == engine.OpClaim {
		r.countShed(reply.Leases, ended)
	}
}

// countShed counts the jobs that a claim buried because they had waited for too long.
func (r *rig) countShed(leases []engine.Lease, at engine.Time) {
	var shed engine.Batch
	for i := range leases {
		if leases[i].Shed {
			shed.Outcomes = append(shed.Outcomes, engine.Outcome{LeaseKey: leases[i].Key(), Verb: engine.Bury})
		}
	}
	r.count(&shed, slices.Repeat([]engine.Result{{Status: engine.Applied}}, len(shed.Outcomes)), at)
}

// onCommit counts the jobs that a commit ended, at the first answer to it: if an answer is late, the commit is sent
// again, and each of the copies, or none, may be answered.
func (r *rig) onCommit(doubts map[engine.BatchID]*doubt, b *engine.Batch, reply *engine.Reply, slow bool,
	at engine.Time) {
	// What the engine has given up is not sent again: the store need not know it any more.
	maps.DeleteFunc(doubts, func(id engine.BatchID, d *doubt) bool { return d != nil && id.Seq <= b.Settled })
	switch before, sent := doubts[b.ID]; {
	case sent && before == nil:
	case reply.Err != nil && !sent:
		doubts[b.ID] = &doubt{engine.Batch{ID: b.ID, Settled: b.Settled, Outcomes: slices.Clone(b.Outcomes)}, at}
	case reply.Err == nil:
		if r.count(b, reply.Results, at) || sent || slow {
			doubts[b.ID] = nil
		}
	}
}

// count counts the jobs that a commit ended, and reports whether an earlier copy of it had done so.
func (r *rig) count(b *engine.Batch, results []engine.Result, at engine.Time) (again bool) {
	done := int64(0)
	for i := range results {
		o, s := &b.Outcomes[i], results[i].Status
		again = again || s.Again() == s
		if (s == engine.Applied || s == engine.Applied.Again()) && (o.Verb == engine.Ack || o.Verb == engine.Bury) {
			done++
			if r.onEnd != nil {
				r.onEnd(o, &results[i], at)
			}
		}
	}
	if done > 0 {
		r.latest.Store(max(r.latest.Load(), int64(at))) // a commit asked after the run ended before
		r.ended.Add(done)
	}
	return again
}

// onError ends a run after a failed store call, which makes its measurements meaningless; a timeout is only counted.
func (r *rig) onError(doing string, err error) {
	switch {
	case r.stopping.Load():
	case errors.Is(err, context.DeadlineExceeded):
		r.late.Add(1)
	default:
		r.fail(storeError(doing, err))
	}
}

// watch stops the engines when no job is left or the time is up, and fails a run in which no job ends any more.
func (r *rig) watch(ctx context.Context, until time.Duration) {
	const often = 2 * time.Millisecond
	feeding, last, since := r.fed, int64(-1), time.Now() // feeding is nil once all jobs are enqueued
	asked := since
	var over time.Time // time at which time was up
	for {
		select {
		case <-ctx.Done():
			return
		case <-feeding:
			feeding = nil
		case <-time.After(often):
		}
		fed := feeding == nil
		ended := r.ended.Load()
		if now := time.Now(); ended != last {
			last, since, asked = ended, now, now
		}
		switch {
		case fed && (ended >= r.enqueued.Load() || !over.IsZero()):
			r.fail(errFinished)
			return
		case !over.IsZero():
			if time.Since(over) > answerFor {
				r.fail(fmt.Errorf("enqueue: no answer within %v after the end of the run", answerFor))
				return
			}
		case until > 0 && time.Duration(r.clock()) >= until:
			over = time.Now()
			r.timeUp() // calls under way are not cut off, so that their outcome is known
		case fed && time.Since(asked) >= quietFor:
			asked = time.Now()
			left, _, err := countLeft(ctx, r.store, 0)
			if err == nil && left == 0 {
				r.fail(errFinished)
				return
			}
			if until == 0 && time.Since(since) > stuckFor {
				r.fail(fmt.Errorf("stuck: nothing has ended for %v, and the store holds %d jobs", stuckFor, left))
				return
			}
		}
	}
}

// countLeft returns the numbers of unfinished (ready, waiting, in flight) and of dead jobs in a store; with most above
// 0, it may stop counting at so many of each.
func countLeft(ctx context.Context, store engine.Store, most int) (left, dead int64, err error) {
	stats, err := store.Stats(ctx, most)
	if err != nil {
		return 0, 0, storeError("count what is left", err)
	}
	return int64(total(stats.Ready) + total(stats.Waiting) + total(stats.InFlight)), int64(stats.Dead), nil
}

// total returns the number of jobs in all priority classes together.
func total(counts [engine.NumClasses]int) (n int) {
	for _, count := range counts {
		n += count
	}
	return n
}

// measured returns the results of a run that took a duration, without the account of its jobs.
func (r *rig) measured(took time.Duration) endedRun {
	run := endedRun{took: took, late: r.late.Load()}
	for node := range r.meters {
		run.claim.merge(&r.meters[node][engine.OpClaim])
		run.commit.merge(&r.meters[node][engine.OpCommit])
	}
	return run
}
