package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// loadScenario loads the scenario that the flags name; errors and warnings are printed.
func (s *session) loadScenario() (*scenarios.Scenario, error) {
	sets, err := input.Sets(s.flags.set)
	if err != nil {
		return nil, err
	}
	if s.flags.seed > 0 {
		sets = append(sets, scenarios.Override{Path: "seed", Value: strconv.FormatUint(s.flags.seed, 10)})
	}
	loaded, err := input.Load(s.flags.scenario,
		input.Options{Sets: sets, Policies: s.flags.policies, Errors: s.stderr, Notes: s.console})
	return loaded.Scenario, err
}

// runScenario runs all policies of a scenario in turn, on each store, seed after seed.
func (s *session) runScenario(ctx context.Context) error {
	sc, err := s.loadScenario()
	if err != nil {
		return err
	}
	s.announce(sc, len(s.flags.stores))
	runs := make([][]measure.Run, len(s.flags.stores))
	out := &benchWriter{out: s.stdout}
	var balance account
	err = s.eachRun(ctx, sc, func(store int, o playOptions, p *played) error {
		runs[store] = append(runs[store], p.run)
		balance.add(p.account())
		s.warn(sc.Policies[o.policy].Label, o.store, p)
		if s.flags.format != "bench" {
			return nil
		}
		return out.result(s.scenarioName(sc, o), p.balance.Enqueued, p.took, p.metrics())
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	settings, exit := world.Settings(sc), ui.ExitMet
	for i, store := range s.flags.stores {
		if len(runs[i]) == 0 {
			continue // the command was interrupted before
		}
		code, e := s.summarize(sc, &settings, store, runs[i])
		if e != nil && err == nil {
			return e
		}
		exit = ui.Worse(exit, code)
	}
	return s.settle(&balance, exit, err)
}

// eachRun makes all runs of a scenario and calls told with each result and the index of its store, until told returns
// an error.
func (s *session) eachRun(ctx context.Context, sc *scenarios.Scenario,
	told func(store int, o playOptions, p *played) error) error {
	shown := s.rounds(int(s.flags.rounds.value) * len(s.flags.stores) * len(sc.Policies))
	defer shown.close()
	for round := range int(s.flags.rounds.value) {
		for i, store := range s.flags.stores {
			for policy := range sc.Policies {
				o := playOptions{policy: policy, seed: sc.Seed + uint64(round), speed: s.flags.speed.Speed, store: store}
				p, err := play(ctx, sc, o, s.stores)
				if err != nil {
					return failed(sc.Policies[policy].Label, store, err)
				}
				shown.measured(sc.Policies[policy].Label, store)
				if err := told(i, o, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// settle prints the balance of jobs to standard error and returns the command's error: for lost jobs first, else
// err, else a failure with the exit code.
func (s *session) settle(a *account, exit ui.Exit, err error) error {
	if a.untold > 0 {
		s.console.Note("warning: the store holds %s more than it said that it took", plain.Plural(int(a.untold), "job"))
	}
	if a.jobs == 0 && err == nil {
		s.console.Note("no job came: nothing was measured")
	}
	if a.jobs > 0 || err == nil {
		s.console.Note("%d jobs: %d done, %d dead, %d left; lost %d, duplicates %d", a.jobs, a.done, a.dead, a.left, a.lost,
			a.duplicates)
	}
	switch {
	case a.lost != 0:
		return ui.Fail(ui.ExitInvariant, fmt.Errorf("%d jobs were lost", a.lost))
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, nil)
	case err != nil:
		return err
	case exit != ui.ExitMet:
		return ui.Fail(exit, nil)
	}
	return nil
}

// account counts the jobs of one or more runs by their final state. Untold jobs are in the store although the answer
// to their enqueue call was lost.
type account struct{ jobs, done, dead, left, lost, untold, duplicates int64 }

func (a *account) add(b account) {
	a.jobs, a.done, a.dead, a.left = a.jobs+b.jobs, a.done+b.done, a.dead+b.dead, a.left+b.left
	a.lost, a.untold, a.duplicates = a.lost+b.lost, a.untold+b.untold, a.duplicates+b.duplicates
}

func (p *played) account() account {
	b := &p.balance
	return account{b.Enqueued, b.Done, b.Dead, p.left, p.lost(), p.untold(), b.Duplicates}
}

// announce prints how many runs follow and their total time.
func (s *session) announce(sc *scenarios.Scenario, stores int) {
	speed, rounds := s.flags.speed, int(s.flags.rounds.value)
	n := len(sc.Policies) * rounds * stores
	s.console.Note("%s at %s: %s of %s, plus what it takes to drain", sc.Name, speed, plain.Plural(n, "run"),
		scenarios.Duration(speed.Real(sc.Duration.Std()).Round(time.Millisecond)))
	s.console.Note("all times are the scenario's; %s is the real store and takes what it takes, whatever engine.store "+
		"says", strings.Join(s.flags.stores, ", "))
}

// warn prints warnings about a run whose numbers are doubtful.
func (s *session) warn(policy, store string, p *played) {
	if p.late > 0 {
		s.console.Note("warning: %s on %s: %s had no answer in time", policy, store, plain.Plural(int(p.late), "call"))
	}
	if p.unfed > 0 {
		s.console.Note("warning: %s on %s: %s", policy, store, neverEnqueued(p.unfed))
	}
	if late := p.lateness.calls.Quantile(.99); late > 50*time.Millisecond || late > p.took/20 {
		s.console.Note("warning: %s on %s: 1 in 100 jobs was enqueued more than %s after its time: this machine is too "+
			"slow for that speed", policy, store, seconds(late.Seconds()))
	}
}

// summarize prints the summary of all runs on one store, and writes the files.
func (s *session) summarize(sc *scenarios.Scenario, settings *measure.Settings, store string,
	runs []measure.Run) (ui.Exit, error) {
	if s.flags.format == "bench" && s.flags.out == "" {
		return ui.ExitMet, nil
	}
	summary, err := results.Summarize(settings, runs, results.Options{})
	if err != nil {
		return ui.ExitIO, ui.Fail(ui.ExitIO, fmt.Errorf("%s: %w", store, err))
	}
	for _, warning := range summary.Warnings {
		s.console.Note("%s: warning: %s", store, warning)
	}
	printed := s.flags.Tables(func(w io.Writer, o text.TableOptions) error {
		if o.Format == text.Text {
			fmt.Fprintf(w, "%s at %s on the wall clock, store %s\n", sc.Name, s.flags.speed, store)
		}
		return text.WriteTable(w, summary, o)
	})
	printed["json"] = ui.Bytes(summary.MarshalJSON)
	if err := printed.Print(s.stdout, s.flags.format); err != nil {
		return ui.ExitIO, err
	}
	if err := s.writeScenario(sc, settings, summary, store); err != nil {
		return ui.ExitIO, err
	}
	if s.flags.format == "bench" {
		return ui.ExitMet, nil
	}
	return ui.Exit(summary.Exit), nil
}

// scenarioName returns the benchmark name of a run of a scenario.
func (s *session) scenarioName(sc *scenarios.Scenario, o playOptions) string {
	return benchName("Scenario", "scenario", sc.Name, "policy", sc.Policies[o.policy].Label, "store", o.store, "speed",
		o.speed.String())
}
