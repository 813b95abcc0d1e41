package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/pool"
	"qsim/scenarios/world"
)

// ask is a wish for more seeds of a setting: those numbered from from to to, from 0.
type ask struct {
	setting  int
	from, to int
}

// arena answers asks about one policy, in their order.
type arena interface {
	observe(ctx context.Context, asks []ask) ([][]observation, error)
}

// simulator is the arena that simulates.
type simulator struct {
	problem  *Problem
	policy   int // index into the scenario's
	label    string
	parallel int
	done     func(simulations int)
	runs     int // so far
}

// SettingError is why a setting could not be simulated.
type SettingError struct {
	Setting string // its values
	Policy  string
	Sets    []scenarios.Override
	Err     error
}

// Error names the setting.
func (e *SettingError) Error() string { return fmt.Sprintf("%s: %v", e.Setting, e.Err) }

// Unwrap returns why.
func (e *SettingError) Unwrap() error { return e.Err }

func (s *simulator) workers() int { return pool.Width(s.parallel) }

// observe simulates, several settings at once. What it returns does not depend on how many.
func (s *simulator) observe(ctx context.Context, asks []ask) ([][]observation, error) {
	answers := make([][]observation, len(asks))
	gate := pool.NewGate(s.parallel)
	err := pool.Each(ctx, s.workers(), len(asks), func(ctx context.Context, i int) error {
		runs, err := s.simulate(ctx, asks[i], gate, nil)
		for k := range runs {
			answers[i] = append(answers[i], s.problem.observe(s.policy, &runs[k]))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, a := range asks {
		s.runs += a.to - a.from
	}
	return answers, nil
}

// load loads the scenario of a setting; what is wrong is a *SettingError.
func (s *simulator) load(setting int) (*scenarios.Scenario, error) {
	sets := s.problem.overrides(setting)
	sc, found, err := s.problem.Source.Load(sets)
	if err == nil && sc == nil {
		err = errors.New(found.Errors()[0].Message)
	}
	if err != nil {
		return nil, &SettingError{name(sets), s.label, sets, err}
	}
	return sc, nil
}

// simulate runs the seeds of an ask; settings, if it is not nil, receives those of the setting.
func (s *simulator) simulate(ctx context.Context, a ask, gate pool.Gate, settings *results.Settings) ([]results.Run, error) {
	sc, err := s.load(a.setting)
	if err != nil {
		return nil, err
	}
	sets := s.problem.overrides(a.setting)
	wrong := func(err error) error { return &SettingError{name(sets), s.label, sets, err} }
	if sc, err = sc.Select([]string{s.label}); err != nil {
		return nil, wrong(err)
	}
	sc.Seed, sc.Seeds = sc.Seed+uint64(a.from), scenarios.Count(a.to-a.from)
	options := world.Options{Parallel: s.workers(), Gate: gate}
	if s.done != nil {
		options.Progress = func(_, _, _ int) { s.done(1) }
	}
	runs, err := world.Run(ctx, sc, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, wrong(err)
	}
	if settings != nil {
		*settings = world.Settings(sc)
	}
	return runs, nil
}

// check simulates so many seeds of a setting, those numbered from from, and judges them as a run
// of the scenario does.
func (s *simulator) check(ctx context.Context, setting, from, seeds int) ([]observation, []results.Verdict, error) {
	var settings results.Settings
	runs, err := s.simulate(ctx, ask{setting, from, from + seeds}, pool.NewGate(s.parallel), &settings)
	if err != nil {
		return nil, nil, err
	}
	s.runs += seeds
	var fresh []observation
	for k := range runs {
		fresh = append(fresh, s.problem.observe(s.policy, &runs[k]))
	}
	summary, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("summarize: %w", err)
	}
	return fresh, summary.Objectives, nil
}

// name writes the values of a setting: engine.workers=40 retry.jitter=none.
func name(sets []scenarios.Override) string {
	var words []string
	for _, o := range sets {
		words = append(words, o.Path+"="+o.Value)
	}
	return strings.Join(words, " ")
}
