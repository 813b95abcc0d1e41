package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// load describes a synthetic load, used without a scenario: jobs that come at a rate (open loop), or all at once
// (burn-down).
type load struct {
	jobs     scenarios.Count    // burn-down: number of jobs; 0: open loop
	rate     scenarios.Rate     // open loop: arrival rate
	lasts    scenarios.Duration // open loop: duration of arrivals
	warmup   scenarios.Duration // open loop: jobs that arrive before are not measured
	work     scenarios.Duration // run time of a handler
	fails    scenarios.Share    // share of attempts that fail
	workers  scenarios.Count    // workers per engine
	engines  scenarios.Count
	batch    scenarios.Count
	prefetch scenarios.Count // jobs that an engine claims ahead, or usualPrefetch
}

// usualPrefetch marks that the flag for the prefetch (jobs claimed ahead) was left out: the default of live.Defaults
// applies, or 0 if handlers take so long that claiming ahead would gain nothing.
const usualPrefetch = -1

// mostPrefetch is the highest number of jobs that an engine claims ahead.
const mostPrefetch = 100_000

// complete returns a copy of the load with the default prefetch filled in, and no job count if jobs come at a rate.
func (l load) complete() *load {
	if l.prefetch == usualPrefetch {
		l.prefetch = l.usualPrefetch()
	}
	if l.rate.Num > 0 {
		l.jobs = 0
	}
	return &l
}

func (l *load) usualPrefetch() scenarios.Count {
	if l.work.Std() >= 10*time.Millisecond {
		return 0
	}
	return scenarios.Count(live.Defaults(int(l.workers), nil).Fetch.Prefetch)
}

// idle reports whether the handlers of a synthetic load return at once: they neither work nor fail.
func (l *load) idle() bool { return l.work == 0 && l.fails.Num == 0 }

// expected returns the expected number of jobs of an open loop: the arrival rate times the duration.
func (l *load) expected() float64 { return l.rate.PerSecond() * l.lasts.Std().Seconds() }

// name returns the benchmark name of a candidate (a policy on a store) under the load, with its parameters.
func (l *load) name(c *candidate) string {
	pairs := []string{"policy", c.policy, "store", c.store, "workers", l.workers.String(), "engines", l.engines.String(),
		"batch", l.batch.String()}
	if l.prefetch != l.usualPrefetch() {
		pairs = append(pairs, "prefetch", l.prefetch.String())
	}
	if l.work > 0 {
		pairs = append(pairs, "work", l.work.Std().String())
	}
	if l.fails.Num > 0 {
		pairs = append(pairs, "fails", l.fails.String())
	}
	if l.jobs > 0 {
		return benchName("Burndown", append(pairs, "jobs", l.jobs.String())...)
	}
	return benchName("Open", append(pairs, "rate", strings.ReplaceAll(l.rate.String(), "/s", ""),
		"for", l.lasts.Std().String())...)
}

// scenario returns the YAML text of a scenario with this load and these policies, each written in YAML.
func (l *load) scenario(policies []string) string {
	arrivals, lasts := "process: batch, size: 1, every: 1h", time.Hour
	if l.jobs == 0 {
		arrivals, lasts = "process: poisson, rate: "+l.rate.String(), l.lasts.Std()
	}
	text := fmt.Sprintf(`name: load
duration: %v
warmup: 0s
engine:
  nodes: %d
  workers: %d
  fetch: {batch: %[4]d, prefetch: %[5]d}
  commit: {batch: %[4]d}
retry: {max-attempts: unlimited, backoff: {kind: exponential, first: 10ms, factor: 2, max: 1s}}
jobs:
  - {class: load, arrivals: {%[6]s}, service: %[7]v, fails: {rate: %[8]s}}
policies:
`, lasts, l.engines, l.workers, l.batch, l.prefetch, arrivals, l.work.Std(), l.fails)
	for _, p := range policies {
		text += "  - " + p + "\n"
	}
	return text
}

// loaded holds the measurements of one run under a synthetic load.
type loaded struct {
	endedRun                   // its time is that from the start of the engines to the last end of a job
	open     bool              // jobs came at a rate (open loop)
	pickup   measure.Histogram // open loop: time from a job's intended enqueueing until its first handler begins
	sojourn  measure.Histogram // open loop: time from a job's intended enqueueing until its ack was committed
	enqueue  phase
	execute  phase
}

// namedPhase holds the durations of one kind of call or wait, with its name in metrics and file names.
type namedPhase struct {
	name string
	*phase
}

func (l *loaded) phases() []namedPhase {
	return []namedPhase{{"enqueue", &l.enqueue}, {"claim", &l.claim}, {"execute", &l.execute}, {"commit", &l.commit}}
}

// loadRun is the state of one run under a synthetic load: the rig that runs the engines, and what its handlers measure.
type loadRun struct {
	*load
	*rig
	records []jobRecord // times of the jobs, by ID from 1
	dead    atomic.Int64
	done    atomic.Int64
	runs    [64]struct {
		sync.Mutex
		phase
		_ [64]byte // padding, so that each counter has its own cache lines
	}
}

// buried marks, in place of the time of its ack, a job that was buried (given up as dead).
const buried = -1

// jobRecord holds the times of one job: intended enqueueing, first start and ack.
type jobRecord struct {
	intended  engine.Time
	started   atomic.Int64 // engine.Time of the first execution's start, plus 1; 0: none
	ended     atomic.Int64 // engine.Time of the ack, plus 1; buried: of a job that was; 0: none
	successes atomic.Int32
}

// sampled is the sampling interval for timing handlers that do nothing: one job in 16, since reading the clock twice
// takes longer than such a handler.
const sampled = 16

// runLoad runs a policy of the scenario for a synthetic load on a new store, in real time, and measures it.
func runLoad(ctx context.Context, l *load, sc *scenarios.Scenario, o playOptions,
	stores *stores) (result *loaded, err error) {
	o.speed = world.Speed{Num: 1, Den: 1}
	r, err := stores.open(ctx, sc, o)
	if err != nil {
		return nil, err
	}
	defer r.close(&err)
	run := &loadRun{load: l, rig: r}
	next, err := run.plan(ctx)
	if err != nil {
		return nil, err
	}
	r.onEnd = run.onEnd
	if l.jobs > 0 { // all jobs are enqueued before the first engine starts
		if err := fill(ctx, run.store, 1, int(l.jobs), func(jobs int, took time.Duration) {
			run.feeding.calls.add(took, jobs)
			run.enqueued.Add(int64(jobs))
		}); err != nil {
			return nil, err
		}
	}
	if err := r.run(ctx, run.handle, r.feed(next, nil), 0); err != nil {
		return nil, err
	}
	return run.result(ctx)
}

// plan allocates the records of the jobs and returns the schedule of their arrivals, which is empty for a burn-down.
func (r *loadRun) plan(ctx context.Context) (schedule, error) {
	if r.load.jobs > 0 {
		r.records = make([]jobRecord, r.jobs)
		return func() (at time.Duration, j engine.NewJob, ok bool) { return }, nil
	}
	r.records = make([]jobRecord, 0, int(min(r.load.expected()*1.02+1000, mostJobs)))
	var job engine.NewJob // the latest: all have the same but for the ID
	for at, j, ok := r.wall.Next(); ok; at, j, ok = r.wall.Next() {
		if len(r.records) == mostJobs {
			return nil, ui.UsageError("--rate %s --for %v: these are more than %d jobs", r.rate, r.lasts.Std(), mostJobs)
		}
		r.records, job = append(r.records, jobRecord{intended: engine.Time(at)}), j
		if len(r.records)%4096 == 0 && ctx.Err() != nil {
			return nil, context.Canceled
		}
	}
	told := 0
	return func() (at time.Duration, j engine.NewJob, ok bool) {
		if told == len(r.records) {
			return 0, j, false
		}
		told++
		job.ID = engine.JobID(told)
		return time.Duration(r.records[told-1].intended), job, true
	}, nil
}

// mostJobs is the highest number of jobs of a run, to bound its memory: 32 bytes for each.
const mostJobs = 50_000_000

// fill enqueues n jobs, with IDs from first on, in batches; it calls told, if not nil, with their sizes and durations.
func fill(ctx context.Context, store engine.Store, first engine.JobID, n int,
	told func(jobs int, took time.Duration)) error {
	const batch = 1000
	jobs := make([]engine.NewJob, min(n, batch))
	for ; n > 0; n -= len(jobs) {
		jobs = jobs[:min(n, batch)]
		for i := range jobs {
			jobs[i].ID = first
			first++
		}
		began := time.Now()
		if err := store.Enqueue(ctx, jobs); err != nil {
			if ctx.Err() != nil {
				return context.Canceled
			}
			return storeError("enqueue", err)
		}
		if told != nil {
			told(len(jobs), time.Since(began))
		}
	}
	return nil
}

// handle is the handler of a run under a synthetic load: it executes one job, and records its start and duration.
func (r *loadRun) handle(ctx context.Context, j *engine.Job) error {
	record := &r.records[j.ID-1]
	if r.idle() && r.load.jobs > 0 && j.ID%sampled != 0 {
		record.successes.Add(1)
		return nil
	}
	began := r.clock()
	record.started.CompareAndSwap(0, int64(began)+1)
	var err error
	if !r.idle() {
		err = execute(ctx, r.wall, r.clock, j, r.wall.Begin(time.Duration(began), 0, j))
	}
	if err == nil {
		record.successes.Add(1)
	}
	shard := &r.runs[j.ID%engine.JobID(len(r.runs))]
	took := r.clock().Sub(began)
	shard.Lock()
	shard.add(took, 1)
	shard.Unlock()
	return err
}

// onEnd records when a job was acked or buried, and counts the job, at the first such outcome only.
func (r *loadRun) onEnd(o *engine.Outcome, _ *engine.Result, at engine.Time) {
	count, as := &r.done, int64(at)+1
	if o.Verb == engine.Bury {
		count, as = &r.dead, buried
	}
	if r.records[o.Job-1].ended.CompareAndSwap(0, as) {
		count.Add(1)
	}
}

// result computes the measurements of a run under a synthetic load. It works even if ctx is done.
func (r *loadRun) result(ctx context.Context) (*loaded, error) {
	left, dead, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	l := &loaded{open: r.load.jobs == 0, endedRun: r.measured(time.Duration(r.latest.Load()))}
	l.account = account{jobs: r.enqueued.Load(), done: r.done.Load(), dead: max(r.dead.Load(), dead)}
	l.reconcile(l.jobs-l.done-l.dead, left)
	l.enqueue.merge(&r.feeding.calls)
	for i := range r.runs {
		l.execute.merge(&r.runs[i].phase)
	}
	for i := range r.records {
		record := &r.records[i]
		l.duplicates += int64(max(0, record.successes.Load()-1))
		if !l.open || time.Duration(record.intended) < r.warmup.Std() {
			continue
		}
		if at := record.started.Load(); at > 0 {
			l.pickup.Record(engine.Time(at - 1).Sub(record.intended))
		}
		if at := record.ended.Load(); at > 0 {
			l.sojourn.Record(engine.Time(at - 1).Sub(record.intended))
		}
	}
	return l, nil
}

// execute sleeps for the run time drawn for one attempt of a job, and returns the attempt's error: live.ErrStopped,
// which hands the job back to the queue, if it was canceled because the process stops.
func execute(ctx context.Context, w *world.Wall, clock func() engine.Time, j *engine.Job, a world.Attempt) error {
	stopped := sleep(ctx, a.Runs, a.IgnoresCancel)
	kind := w.End(time.Duration(clock()), 0, j, a, stopped)
	switch {
	case kind == engine.NoError:
		return nil
	case stopped == engine.Canceled:
		return live.ErrStopped
	}
	return &live.Error{Kind: kind}
}

// sleep waits for d. If ctx is canceled first, it returns the cause at once, unless ignoresCancel is set.
func sleep(ctx context.Context, d time.Duration, ignoresCancel bool) engine.ErrorKind {
	if d <= 0 {
		return engine.NoError
	}
	stop := ctx.Done()
	if ignoresCancel {
		stop = nil
	}
	select {
	case <-time.After(d):
		return engine.NoError
	case <-stop:
	}
	switch context.Cause(ctx) {
	case live.ErrTimeout:
		return engine.Timeout
	case live.ErrLeaseLost:
		return engine.LeaseExpired
	}
	return engine.Canceled
}
