package imports

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios"
)

// percentiles lists the probabilities of the quantiles by which the pauses between attempts are described.
var percentiles = [3]float64{0.05, 0.5, 0.95}

// fitPauses infers the backoff formula and its jitter from the recorded pauses between attempts, which may exceed the
// delays by up to blur seconds. It first takes the jitter to be proportional to the delay; if no formula fits then, it
// tries decorrelated jitter, jitter of one width for all delays, and the formulas of known job systems.
func (r *Retry) fitPauses(pauses []Pause, blur float64) *Retry {
	best := r.usual(pauses, blur)
	for _, other := range []func([]Pause, float64) *Retry{r.decorrelated, r.widened, r.ofSystem} {
		if best.family && best.Exact {
			break
		}
		if found := other(pauses, blur); found != nil && found.Exact && found.family {
			best = found
		}
	}
	return best
}

// usual fits a backoff formula whose jitter is proportional to the delay to the recorded pauses between attempts.
func (r *Retry) usual(pauses []Pause, blur float64) *Retry {
	how := jitterOf(pauses, blur)
	found := r.familiar(pauses, blur, how)
	if last := how.base(pauses[len(pauses)-1].ends()); blur > 0.25*last {
		found.note("the pauses are blurred by waits or run times about as long: a column with the due time of each attempt " +
			"would show more")
	}
	if !found.family {
		found.note("no family of backoffs fits: the delays themselves stand in a table")
	}
	return found
}

// familiar fits a backoff formula to the base delays: the recorded pauses between attempts without the given jitter.
func (r *Retry) familiar(pauses []Pause, blur float64, how jitter) *Retry {
	bases := plain.Map(pauses, func(p Pause) float64 { return how.base(p.ends()) })
	backoff, family, alike := familyOf(pauses, bases)
	found := r.with(pauses, blur, append(slices.Clone(r.Keys), "backoff: "+backoff, "jitter: "+how.text))
	if found.family = family; len(alike) > 1 {
		found.note("two different pauses fit %s alike: %s is what most systems have; more recorded attempts would decide",
			strings.Join(alike, ", "), alike[0])
	}
	return found
}

// decorrelated fits decorrelated jitter, which draws each pause from the first delay up to three times the pause
// before: the shortest pauses stay equal, the longest triple up to a bound.
func (r *Retry) decorrelated(pauses []Pause, blur float64) *Retry {
	low, high := pauses[0].ends()
	first := (low + high) / 4
	if len(pauses) < 2 || pauses[0].N != 1 || first <= 0 {
		return nil
	}
	most := slices.Max(plain.Map(pauses, func(p Pause) float64 { return p.Recorded[2] }))
	for _, bound := range []string{"", ", max: " + spellRound(most)} {
		backoff := "backoff: {kind: exponential, first: " + spellRound(first) + bound + "}"
		if found := r.with(pauses, blur, append(slices.Clone(r.Keys), backoff, "jitter: decorrelated")); found.Exact {
			return found
		}
	}
	return nil
}

// widened fits a backoff whose jitter has one width, whatever the delay; nil if the recorded widths differ.
func (r *Retry) widened(pauses []Pause, blur float64) *Retry {
	widths := plain.Map(pauses, func(p Pause) float64 { low, high := p.ends(); return high - low })
	width := weighted(pauses, widths)
	for i, own := range widths {
		if math.Abs(own-width) > (0.1+3/math.Sqrt(float64(pauses[i].Seen)))*width+blur {
			return nil
		}
	}
	middle := func(low, high float64) float64 { return max(0, (low+high-width)/2) }
	return r.familiar(pauses, blur, jitter{`"+` + spellRound(width) + `"`, middle})
}

// ofSystem returns the retry preset of a known job system that the recorded pauses follow; nil if there is none.
func (r *Retry) ofSystem(pauses []Pause, blur float64) *Retry {
	var names []string
	for _, p := range scenarios.Presets() {
		if p.Retry.IsZero() {
			continue
		}
		b := presetBackoff(p.Name)
		if _, ok := follow(pauses, b, blur, 0); ok && b.Kind != policies.NoBackoff {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	own := func(key string) bool { return key == unlimited } // the preset's own limit stands in
	found := r.with(pauses, blur, append([]string{"preset: " + names[0]}, slices.DeleteFunc(slices.Clone(r.Keys), own)...))
	found.Exact = true // by a closer test
	found.note("the pauses are those of %s%s", strings.Join(names, ", "), plain.When(len(names) > 1, " alike"))
	return found
}

// with returns a copy of inferred retry settings with other keys and the pauses between attempts that these predict;
// Exact is set if the recorded pauses agree.
func (r *Retry) with(pauses []Pause, blur float64, keys []string) *Retry {
	found := *r
	found.Keys, found.family, found.Pauses, found.Notes = keys, true, pauses, slices.Clone(r.Notes)
	if b, err := backoffOf(keys); err == nil {
		found.Pauses, found.Exact = beside(pauses, b, func(p *Pause, off float64, _ int) bool {
			return math.Abs(off) <= 0.15*p.Said[2]+blur+0.01
		})
	}
	return &found
}

// follow reports whether a backoff fits the recorded pauses closely, and returns these with those it predicts. promoter
// is the longest time, in s, that a due retry waits for the promoter, which makes due jobs ready.
func follow(pauses []Pause, b *policies.Backoff, blur, promoter float64) ([]Pause, bool) {
	return beside(pauses, b, func(p *Pause, off float64, k int) bool {
		spread := max(p.Said[2]-p.Said[0], 0.1*p.Said[1])
		noise := 0.5 * spread * math.Sqrt(20/float64(max(20, p.Seen)))
		if k == 1 {
			noise = 2 * spread / math.Sqrt(float64(p.Seen))
		}
		noise += grain(b, p.N) + blur
		return off >= -noise-promoter/30-0.01 && off <= noise+promoter+0.01
	})
}

// beside returns the recorded pauses between attempts with the percentiles that a backoff predicts for each, and
// whether near accepts all differences.
func beside(pauses []Pause, b *policies.Backoff, near func(p *Pause, off float64, k int) bool) ([]Pause, bool) {
	all, ok := slices.Clone(pauses), true
	for i := range all {
		p := &all[i]
		p.Said = pauseOf(b, p.N)
		for k := range p.Said {
			ok = ok && near(p, p.Recorded[k]-p.Said[k], k)
		}
	}
	return all, ok
}

// jitter is a kind of retry jitter, with the function that infers the delay without it from the range of the pauses.
type jitter struct {
	text string                          // in scenario syntax: full, ±10%
	base func(low, high float64) float64 // delay, in s, of pauses between low and high
}

// ends returns the bounds, in s, of the uniform distribution that has the recorded percentiles of a pause.
func (p *Pause) ends() (low, high float64) {
	width := (p.Recorded[2] - p.Recorded[0]) / 0.9
	return max(0, p.Recorded[0]-0.05*width), p.Recorded[2] + 0.05*width
}

// jitterOf distinguishes none, full, equal and ±x% jitter by the ratio of the shortest to the longest pause, which does
// not depend on the delay. Jitter that only adds or only subtracts is, with another base, the same distribution as ±x%.
func jitterOf(pauses []Pause, blur float64) jitter {
	// The pauses weigh as their numbers do, those blurred least by waits most.
	sum, weight, seen, blurred := 0.0, 0.0, int64(0), 0.0
	for i := range pauses {
		p := &pauses[i]
		low, high := p.ends()
		if high <= 0 {
			continue
		}
		seen, blurred = seen+p.Seen, max(blurred, blur/high)
		w := math.Sqrt(float64(p.Seen)) * high / (high + 4*blur)
		sum, weight = sum+w*low/high, weight+w
	}
	ratio := plain.Either(weight > 0, sum/weight, 1)
	// Half of the delay is also nearly that of ±30%: chance and waits say how near is the same.
	halved := min(0.06, 0.015+0.3/math.Sqrt(float64(max(seen, 1)))+blurred)
	middle := func(low, high float64) float64 { return (low + high) / 2 }
	top := func(_, high float64) float64 { return high }
	switch {
	case ratio < 0.12:
		return jitter{"full", top}
	case math.Abs(ratio-0.5) < halved:
		return jitter{"equal", top}
	case ratio > 0.97:
		return jitter{"none", middle}
	}
	share := (1 - ratio) / (1 + ratio)
	percent := whole(100 * share)
	if near := 5 * whole(percent/5); math.Abs(near-100*share) <= 1.5 && near > 0 {
		percent = near
	}
	return jitter{"±" + strconv.Itoa(int(percent)) + "%", middle}
}

// backoffOf parses keys of a scenario's `retry` section, such as "max-attempts: 5", into the backoff that they mean.
func backoffOf(keys []string) (*policies.Backoff, error) {
	text := "name: a\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\nretry: {" +
		strings.Join(keys, ", ") + "}\npolicies: [{kind: fifo}]\n"
	sc, problems := scenarios.Load("a.yaml", []byte(text), nil)
	if sc == nil {
		return nil, errors.New(problems.Errors()[0].Message)
	}
	return sc.RetryPolicy(0)
}

func presetBackoff(name string) *policies.Backoff {
	return plain.Must(backoffOf([]string{"preset: " + name}))
}

// chains is the number of simulated jobs from which percentiles of decorrelated jitter are estimated, to some percent.
const chains = 4000

// pauseOf returns the 5th, 50th and 95th percentiles of a backoff's pause after n failures, in s.
func pauseOf(b *policies.Backoff, n int) (q [3]float64) {
	free := *b
	free.MaxAttempts, free.Never = 0, nil
	if free.Jitter.Kind != policies.Decorrelated || n == 1 {
		for k, u := range percentiles {
			_, delay := free.Next(&engine.Job{Failures: int32(n - 1)}, engine.Panicked, u)
			q[k] = delay.Seconds()
		}
		return q
	}
	rand, delays := keyed.Rand{Seed: 1}, make([]float64, chains)
	for i := range delays {
		job := engine.Job{}
		for k := range n {
			job.Failures = int32(k)
			_, job.LastDelay = free.Next(&job, engine.Panicked, rand.Uniform(keyed.ForRunTime, uint64(i), uint64(k), 0))
		}
		delays[i] = job.LastDelay.Seconds()
	}
	slices.Sort(delays)
	for k, share := range percentiles {
		q[k] = quantile(delays, share)
	}
	return q
}

// grain returns the granularity, in s, of a backoff's delays after n failures, so of their quantiles, too: some systems
// draw jitter in whole seconds. It is 0 for continuous delays.
func grain(b *policies.Backoff, n int) float64 {
	if b.Jitter.Kind != policies.Added {
		return 0
	}
	a := b.Jitter.Addend
	return float64(plain.Either(a.Grows == policies.GrowDraw, n, 1)) * a.Step.Seconds()
}
