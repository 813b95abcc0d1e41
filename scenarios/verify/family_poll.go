package verify

import (
	"fmt"
	"math"

	"qsim/engine"
)

// pollingNode returns the setup of a node that only polls: every interval it claims up to batch jobs, with a worker for
// each.
func pollingNode(interval float64, batch int) setup {
	const fetch = "{batch: %d, poll: %s, cooldown: %[2]s, wake: false}"
	return setup{workers: manyWorkers, fetch: fmt.Sprintf(fetch, batch, seconds(interval))}
}

// polling returns an experiment that measures the wait of Poisson arrivals until the next poll with free capacity.
func polling(p *params) ([]experiment, error) {
	rate, interval, batch := p.positive("lam"), p.positive("interval"), p.count("batch")
	load := rate * interval / float64(batch)
	build := func(batch int) setup {
		s := pollingNode(interval, batch)
		s.classes = []string{class("job", poisson(rate), "1us")}
		s.horizon(interval*relaxation(min(load, 0.95), 1, 1), rate, usualJobs)
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

// tracePolling returns an experiment with jobs enqueued at given times, claimed by polls.
func tracePolling(p *params) ([]experiment, error) {
	s := pollingNode(p.positive("interval"), p.count("batch"))
	x := traced(s, p.numbers("arrivals"), 0.001)
	n := float64(len(x.setup.classes))
	x.measures["wait_mean"] = same(func(o *observer) float64 { return o.sum(firstWait) / n })
	return []experiment{x}, nil
}
