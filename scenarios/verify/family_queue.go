package verify

import (
	"fmt"
	"math"
	"strings"

	"qsim/engine"
)

// Queues whose jobs all succeed.

// usualJobs is the least number of jobs that arrive in the measured window of a replication, see setup.horizon.
const usualJobs = 50_000

// service is a distribution of service times (run times of attempts): its scenario text and its first two moments.
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

// variedService returns a function that reads a service from a row: the mean and cv of the distribution dist.
func variedService(dist string) func(p *params) service {
	return func(p *params) service { return varied(dist, p.positive("mean"), p.positive("cv")) }
}

func varied(dist string, mean, cv float64) service {
	return service{fmt.Sprintf("{dist: %s, mean: %s, cv: %.9g}", dist, seconds(mean), cv), mean, cv}
}

// byMoments returns a service with the first two moments that a row has under these names; others do not matter.
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

// plainQueue returns the family of FIFO queues with one class at c workers. of reads its service times from a row; with
// manyServers the row must have c, which is otherwise 1 if left out.
func plainQueue(of func(p *params) service, manyServers bool) family {
	return func(p *params) ([]experiment, error) {
		rate, own, c := p.positive("lam"), of(p), 1
		if manyServers || p.has("c") {
			c = p.count("c")
		}
		load := rate * own.mean / float64(c)
		s := setup{workers: c, classes: []string{class("job", poisson(rate), own.text)}}
		s.horizon(relaxation(load, float64(c)/own.mean, own.cv), rate)
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
	s.horizon(slowed, high+low)
	return []experiment{{setup: s, load: load, others: true, measures: classWaits()}}, nil
}

// classWaits returns the gauges (measurements) of the waits of two classes: wait_high of class 0, wait_low of class 1.
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
	s.horizon(2*relaxation(load, rates/load, most), rates)
	return []experiment{{setup: s, load: load, others: true, measures: classWaits()}}, nil
}

// openChain returns an experiment on waits, queue lengths and claim rates of two independent classes of jobs that all
// succeed. The second stands for retries in the model, but its jobs are fresh: so the order of claims comes from
// features that distinguish classes, priorities, weighted queues and a limit on running jobs.
func openChain(p *params) ([]experiment, error) {
	fresh, retries, length, c := p.positive("lam_f"), p.positive("lam_r"), 1/p.positive("mu"), p.count("c")
	first, second, policy := 0, 0, "{kind: fifo}"
	switch phi, fifo := freshShare(p); {
	case fifo:
	case phi == 1:
		second = 1
	case phi == 0:
		first = 1
	default:
		const parts = 1e6
		weight := min(max(math.Round(phi*parts), 1), parts-1)
		policy = fmt.Sprintf("{kind: queues, weights: {fresh: %.0f, retry: %.0f}}", weight, parts-weight)
	}
	load := (fresh + retries) * length / float64(c)
	slowest := relaxation(load, float64(c)/length, 1) / (1 - min(max(fresh, retries)*length/float64(c), 0.9))
	bound := "priority: " + fmt.Sprint(second)
	if p.has("cap") {
		cap := p.count("cap")
		bound += fmt.Sprintf(", max-running: %d", cap)
		own := retries * length / float64(min(cap, c))
		load = max(load, own)
		slowest = max(slowest, 2*relaxation(own, float64(min(cap, c))/length, 1))
	}
	s := setup{workers: c, policy: policy, classes: []string{
		class("fresh", poisson(fresh), exponential(length), "priority: "+fmt.Sprint(first)),
		class("retry", poisson(retries), exponential(length), bound),
	}}
	s.horizon(slowest, fresh+retries)
	measures := map[string]gauge{}
	for i, name := range []string{"fresh", "retry"} {
		measures[name+"_wait_mean"] = waitOfClass(i)
		measures[name+"_queue_mean"] = mean(func(o *observer) float64 { return o.class[i].area / o.length() })
		measures[name+"_rate"] = mean(func(o *observer) float64 { return o.class[i].taken / o.length() })
	}
	return []experiment{{setup: s, load: load, others: true, measures: measures}}, nil
}

func waitOfClass(i int) gauge {
	return mean(func(o *observer) float64 { return o.class[i].n[firstWait] / o.class[i].n[firsts] })
}

// pollingNode returns the setup of a node that polls every interval seconds for up to batch jobs, with workers for all.
func pollingNode(interval float64, batch int) setup {
	const fetch = "{batch: %d, poll: %s, cooldown: %[2]s, wake: false}"
	return setup{workers: manyWorkers, fetch: fmt.Sprintf(fetch, batch, seconds(interval))}
}

// polling returns an experiment on the wait of Poisson arrivals until the next poll that takes them in its batch.
func polling(p *params) ([]experiment, error) {
	rate, interval, batch := p.positive("lam"), p.positive("interval"), p.count("batch")
	load := rate * interval / float64(batch)
	build := func(batch int) setup {
		s := pollingNode(interval, batch)
		s.classes = []string{class("job", poisson(rate), "1us")}
		s.horizon(interval*relaxation(min(load, 0.95), 1, 1), rate)
		return s
	}
	plan := observation{on: func(o *observer, e *engine.Event) {
		switch {
		case !o.inWindow(o.now):
		case e.Kind == engine.Called && e.Op == engine.OpClaim: // before what it does
			o.own[0]++
			o.own[1] += float64(o.level[freshReady])
		case e.Kind == engine.Leased:
			o.own[2]++
		}
	}}
	return []experiment{
		{setup: build(batch), load: load, heavy: true, plan: plan, measures: map[string]gauge{
			"wait_mean":         meanOf(firstWait, firsts),
			"queue_before_poll": mean(func(o *observer) float64 { return o.own[1] / o.own[0] }),
			// What is seldom there has the spread of a second moment.
			"left_after_poll": moment(func(o *observer) float64 { return (o.own[1] - o.own[2]) / o.own[0] }),
		}},
		// With room for all that come in an interval the wait is half of it.
		{setup: build(int(math.Ceil(rate*interval))*20 + 100),
			measures: map[string]gauge{"half_interval": meanOf(firstWait, firsts)}},
	}, nil
}

// tracePolling returns an experiment on the mean wait of jobs that are enqueued at given times and claimed by polls.
func tracePolling(p *params) ([]experiment, error) {
	s := pollingNode(p.positive("interval"), p.count("batch"))
	x := traced(s, p.numbers("arrivals"), 0.001)
	n := float64(len(x.setup.classes))
	x.measures["wait_mean"] = same(func(o *observer) float64 { return o.sum(firstWait) / n })
	return []experiment{x}, nil
}
