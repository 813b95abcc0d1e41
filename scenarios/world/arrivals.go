package world

import (
	"math"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// process is an iterator over the arrivals of the jobs of one class, in order of time.
type process interface {
	// next returns the next arrivals; false: there are no more.
	next() (arrival, bool)
}

// arrival is one or more jobs of a class that are enqueued at one time.
type arrival struct {
	at     engine.Time
	index  uint64          // index of the first job among the arrivals of the class
	count  uint64          // number of jobs, at least 1
	tenant engine.TenantID // tenant of the jobs; 0: it is drawn
}

// drawGap and the constants below tell apart the random draws for one arrival, or one on-off phase, of a class.
const (
	drawGap    = 0 // gap before an arrival
	drawOn     = 1 // length of an on phase
	drawOff    = 2
	drawAccept = 3 // whether a candidate of thinned arrives, or a line of a trace counts once more
)

// newProcess returns the arrival process of a class under one seed; the caller closes it if it is an io.Closer.
func newProcess(sc *scenarios.Scenario, class int, rand keyed.Rand) (process, error) {
	a := &sc.Jobs[class].Arrivals
	stop := engine.Time(a.End(sc.Duration))
	factors := levelsOf(burstFactors(sc, class), stop)
	draws := classDraws{rand, class}
	r := &renewal{draws: draws, at: float64(a.Start), gaps: &unitExponential,
		intensity: intensity{rate: a.Rate.PerSecond() / 1e9, start: float64(a.Start), stop: float64(stop), levels: factors}}
	switch a.Process {
	case "constant":
		r.gaps = nil
	case "gamma":
		gaps := plain.Must(dist.Gamma(1, max(float64(*a.CV), leastCV)))
		r.gaps = &gaps
	case "on-off":
		r.phases = &phases{draws: draws, on: a.On.Dist(), off: a.Off.Dist(), end: float64(a.Start)}
	case "ramp":
		r.rate = a.From.PerSecond() / 1e9
		if length := float64(stop) - float64(a.Start); length > 0 {
			r.slope = (a.To.PerSecond()/1e9 - r.rate) / length
		}
	case "diurnal":
		swing := a.Swing.Float()
		r.rate = float64(a.Mean.PerSecond() / 1e9 * (1 + swing))
		return &thinned{renewal: r, swing: swing, period: float64(*a.Period)}, nil
	case "batch":
		return &batches{size: float64(*a.Size), start: engine.Time(a.Start), every: engine.Time(*a.Every), stop: stop,
			levels: factors}, nil
	case "trace":
		file, err := sc.OpenFile(a.File)
		if err != nil {
			return nil, err
		}
		t := newTrace(file, a.File, engine.Time(a.Start), stop, factors, draws)
		if a.Share != nil {
			t.share = a.Share.Float()
		}
		t.tenantOf = func(name string) engine.TenantID {
			if index := sc.TenantIndex(class, name); index >= 0 {
				return sc.TenantID(class, index)
			}
			return 0
		}
		return t, nil
	}
	return r, nil
}

// leastCV is the smallest coefficient of variation of gamma gaps; below it, gaps are practically equal.
const leastCV = 0.001

// burstFactors returns the effects of the storms (injected load and faults) that multiply the arrival rate of a class.
func burstFactors(sc *scenarios.Scenario, class int) (all []strike) {
	for i := range sc.Storms {
		if s, x := strikeOf(sc, i); x.Class == sc.Jobs[class].Class && x.Rate != nil {
			all = append(all, s)
		}
	}
	return all
}

// classDraws draws the random numbers for the arrivals of one class, each keyed by the arrival's number and a purpose.
type classDraws struct {
	rand  keyed.Rand
	class int
}

func (d *classDraws) uniform(number uint64, n uint16) float64 {
	return d.rand.Uniform(keyed.ForArrival, uint64(spec.JobID(d.class, number)), 0, n)
}

// renewal is an arrival process with independent gaps: each is drawn with mean 1 and divided by the arrival rate, which
// may change in the meantime, so that a low rate stretches the gaps.
type renewal struct {
	draws classDraws
	intensity
	gaps  *dist.Dist // distribution of gaps with mean 1; nil: all are 1, and the first arrival comes at once
	index uint64
	at    float64 // time of the latest arrival, or the start, in nanoseconds
}

func (r *renewal) next() (arrival, bool) {
	switch {
	case r.gaps != nil:
		r.at = r.after(r.at, r.gaps.Sample(r.draws.uniform(r.index, drawGap)))
	case r.index > 0:
		r.at = r.after(r.at, 1)
	case r.rate == 0:
		return arrival{}, false
	}
	at := engine.Time(r.at + 0.5)
	if at >= engine.Time(r.stop) {
		return arrival{}, false
	}
	r.index++
	return arrival{at: at, index: r.index - 1, count: 1}, true
}

// intensity is the expected number of arrivals per nanosecond, as a function of time.
type intensity struct {
	rate, slope float64 // rate at the start, and its increase per nanosecond
	start, stop float64 // period of arrivals in nanoseconds: [start, stop)
	levels      levels
	phases      *phases // on-off phases; nil: always on

	steady float64 // arrival rate at all times before until; above 0
	until  float64
}

// after returns the time by which the given number of arrivals is expected, counted from the time at: where the
// integral of the arrival rate reaches that number, at most the end of arrivals. Calls must have ascending times.
func (x *intensity) after(at, arrivals float64) float64 {
	if at < x.until {
		if end := at + float64(arrivals/x.steady); end <= x.until {
			return end
		}
	}
	for at < x.stop {
		factor, until := x.levels.now(at)
		until = min(until, x.stop)
		if x.phases != nil {
			on, end := x.phases.now(at)
			until = min(until, end)
			if !on {
				factor = 0
			}
		}
		rate := max(float64((x.rate+float64(x.slope*(at-x.start)))*factor), 0)
		slope, length := float64(x.slope*factor), until-at
		whole := float64(length * (rate + float64(0.5*float64(slope*length))))
		switch {
		case slope == 0 && rate > 0:
			if x.slope == 0 {
				x.steady, x.until = rate, until
			}
			if end := at + float64(arrivals/rate); end <= until {
				return end
			}
		case slope != 0 && whole >= arrivals:
			// rate·d + slope·d²/2 = arrivals, solved without cancellation.
			root := math.Sqrt(max(float64(rate*rate)+float64(2*float64(slope*arrivals)), 0))
			if rate+root == 0 {
				return at // no arrivals are wanted
			}
			return min(at+float64(2*arrivals)/(rate+root), until)
		}
		arrivals = max(arrivals-whole, 0)
		at = until
	}
	return x.stop
}

// phases is the state of an on-off arrival process, which begins on. The times given to now must ascend.
type phases struct {
	draws   classDraws
	on, off dist.Dist
	number  uint64  // number of the present phase: odd phases are on
	end     float64 // end of that phase in nanoseconds; at first the start
}

// now returns whether the on-off process is on at a time, and when the phase at that time ends.
func (p *phases) now(at float64) (on bool, end float64) {
	for at >= p.end {
		p.number++
		lasts, n := &p.on, uint16(drawOn)
		if p.number%2 == 0 {
			lasts, n = &p.off, drawOff
		}
		p.end += float64(lasts.Duration(p.draws.uniform(p.number, n)))
	}
	return p.number%2 == 1, p.end
}

// thinned is a Poisson process whose rate follows a sine, by thinning: of the arrivals of a process at the highest
// rate, each is kept with probability rate ÷ highest rate.
type thinned struct {
	*renewal
	swing  float64
	period float64 // period of the sine in nanoseconds
	index  uint64
}

func (t *thinned) next() (arrival, bool) {
	for {
		a, ok := t.renewal.next()
		if !ok {
			return a, false
		}
		wave := float64(t.swing * sine((t.at-t.start)/t.period))
		if float64(t.draws.uniform(a.index, drawAccept)*(1+t.swing)) < 1+wave {
			a.index = t.index
			t.index++
			return a, true
		}
	}
}

// batches is an arrival process with batches of jobs at equal intervals, their size multiplied by storms.
type batches struct {
	size               float64
	start, every, stop engine.Time
	levels             levels
	number             int64
	index              uint64
}

func (b *batches) next() (arrival, bool) {
	for {
		at := b.start + engine.Time(b.number)*b.every
		if at >= b.stop {
			return arrival{}, false
		}
		b.number++
		factor, _ := b.levels.now(float64(at))
		if count := uint64(float64(b.size*factor) + 0.5); count > 0 {
			b.index += count
			return arrival{at: at, index: b.index - count, count: count}, true
		}
	}
}

// unitExponential is the exponential distribution of mean 1.
var unitExponential = plain.Must(dist.Exponential(1))

// sine returns sin(2π·turn) for any turn of at most 2^50, with an error below 1e-15. It gives the same bits on every
// processor, which math.Sin does not: no product is fused with a sum.
func sine(turn float64) float64 {
	turn -= math.Floor(turn)
	sign := 1.0
	if turn >= 0.5 {
		turn, sign = turn-0.5, -1
	}
	if turn > 0.25 {
		turn = 0.5 - turn // exact: both are within a factor of 2
	}
	// The Taylor series: at π/2 the term after the last is below 1e-18.
	x := float64(2 * math.Pi * turn)
	square := float64(x * x)
	sum := 0.0
	for n := 21.0; n >= 3; n -= 2 {
		sum = float64((1-sum)*square) / float64(n*(n-1))
	}
	return float64(sign * float64(x*(1-sum)))
}
