package check

import (
	"slices"

	"qsim/engine"
)

// Checker is an engine.Recorder that verifies the invariants of a run and stores the first breach. It belongs to one
// run. It applies the rules for each kind of event, then updates its own records of jobs and processes.
type Checker struct {
	rules Rules
	d     derived
	kinds [numKinds]kindOf
	at    subject // event being checked
	pass  func()  // see Await

	jobs         jobs
	nodes        []node
	counts       engine.Stats            // counts of jobs by state, without OldestReady
	running      []int                   // jobs in flight without a reaper, by job kind
	latest       map[uint32]engine.JobID // latest job of each serial key
	earlier      map[ref]engine.JobID    // job of the same serial key that a job waits for
	claim        claim
	reaps        reaps
	load         load
	ranks        [engine.NumClasses][]int // ready jobs by class and job kind
	tenants      tenants
	woken        engine.Time // time of a job that became ready while no other was and workers idle; Never: none since
	brought      engine.Time // time of the latest claim that returned jobs
	mostWaiting  int         // highest number of waiting jobs so far
	mostInFlight int         // highest number of jobs in flight so far
	ready        engine.Time // time since when some job has been ready without a break; Never: none is
	now          engine.Time
	kept         engine.Time // time up to which no rule of the time after the storms can be broken

	events [engine.NumEventKinds]int64
	checks [NumInvariants]int64 // number of checks by invariant, and by probe, besides those that rules count
	probes [uncounted]int64     // the last counts rules that are no probes
	breach *Breach
}

// kindOf holds the rules that the checker applies to each event of one kind, such as Leased, and how it follows it. The
// executed calls of each operation are a kind of their own.
type kindOf struct {
	asked  *asked                       // first rule
	follow func(c *Checker, s *subject) // updates the records of jobs and processes
	inSlot bool                         // they are about the execution in a slot
	stored bool                         // they are about a job that the store has not ended, see goesOn
}

// asked is a rule (check of an invariant) in the list for one kind of event, and how often it applied.
type asked struct {
	rule
	applied int64
	next    *asked // next rule of the table for events of that kind; nil: it is the last
}

// subject is the event being checked, with the checker's records of its node, job and execution.
type subject struct {
	*engine.Event
	n    *node // node of the event; nil: none in particular
	r    ref
	j    *job       // job of the event; nil: none, or it is done
	x    *execution // execution in the slot of the event; nil: it has no slot
	lost bool       // the event contradicts the recorded state, and does not change it
}

// New returns a Checker for a run with the guarantees r.
func New(r Rules) *Checker {
	r.Store = r.Store.Complete()
	c := &Checker{rules: r, d: r.derive(), nodes: make([]node, r.Nodes), ready: engine.Never, kept: r.Calm - 1}
	if len(r.Node.Kinds) == 0 {
		c.rules.Node.Kinds = make([]engine.KindConfig, 1)
	}
	c.Await(func() {})
	c.woken = engine.Never
	c.running = make([]int, len(r.Store.MaxRunning))
	c.jobs.recoveries = make(map[ref]recoveries)
	c.jobs.extend()
	c.jobs.grow()
	for class := range c.ranks {
		c.ranks[class] = make([]int, len(r.Priorities))
	}
	c.latest, c.earlier = make(map[uint32]engine.JobID), make(map[ref]engine.JobID)
	for i := range c.nodes {
		c.nodes[i].idleSince = engine.Never
	}
	table := r.table(&c.d)
	for i := range c.kinds {
		k := &c.kinds[i]
		k.inSlot, k.stored = inSlot.has(i), stored.has(i)
		for _, f := range followers {
			if f.on.has(i) {
				k.follow = f.follow
			}
		}
		for _, rule := range slices.Backward(table) {
			if rule.on.has(i) && rule.when {
				k.asked = &asked{rule: rule, next: k.asked}
			}
		}
	}
	return c
}

// Breach returns the first breach of a checked invariant, or nil.
func (c *Checker) Breach() *Breach { return c.caughtUp().breach }

// Events returns how many events of each kind were recorded.
func (c *Checker) Events() [engine.NumEventKinds]int64 { return c.caughtUp().events }

// Checks returns how often each invariant was checked: one that was never checked has not been tested by the run.
func (c *Checker) Checks() [NumInvariants]int64 {
	checks, _ := c.counted()
	return checks
}

// Record checks an event; those recorded before it are checked first.
func (c *Checker) Record(e *engine.Event) { c.caughtUp().check(e) }

// Take checks several events in the order in which they were recorded, as calls of Record with each would.
func (c *Checker) Take(events []engine.Event) {
	for i := range events {
		c.check(&events[i])
	}
}

// Await sets the function that passes to Take the events which the recorder in front of the checker holds back, to
// check several at a time. The checker calls it before it returns anything that depends on them.
func (c *Checker) Await(pass func()) { c.pass = pass }

// caughtUp returns the checker after it has checked the events that the recorder in front still held back: see Await.
func (c *Checker) caughtUp() *Checker {
	c.pass()
	return c
}

// check checks an event and updates the state of its job, until an invariant is broken. It is not inlined: every call
// of a rule would then save the variables of the loop around it, too.
//
//go:noinline
func (c *Checker) check(e *engine.Event) {
	if c.breach != nil {
		return
	}
	c.events[e.Kind]++
	k, n, x := &c.kinds[kindIndex(e.Kind, e.Op)], (*node)(nil), (*execution)(nil)
	if node := uint(uint32(e.Node)); node < uint(len(c.nodes)) { // -1 is none
		n = &c.nodes[node]
	}
	if k.inSlot {
		for len(n.slots) <= int(e.Slot) {
			n.slots = append(n.slots, execution{})
		}
		x = &n.slots[e.Slot]
	}
	r, j := noRef, (*job)(nil)
	if e.Job != 0 && e.Kind != engine.Enqueued {
		r, j = c.jobs.find(e.Job)
	}
	s := &c.at
	s.Event, s.n, s.r, s.j, s.x, s.lost = e, n, r, j, x, false
	if e.At > c.kept && e.At != c.now || e.At < c.now {
		c.goOn(s)
	}
	c.now = e.At
	if k.stored && (j == nil || j.state == engine.Dead || e.Kind == engine.Redriven) {
		if c.goesOn(s); s.lost {
			return
		}
	}
	follow := k.follow
	for r := k.asked; r != nil; r = r.next {
		if r.asks(c, s) {
			r.applied++
		}
		if s.lost {
			return
		}
	}
	follow(c, s)
}

// runs reports whether the execution in the slot of an event is that of its job and delivery.
func (s *subject) runs() bool { return s.x.job == s.Job && s.x.delivery == s.Delivery }

// goOn applies, once for each instant after the storms (injected faults), the rules that bound times, such as how long
// workers may be idle; at the first it notes the load until then.
func (c *Checker) goOn(s *subject) {
	if s.At < c.now {
		c.complain(Determinism, "time goes back from %v", c.now)
		return
	}
	if c.now < c.rules.Calm {
		c.load.spend(c.rules.Calm)
		c.load.calm, c.load.before = c.load.idled, c.load.begun
	}
	c.now, c.kept = s.At, engine.Never
	if c.d.idle {
		c.claimsWhileReady()
	}
	if c.d.recovers {
		c.takesEndedLeases()
	}
}
