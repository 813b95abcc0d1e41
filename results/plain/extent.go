package plain

import "math"

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
