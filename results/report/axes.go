package report

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// logFrom is the ratio of the largest to the least positive value from which an axis or colour scale is logarithmic.
const logFrom = 20

// wide reports whether the values of a metric are durations that span a factor of logFrom, too much for a linear axis.
func wide(values plain.Extent, info measure.MetricInfo) bool {
	return info.Unit == "s" && values.High >= logFrom*values.Positive
}

// valueAxis is the range and the scale of a chart's axis that shows the values of a metric.
type valueAxis struct {
	info     measure.MetricInfo
	from, to float64
	log      bool
	floor    float64 // with log, if some values lie below the range: its lower end; else 0
}

// overWaits makes an axis logarithmic, with the range of waitRange for durations from low to high, in s.
func (v *valueAxis) overWaits(low, high float64) {
	v.log = true
	v.from, v.to, v.floor = waitRange(low, high)
}

// over sets the range of an axis for values: 0 to headroom times the largest, or logarithmic for durations far apart.
func (v *valueAxis) over(seen plain.Extent, headroom float64) {
	if wide(seen, v.info) {
		v.overWaits(seen.Low, seen.High)
	} else if v.to = seen.High * headroom; !(v.to > 0) {
		v.to = 1
	}
}

// set applies a valueAxis to an axis of a plot: its range, scale and ticks, at most limit besides the tick at 0.
func (v *valueAxis) set(a *plot.Axis, limit int) {
	a.Min, a.Max = v.from, v.to
	switch {
	case v.log:
		a.Scale, a.Tick.Marker = logScale{}, waits(v.floor, limit)
	case v.info.Unit == "s":
		a.Tick.Marker = clock(limit)
	case v.info.Share:
		a.Tick.Marker = linear(limit, 100, func(v float64) string { return plain.Digits(v, 3) + "%" })
	default:
		a.Tick.Marker = counts(limit)
	}
}

// keyAxis is a horizontal axis that shows the values of one key (parameter) of a scenario.
type keyAxis struct {
	*results.Axis
	xs    []float64 // positions of the values along the axis
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

// widening reports whether positive values far apart rise by growing steps, so that a linear axis would crowd them.
func widening(xs []float64) bool {
	last := len(xs) - 1
	if last < 2 || xs[0] <= 0 || !slices.IsSorted(xs) {
		return false
	}
	return xs[last]/xs[0] >= logFrom && xs[last]-xs[last-1] > 4*(xs[1]-xs[0])
}

// set gives the plot of one of several panels the values of a scenario key (parameter) along x and the metric's axis
// (up) along y, and returns the highest number of ticks of y. The x axis extends beyond the values on both sides:
// by the parameter alone if there is a single one, on a logarithmic axis by the factor wider, else by pad times their
// range.
func (k *keyAxis) set(p *plot.Plot, up *valueAxis, panels int, alone, pad, wider float64) (rows int) {
	low, high := slices.Min(k.xs), slices.Max(k.xs)
	switch gap := pad * (high - low); {
	case k.words:
		p.X.Min, p.X.Max = low-.5, high+.5
	case low == high:
		p.X.Min, p.X.Max = low-alone, high+alone
	case k.log:
		p.X.Scale = logScale{}
		p.X.Min, p.X.Max = low/wider, high*wider
	default:
		p.X.Min, p.X.Max = low-gap, high+gap
	}
	p.X.Tick.Marker = k.ticks(&p.X, newPanels(panels).wide()-44) // what the values at the left take
	if rows = 4; panels == 1 {
		rows = 7
	}
	up.set(&p.Y, rows)
	return rows
}

const sideLabel = vg.Length(44) // widest value of a scenario key beside a vertical axis; longer ones are shortened

// ticks returns the ticks of an axis, as long as given, that shows the values of a scenario key: as many of the values
// as have room for a label.
func (k *keyAxis) ticks(a *plot.Axis, long vg.Length) plot.ConstantTicks {
	at := func(i int) vg.Length { return long * vg.Length(a.Norm(k.xs[i])) }
	style := a.Tick.Label
	widest, size := long/2, style.Width
	if style.XAlign == draw.XRight { // beside a vertical axis
		widest, size = sideLabel, func(string) vg.Length { return style.Font.Size }
	}
	label := func(i int) string { return fit(style, clean(k.Values[i]), widest) }
	const gap = 6
	fits := func(a, b int) bool {
		distance := at(b) - at(a)
		return max(distance, -distance) >= (size(label(a))+size(label(b)))/2+gap
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
	return plain.Map(kept, func(i int) plot.Tick { return plot.Tick{Value: k.xs[i], Label: label(i)} })
}

// stepped returns the ticks of a linear axis at the multiples of a round number, limit steps at most. size returns that
// number for the ends of the axis.
func stepped(limit int, size func(low, high float64) float64, label func(v float64) string) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) (ticks []plot.Tick) {
		step := size(low, high)
		first := int(math.Ceil(low/step - 1e-9))
		for i := first; i <= first+limit && float64(i)*step <= high*(1+1e-9); i++ {
			ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: label(float64(i) * step)})
		}
		return ticks
	})
}

// clock returns the ticks of an axis in seconds that begins at 0, with at most limit steps.
func clock(limit int) plot.Ticker {
	return stepped(limit, func(_, high float64) float64 { return plain.TimeStep(high, limit).Seconds() },
		func(v float64) string { return plain.Either(v == 0, "0", seconds(v)) })
}

// counts returns the ticks of an axis of counts that begins at 0, with at most limit steps.
func counts(limit int) plot.Ticker { return linear(limit, 1, plain.Amount) }

// linear returns the ticks of an axis that begins at 0. They lie where a value times scale is a round number, which is
// the label: with scale 100, shares are labelled in percent.
func linear(limit int, scale float64, label func(v float64) string) plot.Ticker {
	size := func(_, high float64) float64 {
		return niceAbove(plain.Either(high > 0, high*scale, 1)/float64(limit)) / scale
	}
	return stepped(limit, size, func(v float64) string { return label(v * scale) })
}

// leastWait is the lowest end, in s, of a logarithmic time axis (0 has no logarithm): no shorter wait is of interest.
// If all waits are below twice that, the axis may begin at tinyWait.
const (
	leastWait = 1e-3
	tinyWait  = 1e-6
)

// mostWait is the last tick of a time axis in s, 27 years: longer waits are drawn there.
const mostWait = 864e6

// decades lists the ticks of a logarithmic time axis, in s, at customary units: 1ms, 1s, 1m, 1h and so on.
var decades = []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, .1, 1, 10, 60, 600, 3600, 36000, 864e3, 864e4, 864e5, mostWait}

// waitRange returns the range of a logarithmic time axis for values from low to high: at most seven decades, two ticks
// at least. floor is the lower end of the range if some values lie below it, or else 0.
func waitRange(low, high float64) (from, to, floor float64) {
	least := leastWait
	if high > tinyWait && high < 2*leastWait {
		least = tinyWait
	}
	high = math.Min(math.Max(zeroed(high), least), mostWait)
	if !(low <= high) { // no number, too
		low = high
	}
	from = math.Max(least, math.Max(low, high*1e-7))
	clipped := low < from
	from = 1 / niceAbove(1.1/from)
	from = math.Max(from, least)
	to = niceAbove(high * 1.25)
	if ticksIn(from, to) < 2 {
		from = math.Max(decades[max(sort.SearchFloat64s(decades, from*1.001)-1, 0)], least)
	}
	if ticksIn(from, to) < 2 {
		to = decades[min(sort.SearchFloat64s(decades, to), len(decades)-1)]
	}
	if clipped {
		floor = from
	}
	return from, to, floor
}

func ticksIn(from, to float64) int {
	return plain.Count(decades, func(v float64) bool { return v >= from*.999 && v <= to*1.001 })
}

// niceAbove rounds v > 0 up to 1, 2 or 5 times a power of ten.
func niceAbove(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logScale is a logarithmic scale that shows values below its range at its lower end: gonum's panics at zero.
type logScale struct{}

func (logScale) Normalize(low, high, v float64) float64 {
	return plot.LogScale{}.Normalize(low, high, math.Max(v, low))
}

// waits returns the ticks of a logarithmic axis in seconds, at most limit of them. If floor is not 0, the lowest tick
// is there, labelled with ≤ because smaller values are drawn there too.
func waits(floor float64, limit int) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		var ticks []plot.Tick
		if floor > 0 {
			ticks = append(ticks, plot.Tick{Value: floor, Label: "≤ " + seconds(floor)})
			low = floor * 3
		}
		left := max(limit-len(ticks), 1)
		every := (ticksIn(low, high) + left - 1) / left
		for i, v := range decades[sort.SearchFloat64s(decades, low*.999):] {
			if v <= high*1.001 && i%every == every-1 {
				ticks = append(ticks, plot.Tick{Value: v, Label: seconds(v)})
			}
		}
		return ticks
	})
}
