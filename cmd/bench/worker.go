package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/engine/live"
	"qsim/engine/pgstore"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

type workerFlags struct {
	runFlags
	schema     string
	node       int32
	ttl        scenarios.Duration
	effects    bool
	enqueue    scenarios.Count
	untilEmpty bool
	stopWithin scenarios.Duration
	status     string // address of the status page; empty: none
}

func newWorker() *cobra.Command {
	var f workerFlags
	f.load.jobs = 1 // a burn-down: no jobs come but those of --enqueue
	c := &cobra.Command{
		Use:   "worker [flags]",
		Short: "work on a queue in PostgreSQL, beside other processes",
		Long: `worker is one process of a queue that several share: it claims jobs from a schema of
PostgreSQL and runs handlers that sleep for --work, or as a scenario says, until it is told
to stop. Jobs come from --enqueue and from other processes, none from the scenario. SIGTERM or
an interrupt drains it: it claims no more, waits for what runs, hands back the rest and exits
with 0. A worker that is killed loses nothing: its leases expire after --ttl and others take
its jobs. A server that restarts interrupts it, no more.

With --status it shows a page that tells how many jobs are ready, wait, are in flight and dead,
how old the oldest is, what this process runs and what failed last; /status.json has the same,
and /metrics has it for Prometheus, under the names of the simulation's metrics: fresh.wait is
the histogram qsim_fresh_wait_seconds, retries.total the counter qsim_retries_total. A quantile
of a histogram is off by at most 26 %, the width of a bucket. Times are real, and qsim_speed is
by how much the scenario's are longer. The page is for reading only, and for this machine only.
The first look builds two indexes, which takes about a second for each million of ready jobs.

With --effects each job notes in a table beside the queue that its work is done, fenced by
its delivery: a worker that was frozen past its lease is refused.`,
		Example: `  qbench worker --enqueue 10k --until-empty            put jobs in and work them off
  qbench worker --schema qsim --workers 100 --work 20ms    until SIGTERM
  qbench worker --schema qsim --status 127.0.0.1:8080      and watch it
  qbench worker --scenario retry-storm --speed 20x --effects --enqueue 10k`,
		Args: ui.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return worker(c, &f) },
	}
	addCandidateFlags(c, &f.runFlags)
	flags := c.Flags()
	flags.Lookup("store").Hidden, flags.Lookup("seed").Hidden = true, true
	flags.StringVar(&f.schema, "schema", pgstore.DefaultSchema,
		"the `SCHEMA` that the processes share; created if it does not exist, and kept")
	flags.Int32Var(&f.node, "node", -1, "the `NUMBER` of this process, which no other may have at a time (default: from "+
		"its process id)")
	flags.Lookup("node").DefValue = "0" // the help text does not print it
	addWorkFlags(c, &f.load)
	flags.Lookup("policy").Usage = "the `POLICY`: a kind, or a map in YAML; of a scenario a label or kind (default: its " +
		"first, or fifo)"
	flags.Lookup("engines").Usage = "engines in this process; each takes a number from --node on"
	addValue(c, &f.ttl, "ttl", "DURATION", "30s", "leases last this long, and are extended three times in that time")
	flags.BoolVar(&f.effects, "effects", false, "record finished work in the table effects, fenced")
	addValue(c, &f.enqueue, "enqueue", "COUNT", "0", "enqueue this many jobs first")
	flags.BoolVar(&f.untilEmpty, "until-empty", false, "stop when no job is left")
	addValue(c, &f.stopWithin, "stop-within", "DURATION", "10s", "how long handlers may go on after a stop")
	flags.StringVar(&f.status, "status", "",
		"show a status page at this `ADDRESS` of this machine, such as 127.0.0.1:8080")
	ui.Group(c, "Queue", "dsn", "schema", "node", "enqueue", "until-empty", "stop-within", "status")
	ui.Group(c, "Work", append(workFlags, "policy", "ttl", "effects")...)
	ui.Group(c, "Scenario", "scenario", "speed", "set")
	ui.AddTerminal(c, &f.Terminal, "quiet")
	return c
}

// workerScenario returns the default scenario of a worker, with handlers as set by the flags.
func (f *workerFlags) workerScenario() (*scenarios.Scenario, error) {
	sc, err := policyScenario(f.load.complete(), f.policies)
	if err != nil {
		return nil, err
	}
	ttl := f.ttl
	sc.Engine.Fetch.Wake = "all" // one announcement of PostgreSQL may stand for many jobs
	sc.Engine.Lease.TTL, sc.Engine.Lease.Heartbeat = ttl, ttl/3
	sc.Engine.Reaper.Every = min(sc.Engine.Reaper.Every, ttl/3)
	sc.Engine.CallTimeout, sc.Engine.Commit.Timeout = min(sc.Engine.CallTimeout, ttl/2), min(sc.Engine.Commit.Timeout,
		ttl/2)
	return sc, nil
}

// process is one worker process that serves a queue in PostgreSQL.
type process struct {
	wall    *world.Wall
	policy  string // label of the policy
	store   *pgstore.Store
	effects *pgstore.Effects // table that records the jobs' effects; nil: none
	node    int32
	classes []string // names of the job classes, by engine.Kind
	errors  []string // names of the kinds of errors, by engine.ErrorKind
	clock   func() engine.Time
	log     *slog.Logger
	told    atomic.Int64 // time of the latest log of an effect that failed, in nanoseconds

	executions, failed atomic.Int64
	effected           [pgstore.EffectApplied + 1]atomic.Int64 // number of effects that did not fail, by their result
}

func worker(c *cobra.Command, f *workerFlags) error {
	f.stores = nil
	if err := f.checkWorker(c); err != nil {
		return err
	}
	return inSession(c, &f.runFlags, func(s *session, ctx context.Context) error { return s.work(ctx, f) })
}

// work joins the queue, enqueues jobs if the flags set a number, and serves the queue until the process receives a
// signal to stop.
func (s *session) work(ctx context.Context, f *workerFlags) (err error) {
	var sc *scenarios.Scenario
	if f.scenario != "" {
		sc, err = s.loadScenario()
	} else {
		sc, err = f.workerScenario()
	}
	if err != nil {
		return err
	}
	policy := 0
	if len(f.policies) > 0 {
		policy = len(sc.Policies) - 1 // the only one that is left, or added as the last
		if len(sc.PoliciesNamed(f.policies[0])) > 1 {
			return ui.UsageError("--policy %s: %s has several of that kind; name one by its label", f.policies[0], sc.Name)
		}
	}
	wall, err := world.OnWallClock(sc, policy, sc.Seed, f.speed)
	if err != nil {
		return ui.Fail(ui.ExitUsage, err)
	}
	defer wall.Close()
	if err := s.stores.find(ctx); err != nil {
		return notServed(ctx, ui.Fail(ui.ExitIO, err))
	}
	store, err := pgstore.Open(ctx, s.stores.dsn, pgstore.Options{Schema: f.schema, Store: wall.Options})
	if err != nil {
		return notServed(ctx, failed("", postgres, err))
	}
	defer store.Close()
	p := &process{wall: wall, policy: sc.Policies[policy].Label, classes: world.Settings(sc).Classes,
		errors: sc.ErrorKinds(), store: store, node: f.node, clock: live.Clock(time.Now()),
		log: slog.New(slog.NewTextHandler(s.console, nil))}
	if p.node < 0 {
		p.node = firstNode(os.Getpid(), wall.Nodes)
	}
	if f.effects {
		if p.effects, err = store.Effects(ctx); err != nil {
			return notServed(ctx, failed("", postgres, err))
		}
	}
	unused := engine.JobID(time.Now().UnixMicro()) << 10 &^ (1 << 63) // by any earlier process
	if err := fill(ctx, store, unused, int(f.enqueue), nil); err != nil {
		return notServed(ctx, failed("", postgres, err))
	}
	return p.serve(ctx, s, f)
}

// mostNode is the highest number of a process's first engine, and mostEngines the highest number of engines per
// process, except those of a scenario.
const (
	mostNode    = 1 << 30
	mostEngines = 1000
)

// firstNode returns the number of the first engine of a process by its process ID: the engines of processes whose IDs
// follow each other have numbers of their own.
func firstNode(pid, engines int) int32 {
	each := max(mostEngines, engines)
	return int32(pid % (mostNode / each) * each)
}

// notServed returns the error for a worker process that ended before it served the queue: of an interrupt, or else err.
func notServed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ui.Fail(ui.ExitInterrupted, nil)
	}
	return err
}

func (f *workerFlags) checkWorker(c *cobra.Command) error {
	if f.scenario != "" {
		if given := changed(c, append(workFlags, "ttl")...); len(given) > 0 {
			return ui.UsageError("%s: a scenario says that itself; change it with --set", strings.Join(given, ", "))
		}
	}
	if f.ttl.Std() < 100*time.Millisecond {
		return ui.UsageError("%s: want at least 100ms", typed(c, "ttl"))
	}
	if err := checkStatus(f.status); err != nil {
		return err
	}
	if f.schema == "" {
		return ui.UsageError("--schema: want a name; without the flag it is %s", pgstore.DefaultSchema)
	}
	if f.node > mostNode || f.node < 0 && c.Flags().Changed("node") {
		return ui.UsageError("--node %d: want 0 to %d", f.node, mostNode)
	}
	if f.enqueue > mostJobs {
		return ui.UsageError("%s: want at most %d", typed(c, "enqueue"), mostJobs)
	}
	if len(f.policies) > 1 {
		return ui.UsageError("--policy: a worker has one")
	}
	return f.check(c)
}

// serve runs the engines, and a status page if asked for, until the process is stopped or the store refuses the policy.
func (p *process) serve(ctx context.Context, s *session, f *workerFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f.untilEmpty {
		go p.awaitEmpty(ctx, func() { cancel(nil) })
	}
	c := enginesOf(p.wall, p.store)
	c.FirstNode, c.Handler, c.StopWithin, c.Logger = p.node, p.handle, f.stopWithin.Std(), p.log
	if f.status != "" {
		at, err := newStatus(p, f, &c).serve(ctx, f.status)
		if err != nil {
			return err
		}
		s.console.Note("status page at http://%s/, metrics at http://%s/metrics", at, at)
	}
	observe := c.OnCall
	c.OnCall = func(node int32, call *engine.Call, r *engine.Reply, asked, began, ended engine.Time) {
		if observe != nil {
			observe(node, call, r, asked, began, ended)
		}
		if errors.Is(r.Err, engine.ErrUnsupported) {
			cancel(r.Err) // no claim will ever work
		}
	}
	s.console.Note("node %d, process %d: %d workers on schema %s, policy %s; SIGTERM drains%s", p.node, os.Getpid(),
		c.Engine.Workers*c.Engines, f.schema, p.policy,
		plain.When(f.enqueue == 0, "; no --enqueue: jobs come from other processes alone"))
	err := live.Run(ctx, c)
	s.console.Note("node %d: %d executions; effects: %d applied, %d known, %d refused as stale, %d failed", p.node,
		p.executions.Load(), p.effected[pgstore.EffectApplied].Load(), p.effected[pgstore.EffectKnown].Load(),
		p.effected[pgstore.EffectStale].Load(), p.failed.Load())
	if _, ok := errors.AsType[*live.AbandonedError](err); ok {
		return ui.Fail(ui.ExitIO, fmt.Errorf("node %d: %w; their leases will expire and others will run them", p.node, err))
	}
	if cause := context.Cause(ctx); errors.Is(cause, engine.ErrUnsupported) {
		err = cause
	}
	if err != nil {
		return failed(p.policy, postgres, err)
	}
	return nil
}

// handle executes one job of the queue, as the scenario prescribes, and applies its effect with --effects.
func (p *process) handle(ctx context.Context, j *engine.Job) error {
	p.executions.Add(1)
	a := p.wall.Begin(time.Duration(p.clock()), 0, j)
	if err := execute(ctx, p.wall, p.clock, j, a); err != nil || p.effects == nil {
		return err
	}
	effect, err := p.effects.Apply(ctx, j, p.node)
	if err != nil {
		p.failed.Add(1)
		p.complain(err)
		return err
	}
	if p.effected[effect].Add(1); effect == pgstore.EffectStale {
		return errors.New("the job is somebody else's by now")
	}
	return nil
}

// errorName returns the name of a kind of error: the scenario's, the engine's, or else "error" and its number.
func (p *process) errorName(k engine.ErrorKind) string {
	if int(k) < len(p.errors) && p.errors[k] != "" {
		return p.errors[k]
	}
	return cmp.Or(k.Name(), "error "+strconv.Itoa(int(k)))
}

// complain logs, at most once a second, that a finished job could not be recorded in the table effects (--effects).
func (p *process) complain(err error) {
	last, now := p.told.Load(), time.Now().UnixNano()
	if now-last >= int64(time.Second) && p.told.CompareAndSwap(last, now) {
		p.log.Warn("worker: "+err.Error(), "node", p.node)
	}
}

// awaitEmpty waits until no job is left in the queue, and calls stop. It keeps trying while the server is away.
func (p *process) awaitEmpty(ctx context.Context, stop func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
		if left, _, err := countLeft(ctx, p.store, 1); err == nil && left == 0 {
			stop()
			return
		}
	}
}
