package world

import (
	"slices"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// Setup is the complete configuration of one simulation, for one policy and seed, in plain values of the engine.
type Setup struct {
	Scenario *scenarios.Scenario  // scenario with the overrides of the policy
	Config   sim.Config           // complete configuration, except for a recorder
	Options  engine.StoreOptions  // options of the store that Config.Store makes
	Policy   func() engine.Policy // constructor of the policy of one node

	world    *world
	seed     uint64
	handlers *handlers
	links    *sim.Links
	troubles *troubles
}

// Compile returns the configuration of the simulation of a policy of sc (an index of Policies) under a seed. In it no
// caller of a job gives up: only Run supports patience. The error is about a file of arrivals, or names the
// policy that cannot be built.
func Compile(sc *scenarios.Scenario, policy int, seed uint64) (*Setup, error) {
	w, err := newWorld(sc, policy)
	if err != nil {
		return nil, err
	}
	workload, err := newWorkload(w.sc, keyed.Rand{Seed: seed})
	if err != nil {
		return nil, err
	}
	return w.setup(seed, workload), nil
}

func (w *world) setup(seed uint64, workload *workload) *Setup {
	sc, rand := w.sc, keyed.Rand{Seed: seed}
	links, node := w.links, w.node
	node.Rand = rand
	s := &Setup{Scenario: sc, Options: w.store, Policy: w.policy, world: w, seed: seed, handlers: newHandlers(sc, rand),
		links: &links}
	s.Config = sim.Config{
		Nodes:     slices.Repeat([]engine.Config{node}, int(sc.Engine.Nodes)),
		Policy:    func(int32) engine.Policy { return w.policy() },
		Store:     func(clock func() engine.Time) sim.Store { return memstore.NewSingle(clock, w.store) },
		Network:   s.handlers.quietly(&links),
		Handlers:  s.handlers,
		Workload:  workload,
		Wake:      wakeModes[sc.Engine.Fetch.Wake],
		SilentDue: sc.Engine.Fetch.OnDue.Value(),
		Restart:   sc.Engine.Restart.Std(),
		Until:     engine.Time(sc.Longest()),
		Befell:    s.befell,
	}
	s.troubles = equip(sc, &s.Config, &links, rand)
	if enqueue := sc.Engine.Store.Enqueue.Dist(); !enqueue.IsConstant() || enqueue.Mean() > 0 {
		s.Config.EnqueueDelay = func(_ engine.Time, j *engine.NewJob) time.Duration {
			if j.ID&spec.CopyMask != 0 {
				return 0 // a resubmission takes no time, see callers
			}
			return enqueue.Duration(rand.Uniform(keyed.ForRequestDelay, uint64(j.ID), 0, 0))
		}
	}
	return s
}

// befell counts, for Met, an effect on a node of the injected fault with the index control. Faults that a caller added
// to the configuration, whose indexes are higher than those of storms, are ignored.
func (s *Setup) befell(control int, _ int32, _ engine.Time) {
	if of := s.troubles.ofControl; control < len(of) {
		s.handlers.met[of[control]]++
	}
}

// Retry returns the retry policy of a class (an index of Scenario.Jobs).
func (s *Setup) Retry(class int) *policies.Backoff {
	return s.world.node.Kinds[class].Retry.(*policies.Backoff)
}

// Met returns how often each storm, by its index, has had an effect so far: a storm on nodes or on the store counts
// once for each node or time, one on calls once if it disturbed any call, one on attempts once for each attempt that it
// changed, and a burst once.
func (s *Setup) Met() []int64 {
	met := slices.Clone(s.handlers.met)
	once := func(counts []int64, of []int) {
		for k, n := range counts {
			met[of[k]] += min(n, 1)
		}
	}
	once(s.links.Met, s.troubles.ofFault)
	once(s.links.Slowed, s.troubles.ofSlow)
	for i := range s.Scenario.Storms {
		if storm := &s.Scenario.Storms[i]; storm.Effect().Class != "" && storm.At < s.Scenario.Duration {
			met[i]++
		}
	}
	return met
}

// Jobs yields all jobs of the run, in order, with the time at which each is enqueued.
func (s *Setup) Jobs(yield func(engine.Time, engine.NewJob) bool) {
	w, err := newWorkload(s.Scenario, keyed.Rand{Seed: s.seed})
	if err != nil {
		return // Compile has already opened these files
	}
	defer w.Close()
	for {
		var j engine.NewJob
		at, ok := w.Next(&j)
		if !ok || !yield(at, j) {
			return
		}
	}
}
