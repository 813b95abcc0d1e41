package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/trace"
	"qsim/scenarios/world"
)

type traceFlags struct {
	scenarioFlags
	policy    string
	job, find string
	from, to  string
	window    trace.WindowOptions
	format    string
	memory    memorySize
}

// linesOfWindow is the default of --limit: the number of lines of a trace that is printed as text.
const linesOfWindow = 1000

func newTrace() *cobra.Command {
	f := traceFlags{format: "text"}
	c := &cobra.Command{
		Use:   "trace SCENARIO [flags]",
		Short: "show what happened to a job, or in a window of time",
		Long: `trace repeats one simulation, one policy under one seed, and shows what happened: to one
job (--job), or in a window of time (--from, --to). Without these it lists jobs worth a look:
the one that waited longest, ran twice, died, was fenced or lost its lease.

A job is named by its class and the number of its arrival, from 0: payments/1234.
payments/1234+1 is what its caller enqueued in its place, mail/rush/7 is one of those that
the storm rush brings at once. The number of a job that a panic prints works as well.

--format chrome is for ui.perfetto.dev or chrome://tracing: a track for each worker of each
node, one for each storm, arrows from one attempt of a job to the next.`,
		Example: `  qsim trace retry-storm --policy fifo --seed 1             jobs worth a look
  qsim trace retry-storm --policy fifo --find dead          the history of the one that died
  qsim trace retry-storm --policy fifo --job payments/41    the history of a job
  qsim trace retry-storm --from 10m --to 10m0.5s            all that happened
  qsim trace retry-storm --from 9m59s --to 10m10s --format chrome > storm.json`,
		Args: exactlyOneScenario,
		RunE: func(c *cobra.Command, names []string) error { return runTrace(c, names, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.policy, "policy", "",
		"the policy of this `LABEL` or kind, or another {kind: ...} (default: the baseline)")
	flags.Uint64Var(&f.seed, "seed", 0, "the `SEED` (default: the scenario's first)")
	flags.StringArrayVar(&f.set, "set", nil, "set `KEY=VALUE` in the scenario, such as engine.workers=80; repeatable")
	flags.StringVar(&f.job, "job", "", "the history of this `JOB`, such as payments/1234")
	ui.AddChoice(c, &f.find, "find", "KIND", "the history of the most extreme job of a `KIND`: worst-wait, duplicate, "+
		"dead, fenced or lost-lease", plain.Map(trace.Interests(), func(i trace.Interest) string { return string(i) })...)
	flags.StringVar(&f.from, "from", "", "show events from this virtual `TIME` on, such as 10m30s")
	flags.StringVar(&f.to, "to", "", "show events up to this virtual `TIME`")
	addMemory(c, &f.memory)
	ui.AddAtLeast(c, &f.window.Limit, "limit", "", 1, "at most this `NUMBER` of events of a window (default 1000, but "+
		"all for json and chrome)")
	flags.BoolVar(&f.window.Calls, "calls", false, "include calls to the store")
	flags.BoolVar(&f.window.Heartbeats, "heartbeats", false, "include heartbeats")
	ui.AddChoice(c, &f.format, "format", "FORMAT", "text (words), table, json or chrome", "text", "table", "json",
		"chrome")
	ui.Group(c, "Which simulation", "policy", "seed", "set", "memory")
	ui.Group(c, "What of it", "job", "find", "from", "to", "limit", "calls", "heartbeats")
	ui.Group(c, "Output", "format")
	return c
}

type tracer struct {
	loaded
	flags *traceFlags
	sim   *trace.Simulation
	all   bool // neither --from nor --to is set
	out   *bufio.Writer
	width int
}

func runTrace(c *cobra.Command, names []string, f *traceFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.policy != "" {
		f.policies = []string{f.policy}
	}
	messages := ui.NewConsole(c, false)
	l, err := loadOnly(c, names, &f.scenarioFlags, messages)
	if err != nil {
		return err
	}
	if err := f.memory.fits(l.Scenario, 1, 1); err != nil {
		return ui.UsageError("%s: %w", l.Name, err)
	}
	t := &tracer{loaded: l, flags: f, out: bufio.NewWriter(c.OutOrStdout()), width: ui.Width()}
	if err := t.choose(); err != nil {
		return err
	}
	ctx, stop := messages.Interruptible(c.Context(), "the trace ends here")
	defer stop()
	err = t.print(ctx, messages)
	flushed := t.out.Flush() // with the events before a breach
	var broken *world.Broken
	switch {
	case errors.As(err, &broken):
		return ui.Fail(ui.ExitInvariant, fmt.Errorf("%s: an invariant broke: %w\n%s", t.Name, err, broken.Stack))
	case errors.Is(err, context.Canceled):
		return ui.Fail(ui.ExitInterrupted, nil)
	case errors.As(err, new(*ui.Failure)):
		return err
	}
	return ui.IOError("write trace", cmp.Or(err, flushed))
}

func (f *traceFlags) check(c *cobra.Command) error {
	switch {
	case f.job == "" && c.Flags().Changed("job"):
		return ui.UsageError("--job: name a job, such as payments/1234")
	case f.job != "" && f.find != "":
		return ui.UsageError("--job and --find exclude each other")
	case f.find != "" && (f.from != "" || f.to != ""):
		return ui.UsageError("--find looks at the whole run: leave --from and --to away")
	}
	return nil
}

// choose selects the policy to simulate, by default the baseline, and parses the flags for the window of time.
func (t *tracer) choose() error {
	sc := t.Scenario
	policy := cmp.Or(t.flags.policy, sc.Baseline)
	found := sc.PoliciesNamed(policy)
	if len(found) > 1 && t.flags.policy != "" {
		labels := plain.Map(found, func(i int) string { return strconv.Quote(sc.Policies[i].Label) })
		return ui.UsageError("--policy %s: %d policies are of that kind; name one: %s", policy, len(found),
			strings.Join(labels, ", "))
	}
	at := len(sc.Policies) - 1 // where --policy added a map
	if len(found) > 0 {
		at = found[0]
	}
	t.sim = trace.New(sc, at)
	return t.read()
}

func (t *tracer) read() error {
	f, end := t.flags, t.sim.End()
	f.window.To = end
	t.all = f.from == "" && f.to == ""
	for _, bound := range []struct {
		flag, text string
		to         *time.Duration
	}{{"from", f.from, &f.window.From}, {"to", f.to, &f.window.To}} {
		if bound.text == "" {
			continue
		}
		at, err := quantity.ParseDuration(bound.text)
		if err != nil {
			return ui.UsageError("--%s %s: %w", bound.flag, bound.text, err)
		}
		if at > end {
			return ui.UsageError("--%s %s: the run ends at %s", bound.flag, bound.text, trace.Clock(end))
		}
		*bound.to = at
	}
	if f.window.From > f.window.To {
		return ui.UsageError("--from %s lies after --to %s", f.from, f.to)
	}
	if f.job != "" {
		id, err := t.sim.Scenario().ParseJob(f.job)
		if err != nil {
			return ui.UsageError("--job: %w", err)
		}
		f.window.Job = id
	}
	if f.window.Limit == 0 && f.format != "json" && f.format != "chrome" {
		f.window.Limit = linesOfWindow
	}
	return nil
}

func (t *tracer) print(ctx context.Context, messages *ui.Console) error {
	f := t.flags
	if f.find != "" {
		if err := t.find(ctx, messages); err != nil {
			return err
		}
	}
	switch {
	case f.format == "chrome":
		if f.window.Job != 0 && f.find == "" {
			if _, err := t.life(ctx); err != nil {
				return err
			}
		}
		stopped, err := t.sim.Chrome(ctx, f.window, t.out)
		if stopped >= 0 && err == nil {
			messages.Note("the trace ends at %s, after --limit %d lines", trace.Clock(stopped), f.window.Limit)
		}
		return err
	case f.window.Job != 0 && t.all:
		life, err := t.life(ctx)
		if life == nil {
			return err
		}
		// A run that broke an invariant has events up to the breach.
		return cmp.Or(err, t.sim.PrintHistory(t.out, life, f.format, t.width))
	case !t.all:
		stopped, err := t.sim.PrintWindow(ctx, t.out, f.window, f.format, t.width)
		if stopped >= 0 && err == nil {
			messages.Note("there is more from %s on: these were the first %d; --limit NUMBER shows so many",
				trace.Clock(stopped), f.window.Limit)
		}
		return err
	}
	findings, err := t.sim.Find(ctx)
	if err != nil {
		return err
	}
	return t.sim.PrintFindings(t.out, findings, f.format, t.width, func(job string) string {
		words := commandOf("trace", t.loaded, f.set, nil, t.sim.Policy())
		return plain.ShellLine(append(words, "--seed", fmt.Sprint(t.sim.Seed()), "--job", job)...)
	})
}

// find chooses the job to trace by --find, such as the one with the longest wait, and prints the job's name.
func (t *tracer) find(ctx context.Context, messages *ui.Console) error {
	findings, err := t.sim.Find(ctx)
	if err != nil {
		return err
	}
	found := plain.Find(findings, func(one *trace.Finding) bool { return string(one.Interest) == t.flags.find })
	if found.Job == 0 {
		return ui.UsageError("--find %s: there is no such job under %s with seed %d", t.flags.find, t.sim.Policy(),
			t.sim.Seed())
	}
	messages.Note("%s: %s %s%s", found.Interest, found.Name, found.Words, ofJobs(found))
	t.flags.window.Job = found.Job
	return nil
}

// ofJobs returns the end of a message about a job that --find found: how many such jobs there are.
func ofJobs(found *trace.Finding) string {
	switch {
	case found.Interest == trace.WorstWait:
		return fmt.Sprintf("; there are %d jobs", found.Jobs)
	case found.Jobs > 1:
		return fmt.Sprintf("; it is one of %d such jobs", found.Jobs)
	}
	return "; it is the only such job"
}

// life returns the history of the job that --job or --find names; an error if the run has no such job.
func (t *tracer) life(ctx context.Context) (*trace.JobHistory, error) {
	life, err := t.sim.Job(ctx, t.flags.window.Job)
	if err == nil && life == nil {
		err = ui.UsageError("--job %s: no such job arrives under %s with seed %d",
			t.sim.Scenario().JobName(t.flags.window.Job), t.sim.Policy(), t.sim.Seed())
	}
	return life, err
}
