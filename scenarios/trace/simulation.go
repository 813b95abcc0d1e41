// Package trace prints the events of one simulation of a scenario, one policy under one seed: the history of one job,
// all events in a window of time, or jobs that are extreme in some way. The simulation is run again for each question,
// which is cheaper than storing its events; every run of it has the same events.
//
// Events are printed as they happen and not kept, so that a window of a run of any length takes no memory.
package trace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// Simulation is one run of a scenario, repeated for each question about its events.
type Simulation struct {
	sc   *scenarios.Scenario // scenario reduced to one policy and one seed
	seen *scenarios.Scenario // scenario with the overrides of that policy
	// windows holds the windows of storms at known times, by storm: those of one lie together. Storms relies on that.
	windows []measure.Window
}

// New returns the simulation of the scenario under the policy with the given index and the scenario's first seed.
func New(sc *scenarios.Scenario, policy int) *Simulation {
	one, err := sc.Select([]string{sc.Policies[policy].Label})
	if err != nil {
		panic("trace: " + err.Error()) // it has a policy of that label
	}
	one.Seeds, one.Objectives = 1, nil // an objective may ask for a second run
	s := &Simulation{sc: one, seen: one.Variant(0)}
	for _, all := range world.Windows(s.seen) {
		storm := plain.Find(s.seen.Storms, func(one *scenarios.Storm) bool { return one.Name == all.Name })
		starts := storm.Starts()
		for _, at := range starts { // of each time that the storm repeats
			end := at + all.To - starts[len(starts)-1]
			s.windows = append(s.windows, measure.Window{Name: all.Name, From: at, To: end})
		}
	}
	return s
}

// Policy returns the label of the policy of the run.
func (s *Simulation) Policy() string { return s.sc.Policies[0].Label }

// Scenario returns the scenario with the overrides of the run's policy.
func (s *Simulation) Scenario() *scenarios.Scenario { return s.seen }

// Seed returns the seed of the run.
func (s *Simulation) Seed() uint64 { return s.sc.Seed }

// End returns the latest time, of virtual time, at which the run may end.
func (s *Simulation) End() time.Duration { return s.seen.Longest() }

// Storms returns the names of the storms active at some time between two times, both inclusive, each once.
func (s *Simulation) Storms(from, to time.Duration) []string {
	var names []string
	for _, w := range s.windows {
		if w.From <= to && (w.To > from || w.From == w.To && w.From >= from) {
			names = append(names, w.Name)
		}
	}
	return slices.Compact(names)
}

// watch runs the simulation until the given time and calls see with each event, up to one for which see returns false.
// see must not keep the event.
func (s *Simulation) watch(ctx context.Context, until time.Duration, see func(e *engine.Event) (more bool)) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var begun atomic.Bool
	_, err := world.Run(inner, s.sc, world.Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		if begun.Swap(true) {
			panic("trace: more than one simulation") // objectives ask for more, and there are none
		}
		cfg.Until = min(cfg.Until, engine.Time(until))
		cfg.Recorder = &watcher{next: cfg.Recorder, see: see, cancel: cancel}
	}})
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx) // nil if see wants no more
	}
	return err
}

// watcher is a recorder of a run's events that passes each to a function, and on to another recorder.
type watcher struct {
	next   engine.Recorder
	see    func(e *engine.Event) (more bool) // nil once it has returned false
	cancel context.CancelFunc
}

// Record passes an event to the function and on to the recorder.
func (w *watcher) Record(e *engine.Event) {
	if w.see != nil && !w.see(e) {
		w.cancel()
		w.see = nil
	}
	w.next.Record(e)
}

// WindowOptions select a window of virtual time and the events in it that Window and Chrome report.
type WindowOptions struct {
	From, To   time.Duration // bounds of the window, both inclusive
	Job        engine.JobID  // ID of a job; 0: all jobs
	Limit      int           // highest number of facts; 0: no limit
	Calls      bool          // include every call to the store
	Heartbeats bool          // include every heartbeat
}

// Window calls emit with the events that o selects, in order, those of storms and nodes in its window included. If emit
// returns an error, it stops and returns that. stopped is the time at which o.Limit was reached, below 0 if it was not.
func (s *Simulation) Window(ctx context.Context, o WindowOptions, emit func(f Fact) error) (stopped Span, err error) {
	stopped = none
	told, failed := 0, error(nil)
	tell := func(f Fact) (more bool) {
		if o.Limit > 0 && told == o.Limit {
			stopped = f.At
			return false
		}
		told++
		failed = emit(f)
		return failed == nil
	}
	storms := s.edges(o.From, o.To)
	upTo := func(at time.Duration) (more bool) {
		for more = true; more && len(storms) > 0 && storms[0].At <= Span(at); storms = storms[1:] {
			more = tell(storms[0])
		}
		return more
	}
	err = s.watch(ctx, o.To, func(e *engine.Event) bool {
		at := time.Duration(e.At)
		switch {
		case at < o.From, o.Job != 0 && e.Job != o.Job && e.Job != 0,
			e.Kind == engine.Called && !o.Calls, e.Kind == engine.Extended && !o.Heartbeats:
			return true
		}
		return upTo(at) && tell(s.tell(e))
	})
	if cmp.Or(failed, err) == nil && stopped == none {
		upTo(o.To)
	}
	return stopped, cmp.Or(failed, err)
}

// edges returns the beginnings and ends of storms between two times, both inclusive, as facts of a trace, in order.
func (s *Simulation) edges(from, to time.Duration) []Fact {
	var all []Fact
	for _, w := range s.windows {
		all = append(all, newFact(Span(w.From), "storm-begins", "storm "+w.Name+" begins"),
			newFact(Span(w.To), "storm-ends", "storm "+w.Name+" ends"))
	}
	all = slices.DeleteFunc(all, func(f Fact) bool { return f.At < Span(from) || f.At > Span(to) })
	slices.SortStableFunc(all, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Event, b.Event)) // a storm begins before another ends
	})
	return all
}

// Span is a time of the run or a duration. JSON has it in seconds, or null if it is below 0 (not known).
type Span time.Duration

const none Span = -1

// Seconds returns the time in seconds.
func (s Span) Seconds() float64 { return time.Duration(s).Seconds() }

// IsZero reports whether the time is not known, so that JSON may leave it out.
func (s Span) IsZero() bool { return s < 0 }

// MarshalJSON returns the time in seconds, or null if it is below 0 (not known).
func (s Span) MarshalJSON() ([]byte, error) {
	if s.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(s.Seconds())
}
