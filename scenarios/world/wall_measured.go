package world

import (
	"cmp"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
)

// Alter changes the configuration of a simulation so that its delays are those measured on the wall clock.
func (o *Overlay) Alter(_ int, _ uint64, cfg *sim.Config) {
	m := &measured{Overlay: o, rand: keyed.Rand{Seed: cfg.Rand.Seed + o.Draw*goldenSection}, handlers: cfg.Handlers,
		calls: make(map[callKey]measuredCall)}
	if o.Mechanics != nil {
		m.began = make(map[delivery]engine.Time)
	}
	d := &o.delays
	m.frozen = o.repeated(cfg.Until, o.always, d.Stalls.Store)
	cfg.Network, cfg.Handlers, cfg.Announce = m, m, m.announce
	if len(d.Late) > 0 {
		cfg.Late = m.lateness
	}
	cfg.Controls = slices.Clone(cfg.Controls)
	for node := range min(len(cfg.Nodes), len(d.Stalls.Engines)) {
		for _, s := range o.repeated(cfg.Until, o.always, d.Stalls.Engines[node]) {
			stall := fault.Control{Kind: fault.Pause, Node: int32(node), At: engine.Time(s.From), For: s.For}
			cfg.Controls = append(cfg.Controls, stall)
		}
	}
	held := append(o.repeated(cfg.Until, d.Phases, d.Held), o.repeated(cfg.Until, o.always, d.Stalls.Arrivals)...)
	slices.SortStableFunc(held, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	if len(held) > 0 {
		cfg.Workload = &heldUp{Workload: cfg.Workload, spans: held}
	}
	cfg.EnqueueDelay, cfg.Parallel, cfg.CountRows = nil, 0, false
	if len(d.Enqueued) > 0 {
		m.shown = make(map[engine.JobID]time.Duration)
		cfg.EnqueueDelay, cfg.Claimed = m.enqueue, m.claimed
	}
}

// heldUp is a workload whose jobs are delayed during given spans of time, and arrive together at the end of each.
type heldUp struct {
	sim.Workload
	spans []Span      // spans that delay jobs and have not begun, ascending
	until engine.Time // latest end of those that have
}

// Next returns the next arrival, delayed to the end of the span that it falls in, if any.
func (w *heldUp) Next(j *engine.NewJob) (engine.Time, bool) {
	at, ok := w.Workload.Next(j)
	for len(w.spans) > 0 && engine.Time(w.spans[0].From) <= at { // they may overlap
		w.until, w.spans = max(w.until, engine.Time(w.spans[0].From+w.spans[0].For)), w.spans[1:]
	}
	return max(at, w.until), ok
}

// measured is a simulation's network and handlers with the delays measured in a real run.
type measured struct {
	*Overlay
	rand     keyed.Rand
	handlers sim.Handlers
	frozen   []Span                         // stalls of the store that are not over
	calls    map[callKey]measuredCall       // calls under way
	shown    map[engine.JobID]time.Duration // Enqueued.Call of each job that has not been claimed
	began    map[delivery]engine.Time       // start times of executions
}

// measuredCall is a call to the store under way: its start, and the delay of its answer.
type measuredCall struct {
	asked engine.Time
	reply time.Duration
}

// callKey identifies a call to the store: the engine, and the call's number in it.
type callKey struct {
	engine engine.EngineID
	id     uint64
}

// drawOverrun and the next constants number the random draws of measured delays, beside the draws in handlers.go.
const (
	drawOverrun = 1<<16 - 2
	drawAsked   = 0
	drawLate    = 1 // the last three are draws of the purpose ForTick
	drawWake    = 2
	drawEnqueue = 3
)

// drawn draws, by a uniform number, one of the values measured near the time of the run that corresponds to now.
func drawn[T timed](o *Overlay, of []T, now engine.Time, u float64) T {
	at, in := o.measuredAt(time.Duration(now))
	return near(of, at, o.moment, in, u)
}

// sample draws, by a uniform number, one of the delays measured near the time of the run that corresponds to now.
func (m *measured) sample(now engine.Time, of []Sample, u float64) time.Duration {
	return max(0, drawn(m.Overlay, of, now, u).For) // a timer may have been early
}

// Request draws the delays of a call to the store and of its answer, and returns the former.
func (m *measured) Request(now engine.Time, c *engine.Call) sim.Fate {
	node := uint64(uint32(c.Engine.Node()))<<16 | uint64(c.Engine.Generation()&0xffff)
	u := m.rand.Uniform(keyed.ForRequestDelay, uint64(c.ID), node, drawAsked)
	d := drawn(m.Overlay, m.delays.Calls[c.Op], now, u)
	m.calls[callKey{c.Engine, c.ID}] = measuredCall{now, d.Reply}
	return sim.Fate{Delay: m.through(now, d.Request)}
}

// Reply returns the delay of a call's answer on its way back.
func (m *measured) Reply(now engine.Time, c *engine.Call, r *engine.Reply, _ *sim.Rows) time.Duration {
	key := callKey{c.Engine, c.ID}
	call := m.calls[key]
	delete(m.calls, key)
	more := time.Duration(max(0, r.Rows()-1)) * m.delays.PerJob[c.Op]
	d := m.through(now, call.reply+more)
	if m.Mechanics != nil {
		m.Mechanics.Call(c, r.Rows(), m.real(call.asked), m.real(now.Add(d)))
	}
	return d
}

// through returns how long a delay of d that begins now takes if it makes no progress while the store stalls.
func (m *measured) through(now engine.Time, d time.Duration) time.Duration {
	for len(m.frozen) > 0 && engine.Time(m.frozen[0].From+m.frozen[0].For) <= now {
		m.frozen = m.frozen[1:]
	}
	end := now.Add(d)
	for _, s := range m.frozen {
		if engine.Time(s.From) >= end {
			break
		}
		end = end.Add(s.From + s.For - max(s.From, time.Duration(now)))
	}
	return end.Sub(now)
}

// lateness draws the measured delay with which a node notices a deadline (timer).
func (m *measured) lateness(node int32, due engine.Time) time.Duration {
	return m.sample(due, m.delays.Late, m.rand.Uniform(keyed.ForTick, uint64(due), uint64(node), drawLate))
}

// announce draws the delay before nodes are woken for a job that is ready now.
func (m *measured) announce(now engine.Time) time.Duration {
	return m.through(now, m.sample(now, m.delays.Wake, m.rand.Uniform(keyed.ForTick, uint64(now), 0, drawWake)))
}

// enqueue draws the delays of a job's enqueue, and returns the time until the store shows the job.
func (m *measured) enqueue(at engine.Time, j *engine.NewJob) time.Duration {
	e := drawn(m.Overlay, m.delays.Enqueued, at, m.rand.Uniform(keyed.ForTick, uint64(at), 0, drawEnqueue))
	if j.Delay == 0 {
		m.shown[j.ID] = e.Call
	}
	return e.Late
}

// claimed adds to the wait of each claimed job the time in which it was ready in the store but not visible to claims.
func (m *measured) claimed(c *engine.Call) {
	for i := range c.Leases {
		l := &c.Leases[i]
		if l.Waited == l.Age { // ready since it was enqueued
			l.Waited += m.shown[l.ID]
		}
		delete(m.shown, l.ID)
	}
}

// real converts a time of the scenario to the wall clock of the measured run.
func (m *measured) real(t engine.Time) time.Duration { return m.delays.Speed.Real(time.Duration(t)) }

// Begin begins an execution, with a measured overrun added to its run time. Executions of a node that end at the same
// time have the same overrun, because one timer ends them.
func (m *measured) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := m.handlers.Begin(now, node, j)
	if m.began != nil {
		m.began[delivery{j.ID, j.Delivery}] = now
	}
	due := now.Add(x.Runs)
	x.Runs += m.sample(due, m.delays.Overrun, m.rand.Uniform(keyed.ForRunTime, uint64(due), uint64(node), drawOverrun))
	return x
}

// Decide returns the outcome decided by the wrapped handlers; it is called only if they implement it.
func (m *measured) Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind {
	return m.handlers.(sim.Judge).Decide(now, node, j)
}

// End passes on the end of an execution, which it also counts by phase if Mechanics is set.
func (m *measured) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	if key := (delivery{j.ID, j.Delivery}); m.began != nil {
		m.Mechanics.Attempt(m.real(m.began[key]), m.real(now))
		delete(m.began, key)
	}
	m.handlers.End(now, node, j, err, aborted)
}
