package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// experiment is a scenario by whose replications some of the expected values of a verify row are measured.
type experiment struct {
	setup    setup
	load     float64 // load of the workers: above highLoad intervals may be wider
	heavy    bool    // rare values dominate: wider intervals are allowed for second moments
	fixed    bool    // nothing is random: one replication is enough
	known    bool    // nothing is simulated either
	policy   func(workers int) engine.Policy
	plan     observation
	measures map[string]gauge // quantities measured, by the path of the item
	others   bool             // items missing in measures may be one of usual
	// alter changes a simulation before it begins; o watches it.
	alter func(cfg *sim.Config, o *observer)

	scenario *scenarios.Scenario
	answers  []*answer
	from     uint64 // first seed of the answers
	ran      int
	jobs     float64
}

const (
	highLoad   = 0.8 + 1e-9
	firstRound = 20 // replications
	chunk      = 32 // highest number of replications whose events are in memory at once
	mostRounds = 12
)

// prepare loads the experiment's scenario and sets what its observers measure, before the first replication.
func (x *experiment) prepare() error {
	sc, problems := scenarios.Load("verify.yaml", []byte(x.setup.yaml()), nil)
	if sc == nil {
		return fmt.Errorf("%s", problems.Errors()[0].Message)
	}
	if x.policy != nil {
		made := *sc
		made.Policies = nil
		made.Compare("custom", x.policy)
		made.Baseline = "custom"
		sc = &made
	}
	x.scenario = sc
	x.plan.from, x.plan.to = engine.Time(sc.Warmup), engine.Time(sc.Duration)
	x.plan.classes = len(sc.Jobs)
	x.plan.workers = x.setup.workers * max(x.setup.nodes, 1)
	return nil
}

// replicate runs count replications, the first with the seed first, parallel at once, and adds their values to answers.
func (x *experiment) replicate(ctx context.Context, first uint64, count, parallel int) error {
	for ; count > 0; first, count = first+chunk, count-chunk {
		observers := make([]*observer, min(count, chunk)) // each simulation sets its own
		sc := *x.scenario
		sc.Seed, sc.Seeds = first, scenarios.Count(len(observers))
		runs, err := world.Run(ctx, &sc, world.Options{Parallel: parallel, Alter: func(_ int, seed uint64, cfg *sim.Config) {
			o := newObserver(&x.plan, cfg.Recorder)
			cfg.Recorder = o
			if x.alter != nil {
				x.alter(cfg, o)
			}
			observers[seed-first] = o
		}})
		if err != nil {
			return err
		}
		for i, o := range observers {
			o.advance(max(x.plan.to, o.now) + 1)
			if err := x.agrees(o, &runs[i]); err != nil {
				return fmt.Errorf("seed %d: %w", runs[i].Seed, err)
			}
			x.ran++
			x.jobs += float64(runs[i].Jobs)
			for _, a := range x.answers {
				a.add(o, &runs[i])
			}
		}
	}
	return nil
}

// histogramError is the largest relative error allowed for quantiles in results, which come from histograms.
const histogramError = 0.005

// agrees returns an error if a metric in a run's results, unless only a bound, differs from what the observer counted.
func (x *experiment) agrees(o *observer, run *measure.Run) error {
	if x.plan.counted != nil {
		return nil // it counts only some
	}
	for i := range usual {
		metric := usual[i].metric
		value, known := valueOf(run, metric)
		if !known {
			continue
		}
		within := 1e-6
		if info, _ := measure.Lookup(metric); info.Unit == "s" && !strings.HasSuffix(metric, ".mean") {
			within = histogramError
		}
		if own := usual[i].gauge.of(o); math.Abs(own-value) > within*math.Abs(own)+1e-9 {
			return disagreement(fmt.Sprintf("the metric %s is %v, but the events say %v", metric, value, own))
		}
	}
	return nil
}

// valueOf returns the value of a metric as results report it for a run; false if it is missing or only a bound.
func valueOf(run *measure.Run, metric string) (float64, bool) {
	v := run.Find(measure.Query{Metric: metric})
	return v.Value, !v.Null && v.Bound == ""
}

// measureAll runs replications, count at first, until all intervals are as narrow as allowed, or a limit is reached.
func (x *experiment) measureAll(ctx context.Context, o Options, count int) error {
	for round := 0; ; round++ {
		if err := x.replicate(ctx, x.from+uint64(x.ran), count, o.Parallel); err != nil {
			return err
		}
		wanted := x.ran
		for _, a := range x.answers {
			wanted = max(wanted, a.wants())
		}
		perRun := max(x.jobs/float64(x.ran), 1)
		most := int(min(cmp.Or(o.MostJobs, 400e6)/perRun, mostReplications))
		if wanted <= x.ran || round == mostRounds || x.ran >= most {
			return nil
		}
		count = min(wanted, most) - x.ran
	}
}

const mostReplications = 100_000

// begin drops what the experiment has measured, to measure anew with the seeds from first on.
func (x *experiment) begin(first uint64) {
	x.from, x.ran, x.jobs = first, 0, 0
	for _, a := range x.answers {
		a.measured = measured{}
	}
}

// run measures all quantities of the experiment; those that miss once more, with new seeds and twice the replications.
func (x *experiment) run(ctx context.Context, o Options) error {
	if x.known {
		for _, a := range x.answers {
			a.add(nil, nil)
		}
		return nil
	}
	x.begin(1)
	if err := x.measureAll(ctx, o, plain.Either(x.fixed, 1, firstRound)); err != nil {
		return err
	}
	if x.fixed || !slices.ContainsFunc(x.answers, func(a *answer) bool { return a.judge() == Missed }) {
		return nil
	}
	first := plain.Map(x.answers, func(a *answer) answer { return *a })
	next, twice := x.from+uint64(x.ran), 2*x.ran
	x.begin(next)
	if err := x.measureAll(ctx, o, twice); err != nil {
		return err
	}
	for i, a := range x.answers {
		if first[i].judge() != Missed {
			*a = first[i] // what was met the first time is met
		} else {
			a.repeated = true
		}
	}
	return nil
}

// disagreement is the error for a metric whose reported value differs from what an observer counted; its text has both.
type disagreement string

func (d disagreement) Error() string { return string(d) }

// relaxation returns the seconds in which a queue of c workers forgets its initial state: 1/(cμ(1-√ρ)²), Abate and
// Whitt: Transient behavior of the M/M/1 queue (1987); times (1+cv²)/2, but at least 1, for service times with the
// coefficient of variation cv. load is ρ, at most 0.99 here, and rate cμ.
func relaxation(load, rate, cv float64) float64 {
	root := 1 - math.Sqrt(min(load, 0.99))
	return max((1+float64(cv*cv))/2, 1) / (rate * root * root)
}

// horizon sets the scenario's length: a warm-up of ten relaxation times (relaxes, in seconds), twice what the mean
// needs, and a window of 20 warm-ups or, if longer, the time of usualJobs arrivals at the rate.
func (s *setup) horizon(relaxes, rate float64) {
	s.warmup = math.Ceil(10 * relaxes)
	s.window = math.Ceil(max(20*s.warmup, usualJobs/rate))
	s.drain = s.window
}

func duration(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// setup holds the parts of an experiment's scenario as YAML text in flow style; "": the default. Times are in seconds.
type setup struct {
	warmup, window, drain float64 // arrivals go on for warmup + window
	nodes, workers        int     // numbers of nodes, 0: one, and of workers per node
	fetch                 string
	lease, reaper         string
	fence, place          string
	retry                 string // retry settings of all classes
	classes               []string
	dependencies          []string
	storms                []string
	policy                string
}

// manyWorkers is a number of workers so high that no job waits for one.
const manyWorkers = 20_000

// yaml returns the YAML text of the experiment's scenario. Calls to the store take no time in it, so that a free worker
// has the next job at once; leases, heartbeats and commits are all at work.
func (s *setup) yaml() string {
	var b strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&b, format+"\n", arguments...) }
	list := func(key string, elements ...string) {
		b.WriteString(plain.When(len(elements) > 0, key+":\n  - "+strings.Join(elements, "\n  - ")+"\n"))
	}
	line("name: verify\nduration: %s", seconds(s.warmup+s.window))
	line("warmup: %s\ndrain: %s", seconds(s.warmup), seconds(s.drain))
	line("engine:\n  nodes: %d\n  workers: %d\n  timeout: 0s", max(s.nodes, 1), s.workers)
	line("  fetch: %s", cmp.Or(s.fetch, fmt.Sprintf("{batch: %d, poll: 1h, wake: true}", min(s.workers, 100_000))))
	line("  commit: {batch: 1000, linger: 0s, calls: 100, backpressure: 0}")
	line("  lease: %s", cmp.Or(s.lease, "{ttl: 30s, heartbeat: 10s}"))
	line("  fence: %s\n  place: %s", cmp.Or(s.fence, "token"), cmp.Or(s.place, "due"))
	line("  reaper: %s", cmp.Or(s.reaper, "{every: 30s}"))
	line("  store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s, enqueue: 0s, per-job: 0s}")
	line("retry: %s", cmp.Or(s.retry, noDelay(0)))
	list("dependencies", s.dependencies...)
	list("jobs", s.classes...)
	list("storms", s.storms...)
	list("policies", cmp.Or(s.policy, "{kind: fifo}"))
	return b.String()
}

// seconds returns a duration, given in seconds, as scenario text such as 0.25s, exact to the nanosecond.
func seconds(v float64) string { return plain.Fixed(v, 9) + "s" }

// perSecond returns a rate, given per second, as scenario text such as 40/s.
func perSecond(v float64) string { return plain.Fixed(v, 9) + "/s" }

// percent returns a share in [0, 1] as scenario text such as 12.5%.
func percent(v float64) string { return plain.Fixed(100*v, 7) + "%" }

func poisson(rate float64) string {
	return fmt.Sprintf("{process: poisson, rate: %s}", perSecond(rate))
}

func equalGaps(rate float64) string {
	return fmt.Sprintf("{process: constant, rate: %s}", perSecond(rate))
}

// atOnce returns the scenario text of arrivals: n jobs together, at seconds after the start, and no others.
func atOnce(n int, at float64) string {
	return fmt.Sprintf("{process: batch, size: %d, every: 80000h, start: %s}", n, seconds(at))
}

func exponential(mean float64) string {
	return fmt.Sprintf("{dist: exponential, mean: %s}", seconds(mean))
}

// class returns the scenario text of a job class, in flow style; more are further keys, such as "priority: 1".
func class(name, arrivals, service string, more ...string) string {
	keys := append([]string{"class: " + name, "arrivals: " + arrivals, "service: " + service}, more...)
	return "{" + strings.Join(keys, ", ") + "}"
}

// fails returns the scenario key by which a share p of a class's attempts fails.
func fails(p float64) string { return fmt.Sprintf("fails: {rate: %s}", percent(p)) }

// noDelay returns the scenario text of retry settings without delays, with a limit on attempts; 0: no limit.
func noDelay(attempts int) string { return retry(attempts, "{kind: none}") }

// retry returns the scenario text of retry settings with a backoff, no jitter, and a limit on attempts; 0: no limit.
func retry(attempts int, backoff string) string {
	most := plain.Either(attempts > 0, strconv.Itoa(attempts), "unlimited")
	return fmt.Sprintf("{max-attempts: %s, backoff: %s, jitter: none, never: []}", most, backoff)
}

// randomDelay returns the scenario text of a backoff whose delays are exponential with a mean in seconds.
func randomDelay(mean float64) string {
	return fmt.Sprintf("{kind: random, delay: %s}", exponential(mean))
}

// storm returns the scenario text of a storm: start and length in seconds, and in what the keys of its fault.
func storm(name string, at, length float64, what string) string {
	return fmt.Sprintf("{name: %s, at: %s, for: %s, %s}", name, seconds(at), seconds(length), what)
}

// budgetOf returns the scenario text of a policy that limits retries to a share of the first attempts.
func budgetOf(share float64) string {
	return fmt.Sprintf("{kind: retry-budget, ratio: %s, min-rate: 0/s, window: 10s}", percent(share))
}
