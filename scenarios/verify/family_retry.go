package verify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/results"
	"qsim/results/plain"
)

// Jobs that fail and come again.

// meanAttempts returns the mean number of attempts of a job, at most most (0: no limit), that fail with probability p.
func meanAttempts(p float64, most int) float64 {
	if most == 0 {
		return 1 / (1 - p)
	}
	if p == 1 {
		return float64(most)
	}
	return (1 - math.Pow(p, float64(most))) / (1 - p)
}

// independentFailures returns the family of models in which attempts fail by chance and a worker is always free, so
// that only the number of attempts matters. of reads the probability of failure and the limit on attempts from a row.
func independentFailures(of func(p *params) (float64, int)) family {
	return func(p *params) ([]experiment, error) {
		failing, most := of(p)
		s := setup{workers: 1000, retry: noDelay(most), warmup: 1, window: 50, drain: 50,
			classes: []string{class("job", poisson(1000), "1ms", fails(failing))}}
		return []experiment{{setup: s, others: true}}, nil
	}
}

// feedback returns an experiment on rates and waits in a queue to which failed jobs return after a backoff, placed by
// due time. A list of backoffs means constant delays, a single one the mean of exponential delays.
func feedback(p *params) ([]experiment, error) {
	rate, own, c := p.positive("lam"), exponentialService(p), p.count("c")
	fail, most := p.share("p"), p.limit("max_attempts")
	delays := p.numbers("backoff_mean")
	backoff, longest := "{kind: none}", slices.Max(delays)
	if len(delays) > 1 {
		backoff = "{kind: table, delays: [" + strings.Join(plain.Map(delays, seconds), ", ") + "]}"
	} else if longest > 0 {
		backoff = randomDelay(longest)
	}
	return retrying(rate, own, c, fail, most, backoff, longest, "{kind: fifo}"), nil
}

// retrying returns an experiment on one class at c workers. Attempts fail with probability fail and are retried, up to
// most of a job, after the backoff, whose longest mean is delay seconds.
func retrying(
	rate float64, own service, c int, fail float64, most int, backoff string, delay float64, policy string,
) []experiment {
	load := rate * meanAttempts(fail, most) * own.mean / float64(c)
	s := setup{workers: c, retry: retry(most, backoff), policy: policy,
		classes: []string{class("job", poisson(rate), own.text, fails(fail))}}
	s.horizon(relaxation(load, float64(c)/own.mean, 1)+delay*meanAttempts(fail, most), rate)
	return []experiment{{setup: s, load: load, others: true}}
}

// feedbackAtOnce returns an experiment on sojourn times in an M/G/1 queue whose failed jobs rejoin its end at once.
func feedbackAtOnce(p *params) ([]experiment, error) {
	rate, fail := p.positive("lam"), p.share("p")
	own := byMoments(p, "m1", "m2")
	load := rate * own.mean / (1 - fail)
	s := setup{workers: 1, classes: []string{class("job", poisson(rate), own.text, fails(fail))}}
	s.horizon(2*relaxation(load, 1/own.mean, max(own.cv, 1)), rate)
	return []experiment{{setup: s, load: load, others: true}}, nil
}

// decorrelatedDrawn returns an experiment on the delay before retry n under decorrelated jitter with a cap, in ms.
func decorrelatedDrawn(p *params) ([]experiment, error) {
	base, most, n := p.positive("base"), p.positive("cap"), p.count("retry")
	const unit = 1e-3
	policy := fmt.Sprintf("{max-attempts: %d, backoff: {kind: exponential, first: %s, max: %s}, jitter: decorrelated, "+
		"never: []}", n+1, seconds(base*unit), seconds(most*unit))
	s := setup{workers: manyWorkers, retry: policy, warmup: 1, window: 20,
		classes: []string{class("job", poisson(1000), "1us", fails(1))}}
	s.drain = 10 + float64(n)*most*unit
	limit := duration(most * unit)
	plan := observation{on: func(o *observer, e *engine.Event) {
		if e.Kind != engine.Nacked || int(e.Delivery) != n || !o.inWindow(e.At-engine.Time(e.Age)) {
			return
		}
		o.list = append(o.list, e.Delay.Seconds()/unit)
		if e.Delay >= limit {
			o.own[0]++
		}
	}}
	count := func(o *observer) float64 { return float64(len(o.list)) }
	return []experiment{{setup: s, plan: plan, measures: map[string]gauge{
		"mean":     mean(listed(results.MeanOf)),
		"var":      moment(listed(spread)),
		"p_at_cap": shareBy(func(o *observer) float64 { return o.own[0] / count(o) }, count),
	}}}, nil
}

// overload returns an experiment on the share of calls rejected by a dependency that serves a fixed rate and rejects
// the rest at once, with retries. Rates are scaled to at most 1000 calls a second, which changes no ratio. Arrivals
// come at equal gaps, as in a fluid, but each is moved by up to a second: no call comes at a better time than another.
func overload(p *params) ([]experiment, error) {
	rate, capacity, n := p.positive("lam"), p.positive("capacity"), p.count("attempts")
	if rate <= capacity {
		return nil, fmt.Errorf("%g calls a second are no overload of %g", rate, capacity)
	}
	scale := max(capacity/1000, 1)
	const backoff = 0.1 // backoff in seconds; its length does not matter
	s := setup{workers: 1000, retry: retry(n, randomDelay(backoff)),
		dependencies: []string{fmt.Sprintf("{name: service, limit: {rate: %s}, over: {fail: 100%%, rejects-in: 0s}}",
			perSecond(capacity/scale))},
		classes: []string{class("call", equalGaps(rate/scale), "1ms", "calls: service")}}
	// The limiter has saved up a second of calls, which the excess must use up first; then attempts grow by the excess in
	// each backoff until the limit on them binds.
	s.warmup = math.Ceil((2 + 3*backoff*float64(n)) * rate / (rate - capacity))
	s.window, s.drain = 60, 60
	rejected := func(o *observer) float64 { return 1 - o.sum(done)/o.sum(claims) }
	moved := func(cfg *sim.Config, _ *observer) {
		rand := cfg.Nodes[0].Rand
		cfg.EnqueueDelay = func(_ engine.Time, j *engine.NewJob) time.Duration {
			return duration(rand.Uniform(keyed.ForRequestDelay, uint64(j.ID), 0, 0))
		}
	}
	return []experiment{{setup: s, others: true, alter: moved, measures: map[string]gauge{
		"reject_prob":  mean(rejected),
		"attempt_rate": mean(func(o *observer) float64 { return scale * o.claimed(engine.Fresh, engine.Retry) / o.length() }),
	}}}, nil
}

// tokenBucket returns experiments on load, success and knee (see kneeOf) of a retry budget. Retries beyond it wait.
func tokenBucket(p *params) ([]experiment, error) {
	fill, failure := p.share("fill"), p.share("failure")
	budget := func(rate, failure float64) setup {
		return setup{workers: 100, policy: budgetOf(fill),
			classes: []string{class("call", poisson(rate), "1ms", fails(failure))}, warmup: 100, window: 1000}
	}
	perCall := func(o *observer) float64 {
		return o.claimed(engine.Fresh, engine.Retry) / o.sum(enqueued)
	}
	own := experiment{setup: budget(100, failure), measures: map[string]gauge{
		"load_per_call": mean(perCall),
		"success":       mean(func(o *observer) float64 { return o.clockDone / o.sum(enqueued) }),
	}}
	all := []experiment{own}
	if knee := p.expects("knee_failure_rate"); knee > 0 && knee*(1+besideKnee) < 1 {
		all = append(all, kneeOf(budget(kneeRate, 0), knee, fill))
	}
	return all, nil
}

const (
	besideKnee = 0.1 // relative distance from the knee of the two rates
	kneeRate   = 200 // calls a second
	kneeTurn   = 400 // half of the window in seconds: chance is then a fifth of the difference
	kneeSettle = 100 // seconds after which earlier savings are used up
)

// kneeOf returns an experiment that locates a retry budget's knee: the failure rate 1-1/load, at which unlimited
// retries would be as many as the budget pays for. Calls fail at a rate a tenth below the expected knee, then a tenth
// above; the knee is between the two if every call succeeds in the end at the first rate, and not at the second.
func kneeOf(s setup, knee, fill float64) experiment {
	s.warmup, s.window = kneeSettle, 2*kneeTurn
	turn := s.warmup + kneeTurn
	x := experiment{setup: s, alter: failing(func(now engine.Time) float64 {
		return knee * plain.Either(now.Seconds() < turn, 1-besideKnee, 1+besideKnee)
	})}
	const calls, claimed, succeeded, side = 0, 1, 2, 3 // of own: before the turn, and as many after it
	x.plan.on = func(o *observer, e *engine.Event) {
		now, at := e.At.Seconds(), 0
		switch {
		case !o.inWindow(e.At) || now >= turn && now < turn+kneeSettle:
			return
		case now >= turn:
			at = side
		}
		switch e.Kind {
		case engine.Enqueued:
			o.own[at+calls]++
		case engine.Leased:
			o.own[at+claimed]++
		case engine.Acked:
			o.own[at+succeeded]++
		}
	}
	// Retries not paid for above the knee, as a share of the calls: half of it separates the sides.
	above := knee * (1 + besideKnee)
	enough := 1 - (1-(1+fill)*(1-above))/2
	x.measures = map[string]gauge{"knee_failure_rate": mean(func(o *observer) float64 {
		alike := o.own[succeeded]/o.own[calls] < enough || o.own[side+succeeded]/o.own[side+calls] > enough
		return plain.Either(alike, math.NaN(), 1-o.own[side+calls]/o.own[side+claimed])
	})}
	return x
}

// Moments of the delays that retry policies set, to the last digit: a delay is a linear function of each uniform number
// it is made of, so that two nodes of Gauss and Legendre for each give the exact mean and variance.

// exactly returns an experiment whose measurements, by name, are these numbers: nothing is simulated.
func exactly(values map[string]float64) []experiment {
	x := experiment{fixed: true, known: true, measures: map[string]gauge{}}
	for name, v := range values {
		x.measures[name] = same(func(*observer) float64 { return v })
	}
	return []experiment{x}
}

// delayUnit is the Go duration for a delay of 1 in a row, so long that the rounding to nanoseconds does not show.
const delayUnit = 10_000 * time.Second

// nodes holds the points of two-point Gauss-Legendre quadrature on (0, 1), each of weight 1/2.
var nodes = [2]float64{0.5 - 0.5/math.Sqrt(3), 0.5 + 0.5/math.Sqrt(3)}

// nearZero and nearOne are draws so close to 0 and 1 that they give the least and the greatest delay.
const (
	nearZero = 1e-16
	nearOne  = 1 - 1e-16
)

func jitterMoments(p *params) ([]experiment, error) {
	kind, err := policies.ParseJitter(p.text("kind"))
	if err != nil {
		p.wrong("params.kind: %w", err)
		return nil, nil
	}
	if kind.Kind == policies.Decorrelated {
		return decorrelatedMoments(p)
	}
	b := &policies.Backoff{Kind: policies.Exponential, First: scaledUnit(p.positive("base")),
		Factor: p.positive("factor"), Max: scaledUnit(p.positive("cap")), Jitter: kind}
	if err := b.Validate(); err != nil {
		p.wrong("params: %w", err)
		return nil, nil
	}
	j := engine.Job{Failures: int32(p.count("retry")) - 1, Charged: 1}
	delay := func(u float64) float64 {
		_, d := b.Next(&j, engine.FirstErrorKind, u)
		return float64(d) / float64(delayUnit)
	}
	low, high := delay(nodes[0]), delay(nodes[1])
	return exactly(map[string]float64{"mean": (low + high) / 2, "var": (low - high) * (low - high) / 4,
		"min": delay(nearZero), "max": delay(nearOne)}), nil
}

func scaledUnit(v float64) time.Duration { return time.Duration(math.Round(v * float64(delayUnit))) }

// mostNodes is the highest n for which decorrelatedMoments looks at the delay before retry n: that takes 2^n steps.
const mostNodes = 12

// decorrelatedMoments returns an experiment with the exact moments of the delay before retry n under decorrelated
// jitter without a cap, where each delay is drawn from a range given by the one before.
func decorrelatedMoments(p *params) ([]experiment, error) {
	n := p.count("retry")
	if n > mostNodes {
		return nil, fmt.Errorf("retry %d: at most the %dth is looked at", n, mostNodes)
	}
	if p.has("cap") {
		return nil, fmt.Errorf("with a cap a delay is no linear function: see decorr_cap")
	}
	b := &policies.Backoff{Kind: policies.Fixed, First: scaledUnit(p.positive("base")) / 100,
		Jitter: policies.Jitter{Kind: policies.Decorrelated}}
	last := func(u func(i int) float64) float64 {
		j := engine.Job{Charged: 1}
		for i := range n {
			_, j.LastDelay = b.Next(&j, engine.FirstErrorKind, u(i))
			j.Failures++
		}
		return 100 * float64(j.LastDelay) / float64(delayUnit)
	}
	sum, squares := 0.0, 0.0
	for way := range 1 << n {
		v := last(func(i int) float64 { return nodes[way>>i&1] })
		sum, squares = sum+v, squares+v*v
	}
	ways := float64(int(1) << n)
	m := sum / ways
	return exactly(map[string]float64{"mean": m, "var": squares/ways - m*m,
		"min": last(func(int) float64 { return nearZero }), "max": last(func(int) float64 { return nearOne })}), nil
}
