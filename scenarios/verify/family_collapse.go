package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/results/plain"
)

// Fluid models of overload: arrivals come at equal gaps and take equal times.

const calmFor = 30.0 // s before the trouble

// fluidQueue returns a setup as in a fluid model: rate jobs a second arrive at equal gaps, and one worker serves
// capacity a second, each in the same time, for calmFor + after seconds. more are keys of the class.
func fluidQueue(rate, capacity, after float64, more ...string) setup {
	return setup{workers: 1, lease: "{ttl: 1h, heartbeat: 0s}", warmup: 1, window: calmFor + after,
		classes: []string{class("job", equalGaps(rate), seconds(1/capacity), more...)}}
}

// peakBacklog and the constants below are indexes in observer.own for watchBacklog; times are seconds since the storm.
const (
	peakBacklog = iota // jobs ready when the trouble ends
	answeredAt         // time since which the backlog is no longer than the callers' patience
	drainedAt          // time since which there is no backlog
	offered            // jobs enqueued in between, of the answered
	served             // jobs done in between
	timelyAt           // enqueue time of the first job that was done in time
)

// watchBacklog returns a handler for observation.on that records how the backlog shrinks after a storm ends, at end.
func watchBacklog(end, patience, capacity float64) func(o *observer, e *engine.Event) {
	return func(o *observer, e *engine.Event) {
		now, ready := o.now.Seconds()-end, float64(o.level[freshReady]+o.level[retryReady])
		if now <= 0 {
			o.own[peakBacklog] = ready
			return
		}
		if o.own[answeredAt] == 0 {
			switch e.Kind {
			case engine.Enqueued:
				o.own[offered]++
			case engine.Acked:
				o.own[served]++
			}
			if ready <= capacity*patience {
				o.own[answeredAt] = now
			}
		}
		if o.own[drainedAt] == 0 && ready == 0 {
			o.own[drainedAt] = now
		}
		timely := e.Kind == engine.Acked && e.Age.Seconds() <= patience
		if came := now - e.Age.Seconds(); timely && o.own[timelyAt] == 0 && came >= 0 {
			o.own[timelyAt] = came
		}
	}
}

// kept returns the gauge (measurement) of a number in observer.own that watchBacklog records; NaN if it was never set.
func kept(which int) gauge {
	return mean(func(o *observer) float64 { return cmp.Or(o.own[which], math.NaN()) })
}

// metastable returns an experiment on metastable failure: whether and when a queue recovers from an outage whose
// callers time out and resubmit. It has recovered when its backlog can be served within their patience.
func metastable(p *params) ([]experiment, error) {
	rate, capacity, patience := p.positive("lam"), p.positive("capacity"), p.positive("timeout")
	again, outage := p.count("retries"), p.positive("outage")
	const longest = 2000.0
	s := fluidQueue(rate, capacity, outage+longest,
		fmt.Sprintf("patience: {after: %s, resubmits: %d}", seconds(patience), again))
	s.storms = []string{storm("outage", calmFor, outage, "pause: {nodes: [0]}")}
	end := calmFor + outage
	plan := observation{counted: []bool{false}, on: watchBacklog(end, patience, capacity)}
	return []experiment{{setup: s, fixed: true, plan: plan, measures: map[string]gauge{
		"backlog_at_reconnect": kept(peakBacklog),
		"recovery_s":           kept(answeredAt),
		"metastable":           sameText(func(o *observer) string { return fmt.Sprint(o.own[answeredAt] == 0) }),
		// As long as nobody is answered, so many times the rate is asked for, and the capacity served: the rate at which the
		// two are equal.
		"stable_below": mean(func(o *observer) float64 {
			span := cmp.Or(o.own[answeredAt], longest)
			return (o.own[served] / span) / (o.own[offered] / span / rate)
		}),
	}}}, nil
}

// staleWork returns an experiment on when a queue again completes jobs in time after its capacity was low for a while.
func staleWork(p *params) ([]experiment, error) {
	rate, capacity, factor := p.positive("lam"), p.positive("capacity"), p.positive("factor")
	dip, patience := p.positive("duration"), p.positive("timeout")
	s := fluidQueue(rate, capacity, dip+2000)
	s.storms = []string{storm("dip", calmFor, dip, fmt.Sprintf("slow: {factor: %.9g}", 1/factor))}
	plan := observation{on: watchBacklog(calmFor+dip, patience, capacity)}
	return []experiment{{setup: s, fixed: true, plan: plan, measures: map[string]gauge{
		"backlog":                 kept(peakBacklog),
		"goodput_returns_after_s": kept(timelyAt),
		"drained_after_s":         kept(drainedAt),
	}}}, nil
}

// congested returns an experiment on the number of calls in progress at a service, which takes slope seconds longer for
// each of them, so that they may grow without end. If jobs may have several attempts, all fail.
func congested(p *params) ([]experiment, error) {
	rate, n, base, slope := p.positive("lam"), p.count("attempts"), p.positive("base"), p.positive("slope")
	concurrency := max(math.Floor(base/slope), 1) // what the slope is said relative to
	s := setup{workers: 200_000, lease: "{ttl: 24h, heartbeat: 0s}", retry: noDelay(n), warmup: 3000, window: 2000,
		dependencies: []string{fmt.Sprintf("{name: service, limit: {concurrency: %.0f}, over: {slow: 1}, slows: %s}",
			concurrency, percent(min(slope*concurrency/base, 1)))},
		classes: []string{class("call", poisson(rate), seconds(base), "calls: service", fails(plain.Either(n > 1, 1.0, 0)))}}
	early, late := calmFor, s.warmup+s.window-1
	plan := observation{samples: []engine.Time{engine.Time(duration((early + late) / 2)), engine.Time(duration(late))}}
	return []experiment{{setup: s, plan: plan, measures: map[string]gauge{
		"concurrency": mean(func(o *observer) float64 { return plain.Either(runsAway(o), math.NaN(), o.mean(busy)) }),
		"runs_away":   sameText(func(o *observer) string { return fmt.Sprint(runsAway(o)) }),
	}}}, nil
}

// runsAway reports whether the calls in progress at the end of a run are more than 1.5 times those in its middle.
func runsAway(o *observer) bool {
	return float64(o.sampled[1][busy]) > 1.5*float64(o.sampled[0][busy])
}

// retryBudget returns experiments on a queue whose attempts all fail, with retries limited to a share of first
// attempts: whether the queue grows, and at which rate of first attempts all attempts need the whole capacity.
func retryBudget(p *params) ([]experiment, error) {
	rate, capacity, budget := p.positive("lam"), p.positive("capacity"), p.share("budget")
	build := func(rate float64) setup {
		s := fluidQueue(rate, capacity, 0, fails(1))
		s.policy, s.warmup, s.window = budgetOf(budget), 600, 600
		return s
	}
	own := build(rate)
	half := engine.Time(duration(own.warmup))
	plan := observation{samples: []engine.Time{half, half.Add(duration(own.window) - 1)}}
	return []experiment{
		{setup: own, fixed: true, plan: plan, measures: map[string]gauge{
			"metastable": sameText(func(o *observer) string {
				grown := float64(o.sampled[1][freshReady] - o.sampled[0][freshReady])
				return fmt.Sprint(grown > 0.001*rate*o.length())
			}),
		}},
		// Half of the capacity in first tries: what share of it they use with their retries.
		{setup: build(capacity / 2), fixed: true, measures: map[string]gauge{
			"threshold": mean(func(o *observer) float64 { return o.clockClaims[engine.Fresh] / o.length() / o.mean(busy) }),
		}},
	}, nil
}

// lockstep returns an experiment on how many calls and how much time clients need that all update one row at once, with
// optimistic locking, over a network with a constant delay. The row's parameters are in milliseconds.
func lockstep(p *params) ([]experiment, error) {
	n, base, most, way := p.count("clients"), p.positive("base"), p.positive("cap"), p.positive("net_mean")
	const unit = 1e-3
	backoff := "{kind: none}"
	switch word := p.text("backoff"); word {
	case "none":
	case "full", "equal", "decorrelated", "decorr":
		return nil, fmt.Errorf("backoff %q draws: there is no exact value", word)
	case "exponential", "expo": // base·2^n after the n-th failure
		backoff = fmt.Sprintf("{kind: exponential, first: %s, factor: 2, max: %s}", seconds(2*base*unit), seconds(most*unit))
	default:
		p.wrong("params.backoff: %q is none of none, expo", word)
		return nil, nil
	}
	s := setup{workers: n, warmup: 0, window: 1, drain: 3600 * 24, retry: retry(0, backoff),
		dependencies: []string{fmt.Sprintf("{name: row, conflict: {network: %s}}", seconds(way*unit))},
		classes:      []string{class("client", atOnce(n, 0), "0s", "calls: row")}}
	plan := observation{on: func(o *observer, e *engine.Event) {
		if e.Kind == engine.Finished {
			o.own[0]++
			o.own[1] = float64(e.At) / 1e9 / unit
		}
	}}
	return []experiment{{setup: s, fixed: true, plan: plan, measures: map[string]gauge{
		"calls": same(func(o *observer) float64 { return o.own[0] }),
		"time":  same(func(o *observer) float64 { return o.own[1] }),
	}}}, nil
}

const stormCycles = 100 // number of storms in a replication

// transientStorm returns an experiment on the numbers of jobs in each state over time, in and after a storm in which
// attempts fail with another probability (drawn, as in the model, when an attempt ends). A replication has many storms,
// far enough apart for the queue to forget each before the next.
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
	x.alter = failing(func(now engine.Time) float64 {
		t := math.Mod(now.Seconds()-gap, cycle)
		return plain.Either(t >= window[0] && t < window[1], bad, calm)
	})
	for k, t := range times {
		for key, level := range map[string]func(n, orbit float64) float64{
			".n":                  func(n, _ float64) float64 { return n },
			".orbit":              func(_, orbit float64) float64 { return orbit },
			".waiting":            func(n, _ float64) float64 { return max(n-float64(c), 0) },
			".fresh_virtual_wait": func(n, _ float64) float64 { return max(n-float64(c)+1, 0) / (float64(c) * mu) },
		} {
			name := "at." + strconv.FormatFloat(t, 'f', -1, 64) + key
			x.measures[name] = gauge{shape: ofCurve, peak: peakOf(p.expected, key), of: func(o *observer) float64 {
				sum := 0.0
				for i := range stormCycles {
					l := &o.sampled[i*len(times)+k]
					sum += level(float64(l[freshReady]+l[retryReady]+l[inFlight]), float64(l[waiting]))
				}
				return sum / stormCycles
			}}
		}
	}
	return []experiment{x}, nil
}

// curveTimes returns, ascending, the times in the paths at.TIME.NAME of expected values, which are points of curves.
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

// peakOf returns the highest point of a curve: of the expected values whose paths end in end.
func peakOf(expected []item, end string) float64 {
	peak := 0.0
	for _, it := range expected {
		if v, ok := it.value.(float64); ok && strings.HasSuffix(it.path, end) {
			peak = max(peak, v)
		}
	}
	return peak
}

// failing returns a function for experiment.alter by which an attempt fails, when it ends, with the probability that
// chance returns for that virtual time.
func failing(chance func(now engine.Time) float64) func(cfg *sim.Config, o *observer) {
	return func(cfg *sim.Config, _ *observer) {
		rand := cfg.Nodes[0].Rand
		cfg.Handlers = &failAtEnd{cfg.Handlers, func(now engine.Time, j *engine.Job) bool {
			return rand.Uniform(keyed.ForFailure, uint64(j.ID), uint64(j.Delivery), 0) < chance(now)
		}}
	}
}

// failAtEnd wraps a simulation's handlers so that its function fails decides, when an attempt ends, whether it failed.
type failAtEnd struct {
	sim.Handlers
	fails func(now engine.Time, j *engine.Job) bool
}

// Begin returns the wrapped handlers' execution with its outcome left open: Decide is called when it ends.
func (f *failAtEnd) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := f.Handlers.Begin(now, node, j)
	x.Undecided = true
	return x
}

// Decide returns the error kind of an execution that ends now: engine.FirstErrorKind if it fails, else engine.NoError.
func (f *failAtEnd) Decide(now engine.Time, _ int32, j *engine.Job) engine.ErrorKind {
	return plain.Either(f.fails(now, j), engine.FirstErrorKind, engine.NoError)
}
