package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/engine/quantity"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/scenarios"
	"qsim/scenarios/study"
	"qsim/scenarios/world"
)

type mapFlags struct {
	runFlags
	x, y   string
	metric string
	edge   string
	refine int
}

// seedsOfMap is the default number of seeds for each point (pair of values) of a map.
const seedsOfMap = 3

func newMap() *cobra.Command {
	f := mapFlags{runFlags: runFlags{format: "table"}}
	c := &cobra.Command{
		Use:   "map SCENARIO --x KEY=RANGE --y KEY=RANGE [flags]",
		Short: "map a metric over two keys, and the edge beyond which nothing recovers",
		Long: `map measures a metric over two keys of a scenario, under each policy, and draws a heat map
with an edge: beyond it the queue does not recover within the run (or only a lower bound of
the metric is known), or with --edge the metric exceeds that value. It measures the grid of
the two ranges, and then halves only the cells that the edge passes through, --refine times.

A RANGE is a list (8,16,32), steps (10s..60s/10s), a number of points (10s..60s/6,
8..64/4points), log steps (1s..8m*2) or log points (1s..10m*9points).

The files go to results/maps: map.png and map.svg with a panel for each policy, one of each
policy alone, and map.csv with every point. Points have 3 seeds unless -n says otherwise.`,
		Example: "  qsim map published/metastable-edge --x jobs.requests.arrivals.rate=10/s..30/s/2.5/s " +
			"--y storms.outage.for=250ms..16s*2" + `
  qsim map retry-storm --x engine.workers=80..140/20 --y storms.payments-down.for=1m..8m*2 --policy fifo -n 1
  qsim map retry-storm --x retry.max-attempts=2,4,8 --y jobs.mail.arrivals.rate=20/s..40/s/10/s ` +
			"--metric fresh.wait.p99 --edge 10s",
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runMap(c, names[0], &f) },
	}
	flags := c.Flags()
	flags.StringVarP(&f.x, "x", "x", "", "the key along the map and its values, `KEY=RANGE`")
	flags.StringVarP(&f.y, "y", "y", "", "the key up the map and its values, `KEY=RANGE`")
	flags.StringVar(&f.metric, "metric", "recovery.time", "measure this `METRIC`, alone or narrowed as in "+
		"'fresh.wait.p99 during STORM class CLASS'; recovery.time and drain.time are those after the first storm "+
		"unless 'after STORM' names another; see qsim list metrics")
	flags.StringVar(&f.edge, "edge", "", "the `VALUE` that the edge follows, as 10s or 20% (default: where there is "+
		"none within the run)")
	flags.IntVar(&f.refine, "refine", 3, "halve the cells at the edge this many `TIMES`")
	ui.Group(c, "What to map", "x", "y", "metric", "edge", "refine")
	addScenarioFlags(c, "What to run", &f.scenarioFlags, "baseline", "strict")
	flags.Lookup("seeds").Usage = fmt.Sprintf("`NUMBER` of seeds at every point (default: %d)", seedsOfMap)
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	ui.Group(c, "How to run it", "parallel", "memory")
	ui.AddChoice(c, &f.format, "format", "FORMAT", "of the result: table, csv or json", "table", "csv", "json")
	flags.StringVarP(&f.out, "out", "o", filepath.Join("results", "maps"), "write files below this `DIR`")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	ui.Group(c, "Output", "format", "out", "no-files")
	ui.AddTerminal(c, &f.Terminal, "quiet", "color", "progress")
	return c
}

type mapping struct {
	*session
	flags *mapFlags
	plan  study.MapPlan
}

func runMap(c *cobra.Command, name string, f *mapFlags) error {
	if !c.Flags().Changed("seeds") {
		if err := c.Flags().Set("seeds", strconv.Itoa(seedsOfMap)); err != nil {
			return err
		}
	}
	const note = "a map that is not done is not kept"
	return f.study(c, name, note, nil, func(ctx context.Context, s *session, source study.Source) error {
		m := &mapping{s, f, study.MapPlan{Source: source, Depth: f.refine}}
		if err := m.prepare(); err != nil {
			return err
		}
		if err := s.check([]study.Axis{m.plan.X, m.plan.Y}, nil, // there are no notes to count
			func() ([]study.Note, error) { return nil, m.plan.Check(ctx) }, "--x", "--y"); err != nil {
			return err
		}
		if !f.noFiles {
			place := results.Place{Out: f.out, Scenario: s.loaded.Scenario.Name}
			if err := ui.IOError("write map", place.Writable()); err != nil {
				return err
			}
		}
		found, err := m.measure(ctx)
		if err != nil {
			return s.failure(s.loaded, err, "")
		}
		result := s.output(found.JSON, found.Table)
		folder, err := m.store(found, result)
		return cmp.Or(s.print(result, folder, ""), err)
	})
}

func (m *mapping) prepare() (err error) {
	for _, a := range []struct {
		flag, text string
		to         *study.Axis
	}{{"x", m.flags.x, &m.plan.X}, {"y", m.flags.y, &m.plan.Y}} {
		if a.text == "" {
			return ui.UsageError("--%s is missing: want KEY=RANGE, as engine.workers=80..140/20", a.flag)
		}
		if *a.to, err = study.ParseAxis(a.text); err != nil {
			return ui.UsageError("--%s %w", a.flag, err)
		}
	}
	return m.readMetric()
}

func (m *mapping) readMetric() error {
	f := m.flags
	q, err := measure.ParseQuery(f.metric)
	if err != nil {
		return ui.UsageError("--metric %s: %w", f.metric, err)
	}
	info, ok := measure.Lookup(q.Metric)
	if !ok {
		return unknownMetric(q.Metric)
	}
	if storms := world.Windows(m.loaded.Scenario); q.After == "" && q.During == "" &&
		(q.Metric == "recovery.time" || q.Metric == "drain.time") {
		if len(storms) == 0 {
			return ui.UsageError("--metric %s: the scenario has no storm; choose another metric", q.Metric)
		}
		q.After = storms[0].Name
	}
	probe := *m.loaded.Scenario
	if err := probe.Measure([]measure.Query{q}); err != nil {
		return ui.UsageError("--metric %w", err)
	}
	m.plan.Query, m.plan.Edge, m.plan.EdgeText = q, math.NaN(), f.edge
	if f.edge == "" {
		return nil
	}
	if m.plan.Edge, err = readValue(f.edge, info); err != nil {
		return ui.UsageError("--edge %s: %w", f.edge, err)
	}
	return nil
}

func (m *mapping) measure(ctx context.Context) (*study.Mapped, error) {
	current := m.progress("points", nil)
	m.plan.Progress = func(policy string, round, points int) func() {
		current.Close()
		label := policy + plain.Either(round > 0, fmt.Sprintf(": edge, round %d", round), ": grid")
		current = m.progress("points", nil)
		current.Set(label, 0, points)
		count := 0
		return func() {
			count++
			current.Set(label, count, points)
		}
	}
	defer func() { current.Close() }()
	return m.plan.Run(ctx, m.loaded.Scenario)
}

// store writes the files of a map and returns their folder, "" under --no-files.
func (m *mapping) store(found *study.Mapped, result ui.Output) (string, error) {
	if m.flags.noFiles {
		return "", nil
	}
	figures, err := report.MapCharts(&found.Map)
	if err != nil {
		return "", ui.IOError("write map", err)
	}
	files, err := filesOf(result, "map", "", figures, "csv")
	if err != nil {
		return "", ui.IOError("write map", err)
	}
	place := results.Place{Out: m.flags.out, Scenario: found.Scenario, ConfigHash: found.ConfigHash, Start: time.Now()}
	own := results.File{Path: "scenario.yaml", Data: m.loaded.Scenario.Resolved()}
	files, missing := input.WithData(append(files, own), m.loaded.Scenario)
	folder, err := results.Write(place, files)
	return folder, ui.IOError("write map", cmp.Or(err, missing))
}

// readValue parses the value of --edge in the unit of a metric: 10s as 10 (seconds), 20% as 0.2, 5/s as 5.
func readValue(text string, info measure.MetricInfo) (float64, error) {
	switch {
	case info.Unit == "s":
		d, err := quantity.ParseDuration(text)
		return d.Seconds(), err
	case info.Share:
		var s scenarios.Share
		err := s.UnmarshalText([]byte(text))
		return s.Float(), err
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("want a number")
	}
	return v, nil
}
