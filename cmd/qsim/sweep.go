package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/cli"
	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/sweep"
)

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	runFlags
	vary    []string
	metrics []string
	shard   string
	force   bool
}

func newSweep() *cobra.Command {
	f := sweepFlags{runFlags: runFlags{format: "table", color: "auto", bars: "auto"}}
	c := &cobra.Command{
		Use:     "sweep SCENARIO --vary KEY=VALUES... [flags]",
		Short:   "run a scenario under many values of its keys",
		GroupID: "scenarios",
		Long: `sweep runs a scenario once for every combination of the values given, with the same seeds
each time, and prints a row for every combination and policy: the metrics of the objectives
with their 95 % intervals, and whether the objectives are met. KEY is any key that --set
takes, but for the names of things and the seeds. VALUES is one of

    8,16,32              a list; quotes and brackets keep their commas
    10s..60s/10s         from, to and step
    10s..60s/6           so many values at equal distances; of plain numbers: 8..64/4points
    1s..8m*2             log steps, each twice the one before; 1s..10m*5points
    1..8                 every whole number
    1,2,4..16*4          a list of such

Every cell that is finished is kept. After an interrupt or a crash, the same command goes
on where it was. With --shard I/N it computes the cells whose number leaves I when divided by
N, on whatever machine, and qsim merge joins the shards to the very files that one process
would have written: sweep.json, sweep.csv, sweep.yaml and charts.

Objectives do not change the exit code: a sweep is to find where they are met.
    0  all cells are computed
    2  the command line or a scenario is wrong, or the folder holds another sweep
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: what has finished is kept`,
		Example: `  qsim sweep retry-storm --vary engine.workers=60..140/20
  qsim sweep my.yaml --vary retry.jitter=none,full,"±20%" --vary retry.backoff.first=1s..1m*2 -n 5
  qsim sweep my.yaml --vary storms.down.for=1m..10m/1m --metric goodput --format csv
  qsim sweep my.yaml --vary engine.workers=8..64/4points --shard 3/8 -o shared/sweep`,
		Args: oneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			if err := cli.ReadEnvironment(c); err != nil {
				return err
			}
			return runSweep(c, names[0], &f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.vary, "vary", nil, "the values that a key takes, as `KEY=VALUES`; repeatable, for all combinations")
	flags.StringArrayVar(&f.metrics, "metric", nil, "report this `METRIC` beside those of the objectives, as goodput or 'goodput during STORM'; or all; repeatable")
	cli.Group(c, "What to vary", "vary", "metric")
	addScenarioFlags(c, "What to run", &f.scenarioFlags)
	flags.Lookup("baseline").Hidden = true // the table compares nothing
	flags.Lookup("strict").Usage = "warnings are errors"
	flags.StringVar(&f.shard, "shard", "", "compute only part `I/N` of the cells, I from 0")
	addManyFlags(c, &f.runFlags, "the `DIR` of the sweep (default: results/runs/SCENARIO/sweep-CONFIG)")
	flags.BoolVarP(&f.force, "force", "f", false, "compute again what is there, and replace another sweep in its folder")
	flags.Var(&f.bars, "progress", "draw progress bars: auto, always or never")
	cli.Group(c, "How to run it", "shard", "parallel", "force")
	cli.Group(c, "Output", "format", "out")
	cli.Group(c, "Terminal", "quiet", "verbose", "progress")
	return c
}

// sweeping is one invocation of sweep.
type sweeping struct {
	*session
	flags  *sweepFlags
	loaded loaded
	plan   *sweep.Plan
	shard  sweep.Shard
	dir    string
}

func runSweep(c *cobra.Command, name string, f *sweepFlags) error {
	s := &sweeping{flags: f, session: &session{flags: &f.runFlags, command: os.Args, stdout: c.OutOrStdout(), console: cli.NewConsole(c, f.quiet)}}
	if err := s.prepare(c, name); err != nil {
		return err
	}
	ctx, stop := s.console.Interruptible(c.Context(), keeping)
	defer stop()
	work, err := sweep.Open(s.dir, s.plan, s.shard, f.force)
	if err != nil {
		return sweepError(err)
	}
	tellShort(s.console, s.plan.Axes)
	if err := s.check(ctx, c.ErrOrStderr(), work.Left()); err != nil {
		return err
	}
	start := time.Now()
	if err := s.compute(ctx, work); err != nil {
		return err
	}
	note := fmt.Sprintf("%s in %.1fs", cellCount(len(work.Left())), time.Since(start).Seconds())
	if s.shard.Of > 1 {
		part, err := work.Read()
		if err != nil {
			return sweepError(err)
		}
		return s.printSweep(part, work.Path, note)
	}
	merged, err := sweep.Merge(s.dir)
	if err != nil {
		return sweepError(err)
	}
	if err := placeSweep(s.dir, merged); err != nil {
		return err
	}
	return s.printSweep(merged.Sweep, s.dir, note)
}

// prepare makes the plan, and complains about whatever is wrong with flags and scenario.
func (s *sweeping) prepare(c *cobra.Command, name string) error {
	f := s.flags
	if err := f.checkMany(); err != nil {
		return err
	}
	axes, err := f.axes()
	if err != nil {
		return err
	}
	s.shard = sweep.Shard{Index: 0, Of: 1}
	if c.Flags().Changed("shard") {
		if s.shard, err = sweep.ParseShard(f.shard); err != nil {
			return cli.UsageError("--shard %s: %w", f.shard, err)
		}
	}
	cli.WarnOfVariables(c, s.console)
	overrides, err := f.overrides(c)
	if err != nil {
		return err
	}
	if s.loaded, err = loadOne(name, overrides, &f.scenarioFlags, c.ErrOrStderr(), s.console); err != nil {
		return err
	}
	queries, err := queriesOf(f.metrics, s.loaded.scenario)
	if err != nil {
		return err
	}
	source := sweep.Source{Name: s.loaded.name, Text: s.loaded.source, Sets: overrides, Policies: f.policies, Queries: queries}
	if s.plan, err = sweep.New(source, axes, cli.Version); err != nil {
		return cli.UsageError("%s: %w", s.loaded.name, err)
	}
	if s.dir = f.out; s.dir == "" {
		s.dir = filepath.Join("results", "runs", s.plan.Sweep.Scenario, "sweep-"+s.plan.Sweep.ConfigHash)
	}
	return nil
}

// axes are those of --vary, or all that is wrong with them.
func (f *sweepFlags) axes() ([]sweep.Axis, error) {
	if len(f.vary) == 0 {
		return nil, cli.UsageError("sweep over what? Give --vary KEY=VALUES, as --vary engine.workers=40,80,160")
	}
	var axes []sweep.Axis
	var problems []error
	for _, text := range f.vary {
		axis, err := sweep.ParseAxis(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--vary %w", err))
		}
		axes = append(axes, axis)
	}
	if len(problems) > 0 {
		return nil, cli.Fail(cli.ExitUsage, errors.Join(problems...))
	}
	return axes, nil
}

// tellShort says which ranges do not reach their ends.
func tellShort(console *cli.Console, axes []sweep.Axis) {
	for i := range axes {
		for _, short := range axes[i].Range.Short {
			console.Note("%s=%s: one step more goes beyond", axes[i].Key, short)
		}
	}
}

// queriesOf are what --metric asks of a scenario.
func queriesOf(metrics []string, scenario *scenarios.Scenario) ([]results.Query, error) {
	var queries []results.Query
	for _, text := range metrics {
		if text == "all" {
			for _, m := range results.Metrics() {
				if !m.OnRequest {
					queries = append(queries, results.Query{Metric: m.Name})
				}
			}
			continue
		}
		q, err := results.ParseQuery(text)
		if err != nil {
			return nil, cli.UsageError("--metric %s: %w", text, err)
		}
		queries = append(queries, q)
	}
	probe := *scenario
	if err := probe.Measure(queries); err != nil {
		return nil, cli.UsageError("--metric %w", err)
	}
	return queries, nil
}

// check loads all cells before the first is simulated, so that a mistake is not found hours
// later.
func (s *sweeping) check(ctx context.Context, stderr io.Writer, cells []int) error {
	notes, err := s.plan.Check(ctx, cells, s.flags.strict, sweep.Options{Parallel: s.flags.parallel})
	if err != nil {
		return checkError(err, s.loaded.name, "--vary", stderr)
	}
	tellNotes(s.console, s.plan, cellCount, "", notes)
	return nil
}

// checkError is why the values that flag gave cannot be simulated; what is wrong with them is
// written to stderr.
func checkError(err error, name, flag string, stderr io.Writer) error {
	var wrong *sweep.Wrong
	switch {
	case errors.Is(err, context.Canceled):
		return cli.Fail(cli.ExitInterrupted, fmt.Errorf("%s: interrupted before anything was computed", name))
	case errors.As(err, &wrong):
		if err := wrong.Render(stderr, flag); err != nil {
			return cli.IOError("write diagnostics", err)
		}
		return cli.Fail(cli.ExitUsage, nil)
	}
	return cli.UsageError("%s: %w", name, err)
}

// mostNotes is how many warnings about cells are printed.
const mostNotes = 10

// tellNotes prints warnings about some of the cells, which count counts; where says where more are.
func tellNotes(console *cli.Console, plan *sweep.Plan, count func(int) string, where string, notes []sweep.Note) {
	for i, note := range notes {
		if i == mostNotes {
			console.Note("and %d warnings more%s", len(notes)-i, where)
			return
		}
		console.Note("%s: warning: %s (%s, first with %s)", plan.Source.Name, note.Text, count(note.Cells), plan.CellName(note.First))
	}
}

func cellCount(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return fmt.Sprintf("%d cells", n)
}

// sweepError tells what the user can mend from failures to read and write.
func sweepError(err error) error {
	var refusal *sweep.Refusal
	if errors.As(err, &refusal) {
		return cli.Fail(cli.ExitUsage, err)
	}
	return cli.IOError("sweep", err)
}
