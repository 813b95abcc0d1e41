package world

import (
	"cmp"
	"slices"
	"time"
)

// Sample is one measured delay, with the time of its measurement.
type Sample struct{ At, For time.Duration }

func (d Sample) at() time.Duration { return d.At }

// CallDelay holds the measured delays of one store call.
type CallDelay struct {
	At      time.Duration // time of the engine's request
	Request time.Duration // delay from then until the store executes the call
	Reply   time.Duration // delay from the execution until the engine has the answer
}

func (d CallDelay) at() time.Duration { return d.At }

// Enqueued holds the measured delays of one job's enqueue.
type Enqueued struct {
	At   time.Duration // arrival time of the job
	Late time.Duration // delay from the arrival of the job until the store shows it
	Call time.Duration // last part of Late, in which the store counts the job as ready
}

func (d Enqueued) at() time.Duration { return d.At }

// moment is half the length on the wall clock of the window around a time of the measured run from which delays are
// drawn. A store is slow for tenths of a second at a time, while it vacuums or writes a checkpoint. All calls are slow
// together then, and a backlog forms that as many slow calls spread over the run would not cause.
const moment = 50 * time.Millisecond

// momentLeast is the fewest measured delays from which one is drawn: if fewer were measured about the time wanted,
// those measured next before and after it count too.
const momentLeast = 8

// timed is a measured value, such as a delay, that holds the time of its measurement.
type timed interface{ at() time.Duration }

// inOrder sorts measured values by the times of their measurement.
func inOrder[T timed](all []T) {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(a.at(), b.at()) })
}

// near draws, by a uniform number u in (0, 1), one of the values measured between t-half and t+half and within the span
// in. If these are fewer than momentLeast, it draws from about that many measured next to t, also outside the span if
// that has too few. all must be in order of time; if it is empty, the result is zero.
func near[T timed](all []T, t, half time.Duration, in Span, u float64) (value T) {
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
