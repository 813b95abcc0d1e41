// Package sim drives engines on a virtual clock: one goroutine, one event queue, every delay and fault a pure function
// of the seed. A node runs one process after another, as crashes and restarts have it; each is a life of the node. The
// events of one instant have this order: processes die and start, waiting jobs become due, calls reach the store,
// answers reach the nodes, handlers return, jobs are enqueued, timers fire; then in the order of their causes.
package sim

import (
	"context"
	"math"
	"time"

	"qsim/engine"
)

// node is one simulated node: the process that runs on it, if any, which may die and start again.
type node struct {
	sim     *Sim
	calling *message       // the call that the engine is filling in
	engine  *engine.Engine // engine of the node; nil: it is down
	due     engine.Time    // its deadline in Sim.queue, unless Sim.plain
	id      engine.EngineID
	index   int32
	lives   uint32
	awake   bool          // the node is in Sim.awake
	stopped bool          // it has received a stop signal in this life
	told    bool          // a wake came while it was frozen
	frozen  int           // number of active pauses
	down    int           // number of deaths from which it has not restarted yet
	missed  []deferred    // inputs that arrived while it was frozen
	runs    []uint32      // by slot of its engine, index of the run + 1
	ahead   time.Duration // offset of its wall clock
}

// deferred is an input that a frozen process gets when it goes on: an answer, or the end of an execution.
type deferred struct {
	answer *message // nil: the end of an execution
	key    uint64   // key of that execution's finish event
}

// run is one execution of a handler that has not ended, with its planned end.
type run struct {
	key     uint64 // key of its finish event; 0: the slot is free
	job     *engine.Job
	node    *node
	slot    engine.Slot
	started engine.Time
	plan    Execution
	_       [8]byte // to a whole cache line
}

// Sim is one simulated run: nodes with engines, a store, a network and a virtual clock.
type Sim struct {
	cfg    Config
	now    engine.Time
	store  Store
	serves engine.Store // the store in the interface that calls use
	queue  queue
	nodes  []node
	single bool                         // there is one node
	plain  bool                         // there is one node, which notices its deadlines when they are due
	awake  nodeSet                      // with several nodes, those that have idle workers and can be woken
	oneWay [engine.NumOps]time.Duration // one-way delays of the network if constant for every call; negative: they are not

	revoker  Revoker          // the workload, if it implements Revoker
	arriving [1]engine.NewJob // next arrival
	promoted []engine.Promotion

	messages slab[message]
	runs     slab[run]
	late     slab[[1]engine.NewJob] // jobs on their way to the store
	turn     int                    // first node that WakeOne tries
	unaware  nodeSet                // frozen nodes that can use a wake and have none yet

	controls  controls
	stalled   [engine.NumOps]int // number of faults that stop the reapers or promoters, by role
	admission admission
	rows      Rows // counts of jobs for the call being served

	witness Witness // recorder of all events, which passes them to Config.Recorder
	event   engine.Event
	tally   tally
	rests   engine.Time // time since when no work has been left; Never: some is
	last    engine.Time // latest time at which an event may happen
}

// New returns a simulated run ready to start at time 0.
func New(cfg Config) *Sim {
	s := &Sim{cfg: cfg, rests: engine.Never, last: min(cfg.Until, engine.Never-1)}
	s.store = cfg.Store(func() engine.Time { return s.now })
	s.serves = s.store
	s.nodes, s.single = make([]node, len(cfg.Nodes)), len(cfg.Nodes) == 1
	s.plain = s.single && cfg.Late == nil
	s.queue.init(len(cfg.Nodes))
	s.awake.init(len(cfg.Nodes))
	s.unaware.init(len(cfg.Nodes))
	s.oneWay = waysOf(cfg.Network)
	s.revoker, _ = cfg.Workload.(Revoker)
	if cfg.Parallel > 0 {
		s.admission.limits = []int{cfg.Parallel}
	}
	s.initControls(cfg.Controls)
	s.witness.Next = engine.RecordJobs(cfg.Recorder)
	if len(s.controls.awaiting) > 0 {
		s.witness.Next = engine.RecordJobs(cfg.Recorder, awaiter{s})
	}
	for i := range s.nodes {
		s.nodes[i].sim, s.nodes[i].index, s.nodes[i].due = s, int32(i), engine.Never
		s.boot(int32(i))
	}
	s.nextJob()
	return s
}

// Run processes events until no work is left or Config.Until.
func (s *Sim) Run() {
	for s.Steps(math.MaxInt) {
	}
}

// Now returns the virtual time.
func (s *Sim) Now() engine.Time { return s.now }

// Events returns how many simulation events (arrivals, calls, ends, timers and so on) have been processed.
func (s *Sim) Events() int64 { return s.tally.all }

// Digest returns the fingerprint of all recorded events so far.
func (s *Sim) Digest() Digest { return s.witness.Digest }

// Store returns the store of the simulation, for looks at its jobs.
func (s *Sim) Store() Store { return s.store }

// Step processes one event: see Steps.
func (s *Sim) Step() bool { return s.Steps(1) }

// Steps processes up to n events. It returns false when the run is over: no arrival, job or execution has been left for
// a time of Config.Rest, or the next event is after Config.Until; then the clock stands at the end. It panics with an
// *Endless at an instant that does not end.
func (s *Sim) Steps(n int) bool {
	for end := s.tally.all + min(int64(n), 1<<62); s.tally.all < end; {
		at := s.queue.usual()
		if s.queue.timers.first < at || len(s.queue.others) > 0 {
			at = s.nextEvent(at)
		}
		if (s.witness.live == 0 || at > s.last) && !s.goesOn(at) {
			return false
		}
		if at > s.now {
			s.now, s.tally.events, s.witness.moves = at, 0, 0
		} else if s.tally.events++; s.tally.events > s.tally.patience {
			s.linger()
		}
		s.tally.all++
		switch {
		case s.queue.overtaken:
			s.happen(s.queue.others.Pop())
		case at == s.queue.due:
			s.becomeDue()
		case at == s.queue.requests.first:
			s.arrive(s.queue.requests.pop())
		case at == s.queue.replies.first:
			s.answer(s.queue.replies.pop())
		case at == s.queue.finishes.First:
			s.finish(s.queue.finishes.Pop())
		case at == s.queue.arrival:
			s.enqueueNext()
		default:
			n := &s.nodes[s.queue.timers.soonest()]
			n.engine.Tick(s.now)
			s.stepped(n)
		}
	}
	return true
}

// goesOn reports whether the run continues to its next event, which comes at the time at: Config.Until has not passed,
// and work is left or Config.Rest is not over.
func (s *Sim) goesOn(at engine.Time) bool {
	switch {
	case at > s.last:
		if s.cfg.Until != engine.Never {
			s.now = max(s.now, s.cfg.Until)
		}
		return false
	case !s.Over():
		s.rests = engine.Never
	case s.rests == engine.Never:
		s.rests = s.now
		fallthrough
	default:
		if s.cfg.Rest == 0 || at > s.rests.Add(s.cfg.Rest) {
			return false
		}
	}
	return true
}

// nextEvent puts off the first timers that were set too early, returns the time of the next event, and sets
// queue.overtaken; usual is what queue.usual returned.
func (s *Sim) nextEvent(usual engine.Time) engine.Time {
	for {
		at := min(usual, s.queue.timers.first)
		if s.queue.overtaken = s.queue.overtakes(at); s.queue.overtaken {
			return s.queue.others[0].at
		}
		if at == usual || s.isDue(at) {
			return at
		}
	}
}

// isDue reports whether the engine with the first timer has a deadline at that time. If it has not, since timers may be
// set too early, its timer is put off.
func (s *Sim) isDue(at engine.Time) bool {
	n := &s.nodes[s.queue.timers.soonest()]
	if n.engine.IsDue(at) {
		return true
	}
	due := n.engine.Due()
	if s.cfg.Late != nil {
		due = s.notices(n, due)
	}
	n.act(due)
	return false
}

// notices returns the time at which a node notices a deadline: when it is due, or Config.Late after that.
func (s *Sim) notices(n *node, due engine.Time) engine.Time {
	if due != engine.Never {
		return due.Add(s.cfg.Late(n.index, due))
	}
	return due
}

// Over reports whether no work is left: no arrival, unfinished job or execution.
func (s *Sim) Over() bool {
	return s.witness.live == 0 && s.queue.arrival == engine.Never && s.runs.used == 0 && s.late.used == 0 &&
		s.controls.redrives == 0
}

// Ahead returns how far the wall clock of a node is ahead of the true time.
func (s *Sim) Ahead(node int32) time.Duration { return s.nodes[node].ahead }

// Holds returns how much a node's engine has in hand (engine.Engine.Held: leases, outcomes, jobs under promotion), and
// how many of its workers are idle. ok is false if the node is down or frozen.
func (s *Sim) Holds(node int32) (held, idle int, ok bool) {
	n := &s.nodes[node]
	if n.engine == nil || n.frozen > 0 {
		return 0, 0, false
	}
	return n.engine.Held(), n.engine.Idle(), true
}

// happen processes an event from the heap others, which has rare events and those that come out of order.
func (s *Sim) happen(ev event) {
	s.queue.overtaken = false
	switch rank(ev.order >> rankBits) {
	case control:
		do := *s.controls.planned.at(ev.ref)
		s.controls.planned.release(ev.ref)
		do()
	case request:
		s.arrive(s.messages.at(ev.ref))
	case reply:
		s.answer(s.messages.at(ev.ref))
	case announcement:
		jobs := s.queue.announcing
		s.queue.announcing = 0
		s.announce(jobs)
	case arrival:
		s.enqueue(s.late.at(ev.ref))
		s.late.release(ev.ref)
	}
}

// nextJob takes the next arrival from the workload and schedules it.
func (s *Sim) nextJob() {
	at, ok := s.cfg.Workload.Next(&s.arriving[0])
	if !ok {
		at = engine.Never
	}
	s.queue.arrival = at
}

// enqueueNext enqueues the job whose arrival has come, at once or after Config.EnqueueDelay, unless the workload
// revokes it, and schedules the next.
func (s *Sim) enqueueNext() {
	if s.revoker == nil || s.revoker.Comes(s.now, &s.arriving[0]) {
		delay := time.Duration(0)
		if s.cfg.EnqueueDelay != nil {
			delay = s.cfg.EnqueueDelay(s.now, &s.arriving[0])
		}
		if delay > 0 {
			ref, late := s.late.take()
			*late = s.arriving
			s.queue.push(s.now.Add(delay), arrival, ref)
		} else {
			s.enqueue(&s.arriving)
		}
	}
	s.nextJob()
}

// enqueue adds a job to the store. The job is in an array because the store takes a slice.
func (s *Sim) enqueue(job *[1]engine.NewJob) {
	j := &job[0]
	if err := s.store.Enqueue(context.Background(), job[:]); err != nil {
		panic("sim: " + err.Error())
	}
	s.witness.Enqueued(s.now, j)
	s.tally.enqueued++
	s.rests = engine.Never
	if j.Delay == 0 || s.cfg.Held {
		s.wake(1)
		return
	}
	s.queue.due = s.store.NextDue()
}

// becomeDue makes ready and records the waiting jobs that are due now, and wakes idle nodes for them.
func (s *Sim) becomeDue() {
	s.promoted = s.store.PromoteDue(s.promoted[:0])
	for i := range s.promoted {
		s.witness.Promoted(s.now, -1, &s.promoted[i])
	}
	s.queue.due = s.store.NextDue()
	if !s.cfg.SilentDue {
		s.wake(len(s.promoted))
	}
}

// wake announces to the nodes that a number of jobs has become ready: at once or, after Config.Announce, together with
// the jobs of an announcement that is under way already.
func (s *Sim) wake(jobs int) {
	switch {
	case s.cfg.Wake == WakeNone || jobs == 0:
	case s.cfg.Announce == nil:
		s.announce(jobs)
	default:
		if s.queue.announcing == 0 {
			s.queue.push(s.now.Add(s.cfg.Announce(s.now)), announcement, 0)
		}
		s.queue.announcing += jobs
	}
}

// announce wakes nodes, since a number of jobs has become ready: all of them or, by Config.Wake, one for each job.
func (s *Sim) announce(jobs int) {
	if s.single {
		if n := &s.nodes[0]; n.frozen > 0 {
			s.tellFrozen()
		} else if n.engine != nil && s.hears(n) {
			s.wakeNode(0)
		}
		return
	}
	if s.cfg.Wake == WakeAll {
		for i := s.awake.from(0); i >= 0; i = s.awake.from(i + 1) {
			s.wakeNode(i)
		}
		s.tellFrozen()
		return
	}
	for range min(jobs, len(s.nodes)) {
		i := s.awake.from(s.turn)
		if i < 0 {
			i = s.awake.from(0)
		}
		if i >= 0 {
			s.turn = i + 1
			s.wakeNode(i)
		} else {
			s.tellFrozen()
		}
	}
}

func (s *Sim) wakeNode(i int) {
	n := &s.nodes[i]
	n.engine.Wake(s.now)
	s.stepped(n)
}
