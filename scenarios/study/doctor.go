package study

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// Doctor runs the trouble of every incident of the library against a scenario under one policy: its engine, retry
// policy, store and jobs.
type Doctor struct {
	Source    Source // its baseline is judged, or the policy that it selects
	Seeds     int
	Incidents []string // names; none: all
	Parallel  int      // simulations at once; 0: one per core that Go uses
	// Judged, if it is not nil, is called for each incident with what came of it, from several goroutines at once.
	Judged func(incident string, e Exposure)
}

// Exposure is how a scenario fares in an incident.
type Exposure string

// The verdicts of a Finding: the interval is beyond the limit, within it, or on both sides or not known, for the trouble
// does not fit the scenario; or it cannot happen.
const (
	Exposed Exposure = "exposed"
	Safe    Exposure = "safe"
	Unsure  Exposure = "not sure"
	Immune  Exposure = "does not apply"
)

var exposures = map[results.Outcome]Exposure{results.Met: Safe, results.Missed: Exposed, results.Unclear: Unsure}

// Diagnosis holds the verdict of each incident of the library about one scenario.
type Diagnosis struct {
	Scenario, Policy string
	Scale            float64 // share of the scenario's workers and load that was simulated
	Seeds            int
	Findings         []Finding // the worst first
}

// Finding is the outcome of a scenario in one incident.
type Finding struct {
	Incident string
	Exposure Exposure
	Why      string              // why it does not apply, was not simulated or has no cure
	Yours    results.Verdict     // the objective of the incident, without its cure
	Cured    results.Verdict     // and with it; NaN if the cure does not fit the scenario
	Calm     float64             // the metric without the incident's trouble; NaN: it was not needed, or has no value
	Cure     string              // as a policy has it, in `with:` or with another kind
	Cost     string              // what the cure makes worse in this incident; "": nothing that shows
	Scenario *scenarios.Scenario // that shows it; nil if it was not simulated
	Command  string              // that shows it; set by who writes the scenario
	over     float64             // the metric as a multiple of its limit
}

// Run simulates all incidents that apply, and again, without its trouble, each incident whose limit is not met: whoever
// has more than half of the limit without it has twice that for a limit. Its errors are those of a sweep.
func (d *Doctor) Run(ctx context.Context) (*Diagnosis, error) {
	p, err := admit(d.Source, d.Seeds)
	if err != nil {
		return nil, err
	}
	found := &Diagnosis{Scenario: p.sc.Name, Policy: p.label, Scale: p.scale, Seeds: d.Seeds}
	var rows []*row
	for i := range incidents {
		if len(d.Incidents) > 0 && !slices.Contains(d.Incidents, incidents[i].name) {
			continue
		}
		f := Finding{Incident: incidents[i].name, Exposure: Immune, Calm: math.NaN()}
		f.Cured.Value = f.Calm
		r, why := p.lay(&incidents[i])
		if f.Why = why; r != nil {
			if f.Scenario, err = p.source.setting(r.judged(r.sets)); err != nil { // perhaps for its cure alone
				f.Exposure, f.Why = Unsure, "its cure does not fit: "+errors.Unwrap(err).Error()
				r.sets[len(r.sets)-1] = p.policies("")
				if f.Scenario, err = p.source.setting(r.judged(r.sets)); err != nil {
					r, f.Why = nil, "not tried: its trouble does not fit: "+errors.Unwrap(err).Error()
				}
			}
		}
		if rows, found.Findings = append(rows, r), append(found.Findings, f); r == nil {
			d.tell(&f)
		}
	}
	troubled := func(r *row) []scenarios.Override { return r.sets }
	calm := func(r *row) []scenarios.Override { return r.calm }
	err = d.each(ctx, p, rows, troubled, func(i int, settings *measure.Settings, runs []measure.Run) error {
		r, f := rows[i], &found.Findings[i]
		r.settings, r.runs = settings, runs
		if err := f.judge(r); err != nil {
			return err
		}
		if f.Exposure == Safe || len(r.calm) == 0 {
			rows[i] = nil
			d.tell(f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = d.each(ctx, p, rows, calm, func(i int, settings *measure.Settings, runs []measure.Run) error {
		err := found.Findings[i].compare(rows[i], settings, runs)
		d.tell(&found.Findings[i])
		return err
	})
	found.sort()
	return found, err
}

func (d *Doctor) tell(f *Finding) {
	if d.Judged != nil {
		d.Judged(f.Incident, f.Exposure)
	}
}

// each simulates the rows that are not nil, with the overrides that sets returns.
func (d *Doctor) each(ctx context.Context, p *patient, rows []*row, sets func(*row) []scenarios.Override,
	done func(i int, settings *measure.Settings, runs []measure.Run) error) error {
	var tasks []task
	var at []int
	for i, r := range rows {
		if r != nil {
			tasks, at = append(tasks, task{sets: r.judged(sets(r))}), append(at, i)
		}
	}
	s := &simulator{source: &p.source, parallel: d.Parallel, each: d.Seeds}
	err := s.run(ctx, tasks, func(k int, settings *measure.Settings, runs []measure.Run) error {
		return done(at[k], settings, runs)
	})
	if failed := (*SettingError)(nil); errors.As(err, &failed) { // so that the values repeat it from the scenario itself
		failed.Sets = slices.Concat(p.source.Sets[len(d.Source.Sets):], failed.Sets)
	}
	return err
}

// compare judges a row anew by the runs of the same without its trouble.
func (f *Finding) compare(r *row, settings *measure.Settings, runs []measure.Run) error {
	summary, err := results.Summarize(settings, runs, results.Options{})
	if err != nil {
		return err
	}
	f.Calm = summary.Objectives[0].Value
	limit := roundUp(2 * f.Calm)
	if limit <= r.objective.Bound {
		return nil
	}
	r.bound(limit)
	if f.Scenario, err = r.source.setting(r.judged(r.sets)); err != nil {
		return err
	}
	r.settings.Objectives = world.Settings(f.Scenario).Objectives
	return f.judge(r)
}

// judge fills in a finding from the runs of its row.
func (f *Finding) judge(r *row) error {
	summary, err := results.Summarize(r.settings, r.runs, results.Options{})
	if err != nil {
		return err
	}
	f.Yours = summary.Objectives[0]
	f.over = f.Yours.Value / r.objective.Bound
	if f.Exposure = exposures[f.Yours.Outcome]; f.Why == "" {
		f.Cured, f.Cure, f.Cost = summary.Objectives[1], r.cure(), cost(summary)
	}
	return nil
}

// roundUp returns v with two significant digits, not below it; 0 if it is not a number.
func roundUp(v float64) float64 {
	if math.IsNaN(v) || v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Ceil(v/unit-1e-9) * unit
}

// costs are metrics that a cure may make worse, with what is said of them, and the least difference, absolute and as a
// share of the old value, that is a cost.
var costs = []struct {
	metric, text string
	least, share float64
}{
	{"dead.count", "dead jobs", 1, 0.05}, {"duplicates.count", "duplicates", 1, 0.05}, {"goodput", "goodput", 0, 0.05},
	{"fresh.wait.p99", "p99 wait of fresh jobs", 0.01, 0.05}, {"retry.wait.p99", "p99 wait of retries", 0.01, 0.05},
	{"sojourn.p99", "p99 until done", 0.01, 0.05}, {"wasted", "wasted worker time", 0.01, 0.05},
	{"store.calls.claim", "claims of the store", 1, 1},
}

// cost returns what is clearly worse with the cure than without; "" if nothing is.
func cost(s *results.Summary) string {
	var worse []string
	for _, c := range costs {
		q := measure.Query{Metric: c.metric}
		info, _ := measure.Lookup(c.metric)
		diff, old := s.Policies[1].Against(q), s.Policies[0].Find(q)
		if diff == nil || !diff.Shown || (diff.Difference > 0) == info.MoreIsBetter ||
			math.Abs(diff.Difference) < max(c.least, c.share*math.Abs(old.Mean)) {
			continue
		}
		sign, unit := "+", ""
		if diff.Difference < 0 {
			sign = "−"
		}
		if info.Unit == "1/s" {
			unit = "/s"
		}
		worse = append(worse, c.text+" "+sign+results.FormatValue(math.Abs(diff.Difference), info)+unit)
	}
	return strings.Join(worse, ", ")
}
