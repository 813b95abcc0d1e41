package study

import (
	"context"

	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// task is one setting of a scenario's keys to simulate, with its policies and seeds.
type task struct {
	sets   []scenarios.Override // overrides of the scenario
	policy string               // label of the policy; empty: all policies
	from   int                  // first seed, counted from the scenario's first
	seeds  int                  // number of seeds; 0: all of the scenario's
}

// simulator simulates settings of one scenario, several in parallel.
type simulator struct {
	source   *Source
	parallel int    // highest number of simulations at once; 0: one per core that Go uses
	each     int    // least number of simulations of a task
	ended    func() // called after every simulation, from several goroutines at once; may be nil
}

// run simulates tasks, several in parallel, and calls done with the runs of each, in any order and from several
// goroutines at once. Its error is ctx.Err(), that of done, or a *SettingError, which wraps a *world.Broken if an
// invariant broke; of several it is that of the first task.
func (s *simulator) run(ctx context.Context, tasks []task,
	done func(i int, settings *measure.Settings, runs []measure.Run) error) error {
	gate := pool.NewGate(s.parallel)
	// So many tasks are open that one can be simulated while another is loaded, summarized and
	// written: their simulations share the processors, and few tasks are in memory.
	open := min(cap(gate), 1+(cap(gate)+s.each-1)/s.each)
	return pool.Each(ctx, open, len(tasks), func(ctx context.Context, i int) error {
		settings, runs, err := s.simulate(ctx, &tasks[i], gate)
		if err != nil {
			return err
		}
		return done(i, settings, runs)
	})
}

func (s *simulator) simulate(ctx context.Context, t *task, gate pool.Gate) (*measure.Settings, []measure.Run, error) {
	sc, err := s.source.setting(t.sets)
	if err != nil {
		return nil, nil, err
	}
	if t.policy != "" {
		if sc, err = sc.Select([]string{t.policy}); err != nil {
			return nil, nil, &SettingError{t.sets, err}
		}
	}
	if sc.Seed += uint64(t.from); t.seeds > 0 {
		sc.Seeds = scenarios.Count(t.seeds)
	}
	options := world.Options{Parallel: s.parallel, Gate: gate}
	if s.ended != nil {
		options.Progress = func(_, _, _ int) { s.ended() }
	}
	runs, err := world.Run(ctx, sc, options)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err != nil:
		return nil, nil, &SettingError{t.sets, err}
	}
	settings := world.Settings(sc)
	return &settings, runs, nil
}
