package bench

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"qsim/cmd/ui"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

type predictFlags struct {
	runFlags
	calibrate scenarios.Duration
	within    scenarios.Share // Num is below 0 without the flag
	noFiles   bool
}

func newPredict() *cobra.Command {
	f := predictFlags{runFlags: runFlags{format: "table"}, within: scenarios.Share{Num: -1}}
	c := &cobra.Command{
		Use:   "predict --scenario SCENARIO [flags]",
		Short: "predict a run by simulation, run it, and compare",
		Long: `predict compares the simulation with reality. For each policy it measures this machine and
store: calls by kind, the cost of each further job of a call, the time to wake an engine, and
how much handlers oversleep, under the arrivals of the scenario with another seed: without
storms, then in its longest storm, then after it. Then it runs the scenario for real. It
simulates the scenario nine times a round under the same seed, and draws each delay from those
measured at about the same moment of the part that is like it, and stalls from all that it
measured on the store so far, but none from the run to predict. The simulation with the median
p99 wait of fresh jobs is the prediction. It prints both, in the time of the scenario, and the
error of the prediction relative to the real run. Where the error is larger than aimed at (10 %
with memory, 15 % with PostgreSQL), it prints the measured reason, and how many jobs a quantile
is off by: where waits go from milliseconds to minutes within a few jobs, one job in a hundred
makes an error of a thousand percent. With --rounds it measures and runs the real thing that
many times under one seed, and simulates with all measurements in turn: how far the real runs
lie from the value over all of them is the floor, and an error within it counts as within the
aim. A table compares how the engines worked on both sides, phase by phase: claims and their
rows, the share of claims that were woken, busy workers, calls and gaps. An interrupt prints
the predictions made so far.

Exit codes: as qbench run; 1 if a judged metric is off by more than the aim, or than --within.`,
		Example: `  qbench predict --scenario retry-storm --speed 20x --policy fifo
  qbench predict --scenario my.yaml --speed 60x --store memory,postgres --rounds 3
  qbench predict --scenario retry-storm --speed 20x --within 15% --format json`,
		Args: ui.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return predict(c, &f) },
	}
	addCandidateFlags(c, &f.runFlags)
	flags := c.Flags()
	addValue(c, &f.rounds, "rounds", "COUNT", "1",
		"real runs of the one seed, each predicted; their spread is the floor of the errors")
	addValue(c, &f.calibrate, "calibrate", "DURATION", "10s",
		"measure delays for so long before each run, and again in a storm and after it")
	addValue(c, &f.within, "within", "SHARE", "",
		"exit with 1 if a prediction is off by more than this (default: the aim)")
	ui.AddChoice(c, &f.format, "format", "FORMAT", "of the result: table or json", "table", "json")
	flags.StringVarP(&f.out, "out", "o", "results/runs", "write results and charts below this `DIR`")
	flags.BoolVar(&f.noFiles, "no-files", false, "write no files")
	ui.Group(c, "Scenario", "scenario", "speed", "seed", "set")
	ui.Group(c, "What to predict", "policy", "store", "rounds", "calibrate", "within", "dsn")
	ui.Group(c, "Output", "format", "out", "no-files")
	ui.AddTerminal(c, &f.Terminal, "quiet", "verbose", "color", "progress")
	return c
}

// prediction holds the simulated and the real runs of one policy on one store, and how they compare.
type prediction struct {
	candidate   *candidate
	aim         float64         // accepted relative error, such as 0.1
	stalls      *world.Stalls   // stalls (see stallFrom) of all runs on the store so far
	calibration *timings        // timings of the last calibration
	measured    []*world.Delays // delays of the calibration before each round
	simulated   []measure.Run   // simulated runs, one for each round
	real        []measure.Run
	hindsight   []measure.Run // runs simulated with the delays of the real runs
	played      []*played
	mechanics   [2]*world.Mechanics // statistics of the engines in the simulations and in the real runs
	summary     *results.Summary    // summary with the simulation and the real run as two policies
	rows        []predicted
}

// predicted is the value of one metric in the simulation and in the real run, with the relative error. In JSON, numbers
// that do not exist (NaN) are null.
type predicted struct {
	measure.Query `json:"-"`
	Name          string    `json:"metric"` // metric with its filters, as text
	Unit          string    `json:"unit"`
	Simulated     float64   `json:"simulated"`
	Real          float64   `json:"real"`
	Error         float64   `json:"error"` // simulated ÷ real − 1
	Aimed         bool      `json:"aimed"`
	ByRound       []float64 `json:"by_round"` // error of each round alone, relative to its real run
	// Floor is the largest deviation of one real run from the value of all together, as a share of that value.
	Floor float64 `json:"floor"`
	// OneFloor is such a deviation as a share of the run's own value, for ByRound. Both are 0 for one run.
	OneFloor float64 `json:"floor_by_round"`
	// Hindsight is the error of simulations with the delays of the real runs themselves: what remains when the
	// calibration is right.
	Hindsight float64 `json:"hindsight_error"`
	Why       string  `json:"why,omitempty"` // cause of an error beyond the accepted one (aim or Floor)
	// JobsWithin holds, for a quantile with such an error, the shares of jobs that waited no longer than its real value.
	JobsWithin *apart `json:"jobs_within_real,omitempty"`
}

func predict(c *cobra.Command, f *predictFlags) error {
	if f.scenario == "" {
		return ui.UsageError("predict which scenario? Name one with --scenario; qsim list scenarios lists those built in")
	}
	if f.rounds < 1 || f.rounds > 1000 {
		return ui.UsageError("%s: want 1 to 1000", typed(c, "rounds"))
	}
	if f.calibrate <= 0 {
		return ui.UsageError("%s: want more than 0s", typed(c, "calibrate"))
	}
	if f.noFiles {
		f.out = ""
	}
	return inSession(c, &f.runFlags, func(s *session, ctx context.Context) error { return s.predictAll(ctx, f) })
}

// predictAll makes a prediction and the real runs for every policy on every store, and prints them.
func (s *session) predictAll(ctx context.Context, f *predictFlags) error {
	sc, err := s.loadScenario()
	if err != nil {
		return err
	}
	s.announce(sc)
	var all []*prediction
	stalls := map[string]*world.Stalls{} // by store
	return s.measureAll(s.candidates(sc), 1, func(_ int, c *candidate) error {
		stalls[c.store] = cmp.Or(stalls[c.store], new(world.Stalls))
		p := &prediction{candidate: c, stalls: stalls[c.store], aim: .10}
		if c.store == postgres {
			p.aim = .15
		}
		if err := s.predict(ctx, sc, p, f); err != nil {
			return err
		}
		all = append(all, p)
		return nil
	}, func() (ui.Exit, error) {
		if len(all) == 0 { // the command was interrupted before
			return ui.ExitMet, nil
		}
		return worstOf(all, f), s.printPredictions(sc, all)
	})
}

// worstOf returns the worst exit code of all predictions: that of a miss if the error of a judged metric is too large.
func worstOf(all []*prediction, f *predictFlags) ui.Exit {
	for _, p := range all {
		within := p.aim
		if f.within.Num >= 0 {
			within = f.within.Float()
		}
		if p.unfed() > 0 {
			return ui.ExitMissed // the run lacked jobs of the scenario
		}
		for _, r := range p.rows {
			if r.Aimed && !(math.Abs(r.Error) <= max(within, r.Floor)) {
				return ui.ExitMissed
			}
		}
	}
	return ui.ExitMet
}

// predict makes a prediction. In each round it calibrates and runs the policy on the store, always under the same seed.
// Then it simulates each round with the delays of all calibrations in turn, since one may meet a slow minute of the
// machine. No prediction uses what was measured in its real run.
func (s *session) predict(ctx context.Context, sc *scenarios.Scenario, p *prediction, f *predictFlags) error {
	only, err := sc.Select([]string{p.candidate.policy})
	if err != nil {
		return ui.UsageError("%w", err)
	}
	settings := world.Settings(only)
	settings.Storms = settings.StormsOf(0)
	for i := range p.mechanics {
		p.mechanics[i] = world.NewMechanics(&settings, f.speed)
	}
	o := playOptions{seed: sc.Seed, speed: f.speed, store: p.candidate.store}
	for range int(f.rounds) {
		o.learns, o.mechanics = false, nil
		if p.calibration, err = calibrate(ctx, only, o, f.calibrate.Std(), s.stores); err != nil {
			return err
		}
		delays := p.calibration.delays
		p.measured = append(p.measured, &delays)
		p.stalls.Append(&delays.Stalls)
		o.learns, o.mechanics = true, p.mechanics[1]
		real, err := play(ctx, only, o, s.stores)
		if err != nil {
			return err
		}
		s.warn(p.candidate, real)
		real.run.Policy = 1
		p.real, p.played = append(p.real, real.run), append(p.played, real)
	}
	for _, d := range p.measured {
		d.Stalls = *p.stalls
	}
	measured := plain.Map(p.measured, (*world.Delays).Overlay)
	for round, real := range p.played {
		from := round * simulations
		if err := p.simulate(ctx, only, o.seed, measured, from, from+simulations, p.mechanics[0], &p.simulated); err != nil {
			return err
		}
		own := &real.timings.delays
		if err := p.simulate(ctx, only, o.seed, []*world.Overlay{own.Overlay()}, 0, 1, nil, &p.hindsight); err != nil {
			return err
		}
		p.stalls.Append(&own.Stalls) // for the next policy
		for _, runs := range [][]measure.Run{p.simulated, p.real, p.hindsight} {
			runs[round].Seed = o.seed + uint64(round) // a summary needs distinct seeds
		}
	}
	return p.compare(only, f.speed)
}

// simulations is the number of simulations per round; the median one counts, as stalls meet load peaks by chance.
const simulations = 9

// simulate runs the simulations from one number to before another, with each of the measured delays in turn, and
// appends to runs the one with the median p99 wait of fresh jobs. It adds the engine statistics of all to m, if not
// nil.
func (p *prediction) simulate(ctx context.Context, sc *scenarios.Scenario, seed uint64, measured []*world.Overlay,
	from, to int, m *world.Mechanics, runs *[]measure.Run) error {
	one := *sc
	one.Seed, one.Seeds = seed, 1
	one.Objectives = nil // one of slowdown takes a simulation without storms, too
	var all []measure.Run
	for i := from; i < to; i++ {
		overlay := measured[i%len(measured)]
		overlay.Mechanics, overlay.Draw = m, uint64(i)
		more, err := world.Run(ctx, &one, world.Options{Alter: overlay.Alter})
		if m != nil {
			m.Over()
		}
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	p99 := func(r *measure.Run) float64 {
		if v := r.Find(measure.Query{Metric: "fresh.wait.p99"}); !v.Null {
			return v.Value
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(all, func(a, b measure.Run) int { return cmp.Compare(p99(&a), p99(&b)) })
	*runs = append(*runs, all[len(all)/2])
	return nil
}

// aims lists the metrics that decide the verdict on a prediction, and alsoShown those that are only printed.
var (
	aims      = []string{"fresh.wait.p50", "fresh.wait.p99", "throughput", "attempts.mean", "duplicates.count"}
	alsoShown = []string{"goodput", "sojourn.p50", "sojourn.p99", "retry.wait.p99", "utilization", "dead.count"}
)

// compare computes each metric's simulated and real value, like those of two policies, and the relative error.
func (p *prediction) compare(sc *scenarios.Scenario, speed world.Speed) error {
	settings := world.Settings(sc)
	info := settings.Policies[0]
	settings.Policies = []measure.PolicyInfo{info, info}
	settings.Policies[0].Label, settings.Policies[1].Label = "simulated", "real"
	settings.Baseline, settings.Objectives = 1, nil
	var err error
	if p.summary, err = results.Summarize(&settings, append(slices.Clone(p.simulated), p.real...),
		results.Options{}); err != nil {
		return err
	}
	knowing, err := results.Summarize(&settings, append(slices.Clone(p.hindsight), p.real...), results.Options{})
	if err != nil {
		return err
	}
	var queries []predicted
	for i, metric := range slices.Concat(aims, alsoShown) {
		queries = append(queries, predicted{Query: measure.Query{Metric: metric}, Aimed: i < len(aims)})
		if metric == "fresh.wait.p99" {
			for _, storm := range settings.Storms {
				queries = append(queries, predicted{Query: measure.Query{Metric: metric, During: storm.Name}, Aimed: true})
			}
		}
	}
	for _, row := range queries {
		a, b := p.summary.Policies[0].Find(row.Query), p.summary.Policies[1].Find(row.Query)
		if a == nil || b == nil {
			continue
		}
		row.Name, row.Simulated, row.Real, row.Unit = row.String(), a.Mean, b.Mean, b.Unit
		row.Aimed = row.Aimed && !(math.IsNaN(a.Mean) && math.IsNaN(b.Mean)) // both have none, as of a storm without jobs
		row.Error, row.Hindsight = relative(a.Mean, b.Mean), relative(knowing.Policies[0].Find(row.Query).Mean, b.Mean)
		row.Floor, row.OneFloor = p.floorsOf(&row)
		row.ByRound = p.errorsByRound(row.Query)
		switch n := p.unfed(); {
		case row.Aimed && n > 0:
			row.Why = "what was real is not the scenario: " + neverEnqueued(n)
		case row.Aimed && !(math.Abs(row.Error) <= max(p.aim, row.Floor)):
			row.Why, row.JobsWithin = p.why(&row, speed), p.apartAt(&row)
		}
		p.rows = append(p.rows, row)
	}
	return nil
}

// floorsOf returns the scatter of a metric between real runs, up to which errors of a prediction are accepted: the
// largest deviation of a run from the overall value, as a share of that value (floor) or of the run's own value (one,
// for errors by round, without runs whose value is 0). Both are 0 for one run, or if some run has no value.
func (p *prediction) floorsOf(row *predicted) (floor, one float64) {
	for i := range p.real {
		v := p.real[i].Find(row.Query)
		if v.Null || row.Real == 0 || math.IsNaN(row.Real) {
			return 0, 0
		}
		floor = max(floor, math.Abs(relative(v.Value, row.Real)))
		if v.Value != 0 {
			one = max(one, math.Abs(relative(row.Real, v.Value)))
		}
	}
	return floor, one
}

// errorsByRound returns the relative error of each round's simulation to its real run; NaN if one has no value.
func (p *prediction) errorsByRound(q measure.Query) (errs []float64) {
	for i := range p.real {
		a, b := p.simulated[i].Find(q), p.real[i].Find(q)
		e := math.NaN()
		if !a.Null && !b.Null {
			e = relative(a.Value, b.Value)
		}
		errs = append(errs, e)
	}
	return errs
}

// roundsMet returns the number of rounds in which the error of each judged metric is within the aim, or within the
// deviations between real runs.
func (p *prediction) roundsMet() (met int) {
	for round := range p.real {
		if !slices.ContainsFunc(p.rows, func(r predicted) bool {
			return r.Aimed && !(math.Abs(r.ByRound[round]) <= max(p.aim, r.OneFloor))
		}) {
			met++
		}
	}
	return met
}

// unfed returns the number of jobs of the scenario that the real runs never enqueued.
func (p *prediction) unfed() int64 {
	return plain.Sum(p.played, func(r *played) int64 { return r.unfed })
}

// relative returns the difference of two numbers, a − b, as a share of b: 0.1 if a is 10 % larger.
func relative(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case b == 0:
		return math.Inf(int(math.Copysign(1, a)))
	}
	return a/b - 1
}
