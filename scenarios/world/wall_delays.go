package world

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"qsim/engine"
)

// Delays holds measured delays of a machine and its store, from a run on the wall clock, for use in a simulation. They
// are samples in the time of the wall clock since the start of that run; an empty list stands for no delay. At each
// time a simulation draws from the delays that were measured near the corresponding time of the run.
type Delays struct {
	Calls  [engine.NumOps][]CallDelay
	PerJob [engine.NumOps]time.Duration // time added to the answer for each job but the first
	// Wake is the time from the moment a job is visible as ready until engines are woken for it and for others
	// ready by then.
	Wake     []Sample
	Enqueued []Enqueued // delays of each job's enqueue, without Held and Stalls.Arrivals
	Held     []Span     // short spans in which arriving jobs waited for a timer, to come together
	Overrun  []Sample   // excess of the time a worker is busy over its handler's run time
	Late     []Sample   // delay with which an engine notices a deadline
	Stalls   Stalls
	Speed    Speed   // speed of the measured run
	Phases   []Phase // ascending, from 0 on; none: each time of a simulation stands for the same time of the run
}

// Stalls holds the spans of a measured run, each of milliseconds, in which engines, arrivals or the store stood still:
// delays that many calls and jobs share, and that the lists of single delays leave out. Spans ascend and are disjoint.
// They are few, and due to other work of the machine, not to load: a simulation draws them from several runs.
type Stalls struct {
	Engines  [][]Span      // by node, spans in which the engine did nothing although it had work
	Arrivals []Span        // spans in which arriving jobs were delayed on their way to the store
	Store    []Span        // spans in which the store answered nothing: calls under way take longer by that time
	Over     time.Duration // length of the measured time, after which all repeats; 0: never
}

// Append adds stalls that were measured in another run, as if it had followed. A node that a run lacks has the stalls
// of that run's last node.
func (s *Stalls) Append(more *Stalls) {
	after := func(list *[]Span, more []Span) {
		for _, span := range more {
			*list = append(*list, Span{s.Over + span.From, span.For})
		}
	}
	for n := len(s.Engines); n < len(more.Engines); n++ {
		s.Engines = append(s.Engines, nil)
		if n > 0 {
			s.Engines[n] = slices.Clone(s.Engines[n-1])
		}
	}
	for node := range s.Engines {
		if last := len(more.Engines) - 1; last >= 0 {
			after(&s.Engines[node], more.Engines[min(node, last)])
		}
	}
	after(&s.Arrivals, more.Arrivals)
	after(&s.Store, more.Store)
	s.Over += more.Over
}

// Phase is a part of a scenario, with the part of a measured run from which a simulation draws its delays.
type Phase struct {
	From     time.Duration // scenario time at which it begins; it ends where the next one begins
	Measured Span          // part of the measured run, repeated as long as the phase lasts
	Steady   bool          // nothing changes in the course of it: a simulation may begin anywhere in it
}

// Span is a span of time: its start and its length.
type Span struct{ From, For time.Duration }

// Overlay holds measured delays in the form that a simulation applies: all times are the scenario's.
type Overlay struct {
	delays Delays        // with values in ascending order of their times
	always []Phase       // a single phase, for stalls
	moment time.Duration // half the length of the window from which delays are drawn
	// Draw is the number of a simulation among several with the same delays: each has draws of its own, and begins at
	// another measured time.
	Draw uint64
	// Mechanics, if not nil, counts the calls and executions of a simulation, one at a time.
	Mechanics *Mechanics
}

// Overlay converts the delays to the time of the scenario.
func (d *Delays) Overlay() *Overlay {
	s, scaled := d.Speed, *d
	s.convert(reflect.ValueOf(&scaled).Elem(), func(d time.Duration) time.Duration {
		return cmp.Or(s.Virtual(d), min(1, max(0, d))) // to 0 only if it is, or below
	})
	for op := range scaled.Calls {
		inOrder(scaled.Calls[op])
	}
	inOrder(scaled.Wake)
	inOrder(scaled.Overrun)
	inOrder(scaled.Late)
	inOrder(scaled.Enqueued)
	for i := range d.Phases {
		scaled.Phases[i].From = d.Phases[i].From // it is the scenario's
	}
	if len(scaled.Phases) == 0 {
		scaled.Phases = []Phase{{Measured: Span{For: unrepeated}}}
	}
	over := scaled.Stalls.Over
	return &Overlay{delays: scaled, moment: s.Virtual(moment),
		always: []Phase{{Measured: Span{For: cmp.Or(over, unrepeated)}, Steady: over > 0}}}
}

// unrepeated is a period longer than any run, for measurements that a simulation does not repeat.
const unrepeated = 1 << 62

// goldenSection is the golden ratio's fraction of 2^64, to the nearest odd number: its multiples spread evenly.
const goldenSection = 0x9E3779B97F4A7C15

// turned returns at which offset in a phase's measured part a simulation begins to draw delays: its number, Draw, times
// the golden section of the part's length, modulo that length, so that simulations begin far apart.
func (o *Overlay) turned(p *Phase) time.Duration {
	if !p.Steady {
		return 0
	}
	return time.Duration(float64(o.Draw*goldenSection>>11) / (1 << 53) * float64(p.Measured.For))
}

// measuredAt returns the time of the measured run that corresponds to a scenario time, and its phase's measured span.
func (o *Overlay) measuredAt(now time.Duration) (at time.Duration, in Span) {
	phases := o.delays.Phases
	i := len(phases) - 1
	for i > 0 && phases[i].From > now {
		i--
	}
	p := &phases[i]
	return p.Measured.From + (now-p.From+o.turned(p))%p.Measured.For, p.Measured
}

// repeated returns when measured spans, such as stalls, recur in a simulation: each phase repeats its own.
func (o *Overlay) repeated(until engine.Time, phases []Phase, spans []Span) (all []Span) {
	for i := range phases {
		p, end := &phases[i], time.Duration(until)
		if i+1 < len(phases) {
			end = min(end, phases[i+1].From)
		}
		for start := p.From - o.turned(p); len(spans) > 0 && start < end; start += p.Measured.For {
			for _, s := range spans {
				at := s.From - p.Measured.From
				if s.From = start + at; at >= 0 && at < p.Measured.For && s.From >= p.From && s.From < end {
					all = append(all, s)
				}
			}
		}
	}
	return all
}
