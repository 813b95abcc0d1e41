package check

import (
	"time"

	"qsim/engine"
)

// Checker is an engine.Recorder that follows a run and keeps the first breach of an
// invariant. It belongs to one run.
type Checker struct {
	rules Rules
	d     derived
	next  engine.Recorder // may be nil

	jobs         jobs
	nodes        []node
	counts       engine.Stats // OldestReady is not kept
	running      []int        // by kind: in flight, and no reaper has them
	latest       map[uint32]engine.JobID
	claim        claim
	reaps        reaps
	load         load
	ranks        [engine.NumClasses][]int // ready jobs by kind
	mostWaiting  int                      // the most jobs that ever waited
	mostInFlight int                      // and were in flight
	ready        engine.Time              // since when some job is ready without a break; Never: none is
	now          engine.Time

	events [engine.NumEventKinds]int64
	checks [NumInvariants]int64
	parts  [NumParts]int64
	breach *Breach
}

// New returns a Checker that holds a run to r and passes what it records on to next,
// which may be nil.
func New(r Rules, next engine.Recorder) *Checker {
	r.Store = r.Store.Complete()
	c := &Checker{rules: r, d: r.derive(), next: next, nodes: make([]node, r.Nodes), ready: engine.Never}
	c.running = make([]int, len(r.Store.MaxRunning))
	if r.Serial != nil {
		c.latest = make(map[uint32]engine.JobID)
	}
	for i := range c.nodes {
		c.nodes[i].idleSince = engine.Never
	}
	return c
}

// Breach is the first breach of an invariant that counts, or nil.
func (c *Checker) Breach() *Breach { return c.breach }

// Events are how many events of each kind were recorded.
func (c *Checker) Events() [engine.NumEventKinds]int64 { return c.events }

// Checks are how often each invariant was held against what happened.
func (c *Checker) Checks() [NumInvariants]int64 { return c.checks }

// Record checks e, follows its job and passes e on.
func (c *Checker) Record(e *engine.Event) {
	if c.breach == nil {
		c.check(e)
	}
	if c.next != nil {
		c.next.Record(e)
	}
}

func (c *Checker) check(e *engine.Event) {
	c.events[e.Kind]++
	if e.At < c.now {
		c.complain(Determinism, e, "time goes back from %v", time.Duration(c.now))
	}
	if c.now < c.rules.Calm && e.At >= c.rules.Calm {
		c.load.spend(c.rules.Calm)
		c.load.calm, c.load.before = c.load.idled, c.load.begun
	}
	c.now = e.At
	c.calm(e)
	if e.Kind == engine.Called {
		c.onCalled(e)
		return
	}
	if e.Job == 0 {
		c.onMachine(e)
		return
	}
	r := c.jobs.find(e.Job)
	if e.Error == engine.Canceled && (e.Kind == engine.Returned || e.Kind == engine.Fenced || e.Kind == engine.GaveUp) {
		c.nodes[e.Node].back++
	}
	switch e.Kind {
	case engine.Enqueued:
		c.onEnqueued(e, r)
		return
	case engine.Started, engine.Finished, engine.TimedOut, engine.Aborted:
		c.onExecution(e, r)
		return
	case engine.GaveUp:
		c.onGaveUp(e, r)
		return
	case engine.LeaseLost: // what an engine believes
		c.onLeaseLost(e, r)
		return
	}
	c.checks[NoLoss]++
	if r == noRef {
		c.complain(NoLoss, e, "no such job was enqueued")
		return
	}
	if c.isOver(e, r) {
		return
	}
	j := c.jobs.at(r)
	switch e.Kind {
	case engine.Promoted:
		c.onPromoted(e, j)
	case engine.Leased:
		c.onLeased(e, r, j)
	case engine.LeaseTaken:
		c.onTaken(e, r, j)
	case engine.LeaseForgotten:
		c.onForgotten(e, r, j)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		c.onCommitted(e, r, j)
	case engine.Fenced:
		c.onFenced(e, j)
	case engine.Extended, engine.ExtendRefused:
		c.onExtended(e, r, j)
	case engine.Redriven:
		c.onRedriven(e, j)
	}
}

// isOver deals with what is said of a job that has ended: it reports whether that was
// all there is to say.
func (c *Checker) isOver(e *engine.Event, r ref) bool {
	state := engine.Done
	if r != isDone {
		if state = c.jobs.at(r).state; state != engine.Dead {
			return false
		}
	}
	c.checks[Final]++
	switch {
	case e.Kind == engine.Fenced, e.Kind == engine.ExtendRefused:
	case e.Kind == engine.Redriven && state == engine.Dead:
		return false
	default:
		c.complain(Final, e, "it is %v", state)
	}
	return true
}

// toReady counts a job that becomes ready, as class.
func (c *Checker) toReady(j *job, class engine.Class, since engine.Time) {
	j.state, j.class, j.ready, j.usual = engine.Ready, class, since, !j.odd
	j.odd = false
	if c.d.explained {
		c.load.spend(c.now)
		j.since, j.idled, j.others = c.now, c.load.idled, c.load.begun
	}
	if c.counts.Ready[engine.Fresh]+c.counts.Ready[engine.Retry] == 0 {
		c.ready = c.now
	}
	c.counts.Ready[class]++
	c.rank(j, 1)
}

// leave takes a job out of the counts of the state that it is in.
func (c *Checker) leave(r ref, j *job) {
	switch j.state {
	case engine.Ready:
		c.counts.Ready[j.class]--
		c.rank(j, -1)
		if c.counts.Ready[engine.Fresh]+c.counts.Ready[engine.Retry] == 0 {
			c.ready = engine.Never
		}
	case engine.Waiting:
		c.counts.Waiting[j.class]--
	case engine.InFlight:
		c.counts.InFlight[inFlightAs(j)]--
		if !j.forgotten {
			c.jobs.delist(r)
		}
		c.uncount(j)
		c.nodes[j.node].onSaid(j)
	case engine.Dead:
		c.counts.Dead--
	}
}

// inFlightAs is the class that a job in flight counts as.
func inFlightAs(j *job) engine.Class {
	if j.delivery > 1 {
		return engine.Retry
	}
	return engine.Fresh
}

// uncount takes a job out of those that a limit on its kind counts.
func (c *Checker) uncount(j *job) {
	if !j.reaped && int(j.kind) < len(c.running) {
		c.running[j.kind]--
	}
}
