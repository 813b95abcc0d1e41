package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/origins"
	"qsim/scenarios/world"
)

type compareFlags struct {
	runFlags
	metrics       []string
	maxRegression float64
	report        string
}

func newCompare() *cobra.Command {
	f := compareFlags{runFlags: runFlags{format: "table", noFiles: true, sameWithin: results.DefaultSameWithin}}
	c := &cobra.Command{
		Use:   "compare BASE NEW... [flags]",
		Short: "compare results with earlier ones, for regressions",
		Long: `compare shows what changed from one result of a scenario to others of the same scenario,
policy by policy. BASE is the folder of a run, or the folder of a scenario for its latest
run. NEW is such a folder, or a scenario (a file or a built-in name), which is then run with
the seeds of BASE. If the seeds are the same, differences are paired by seed; if not, the
results are independent samples, and it takes more seeds to show a difference. The columns
show a quantile of the jobs of all seeds together; its paired difference is the mean of the
differences by seed, and the change is relative to their mean. Differences of shares are in
percentage points (pp).

With --max-regression every metric that has a better direction is judged: it is a regression
if the whole 95 % interval lies beyond the limit, after Holm's adjustment for the number of
metrics. If the limit lies inside the interval, the verdict is unclear, with the number of
seeds that would decide.

Exit codes:
    0  nothing is shown to be worse by more than --max-regression, or there is none;
       without --strict also where that is unclear, as with few seeds it often is
    1  something is, or under --strict may be
    2  the command line, a result or a scenario is wrong
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: nothing is compared; 143 if it was by SIGTERM`,
		Example: `  qsim compare results/runs/retry-storm/latest retry-storm    is it still the same?
  qsim compare before/retry-storm after/retry-storm --max-regression 5%
  qsim compare results/runs/my/latest my.yaml --set engine.workers=80
  qsim compare before/my after/my --report compared.html      and a page to look at
  qsim compare base new --metric goodput --metric sojourn.p99 --format json`,
		ValidArgsFunction: completeResults,
		Args: ui.Wanted(2, math.MaxInt,
			"compare what with what? Name the folder of a result, then one or more to compare with it"),
		RunE: func(c *cobra.Command, names []string) error { return compare(c, names, &f) },
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.metrics, "metric", nil, "compare this `METRIC` of the whole run, or all; repeatable "+
		"(default: those of the table, the objectives and the usual ones)")
	flags.StringVar(&f.report, "report", "", "draw both results over each other, with one cursor, into this `FILE`: a "+
		"page like that of a run")
	addPercent(c, &f.maxRegression, "max-regression",
		"exit with 1 if a metric is worse by more than this `PERCENT` of its base value")
	flags.BoolVar(&f.strict, "strict", false, "an unclear change counts as a regression, and warnings of a scenario are "+
		"errors")
	flags.StringArrayVar(&f.set, "set", nil, "set `KEY=VALUE` in a scenario that is run, such as engine.workers=80; "+
		"repeatable")
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	addFormat(c, &f.format, judging...)
	addSameWithin(c, &f.sameWithin)
	ui.Group(c, "What to compare", "metric", "max-regression", "strict")
	ui.Group(c, "How to run a scenario", "set", "parallel", "memory")
	ui.Group(c, "Output", "format", "same-within", "report")
	ui.AddTerminal(c, &f.Terminal, "quiet", "color", "progress")
	return c
}

func compare(c *cobra.Command, names []string, f *compareFlags) error {
	if f.report != "" && len(names) > 2 {
		return ui.UsageError("--report %s: a page is of two results, and here are %d", f.report, len(names))
	}
	s := newSession(c, &f.runFlags)
	base, err := readResult(names[0])
	if err != nil {
		if isScenario(names[0]) {
			err = ui.UsageError("%s is a scenario; the first argument is a result: compare with the folder of an earlier run",
				names[0])
		}
		return err
	}
	gate := results.Gate{Set: c.Flags().Changed("max-regression"), Most: f.maxRegression, Strict: f.strict}
	queries, err := f.queries(base.Summary)
	if err != nil {
		return err
	}
	if f.report != "" {
		if err := ui.IOError("write report", pageWritable(f.report)); err != nil {
			return err
		}
	}
	ctx, stop := s.console.Interruptible(c.Context(), "nothing is compared")
	defer stop()
	var new results.Named
	var list []*results.Comparison
	worst := ui.ExitMet
	for _, name := range names[1:] {
		if new, err = s.resultOf(ctx, c, name, base, f); err != nil {
			return err
		}
		comparison, err := results.Compare(base, new, queries, gate)
		if err != nil {
			return ui.Fail(ui.ExitUsage, err)
		}
		comparison.FindLikeness(f.sameWithin)
		worst = ui.Worse(worst, ui.Exit(comparison.Exit))
		list = append(list, comparison)
	}
	if len(f.set) > 0 && !slices.ContainsFunc(names[1:], func(name string) bool { return !isStored(name) }) {
		return ui.UsageError("--set %s: no scenario is run here, and results are compared as they are", f.set[0])
	}
	if f.report != "" {
		if err := writeComparison(f.report, base, new, list[0]); err != nil {
			return err
		}
	}
	var suites []text.Suite
	for i, comparison := range list {
		for _, warning := range comparison.Warnings {
			s.console.Note("%s: warning: %s", comparison.New.Name, warning)
		}
		suites = append(suites, text.Suite{Name: comparison.Scenario, File: names[i+1], Cases: comparison.Cases()})
	}
	result := s.output(func() ([]byte, error) { return results.MarshalComparisons(list) },
		func(o text.TableOptions) string { return text.Comparisons(list, o) }, suites...)
	return cmp.Or(s.print(result, "", ""), ui.Fail(worst, nil))
}

func writeComparison(file string, base, new results.Named, c *results.Comparison) error {
	var sides [2]*results.Summary
	for i, r := range [...]results.Named{base, new} {
		if sides[i] = r.Summary; r.Data != nil {
			continue
		}
		folders, err := runFolders(r.Name)
		if err != nil {
			return err
		}
		stored, err := results.ReadStored(inFolder(folders[0]))
		if err != nil {
			return ui.Fail(ui.ExitUsage, fmt.Errorf("%s: %w", folders[0], err))
		}
		sides[i] = stored.Summary
	}
	page, err := report.ComparePage(sides[0], sides[1], c, ui.Version)
	if err != nil {
		return ui.Fail(ui.ExitUsage, err)
	}
	return ui.IOError("write report", writePage(file, page))
}

// queries returns the metrics of --metric, with all those of base; without the flag none: results.Compare chooses.
func (f *compareFlags) queries(base *results.Summary) ([]measure.Query, error) {
	var queries []measure.Query
	for _, name := range f.metrics {
		if name == "all" {
			for _, e := range slices.Concat(base.Policies[0].Metrics, base.Policies[0].Filtered) {
				queries = append(queries, e.Query)
			}
			continue
		}
		if _, known := measure.Lookup(name); !known {
			return nil, unknownMetric(name)
		}
		queries = append(queries, measure.Query{Metric: name})
	}
	return plain.Distinct(queries), nil
}

// unknownMetric returns the usage error for a name that no metric has.
func unknownMetric(name string) error {
	return ui.UsageError("unknown metric %s%s", name,
		ui.Meant(name, measure.MetricNames(), "; qsim list metrics prints those there are"))
}

// readResult reads the summary of a stored run, without its data, and who made it: from the folder of the run, that of
// its scenario, or a summary.json by any name. Invalid content is a usage error, a failure to read an I/O error.
func readResult(name string) (results.Named, error) {
	summary := name
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		folder := latest(name)
		if folder == "" {
			return results.Named{}, ui.UsageError("%s has no summary.json: it is no folder of a run", name)
		}
		summary = filepath.Join(folder, "summary.json")
	} else if errors.Is(err, fs.ErrNotExist) {
		return results.Named{}, ui.UsageError("there is no result %s", name)
	}
	stored, err := results.ReadHead(func(path string) ([]byte, error) {
		if path == "summary.json" {
			return os.ReadFile(summary)
		}
		return os.ReadFile(filepath.Join(filepath.Dir(summary), path))
	})
	if err != nil {
		return results.Named{}, input.OpenError(fmt.Errorf("%s: %w", summary, err))
	}
	return results.Named{Summary: stored.Summary, Name: filepath.Clean(name), Version: stored.Made.Version,
		Keys: keysCompared(filepath.Join(filepath.Dir(summary), "scenario.yaml"), stored.Scenario)}, nil
}

// keysCompared returns the keys of a scenario that two results may differ by, which are all but the description and the
// seeds, given its resolved text and the path by which that names other files; nil if this version cannot load it.
func keysCompared(file string, resolved []byte) (keys []results.KeyValue) {
	scenario, _ := scenarios.Load(file, resolved, nil)
	if scenario == nil {
		return nil
	}
	for _, s := range origins.Of(scenario, nil) {
		if !slices.Contains([]string{"description", "seeds", "seed"}, s.Path) {
			keys = append(keys, results.KeyValue{Key: s.Path, Value: s.Value})
		}
	}
	return keys
}

// isStored reports whether that argument of compare names a stored result, and not a scenario, which is to be run.
func isStored(name string) bool {
	info, err := os.Stat(name)
	return err == nil && (info.IsDir() || filepath.Ext(name) == ".json") || err != nil && !isScenario(name)
}

// resultOf returns the result to compare with base: from a folder, or of a scenario, run here with the seeds of base.
func (s *session) resultOf(ctx context.Context, c *cobra.Command, name string, base results.Named,
	f *compareFlags) (results.Named, error) {
	if isStored(name) {
		return readResult(name)
	}
	overrides, err := f.overrides(c)
	if err != nil {
		return results.Named{}, err
	}
	l, err := s.loadOne(name, overrides)
	if err != nil {
		return results.Named{}, err
	}
	seeds := base.Seeds
	l.Scenario.Seed, l.Scenario.Seeds = seeds[0], scenarios.Count(seeds[len(seeds)-1]-seeds[0]+1)
	if err := f.memory.fits(l.Scenario, len(l.Scenario.Policies)*len(seeds), f.parallel); err != nil {
		return results.Named{}, ui.UsageError("%s: %w", l.Name, err)
	}
	settings := world.Settings(l.Scenario)
	var runs []measure.Run
	for at := 0; at < len(seeds); {
		sc := *l.Scenario
		sc.Seed, sc.Seeds = seeds[at], 1
		for at++; at < len(seeds) && seeds[at] == seeds[at-1]+1; at++ {
			sc.Seeds++
		}
		more, err := s.simulate(ctx, &sc, &settings)
		if err != nil {
			return results.Named{}, s.failure(l, err, "interrupted before it was compared")
		}
		runs = append(runs, more...)
	}
	summary, err := results.Summarize(&settings, runs, results.Options{Seeds: seeds})
	if err != nil {
		return results.Named{}, ui.Fail(ui.ExitIO, fmt.Errorf("summarize %s: %w", l.Name, err))
	}
	keys := keysCompared(l.Name, l.Scenario.Resolved())
	for _, set := range f.set {
		l.Name += " " + plain.ShellLine("--set", set)
	}
	return results.Named{Summary: summary, Name: l.Name, Version: ui.Version, Keys: keys}, nil
}
