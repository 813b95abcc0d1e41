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
	"qsim/results/report"
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
	runs, balance, err := s.playAll(ctx, sc)
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

// playAll makes all runs of a scenario, of which it prints a benchmark line each if that is the format. It returns them
// by store; on an error those before it.
func (s *session) playAll(ctx context.Context, sc *scenarios.Scenario) (runs [][]measure.Run, all account, err error) {
	rounds, out := int(s.flags.rounds.value), &benchWriter{out: s.stdout}
	runs = make([][]measure.Run, len(s.flags.stores))
	shown := s.rounds(rounds * len(s.flags.stores) * len(sc.Policies))
	defer shown.close()
	for round := range rounds {
		for i, store := range s.flags.stores {
			for policy := range sc.Policies {
				label := sc.Policies[policy].Label
				o := playOptions{policy: policy, seed: sc.Seed + uint64(round), speed: s.flags.speed.Speed, store: store}
				p, err := play(ctx, sc, o, s.stores)
				if err != nil {
					return runs, all, failed(label, store, err)
				}
				shown.measured(label, store)
				runs[i] = append(runs[i], p.run)
				all.add(p.account)
				s.warn(label, store, p)
				if s.flags.format == "bench" {
					name := benchName("Scenario", "scenario", sc.Name, "policy", label, "store", store, "speed", o.speed.String())
					err = out.result(name, p.jobs, p.took, p.metrics())
				}
				if err != nil {
					return runs, all, err
				}
			}
		}
	}
	return runs, all, nil
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

// account counts the jobs of one or more runs by their final state. Lost jobs were accepted by the store, but neither
// ended nor are in it; untold jobs are in the store although the answer to their enqueue call was lost. Duplicates are
// executions that ended in success after another of the same job had.
type account struct{ jobs, done, dead, left, lost, untold, duplicates int64 }

// reconcile sets how many jobs were lost and untold in a run, from the number of those left in the store at its end and
// of the unresolved ones, which must be there.
func (a *account) reconcile(unresolved, left int64) {
	a.left, a.lost, a.untold = left, max(0, unresolved-left), max(0, left-unresolved)
}

func (a *account) add(b account) {
	a.jobs, a.done, a.dead, a.left = a.jobs+b.jobs, a.done+b.done, a.dead+b.dead, a.left+b.left
	a.lost, a.untold, a.duplicates = a.lost+b.lost, a.untold+b.untold, a.duplicates+b.duplicates
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
	if late := p.lateness.Quantile(.99); late > 50*time.Millisecond || late > p.took/20 {
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
	draw := func() ([]report.Figure, error) { return report.Charts(settings, summary, ui.Version) }
	if err := s.writeSummary(sc.Name+"-"+store+"-"+s.flags.speed.String(), sc, summary, draw); err != nil {
		return ui.ExitIO, err
	}
	if s.flags.format == "bench" {
		return ui.ExitMet, nil
	}
	return ui.Exit(summary.Exit), nil
}
