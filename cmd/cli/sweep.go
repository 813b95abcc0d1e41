package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/study"
)

type sweepFlags struct {
	runFlags
	vary    []string
	metrics []string
	shard   string
	force   bool
}

func newSweep() *cobra.Command {
	f := sweepFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "sweep SCENARIO --vary KEY=VALUES... [flags]",
		Short: "run a scenario under many values of its keys",
		Long: `sweep runs a scenario once for every combination of the values given, with the same seeds
each time, and prints a row for every combination and policy: the metrics of the objectives
with their 95 % intervals, and whether the objectives are met. KEY is any key that --set
takes, but for the names of things and the seeds. VALUES is one of

    8,16,32              a list; quotes and brackets keep their commas
    10s..60s/10s         from, to and step
    10s..60s/6           six values at equal distances; for plain numbers: 8..64/4points
    1s..8m*2             log steps, each twice the one before; 1s..10m*5points
    1..8                 every whole number
    1,2,4..16*4          a list of such

Every finished cell is kept. After an interrupt or a crash, the same command continues
where it stopped. With --shard I/N it computes the cells whose number leaves I when divided by
N, on any machine, and qsim merge joins the shards to the same files that one process
would have written: sweep.json, sweep.csv, sweep.yaml and charts.

Objectives do not change the exit code: a sweep explores where they are met.
    0  all cells are computed
    2  the command line or a scenario is wrong, or the folder holds another sweep
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: what has finished is kept; 143 if it was by SIGTERM`,
		Example: `  qsim sweep retry-storm --vary engine.workers=60..140/20
  qsim sweep my.yaml --vary retry.jitter=none,full,"±20%" --vary retry.backoff.first=1s..1m*2 -n 5
  qsim sweep my.yaml --vary storms.down.for=1m..10m/1m --metric goodput --format csv
  qsim sweep my.yaml --vary engine.workers=8..64/4points --shard 3/8 -o shared/sweep`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runSweep(c, names[0], &f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.vary, "vary", nil, "the values that a key takes, as `KEY=VALUES`; repeatable, for all "+
		"combinations")
	flags.StringArrayVar(&f.metrics, "metric", nil, "report this `METRIC` beside those of the objectives, as goodput "+
		"or 'goodput during STORM'; or all; repeatable")
	ui.Group(c, "What to vary", "vary", "metric")
	addScenarioFlags(c, "What to run", &f.scenarioFlags)
	flags.Lookup("baseline").Hidden = true // the table has no comparison
	flags.Lookup("strict").Usage = "warnings are errors"
	flags.StringVar(&f.shard, "shard", "", "compute only part `I/N` of the cells, I from 0")
	addManyFlags(c, &f.runFlags, "the `DIR` of the sweep (default: results/runs/SCENARIO/sweep-CONFIG)")
	flags.BoolVarP(&f.force, "force", "f", false, "compute existing cells again, and replace another sweep in its folder")
	ui.Group(c, "How to run it", "shard", "parallel", "memory", "force")
	ui.Group(c, "Output", "format", "out")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

func runSweep(c *cobra.Command, name string, f *sweepFlags) error {
	if len(f.vary) == 0 {
		return ui.UsageError("sweep over what? Give --vary KEY=VALUES, as --vary engine.workers=40,80,160")
	}
	axes, err := study.ParseAxes("--vary", f.vary)
	if err != nil {
		return ui.Fail(ui.ExitUsage, err)
	}
	shard := study.Shard{Index: 0, Of: 1}
	if c.Flags().Changed("shard") {
		if shard, err = study.ParseShard(f.shard); err != nil {
			return ui.UsageError("--shard %s: %w", f.shard, err)
		}
	}
	return f.study(c, name, keeping, nil, func(ctx context.Context, s *session, source study.Source) (err error) {
		if source.Queries, err = queriesOf(f.metrics, s.loaded.Scenario); err != nil {
			return err
		}
		plan, err := study.New(source, axes)
		if err != nil {
			return ui.UsageError("%s: %w", s.loaded.Name, err)
		}
		dir := s.folder("sweep", plan.Sweep.Scenario, plan.Sweep.ConfigHash)
		work, err := study.Open(dir, plan, shard, f.force)
		if err != nil {
			return studyError("sweep", err)
		}
		if err := s.check(axes, cellCount, func() ([]study.Note, error) {
			return plan.Check(ctx, work.Left(), f.strict) // all cells, or an error would be found hours later
		}, "--vary"); err != nil {
			return err
		}
		start := time.Now()
		if err := s.compute(ctx, plan, work); err != nil {
			return err
		}
		note := fmt.Sprintf("%s in %.1fs", cellCount(len(work.Left())), time.Since(start).Seconds())
		if shard.Of == 1 {
			return s.mergeShards(dir, note)
		}
		part, err := work.Read()
		if err != nil {
			return studyError("sweep", err)
		}
		return s.print(s.sweepOutput(part), work.Path, note)
	})
}

// queriesOf parses the values of --metric, and makes the scenario measure those metrics; "all" means every metric
// computed by default.
func queriesOf(metrics []string, scenario *scenarios.Scenario) ([]measure.Query, error) {
	var queries []measure.Query
	for _, text := range metrics {
		if text == "all" {
			for _, m := range measure.Metrics() {
				if !m.OnRequest {
					queries = append(queries, measure.Query{Metric: m.Name})
				}
			}
			continue
		}
		q, err := measure.ParseQuery(text)
		if err != nil {
			return nil, ui.UsageError("--metric %s: %w", text, err)
		}
		queries = append(queries, q)
	}
	if err := scenario.Measure(queries); err != nil {
		return nil, ui.UsageError("--metric %w", err)
	}
	return queries, nil
}

func cellCount(n int) string { return plain.Plural(n, "cell") }

// compute simulates the unfinished cells (combinations of values) of a shard (part of a sweep) and completes its file.
func (s *session) compute(ctx context.Context, plan *study.Plan, work *study.Work) error {
	dir := filepath.Dir(work.Path)
	if err := work.Start(); err != nil {
		return studyError("sweep", err)
	}
	if work.Damaged {
		s.console.Note("%s is damaged: what it held is computed again", work.Path)
	}
	left := work.Left()
	if there := work.Size() - len(left); there > 0 {
		s.console.Note("%d of %s are there, in %s", there, cellCount(work.Size()), dir)
	}
	if s.flags.Verbose {
		s.console.Note("%s: %s × %d simulations, config %s", s.loaded.Name, cellCount(len(left)), plan.Simulations(),
			plan.Sweep.ConfigHash)
	}
	size := work.Size()
	count := &sweepCount{start: time.Now(), there: size - len(left), all: size, each: plan.Simulations()}
	bar := s.progress("simulations", count.String)
	draw := func() {
		bar.Set(plan.Sweep.Scenario, count.there*count.each+int(count.simulations.Load()), size*count.each)
	}
	draw()
	seen := plan.Sweep
	err := plan.Run(ctx, left, study.Options{
		Ended: func(*measure.Run) {
			count.simulations.Add(1)
			draw()
		},
		Keep: func(cell *results.Cell) error {
			if err := work.Keep(cell); err != nil {
				return ui.Fail(ui.ExitIO, err)
			}
			if count.done.Add(1); s.flags.Verbose && !bar.Drawn() {
				fmt.Fprintln(s.console, count)
			}
			seen.Cells = append(seen.Cells, results.Cell{Index: cell.Index, Warnings: cell.Warnings})
			return nil
		},
	})
	bar.Close()
	switch {
	case errors.Is(err, context.Canceled):
		s.console.Note("interrupted: %d of %s are finished and kept; the same command goes on with the others",
			count.there+int(count.done.Load()), cellCount(size))
		return ui.Fail(ui.ExitInterrupted, nil)
	case errors.As(err, new(*study.SettingError)):
		return s.failure(s.loaded, err, "")
	case err != nil:
		return err
	}
	slices.SortFunc(seen.Cells, func(a, b results.Cell) int { return a.Index - b.Index })
	s.tellNotes(cellCount, " in "+dir, study.Warnings(&seen))
	return studyError("sweep", work.Finish())
}

// sweepCount counts the finished cells and simulations of a sweep. It may be used from several goroutines.
type sweepCount struct {
	start             time.Time
	there, all        int // number of cells finished before the start, and of all cells of the shard
	each              int // number of simulations of a cell
	done, simulations atomic.Int64
}

// String returns the number of finished cells of a sweep as text and, from the first simulation on, an estimate of the
// time left from the mean time of this process's simulations.
func (c *sweepCount) String() string {
	words := fmt.Sprintf("%d of %s", c.there+int(c.done.Load()), cellCount(c.all))
	simulations := int(c.simulations.Load())
	left := (c.all-c.there)*c.each - simulations
	if simulations == 0 || left == 0 {
		return words
	}
	each := time.Since(c.start).Seconds() / float64(simulations)
	return words + ", " + plain.Duration(each*float64(left)) + " left"
}

// sweepOutput returns the results of a sweep, which may be partial, in all output formats of a command.
func (s *session) sweepOutput(sweep *results.Sweep) ui.Output {
	return s.output(func() ([]byte, error) { return study.MarshalSweep(sweep) },
		func(o text.TableOptions) string { return text.Sweep(sweep, o) })
}
