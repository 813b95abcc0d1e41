package bench

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

type runFlags struct {
	scenario string
	speed    world.Speed
	seed     uint64
	set      []string
	load     load // synthetic load, run without a scenario
	policies []string
	stores   []string
	rounds   scenarios.Count
	dsn      string

	format string
	out    string
	ui.Terminal
}

func newRun() *cobra.Command {
	f := runFlags{format: "bench"}
	c := &cobra.Command{
		Use:   "run [flags]",
		Short: "run the queue: a burn-down, at a rate, or a scenario",
		Long: `run measures the queue engine with real workers and a real store.

Without --rate it is a burn-down: --jobs are enqueued, then drained as fast as it goes.
With --rate it is an open loop: jobs arrive whether or not the queue keeps up, and
latencies count from when a job should have been enqueued (pickup: until its handler
begins; sojourn: until its ack is committed). Candidates, each policy on each store, take
turns, round after round. Enqueue, claim, execute and commit are timed apart: per job,
and the p99 of a call. jobs/s counts jobs that ended, the dead too, from the start of the
engines to the last end; ns/op is the same as time.

Each engine claims --prefetch jobs ahead of its idle workers, which nearly doubles what one
engine does on PostgreSQL with short handlers. The price: a job may wait in one engine while
another is idle or a job of higher priority comes, and a crash holds so many more jobs until
their leases expire. 0 turns it off.

With --scenario it is a scenario at --speed: the same arrivals, run times and failures by
the same draws as in a simulation, with handlers that sleep. Seeds are the rounds. The
times that are printed are those of the scenario, so that they compare with qsim run, but
with --format bench ns/op, claim-sec/job and commit-sec/job are real. What only a
simulation can do, such as a crash, is refused by its key.

PostgreSQL is reached by --dsn or PGHOST, PGUSER and so on. If none of them is set,
qbench starts a server of its own in a temporary folder, if one is installed. It
works in a schema of its own and drops it at the end.

Exit codes:
    0  all jobs are accounted for, and objectives met
    1  an objective missed
    2  the command line or the scenario is wrong
    3  jobs were lost
    4  the store, reading or writing failed
  130  interrupted; 143 if it was by SIGTERM`,
		Example: `  qbench run                                            100k no-op jobs, memory
  qbench run --engines 2 --jobs 2M --rounds 10 > new.txt     for benchstat or qbench compare
  qbench run --store memory,postgres --policy fifo --policy '{kind: weighted, fresh: 70%}'
  qbench run --store postgres --rate 2k/s --for 10s --work 5ms --fails 2%
  qbench run --scenario retry-storm --speed 20x --rounds 1`,
		Args: ui.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return run(c, &f) },
	}
	addCandidateFlags(c, &f)
	flags := c.Flags()
	addArrivalFlags(c, &f.load)
	addWorkFlags(c, &f.load)
	addValue(c, &f.rounds, "rounds", "COUNT", "5", "number of measurements of each candidate, in turn")
	ui.AddChoice(c, &f.format, "format", "FORMAT", "of the result: bench (default into a file or a pipe), table (default "+
		"on a terminal and of a scenario), markdown, csv or json", "table", "bench", "json", "markdown", "csv")
	flags.StringVarP(&f.out, "out", "o", "", "write results and histograms below this `DIR` (default: none)")
	ui.Group(c, "Load", append(arrivalFlags, workFlags...)...)
	ui.Group(c, "Candidates", "policy", "store", "rounds", "dsn")
	ui.Group(c, "Scenario", "scenario", "speed", "seed", "set")
	ui.Group(c, "Output", "format", "out")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

// arrivalFlags and workFlags are the names of the flags that addArrivalFlags and addWorkFlags define.
var (
	arrivalFlags = []string{"jobs", "rate", "for", "warmup"}
	workFlags    = []string{"work", "fails", "workers", "engines", "batch", "prefetch"}
)

// addArrivalFlags defines the flags for the arrivals of a synthetic load: --jobs, or --rate with --for and --warmup.
func addArrivalFlags(c *cobra.Command, l *load) {
	addValue(c, &l.jobs, "jobs", "COUNT", "100k", "burn-down of so many jobs")
	addValue(c, &l.rate, "rate", "RATE", "", "open loop: jobs come at this rate, as 2k/s, at random times")
	addValue(c, &l.lasts, "for", "DURATION", "10s", "open loop: jobs come for this long")
	addValue(c, &l.warmup, "warmup", "DURATION", "1s", "open loop: leave out the latencies of jobs that come before")
}

// addWorkFlags defines the flags of a load for the execution of jobs: run time, failures, workers and batches.
func addWorkFlags(c *cobra.Command, l *load) {
	addValue(c, &l.work, "work", "DURATION", "0s", "handlers sleep this long")
	addValue(c, &l.fails, "fails", "SHARE", "0%", "share of attempts that fail, and are retried")
	addValue(c, &l.workers, "workers", "COUNT", "64", "handlers of an engine that run at once")
	addValue(c, &l.engines, "engines", "COUNT", "1", "engines in this process, each with a loop of its own")
	addValue(c, &l.batch, "batch", "COUNT", "200", "most jobs of one claim or commit")
	l.prefetch = usualPrefetch
	addValue(c, &l.prefetch, "prefetch", "COUNT", "", "claim this many jobs ahead of free workers; 0 suits handlers that "+
		"take long (default: five times the workers, or 0 if --work is 10ms or more)")
}

const dsnUsage = "reach PostgreSQL by this `DSN`, a URL or keywords, or @FILE that holds one; a password is better " +
	"there, in PGPASSWORD or in a passfile"

// addCandidateFlags defines the flags of run and predict for scenario, speed, seed, keys, policies and stores.
func addCandidateFlags(c *cobra.Command, f *runFlags) {
	flags := c.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "run this `SCENARIO`, a file or the name of a built-in one")
	addValue(c, &f.speed, "speed", "SPEED", "1x", "seconds of the scenario that pass in one second, such as 20x")
	flags.Uint64Var(&f.seed, "seed", 0, "the first `SEED` (default: the scenario's, or 1)")
	flags.StringArrayVar(&f.set, "set", nil, "set `KEY=VALUE` in the scenario, such as engine.workers=80; repeatable")
	flags.StringArrayVar(&f.policies, "policy", nil, "a `POLICY`: a kind, or a map in YAML; of a scenario a label or "+
		"kind; repeatable")
	addStores(c, &f.stores, "memory or postgres; both with a comma (default memory)")
	flags.StringVar(&f.dsn, "dsn", "", dsnUsage)
}

// session is one execution of a measuring command, with its flags and stores.
type session struct {
	flags   *runFlags
	stdout  io.Writer
	stderr  io.Writer
	console *ui.Console
	stores  *stores
	begun   time.Time
	lines   benchWriter // writer of benchmark lines to standard output
	jobs    account     // sums over the jobs of all finished runs
}

func newSession(c *cobra.Command, f *runFlags) *session {
	s := &session{flags: f, stdout: c.OutOrStdout(), stderr: c.ErrOrStderr(), console: ui.NewConsole(c, f.Quiet),
		begun: time.Now(), lines: benchWriter{out: c.OutOrStdout()}}
	if len(f.stores) == 0 {
		f.stores = []string{memory}
	}
	s.stores = &stores{console: s.console, given: f.dsn}
	return s
}

// inSession calls measure with a session and a context that an interrupt cancels, and stops the stores afterwards.
func inSession(c *cobra.Command, f *runFlags, measure func(s *session, ctx context.Context) error) (err error) {
	if f.out != "" {
		if err := ui.IOError("write results", results.Writable(f.out)); err != nil {
			return err
		}
	}
	s := newSession(c, f)
	ctx, stop := s.console.Interruptible(c.Context(), tidying)
	defer stop()
	defer func() { err = cmp.Or(err, s.stores.stop()) }()
	return measure(s, ctx)
}

// run executes qbench run: it measures the synthetic load or the scenario that the flags describe.
func run(c *cobra.Command, f *runFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if !c.Flags().Changed("format") && (f.scenario != "" || ui.Capable(os.Stdout)) {
		f.format = "table" // a benchmark line is only for programs
	}
	if f.scenario == "" {
		return inSession(c, f, func(s *session, ctx context.Context) error { return s.runLoads(ctx, s.report) })
	}
	if !c.Flags().Changed("rounds") {
		f.rounds = 1
	}
	return inSession(c, f, (*session).runScenario)
}

// check returns an error for flags of a measuring command that exclude each other or have impossible values.
func (f *runFlags) check(c *cobra.Command) error {
	ofLoad, ofScenario := changed(c, slices.Concat(arrivalFlags, workFlags)...), changed(c, "speed", "set")
	open := c.Flags().Changed("rate")
	switch {
	case f.scenario != "" && len(ofLoad) > 0:
		return ui.UsageError("%s: a scenario says that itself; change it with --set", strings.Join(ofLoad, ", "))
	case f.scenario == "" && len(ofScenario) > 0:
		return ui.UsageError("%s: of which scenario? Name one with --scenario", strings.Join(ofScenario, ", "))
	case len(changed(c, "jobs", "rate")) == 2:
		return ui.UsageError("--jobs and --rate exclude each other: a burn-down, or an open loop")
	case !open && len(changed(c, "for", "warmup")) > 0:
		return ui.UsageError("%s: only with --rate", strings.Join(changed(c, "for", "warmup"), ", "))
	case open && f.load.rate.PerSecond() == 0:
		return ui.UsageError("%s: nothing would come", typed(c, "rate"))
	case open && f.load.warmup >= f.load.lasts:
		return ui.UsageError("%s is not less than %s: nothing would be measured", typed(c, "warmup"), typed(c, "for"))
	case open && f.load.expected() > mostJobs:
		return ui.UsageError("%s %s: these are about %.0f jobs, and a run has at most %d", typed(c, "rate"),
			typed(c, "for"), f.load.expected(), mostJobs)
	case f.load.fails.Float() >= 1:
		return ui.UsageError("%s: no job would ever be done", typed(c, "fails"))
	}
	for _, n := range []struct {
		name  string
		value scenarios.Count
		most  scenarios.Count
	}{{"jobs", f.load.jobs, mostJobs}, {"workers", f.load.workers, 20_000}, {"engines", f.load.engines, mostEngines},
		{"batch", f.load.batch, 10_000}, {"rounds", f.rounds, 10_000}} {
		if c.Flags().Lookup(n.name) != nil && (n.value < 1 || n.value > n.most) {
			return ui.UsageError("%s: want 1 to %d", typed(c, n.name), n.most)
		}
	}
	switch {
	case f.load.prefetch > mostPrefetch:
		return ui.UsageError("%s: want at most %d", typed(c, "prefetch"), mostPrefetch)
	case f.load.workers*f.load.engines > 20_000:
		return ui.UsageError("%s of %s: want at most 20000 workers in all", typed(c, "workers"), typed(c, "engines"))
	}
	return nil
}

// policyScenario returns a scenario of a synthetic load under the given policies (kinds, or maps in YAML), or fifo.
func policyScenario(l *load, policies []string) (*scenarios.Scenario, error) {
	if len(policies) == 0 {
		policies = []string{"fifo"}
	}
	kinds := input.Kinds()
	texts := make([]string, len(policies))
	for i, p := range policies {
		texts[i] = p
		if strings.HasPrefix(p, "{") {
			continue
		}
		if !slices.Contains(kinds, p) {
			return nil, ui.UsageError("--policy %s: there is no such policy%s", p,
				ui.Meant(p, kinds, "; qsim list policies names them"))
		}
		texts[i] = "{kind: " + p + "}"
	}
	if slices.ContainsFunc(policies, func(p string) bool { return strings.ContainsAny(p, "\n\r") }) {
		return nil, ui.UsageError("--policy: want one line")
	}
	sc, diagnostics := scenarios.Load("load.yaml", []byte(l.scenario(texts)), nil)
	if sc == nil {
		var problems []string
		for _, d := range diagnostics.Errors() {
			problems = append(problems, d.Message+plain.When(d.Help != "", " ("+d.Help+")"))
		}
		return nil, ui.UsageError("--policy: %s", strings.Join(problems, "; "))
	}
	return sc, nil
}

// runLoads measures all candidates in turn and reports the results, also after an interrupt.
func (s *session) runLoads(ctx context.Context, report func(candidates []*candidate, hash string) error) error {
	l := s.flags.load.complete()
	sc, err := policyScenario(l, s.flags.policies)
	if err != nil {
		return err
	}
	candidates := s.candidates(sc)
	for _, c := range candidates {
		c.name = l.name(c)
	}
	return s.measureAll(candidates, int(s.flags.rounds), func(round int, c *candidate) error {
		o := playOptions{policy: c.index, seed: max(s.flags.seed, 1) + uint64(round), store: c.store}
		r, err := runLoad(ctx, l, sc, o, s.stores)
		if err != nil {
			return err
		}
		c.rounds = append(c.rounds, r)
		s.count(c, &r.endedRun)
		return s.line(c.name, r.done+r.dead, r.took, r.metrics()) // if that is the format
	}, func() (ui.Exit, error) { return ui.ExitMet, report(candidates, sc.ConfigHash()) })
}
