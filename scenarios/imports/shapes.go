package imports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/engine"
	"qsim/policies"
	"qsim/scenarios"
)

// shaped is what pauses may come from: keys of `retry`, and whether they say the pauses again.
type shaped struct {
	keys   []string
	family bool // not a table of what was seen
	exact  bool
	pauses []Pause // with what the keys say
	notes  []string
}

// shape recognises jitter and family from the pauses after each number of failures. The jitter is
// what the shortest and longest pauses say, unless no family of backoffs goes with it and
// another way of pausing does: jitter that grows by itself, jitter of one width, or the
// formula of a system.
func (r *Retry) shape(pauses []Pause, blur float64) {
	best := r.usual(pauses, blur)
	for _, other := range []func([]Pause, float64) *shaped{r.decorrelated, r.widened, r.ofSystem} {
		if best.family && best.exact {
			break
		}
		if found := other(pauses, blur); found != nil && found.exact && found.family {
			best = found
		}
	}
	r.Keys, r.Pauses, r.Exact = best.keys, best.pauses, best.exact
	r.Notes = append(r.Notes, best.notes...)
}

// usual is a family of backoffs with jitter that is a share of each delay.
func (r *Retry) usual(pauses []Pause, blur float64) *shaped {
	how := spreadOf(pauses, blur)
	s := r.familiar(pauses, blur, how)
	if last := how.base(ends(&pauses[len(pauses)-1])); blur > 0.25*last {
		s.notes = append(s.notes, "the pauses are blurred by waits or run times about as long: a column with the due time of each attempt would tell more")
	}
	if !s.family {
		s.notes = append(s.notes, "no family of backoffs fits: the delays themselves stand in a table")
	}
	return s
}

// familiar finds the family of the delays that are left of the pauses without their jitter.
func (r *Retry) familiar(pauses []Pause, blur float64, how spread) *shaped {
	bases := make([]float64, len(pauses))
	for i := range pauses {
		bases[i] = how.base(ends(&pauses[i]))
	}
	backoff, family, alike := familyOf(pauses, bases)
	s := sayAgain(append(slices.Clone(r.Keys), "backoff: "+backoff, "jitter: "+how.text), pauses, blur)
	s.family = family
	if len(alike) > 1 {
		s.notes = append(s.notes, "two different pauses fit "+strings.Join(alike, ", ")+" alike: "+alike[0]+" is what most systems have; more attempts on record would tell")
	}
	return s
}

// sayAgain compares pauses with what keys say of them.
func sayAgain(keys []string, pauses []Pause, blur float64) *shaped {
	s := &shaped{keys: keys, family: true, pauses: slices.Clone(pauses)}
	b, err := backoffOf(keys)
	if err != nil {
		return s
	}
	s.exact = true
	for i := range s.pauses {
		p := &s.pauses[i]
		p.Said = said(b, p.N)
		for k := range p.Said {
			off := math.Abs(p.Said[k] - p.Recorded[k])
			s.exact = s.exact && off <= 0.15*p.Said[2]+blur+0.01
		}
	}
	return s
}

// decorrelated is jitter that draws each pause from the first delay up to three times the pause
// before: the shortest pauses stay what they are, the longest ones triple up to a bound.
func (r *Retry) decorrelated(pauses []Pause, blur float64) *shaped {
	if len(pauses) < 2 || pauses[0].N != 1 {
		return nil
	}
	low, high := ends(&pauses[0])
	first, most := (low+high)/4, 0.0
	if first <= 0 {
		return nil
	}
	for i := range pauses {
		most = max(most, pauses[i].Recorded[2])
	}
	backoff := "backoff: {kind: exponential, first: " + spellRound(first)
	for _, bound := range []string{"", ", max: " + spellRound(most)} {
		s := sayAgain(append(slices.Clone(r.Keys), backoff+bound+"}", "jitter: decorrelated"), pauses, blur)
		if s.exact {
			return s
		}
	}
	return nil
}

// widened is jitter that adds as much to every delay, whatever its length.
func (r *Retry) widened(pauses []Pause, blur float64) *shaped {
	sum, weight := 0.0, 0.0
	for i := range pauses {
		low, high := ends(&pauses[i])
		w := float64(pauses[i].Seen)
		sum, weight = sum+w*(high-low), weight+w
	}
	width := sum / weight
	for i := range pauses {
		if low, high := ends(&pauses[i]); math.Abs(high-low-width) > (0.1+3/math.Sqrt(float64(pauses[i].Seen)))*width+blur {
			return nil
		}
	}
	middle := func(low, high float64) float64 { return max(0, (low+high-width)/2) }
	return r.familiar(pauses, blur, spread{`"+` + spellRound(width) + `"`, middle})
}

// ofSystem is the formula of a system that a preset has.
func (r *Retry) ofSystem(pauses []Pause, blur float64) *shaped {
	var names []string
	for _, p := range scenarios.Presets() {
		if p.Retry == nil {
			continue
		}
		b := presetBackoff(p.Name)
		if b.Kind != policies.NoBackoff && (&Retry{}).follows(pauses, b, blur, 0) {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	keys := []string{"preset: " + names[0]}
	for _, key := range r.Keys {
		if key != unlimited { // the preset's own limit stands in
			keys = append(keys, key)
		}
	}
	s := sayAgain(keys, pauses, blur)
	s.exact = true // by a closer test
	if len(names) > 1 {
		s.notes = append(s.notes, fmt.Sprintf("the pauses are those of %s alike", strings.Join(names, ", ")))
	} else {
		s.notes = append(s.notes, "the pauses are those of "+names[0])
	}
	return s
}

// presetBackoff is the formula of a retry preset.
func presetBackoff(name string) *policies.Backoff {
	text := "name: a\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\nretry: {preset: " + name + "}\npolicies: [{kind: fifo}]\n"
	sc, problems := scenarios.Load("a.yaml", []byte(text), nil)
	if sc == nil {
		panic("imports: " + problems.Errors()[0].Message)
	}
	b, err := sc.RetryPolicy(0)
	if err != nil {
		panic("imports: " + err.Error())
	}
	return b
}

// said is what a backoff says of the pause after n failures.
func said(b *policies.Backoff, n int) (q [3]float64) {
	free := *b
	free.MaxAttempts, free.Never, free.Deadline = 0, nil, 0
	if free.Jitter.Kind() == policies.Decorrelated && n > 1 {
		return saidByChains(&free, n)
	}
	for k, u := range []float64{0.05, 0.5, 0.95} {
		_, delay := free.Next(&engine.Job{Failures: int32(n - 1)}, engine.Panicked, u)
		q[k] = delay.Seconds()
	}
	return q
}

// grain is how far apart pauses after n failures are that differ at all, s: of drawn whole seconds a
// quantile is this one or that.
func grain(b *policies.Backoff, n int) float64 {
	if b.Jitter.Kind() != policies.Added {
		return 0
	}
	a := b.Jitter.Addend()
	if a.Grows == policies.GrowDraw {
		return float64(n) * a.Step.Seconds()
	}
	return a.Step.Seconds()
}

// chains is how many jobs are drawn to know the percentiles of decorrelated jitter, where each pause
// depends on the one before. They are known to some percent.
const chains = 4000

// saidByChains is what decorrelated jitter says of the pause after n failures.
func saidByChains(b *policies.Backoff, n int) (q [3]float64) {
	rand, delays := engine.Rand{Seed: 1}, make([]float64, chains)
	for i := range delays {
		job := engine.Job{}
		for k := range n {
			var delay time.Duration
			job.Failures = int32(k)
			_, delay = b.Next(&job, engine.Panicked, rand.Uniform(engine.ForRunTime, uint64(i), uint64(k), 0))
			job.LastDelay = delay
		}
		delays[i] = job.LastDelay.Seconds()
	}
	slices.Sort(delays)
	for k, share := range []float64{0.05, 0.5, 0.95} {
		q[k] = quantile(delays, share)
	}
	return q
}
