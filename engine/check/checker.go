package check

import "qsim/engine"

// Checker is an engine.Recorder that verifies the invariants of a run and stores the first breach. It belongs to one
// run. It applies the rules for each kind of event, then updates its own records of jobs and processes.
type Checker struct {
	rules Rules
	d     derived
	asked [numKinds]*asked // first rule of each kind of event
	at    subject          // event being checked
	pass  func()           // see Await

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
	wakes        wakes
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
	x    *execution // execution in the slot of the event; nil: none, or not that of the event
	lost bool       // the event contradicts the recorded state, and does not change it
}

// New returns a Checker for a run with the guarantees r.
func New(r Rules) *Checker {
	r.Store = r.Store.Complete()
	c := &Checker{rules: r, d: r.derive(), nodes: make([]node, r.Nodes), ready: engine.Never, kept: r.Calm - 1}
	c.Await(func() {})
	c.wakes.at = engine.Never
	c.running = make([]int, len(r.Store.MaxRunning))
	c.jobs.recoveries = make(map[ref]recoveries)
	c.jobs.extend()
	c.jobs.grow()
	for class := range c.ranks {
		c.ranks[class] = make([]int, len(r.Priorities))
	}
	if r.Serial != nil {
		c.latest, c.earlier = make(map[uint32]engine.JobID), make(map[ref]engine.JobID)
	}
	for i := range c.nodes {
		c.nodes[i].idleSince = engine.Never
	}
	table := r.table(&c.d)
	for i := len(table) - 1; i >= 0; i-- {
		for k := range c.asked {
			if rule := table[i]; rule.on>>k&1 != 0 && rule.when {
				c.asked[k] = &asked{rule: rule, next: c.asked[k]}
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

// Take checks events, recorded one after the other, in place of a call of Record for each.
func (c *Checker) Take(events []engine.Event) {
	for i := range events {
		c.check(&events[i])
	}
}

// Await sets the function by which a recorder that holds events back passes them to Take. The checker calls it before
// it answers anything that depends on them.
func (c *Checker) Await(pass func()) { c.pass = pass }

// caughtUp returns the checker after it has checked the events that the recorder in front still held back: see Await.
func (c *Checker) caughtUp() *Checker {
	c.pass()
	return c
}

// check checks an event and updates the state of its job, until an invariant is broken.
func (c *Checker) check(e *engine.Event) {
	if c.breach != nil {
		return
	}
	c.events[e.Kind]++
	s := &c.at
	*s = subject{Event: e}
	if node := uint(uint32(e.Node)); node < uint(len(c.nodes)) { // -1 is none
		s.n = &c.nodes[node]
	}
	if e.Job != 0 {
		s.r, s.j = c.jobs.find(e.Job)
	}
	switch e.Kind {
	case engine.Started, engine.Finished, engine.TimedOut, engine.Aborted:
		for len(s.n.slots) <= int(e.Slot) {
			s.n.slots = append(s.n.slots, execution{})
		}
		s.x = &s.n.slots[e.Slot]
	case engine.LeaseLost:
		if slots := s.n.slots; int(e.Slot) < len(slots) {
			if x := &slots[e.Slot]; x.job == e.Job && x.delivery == e.Delivery {
				s.x = x
			}
		}
	}
	if e.At > c.kept && e.At != c.now || e.At < c.now {
		c.goOn(s)
	}
	c.now = e.At
	kind := int(e.Kind)
	if e.Kind == engine.Called {
		kind = firstCall + int(e.Op)
	}
	if c.ask(kind); !s.lost {
		c.follow(s)
	}
}

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
	c.ask(inCalm)
}

// ask applies the rules for a kind of event to the present event, until one finds that it contradicts the records.
func (c *Checker) ask(kind int) {
	for r := c.asked[kind]; r != nil; r = r.next {
		if r.asks(c, &c.at) {
			if r.applied++; c.at.lost {
				return
			}
		}
	}
}

// follow updates the checker's records of jobs and processes after an event.
func (c *Checker) follow(s *subject) {
	j := s.j
	switch s.Kind {
	case engine.Called:
		c.followCall(s)
	case engine.Enqueued:
		c.followEnqueued(s)
	case engine.Promoted:
		c.counts.Waiting[j.class]--
		c.toReady(j, j.class, j.ready)
	case engine.Leased:
		c.followLeased(s)
	case engine.LeaseTaken:
		c.leave(j)
		c.recovered(s)
		if j.dropped == j.token {
			j.dropped = s.Token
		}
		j.reaped, j.forgotten, j.claimed, j.token = true, false, s.At, s.Token
		c.enter(s.r, j)
	case engine.LeaseForgotten:
		c.jobs.delist(j) // the lease has no end
		j.forgotten = true
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		c.followCommitted(s)
	case engine.Fenced, engine.GaveUp:
		c.drops(s)
	case engine.LeaseLost: // a belief of the engine, not a fact
		c.drops(s)
		if x := s.x; x != nil {
			if x.over, x.lost = true, true; x.told == 0 { // it does not time out any more
				x.told = c.now
			}
		}
	case engine.Extended, engine.ExtendRefused:
		if s.Token == j.token {
			j.asked = s.At
		}
		if s.Kind == engine.Extended {
			j.untimed = c.rules.Node.Lease.AckAtStart
			c.jobs.delist(j)
			c.jobs.enlist(s.r, j, s.At)
		}
	case engine.Redriven:
		c.followRedriven(s)
	case engine.Started:
		c.followStarted(s)
	case engine.Finished, engine.TimedOut, engine.Aborted:
		c.followEnded(s)
	default:
		c.followMachine(s)
	}
}
