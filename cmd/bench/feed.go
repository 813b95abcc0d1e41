package bench

import (
	"cmp"
	"context"
	"sync"
	"time"

	"qsim/engine"
	"qsim/scenarios/world"
)

// feeding holds measurements of a run's enqueue calls: their durations and, of a scenario, how late each job was.
type feeding struct {
	mutex sync.Mutex
	calls phase
	made  []world.Span // spans of the enqueue calls of a scenario; of a synthetic load none is kept
	jobs  []fed        // jobs of these calls
}

// fed holds a job, when it was due to be enqueued, how late its enqueue ended, and how long that call took.
type fed struct {
	job  engine.JobID
	at   time.Duration // time at which the job was due
	late time.Duration // delay from at until the end of its enqueue
	call time.Duration // duration of its enqueue call
}

// promptly is the longest wait of a due job for its enqueue call that counts as on time. After a longer one, as for a
// timer that fires a millisecond late, several jobs are enqueued at once, which makes claims larger.
const promptly = 100 * time.Microsecond

// arrivals returns the spans of time in which due jobs waited for an enqueue call to begin, and how late each job was
// apart from these. seen gives the time from which claims find a call's jobs, which is never before the call begins.
func (f *feeding) arrivals(seen visibility) (held []world.Span, each []world.Enqueued) {
	for _, j := range f.jobs {
		if lag := j.late - j.call; lag > promptly {
			held = append(held, world.Span{From: j.at, For: lag})
		}
	}
	held = merged(held)
	for _, j := range f.jobs {
		late := j.late - within(held, j.at, j.at+j.late)
		late = max(0, late-j.call, late+seen.after)
		call := time.Duration(seen.counted*float64(j.call)) + seen.after
		each = append(each, world.Enqueued{At: j.at, Late: late, Call: min(max(0, call), late)})
	}
	return held, each
}

// heldUp splits the spans in which due jobs waited into stalls of the feeder (above stallFrom) and delays of timers.
func heldUp(held []world.Span) (stalls, late []world.Span) {
	for _, s := range held {
		if s.For > stallFrom {
			stalls = append(stalls, s)
		} else {
			late = append(late, s)
		}
	}
	return stalls, late
}

// feeders is the number of goroutines that enqueue jobs when they are due, so that a slow call of one does not delay
// later jobs; mostInOneCall is the highest number of jobs of one call.
const (
	feeders       = 4
	mostInOneCall = 200
)

// schedule returns the next job and when to enqueue it, in the order of these times; ok is false after the last.
type schedule func() (at time.Duration, j engine.NewJob, ok bool)

// feeder is the source of jobs in a run: it enqueues those of a schedule when they are due, from several goroutines.
type feeder struct {
	rig  *rig
	next schedule
	told func(j *engine.NewJob, began, ended engine.Time) // called with each accepted job and its call's times; nil: none

	mutex sync.Mutex // mutex guards the schedule; its holder waits for the next due job
	ahead engine.NewJob
	at    time.Duration
	over  bool
}

// feed returns a function that enqueues the jobs of a schedule when they are due, until the time of the run is up.
func (r *rig) feed(next schedule,
	told func(j *engine.NewJob, began, ended engine.Time)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		f := &feeder{rig: r, next: next, told: told}
		f.advance()
		errs := make(chan error, feeders)
		for range feeders {
			go func() { errs <- f.work(ctx) }()
		}
		var first error
		for range feeders {
			first = cmp.Or(first, <-errs)
		}
		if first != nil {
			return first
		}
		return f.skip(ctx)
	}
}

// skip counts, as unfed, the jobs of the schedule that were not enqueued before the time of the run was up.
func (f *feeder) skip(ctx context.Context) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for n := 0; !f.over; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f.rig.unfed.Add(1)
		f.advance()
	}
	return nil
}

func (f *feeder) work(ctx context.Context) error {
	var jobs []engine.NewJob
	var due []time.Duration
	for {
		var more bool
		if jobs, due, more = f.take(jobs[:0], due[:0]); !more {
			return ctx.Err()
		}
		if len(jobs) == 0 {
			continue // timers sometimes fire early
		}
		began := f.rig.clock()
		if err := f.rig.store.Enqueue(ctx, jobs); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return storeError("enqueue", err)
		}
		ended := f.rig.clock()
		f.rig.enqueued.Add(int64(len(jobs)))
		f.record(began, ended, jobs, due)
	}
}

// take waits until the next job is due and appends it and others due by then; false: no job is due before the end.
func (f *feeder) take(jobs []engine.NewJob, due []time.Duration) ([]engine.NewJob, []time.Duration, bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.over {
		return jobs, due, false
	}
	if wait := f.at - time.Duration(f.rig.clock()); wait > 0 {
		select {
		case <-f.rig.arriving.Done():
		case <-time.After(wait):
		}
	}
	if f.rig.arriving.Err() != nil {
		return jobs, due, false
	}
	now := time.Duration(f.rig.clock())
	for !f.over && f.at <= now && len(jobs) < mostInOneCall {
		jobs, due = append(jobs, f.ahead), append(due, f.at)
		f.advance()
	}
	return jobs, due, true
}

func (f *feeder) advance() {
	at, j, ok := f.next()
	f.at, f.ahead, f.over = at, j, !ok
}

// record records an enqueue call, and its jobs with the times at which they were due unless nobody is told of them.
func (f *feeder) record(began, ended engine.Time, jobs []engine.NewJob, due []time.Duration) {
	all, took := &f.rig.feeding, ended.Sub(began)
	all.mutex.Lock()
	defer all.mutex.Unlock()
	all.calls.add(took, len(jobs))
	if f.told == nil {
		return
	}
	all.made = append(all.made, world.Span{From: time.Duration(began), For: took})
	for i, at := range due {
		all.jobs = append(all.jobs, fed{jobs[i].ID, at, time.Duration(ended) - at, took})
		f.told(&jobs[i], began, ended)
	}
}
