// Package sim drives engines on a virtual clock: one goroutine, one event queue,
// every delay and fault a pure function of the seed. What happens at one instant
// happens in this order: processes die and start, waiting jobs become due, calls
// reach the store, answers reach the nodes, handlers return, jobs are enqueued,
// timers fire; then in the order in which it was caused.
package sim

import (
	"context"
	"time"

	"qsim/engine"
)

// node is one simulated process.
type node struct {
	engine *engine.Engine // nil: it is down
	id     engine.EngineID
	lives  uint32
	down   int           // deaths it has not recovered from
	frozen int           // pauses that hold it
	missed []deferred    // what reached it while it was frozen
	runs   []uint32      // by slot of its engine: the run there, plus 1
	ahead  time.Duration // of its wall clock
}

type deferred struct {
	rank  rank
	ref   uint32
	order uint64
}

// run is one execution.
type run struct {
	order   uint64 // of its finish event; 0: the slot is free
	job     engine.Job
	node    int32
	slot    engine.Slot
	started engine.Time
	plan    Execution
}

// Sim is one run.
type Sim struct {
	cfg    Config
	now    engine.Time
	store  Store
	queue  queue
	timers timers
	nodes  []node

	revoker     Revoker     // the workload, if it is one
	nextArrival engine.Time // Never: no more
	arriving    engine.NewJob
	nextDue     engine.Time // of the store
	promoted    []engine.Promotion

	messages slab[message]
	runs     slab[run]
	late     slab[engine.NewJob] // on their way to the store
	running  int
	one      [1]engine.NewJob
	turn     int // whom WakeOne looks at first

	controls controls
	stalled  [engine.NumRoles]int // troubles that hold up who does the work of a role
	gate     gate
	rows     Rows // what the call being served found

	event  engine.Event
	digest engine.Digest
	events int64
	live   int64       // enqueued, neither done nor dead
	total  int64       // enqueued
	rests  engine.Time // since when nothing is left to do; Never: something is
	ended  bool
}

// New returns a run ready to start at time 0.
func New(cfg Config) *Sim {
	s := &Sim{cfg: cfg, nextDue: engine.Never, rests: engine.Never}
	s.store = cfg.Store(func() engine.Time { return s.now })
	s.nodes = make([]node, len(cfg.Nodes))
	s.timers.init(len(cfg.Nodes))
	s.revoker, _ = cfg.Workload.(Revoker)
	s.gate.usual = cfg.Parallel
	s.gate.adjust()
	s.initControls(cfg.Controls)
	for i := range s.nodes {
		s.boot(int32(i))
	}
	s.nextJob()
	return s
}

// Run processes events until nothing is left to do or Config.Until.
func (s *Sim) Run() {
	for s.Step() {
	}
}

// Now is the virtual time.
func (s *Sim) Now() engine.Time { return s.now }

// Events is how many events have been processed.
func (s *Sim) Events() int64 { return s.events }

// Digest is the fingerprint of all recorded events so far.
func (s *Sim) Digest() engine.Digest { return s.digest }

// Store is where the jobs are.
func (s *Sim) Store() Store { return s.store }

// Step processes one event. It reports false when the run is over: nothing
// arrives any more and no job or execution is left, for Config.Rest, or the next event is
// after Config.Until; then the clock stands at the end.
func (s *Sim) Step() bool {
	at, first := s.next()
	switch {
	case s.ended:
		return false
	case at > s.cfg.Until || at == engine.Never:
		s.ended = true
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
			s.ended = true
			return false
		}
	}
	s.now = at
	s.events++
	switch first {
	case promotion:
		s.becomeDue()
	case arrival:
		s.arrive()
	case timer:
		_, i := s.timers.first()
		s.nodes[i].engine.Tick(s.now)
		s.apply(i)
	default:
		ev := s.queue.pop()
		s.happen(ev)
	}
	return true
}

// Over reports whether nothing is left to do: nothing arrives any more and no job or
// execution is left.
func (s *Sim) Over() bool {
	return s.live == 0 && s.nextArrival == engine.Never && s.running == 0 && s.late.used == 0 && s.controls.redrives == 0
}

// Holds is what the engine of a node holds, see engine.Engine.Held, and how many of its
// workers are idle. A process that is down or frozen does not say: ok is false.
func (s *Sim) Holds(node int32) (held, idle int, ok bool) {
	n := &s.nodes[node]
	if n.engine == nil || n.frozen > 0 {
		return 0, 0, false
	}
	return n.engine.Held(), n.engine.Idle(), true
}

// next is when the next event is, and what comes first then; control stands for
// the top of the event queue.
func (s *Sim) next() (engine.Time, rank) {
	at, first, order := engine.Never, timer, rank(timer)
	if t, _ := s.timers.first(); t < at {
		at = t
	}
	if s.nextArrival <= at {
		at, first, order = s.nextArrival, arrival, arrival
	}
	if top := s.queue.first(); top != nil {
		if r := rank(top.order >> rankBits); top.at < at || top.at == at && r <= order {
			at, first, order = top.at, control, r
		}
	}
	if s.nextDue < at || s.nextDue == at && promotion < order {
		at, first = s.nextDue, promotion
	}
	return at, first
}

func (s *Sim) happen(ev event) {
	switch rank(ev.order >> rankBits) {
	case control:
		s.control(ev.ref)
	case request:
		s.reach(ev.ref)
	case reply:
		s.answer(ev.ref)
	case finish:
		s.finish(ev.ref, ev.order)
	case arrival:
		s.one[0] = *s.late.at(ev.ref)
		s.late.release(ev.ref)
		s.enqueue()
	}
}

// nextJob takes the next arrival from the workload.
func (s *Sim) nextJob() {
	at, j, ok := s.cfg.Workload.Next()
	if !ok {
		at = engine.Never
	}
	s.nextArrival, s.arriving = at, j
}

func (s *Sim) arrive() {
	s.one[0] = s.arriving
	comes := s.revoker == nil || s.revoker.Comes(s.now, &s.one[0])
	s.nextJob()
	if !comes {
		return
	}
	if s.cfg.EnqueueDelay != nil {
		if d := s.cfg.EnqueueDelay(&s.one[0]); d > 0 {
			ref := s.late.alloc()
			*s.late.at(ref) = s.one[0]
			s.queue.push(s.now.Add(d), arrival, ref)
			return
		}
	}
	s.enqueue()
}

// enqueue gives s.one to the store.
func (s *Sim) enqueue() {
	j := &s.one[0]
	if err := s.store.Enqueue(context.Background(), s.one[:]); err != nil {
		panic("sim: " + err.Error())
	}
	s.event = engine.Event{}
	s.event.Kind, s.event.JobKind, s.event.Tenant, s.event.Job, s.event.Delay, s.event.Node = engine.Enqueued, j.Kind, j.Tenant, j.ID, j.Delay, -1
	s.Record(&s.event)
	if j.Delay == 0 || s.cfg.Held {
		s.wake()
		return
	}
	s.nextDue = s.store.NextDue()
}

// becomeDue sees waiting jobs become ready and tells idle nodes.
func (s *Sim) becomeDue() {
	s.promoted = s.store.PromoteDue(s.promoted[:0])
	for i := range s.promoted {
		p := &s.promoted[i]
		s.event = engine.Event{Kind: engine.Promoted, Class: p.Class, JobKind: p.Kind, Tenant: p.Tenant, Job: p.Job, Node: -1}
		s.Record(&s.event)
	}
	s.nextDue = s.store.NextDue()
	s.wakeFor(len(s.promoted))
}

// wakeFor announces so many new ready jobs, to as many nodes.
func (s *Sim) wakeFor(jobs int) {
	for range min(jobs, len(s.nodes)) {
		s.wake()
		if s.cfg.Wake != WakeOne {
			return // all have been told, or nobody is
		}
	}
}

// wake announces new ready jobs.
func (s *Sim) wake() {
	if s.cfg.Wake == WakeNone {
		return
	}
	for range s.nodes {
		i := s.turn
		if s.turn++; s.turn == len(s.nodes) {
			s.turn = 0
		}
		n := &s.nodes[i]
		if n.engine == nil || n.frozen > 0 || n.engine.Idle() == 0 {
			continue
		}
		n.engine.Wake(s.now)
		s.apply(int32(i))
		if s.cfg.Wake == WakeOne {
			return
		}
	}
}

// Record stamps an event with the time of the simulation, whatever the clock of
// the node that it happened on, and passes it on.
func (s *Sim) Record(e *engine.Event) {
	e.At = s.now
	s.digest.Add(e)
	switch e.Kind {
	case engine.Enqueued:
		s.live++
		s.total++
	case engine.Redriven:
		s.live++
	case engine.Acked, engine.Buried:
		s.live--
	}
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Record(e)
	}
	if s.controls.awaited > 0 {
		s.await(e)
	}
}
