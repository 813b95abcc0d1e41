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
	"qsim/results"
	"qsim/results/plain"
)

// Leases that lapse.

// lapsing returns the family of models in which jobs may outlast their leases, which nothing extends, with a free
// worker for each job: mean numbers of executions and duplicates, with fencing (a commit after the expiry is refused)
// and without. of reads the distribution of run times from a row.
func lapsing(of func(p *params) service) family {
	return func(p *params) ([]experiment, error) {
		own, lease, delay := of(p), p.positive("lease"), p.number("reclaim_delay")
		backoff := plain.Either(delay > 0, fmt.Sprintf("{kind: fixed, delay: %s}", seconds(delay)), "{kind: none}")
		rate := 50 / own.mean
		var all []experiment
		for _, fence := range []struct{ name, prefix string }{{"token", "fenced_"}, {"none", "unfenced_"}} {
			s := setup{workers: manyWorkers, lease: noHeartbeats(lease), reaper: "{every: 0s, batch: 1000}", fence: fence.name,
				retry: retry(0, backoff), classes: []string{class("job", poisson(rate), own.text)}}
			s.warmup, s.window, s.drain = 20*(own.mean+lease+delay), 20_000/rate, 10_000*(own.mean+lease)
			plan := observation{thresholds: []time.Duration{duration(lease)}}
			all = append(all, experiment{setup: s, plan: plan, alter: countDuplicates, measures: map[string]gauge{
				fence.prefix + "runs_mean":       meanOf(claims, enqueued),
				fence.prefix + "duplicates_mean": mean(func(o *observer) float64 { return duplicates(o) / o.sum(enqueued) }),
				fence.prefix + "finish_mean":     meanOf(doneAfter, done),
			}})
		}
		all[0].measures["p_overrun"] = shareOf(overran, executions)
		return all, nil
	}
}

// noHeartbeats returns the scenario text of leases with a TTL in seconds and without heartbeats.
func noHeartbeats(ttl float64) string { return fmt.Sprintf("{ttl: %s, heartbeat: 0s}", seconds(ttl)) }

// countDuplicates makes an observer count, in own[0], successful executions after a job's first, for its window's jobs.
func countDuplicates(_ *sim.Config, o *observer) {
	succeeded := map[engine.JobID]bool{}
	o.on = func(o *observer, e *engine.Event) {
		switch {
		case e.Kind == engine.Enqueued && o.inWindow(e.At):
			succeeded[e.Job] = false
		case e.Kind == engine.Finished && e.Error == engine.NoError:
			before, counts := succeeded[e.Job]
			if before {
				o.own[0]++
			}
			if counts {
				succeeded[e.Job] = true
			}
		}
	}
}

func duplicates(o *observer) float64 { return o.own[0] }

// heartbeats returns the family of models in which heartbeats are lost by chance: the share of leases that expire
// although the job runs. Such a job is buried, so that only its first lease counts. of reads the run times from a row.
func heartbeats(of func(p *params) service) family {
	return func(p *params) ([]experiment, error) {
		own, lease, beat := of(p), p.positive("lease"), p.positive("heartbeat")
		if own.cv == 0 {
			// In the model a job whose lease would lapse at the instant at which it ends is done. Here leases lapse first, so it
			// ends a moment earlier.
			own.mean *= 1 - 1e-7
			own.text = seconds(own.mean)
		}
		rate := 1000 / own.mean
		s := setup{workers: manyWorkers, lease: fmt.Sprintf("{ttl: %s, heartbeat: %s}", seconds(lease), seconds(beat)),
			reaper: "{every: 0s, batch: 1000, after: dead}", classes: []string{class("job", poisson(rate), own.text)}}
		s.window = 2000 / rate
		s.drain = 30*own.mean + 10*lease
		s.storms = []string{storm("lossy", 0, s.warmup+s.window+s.drain,
			fmt.Sprintf("calls: {ops: [extend], lose-request: %s}", percent(p.share("loss"))))}
		plan := observation{on: func(o *observer, e *engine.Event) {
			if e.Kind == engine.LeaseTaken && o.inWindow(e.At-engine.Time(e.Age)) {
				o.own[0]++
			}
		}}
		// What the false reclaims are counted over has ended by the end of the run.
		share := func(o *observer) float64 {
			return plain.Either(o.sum(ended) == o.sum(enqueued), o.own[0]/o.sum(enqueued), math.NaN())
		}
		return []experiment{{setup: s, plan: plan, alter: countLosses(duration(lease)), measures: map[string]gauge{
			"p_false_reclaim": shareBy(share, func(o *observer) float64 { return o.sum(enqueued) }),
			"losses_needed": sameText(func(o *observer) string {
				return strings.Join(plain.Numbers(plain.Distinct(o.list)...), ",")
			}),
		}}}, nil
	}
}

// countLosses returns a function for experiment.alter. It records, in observer.list, how many consecutive heartbeats
// were lost before each lease that expired.
func countLosses(lease time.Duration) func(cfg *sim.Config, o *observer) {
	return func(cfg *sim.Config, o *observer) {
		n := &lossCounter{Network: cfg.Network, lease: lease, held: map[engine.JobID]lossesOf{}}
		cfg.Network = n
		usual := o.on
		o.on = func(o *observer, e *engine.Event) {
			usual(o, e)
			switch e.Kind {
			case engine.Leased:
				n.held[e.Job] = lossesOf{since: e.At}
			case engine.Acked:
				delete(n.held, e.Job)
			case engine.LeaseTaken:
				o.list = append(o.list, float64(n.held[e.Job].lost))
				delete(n.held, e.Job)
			}
		}
	}
}

// lossesOf is the number of heartbeats lost for a lease since the last one that arrived, and the time of that one.
type lossesOf struct {
	since engine.Time
	lost  int
}

// lossCounter wraps a simulated network to count lost heartbeats by job; those from the lease's expiry on do not count.
type lossCounter struct {
	sim.Network
	lease time.Duration
	held  map[engine.JobID]lossesOf
}

// Request returns what the wrapped network does to a call, and counts its heartbeats as lost or arrived.
func (n *lossCounter) Request(now engine.Time, c *engine.Call) sim.Fate {
	fate := n.Network.Request(now, c)
	if c.Op != engine.OpExtend {
		return fate
	}
	for _, key := range c.Keys {
		l, ok := n.held[key.Job]
		switch {
		case !ok || now.Sub(l.since) >= n.lease:
			continue
		case fate.LoseRequest:
			l.lost++
		default:
			l = lossesOf{since: now}
		}
		n.held[key.Job] = l
	}
	return fate
}

// crashes returns an experiment on the time from the crash of a process until its jobs are ready again. One of two is
// killed again and again, at times spread evenly between two runs of the other's reaper and shifted by seed.
func crashes(p *params) ([]experiment, error) {
	lease, beat, reaper := p.positive("lease"), p.positive("heartbeat"), p.positive("reaper")
	service := 20 * beat // so that the ages of jobs, modulo a heartbeat, are uniform
	down := math.Ceil(lease + 2*reaper)
	// Golden section: its multiples are spread evenly.
	cycle := math.Ceil((down+3*service)/reaper)*reaper + reaper*(math.Sqrt(5)-1)/2
	const times = 20
	s := setup{nodes: 2, workers: 1000, warmup: 5 * service,
		lease:   fmt.Sprintf("{ttl: %s, heartbeat: %s}", seconds(lease), seconds(beat)),
		reaper:  fmt.Sprintf("{every: %s, batch: 1000, after: ready}", seconds(reaper)),
		classes: []string{class("job", poisson(400/service), seconds(service))},
		storms: []string{storm("crash", 5*service, down, fmt.Sprintf("crash: {nodes: [1], restart-after: %s}, "+
			"repeat: {every: %s, times: %d}", seconds(down), seconds(cycle), times))}}
	s.window = times * cycle
	s.drain = 10 * service
	var plan observation
	plan.on = func(o *observer, e *engine.Event) {
		switch {
		case e.Kind == engine.NodeDown:
			o.own[0] = float64(e.At)
		case e.Kind == engine.Returned && o.own[0] > 0:
			o.list = append(o.list, (float64(e.At)-o.own[0])/1e9)
		}
	}
	moved := func(cfg *sim.Config, _ *observer) {
		by := duration(reaper * cfg.Nodes[0].Rand.Uniform(keyed.ForStorm, 0, 0, 0))
		for i := range cfg.Controls {
			cfg.Controls[i].At = cfg.Controls[i].At.Add(by)
		}
	}
	return []experiment{{setup: s, plan: plan, alter: moved, measures: map[string]gauge{
		"mean": mean(listed(results.MeanOf)),
		"var":  moment(listed(spread)),
		"min":  {shape: ofLeast, of: listed(slices.Min)},
		"max":  {shape: ofMost, of: listed(slices.Max)},
	}}}, nil
}
