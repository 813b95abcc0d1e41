package scenarios

import (
	"cmp"
	"slices"

	"qsim/engine"
)

// A job's ID says what it is, so that it does not depend on the policy: the class
// plus 1, then its index among the arrivals of the class, then which copy of it
// (the caller may resubmit). Jobs of a burst have indexes of their own.
const (
	copyBits   = 8
	indexBits  = 44
	burstShift = 32 // above it: which burst, plus 1; below it: which job of the burst
)

func jobID(class int, index uint64) engine.JobID {
	return engine.JobID(uint64(class+1)<<(indexBits+copyBits) | index<<copyBits)
}

// workload merges the arrivals of all classes.
type workload struct {
	streams []*stream
}

// stream is the arrivals of one class, or of one burst.
type stream struct {
	rand    engine.Rand
	class   int
	index   uint64 // of the next job
	random  bool   // poisson; otherwise evenly spaced
	rate    float64
	factors []rateFactor // what multiplies rate, and when
	at      float64      // nanoseconds: the latest arrival, or the start
	stop    float64      // nanoseconds: no arrivals from there on
	left    uint64       // a burst: jobs still to come
	isBurst bool
	next    engine.Time
	proto   engine.NewJob
}

type rateFactor struct {
	from, until float64 // nanoseconds
	factor      float64
}

// newWorkload returns the arrivals of sc under one seed.
func newWorkload(sc *Scenario, rand engine.Rand) *workload {
	w := &workload{}
	for class := range sc.Jobs {
		c := &sc.Jobs[class]
		proto := engine.NewJob{Kind: engine.Kind(class), Priority: c.Priority, Delay: c.Delay.Std()}
		s := &stream{rand: rand, class: class, random: c.Arrivals.Process == "poisson", rate: c.Arrivals.Rate.PerSecond() / 1e9,
			at: float64(c.Arrivals.Start), stop: float64(sc.Duration), proto: proto}
		if c.Arrivals.Stop != nil {
			s.stop = min(s.stop, float64(*c.Arrivals.Stop))
		}
		w.streams = append(w.streams, s)
		for i := range sc.Storms {
			burst := sc.Storms[i].Burst
			if burst == nil || burst.Class != c.Class {
				continue
			}
			at := float64(sc.Storms[i].At)
			if burst.Factor != nil {
				s.factors = append(s.factors, rateFactor{at, at + float64(sc.Storms[i].For), float64(*burst.Factor)})
				continue
			}
			w.streams = append(w.streams, &stream{class: class, index: uint64(i+1) << burstShift, isBurst: true, left: uint64(*burst.Count), at: at,
				stop: float64(sc.Duration), proto: proto})
		}
	}
	for _, s := range w.streams {
		s.first()
	}
	return w
}

// Next returns the earliest arrival; at one instant the class that the file names
// first comes first.
func (w *workload) Next() (engine.Time, engine.NewJob, bool) {
	best := w.streams[0]
	for _, s := range w.streams[1:] {
		if s.next < best.next {
			best = s
		}
	}
	if best.next == engine.Never {
		return 0, engine.NewJob{}, false
	}
	at, j := best.next, best.proto
	j.ID = jobID(best.class, best.index)
	best.index++
	best.advance()
	return at, j, true
}

// first finds the first arrival: of a poisson process one gap after the start, of
// a constant one at the start.
func (s *stream) first() {
	if s.random {
		s.advance()
		return
	}
	s.next = engine.Time(s.at)
	if s.at >= s.stop || s.isBurst && s.left == 0 || !s.isBurst && s.rate == 0 {
		s.next = engine.Never
	}
}

// advance finds the next arrival.
func (s *stream) advance() {
	if s.isBurst {
		if s.left--; s.left == 0 {
			s.next = engine.Never
		}
		return
	}
	gap := 1.0 // expected arrivals between the two
	if s.random {
		gap = unitExponential.Sample(s.rand.Uniform(engine.ForArrival, uint64(jobID(s.class, s.index)), 0, 0))
	}
	s.at = s.after(gap)
	if s.at >= s.stop {
		s.next = engine.Never
		return
	}
	s.next = engine.Time(s.at)
}

// after returns when gap arrivals are to be expected after s.at: the rate is
// constant between the ends of the factors' windows.
func (s *stream) after(gap float64) float64 {
	at := s.at
	for {
		rate, until := s.rate, s.stop
		for i := range s.factors {
			f := &s.factors[i]
			switch {
			case at < f.from:
				until = min(until, f.from)
			case at < f.until:
				rate *= f.factor
				until = min(until, f.until)
			}
		}
		if at >= s.stop {
			return at
		}
		if rate > 0 {
			if end := at + float64(gap/rate); end <= until {
				return end
			}
		}
		gap -= float64(rate * float64(until-at))
		at = until
	}
}

// unitExponential has the mean 1.
var unitExponential = func() engine.Dist {
	d, err := engine.Exponential(1)
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return d
}()

// pickNodes returns which of n nodes a storm hits, in ascending order: those of
// its list, or as many as it says, drawn by the seed.
func pickNodes(which Nodes, n int, rand engine.Rand, storm int) []int32 {
	var picked []int32
	if which.List != nil {
		for _, i := range which.List {
			picked = append(picked, int32(i))
		}
		return picked
	}
	type ticket struct {
		node int32
		draw uint64
	}
	tickets := make([]ticket, n)
	for i := range tickets {
		tickets[i] = ticket{int32(i), rand.Uint64(engine.ForStorm, uint64(storm), uint64(i), 0)}
	}
	slices.SortFunc(tickets, func(a, b ticket) int { return cmp.Compare(a.draw, b.draw) })
	for _, t := range tickets[:which.Of(n)] {
		picked = append(picked, t.node)
	}
	slices.Sort(picked)
	return picked
}
