package common

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is the kind of an Event in the log of a run.
type Kind uint8

// Enqueued and the constants below are kinds of events: what happened to a job or, for Crashed, to a process.
const (
	Enqueued Kind = iota + 1
	Began         // an attempt
	Ended         // an attempt, failed or not
	Delayed       // the retry is due Delay after the failure; or a job that is enqueued with a delay, after that
	Died          // no further attempt
	Crashed       // a process, of no job
)

// Event is one entry in the log of a run: what happened, when, and to which job.
type Event struct {
	At     float64 // seconds from the start
	Kind   Kind
	Job    string
	Number int     // number of the attempt in the system's count, from 1
	Node   string  // "0", "1": the successor of a process that died has its name
	OK     bool    // Ended: it succeeded
	Delay  float64 // Delayed: in seconds
}

// Run is one run of a case with a seed, on the real system or simulated: its jobs, and a log of what becomes of them.
type Run struct {
	*Case
	Seed uint64
	Jobs []Job
	Over chan struct{} // closed at the end: lets the handlers of dead processes go

	start  time.Time
	lead   time.Duration // time before the start, in which the processes start
	boot   time.Duration // last part of lead, in which no process starts
	ahead  atomic.Int64  // offset set by Ahead, in nanoseconds
	lock   sync.Mutex
	events []Event
	done   map[string]bool
	lives  []*Life
}

func newRun(c *Case, seed uint64) *Run {
	return &Run{Case: c, Seed: seed, Jobs: c.jobs(seed), Over: make(chan struct{}), start: time.Now(),
		done: map[string]bool{}}
}

// Now returns the time since the start of a run on the real system, by its clock; before the start it is negative.
func (r *Run) Now() time.Duration { return time.Since(r.start) + time.Duration(r.ahead.Load()) }

// Ahead advances the clock of a run by a time that the real system has been made to skip, too.
func (r *Run) Ahead(by time.Duration) { r.ahead.Add(int64(by)) }

// On returns the time of the system's clock that is at after the start of a run.
func (r *Run) On(at time.Duration) time.Time { return r.start.Add(at) }

// Log adds an event that happens now to the log of a run. It may be called from several goroutines.
func (r *Run) Log(e Event) {
	r.lock.Lock()
	defer r.lock.Unlock()
	e.At = r.Now().Seconds()
	r.add(e)
}

func (r *Run) add(e Event) {
	r.events = append(r.events, e)
	if e.Kind == Ended && e.OK || e.Kind == Died {
		r.done[e.Job] = true
	}
}

// Begin logs the start of an attempt, and returns for how long the handler must run and whether it must fail then.
func (r *Run) Begin(job string, number int, node string) (takes time.Duration, fails bool) {
	k, now := r.Class(job), r.Now()
	r.Log(Event{Kind: Began, Job: job, Number: number, Node: node})
	return k.Service, k.Fails && now >= r.From && now < r.To
}

// Drive calls enqueue for the jobs of a run at their times, and returns when all are done, or at the case's Limit.
func (r *Run) Drive(enqueue func(j Job) error) error {
	for _, j := range r.Jobs {
		time.Sleep(j.At - r.Now())
		if err := enqueue(j); err != nil {
			return fmt.Errorf("enqueue %s: %w", j.ID, err)
		}
		r.Log(Event{Kind: Enqueued, Job: j.ID})
	}
	for r.Now() < r.Limit && (r.Full || r.left() > 0) {
		began := time.Now()
		time.Sleep(time.Second)
		if took := time.Since(began); took > still {
			return fmt.Errorf("the machine stood still: a second took %v", took)
		}
	}
	return nil
}

// still is the longest that a sleep of one second may take: beyond it the machine stood still, and Drive fails.
const still = 6 * time.Second

func (r *Run) left() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.Jobs) - len(r.done)
}

// lead and wallLead are the times before the first arrival, on a virtual and on the wall clock, in which the processes
// of the real system start at random, so that their timers are out of step. On the wall clock none starts in the last
// part, boot: then all are up.
const (
	lead     = 5 * time.Minute
	wallLead = time.Minute
	boot     = 10 * time.Second
)

// Operate calls start for a process of each node at random times before the first arrival, then crashes and replaces
// node 0 as the case says, until all is done or the run is over. start returns a function that crashes the process.
func (r *Run) Operate(start func(node string) (crash func())) {
	random := rand.New(rand.NewPCG(r.Seed, 99))
	var starts []time.Duration
	for range r.Nodes {
		starts = append(starts, time.Duration(random.Int64N(int64(r.lead-r.boot)))-r.lead)
	}
	slices.Sort(starts)
	var crash func()
	for n, at := range starts {
		if !r.sleep(at - r.Now()) {
			return
		}
		if other := start(fmt.Sprint(n)); n == 0 {
			crash = other
		}
	}
	for _, at := range r.crashes(r.Seed) {
		if !r.sleep(at - r.Now()) {
			return
		}
		r.Log(Event{Kind: Crashed, Node: "0"})
		crash()
		if !r.sleep(r.Back) {
			return
		}
		crash = start("0")
	}
}

// sleep waits for a time of the system's clock and returns true, or false at once when the run is over.
func (r *Run) sleep(d time.Duration) bool {
	select {
	case <-r.Over:
		return false
	case <-time.After(d):
		return true
	}
}

// Life is the history of one job in a run: its attempts, failures and delays. Times are in seconds from the start.
type Life struct {
	Job, Class string
	Enqueued   float64
	Died       float64 // NaN: it did not
	Began      []Event
	Ended      []Event
	Delayed    []Event
}

// Lives returns the histories of all jobs of a finished run, in order of arrival.
func (r *Run) Lives() []*Life {
	if r.lives != nil {
		return r.lives
	}
	of := map[string]*Life{}
	for _, j := range r.Jobs {
		of[j.ID] = &Life{Job: j.ID, Class: j.Class, Enqueued: j.At.Seconds(), Died: math.NaN()}
		r.lives = append(r.lives, of[j.ID])
	}
	for _, e := range r.events {
		l := of[e.Job]
		switch e.Kind {
		case Enqueued:
			l.Enqueued = e.At
		case Began:
			l.Began = append(l.Began, e)
		case Ended:
			l.Ended = append(l.Ended, e)
		case Delayed:
			l.Delayed = append(l.Delayed, e)
		case Died:
			l.Died = e.At
		}
	}
	return r.lives
}

// of reports whether a history's job is of one of the classes, or no classes are given.
func (l *Life) of(classes []string) bool {
	return len(classes) == 0 || slices.Contains(classes, l.Class)
}
