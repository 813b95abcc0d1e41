package trace

import (
	"cmp"
	"context"
	"slices"
	"time"

	"qsim/engine"
)

// WindowOptions select a window of time and the events that are reported of it.
type WindowOptions struct {
	From, To   time.Duration // bounds of the window, both inclusive
	Job        engine.JobID  // ID of a job; 0: all jobs
	Limit      int           // highest number of facts; 0: no limit
	Calls      bool          // include every call to the store
	Heartbeats bool          // include every heartbeat
}

// Window calls emit with all events in a window of time, in order, those of storms and nodes included. If emit returns
// an error, it stops and returns that. stopped is the time at which the limit was reached, if it was.
func (s *Simulation) Window(ctx context.Context, o WindowOptions, emit func(f Fact) error) (
	stopped time.Duration, limited bool, err error,
) {
	told := 0
	tell := func(f Fact) (bool, error) {
		if o.Limit > 0 && told == o.Limit {
			stopped, limited = time.Duration(f.At), true
			return false, nil
		}
		told++
		return true, emit(f)
	}
	storms := s.edges(o.From, o.To)
	upTo := func(at time.Duration) (more bool, err error) {
		for len(storms) > 0 && storms[0].At <= Span(at) {
			if more, err := tell(storms[0]); !more || err != nil {
				return false, err
			}
			storms = storms[1:]
		}
		return true, nil
	}
	err = s.watch(ctx, o.To, func(e *engine.Event) (bool, error) {
		at := time.Duration(e.At)
		switch {
		case at < o.From:
			return true, nil
		case o.Job != 0 && e.Job != o.Job && e.Job != 0:
			return true, nil
		case e.Kind == engine.Called && !o.Calls, e.Kind == engine.Extended && !o.Heartbeats:
			return true, nil
		}
		if more, err := upTo(at); !more || err != nil {
			return false, err
		}
		return tell(s.tell(e))
	})
	if err == nil && !limited {
		_, err = upTo(o.To)
	}
	return stopped, limited, err
}

// edges returns the beginnings and ends of storms between two times, in order.
func (s *Simulation) edges(from, to time.Duration) []Fact {
	var all []Fact
	for _, w := range s.windows {
		all = append(all, newFact(Span(w.From), "storm-begins", "storm "+w.Name+" begins"))
	}
	for _, w := range s.windows {
		all = append(all, newFact(Span(w.To), "storm-ends", "storm "+w.Name+" ends"))
	}
	all = slices.DeleteFunc(all, func(f Fact) bool { return f.At < Span(from) || f.At > Span(to) })
	slices.SortStableFunc(all, func(a, b Fact) int { return cmp.Compare(a.At, b.At) })
	return all
}
