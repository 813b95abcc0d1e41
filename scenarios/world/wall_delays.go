package world

import (
	"time"

	"qsim/engine"
)

// Delays holds measured delays of a machine and its store, from a run on the wall clock, for use in a simulation. They
// are samples in the time of the wall clock since the start of that run; an empty list stands for no delay. A simulation
// draws the delays of a time from those measured near the same time of the run.
type Delays struct {
	Calls  [engine.NumOps][]CallDelay
	PerJob [engine.NumOps]time.Duration // time added to the answer for each job but the first
	// Wake is the time from the moment a job is visible as ready until engines are woken for it and for others
	// ready by then.
	Wake     []Sample
	Enqueued []Enqueued // delays of each job's enqueue, without Held
	Overrun  []Sample   // excess of the time a worker is busy over its handler's run time
	// Stalls holds, by node, the spans in which an engine did nothing although it had work, and Held
	// the spans in which arriving jobs were delayed on their way to the store: common delays that the
	// other fields leave out. Ascending and disjoint.
	Stalls [][]Span
	Held   []Span
	// Frozen holds the spans in which the store answered nothing: calls under way take longer by that time.
	Frozen []Span
	Period time.Duration // length of the run, after which all of it repeats; 0: never
	Late   []Sample      // delay with which an engine notices a deadline
	Speed  Speed         // speed of the measured run
	// Storm, if not nil, holds the delays in the span During of scenario time. Those of its lists that are empty are
	// the calm ones, but for Stalls, Held and Frozen.
	Storm  *Delays
	During Span
}

// Span is a span of time: its start and its length.
type Span struct{ From, For time.Duration }

// Overlay holds measured delays in the form that a simulation applies.
type Overlay struct {
	calls               [engine.NumOps]series[CallDelay]
	perJob              [engine.NumOps]time.Duration
	wake, overrun, late series[Sample]
	enqueued            series[Enqueued]
	stalls              [][]Span
	held, frozen        []Span
	period              time.Duration
	moment              time.Duration // half the length of the window from which delays are drawn
	speed               Speed
	storm               *Overlay
	during              Span // span in which storm applies
	// Draw is the number of a simulation among several with the same delays: each has draws of its own, and its time 0
	// is another time of the measured run.
	Draw uint64
	// Mechanics, if not nil, counts the calls and executions of a simulation, one at a time.
	Mechanics *Mechanics
}

// Overlay converts the delays to the time of the scenario.
func (d *Delays) Overlay() *Overlay {
	o := &Overlay{speed: d.Speed, moment: d.Speed.Virtual(moment), held: d.spans(d.Held), frozen: d.spans(d.Frozen),
		period: d.Speed.Virtual(d.Period), wake: d.series(d.Wake), overrun: d.series(d.Overrun), late: d.series(d.Late)}
	for op := range d.Calls {
		calls := make([]CallDelay, len(d.Calls[op]))
		for i, c := range d.Calls[op] {
			calls[i] = CallDelay{d.Speed.Virtual(c.At), d.delay(c.Request), d.delay(c.Reply)}
		}
		o.calls[op] = newSeries(calls, func(c *CallDelay) time.Duration { return c.At })
		o.perJob[op] = d.Speed.Virtual(d.PerJob[op])
	}
	enqueued := make([]Enqueued, len(d.Enqueued))
	for i, e := range d.Enqueued {
		enqueued[i] = Enqueued{d.Speed.Virtual(e.At), d.delay(e.Late), d.delay(e.Call)}
	}
	o.enqueued = newSeries(enqueued, func(e *Enqueued) time.Duration { return e.At })
	for _, spans := range d.Stalls {
		o.stalls = append(o.stalls, d.spans(spans))
	}
	if d.Storm == nil {
		return o
	}
	o.during, o.storm = d.During, d.Storm.Overlay()
	for _, of := range []struct{ storm, calm *series[Sample] }{{&o.storm.wake, &o.wake}, {&o.storm.overrun, &o.overrun},
		{&o.storm.late, &o.late}} {
		if len(of.storm.times) == 0 {
			*of.storm = *of.calm
		}
	}
	for op := range o.calls {
		if len(o.storm.calls[op].times) == 0 {
			o.storm.calls[op], o.storm.perJob[op] = o.calls[op], o.perJob[op]
		}
	}
	if len(o.storm.enqueued.times) == 0 {
		o.storm.enqueued = o.enqueued
	}
	return o
}

// delay converts a measured delay to the time of the scenario.
func (d *Delays) delay(measured time.Duration) time.Duration {
	return max(0, d.Speed.Virtual(measured))
}

// series converts samples to the time of the scenario.
func (d *Delays) series(of []Sample) series[Sample] {
	all := make([]Sample, len(of))
	for i, s := range of {
		all[i] = Sample{d.Speed.Virtual(s.At), d.delay(s.For)}
	}
	return newSeries(all, func(s *Sample) time.Duration { return s.At })
}

// spans converts spans of the wall clock to the time of the scenario.
func (d *Delays) spans(of []Span) (all []Span) {
	for _, s := range of {
		all = append(all, Span{d.Speed.Virtual(s.From), max(1, d.Speed.Virtual(s.For))})
	}
	return all
}

// at returns the delays that apply at a time of the scenario.
func (o *Overlay) at(now time.Duration) *Overlay {
	if since := now - o.during.From; since >= 0 && since < o.during.For {
		return o.storm
	}
	return o
}

// origin returns the time of the scenario at which the measured run of the delays in use begins for the first time.
// Simulations of other numbers begin elsewhere in that run, each far from those before it: the steps are the golden
// section of its length.
func (o *Overlay) origin(of *Overlay) (at time.Duration) {
	if of != o {
		at = o.during.From
	}
	return at - time.Duration(float64(o.Draw*goldenSection>>11)/(1<<53)*float64(of.period))
}

// goldenSection is the golden ratio's fraction of 2^64, to the nearest odd number.
const goldenSection = 0x9E3779B97F4A7C15

// momentOf returns the delays in use at a time of the scenario, and the time of their measured run that it stands for.
func (o *Overlay) momentOf(now time.Duration) (of *Overlay, t time.Duration) {
	of = o.at(now)
	if t = now - o.origin(of); of.period > 0 {
		t %= of.period
	}
	return of, t
}

// each calls visit with the spans that begin while their delays are in use, in order, up to a time: the function list
// returns the spans of calm or of stormy delays.
func (o *Overlay) each(until engine.Time, list func(*Overlay) []Span, visit func(Span)) {
	end := time.Duration(until)
	cuts := []time.Duration{0, end}
	if o.storm != nil {
		cuts = []time.Duration{0, min(o.during.From, end), min(o.during.From+o.during.For, end), end}
	}
	for i, to := range cuts[1:] {
		from := cuts[i]
		of := o.at(from)
		spans := list(of)
		for start := o.origin(of); len(spans) > 0 && start < to; start += of.period {
			for _, s := range spans {
				if s.From += start; s.From >= from && s.From < to {
					visit(s)
				}
			}
			if of.period <= 0 {
				break
			}
		}
	}
}
