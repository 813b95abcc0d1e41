package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"qsim/cmd/ui"
	"qsim/engine"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/report"
	"qsim/results/text"
	"qsim/scenarios"
)

// predictionJSON is the output of --format json for predictions, in seconds of the scenario.
type predictionJSON struct {
	Version     int             `json:"version"`
	Scenario    string          `json:"scenario"`
	Speed       string          `json:"speed"`
	Predictions []predictedJSON `json:"predictions"`
}

type predictedJSON struct {
	Policy  string      `json:"policy"`
	Store   string      `json:"store"`
	Seeds   []uint64    `json:"seeds"`
	Aim     float64     `json:"aim"`
	Machine machineJSON `json:"measured"` // measurements of the last calibration, on the wall clock
	Metrics []predicted `json:"metrics"`
	Unfed   int64       `json:"never_enqueued"` // jobs of the scenario missing in the real runs
	// Mechanism holds statistics of the engines, by phase, in the simulation and in the run.
	Mechanism []mechanismJSON `json:"mechanism"`
	Rounds    int             `json:"rounds"`  // number of real runs under the seed
	Changes   []string        `json:"changes"` // sentences on durations that differ between last run and calibration
}

type machineJSON struct {
	WakeP50  float64            `json:"wake_p50_s"`
	WakeP99  float64            `json:"wake_p99_s"`
	SleepP50 float64            `json:"oversleep_p50_s"`
	SleepP99 float64            `json:"oversleep_p99_s"`
	Stalled  float64            `json:"engines_held_up"` // share of the time in which engines were stalled
	Held     float64            `json:"jobs_held_up"`
	Frozen   float64            `json:"store_held_up"`
	LateP50  float64            `json:"timer_late_p50_s"`
	LateP99  float64            `json:"timer_late_p99_s"`
	Calls    map[string]float64 `json:"call_p50_s"`
	PerJob   map[string]float64 `json:"per_job_s"`
}

// printPredictions prints predictions in the format of --format, and writes the files of each into a new folder.
func (s *session) printPredictions(sc *scenarios.Scenario, all []*prediction) error {
	speed := s.flags.speed.String()
	encoded := func() ([]byte, error) { return predictionsJSON(sc, speed, all) }
	printed := s.flags.Output(encoded, func(o text.TableOptions) string {
		var b strings.Builder
		for i, p := range all {
			b.WriteString(plain.When(i > 0, "\n"))
			for line := range strings.Lines(string(p.table(sc, speed, o))) {
				own := len(line) - len(strings.TrimLeft(line, " "))
				b.WriteString(line[:own] + text.Indented(strings.TrimSuffix(line[own:], "\n"), o.Width, own) + "\n")
			}
		}
		return b.String()
	})
	if err := printed.Print(s.stdout, s.flags.format); err != nil {
		return err
	}
	for _, p := range all {
		if err := s.writePrediction(sc, p); err != nil {
			return err
		}
	}
	return nil
}

// table returns a prediction as a text for people: a title, tables of metrics and of engine statistics, and causes.
func (p *prediction) table(sc *scenarios.Scenario, speed string, o text.TableOptions) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s at %s   %s, %s   %s\n\n%s.\n\n", sc.Name, speed, p.candidate.policy, p.candidate.store,
		plain.Plural(len(p.real), "round"), p.title(speed))
	fmt.Fprintln(&out, strings.Join(p.errors().Lines(o.Width, o.Color), "\n"))
	p.writeMechanism(&out, o.Width)
	c := p.calibration
	several := len(p.real) > 1
	fmt.Fprintf(&out, "\nmeasured%s with %d jobs, on the wall clock: waking an engine for new jobs %s, a worker busy "+
		"longer than its handler was to take %s", plain.When(several, " before the last run"), c.jobs,
		spreadOf(c.delays.Wake), spreadOf(c.delays.Overrun))
	for op, took := range c.took {
		if took > 0 {
			fmt.Fprintf(&out, ", %s %s", engine.Op(op), seconds(took.Seconds()))
			if each := c.delays.PerJob[op]; each > 0 {
				fmt.Fprintf(&out, " + %s/job", seconds(each.Seconds()))
			}
		}
	}
	fmt.Fprintf(&out, ", a timer of an engine late by %s", spreadOf(c.delays.Late))
	fmt.Fprintf(&out, "; engines held up for %.1f%% of the time, jobs that came for %.1f%%, the store for %.1f%%",
		c.stalled*100, c.held*100, c.frozen*100)
	fmt.Fprintf(&out, "\n✓ within the aim of %.0f%%", p.aim*100)
	if several {
		out.WriteString(", or within what real runs of the seed differ by")
		fmt.Fprintf(&out, "; so are all judged metrics in %d of %d rounds, each taken alone", p.roundsMet(), len(p.real))
	}
	if !slices.ContainsFunc(p.rows, func(r predicted) bool { return r.Why != "" }) {
		return append(out.Bytes(), '\n')
	}
	fmt.Fprintf(&out, ", ✗ not:\n")
	for _, r := range p.rows {
		if r.Why != "" {
			fmt.Fprintf(&out, "  %s: %s\n", r.Name, r.Why)
			if r.JobsWithin != nil {
				fmt.Fprintf(&out, "    %s\n", r.JobsWithin)
			}
		}
	}
	for _, change := range p.changes() {
		fmt.Fprintf(&out, "  measured%s: %s\n", plain.When(several, ", the last run"), change)
	}
	return out.Bytes()
}

// errors returns the table of simulated and real metrics, with the error of each prediction.
func (p *prediction) errors() *text.Table {
	t := &text.Table{Columns: []text.Column{{Key: true}, {Title: "simulated", Right: true}, {Title: "real", Right: true},
		{Title: "error", Right: true}}}
	if len(p.real) > 1 {
		t.Columns = append(t.Columns, text.Column{Title: "between real runs", Right: true})
	}
	for _, r := range p.rows {
		mark := plain.When(r.Aimed, plain.Either(r.Why == "", "✓", "✗"))
		row := []string{r.Name, valueOf(r.Simulated, r.Metric), valueOf(r.Real, r.Metric), errorText(r.Error)}
		if len(p.real) > 1 {
			row = append(row, fmt.Sprintf("±%.1f%%", r.Floor*100))
		}
		t.Add(row...)
		last := &t.Rows[len(t.Rows)-1][len(row)-1]
		*last = text.Cell{{Text: row[len(row)-1]}, {Text: mark, Left: true}}
	}
	return t
}

func valueOf(v float64, metric string) string {
	info, _ := measure.Lookup(metric)
	if info.Unit == "s" && v < 1e-3 {
		return seconds(v)
	}
	return results.FormatValue(v, info)
}

func errorText(e float64) string {
	switch {
	case math.IsNaN(e):
		return plain.Missing
	case math.IsInf(e, 0):
		return "∞"
	}
	return strings.Replace(fmt.Sprintf("%+.1f%%", e*100), "-", "−", 1)
}

func predictionsJSON(sc *scenarios.Scenario, speed string, all []*prediction) ([]byte, error) {
	out := predictionJSON{Version: 1, Scenario: sc.Name, Speed: speed}
	for _, p := range all {
		c, d := p.calibration, &p.calibration.delays
		wake, sleep, late := spreadOf(d.Wake), spreadOf(d.Overrun), spreadOf(d.Late)
		j := predictedJSON{
			Policy: p.candidate.policy, Store: p.candidate.store,
			Seeds: p.summary.Seeds[:min(1, len(p.summary.Seeds))], Aim: p.aim,
			Machine: machineJSON{
				WakeP50: wake[0].Seconds(), WakeP99: wake[1].Seconds(),
				SleepP50: sleep[0].Seconds(), SleepP99: sleep[1].Seconds(),
				Stalled: c.stalled, Held: c.held, Frozen: c.frozen,
				LateP50: late[0].Seconds(), LateP99: late[1].Seconds(),
				Calls: map[string]float64{}, PerJob: map[string]float64{},
			},
			Unfed: p.unfed(), Mechanism: p.mechanism(), Rounds: len(p.real), Changes: append([]string{}, p.changes()...),
		}
		for op, took := range c.took {
			if took > 0 {
				name := engine.Op(op).String()
				j.Machine.Calls[name], j.Machine.PerJob[name] = took.Seconds(), c.delays.PerJob[op].Seconds()
			}
		}
		for _, r := range p.rows {
			if r.JobsWithin != nil {
				r.Why += "; " + r.JobsWithin.String()
			}
			j.Metrics = append(j.Metrics, r)
		}
		out.Predictions = append(out.Predictions, j)
	}
	return results.MarshalLines(out)
}

// lateJobs is the share of a run's time with late arrivals that makes the machine too busy for a fair test.
const lateJobs = .25

// title returns a sentence with the largest error of the prediction among the metrics that decide its verdict.
func (p *prediction) title(speed string) string {
	what := fmt.Sprintf("%s on %s at %s", p.candidate.policy, p.candidate.store, speed)
	if n := p.unfed(); n > 0 {
		return fmt.Sprintf("Not a fair test of %s: %s", what, neverEnqueued(n))
	}
	judged := slices.DeleteFunc(slices.Clone(p.rows), func(r predicted) bool { return !r.Aimed })
	if len(judged) == 0 {
		return "Nothing is predicted of " + what
	}
	worst := slices.MaxFunc(judged, func(a, b predicted) int { return cmp.Compare(off(&a), off(&b)) })
	met := plain.Count(judged, func(r predicted) bool { return r.Why == "" })
	aimed := plain.Count(judged, func(r predicted) bool { return off(&r) <= p.aim })
	held := p.calibration.held
	busy := plain.When(held >= lateJobs,
		fmt.Sprintf(": the machine was too busy, arrivals were held up for %.0f%% of the time", held*100))
	switch {
	case aimed == len(judged):
		return fmt.Sprintf("The simulation predicts %s within %.0f%%, in all %d metrics that it is judged by", what,
			math.Ceil(off(&worst)*100), met)
	case met == len(judged):
		return fmt.Sprintf("The simulation predicts %s within %.0f%% in %d of %d judged metrics, "+
			"and is off in the rest by no more than one real run", what, p.aim*100, aimed, met)
	}
	wrong := plain.Either(math.IsInf(off(&worst), 1), "wrong about",
		fmt.Sprintf("off by %.0f%% in", math.Ceil(off(&worst)*100)))
	return fmt.Sprintf("The simulation of %s is %s the %s; %d of %d judged metrics are within %.0f%%%s", what, wrong,
		worst.Query.Label(), aimed, len(judged), p.aim*100, busy)
}

// off returns the size of a predicted metric's relative error; where none could be computed, +Inf if the metric decides
// the verdict, and 0 if not.
func off(r *predicted) float64 {
	if math.IsNaN(r.Error) {
		if r.Why == "" {
			return 0
		}
		return math.Inf(1)
	}
	return math.Abs(r.Error)
}

// writePrediction writes the charts of a prediction, and a summary with simulation and real run as two policies.
func (s *session) writePrediction(sc *scenarios.Scenario, p *prediction) error {
	speed := s.flags.speed.String()
	one, err := predictionsJSON(sc, speed, []*prediction{p})
	if err != nil {
		return ui.IOError("write results", err)
	}
	draw := func() ([]report.Figure, error) {
		return report.Prediction(p.summary, p.title(speed), ui.Version)
	}
	return s.writeSummary(sc.Name+"-prediction-"+p.candidate.store, sc, p.summary, draw,
		results.File{Path: "prediction.json", Data: one})
}
