package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/study"
)

type tuneFlags struct {
	runFlags
	problem          study.Problem
	over, objectives []string
	goals            [4]string // values of the flags listed in goals, by index
}

// goals lists the flags of qsim tune for the goal of its search, of which one at most is given.
var goals = [4]struct {
	name  string
	aim   study.Aim
	usage string
}{
	{"smallest", study.Smallest, "the smallest value of `KEY` that meets all objectives"},
	{"largest", study.Largest, "the largest value of `KEY` that meets all objectives"},
	{"minimize", study.Minimize, "of the settings that meet all objectives, the one with the least `METRIC`"},
	{"maximize", study.Maximize, "of the settings that meet all objectives, the one with the greatest `METRIC`"},
}

func newTune() *cobra.Command {
	f := tuneFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "tune SCENARIO --over KEY=RANGE... [flags]",
		Short: "find the setting that meets the objectives best",
		Long: `tune finds the values of some keys under which each policy meets all objectives, and among
them the best by a goal: the smallest or largest value of the key, the least or greatest
value of a metric, or by default the greatest margin to the objectives. It simulates as
little as possible, and prints its confidence, the number of simulations and what it did not
try. The confidence holds if seeds scatter normally; as many fresh seeds check the answer.
KEY is any key that --set takes, and a policy's own: policies.LABEL.PARAMETER. RANGE is as
for sweep --vary.

    --smallest, --largest   bisection, with more seeds until each verdict is clear, and a
                            look at the neighbours of the answer
    --minimize, --maximize  KN (Kim and Nelson 2001): 20 seeds of every setting; from then on
                            it compares all after every seed and drops those that fall
                            behind, with t tests at some

All settings have the same seeds. Objectives are those of the scenario, expect: missed or not,
unless --objective gives others. Files: tune.json, tune.csv and a chart of what was tried.
What was simulated is kept there until the search is done: after an interrupt or a crash the
same command goes on where it was.

    0  every policy has a setting that meets the objectives
    1  some policy has none, or none that is certain
    2  the command line or a scenario is wrong
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: what was simulated is kept; 143 if it was by SIGTERM`,
		Example: `  qsim tune retry-storm --over engine.workers=40..160/10 --smallest engine.workers
  qsim tune retry-storm --over storms.payments-down.for=1m..15m/1m --largest storms.payments-down.for
  qsim tune my.yaml --over policies.inflight-cap.retries=5%..50%/5% --objective 'fresh.wait.p99 during down below 10s'
  qsim tune my.yaml --over retry.backoff.first=250ms..32s*2 --over retry.jitter=none,full --minimize sojourn.p99`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runTune(c, names[0], &f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.over, "over", nil, "the values that a key may have, as `KEY=RANGE`; repeatable, for all "+
		"combinations")
	flags.StringArrayVar(&f.objectives, "objective", nil, "what must be met, as `'METRIC [during STORM] below BOUND'`; "+
		"repeatable (default: the scenario's)")
	for i, g := range goals {
		flags.StringVar(&f.goals[i], g.name, "", g.usage)
	}
	ui.Group(c, "What to find", "over", "objective", "smallest", "largest", "minimize", "maximize")
	addScenarioFlags(c, "What to run", &f.scenarioFlags, "baseline")
	flags.Lookup("seeds").Hidden = true // tune gives each setting as many as it takes
	flags.Lookup("strict").Usage = "warnings are errors"
	p := &f.problem
	p.MostSeeds, p.Confidence, p.Indifference = 200, 0.95, 0.05
	ui.AddAtLeast(c, &p.MostSeeds, "max-seeds", "", 20, "at most this `NUMBER` of seeds for one setting")
	addPercent(c, &p.Confidence, "confidence", "`PERCENT` of confidence in the answer for each policy")
	addPercent(c, &p.Indifference, "indifference", "ignore differences below this `PERCENT`")
	addManyFlags(c, &f.runFlags, "write files to this `DIR` (default: results/runs/SCENARIO/tune-CONFIG)", judging...)
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	ui.Group(c, "How to search", "max-seeds", "confidence", "indifference", "parallel", "memory")
	ui.Group(c, "Output", "format", "out", "no-files")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

// goal checks the flags of qsim tune and sets the goal of the search: minimize, maximize, smallest, largest or none.
func (f *tuneFlags) goal(c *cobra.Command) error {
	p := &f.problem
	switch {
	case c.Flags().Changed("seeds"):
		return ui.UsageError("--seeds: tune gives each setting as many as it takes; --max-seeds bounds them")
	case len(f.over) == 0:
		return ui.UsageError("tune what? Give --over KEY=RANGE, as --over engine.workers=40..160/10")
	case p.Confidence < 0.5 || p.Confidence >= 1:
		return ui.UsageError("--confidence %g%%: want at least 50%% and less than 100%%", 100*p.Confidence)
	case p.Indifference <= 0 || p.Indifference >= 1:
		return ui.UsageError("--indifference %g%%: want more than 0%% and less than 100%%", 100*p.Indifference)
	}
	given := 0
	for i, g := range goals {
		value := f.goals[i]
		if value == "" {
			continue
		}
		given++
		p.Aim, p.Key = g.aim, value
		if g.aim == study.Minimize || g.aim == study.Maximize {
			q, err := measure.ParseQuery(value)
			if err != nil {
				return ui.UsageError("--%s %s: %w", g.name, value, err)
			}
			p.Query = q
		}
	}
	if given > 1 {
		return ui.UsageError("--smallest, --largest, --minimize and --maximize exclude each other: one goal")
	}
	return nil
}

func runTune(c *cobra.Command, name string, f *tuneFlags) (err error) {
	if err := f.goal(c); err != nil {
		return err
	}
	if f.problem.Axes, err = study.ParseAxes("--over", f.over); err != nil {
		return ui.Fail(ui.ExitUsage, err)
	}
	var more []scenarios.Override
	if len(f.objectives) > 0 {
		o, err := study.Objectives(f.objectives)
		if err != nil {
			return ui.Fail(ui.ExitUsage, err)
		}
		more = append(more, o)
	}
	note := plain.Either(f.noFiles, "nothing is kept", keeping)
	return f.study(c, name, note, more, func(ctx context.Context, s *session, source study.Source) error {
		f.problem.Source = source
		if err := s.check(f.problem.Axes, func(n int) string { return plain.Plural(n, "setting") },
			func() ([]study.Note, error) { return f.problem.Check(ctx, f.strict) }, "--over"); err != nil {
			return err
		}
		return f.search(ctx, s)
	})
}

// search runs qsim tune's search for the best setting of each policy, prints the result and writes the files.
func (f *tuneFlags) search(ctx context.Context, s *session) error {
	problem, l := &f.problem, s.loaded
	var simulated atomic.Int64
	bars := s.progress("settings judged", func() string { return fmt.Sprintf("%d simulations", simulated.Load()) })
	problem.Judged = bars.Set
	interrupted := "interrupted: nothing is kept"
	if !f.noFiles {
		problem.Keep = func(hash string) string {
			return filepath.Join(s.folder("tune", l.Scenario.Name, hash), "observed.jsonl")
		}
		interrupted = "interrupted: what was simulated is kept; the same command goes on"
	}
	found, err := problem.Run(ctx, func(policy string) {
		// Lines become rarer as simulations add up: after 10, 20, ..., 100, 200, ...
		n, step := simulated.Add(1), int64(10)
		for step*10 <= n {
			step *= 10
		}
		if f.Verbose && n%step == 0 {
			s.console.Note("%s: %d simulations so far", policy, n)
		}
	})
	bars.Close()
	if err != nil {
		return s.failure(l, err, interrupted)
	}
	var given []string // by --set, --seed and --objective
	for _, set := range l.Sets[:len(l.Sets)-len(l.Added)] {
		given = append(given, set.Path+"="+set.Value)
	}
	again := func(policy string, sets []string) string {
		return plain.ShellLine(commandOf("run", l, given, sets, policy)...)
	}
	result := s.output(func() ([]byte, error) { return results.MarshalTuning(found) },
		func(o text.TableOptions) string { return study.TuningTable(found, o, again) },
		text.Suite{Name: found.Scenario, File: l.Name, Cases: found.Cases()})
	folder := s.folder("tune", found.Scenario, found.ConfigHash)
	var stored error
	if !f.noFiles {
		figures, err := report.TuneCharts(found)
		if err == nil {
			err = store(result, folder, "tune", figures)
		}
		if err == nil {
			err = os.RemoveAll(problem.Keep(found.ConfigHash)) // another process may have made the same search
		}
		stored = ui.IOError("write tuning", err)
	}
	if err := cmp.Or(s.print(result, "", ""), stored); err != nil {
		return err
	}
	if !f.noFiles {
		s.console.Note("%s", shown(folder))
	}
	if slices.ContainsFunc(found.Cases(), func(c results.Case) bool { return c.Failed }) {
		return ui.Fail(ui.ExitMissed, nil)
	}
	return nil
}
