// Package world runs scenarios: it makes the simulated world of one, its arrivals, handlers, dependencies, network and
// storms (faults or bursts with a window of time), hands it to the simulation for each policy and seed (repetition),
// and measures what happens there: metrics, such as the wait of fresh jobs, which have had no attempt yet.
//
//	sc, problems := scenarios.Load(display, src, nil)
//	runs, err := world.Run(ctx, sc, world.Options{})
//
// This package defines the meaning of scenarios, package scenarios their syntax: that package has no simulation, this
// one no YAML.
package world

import (
	"context"
	"fmt"
	"math"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/pool"
)

// Options are the options of Run: parallel simulations, when to stop, what to check, and hooks.
type Options struct {
	// Parallel is the highest number of simulations at once; 0: one per core that Go uses.
	Parallel int
	// Ended, if not nil, is called with the run of every simulation, in any order, from one goroutine at a time.
	Ended func(run *measure.Run)
	// Enough, if not nil, is called with the runs of each seed, by policy, in the order of seeds and
	// from one goroutine at a time. The first seed for which it returns true is the last: runs of
	// later seeds are dropped. It may keep the slice.
	Enough func(seed []measure.Run) bool
	// Alter, if not nil, may change the configuration of every simulation before it begins, calm ones included: wrap the
	// recorder to watch the events, or replace the handlers or the workload. It is called from several goroutines at once.
	Alter func(policy int, seed uint64, cfg *sim.Config)
	// Check verifies the invariants of package check in every simulation, as far as the scenario
	// guarantees them: a simulation that breaks one ends in a *Broken.
	Check bool
	// MostSeeds is the highest number of seeds if Enough never returns true; 0: the scenario's number.
	MostSeeds int
	// Gate, if not nil, limits the simulations at once of all Runs that share it. Parallel still limits those of this Run.
	Gate pool.Gate
}

// Run simulates every policy of sc under every seed and returns the runs by seed, then by policy: as many seeds as sc
// has, or until Enough returns true. The result does not depend on Parallel or on the order in which simulations end.
// When ctx is done, no further simulation starts, those under way are abandoned, and Run returns those that ended, with
// ctx.Err(). If a simulation panics, the error is a *Broken.
func Run(ctx context.Context, sc *scenarios.Scenario, o Options) ([]measure.Run, error) {
	settings := Settings(sc)
	var worlds []*world
	for i := range sc.Policies {
		w, err := newWorld(sc, i)
		if err != nil {
			return nil, err
		}
		w.settings, w.alter, w.checked = settingsOf(settings, sc, i), o.Alter, o.Check
		if w.settings.Wants("slowdown") {
			calm := *w
			calm.sc = withoutStorms(w.sc)
			calm.store = storeOptions(calm.sc)
			w.calm = &calm
		}
		worlds = append(worlds, w)
	}
	r := newReplications(sc, worlds, o)
	return r.runs(pool.Each(ctx, pool.Width(o.Parallel), r.most, r.one))
}

// world is a scenario under one of its policies, converted to the engine's configuration.
type world struct {
	sc     *scenarios.Scenario
	index  int // index of the policy
	policy func() engine.Policy
	node   engine.Config
	store  engine.StoreOptions
	links  sim.Links
	calm   *world // the same world without storms; nil: not needed

	settings measure.Settings                               // settings of the measurements
	alter    func(policy int, seed uint64, cfg *sim.Config) // Options.Alter; may be nil
	checked  bool
}

// newWorld returns the world of the scenario base under the policy with the given index.
func newWorld(base *scenarios.Scenario, policy int) (*world, error) {
	sc, label := base.Variant(policy), base.Policies[policy].Label
	w := &world{sc: sc, index: policy, node: engineConfig(&sc.Engine), store: storeOptions(sc),
		links: linksOf(&sc.Engine.Store)}
	var err error
	if w.policy, err = sc.PolicyMaker(policy); err != nil {
		return nil, fmt.Errorf("policy %q: %w", label, err)
	}
	for i := range sc.Jobs {
		policy, err := sc.RetryPolicy(i)
		if err != nil {
			return nil, fmt.Errorf("policy %q: retry of class %s: %w", label, sc.Jobs[i].Class, err)
		}
		retry, late := sc.RetryOf(i), sc.Engine.OnTimeout.Value()
		w.node.Kinds = append(w.node.Kinds, engine.KindConfig{Retry: policy, From: retry.From.Value(),
			Grain: retry.Grain.Std(), Deadline: retry.Deadline.Std(),
			Timeout: sc.TimeoutOf(i), WaitOut: late.WaitOut, Free: late.Free})
	}
	return w, nil
}

func withoutStorms(sc *scenarios.Scenario) *scenarios.Scenario {
	calm := *sc
	calm.Storms = nil
	return &calm
}

// stepsBetweenChecks is the number of events simulated between two checks whether ctx is done: some milliseconds.
const stepsBetweenChecks = 1 << 14

// replicate runs one seed and, if the metric slowdown is wanted, also the same seed without storms to compare with.
func (w *world) replicate(ctx context.Context, seed uint64) (*measure.Run, error) {
	run, err := w.simulate(ctx, seed)
	if err != nil || w.calm == nil {
		return run, err
	}
	calm, err := w.calm.simulate(ctx, seed)
	if err != nil {
		return nil, err
	}
	run.CompareWithCalm(calm)
	return run, nil
}

// simulate runs one seed and measures it. The error is ctx.Err(), that of a file of arrivals or a *Broken.
func (w *world) simulate(ctx context.Context, seed uint64) (run *measure.Run, err error) {
	workload, err := newWorkload(w.sc, keyed.Rand{Seed: seed})
	if err != nil {
		return nil, err
	}
	defer workload.Close()
	var s *sim.Sim
	guard := &guard{}
	defer func() { // start may panic too
		if cause := recover(); cause != nil {
			if run, err = nil, broken(w.sc.Policies[w.index].Label, seed, s, cause); guard.broken() {
				err = w.breached(seed, guard) // which came first
			}
		}
	}()
	var collector *measure.Collector
	guard = w.guard(seed)
	s, collector = w.start(seed, workload, guard.watch)
	for guard.run(s, stepsBetweenChecks) && workload.Err() == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if guard.broken() {
		return nil, w.breached(seed, guard)
	}
	if err := workload.Err(); err != nil {
		return nil, err
	}
	r := collector.Finish(s.Now(), s.Store().(*memstore.Store).Each)
	r.Seed, r.Fingerprint, r.Events = seed, uint64(s.Digest()), s.Events()
	if guard.settle(s, collector.Totals(), countsAll(w.sc)) {
		return nil, w.breached(seed, guard)
	}
	return &r, nil
}

// start returns a simulation that has not begun, and the collector of its measurements. The function watch is called
// with its configuration, to change it.
func (w *world) start(seed uint64, workload *workload, watch func(cfg *sim.Config)) (*sim.Sim, *measure.Collector) {
	collector := measure.NewCollector(&w.settings, w.index)
	cfg := w.setup(seed, workload).Config
	if c := newCallers(w.sc, workload, collector, cfg.EnqueueDelay); c != nil {
		cfg.Workload, cfg.Recorder = c, c
	} else {
		cfg.Recorder = collector
	}
	watch(&cfg)
	if w.alter != nil {
		w.alter(w.index, seed, &cfg)
	}
	return sim.New(cfg), collector
}

// scaled multiplies a duration by a factor of at least 0; the product is at most the longest draw.
func scaled(d time.Duration, factor float64) time.Duration {
	x := float64(d) * factor
	if x >= float64(dist.LongestDraw) {
		return dist.LongestDraw
	}
	return time.Duration(math.Round(x))
}
