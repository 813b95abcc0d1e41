package plain

import (
	"math"
	"sort"
	"time"
)

// Extent is the range of a set of numbers, for axes of charts. NaN and infinities do not count.
type Extent struct {
	Low, High float64 // NaN: no number yet
	Positive  float64 // the least number above 0; +Inf: none
}

// ExtentOf returns the range of the given numbers.
func ExtentOf(values ...float64) Extent {
	e := Extent{math.NaN(), math.NaN(), math.Inf(1)}
	e.Include(values...)
	return e
}

// Include extends the range to the given numbers, except NaN and infinities.
func (e *Extent) Include(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if !(v >= e.Low) {
			e.Low = v
		}
		if !(v <= e.High) {
			e.High = v
		}
		if v > 0 {
			e.Positive = math.Min(e.Positive, v)
		}
	}
}

// Empty reports whether the range contains no number.
func (e *Extent) Empty() bool { return math.IsNaN(e.Low) }

const day = 24 * time.Hour

// timeSteps lists the possible distances between ticks on a linear time axis.
var timeSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	day, 2 * day, 5 * day, 10 * day, 20 * day, 50 * day, 100 * day, 200 * day, 500 * day, 1000 * day, 10000 * day,
}

// TimeStep returns the round distance between ticks on a time axis of the given length, in s, with at most limit steps.
func TimeStep(length float64, limit int) time.Duration {
	return timeSteps[sort.Search(len(timeSteps)-1, func(i int) bool {
		return length/timeSteps[i].Seconds() <= float64(limit)+1e-9
	})]
}
