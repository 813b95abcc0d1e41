package verify

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
)

const stormCycles = 100 // number of storms in a replication

// transientStorm returns an experiment on transients: for a while, a queue's attempts fail with another probability. In
// the model an attempt succeeds or fails when it ends. Each replication has many storms, far enough apart for the queue
// to forget each before the next.
func transientStorm(p *params) ([]experiment, error) {
	rate, mu, c, delay := p.positive("lam"), p.positive("mu"), p.count("c"), p.positive("backoff_mean")
	calm, bad, window := p.share("p_normal"), p.share("p_storm"), p.numbers("storm")
	if len(window) != 2 {
		p.wrong("params.storm: want its start and its end")
		return nil, nil
	}
	times := curveTimes(p.expected)
	load := rate / (1 - calm) / (mu * float64(c))
	gap := math.Ceil(max(200, 15*relaxation(load, mu*float64(c), 1)+10*delay))
	cycle := max(slices.Max(append(times, 0)), window[1]) + gap
	s := setup{workers: c, warmup: gap, window: stormCycles * cycle, drain: 10 * gap,
		retry:   retry(0, randomDelay(delay)),
		classes: []string{class("job", poisson(rate), exponential(1/mu))}}
	x := experiment{setup: s, measures: map[string]gauge{}}
	for i := range stormCycles {
		for _, t := range times {
			x.plan.samples = append(x.plan.samples, engine.Time(duration(gap+float64(i)*cycle+t)))
		}
	}
	x.alter = func(cfg *sim.Config, _ *observer) {
		cfg.Handlers = &failAtEnd{Handlers: cfg.Handlers, rand: cfg.Nodes[0].Rand, chance: func(now engine.Time) float64 {
			if t := math.Mod(now.Seconds()-gap, cycle); t >= window[0] && t < window[1] {
				return bad
			}
			return calm
		}}
	}
	for k, t := range times {
		for _, level := range []struct {
			name string
			of   func(n, orbit float64) float64
		}{
			{"n", func(n, _ float64) float64 { return n }},
			{"orbit", func(_, orbit float64) float64 { return orbit }},
			{"waiting", func(n, _ float64) float64 { return max(n-float64(c), 0) }},
			{"fresh_virtual_wait", func(n, _ float64) float64 { return max(n-float64(c)+1, 0) / (float64(c) * mu) }},
		} {
			key := "." + level.name
			name := "at." + strconv.FormatFloat(t, 'f', -1, 64) + key
			x.measures[name] = gauge{shape: ofCurve, peak: peakOf(p.expected, key), of: func(o *observer) float64 {
				sum := 0.0
				for i := range stormCycles {
					l := &o.sampled[i*len(times)+k]
					sum += level.of(float64(l[freshReady]+l[retryReady]+l[inFlight]), float64(l[waiting]))
				}
				return sum / stormCycles
			}}
		}
	}
	return []experiment{x}, nil
}

// curveTimes returns the times in the paths at.TIME.what of expected items, ascending.
func curveTimes(expected []item) (times []float64) {
	for _, it := range expected {
		text, ok := strings.CutPrefix(it.path, "at.")
		if dot := strings.LastIndexByte(text, '.'); ok && dot > 0 {
			if t, err := strconv.ParseFloat(text[:dot], 64); err == nil && !slices.Contains(times, t) {
				times = append(times, t)
			}
		}
	}
	slices.Sort(times)
	return times
}

// peakOf returns the highest expected value of the curve whose paths end in end.
func peakOf(expected []item, end string) float64 {
	peak := 0.0
	for _, it := range expected {
		if v, ok := it.value.(float64); ok && strings.HasSuffix(it.path, end) {
			peak = max(peak, v)
		}
	}
	return peak
}

// failAtEnd is a handler whose attempts fail when they end, with a probability that depends on the time.
type failAtEnd struct {
	sim.Handlers
	rand   keyed.Rand
	chance func(now engine.Time) float64
}

// Begin starts an attempt whose outcome Decide draws when it ends.
func (f *failAtEnd) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := f.Handlers.Begin(now, node, j)
	x.Undecided = true
	return x
}

// Decide draws the outcome of an execution that ends.
func (f *failAtEnd) Decide(now engine.Time, _ int32, j *engine.Job) engine.ErrorKind {
	if f.rand.Uniform(keyed.ForFailure, uint64(j.ID), uint64(j.Delivery), 0) < f.chance(now) {
		return engine.FirstErrorKind
	}
	return engine.NoError
}
