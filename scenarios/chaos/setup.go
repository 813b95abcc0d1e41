package chaos

import (
	"slices"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/fault"
	"qsim/engine/memstore"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// setup is a world compiled to a simulation, and what its run records. A test may plant a bug in the configuration of
// engines and store, while the bounds and the checker's rules stay correct.
type setup struct {
	*world.Bounds
	config  sim.Config
	options engine.StoreOptions // options of the store
	checked check.Rules
	memory  *memstore.Store                             // once the run has started
	wrap    func(*memstore.Store) sim.Store             // wraps the store for the simulation; nil: no wrapper
	clock   func(func() engine.Time) func() engine.Time // wraps the clock of the store; nil: no wrapper
	still   still
	due     engine.Time // time by which every job must have ended; 0: the storms are not over yet

	begun, ended int         // executions
	busy         engine.Time // latest time at which one that has begun ends by itself
	sim          *sim.Sim    // once the run has started
	shifts       []shift     // of clocks
	wire         *wire       // network that reports to the checker; nil: the run is not checked
}

// setup compiles a world to a simulation that is ready to run, with the bounds on its end and the checker's rules.
func (w *World) setup() (*setup, error) {
	compiled, err := world.Compile(w.scenario, 0, w.scenario.Seed)
	if err != nil {
		return nil, err
	}
	s := &setup{Bounds: compiled.Bounds(), config: compiled.Config, options: compiled.Options}
	s.checked = s.Rules()
	if s.Heal < world.ForEver {
		s.config.Until = engine.Never // the deadline ends it, see drive
	}
	s.config.Handlers = &counted{s.config.Handlers, s}
	met := s.config.Befell
	s.config.Befell = func(control int, node int32, at engine.Time) {
		met(control, node, at)
		switch c := &s.config.Controls[control]; {
		case c.Kind == fault.ShiftClock:
			s.shifts = append(s.shifts, shift{node, at}, shift{node, at.Add(c.For)})
		case c.Kind == fault.StopNode && s.wire != nil:
			s.wire.checker.Stopped(node, at)
		}
	}
	s.config.Store = func(clock func() engine.Time) sim.Store {
		if s.clock != nil {
			clock = s.clock(clock)
		}
		s.memory = memstore.NewSingle(clock, s.options)
		if s.wrap != nil {
			return s.wrap(s.memory)
		}
		return s.memory
	}
	return s, nil
}

// counted wraps a simulation's handlers of jobs to count the executions begun and ended.
type counted struct {
	sim.Handlers
	setup *setup
}

func (c *counted) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := c.Handlers.Begin(now, node, j)
	c.setup.begun++
	c.setup.busy = max(c.setup.busy, now.Add(x.Runs))
	return x
}

func (c *counted) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	if c.setup.ended++; c.setup.wire != nil && !aborted {
		c.setup.wire.over(node, j)
	}
	c.Handlers.End(now, node, j, err, aborted)
}

// Decide returns the error kind with which an execution ends: that of the wrapped handlers, which are a sim.Judge.
func (c *counted) Decide(now engine.Time, node int32, j *engine.Job) engine.ErrorKind {
	return c.Handlers.(sim.Judge).Decide(now, node, j)
}

// counts holds, for each kind of storm (by index in scenarios.Troubles), how often storms of the kind had an effect.
type counts [32]int64

// storms returns how often storms of each kind had an effect in the run, see world.Setup.Met. A storm that changes
// attempts counts once, however many it changed.
func (s *setup) storms() (n counts) {
	kinds := scenarios.Troubles()
	for i, met := range s.Met() {
		storm := &s.Scenario.Storms[i]
		if storm.Effect().Control == nil {
			met = min(met, 1)
		}
		n[slices.Index(kinds, storm.Kind())] += met
	}
	return n
}
