package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// Aim is the criterion for the best of the settings that meet all objectives.
type Aim uint8

// Margin and the constants below are the aims of a search; the zero Aim is the greatest margin to the objectives.
const (
	Margin Aim = iota
	Minimize
	Maximize
	Smallest
	Largest
)

// ofKey reports whether a search is for the smallest or largest value of a key, ofMetric whether for that of a metric.
func (a Aim) ofKey() bool    { return a == Smallest || a == Largest }
func (a Aim) ofMetric() bool { return a == Minimize || a == Maximize }

// Problem describes a search for the best setting of a scenario: the keys with their values, and the aim.
type Problem struct {
	Source       Source // scenario, with the objectives
	Axes         []Axis
	Aim          Aim
	Query        measure.Query // metric of the aims Minimize and Maximize; zero for others
	Key          string        // key of the aims Smallest and Largest: that of the only axis
	Confidence   float64       // confidence of all statements about a policy together, in (0, 1)
	Indifference float64       // KN: relative difference that does not matter, for margins absolute; above 0
	MostSeeds    int           // highest number of seeds of one setting
	// Keep, if not nil, returns the path of the file that stores the search's observations, given the hash of its
	// configuration. The caller removes it once the result of the search is stored.
	Keep func(hash string) string
	// Judged, if not nil, is called with the number of settings of a policy judged so far, and their total; both are
	// equal once the policy is done.
	Judged func(policy string, settings, of int)

	plan       *Plan // plan whose cells are the settings
	settings   measure.Settings
	objectives [][]measure.Objective // objectives by policy
	policies   []int                 // indexes of the policies that the axes affect
}

const (
	// firstSeeds is the number of seeds of a setting before its first verdict: a failure of one seed in seven is missed
	// once in 25 searches, and with as many fresh seeds once in 600.
	firstSeeds = 20
	pilotSeeds = 20 // number of seeds of each setting in the first stage of KN
)

// Check loads the scenario with every value of every key, so that a mistake is found before anything is simulated: see
// Plan.Check. Errors of the problem itself come from Run.
func (p *Problem) Check(ctx context.Context, strict bool) ([]Note, error) {
	plan, err := newPlan(p.Source, p.Axes, MostCells)
	if err != nil || p.checkKey() != nil {
		return nil, nil
	}
	return plan.Check(ctx, nil, strict)
}

// prepare checks a tuning problem (what to vary, and the aim) and computes its plan of simulations, its policies and
// its objectives.
func (p *Problem) prepare() (err error) {
	if p.Aim.ofMetric() {
		p.Source.Queries = append(slices.Clone(p.Source.Queries), p.Query)
	}
	if p.plan, err = newPlan(p.Source, p.Axes, MostCells); err != nil {
		return err
	}
	p.settings = world.Settings(p.plan.base)
	if err := p.checkKey(); err != nil {
		return err
	}
	// A misspelt key is the first error reported.
	if _, err := p.Source.setting(p.plan.Overrides(0)); err != nil {
		return err
	}
	p.choosePolicies()
	if len(p.policies) == 0 {
		return errors.New("the keys concern no policy that is left")
	}
	return p.chooseObjectives()
}

// checkKey returns an error if the axes do not fit the aim of a smallest or largest key value.
func (p *Problem) checkKey() error {
	if !p.Aim.ofKey() {
		return nil
	}
	switch a := &p.Axes[0]; {
	case len(p.Axes) > 1:
		return fmt.Errorf("the smallest or largest %s is looked for alone: other keys are set, not searched", p.Key)
	case a.Key != p.Key:
		return fmt.Errorf("%s is not the key that is searched, %s", p.Key, a.Key)
	case !a.Range.Numeric || !a.Range.ascending():
		return fmt.Errorf("%s: its values must be numbers that go up, for one to be the smallest", a.Key)
	}
	return nil
}

// choosePolicies drops the policies that no key affects: a parameter of a policy affects no other.
func (p *Problem) choosePolicies() {
	for k, policy := range p.settings.Policies {
		affects := func(a Axis) bool {
			words := strings.Split(a.Key, ".")
			return words[0] != "policies" || len(words) < 3 || policy.Kind == words[1] ||
				strings.HasPrefix(a.Key, "policies."+policy.Label+".")
		}
		if slices.ContainsFunc(p.Axes, affects) {
			p.policies = append(p.policies, k)
		}
	}
}

// chooseObjectives sets the objectives for each policy. Objectives that are expected to be missed count, too.
func (p *Problem) chooseObjectives() error {
	p.objectives = make([][]measure.Objective, len(p.settings.Policies))
	for _, o := range p.settings.Objectives {
		for k := range p.objectives {
			if o.Policy == "" || slices.Contains(p.plan.base.PoliciesNamed(o.Policy), k) {
				p.objectives[k] = append(p.objectives[k], o)
			}
		}
	}
	if len(p.settings.Objectives) == 0 && !p.Aim.ofMetric() {
		return errors.New("there is no objective: give one, as --objective 'fresh.wait.p99 below 10s', or a metric to " +
			"minimize")
	}
	return nil
}

func (p *Problem) values(setting int) []string { return p.plan.Sweep.Values(setting) }

// number returns the value of a setting on the first axis as a number, or its index where values are words.
func (p *Problem) number(setting int) float64 {
	at := p.plan.Sweep.Position(setting)[0]
	if n := p.plan.Sweep.Axes[0].Numbers; n != nil {
		return n[at]
	}
	return float64(at)
}

func (p *Problem) goal() string {
	extreme := [...]string{Minimize: "least ", Maximize: "greatest ", Smallest: "smallest ", Largest: "largest "}[p.Aim]
	switch {
	case p.Aim.ofMetric():
		return extreme + p.Query.String()
	case p.Aim.ofKey():
		return extreme + p.Key
	}
	return "greatest margin to the objectives"
}

// observation holds the goal's value and the distances to the objectives for a setting under one seed.
type observation struct {
	Goal   float64   // value of the goal, the smaller the better; NaN: no value
	Slacks []float64 // distances to bounds, relative if those are not 0: below 0 is a miss; NaN: no value
	Open   []bool    // by objective: the slack is only a bound, since the run ended too early
	// Bounded: the metric of the aims Minimize and Maximize is only a lower bound, for the same reason
	Bounded bool
}

// margin returns the smallest distance of any objective to its bound, +Inf without objectives.
func (o observation) margin() float64 { return slices.Min(append([]float64{math.Inf(1)}, o.Slacks...)) }

func (p *Problem) observe(policy int, run *measure.Run) observation {
	find := func(q measure.Query) (float64, string) {
		v := run.Find(q)
		return plain.Either(v.Null, math.NaN(), v.Value), plain.When(!v.Null, v.Bound)
	}
	var o observation
	for i := range p.objectives[policy] {
		objective := &p.objectives[policy][i]
		v, bound := find(objective.Query)
		slack := objective.Bound - v
		if objective.Above {
			slack = -slack
		}
		if objective.Bound != 0 {
			slack /= math.Abs(objective.Bound)
		}
		// A lower bound tells that a limit from above is missed, and that one from below is met.
		open := bound != "" && (slack >= 0) != objective.Above
		o.Slacks, o.Open = append(o.Slacks, slack), append(o.Open, open)
	}
	if !p.Aim.ofMetric() {
		o.Goal = 0 - o.margin() // not −0, which does not survive in a file
		return o
	}
	v, bound := find(p.Query)
	o.Goal, o.Bounded = plain.Either(p.Aim == Maximize, 0-v, v), bound != ""
	return o
}

// Objectives returns the override that replaces a scenario's objectives by the given ones, as text.
func Objectives(texts []string) (scenarios.Override, error) {
	var list []string
	var problems []error
	for _, text := range texts {
		if _, _, _, err := scenarios.ParseObjective(text); err != nil {
			problems = append(problems, fmt.Errorf("--objective %s: %w", text, err))
		}
		list = append(list, strconv.Quote(text))
	}
	return scenarios.Override{Path: "objectives", Value: "[" + strings.Join(list, ", ") + "]",
		Flag: "--objective " + strings.Join(texts, " --objective ")}, errors.Join(problems...)
}
