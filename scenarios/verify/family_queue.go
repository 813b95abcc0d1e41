package verify

import (
	"fmt"
	"math"
	"strings"
)

// Queues whose jobs all succeed.

// usualJobs is the least number of jobs in a replication.
const usualJobs = 50_000

// service is a distribution of service times, as scenario text and by its moments.
type service struct {
	text     string
	mean, cv float64 // mean in s
}

// Ways in which rows give a service.

func exponentialService(p *params) service {
	mean := 1 / p.positive("mu")
	return service{exponential(mean), mean, 1}
}

func constantService(name string) func(p *params) service {
	return func(p *params) service {
		mean := p.positive(name)
		return service{seconds(mean), mean, 0}
	}
}

// variedService returns a function from a row to a service time with the row's mean and coefficient of variation.
func variedService(dist string) func(p *params) service {
	return func(p *params) service { return varied(dist, p.positive("mean"), p.positive("cv")) }
}

func varied(dist string, mean, cv float64) service {
	return service{fmt.Sprintf("{dist: %s, mean: %s, cv: %.9g}", dist, seconds(mean), cv), mean, cv}
}

// byMoments returns a service time with the first two moments given in a verify row; further moments do not matter.
func byMoments(p *params, first, second string) service {
	mean := p.positive(first)
	square := p.positive(second)/(mean*mean) - 1
	if square < -1e-9 {
		p.wrong("params.%s: it is less than the square of %s", second, first)
	}
	switch cv := math.Sqrt(max(square, 0)); {
	case cv < 1e-6:
		return service{seconds(mean), mean, 0}
	case cv < 1-1e-9:
		return varied("gamma", mean, cv)
	case cv < 1+1e-9:
		return service{exponential(mean), mean, 1}
	default:
		return varied("hyperexponential", mean, cv)
	}
}

// plainQueue returns the family of models with one class at c workers, first come first served; manyServers requires c.
func plainQueue(of func(p *params) service, manyServers bool) family {
	return func(p *params) ([]experiment, error) {
		rate, own, c := p.positive("lam"), of(p), 1
		if manyServers || p.has("c") {
			c = p.count("c")
		}
		load := rate * own.mean / float64(c)
		s := setup{workers: c, classes: []string{class("job", poisson(rate), own.text)}}
		s.horizon(relaxation(load, float64(c)/own.mean, own.cv), rate, usualJobs)
		// The spread of the second moment of waits depends on the fifth of lognormal services: (1+cv²)^10.
		heavy := own.cv > 1 && strings.Contains(own.text, "lognormal")
		return []experiment{{setup: s, load: load, heavy: heavy, others: true}}, nil
	}
}

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

// classWaits returns the gauges of the waits of two classes: of the first, high, and of the second, low.
func classWaits() map[string]gauge {
	all := map[string]gauge{}
	for i, name := range []string{"wait_high", "wait_low"} {
		all[name] = waitOfClass(i)
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
		own := byMoments(c, "m1", "m2")
		p.problems = append(p.problems, c.problems...)
		load, rates, most = load+rate*own.mean, rates+rate, max(most, own.cv)
		s.classes = append(s.classes, class(fmt.Sprintf("c%d", i), poisson(rate), own.text, fmt.Sprintf("priority: %d", i)))
	}
	if len(list) != 2 {
		return nil, fmt.Errorf("%d classes: only two are measured", len(list))
	}
	s.workers = 1
	s.horizon(2*relaxation(load, rates/load, most), rates, usualJobs)
	return []experiment{{setup: s, load: load, others: true, measures: classWaits()}}, nil
}
