package study

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/spec"
	"qsim/scenarios/world"
)

// Doctor applies the storms and overloads of every incident of the library (built-in scenarios of known failures) to a
// scenario under one policy: its engine, retry policy, store and jobs.
type Doctor struct {
	Source    Source // scenario to judge, under its baseline or the policy that Source selects
	Seeds     int
	Incidents []string // names of the incidents to apply; none: all
	// Judged, if not nil, is called with the verdict on each incident, from several goroutines at once.
	Judged func(incident string, e Exposure)
}

// Exposure is the verdict on a scenario in an incident: exposed, not sure, safe or not applicable.
type Exposure string

// The verdicts of a Finding: the metric's confidence interval lies beyond the limit (exposed), within it (safe) or on
// both sides of it, or the incident does not fit (not sure); or the incident cannot happen (does not apply).
const (
	Exposed Exposure = "exposed"
	Safe    Exposure = "safe"
	Unsure  Exposure = "not sure"
	Immune  Exposure = "does not apply"
)

var exposures = map[results.Outcome]Exposure{results.Met: Safe, results.Missed: Exposed, results.Unclear: Unsure}

// Diagnosis holds the verdict of each incident of the library about one scenario.
type Diagnosis struct {
	Scenario string    `json:"scenario"` // name of the scenario
	Policy   string    `json:"policy"`   // label of the policy that was judged
	Scale    float64   `json:"scale"`    // simulated share of its workers and load, in (0, 1]
	Seeds    int       `json:"seeds"`    // seeds under which each incident is simulated
	Findings []Finding `json:"-"`        // verdicts, the worst first
}

// Finding is the part of a diagnosis about one incident, an outage that a real system had: whether a scenario meets the
// incident's objective when the same befalls it, and what would help.
type Finding struct {
	Incident string   `json:"incident"` // name of the incident's scenario in the library
	Exposure Exposure `json:"exposure"` // verdict: exposed, not sure, safe or does not apply
	Why      string   `json:"why"`      // reason why it does not apply, was not tried or has no cure; else empty
	Calm     float64  `json:"calm"`     // value of the metric without the trouble; null: not needed, or there is none
	// Cure is the cure as a policy of the scenario has it, in `with:` or with another kind; a class that it names may be
	// the incident's
	Cure  string `json:"cure"`
	There bool   `json:"in_place"` // the scenario has the cure already
	Worse bool   `json:"worse"`    // the metric is higher with the cure
	Cost  string `json:"cost"`     // metrics that the cure makes clearly worse in the incident; empty: none
	// Command line that reproduces the finding, set by the code that writes the scenario; empty: no files were written
	Command string `json:"command"`

	Yours    results.Verdict     `json:"-"` // verdict without the cure; NaN if the incident was not simulated
	Cured    results.Verdict     `json:"-"` // verdict with the cure; NaN if the cure does not fit the scenario
	Scenario *scenarios.Scenario `json:"-"` // scenario with the incident; nil if it was not simulated
	theirs   string              // class that the cure is for, if only the incident has it
	over     float64             // value of the metric as a multiple of its limit
}

// Run judges the scenario in all incidents that apply. If a limit is not met, it also simulates the scenario without
// the incident's trouble: where the metric is above half of the limit even then, the limit becomes twice that value.
// Its errors are those of Plan.Run.
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
		none := results.Verdict{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		f := Finding{Incident: incidents[i].name, Exposure: Immune, Yours: none, Cured: none, Calm: none.Value}
		r, why := p.lay(&incidents[i])
		if f.Why = why; r != nil {
			if f.Scenario, err = p.source.setting(r.judged(r.sets)); err != nil { // the error may come from its cure alone
				f.Exposure, f.Why = Unsure, "its cure does not fit: "+errors.Unwrap(err).Error()
				r.sets[len(r.sets)-1] = p.policies("")
				if f.Scenario, err = p.source.setting(r.judged(r.sets)); err != nil {
					r, f.Why = nil, "not tried: its trouble does not fit: "+errors.Unwrap(err).Error()
				}
			}
			f.There = f.Scenario != nil && f.Why == "" && alike(f.Scenario)
		}
		if rows, found.Findings = append(rows, r), append(found.Findings, f); r == nil {
			d.tell(&f)
		}
	}
	s := &simulator{source: &p.source, each: d.Seeds}
	err = s.all(ctx, len(rows), func(i int, simulate simulation) error {
		if rows[i] == nil {
			return nil
		}
		f := &found.Findings[i]
		if err := f.judge(rows[i], simulate); err != nil {
			return err
		}
		d.tell(f)
		return nil
	})
	if failed := (*SettingError)(nil); errors.As(err, &failed) { // repeat the values from the scenario itself
		failed.Sets = slices.Concat(p.source.Sets[len(d.Source.Sets):], failed.Sets)
	}
	found.sort()
	return found, err
}

// alike reports whether the two policies of a scenario are the same, with equal settings of engine, retries and jobs.
func alike(sc *scenarios.Scenario) bool {
	settings := func(i int) [3]scenarios.Override {
		v := sc.Variant(i)
		return [...]scenarios.Override{scenarios.Set("", v.Engine), scenarios.Set("", v.Retry), scenarios.Set("", v.Jobs)}
	}
	policy := func(i int) any { return plain.Must(sc.PolicyMaker(i))() } // with its defaults
	return settings(0) == settings(1) && reflect.DeepEqual(policy(0), policy(1))
}

func (d *Doctor) tell(f *Finding) {
	if d.Judged != nil {
		d.Judged(f.Incident, f.Exposure)
	}
}

// judge simulates a scenario in an incident and sets the verdicts; Doctor.Run describes how the limit is chosen.
func (f *Finding) judge(r *row, simulate simulation) error {
	settings, runs, err := simulate(&task{sets: r.judged(r.sets)})
	if err != nil {
		return err
	}
	if err := f.conclude(r, settings, runs); err != nil || f.Exposure == Safe || len(r.calm) == 0 {
		return err
	}
	calmSettings, calm, err := simulate(&task{sets: r.judged(r.calm)})
	if err != nil {
		return err
	}
	summary, err := results.Summarize(calmSettings, calm, results.Options{})
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
	settings.Objectives = world.Settings(f.Scenario).Objectives
	return f.conclude(r, settings, runs)
}

// conclude sets the verdicts on an incident, with and without its cure, from the finished simulations.
func (f *Finding) conclude(r *row, settings *measure.Settings, runs []measure.Run) error {
	summary, err := results.Summarize(settings, runs, results.Options{})
	if err != nil {
		return err
	}
	f.Yours = summary.Objectives[0]
	f.over = f.Yours.Value / r.objective.Bound
	if f.Exposure = exposures[f.Yours.Outcome]; f.Why == "" {
		f.Cured, f.Cure, f.Cost = summary.Objectives[1], r.cure(), cost(summary)
		if path := strings.Split(f.Cure, "."); path[0] == "jobs" && r.sc.ClassIndex(path[1]) < 0 {
			f.theirs = path[1]
		}
		change := summary.Policies[1].Against(r.objective.Query)
		f.Worse = change != nil && change.Shown && change.Difference > 0
	}
	return nil
}

// roundUp rounds v up to two significant digits; 0 if v is no positive number.
func roundUp(v float64) float64 {
	if math.IsNaN(v) || v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Ceil(v/unit-1e-9) * unit
}

// costs lists metrics that an incident's cure may make worse, with their descriptions and the least difference,
// absolute and as a share of the old value, that counts as a cost.
var costs = []struct {
	metric, text string
	least, share float64
}{
	{"dead.count", "dead jobs", 1, 0.05}, {"duplicates.count", "duplicates", 1, 0.05}, {"goodput", "goodput", 0, 0.05},
	{"fresh.wait.p99", "p99 wait of fresh jobs", 0.01, 0.05}, {"retry.wait.p99", "p99 wait of retries", 0.01, 0.05},
	{"sojourn.p99", "p99 until done", 0.01, 0.05}, {"wasted", "wasted worker time", 0.01, 0.05},
	{"store.calls.claim", "claims of the store", 1, 1},
}

// cost returns, as text, the metrics that are clearly worse with an incident's cure than without it; "": none.
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
		sign := plain.Either(diff.Difference < 0, "−", "+")
		worse = append(worse, c.text+" "+sign+results.FormatValue(math.Abs(diff.Difference), info)+
			plain.When(info.Unit == "1/s", "/s"))
	}
	return strings.Join(worse, ", ")
}

// judgeBy chooses the objective for the verdict on an incident: the first that the incident's own bad policies miss,
// with the bound that its cures meet, if any.
func (r *row) judgeBy() {
	for _, expect := range []bool{true, false} {
		for _, o := range world.Settings(r.library).Objectives {
			if o.Metric == r.of.metric && o.Expect == expect && (expect || o.Query == r.objective.Query) {
				r.objective = o
				break
			}
		}
	}
	r.objective.Policy, r.objective.Expect = "", false
	if class := r.as[r.objective.Class]; class != "" {
		r.objective.Class = class
	}
	bound := r.objective.Bound
	switch info, _ := measure.Lookup(r.of.metric); {
	case info.Unit == "s" || info.Share:
	case r.of.metric == "store.calls.claim":
		bound *= float64(r.sc.Engine.Nodes) / float64(r.library.Engine.Nodes)
	default:
		bound *= r.dose
	}
	r.bound(max(bound, r.of.least))
}

func (r *row) bound(value float64) {
	if value == r.objective.Bound {
		return // keep the spelling of the incident
	}
	r.objective.Bound = value
	switch info, _ := measure.Lookup(r.of.metric); {
	case info.Unit == "s":
		r.objective.Text = "below " + plain.Setting(time.Duration(value*1e9))
	case info.Share:
		r.objective.Text = "below " + strconv.FormatFloat(min(100, 100*value), 'g', 3, 64) + "%"
	default:
		r.objective.Text = "below " + strconv.FormatFloat(math.Ceil(value), 'f', -1, 64)
	}
}

// judged returns the overrides in sets and one that replaces the scenario's objectives by that of the incident.
func (r *row) judged(sets []scenarios.Override) []scenarios.Override {
	o := &r.objective
	bound := spec.Bound{Text: strings.TrimPrefix(o.Text, "below ")}
	return append(slices.Clone(sets), scenarios.Set("objectives", []spec.Objective{{Metric: o.Metric,
		During: o.During, After: o.After, Class: o.Class, Below: &bound, Expect: "met"}}))
}
