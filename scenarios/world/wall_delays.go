package world

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/sim"
)

// Delays holds measured delays of a machine and its store, from a run on the wall clock, for use in a simulation. They
// are samples in the time of the wall clock; an empty list stands for no delay.
type Delays struct {
	Request [engine.NumOps][]time.Duration // time from an engine's request until the store executes it
	Reply   [engine.NumOps][]time.Duration // time from the execution at the store until the engine has the answer
	PerJob  [engine.NumOps]time.Duration   // time added to the answer for each job but the first
	// Wake is the time from the moment a job is visible as ready until engines are woken for it and for others
	// ready by then.
	Wake     []time.Duration
	Enqueued []Enqueued      // delays of each job's enqueue, without Held
	Overrun  []time.Duration // excess of the time a worker is busy over its handler's run time
	// Stalls holds, by node, the spans in which an engine did nothing although it had work, and Held
	// the spans in which arriving jobs were delayed on their way to the store: common delays that the
	// other fields leave out. Ascending and disjoint.
	Stalls [][]Span
	Held   []Span
	// Frozen holds the spans in which the store answered nothing: calls under way take longer by that time.
	Frozen []Span
	Period time.Duration   // time after which Stalls, Held and Frozen repeat; 0: never
	Late   []time.Duration // delay with which an engine notices a deadline
	Speed  Speed           // speed of the measured run
	// Storm, if not nil, holds the delays in the span During of scenario time: its Request, Reply, PerJob, Overrun, Late
	// and Frozen replace these.
	Storm  *Delays
	During Span
}

// Enqueued is the measured delay of one enqueue.
type Enqueued struct {
	Late time.Duration // time from the arrival of the job until the store shows it
	Call time.Duration // last part of Late, in which the store counts the job as ready
}

// Span is a span of time: its start and its length.
type Span struct{ From, For time.Duration }

// Overlay holds measured delays in the form that a simulation applies.
type Overlay struct {
	request, reply [engine.NumOps]dist.Dist
	perJob         [engine.NumOps]time.Duration
	wake, overrun  dist.Dist
	late           dist.Dist
	enqueued       []Enqueued
	stalls         [][]Span
	held, frozen   []Span
	period         time.Duration
	speed          Speed
	tardy          bool // some deadlines are noticed late
	storm          *Overlay
	during         Span // span in which storm applies
	// Mechanics, if not nil, counts the calls and executions of a simulation, one at a time.
	Mechanics *Mechanics
}

// Overlay converts the delays to the time of the scenario.
func (d *Delays) Overlay() (*Overlay, error) {
	o := &Overlay{speed: d.Speed}
	var err error
	for op := range d.Request {
		if o.request[op], err = d.dist(d.Request[op]); err != nil {
			return nil, fmt.Errorf("delays of requests: %v: %w", engine.Op(op), err)
		}
		if o.reply[op], err = d.dist(d.Reply[op]); err != nil {
			return nil, fmt.Errorf("delays of replies: %v: %w", engine.Op(op), err)
		}
		o.perJob[op] = d.Speed.Virtual(d.PerJob[op])
	}
	if o.wake, err = d.dist(d.Wake); err != nil {
		return nil, fmt.Errorf("delays of wakes: %w", err)
	}
	if o.overrun, err = d.dist(d.Overrun); err != nil {
		return nil, fmt.Errorf("overrun: %w", err)
	}
	if o.late, err = d.dist(d.Late); err != nil {
		return nil, fmt.Errorf("lateness of timers: %w", err)
	}
	for _, e := range d.Enqueued {
		o.enqueued = append(o.enqueued, Enqueued{d.Speed.Virtual(e.Late), d.Speed.Virtual(e.Call)})
	}
	for _, spans := range d.Stalls {
		o.stalls = append(o.stalls, d.spans(spans))
	}
	o.held, o.frozen, o.period = d.spans(d.Held), d.spans(d.Frozen), d.Speed.Virtual(d.Period)
	o.tardy = len(d.Late) > 0
	if d.Storm != nil {
		o.during = d.During
		if o.storm, err = d.Storm.Overlay(); err != nil {
			return nil, fmt.Errorf("in storms: %w", err)
		}
	}
	return o, nil
}

// spans converts spans of the wall clock to the time of the scenario.
func (d *Delays) spans(of []Span) (all []Span) {
	for _, s := range of {
		all = append(all, Span{d.Speed.Virtual(s.From), max(1, d.Speed.Virtual(s.For))})
	}
	return all
}

// each calls visit with spans in order, repeated after each period, up to a time.
func each(spans []Span, period time.Duration, until engine.Time, visit func(Span)) {
	for start := time.Duration(0); len(spans) > 0; start += period {
		for _, s := range spans {
			s.From += start
			if engine.Time(s.From) >= until {
				return
			}
			visit(s)
		}
		if period <= 0 {
			return
		}
	}
}

// dist returns the distribution of sampled durations in the time of the scenario.
func (d *Delays) dist(samples []time.Duration) (dist.Dist, error) {
	if len(samples) == 0 {
		return dist.Dist{}, nil
	}
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = max(0, d.Speed.Virtual(s)).Seconds()
	}
	return dist.Empirical(values)
}

// Alter replaces the delays of a simulation by the measured ones: see Options.Alter.
func (o *Overlay) Alter(_ int, _ uint64, cfg *sim.Config) {
	m := &measured{Overlay: o, rand: cfg.Rand, handlers: cfg.Handlers}
	if o.Mechanics != nil {
		m.asked, m.began = make(map[callKey]engine.Time), make(map[delivery]engine.Time)
	}
	for _, of := range []*Overlay{o, o.storm} {
		if of != nil {
			each(of.frozen, of.period, cfg.Until, func(s Span) {
				if m.at(engine.Time(s.From)) == of {
					m.frozen = append(m.frozen, s)
				}
			})
		}
	}
	slices.SortFunc(m.frozen, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	cfg.Network, cfg.Handlers = m, m
	if o.tardy {
		cfg.Late = m.lateness
	}
	cfg.Controls = slices.Clone(cfg.Controls)
	for node := range cfg.Nodes {
		if node < len(o.stalls) {
			each(o.stalls[node], o.period, cfg.Until, func(s Span) {
				cfg.Controls = append(cfg.Controls, sim.Control{Kind: sim.Pause, Node: int32(node), At: engine.Time(s.From), For: s.For})
			})
		}
	}
	if len(o.held) > 0 {
		w := &heldUp{Workload: cfg.Workload}
		each(o.held, o.period, cfg.Until, func(s Span) { w.spans = append(w.spans, s) })
		cfg.Workload = w
	}
	cfg.EnqueueDelay, cfg.Parallel, cfg.CountRows = nil, 0, false
	cfg.Announce = m.announce
	if len(o.enqueued) > 0 {
		cfg.EnqueueDelay = func(at engine.Time, _ *engine.NewJob) time.Duration { return m.enqueue(uint64(at)).Late }
		cfg.Claimed = m.claimed
	}
}

// claimed counts the waits of claimed jobs from the time at which the store notes that they are ready.
func (m *measured) claimed(c *engine.Call) {
	for i := range c.Leases {
		if l := &c.Leases[i]; l.Waited == l.Age { // ready since it was enqueued
			l.Waited += m.enqueue(uint64(l.ID)).Call
		}
	}
}

// heldUp is a workload whose jobs are delayed during given spans of time, and arrive together at the end of each.
type heldUp struct {
	sim.Workload
	spans []Span // spans that are not over
}

// Next returns the next arrival, delayed to the end of the span that it falls in, if any.
func (w *heldUp) Next() (engine.Time, engine.NewJob, bool) {
	at, j, ok := w.Workload.Next()
	for len(w.spans) > 0 && engine.Time(w.spans[0].From+w.spans[0].For) <= at {
		w.spans = w.spans[1:]
	}
	if len(w.spans) > 0 && engine.Time(w.spans[0].From) <= at {
		at = engine.Time(w.spans[0].From + w.spans[0].For)
	}
	return at, j, ok
}

// measured is a simulation's network and handlers with the delays measured in a real run.
type measured struct {
	*Overlay
	rand     keyed.Rand
	handlers sim.Handlers
	frozen   []Span                   // spans that are not over
	asked    map[callKey]engine.Time  // start times of the calls under way
	began    map[delivery]engine.Time // start times of executions
}

// callKey identifies a call of an engine.
type callKey struct {
	engine engine.EngineID
	id     uint64
}

// drawOverrun and the next constants number the draws of run times and call delays; handlers.go has lower ones.
const (
	drawOverrun = 1<<16 - 2
	drawAsked   = 0
	drawLate    = 1 // draw of ForTick
	drawWake    = 2
	drawEnqueue = 3
)

// at returns the measured delays that apply now.
func (m *measured) at(now engine.Time) *Overlay {
	if since := time.Duration(now) - m.during.From; since >= 0 && since < m.during.For {
		return m.storm
	}
	return m.Overlay
}

// Request draws the delay of a call on its way to the store.
func (m *measured) Request(now engine.Time, c *engine.Call) sim.Fate {
	if m.asked != nil {
		m.asked[callKey{c.Engine, c.ID}] = now
	}
	return sim.Fate{Delay: m.through(now, m.draw(&m.at(now).request[c.Op], keyed.ForRequestDelay, c, drawAsked))}
}

// Reply draws the delay of a call's answer on its way back.
func (m *measured) Reply(now engine.Time, c *engine.Call, r *engine.Reply, _ *sim.Rows) time.Duration {
	more := max(0, r.Rows()-1)
	of := m.at(now)
	d := m.draw(&of.reply[c.Op], keyed.ForResponseDelay, c, drawAsked) + time.Duration(more)*of.perJob[c.Op]
	d = m.through(now, d)
	if m.asked != nil {
		key := callKey{c.Engine, c.ID}
		m.Mechanics.Call(c, r.Rows(), m.real(m.asked[key]), m.real(now.Add(d)))
		delete(m.asked, key)
	}
	return d
}

// through returns how long a delay of d that begins now takes with the store's stalls, during which it does not
// progress.
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

// lateness draws the delay with which a node notices a deadline.
func (m *measured) lateness(node int32, due engine.Time) time.Duration {
	return m.at(due).late.Duration(m.rand.Uniform(keyed.ForTick, uint64(due), uint64(node), drawLate))
}

// announce draws the delay before nodes are woken for a job that is ready now.
func (m *measured) announce(now engine.Time) time.Duration {
	return m.through(now, m.wake.Duration(m.rand.Uniform(keyed.ForTick, uint64(now), 0, drawWake)))
}

// enqueue draws the duration of an enqueue call from the measured ones: the same for the same key.
func (m *measured) enqueue(key uint64) Enqueued {
	return m.enqueued[int(m.rand.Uniform(keyed.ForTick, key, 0, drawEnqueue)*float64(len(m.enqueued)))]
}

// real converts a time of the scenario to the wall clock.
func (m *measured) real(t engine.Time) time.Duration { return m.speed.Real(time.Duration(t)) }

func (m *measured) draw(d *dist.Dist, p keyed.Purpose, c *engine.Call, n uint16) time.Duration {
	node := uint64(uint32(c.Engine.Node()))<<16 | uint64(c.Engine.Generation()&0xffff)
	return d.Duration(m.rand.Uniform(p, uint64(c.ID), node, n))
}

// Begin begins an execution, with the measured overrun added to its run time.
func (m *measured) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := m.handlers.Begin(now, node, j)
	if m.began != nil {
		m.began[delivery{j.ID, j.Delivery}] = now
	}
	x.Runs += m.at(now).overrun.Duration(m.rand.Uniform(keyed.ForRunTime, uint64(j.ID), uint64(j.Delivery), drawOverrun))
	return x
}

// Decide returns the outcome decided by the wrapped handlers; it is called only if they implement it.
func (m *measured) Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind {
	return m.handlers.(sim.Judge).Decide(now, node, j)
}

// End records the end of an execution, for the counts by phase too.
func (m *measured) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	if key := (delivery{j.ID, j.Delivery}); m.began != nil {
		m.Mechanics.Attempt(m.real(m.began[key]), m.real(now))
		delete(m.began, key)
	}
	m.handlers.End(now, node, j, err, aborted)
}
