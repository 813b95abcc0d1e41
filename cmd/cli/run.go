package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/checked"
	"qsim/scenarios/world"
)

// runFlags are the flags of qsim run, and of other commands that simulate; each defines those that it needs.
type runFlags struct {
	scenarioFlags
	ui.Terminal
	parallel   int
	memory     memorySize
	untilCI    float64
	maxSeeds   int
	check      bool
	out        string
	format     string
	noFiles    bool
	plot       plotMode
	sameWithin float64
	asked      []string // metrics to compute in addition
}

func newRun() *cobra.Command {
	f := runFlags{format: "table", plot: "never", sameWithin: results.DefaultSameWithin}
	c := &cobra.Command{
		Use:   "run SCENARIO... [flags]",
		Short: "run scenarios: table, verdict, files",
		Long: `run simulates a scenario under each of its policies with the same seeds, prints what
the policies did with 95 % intervals, judges the objectives, and writes tables, series,
histograms and charts to a new folder. SCENARIO is a file or the name of a built-in one.

The result goes to standard output, all else to standard error. Exit codes:
    0  objectives met, or missed where the scenario expects that
    1  an objective missed
    2  the command line or a scenario is wrong
    3  an invariant of the engine broke
    4  reading or writing failed
  130  interrupted: what has finished is kept and marked partial; 143 if it was by SIGTERM

A flag can also be set by a variable: --no-files by QSIM_NO_FILES=true, a repeatable one
with semicolons between its values. The flag wins over the variable, and both win over
the scenario.`,
		Example: `  qsim run retry-storm                              a built-in scenario
  qsim run my.yaml --seeds 5 --no-files             a quick look
  qsim run my.yaml --set engine.workers=80 --policy fifo
  qsim run my.yaml --until-ci 5% --max-seeds 500    until the intervals are narrow
  qsim run my.yaml --metric 'goodput during down'   a column more
  qsim run my.yaml --plot                           and a picture in the terminal
  qsim run my.yaml --format json | jq .objectives   for programs
  qsim run my.yaml --format openmetrics > my.prom   for Prometheus, beside the queue that runs
  qsim run a.yaml b.yaml --strict -q                for continuous integration
  qsim run my.yaml --format github                  annotations and a summary in a workflow
  qsim run my.yaml --check                          with the engine's invariants checked`,
		Args: atLeastOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return run(c, f.plot.apart(names), &f) },
	}
	addScenarioFlags(c, "What to run", &f.scenarioFlags)
	flags := c.Flags()
	ui.AddParallel(c, &f.parallel)
	addMemory(c, &f.memory)
	addPercent(c, &f.untilCI, "until-ci",
		"add seeds until the intervals of the objectives' metrics are within ± `PERCENT`")
	flags.IntVar(&f.maxSeeds, "max-seeds", 0, "with --until-ci: at most this `NUMBER` of seeds (default 200, or the "+
		"scenario's if they are more)")
	flags.BoolVar(&f.check, "check", false, "check the engine's invariants after every event (slower)")
	addFormat(c, &f.format, append(slices.Clone(judging), "openmetrics")...)
	addSameWithin(c, &f.sameWithin)
	flags.StringArrayVar(&f.asked, "metric", nil, "a column more: a `METRIC` of qsim list metrics, as goodput or "+
		"'goodput during STORM class CLASS'; repeatable")
	flags.StringVarP(&f.out, "out", "o", filepath.Join("results", "runs"), "write files below this `DIR`")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	flags.BoolP("force", "f", false, "accepted as by other commands, and changes nothing: no run overwrites another")
	plot := ui.Value{Kind: "HOW", Show: func() string { return string(f.plot) }, Parse: f.plot.parse}
	flags.Var(&plot, "plot", "draw the wait of fresh jobs above the table: auto, unicode, ascii or never")
	flags.Lookup("plot").NoOptDefVal = "auto"
	ui.Complete(c, "plot", fixed("auto", "unicode", "ascii", "never"))
	ui.Group(c, "How to run it", "parallel", "memory", "until-ci", "max-seeds", "check")
	ui.Group(c, "Output", "format", "metric", "same-within", "plot", "out", "no-files", "force")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

func run(c *cobra.Command, names []string, f *runFlags) error {
	if err := checkUntilFlags(c, f.untilCI, f.maxSeeds); err != nil {
		return err
	}
	if f.plot.on() && f.format != "table" {
		return ui.UsageError("--plot draws above a table: leave --format %s away", f.format)
	}
	s := newSession(c, f)
	all, err := loadAll(c, names, &f.scenarioFlags, c.ErrOrStderr(), s.console)
	if f.format == "github" { // errors and warnings of scenarios go to the same output as annotations
		err = cmp.Or(ui.Print(s.stdout, github(diagnosed(all))), err)
	}
	if err != nil {
		if failed := unloaded(all); f.format == "junit" && failed != nil {
			err = cmp.Or(s.print(s.output(nil, nil, failed...), "", ""), err)
		}
		return err
	}
	if f.format == "openmetrics" && len(all) > 1 {
		return ui.UsageError("--format openmetrics: of one scenario, as each metric stands in a file once")
	}
	for _, l := range all {
		if asked := int(l.Scenario.Seeds); f.maxSeeds > 0 && f.maxSeeds < asked {
			return ui.UsageError("--max-seeds %d is less than the %d seeds of %s, which are run in any case: want at least "+
				"%[2]d, or fewer --seeds", f.maxSeeds, asked, l.Name)
		}
		if err := f.memory.fits(l.Scenario, len(l.Scenario.Policies)*int(l.Scenario.Seeds), f.parallel); err != nil {
			return ui.UsageError("%s: %w", l.Name, err)
		}
		if _, err := queriesOf(f.asked, l.Scenario); err != nil {
			return err
		}
	}
	ctx, stop := s.console.Interruptible(c.Context(), keeping)
	defer stop()
	if !f.noFiles {
		signal.Ignore(syscall.SIGPIPE) // files are written after the table, even if its reader has closed the pipe
	}
	worst := ui.ExitMet
	for i, l := range all {
		if i > 0 && f.format == "table" {
			fmt.Fprintln(s.stdout)
		}
		code, err := s.one(ctx, l)
		if err != nil {
			code = ui.Settle(c, err)
			s.fail(c, i, l, err)
		}
		if worst = ui.Worse(worst, code); worst == ui.ExitInterrupted {
			break
		}
	}
	if f.format == "junit" { // one document for all scenarios
		if err := s.print(s.output(nil, nil, s.judged...), "", ""); err != nil {
			return err
		}
	}
	return ui.Fail(worst, nil)
}

// fail records an error of the i-th scenario among the verdicts; with --format github it also prints an annotation.
func (s *session) fail(c *cobra.Command, i int, l loaded, err error) {
	failed := text.Suite{Name: l.Scenario.Name, File: l.Name, Error: err.Error()}
	s.judged = append(s.judged, failed)[:i+1]
	s.judged[i].Error = failed.Error // beside its verdicts, if it has some
	if s.flags.format == "github" {
		ui.Settle(c, ui.Print(s.stdout, github(annotationsOf([]text.Suite{failed}))))
	}
}

// one simulates one scenario, prints its results and writes their files; the exit code is that of its verdicts.
func (s *session) one(ctx context.Context, l loaded) (ui.Exit, error) {
	start := time.Now()
	settings := world.Settings(l.Scenario)
	place := results.Place{Out: s.flags.out, Scenario: settings.Scenario, ConfigHash: settings.ConfigHash, Start: start}
	if !s.flags.noFiles {
		if err := ui.IOError("write run", place.Writable()); err != nil {
			return ui.ExitIO, err
		}
	}
	for _, miss := range checked.Misses(l.Scenario) {
		s.console.Note("%s: %s", l.Name, miss)
	}
	if s.flags.Verbose {
		s.console.Note("%s: %s, config %s", l.Name, timesSeeds(l.Scenario), settings.ConfigHash)
	}
	runs, err := s.simulate(ctx, l.Scenario, &settings)
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return ui.ExitUsage, s.failure(l, err, "")
	}
	seeds := s.seedsOf(l.Scenario, runs, interrupted)
	summary, err := results.Summarize(&settings, runs,
		results.Options{Seeds: seeds, Strict: s.flags.strict, Until: s.flags.untilCI})
	if err != nil {
		if interrupted {
			return ui.ExitInterrupted, ui.Fail(ui.ExitInterrupted, fmt.Errorf("%s: interrupted before a seed had finished "+
				"under every policy", l.Name))
		}
		return ui.ExitIO, fmt.Errorf("summarize %s: %w", l.Name, err)
	}
	summary.FindLikeness(s.flags.sameWithin)
	for _, warning := range summary.Warnings {
		s.console.Note("%s: warning: %s", l.Name, warning)
	}
	note := took(runs, time.Since(start))
	s.judged = append(s.judged,
		text.Suite{Name: summary.Scenario, File: l.Name, Cases: summary.Cases(s.flags.strict)})
	result := s.summaryOutput(summary, s.judged[len(s.judged)-1])
	var printed error
	if s.flags.format != "junit" { // before charts are drawn; the files are written even if nobody reads the table
		printed = s.print(result, "", "")
	}
	path, err := s.store(l, summary, place)
	if err = cmp.Or(printed, err, s.lastLine(path, note)); err != nil {
		return ui.ExitIO, err
	}
	if interrupted {
		s.console.Note("interrupted: %d of %d seeds finished under every policy", len(summary.Seeds), len(seeds))
		return ui.ExitInterrupted, nil
	}
	return ui.Exit(summary.Exit), nil
}

func (s *session) simulate(ctx context.Context, sc *scenarios.Scenario, settings *measure.Settings) ([]measure.Run,
	error) {
	labels := plain.Map(settings.Policies, func(p measure.PolicyInfo) string { return p.Label })
	bars, most := s.progress("seeds", nil), s.mostSeeds(sc)
	defer bars.Close()
	for _, label := range labels {
		bars.Set(label, 0, most)
	}
	finished := make([]int, len(labels))
	options := world.Options{Parallel: s.flags.parallel, MostSeeds: most, Check: s.flags.check,
		Ended: func(run *measure.Run) {
			label, n := labels[run.Policy], &finished[run.Policy]
			*n++
			if bars.Set(label, *n, most); s.flags.Verbose && !bars.Drawn() {
				fmt.Fprintf(s.console, "%s: %d of %d seeds\n", label, *n, most)
			}
		}}
	if s.flags.untilCI > 0 {
		watch, seeds := results.NewWatch(settings, s.flags.untilCI), 0
		options.Enough = func(seed []measure.Run) bool {
			seeds++
			return watch.Add(seed) && seeds >= int(sc.Seeds)
		}
	}
	return world.Run(ctx, sc, options)
}

// store writes the files of a run and returns the path of its report, "" under --no-files.
func (s *session) store(l loaded, summary *results.Summary, place results.Place) (string, error) {
	if s.flags.noFiles {
		return "", nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", ui.IOError("write run", err)
	}
	info := results.RunInfo{
		Started: place.Start.UTC(), Took: time.Since(place.Start).Seconds(), Command: os.Args, Folder: here,
		Version: ui.Version, Commit: ui.Commit(), GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPUs: runtime.GOMAXPROCS(0),
	}
	files, err := results.Files(summary, info, l.Scenario.Resolved())
	if err != nil {
		return "", ui.IOError("write run", err)
	}
	stored, err := results.ReadStored(reader(files)) // drawn from the stored files, as qsim report does
	if err != nil {
		return "", ui.IOError("write run", err)
	}
	drawn, err := drawn(stored)
	if err != nil {
		return "", ui.IOError("write run", err)
	}
	files, missing := input.WithData(append(files, drawn...), l.Scenario)
	folder, err := results.Write(place, files)
	if folder == "" {
		return "", ui.IOError("write run", err)
	}
	return filepath.Join(folder, reportFile), ui.IOError("write run", cmp.Or(err, missing))
}

// summaryOutput returns the summary of a run in all output formats of a command; with --plot, the table follows a plot.
func (s *session) summaryOutput(summary *results.Summary, verdicts text.Suite) ui.Output {
	all := s.output(summary.JSON, func(o text.TableOptions) string {
		plot := ""
		if s.flags.plot.on() {
			plot = text.Plot(summary, o, s.flags.plot.ascii()) + "\n"
		}
		return plot + text.Summary(summary, o)
	}, verdicts)
	all["openmetrics"] = ui.Text(func() string { return text.OpenMetrics(summary) })
	return all
}

// took returns a line with the duration of a command and the number of jobs simulated per second.
func took(runs []measure.Run, elapsed time.Duration) string {
	jobs, seconds := plain.Sum(runs, func(r measure.Run) int64 { return r.Jobs }), elapsed.Seconds()
	return fmt.Sprintf("%.1fs, %s jobs/s", seconds, plain.Amount(float64(jobs)/seconds))
}
