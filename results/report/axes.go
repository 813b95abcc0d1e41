package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"qsim/results"
	"qsim/results/measure"
)

// extent is the range of a set of numbers. Missing and infinite numbers do not count.
type extent struct {
	low, high float64 // NaN: no number yet
	positive  float64 // the least number above 0; +Inf: none
}

func newExtent() extent { return extent{math.NaN(), math.NaN(), math.Inf(1)} }

func (e *extent) include(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if !(v >= e.low) {
			e.low = v
		}
		if !(v <= e.high) {
			e.high = v
		}
		if v > 0 {
			e.positive = math.Min(e.positive, v)
		}
	}
}

// empty reports whether no number was included.
func (e *extent) empty() bool { return math.IsNaN(e.low) }

// wide reports whether the numbers, values of a metric, are durations of such different size that an axis of them is
// logarithmic.
func (e *extent) wide(info measure.MetricInfo) bool {
	return info.Unit == "s" && e.high > 20*e.positive
}

// valueAxis is an axis of a metric's values.
type valueAxis struct {
	info     measure.MetricInfo
	from, to float64
	log      bool
	floor    float64 // with log: see waitRange
}

// set gives an axis of a plot the range of v, and at most limit ticks.
func (v *valueAxis) set(a *plot.Axis, limit int) {
	a.Min, a.Max = v.from, v.to
	switch {
	case v.log:
		a.Scale, a.Tick.Marker = logScale{}, waits(v.floor, limit)
	case v.info.Unit == "s":
		a.Tick.Marker = clock(limit)
	case v.info.Share:
		a.Tick.Marker = percents(limit)
	default:
		a.Tick.Marker = counts(limit)
	}
}

// keyAxis is a horizontal axis of the values of one scenario key.
type keyAxis struct {
	*results.Axis
	xs    []float64 // positions of the values
	words bool      // the values are words, at equal distances
	log   bool
}

func newKeyAxis(a *results.Axis) keyAxis {
	k := keyAxis{Axis: a, xs: a.Numbers, words: a.Numbers == nil}
	if k.words {
		for i := range a.Values {
			k.xs = append(k.xs, float64(i))
		}
		return k
	}
	k.log = a.Log && slices.Min(k.xs) > 0 || widening(k.xs)
	return k
}

// widening reports whether positive values rise by growing steps over more than a decade, so that a linear axis would
// crowd the small ones.
func widening(xs []float64) bool {
	last := len(xs) - 1
	if last < 2 || xs[0] <= 0 || !slices.IsSorted(xs) {
		return false
	}
	return xs[last]/xs[0] >= 20 && xs[last]-xs[last-1] > 4*(xs[1]-xs[0])
}

// ticks returns the labelled values on the horizontal axis of a plot, one of several panels: as many as have room.
func (k *keyAxis) ticks(p *plot.Plot, panels int) plot.ConstantTicks {
	across := newPanels(panels).columns
	wide := (room-vg.Length(across-1)*18)/vg.Length(across) - 44 // what the values at the left take
	at := func(i int) vg.Length { return wide * vg.Length(p.X.Norm(k.xs[i])) }
	style := p.X.Tick.Label
	label := func(i int) string { return fit(style, clean(k.Values[i]), wide/2) }
	const gap = 6
	fits := func(a, b int) bool {
		distance := at(b) - at(a)
		return max(distance, -distance) >= (style.Width(label(a))+style.Width(label(b)))/2+gap
	}
	var kept []int
	for stride := 1; ; stride++ { // every second, third...: an even scale is read more easily
		kept = kept[:0]
		room := true
		for i := 0; i < len(k.xs); i += stride {
			room = room && (len(kept) == 0 || fits(kept[len(kept)-1], i))
			kept = append(kept, i)
		}
		if room {
			break
		}
	}
	if last := len(k.xs) - 1; kept[len(kept)-1] != last && fits(kept[len(kept)-1], last) {
		kept = append(kept, last)
	}
	var ticks plot.ConstantTicks
	for _, i := range kept {
		ticks = append(ticks, plot.Tick{Value: k.xs[i], Label: label(i)})
	}
	return ticks
}
