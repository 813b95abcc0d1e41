package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones by name, on any system

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios/imports"
	"qsim/scenarios/world"
)

type importFlags struct {
	options  imports.Options
	target   imports.Target
	timezone string
	parallel int
	noRun    bool
	ui.Terminal
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import --from FORMAT FILE... [-o SCENARIO]",
		Short: "make a scenario from records of real jobs",
		Long: `import reads records of jobs and writes a scenario that reproduces them: arrivals as a
trace, a fitted distribution of run times for each class, how attempts fail, and the retry
policy. It reports how well each distribution fits, then simulates the scenario and compares
its waits with the recorded ones.

FORMAT is one of
    csv       a row for each job or each attempt, with a line of names, or an object of JSON
              for each. Separators , ; tab and | are recognised, as are usual names of columns
    river     the table river_job, as CSV (\copy river_job to 'jobs.csv' csv header) or JSON
    asynq     tasks as Asynqmon's API or Go's JSON of asynq.TaskInfo has them. Asynq keeps
              neither when a task was enqueued nor how long it ran: name them with --columns
              (payload.enqueued_at reaches into the payload), or say --service
    sidekiq   payloads as JSON, one a line, and lines of the log, text or JSON, in any order

Times are dates with or without a zone, or numbers: seconds, milliseconds, micro- or
nanoseconds since 1970, or seconds from any start. A mistake is an error that names the
line; or, where there is one sensible reading, it is repaired, counted and printed, unless
--strict makes it an error. At most 10,000,000 attempts are imported at once,
which take about 2.5 GB of memory.`,
		Example: `  qsim import --from csv jobs.csv -o checkout.yaml
  qsim import --from river river_job.csv -o checkout.yaml --queue default --workers 50
  qsim import --from csv jobs.csv --columns enqueued=inserted_on,started=picked_at,finished=done_at
  qsim import --from sidekiq dead.json log/sidekiq.log -o mail.yaml --since 2026-01-05T09:00:00Z
  qsim import --from river - -o checkout.yaml --timezone Europe/Berlin    from standard input`,
		Args: ui.Wanted(1, math.MaxInt, "import which file? Name one, or - for standard input"),
		RunE: func(c *cobra.Command, names []string) error { return runImport(c, names, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.options.From, "from", "", "the `FORMAT`: river, asynq, sidekiq or csv")
	flags.StringArrayVar(&f.options.Columns, "columns", nil,
		"which column says what, as `ROLE=COLUMN`,...; roles are "+strings.Join(imports.Roles(), ", ")+"; repeatable")
	flags.StringVar(&f.timezone, "timezone", "",
		"time `ZONE` of times that name none, such as Europe/Berlin (default: UTC)")
	flags.StringVar(&f.options.Since, "since", "", "only jobs enqueued at this `TIME` or later")
	flags.StringVar(&f.options.Until, "until", "", "only jobs enqueued before this `TIME`")
	flags.StringArrayVar(&f.options.Queues, "queue", nil, "only jobs of this `QUEUE`; repeatable")
	flags.BoolVar(&f.options.Strict, "strict", false, "do not repair the data: report errors")
	ui.Complete(c, "from", fixed(imports.Formats()...))
	ui.Group(c, "What to read", "from", "columns", "timezone", "since", "until", "queue", "strict")
	flags.StringVarP(&f.target.Scenario, "out", "o", "", "write the `SCENARIO` here, and other files beside it "+
		"(default: the first file's name with .yaml, in this folder)")
	ui.AddAtLeast(c, &f.target.Workers, "workers", "", 1,
		"`NUMBER` of workers of each node (default: as many as ran at once)")
	ui.AddAtLeast(c, &f.target.Nodes, "nodes", "", 1, "`NUMBER` of nodes (default: as many as are named)")
	flags.StringVar(&f.options.Service, "service", "", "run times where none are recorded, as a `DISTRIBUTION`: 2s or "+
		"{dist: lognormal, p50: 1s, p99: 5s}")
	ui.AddAtLeast(c, &f.target.Seeds, "seeds", "n", 1, "`NUMBER` of seeds of the scenario (default 5)")
	flags.BoolVarP(&f.target.Force, "force", "f", false, "overwrite existing files")
	ui.Group(c, "What to write", "out", "workers", "nodes", "service", "seeds", "force")
	flags.BoolVar(&f.noRun, "no-run", false, "do not simulate the scenario: no waits are compared")
	ui.AddParallel(c, &f.parallel)
	ui.Group(c, "How to run it", "no-run", "parallel")
	ui.AddTerminal(c, &f.Terminal, "quiet", "progress")
	return c
}

// check returns an error for flags of qsim import that exclude each other or are impossible, and fills in defaults.
func (f *importFlags) check(names []string) error {
	formats := imports.Formats()
	switch {
	case f.options.From == "":
		return ui.UsageError("import from what? Give --from river, asynq, sidekiq or csv")
	case !slices.Contains(formats, f.options.From):
		return ui.Unknown("format", f.options.From, formats)
	}
	if f.timezone != "" {
		zone, err := time.LoadLocation(f.timezone)
		if err != nil {
			return ui.UsageError("--timezone %s: want a name such as Europe/Berlin or UTC", f.timezone)
		}
		f.options.Zone = zone
	}
	if f.target.Scenario == "" {
		f.target.Scenario = cmp.Or(imports.ScenarioName(names[0]), "imported") + ".yaml"
	}
	if ext := filepath.Ext(f.target.Scenario); ext != ".yaml" && ext != ".yml" {
		return ui.UsageError("-o %s: want a scenario's name, which ends with .yaml", f.target.Scenario)
	}
	if err := f.target.Check(); err != nil {
		return ui.UsageError("-o %s: %w", f.target.Scenario, err)
	}
	if _, err := os.Stat(f.target.Scenario); err == nil && !f.target.Force {
		return ui.UsageError("%s is there already; --force overwrites it", f.target.Scenario)
	}
	return ui.IOError("write scenario", results.Writable(filepath.Dir(f.target.Scenario)))
}

func runImport(c *cobra.Command, names []string, f *importFlags) error {
	if err := f.check(names); err != nil {
		return err
	}
	notes := ui.NewConsole(c, f.Quiet)
	var files []imports.File
	for _, name := range names {
		file, err := openRecords(name, c.InOrStdin())
		if err != nil {
			return err
		}
		defer file.Close() // nothing was written
		files = append(files, imports.File{Name: plain.Either(name == "-", "standard input", name), Reader: file})
	}
	ctx, stop := notes.Interruptible(c.Context(), "a scenario that is not done is not written")
	defer stop()
	f.target.Keep = names
	if f.Drawn() {
		f.options.Progress = func(rows int64) { notes.Note("%d rows read", rows) }
	}
	// The records are most of the memory, and have no pointers: to collect garbage often costs next to nothing.
	usual := debug.SetGCPercent(25)
	found, err := imports.Read(ctx, files, f.options)
	debug.SetGCPercent(usual)
	if err != nil {
		return importError(err)
	}
	written, err := found.Write(f.target)
	if errors.Is(err, fs.ErrExist) {
		return ui.UsageError("%w; --force overwrites it", err)
	}
	if err != nil {
		return importError(err)
	}
	out := c.OutOrStdout()
	if err := ui.Print(out, found.Report(names, written)); err != nil {
		return err
	}
	if !f.noRun {
		if err := compareImport(ctx, out, found, written, f); err != nil {
			return err
		}
	}
	if err := writeSchema(filepath.Dir(written.Path)); err != nil {
		return err
	}
	return ui.Print(out, fmt.Sprintf("\n%s: written; qsim run %[1]s\n", written.Path))
}

// compareImport simulates the imported scenario and prints the waiting times of its jobs next to the recorded ones.
func compareImport(ctx context.Context, out io.Writer, found *imports.Recording, written *imports.Written,
	f *importFlags) error {
	all, err := found.Compare(ctx, written, f.parallel)
	var broken *world.Broken
	switch {
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, fmt.Errorf("%s is written, but was not compared with the records", written.Path))
	case errors.As(err, &broken):
		return ui.Fail(ui.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s", written.Path, err, broken.Stack))
	case err != nil:
		return ui.Fail(ui.ExitUsage, fmt.Errorf("%s: %w", written.Path, err))
	}
	return ui.Print(out, imports.ComparisonText(written, all))
}

// openRecords opens a file of records; - is standard input.
func openRecords(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	file, err := os.Open(name)
	if err == nil {
		if info, e := file.Stat(); e == nil && info.IsDir() {
			file.Close()
			err = fmt.Errorf("%s is a folder", name)
		}
	}
	if err != nil {
		return nil, input.OpenError(fmt.Errorf("import: %w", err))
	}
	return file, nil
}

// importError adds the exit code to an error of qsim import: I/O for files, interrupted, else usage (wrong records).
func importError(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, errors.New("interrupted: nothing is written"))
	case errors.As(err, new(*fs.PathError)):
		return ui.Fail(ui.ExitIO, err)
	}
	return ui.Fail(ui.ExitUsage, err)
}
