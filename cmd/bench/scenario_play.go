package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// played holds the results of one run of a scenario on a real store: counts of jobs, metrics and measured delays.
type played struct {
	endedRun
	run      measure.Run
	unfed    int64         // number of jobs never enqueued because time was up
	lateness time.Duration // p99 of the delays from a job's intended enqueueing until the store had it
	timings  *timings      // measured durations; nil: not requested
}

// playOptions are the parameters of one real run that differ between runs of a scenario.
type playOptions struct {
	policy int
	seed   uint64
	speed  world.Speed
	store  string
	learns bool // whether to measure timings
	// mechanics counts calls and executions; nil: not requested
	mechanics *world.Mechanics
}

// play runs a scenario in real time on a new store, until its jobs have ended or its time is up, and measures it.
func play(ctx context.Context, sc *scenarios.Scenario, o playOptions, stores *stores) (result *played, err error) {
	r, err := stores.open(ctx, sc, o)
	if err != nil {
		return nil, err
	}
	defer r.close(&err)
	wall := r.wall
	var perJob [engine.NumOps]time.Duration
	if o.learns {
		if perJob, err = measureCosts(ctx, r.store); err != nil {
			return nil, err
		}
	}
	runtime.GC() // collect the garbage of the previous run now, not during this one
	rec := record(r)
	var mutex sync.Mutex                 // guards drawn; wall.Begin has one, too
	drawn := map[attempt]time.Duration{} // run times, if o.learns
	handle := func(ctx context.Context, j *engine.Job) error {
		a := wall.Begin(time.Duration(r.clock()), 0, j)
		if o.learns {
			mutex.Lock()
			drawn[attempt{j.ID, j.Delivery}] = a.Runs
			mutex.Unlock()
		}
		return execute(ctx, wall, r.clock, j, a)
	}
	arrivals, until := wall.Length()
	if err := r.run(ctx, handle, r.feed(wall.Next, rec.enqueued), until); err != nil {
		return nil, err
	}
	if err := wall.Err(); err != nil {
		return nil, ui.Fail(ui.ExitUsage, err)
	}
	p := &played{endedRun: r.measured(time.Duration(r.clock())), unfed: r.unfed.Load(),
		lateness: quantile(plain.Map(r.feeding.jobs, func(j fed) time.Duration { return j.late }), .99)}
	left, dead, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	if o.learns {
		p.timings = learn(rec, drawn, perJob, &r.feeding, o.speed, arrivals)
		t := p.timings
		t.jobs = r.enqueued.Load()
		stalls := &t.delays.Stalls
		stalls.Over = p.took
		t.held, t.frozen = shareOf(stalls.Arrivals, p.took), shareOf(stalls.Store, p.took)
		for _, spans := range stalls.Engines {
			t.stalled += shareOf(spans, p.took) / float64(len(stalls.Engines))
		}
	}
	if o.mechanics != nil {
		follow(o.mechanics, rec.probes)
	}
	run, b := wall.Finish(rec.events(), min(p.took, until)) // what a stop cuts off is still in flight in a simulation
	p.run, p.account = run, account{jobs: b.Enqueued, done: b.Done, dead: max(b.Dead, dead), duplicates: b.Duplicates}
	p.reconcile(b.Unresolved-(p.dead-b.Dead), left)
	if p.unfed > 0 {
		p.run.Warnings = append(p.run.Warnings, neverEnqueued(p.unfed))
	}
	return p, nil
}

// metrics returns the metrics of the whole run, in the scenario's time, and the durations of calls.
func (p *played) metrics() []metric {
	var list []metric
	for _, v := range p.run.Values {
		if (v.Query != measure.Query{Metric: v.Metric}) || v.Null || math.IsNaN(v.Value) {
			continue
		}
		info, _ := measure.Lookup(v.Metric)
		list = append(list, metric{metricUnit(info), info.Unit, v.Value})
	}
	for _, calls := range []namedPhase{{"claim", &p.claim}, {"commit", &p.commit}} {
		if calls.rows > 0 {
			list = append(list, metric{calls.name + "-sec/job", "s", calls.perJob()})
		}
	}
	list = append(list, metric{"never-enqueued", "jobs", float64(p.unfed)})
	return append(list, metric{"lost", "jobs", float64(p.lost)},
		metric{"duplicates", "executions", float64(p.duplicates)})
}

// neverEnqueued returns the warning for a run that lacks n jobs of its scenario.
func neverEnqueued(n int64) string {
	return plain.Either(n == 1, "1 job that was to come was", fmt.Sprintf("%d jobs that were to come were", n)) +
		" never enqueued: time was up before; choose a lower speed, or a longer drain"
}
