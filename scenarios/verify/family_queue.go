package verify

import (
	"fmt"
	"math"
)

// Queues whose jobs all succeed.

// usualJobs is how many jobs a replication has at least.
const usualJobs = 50_000

// plainQueue is one class at c workers, first come, first served.
func plainQueue(rate, mean, cv float64, c int, service string) []experiment {
	load := rate * mean / float64(c)
	s := setup{workers: c, classes: []string{class("job", poisson(rate), service)}}
	s.horizon(relaxation(load, float64(c)/mean, cv), rate, usualJobs)
	return []experiment{{setup: s, load: load, others: true}}
}

func markovian(p *params) ([]experiment, error) {
	rate, mean := p.positive("lam"), 1/p.positive("mu")
	return plainQueue(rate, mean, 1, p.count("c"), exponential(mean)), nil
}

func deterministic(p *params) ([]experiment, error) {
	c := 1
	if p.has("c") {
		c = p.count("c")
	}
	d := p.positive("D")
	return plainQueue(p.positive("lam"), d, 0, c, seconds(d)), nil
}

func lognormal(p *params) ([]experiment, error) {
	mean, cv := p.positive("mean"), p.positive("cv")
	x := plainQueue(p.positive("lam"), mean, cv, 1, fmt.Sprintf("{dist: lognormal, mean: %s, cv: %g}", seconds(mean), cv))
	x[0].heavy = cv > 1 // the spread of the second moment of waits depends on the fifth of services: (1+cv²)^10
	return x, nil
}

func hyperexponential(p *params) ([]experiment, error) {
	mean, cv := p.positive("mean"), p.positive("cv")
	return plainQueue(p.positive("lam"), mean, cv, 1, fmt.Sprintf("{dist: hyperexponential, mean: %s, cv: %g}", seconds(mean), cv)), nil
}

// byMoments is a service time with these first two moments, where no further ones matter.
func byMoments(p *params, first, second string) (service string, mean, cv float64) {
	mean = p.positive(first)
	square := p.positive(second)/(mean*mean) - 1
	if square < -1e-9 {
		p.wrong("params.%s: it is less than the square of %s", second, first)
	}
	cv = math.Sqrt(max(square, 0))
	switch {
	case cv < 1e-6:
		return seconds(mean), mean, 0
	case cv < 1-1e-9:
		return fmt.Sprintf("{dist: gamma, mean: %s, cv: %.9g}", seconds(mean), cv), mean, cv
	case cv < 1+1e-9:
		return exponential(mean), mean, 1
	}
	return fmt.Sprintf("{dist: hyperexponential, mean: %s, cv: %.9g}", seconds(mean), cv), mean, cv
}

// priorities is two classes, the first of which goes before.
func priorities(p *params) ([]experiment, error) {
	high, low, mean, c := p.positive("lam_high"), p.positive("lam_low"), 1/p.positive("mu"), p.count("c")
	load := (high + low) * mean / float64(c)
	s := setup{workers: c, classes: []string{
		class("high", poisson(high), exponential(mean), "priority: 0"),
		class("low", poisson(low), exponential(mean), "priority: 1"),
	}}
	// The low class sees a server that the high one slows down.
	slowed := relaxation(load, float64(c)/mean, 1) / (1 - high*mean/float64(c))
	s.horizon(slowed, high+low, usualJobs)
	return []experiment{{setup: s, load: load, others: true, measures: classWaits()}}, nil
}

// classWaits are the waits of the first class, high, and of the second, low.
func classWaits() map[string]gauge {
	all := map[string]gauge{}
	for i, name := range []string{"wait_high", "wait_low"} {
		all[name] = mean(func(o *observer) float64 {
			c := &o.class[i]
			return firstWait(c) / firsts(c)
		})
		for _, q := range []int{50, 90, 95, 99} {
			all[fmt.Sprintf("%s_p%d", name, q)] = quantileOf(float64(q)/100, firstWaits, i, 1.0)
		}
	}
	return all
}

func prioritiesByMoments(p *params) ([]experiment, error) {
	list := p.objects("classes")
	var s setup
	var load, rates, most float64
	for i, c := range list {
		rate := c.positive("lam")
		service, mean, cv := byMoments(c, "m1", "m2")
		p.problems = append(p.problems, c.problems...)
		load, rates, most = load+rate*mean, rates+rate, max(most, cv)
		s.classes = append(s.classes, class(fmt.Sprintf("c%d", i), poisson(rate), service, fmt.Sprintf("priority: %d", i)))
	}
	if len(list) != 2 {
		return nil, fmt.Errorf("%d classes: only two are measured", len(list))
	}
	s.workers = 1
	s.horizon(2*relaxation(load, rates/load, most), rates, usualJobs)
	return []experiment{{setup: s, load: load, others: true, measures: classWaits()}}, nil
}
