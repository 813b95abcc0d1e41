package verify

import (
	"fmt"
	"math"

	"qsim/engine"
)

// openChain returns an experiment with two independent classes of jobs, all of which succeed, for open queues of two
// classes. The second stands for retries in the model, but its jobs are fresh; so the order of claims comes from
// features that distinguish classes: priorities, weighted queues, and a limit on running jobs of a class.
func openChain(p *params) ([]experiment, error) {
	fresh, retries, mean, c := p.positive("lam_f"), p.positive("lam_r"), 1/p.positive("mu"), p.count("c")
	first, second, policy := 0, 0, "{kind: fifo}"
	switch word := p.text("policy"); word {
	case "fifo":
	case "fresh_first":
		second = 1
	case "retry_first":
		first = 1
	case "bernoulli":
		switch phi := p.share("phi"); phi {
		case 0:
			first = 1
		case 1:
			second = 1
		default:
			const parts = 1e6
			weight := min(max(math.Round(phi*parts), 1), parts-1)
			policy = fmt.Sprintf("{kind: queues, weights: {fresh: %.0f, retry: %.0f}}", weight, parts-weight)
		}
	default:
		p.wrong("params.policy: %q is none of fresh_first, retry_first, bernoulli, fifo", word)
		return nil, nil
	}
	load := (fresh + retries) * mean / float64(c)
	slowest := relaxation(load, float64(c)/mean, 1) / (1 - min(max(fresh, retries)*mean/float64(c), 0.9))
	bound := "priority: " + fmt.Sprint(second)
	if p.has("cap") {
		cap := p.count("cap")
		bound += fmt.Sprintf(", max-running: %d", cap)
		own := retries * mean / float64(min(cap, c))
		load = max(load, own)
		slowest = max(slowest, 2*relaxation(own, float64(min(cap, c))/mean, 1))
	}
	s := setup{workers: c, policy: policy, classes: []string{
		class("fresh", poisson(fresh), exponential(mean), "priority: "+fmt.Sprint(first)),
		class("retry", poisson(retries), exponential(mean), bound),
	}}
	s.horizon(slowest, fresh+retries, usualJobs)
	return []experiment{{setup: s, load: load, plan: observation{on: byClass}, others: true, measures: map[string]gauge{
		"fresh_wait_mean":  waitOfClass(0),
		"retry_wait_mean":  waitOfClass(1),
		"fresh_queue_mean": queueOfClass(0),
		"retry_queue_mean": queueOfClass(1),
		"fresh_rate":       claimsOfClass(0),
		"retry_rate":       claimsOfClass(1),
	}}}, nil
}

// ownLevel and the constants below are byClass's indexes of class i: jobs ready, their time integral in s, and claims.
const (
	ownLevel  = 0
	ownArea   = 2
	ownClaims = 4
	ownSince  = 6 // s: until when the areas count
)

// byClass counts how many jobs of each of two classes are ready.
func byClass(o *observer, e *engine.Event) {
	if e.Kind != engine.Enqueued && e.Kind != engine.Leased {
		return
	}
	standUntil(o, o.now)
	if e.Kind == engine.Enqueued {
		o.own[ownLevel+int(e.JobKind)]++
		return
	}
	o.own[ownLevel+int(e.JobKind)]--
	if o.inWindow(o.now) {
		o.own[ownClaims+int(e.JobKind)]++
	}
}

// standUntil integrates the numbers of ready jobs of byClass until t.
func standUntil(o *observer, t engine.Time) {
	now := min(max(t, o.from), o.to).Sub(o.from).Seconds()
	for i := range 2 {
		o.own[ownArea+i] += float64(o.own[ownLevel+i] * (now - o.own[ownSince]))
	}
	o.own[ownSince] = now
}

func waitOfClass(i int) gauge {
	return mean(func(o *observer) float64 { return o.class[i].n[firstWait] / o.class[i].n[firsts] })
}

func queueOfClass(i int) gauge {
	return mean(func(o *observer) float64 {
		standUntil(o, o.to)
		return o.own[ownArea+i] / o.length()
	})
}

func claimsOfClass(i int) gauge {
	return mean(func(o *observer) float64 { return o.own[ownClaims+i] / o.length() })
}
