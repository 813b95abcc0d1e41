package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"qsim/cmd/cli"
)

// mapFlags are the flags of map.
type mapFlags struct {
	scenarioFlags
	x, y          string
	metric        string
	after, during string
	class         string
	edge          string
	refine        int
	parallel      int
	out           string
	noFiles       bool
	format        mapFormat
	bars          when
}

// seedsOfMap is how many seeds a point has unless they are asked for.
const seedsOfMap = 3

func newMap() *cobra.Command {
	f := mapFlags{format: "table", bars: "auto"}
	c := &cobra.Command{
		Use:     "map SCENARIO --x KEY=RANGE --y KEY=RANGE [flags]",
		Short:   "map a metric over two keys, and the edge beyond which nothing recovers",
		GroupID: "scenarios",
		Long: `map measures a metric over two keys of a scenario, under each policy, and draws a heat map
with the edge: where recovery.time, or whatever the metric is, no longer comes within the
run, or with --edge where it passes a value. It measures the grid that the ranges span
and then only halves, --refine times, the cells that the edge passes through.

A RANGE is a list (8,16,32), steps (10s..60s/10s), a number of points (10s..60s/6,
8..64/4points), log steps (1s..8m*2) or log points (1s..10m*9points).

The files go to results/maps: map.png and map.svg with a panel for each policy, one of each
policy alone, and map.csv with every point. Points have 3 seeds unless -n says otherwise.`,
		Example: `  qsim map published/metastable-edge --x jobs.requests.arrivals.rate=10/s..30/s/2.5/s --y storms.outage.for=250ms..16s*2
  qsim map retry-storm --x engine.workers=80..140/20 --y storms.payments-down.for=1m..8m*2 --policy fifo -n 1
  qsim map retry-storm --x retry.max-attempts=2,4,8 --y jobs.mail.arrivals.rate=20/s..40/s/10/s --metric fresh.wait.p99 --edge 10s`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error {
			if err := cli.ReadEnvironment(c); err != nil {
				return err
			}
			return runMap(c, names, &f)
		},
	}
	addMapFlags(c, &f)
	return c
}

func addMapFlags(c *cobra.Command, f *mapFlags) {
	flags := c.Flags()
	flags.StringVar(&f.x, "x", "", "the key along the map and its values, `KEY=RANGE`")
	flags.StringVar(&f.y, "y", "", "the key up the map and its values, `KEY=RANGE`")
	flags.StringVar(&f.metric, "metric", "recovery.time", "what is measured: a `METRIC` of qsim list metrics")
	flags.StringVar(&f.after, "after", "", "the metric after this `STORM` (default for recovery.time and drain.time: the first)")
	flags.StringVar(&f.during, "during", "", "the metric during this `STORM`")
	flags.StringVar(&f.class, "class", "", "the metric of the jobs of this `CLASS`")
	flags.StringVar(&f.edge, "edge", "", "the `VALUE` that the edge follows, as 10s or 20% (default: where there is none within the run)")
	flags.IntVar(&f.refine, "refine", 3, "halve the cells at the edge so many `TIMES`")
	cli.Group(c, "What to map", "x", "y", "metric", "after", "during", "class", "edge", "refine")
	addScenarioFlags(c, "What to run", &f.scenarioFlags)
	flags.IntVarP(&f.parallel, "parallel", "j", 0, "simulate so many `RUNS` at once (default: one for each processor)")
	cli.Group(c, "How to run it", "parallel")
	flags.Var(&f.format, "format", "of the result: table, csv or json")
	flags.StringVarP(&f.out, "out", "o", filepath.Join("results", "maps"), "write files below this `DIR`")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	flags.Var(&f.bars, "progress", "draw progress bars: auto, always or never")
	cli.Group(c, "Output", "format", "out", "no-files", "progress")
}

// mapFormat is how a map is printed.
type mapFormat string

// String implements pflag.Value.
func (f *mapFormat) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *mapFormat) Set(text string) error {
	return cli.Choose((*string)(f), text, "table", "csv", "json")
}

// Type implements pflag.Value.
func (f *mapFormat) Type() string { return "FORMAT" }
