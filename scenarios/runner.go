package scenarios

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/results"
)

// Options of Run.
type Options struct {
	// Parallel is how many simulations run at once; 0: one per core that Go uses.
	Parallel int
	// Progress is told of every simulation that ends, from one goroutine at a time:
	// finished of total seeds of a policy.
	Progress func(policy, finished, total int)
}

// Run simulates every policy of sc under every seed and returns the runs by seed,
// then by policy. What it returns does not depend on Parallel or on the order in
// which simulations end. When ctx is done, no further simulation starts, those
// under way are abandoned, and Run returns the ones that ended, with ctx.Err(). If a
// simulation panics, the error is a *Broken.
func Run(ctx context.Context, sc *Scenario, o Options) ([]results.Run, error) {
	worlds, err := newWorlds(sc)
	if err != nil {
		return nil, err
	}
	var settings []results.Settings
	for i := range sc.Policies {
		settings = append(settings, sc.settingsOf(i))
	}
	seeds, total := int(sc.Seeds), int(sc.Seeds)*len(worlds)
	done := make([]*results.Run, total)
	var (
		mutex    sync.Mutex
		group    sync.WaitGroup
		next     int
		first    error // of the simulations that broke
		firstAt  int
		finished = make([]int, len(worlds))
	)
	workers := o.Parallel
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, total) {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				mutex.Lock()
				i, stop := next, first != nil
				next++
				mutex.Unlock()
				if i >= total || stop || ctx.Err() != nil {
					return
				}
				policy := i % len(worlds)
				run, err := worlds[policy].simulate(ctx, &settings[policy], policy, sc.Seed+uint64(i/len(worlds)))
				if err != nil && ctx.Err() != nil {
					return
				}
				mutex.Lock()
				if err != nil {
					if first == nil || i < firstAt {
						first, firstAt = err, i
					}
					mutex.Unlock()
					return
				}
				done[i] = run
				finished[policy]++
				if o.Progress != nil {
					o.Progress(policy, finished[policy], seeds)
				}
				mutex.Unlock()
			}
		}()
	}
	group.Wait()
	var runs []results.Run
	for _, r := range done {
		if r != nil {
			runs = append(runs, *r)
		}
	}
	if first != nil {
		return runs, first
	}
	return runs, ctx.Err()
}

// world is the scenario as one policy sees it.
type world struct {
	sc     *Scenario
	policy func() engine.Policy
	node   engine.Config
	store  engine.StoreOptions
	links  sim.Links
}

func newWorlds(sc *Scenario) ([]*world, error) {
	var worlds []*world
	for i := range sc.Policies {
		w, err := newWorld(sc.Variant(i), i)
		if err != nil {
			return nil, fmt.Errorf("policy %q: %w", sc.Policies[i].Label, err)
		}
		worlds = append(worlds, w)
	}
	return worlds, nil
}

func newWorld(sc *Scenario, policy int) (*world, error) {
	w := &world{sc: sc, store: sc.Engine.storeOptions(), links: sc.Engine.Store.links()}
	var err error
	if w.policy, err = sc.policy(policy); err != nil {
		return nil, err
	}
	w.node = sc.Engine.config()
	for i := range sc.Jobs {
		retry, err := sc.RetryPolicy(i)
		if err != nil {
			return nil, fmt.Errorf("retry of class %s: %w", sc.Jobs[i].Class, err)
		}
		w.node.Kinds = append(w.node.Kinds, engine.KindConfig{Retry: retry, Timeout: sc.TimeoutOf(i)})
	}
	return w, nil
}

// stepsBetweenChecks is how many events a simulation goes on after an interrupt,
// at the most: some milliseconds.
const stepsBetweenChecks = 1 << 14

// simulate runs one seed. The error is ctx.Err() or a *Broken.
func (w *world) simulate(ctx context.Context, settings *results.Settings, policy int, seed uint64) (run *results.Run, err error) {
	var s *sim.Sim
	defer func() { // start may panic too
		if cause := recover(); cause != nil {
			run, err = nil, broken(settings.Policies[policy].Label, seed, s, cause)
		}
	}()
	var collector *results.Collector
	s, collector = w.start(settings, policy, seed)
	for n := 1; s.Step(); n++ {
		if n%stepsBetweenChecks == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	r := collector.Finish(s.Now(), unresolved(s.Store().(*memstore.Store)))
	r.Seed, r.Fingerprint, r.Events = seed, uint64(s.Digest()), s.Events()
	return &r, nil
}

// start returns a simulation that has not begun, and what watches it.
func (w *world) start(settings *results.Settings, policy int, seed uint64) (*sim.Sim, *results.Collector) {
	sc, rand := w.sc, engine.Rand{Seed: seed}
	collector := results.NewCollector(settings, policy)
	links := w.links
	links.Rand = rand
	node := w.node
	node.Rand = rand
	cfg := sim.Config{
		Nodes:    slices.Repeat([]engine.Config{node}, int(sc.Engine.Nodes)),
		Policy:   func(int32) engine.Policy { return w.policy() },
		Store:    func(clock func() engine.Time) sim.Store { return memstore.NewSingle(clock, w.store) },
		Network:  &links,
		Handlers: newHandlers(sc, rand),
		Workload: newWorkload(sc, rand),
		Recorder: collector,
		Wake:     sc.Engine.Fetch.Wake.mode(),
		Restart:  sc.Engine.Restart.Std(),
		Controls: controls(sc, rand),
		Until:    engine.Time(sc.Duration).Add(sc.Drain.Std()),
	}
	if enqueue := sc.Engine.Store.Enqueue.Dist(); !enqueue.IsConstant() || enqueue.Mean() > 0 {
		cfg.EnqueueDelay = func(j *engine.NewJob) time.Duration {
			return enqueue.Duration(rand.Uniform(engine.ForRequestDelay, uint64(j.ID), 0, 0))
		}
	}
	return sim.New(cfg), collector
}

// controls are the crashes that the storms of a scenario bring.
func controls(sc *Scenario, rand engine.Rand) []sim.Control {
	var cs []sim.Control
	for i := range sc.Storms {
		s := &sc.Storms[i]
		if s.Crash == nil {
			continue
		}
		for _, node := range pickNodes(s.Crash.Nodes, int(sc.Engine.Nodes), rand, i) {
			cs = append(cs, sim.Control{Node: node, At: engine.Time(s.At), For: s.Crash.RestartAfter.Std()})
		}
	}
	return cs
}

// unresolved lists what a store still holds.
func unresolved(store *memstore.Store) func(yield func(results.Unresolved) bool) {
	return func(yield func(results.Unresolved) bool) {
		store.Each(func(u memstore.Unfinished) bool {
			return yield(results.Unresolved{Job: u.Job, Kind: u.Kind, Tenant: u.Tenant, State: u.State, Class: u.Class, Age: u.Age, ReadyFor: u.Ready})
		})
	}
}

// scaled multiplies a duration by a factor of at least 0.
func scaled(d time.Duration, factor float64) time.Duration {
	x := float64(d) * factor
	if x >= float64(engine.LongestDraw) {
		return engine.LongestDraw
	}
	return time.Duration(math.Round(x))
}
