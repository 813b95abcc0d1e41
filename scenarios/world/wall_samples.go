package world

import (
	"cmp"
	"slices"
	"time"
)

// Sample is one measured delay, with the time of its measurement.
type Sample struct{ At, For time.Duration }

func (d Sample) at() time.Duration      { return d.At }
func (d Sample) virtual(s Speed) Sample { return Sample{s.Virtual(d.At), s.delay(d.For)} }

// CallDelay holds the measured delays of one store call.
type CallDelay struct {
	At      time.Duration // time of the engine's request
	Request time.Duration // delay from then until the store executes the call
	Reply   time.Duration // delay from the execution until the engine has the answer
}

func (d CallDelay) at() time.Duration { return d.At }
func (d CallDelay) virtual(s Speed) CallDelay {
	return CallDelay{s.Virtual(d.At), s.delay(d.Request), s.delay(d.Reply)}
}

// Enqueued holds the measured delays of one job's enqueue.
type Enqueued struct {
	At   time.Duration // arrival time of the job
	Late time.Duration // delay from the arrival of the job until the store shows it
	Call time.Duration // last part of Late, in which the store counts the job as ready
}

func (d Enqueued) at() time.Duration { return d.At }
func (d Enqueued) virtual(s Speed) Enqueued {
	return Enqueued{s.Virtual(d.At), s.delay(d.Late), s.delay(d.Call)}
}

// delay converts a measured delay to the time of the scenario.
func (s Speed) delay(measured time.Duration) time.Duration { return max(0, s.Virtual(measured)) }

// measurement is a value measured on the wall clock that can be converted to the time of the scenario.
type measurement[T any] interface{ virtual(Speed) T }

// virtual converts values measured on the wall clock, such as delays, to the time of the scenario.
func virtual[T measurement[T]](measured []T, s Speed) (all []T) {
	for _, m := range measured {
		all = append(all, m.virtual(s))
	}
	return all
}

// moment is half the length on the wall clock of the window around a time of the measured run from which delays are
// drawn. A store is slow for tenths of a second at a time, while it vacuums or writes a checkpoint. All calls are slow
// together then, and a backlog forms that as many slow calls spread over the run would not cause.
const moment = 50 * time.Millisecond

// momentLeast is the fewest measured delays from which one is drawn: if fewer were measured about the time wanted,
// those measured next before and after it count too.
const momentLeast = 8

// timedMeasurement is the constraint on measured values, such as delays, that hold the time of their measurement.
type timedMeasurement[T any] interface {
	measurement[T]
	at() time.Duration
}

// inOrder converts what was measured on the wall clock to the time of the scenario, in ascending order of the times.
func inOrder[T timedMeasurement[T]](measured []T, speed Speed) []T {
	all := virtual(measured, speed)
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(a.at(), b.at()) })
	return all
}

// near draws, by a uniform number u in (0, 1), one of the values measured between t-half and t+half and within the span
// in. If these are fewer than momentLeast, it draws from about that many measured next to t, also outside the span if
// that has too few. all must be in order of time; if it is empty, the result is zero.
func near[T timedMeasurement[T]](all []T, t, half time.Duration, in Span, u float64) (value T) {
	if len(all) == 0 {
		return value
	}
	firstAt := func(t time.Duration) int {
		i, _ := slices.BinarySearchFunc(all, t, func(v T, t time.Duration) int { return cmp.Compare(v.at(), t) })
		return i
	}
	first, last := firstAt(in.From), firstAt(in.From+in.For)
	if last-first < momentLeast {
		first, last = 0, len(all)
	}
	from := max(first, min(last, firstAt(t-half)))
	to := max(from, min(last, firstAt(t+half+1)))
	if missing := momentLeast - (to - from); missing > 0 {
		from = max(first, from-missing/2)
		to = min(last, max(to, from+momentLeast))
		from = max(first, min(from, to-momentLeast))
	}
	return all[from+int(u*float64(to-from))]
}
