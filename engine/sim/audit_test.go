package sim_test

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
)

// audit follows every job through the truth that is recorded, and complains about
// what must not be, whatever the faults: time that goes back, a claim of a job that
// is not ready, a token or a delivery that does not rise by the rules, a job that
// changes after its end, an execution that ends without having begun.
type audit struct {
	rules    engine.StoreOptions
	guard    engine.Guard // of the reapers
	serial   func(engine.JobID) uint32
	lost     lostJobs
	sheds    bool // claims bury ready jobs
	jobs     map[engine.JobID]*audited
	latest   map[uint32]*audited // by serial key
	last     engine.Time
	problems []string
	n        [engine.NumEventKinds]int
}

type audited struct {
	state     engine.State
	class     engine.Class
	enqueued  engine.Time
	ready     engine.Time // since when
	dueAt     engine.Time
	token     engine.Token
	delivery  int32
	executing int
	successes int
	begun     int
	ends      int
	reaped    bool     // a reaper holds it
	forgotten bool     // its lease record is lost
	before    *audited // the one that its serial key makes it wait for
}

// lostJobs says which jobs may be left at the end of a run, neither done nor dead.
type lostJobs struct {
	inFlight  bool // any that are in flight: a lease never ends
	forgotten bool // those in flight whose lease record is lost
	waiting   bool // any that wait: their promoter died
}

func newAudit(o engine.StoreOptions) *audit {
	return &audit{rules: o, jobs: map[engine.JobID]*audited{}, latest: map[uint32]*audited{}}
}

func (a *audit) complain(e *engine.Event, format string, args ...any) {
	if len(a.problems) < 5 {
		a.problems = append(a.problems, fmt.Sprintf("at %v %v of job %d by node %d: ", time.Duration(e.At), e.Kind, e.Job, e.Node)+fmt.Sprintf(format, args...))
	}
}

// Record checks e and moves its job.
func (a *audit) Record(e *engine.Event) {
	a.n[e.Kind]++
	if e.At < a.last {
		a.complain(e, "time went back from %v", time.Duration(a.last))
	}
	a.last = e.At
	j := a.jobs[e.Job]
	switch {
	case e.Job == 0:
		return
	case e.Kind == engine.Enqueued:
		if j != nil {
			a.complain(e, "it was enqueued before")
		}
		j = &audited{enqueued: e.At}
		a.jobs[e.Job] = j
		a.wait(e, j, e.Delay > 0)
		if a.serial != nil {
			key := a.serial(e.Job)
			j.before, a.latest[key] = a.latest[key], j
		}
		return
	case j == nil:
		a.complain(e, "it was never enqueued")
		return
	}
	if j.state == engine.Done || j.state == engine.Dead && e.Kind != engine.Redriven {
		switch e.Kind {
		case engine.Fenced, engine.ExtendRefused, engine.Finished, engine.LeaseLost, engine.Started, engine.TimedOut, engine.Aborted, engine.GaveUp:
		default:
			a.complain(e, "it is %v", j.state)
		}
	}
	a.move(e, j)
}

func (a *audit) move(e *engine.Event, j *audited) {
	switch e.Kind {
	case engine.Promoted:
		if j.state != engine.Waiting || e.At < j.dueAt || !a.rules.Promoted && e.At != j.dueAt || e.Class != j.class {
			a.complain(e, "it is %v as %v, due at %v", j.state, j.class, time.Duration(j.dueAt))
		}
		j.state, j.ready = engine.Ready, j.dueAt
	case engine.Leased:
		if j.state != engine.Ready || e.Class != j.class {
			a.complain(e, "it is %v as %v", j.state, j.class)
		}
		if e.Delivery != j.delivery+1 || e.Waited != max(0, e.At.Sub(j.ready)) || e.Age != e.At.Sub(j.enqueued) {
			a.complain(e, "delivery %d after %d, waited %v since %v, aged %v", e.Delivery, j.delivery, e.Waited, time.Duration(j.ready), e.Age)
		}
		if j.before != nil && j.before.ends == 0 {
			a.complain(e, "the job before it of its serial key has not ended")
		}
		j.state, j.delivery, j.reaped, j.forgotten = engine.InFlight, e.Delivery, false, false
		a.fenceOff(e, j)
		a.bound(e)
	case engine.LeaseForgotten:
		if j.state != engine.InFlight || e.Delivery != j.delivery || a.rules.LapseAfter < 0 && e.Token != j.token {
			a.complain(e, "it is %v under token %d, delivery %d", j.state, j.token, j.delivery)
		}
		j.forgotten = true
	case engine.Redriven:
		if j.state != engine.Dead {
			a.complain(e, "it is %v", j.state)
		}
		j.state, j.ready, j.ends = engine.Ready, e.At, 0
	case engine.LeaseTaken:
		if j.forgotten && !a.rules.Orphans && a.guard == engine.GuardStore { // otherwise it may have been read before
			a.complain(e, "its lease record is lost")
		}
		j.reaped, j.forgotten = true, false
		if j.state != engine.InFlight || e.Delivery != j.delivery {
			a.complain(e, "it is %v, delivery %d", j.state, j.delivery)
		}
		a.fenceOff(e, j)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		a.commit(e, j)
	case engine.Extended:
		if j.state != engine.InFlight || j.forgotten || a.rules.Fence == engine.FenceToken && e.Token != j.token {
			a.complain(e, "it is %v under token %d", j.state, j.token)
		}
	case engine.Started:
		j.executing++
		j.begun++
	case engine.Finished, engine.Aborted:
		if j.executing--; j.executing < 0 {
			a.complain(e, "it was not executing")
		}
		if e.Kind == engine.Finished && e.Error == engine.NoError {
			j.successes++
		}
	}
}

// wait makes j wait for e.Delay, if it has to.
func (a *audit) wait(e *engine.Event, j *audited, waits bool) {
	j.state, j.dueAt = engine.Waiting, e.At.Add(e.Delay)
	if !waits || a.rules.Held {
		j.state, j.ready = engine.Ready, j.dueAt
	}
}

// bound complains if more is in flight than may be.
func (a *audit) bound(e *engine.Event) {
	if a.rules.MaxInFlight == 0 && a.rules.MaxRunning == nil {
		return
	}
	inFlight, running := 0, 0
	for _, j := range a.jobs {
		if j.state == engine.InFlight {
			inFlight++
			if !j.reaped {
				running++
			}
		}
	}
	if most := a.rules.MaxInFlight; most > 0 && inFlight > most {
		a.complain(e, "%d jobs are in flight", inFlight)
	}
	if most := a.rules.MaxRunning; most != nil && most[0] > 0 && running > most[0] {
		a.complain(e, "%d jobs of the class are running", running)
	}
}

func (a *audit) fenceOff(e *engine.Event, j *audited) {
	if e.Token <= j.token {
		a.complain(e, "token %d after %d", e.Token, j.token)
	}
	j.token = e.Token
}

func (a *audit) commit(e *engine.Event, j *audited) {
	if e.From != j.state {
		a.complain(e, "it was %v, the event says %v", j.state, e.From)
	}
	fence := max(a.rules.Fence, a.guard.Fence(a.rules.Fence))
	if a.sheds && e.Kind == engine.Buried && j.state == engine.Ready {
		fence = engine.FenceNone
	}
	if fence != engine.FenceNone && j.state != engine.InFlight || fence == engine.FenceToken && e.Token != j.token {
		a.complain(e, "it is %v under token %d, the commit has %d", j.state, j.token, e.Token)
	}
	j.class = engine.Retry
	if j.delivery == 0 {
		j.class = engine.Fresh // without a fence, a job may end that nobody claimed; it cannot here
	}
	switch e.Kind {
	case engine.Acked:
		if j.successes == 0 {
			a.complain(e, "no execution succeeded")
		}
		j.state = engine.Done
		j.ends++
	case engine.Buried:
		j.state = engine.Dead
		j.ends++
	case engine.Nacked:
		a.wait(e, j, true)
	case engine.Returned:
		if j.state, j.ready = engine.Ready, e.At; a.rules.Held {
			j.ready = max(e.At, j.dueAt)
		}
	}
}

// settled reports what is wrong at the end of a run after which nothing may be left.
func (a *audit) settled(store *memstore.Store) []string {
	left, lost := 0, 0
	for id, j := range a.jobs {
		if j.ends == 0 && j.executing == 0 && a.mayBeLost(j) {
			lost++
			continue
		}
		if j.ends != 1 || j.executing != 0 {
			left++
			if len(a.problems) < 5 {
				a.problems = append(a.problems, fmt.Sprintf("job %d ended %d times and is %v, %d executions are left", id, j.ends, j.state, j.executing))
			}
		}
	}
	if store.Live() != lost {
		a.problems = append(a.problems, fmt.Sprintf("%d jobs are left in the store, %d may be, %d have not ended once", store.Live(), lost, left))
	}
	return a.problems
}

func (a *audit) mayBeLost(j *audited) bool {
	switch j.state {
	case engine.InFlight:
		return a.lost.inFlight || a.lost.forgotten && j.forgotten
	case engine.Waiting:
		return a.lost.waiting
	}
	return false
}

// balance compares the store's counts with the recorded truth.
func (a *audit) balance(s engine.Stats) string {
	var want engine.Stats
	for _, j := range a.jobs {
		switch j.state {
		case engine.Ready:
			want.Ready[j.class]++
		case engine.Waiting:
			want.Waiting[j.class]++
		case engine.InFlight:
			if j.delivery > 1 {
				want.InFlight[engine.Retry]++
			} else {
				want.InFlight[engine.Fresh]++
			}
		case engine.Dead:
			want.Dead++
		}
	}
	want.OldestReady = s.OldestReady
	if want != s {
		return fmt.Sprintf("the store counts %+v, recorded were %+v", s, want)
	}
	return ""
}
