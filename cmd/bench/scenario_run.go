package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"qsim/cmd/input"
	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// loadScenario loads the scenario of the flags, with their seed, keys and policies, and prints errors and warnings.
func (s *session) loadScenario() (*scenarios.Scenario, error) {
	sets, err := input.Sets(s.flags.set)
	if err != nil {
		return nil, err
	}
	if s.flags.seed > 0 {
		sets = append(sets, scenarios.Override{Path: "seed", Value: strconv.FormatUint(s.flags.seed, 10)})
	}
	loaded, err := input.Load(s.flags.scenario,
		input.Options{Sets: sets, Policies: s.flags.policies, Errors: s.stderr, Notes: s.console})
	return loaded.Scenario, err
}

// runScenario runs all policies of a scenario in turn, on each store, seed after seed, and prints their results.
func (s *session) runScenario(ctx context.Context) error {
	sc, err := s.loadScenario()
	if err != nil {
		return err
	}
	s.announce(sc)
	runs, settings := map[string][]measure.Run{}, world.Settings(sc)
	return s.measureAll(s.candidates(sc), int(s.flags.rounds), func(round int, c *candidate) error {
		o := playOptions{policy: c.index, seed: sc.Seed + uint64(round), speed: s.flags.speed, store: c.store}
		p, err := play(ctx, sc, o, s.stores)
		if err != nil {
			return err
		}
		runs[c.store] = append(runs[c.store], p.run)
		s.warn(c, p)
		name := benchName("Scenario", "scenario", sc.Name, "policy", c.policy, "store", c.store, "speed", o.speed.String())
		return s.line(name, p.jobs, p.took, p.metrics())
	}, func() (exit ui.Exit, err error) {
		for _, store := range s.flags.stores {
			if len(runs[store]) > 0 { // else the command was interrupted before
				code, wrong := s.summarize(sc, &settings, store, runs[store])
				exit, err = ui.Worse(exit, code), cmp.Or(err, wrong)
			}
		}
		return exit, err
	})
}

// announce prints how many runs follow and how long they take on the wall clock.
func (s *session) announce(sc *scenarios.Scenario) {
	speed, rounds := s.flags.speed, int(s.flags.rounds)
	n := len(sc.Policies) * rounds * len(s.flags.stores)
	s.console.Note("%s at %s: %s of %s, plus what it takes to drain", sc.Name, speed, plain.Plural(n, "run"),
		scenarios.Duration(speed.Real(sc.Duration.Std()).Round(time.Millisecond)))
	s.console.Note("all times are the scenario's; %s is the real store and takes what it takes, whatever engine.store "+
		"says", strings.Join(s.flags.stores, ", "))
}

// warn adds the jobs of a run to the session's totals, and prints warnings if jobs were enqueued late or never.
func (s *session) warn(c *candidate, p *played) {
	s.count(c, &p.endedRun)
	if p.unfed > 0 {
		s.console.Note("warning: %s on %s: %s", c.policy, c.store, neverEnqueued(p.unfed))
	}
	if late := p.lateness; late > 50*time.Millisecond || late > p.took/20 {
		s.console.Note("warning: %s on %s: 1 in 100 jobs was enqueued more than %s after its time: this machine is too "+
			"slow for that speed", c.policy, c.store, seconds(late.Seconds()))
	}
}

// summarize prints the summary of all runs on one store, writes its files if --out is set, and returns the exit code.
func (s *session) summarize(sc *scenarios.Scenario, settings *measure.Settings, store string,
	runs []measure.Run) (ui.Exit, error) {
	asked := make([]uint64, s.flags.rounds) // of which an interrupt leaves some out
	for i := range asked {
		asked[i] = sc.Seed + uint64(i)
	}
	summary, err := results.Summarize(settings, runs, results.Options{Seeds: asked})
	if err != nil {
		return ui.ExitIO, ui.Fail(ui.ExitIO, fmt.Errorf("%s: %w", store, err))
	}
	for _, warning := range summary.Warnings {
		s.console.Note("%s: warning: %s", store, warning)
	}
	if verdicts := text.Conclusion(summary); s.flags.format == "bench" && verdicts != "" {
		s.console.Note("%s: %s", store, verdicts) // benchmark lines hold none
	}
	printed := s.flags.Output(summary.JSON, func(o text.TableOptions) string {
		heading := fmt.Sprintf("%s at %s on the wall clock, store %s\n", sc.Name, s.flags.speed, store)
		return plain.When(o.Format == text.Text, heading) + text.Summary(summary, o)
	})
	if err := printed.Print(s.stdout, s.flags.format); err != nil {
		return ui.ExitIO, err
	}
	draw := func() ([]report.Figure, error) { return report.Charts(summary, ui.Version) }
	if err := s.writeSummary(sc.Name+"-"+store+"-"+s.flags.speed.String(), sc, summary, draw); err != nil {
		return ui.ExitIO, err
	}
	return ui.Exit(summary.Exit), nil
}

// writeSummary writes the files of a summary in the format of qsim run, for qsim compare, with the charts that draw
// returns, the data files of the scenario and further files, into a new folder below name; nothing without --out.
func (s *session) writeSummary(name string, sc *scenarios.Scenario, summary *results.Summary,
	draw func() ([]report.Figure, error), more ...results.File) error {
	if s.flags.out == "" {
		return nil
	}
	var files []results.File
	figures, err := draw()
	if err == nil {
		files, err = results.Files(summary, s.runInfo(), sc.Resolved())
	}
	if err != nil {
		return ui.IOError("write results", err)
	}
	files, missing := input.WithData(slices.Concat(files, more, report.Files("charts", figures)), sc)
	return cmp.Or(s.writeFiles(name, summary.ConfigHash, files), ui.IOError("write results", missing))
}

// writeFiles writes files into a new folder below name in --out, and prints where it is.
func (s *session) writeFiles(name, hash string, files []results.File) error {
	folder, err := results.Write(results.Place{Out: s.flags.out, Scenario: name, ConfigHash: hash, Start: s.begun}, files)
	if err != nil {
		return ui.IOError("write results", err)
	}
	s.console.Note("files in %s", folder)
	return nil
}

// runInfo returns the content of run.json: the facts that may differ between two equal runs. It holds no command line,
// which may contain a password.
func (s *session) runInfo() results.RunInfo {
	here, _ := os.Getwd() // for people only; "" means unknown
	return results.RunInfo{Started: s.begun.UTC(), Took: time.Since(s.begun).Seconds(), Command: []string{"qbench"},
		Folder:  here,
		Version: ui.Version, Commit: ui.Commit(), GoVersion: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPUs: runtime.GOMAXPROCS(0)}
}

// played holds the results of one run of a scenario on a real store: counts of jobs, metrics and measured delays.
type played struct {
	endedRun
	run      measure.Run
	unfed    int64         // number of jobs never enqueued because time was up
	lateness time.Duration // p99 of the delays from a job's intended enqueueing until the store had it
	timings  *timings      // measured durations; nil: not requested
}

// playOptions are the parameters of one real run that differ between runs of a scenario.
type playOptions struct {
	policy int
	seed   uint64
	speed  world.Speed
	store  string
	learns bool // whether to measure timings
	// mechanics counts calls and executions; nil: not requested
	mechanics *world.Mechanics
}

// play runs a scenario in real time on a new store, until its jobs have ended or its time is up, and measures it.
func play(ctx context.Context, sc *scenarios.Scenario, o playOptions, stores *stores) (result *played, err error) {
	r, err := stores.open(ctx, sc, o)
	if err != nil {
		return nil, err
	}
	defer r.close(&err)
	wall := r.wall
	var perJob [engine.NumOps]time.Duration
	if o.learns {
		if perJob, err = measureCosts(ctx, r.store); err != nil {
			return nil, err
		}
	}
	runtime.GC() // collect the garbage of the previous run now, not during this one
	rec := record(r)
	var mutex sync.Mutex                 // guards drawn; wall.Begin has one, too
	drawn := map[attempt]time.Duration{} // run times, if o.learns
	handle := func(ctx context.Context, j *engine.Job) error {
		a := wall.Begin(time.Duration(r.clock()), 0, j)
		if o.learns {
			mutex.Lock()
			drawn[attempt{j.ID, j.Delivery}] = a.Runs
			mutex.Unlock()
		}
		return execute(ctx, wall, r.clock, j, a)
	}
	arrivals, until := wall.Length()
	if err := r.run(ctx, handle, r.feed(wall.Next, rec.enqueued), until); err != nil {
		return nil, err
	}
	if err := wall.Err(); err != nil {
		return nil, ui.Fail(ui.ExitUsage, err)
	}
	p := &played{endedRun: r.measured(time.Duration(r.clock())), unfed: r.unfed.Load(),
		lateness: quantile(plain.Map(r.feeding.jobs, func(j fed) time.Duration { return j.late }), .99)}
	left, dead, err := r.settle(ctx)
	if err != nil {
		return nil, err
	}
	if o.learns {
		p.timings = learn(rec, drawn, perJob, &r.feeding, o.speed, arrivals)
		t := p.timings
		t.jobs = r.enqueued.Load()
		stalls := &t.delays.Stalls
		stalls.Over = p.took
		t.held, t.frozen = shareOf(stalls.Arrivals, p.took), shareOf(stalls.Store, p.took)
		for _, spans := range stalls.Engines {
			t.stalled += shareOf(spans, p.took) / float64(len(stalls.Engines))
		}
	}
	if o.mechanics != nil {
		follow(o.mechanics, rec.probes)
	}
	run, b := wall.Finish(rec.events(), min(p.took, until)) // what a stop cuts off is still in flight in a simulation
	p.run, p.account = run, account{jobs: b.Enqueued, done: b.Done, dead: max(b.Dead, dead), duplicates: b.Duplicates}
	p.reconcile(b.Unresolved-(p.dead-b.Dead), left)
	if p.unfed > 0 {
		p.run.Warnings = append(p.run.Warnings, neverEnqueued(p.unfed))
	}
	return p, nil
}

// metrics returns the metrics of the whole run, in the scenario's time, and the durations of calls.
func (p *played) metrics() []metric {
	var list []metric
	for _, v := range p.run.Values {
		if (v.Query != measure.Query{Metric: v.Metric}) || v.Null || math.IsNaN(v.Value) {
			continue
		}
		info, _ := measure.Lookup(v.Metric)
		list = append(list, metric{metricUnit(info), info.Unit, v.Value})
	}
	for _, calls := range []namedPhase{{"claim", &p.claim}, {"commit", &p.commit}} {
		if calls.rows > 0 {
			list = append(list, metric{calls.name + "-sec/job", "s", calls.perJob()})
		}
	}
	list = append(list, metric{"never-enqueued", "jobs", float64(p.unfed)})
	return append(list, metric{"lost", "jobs", float64(p.lost)},
		metric{"duplicates", "executions", float64(p.duplicates)})
}

// neverEnqueued returns the warning for a run that lacks n jobs of its scenario.
func neverEnqueued(n int64) string {
	return plain.Either(n == 1, "1 job that was to come was", fmt.Sprintf("%d jobs that were to come were", n)) +
		" never enqueued: time was up before; choose a lower speed, or a longer drain"
}
