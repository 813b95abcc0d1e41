package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/scenarios"
	"qsim/scenarios/sweep"
	"qsim/scenarios/world"
)

// Aim is what is wanted of a setting that meets all objectives.
type Aim uint8

// The aims. The zero Aim is the greatest margin to the objectives.
const (
	Margin Aim = iota
	Minimize
	Maximize
	Smallest
	Largest
)

// Problem is what to search.
type Problem struct {
	Source       sweep.Source // objectives are those of the scenario
	Axes         []sweep.Axis
	Aim          Aim
	Query        results.Query // Minimize, Maximize
	Key          string        // Smallest, Largest: that of the only axis
	Confidence   float64       // in (0, 1); 0: 0.95
	Indifference float64       // KN: a relative difference that is of no account, of margins an absolute one; 0: 0.05
	MostSeeds    int           // of one setting; 0: 200
	Version      string        // of the program

	base       *scenarios.Scenario
	settings   results.Settings
	objectives [][]results.Objective // by policy
	policies   []int                 // that the axes concern
	results    results.Sweep         // its axes
}

const (
	defaultConfidence   = 0.95
	defaultIndifference = 0.05
	defaultMostSeeds    = 200
	// Seeds of a setting before anything is said of it: what goes wrong in one of seven is missed
	// by all of them once in 25 searches, and by the check with as many fresh ones once in 600.
	firstSeeds   = 20
	pilotSeeds   = 20 // first stage of KN
	mostForKN    = 32
	halvingSeeds = 4
)

// ParseObjective reads a bound on a metric, as a scenario has it under objectives: "fresh.wait.p99
// during payments-down below 10s". It returns YAML. Which metrics and storms there are is not
// known here.
func ParseObjective(text string) (yaml string, err error) {
	at, word := -1, ""
	for _, w := range []string{"below", "above"} {
		if i := strings.LastIndex(text, " "+w+" "); i > at {
			at, word = i, w
		}
	}
	if at < 0 {
		return "", fmt.Errorf("%s: want METRIC below BOUND or METRIC above BOUND, such as fresh.wait.p99 during STORM below 10s", text)
	}
	q, err := results.ParseQuery(text[:at])
	if err != nil {
		return "", err
	}
	bound := strings.TrimSpace(text[at+len(word)+2:])
	if bound == "" || strings.ContainsAny(bound, "{}[]#&*!|>'\"\\,:\n\t ") {
		return "", fmt.Errorf("%s: want a bound behind %s, such as 10s, 20%% or 5", text, word)
	}
	keys := []string{"metric: " + strconv.Quote(q.Metric)}
	for _, f := range [][2]string{{"during", q.During}, {"after", q.After}, {"class", q.Class}, {"tenant", q.Tenant}} {
		if f[1] != "" {
			keys = append(keys, f[0]+": "+strconv.Quote(f[1]))
		}
	}
	if q.Limit > 0 {
		keys = append(keys, "limit: "+scenarios.Duration(q.Limit).String())
	}
	return "{" + strings.Join(append(keys, word+": "+bound), ", ") + "}", nil
}

// Objectives is the override that gives a scenario these objectives instead of its own.
func Objectives(texts []string) (scenarios.Override, error) {
	var list []string
	var problems []error
	for _, text := range texts {
		yaml, err := ParseObjective(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--objective %w", err))
		}
		list = append(list, yaml)
	}
	return scenarios.Override{Path: "objectives", Value: "[" + strings.Join(list, ", ") + "]"}, errors.Join(problems...)
}

// prepare checks p and fills in what is derived.
func (p *Problem) prepare() error {
	if p.Confidence == 0 {
		p.Confidence = defaultConfidence
	}
	if p.Indifference == 0 {
		p.Indifference = defaultIndifference
	}
	if p.MostSeeds == 0 {
		p.MostSeeds = defaultMostSeeds
	}
	if p.Aim == Minimize || p.Aim == Maximize {
		p.Source.Queries = append(slices.Clone(p.Source.Queries), p.Query)
	}
	base, found, err := p.Source.Load(nil)
	if err != nil {
		return err
	}
	if base == nil {
		return errors.New(found.Errors()[0].Message)
	}
	p.base, p.settings = base, world.Settings(base)
	if err := p.checkAxes(); err != nil {
		return err
	}
	if err := p.checkKeys(); err != nil {
		return err
	}
	p.choosePolicies()
	if len(p.policies) == 0 {
		return errors.New("the keys concern no policy that is left")
	}
	return p.chooseObjectives()
}

// checkAxes refuses what cannot be searched.
func (p *Problem) checkAxes() error {
	if len(p.Axes) == 0 {
		return errors.New("there is no key to tune")
	}
	for i := range p.Axes {
		for k := range p.Axes[:i] {
			if a, b := p.Axes[i].Key, p.Axes[k].Key; a == b {
				return fmt.Errorf("%s is there twice: give all its values at once", a)
			} else if strings.HasPrefix(b, a+".") {
				return fmt.Errorf("%s would undo %s: give the wider key first", a, b)
			}
		}
	}
	p.results.Axes = p.axes()
	if _, ok := results.Size(p.results.Axes, sweep.MostCells); !ok {
		return fmt.Errorf("the keys have more than %d settings: take fewer values", sweep.MostCells)
	}
	if p.Aim != Smallest && p.Aim != Largest {
		return nil
	}
	switch a := &p.Axes[0]; {
	case len(p.Axes) > 1:
		return fmt.Errorf("the smallest or largest %s is looked for alone: other keys are set, not searched", p.Key)
	case a.Key != p.Key:
		return fmt.Errorf("%s is not the key that is searched, %s", p.Key, a.Key)
	case !a.Range.Numeric || !a.Range.Ascending():
		return fmt.Errorf("%s: its values must be numbers that go up, for one to be the smallest", a.Key)
	}
	return nil
}

// checkKeys loads the scenario with the first value of every axis, so that a misspelt key is what
// is complained about first.
func (p *Problem) checkKeys() error {
	s := &simulator{problem: p}
	_, err := s.load(0)
	return err
}

func (p *Problem) axes() []results.Axis {
	var axes []results.Axis
	for i := range p.Axes {
		a := results.Axis{Key: p.Axes[i].Key, Values: p.Axes[i].Range.Texts(), Log: p.Axes[i].Range.Log}
		if p.Axes[i].Range.Numeric {
			for _, v := range p.Axes[i].Range.Values {
				a.Numbers = append(a.Numbers, v.Number)
			}
		}
		axes = append(axes, a)
	}
	return axes
}

// choosePolicies leaves out those that no key concerns, where all keys are of policies.
func (p *Problem) choosePolicies() {
	named, all := map[int]bool{}, false
	for i := range p.Axes {
		words := strings.Split(p.Axes[i].Key, ".")
		if words[0] != "policies" || len(words) < 3 {
			all = true
			continue
		}
		for k, policy := range p.settings.Policies {
			if policy.Label == words[1] || policy.Kind == words[1] {
				named[k] = true
			}
		}
	}
	for k := range p.settings.Policies {
		if all || named[k] {
			p.policies = append(p.policies, k)
		}
	}
}

// chooseObjectives finds those of each policy. What a scenario expects to be missed is wanted
// all the same.
func (p *Problem) chooseObjectives() error {
	p.objectives = make([][]results.Objective, len(p.settings.Policies))
	any := false
	for k, policy := range p.settings.Policies {
		for _, o := range p.settings.Objectives {
			if o.Policy == "" || o.Policy == policy.Label || o.Policy == policy.Kind && !p.isLabel(o.Policy) {
				p.objectives[k] = append(p.objectives[k], o)
				any = true
			}
		}
	}
	if !any && p.Aim != Minimize && p.Aim != Maximize {
		return errors.New("there is no objective: give one, as --objective 'fresh.wait.p99 below 10s', or a metric to minimize")
	}
	return nil
}

func (p *Problem) isLabel(name string) bool {
	return slices.ContainsFunc(p.settings.Policies, func(i results.PolicyInfo) bool { return i.Label == name })
}

// overrides are what a setting lays upon the scenario.
func (p *Problem) overrides(setting int) []scenarios.Override {
	var overrides []scenarios.Override
	for i, text := range p.values(setting) {
		overrides = append(overrides, scenarios.Override{Path: p.Axes[i].Key, Value: text})
	}
	return overrides
}

// values are those of a setting, by axis.
func (p *Problem) values(setting int) []string {
	return p.results.Values(setting)
}

// number is where a setting stands along the first axis.
func (p *Problem) number(setting int) float64 {
	at := p.results.Position(setting)[0]
	if n := p.results.Axes[0].Numbers; n != nil {
		return n[at]
	}
	return float64(at)
}

// size is how many settings there are.
func (p *Problem) size() int {
	size, _ := results.Size(p.results.Axes, sweep.MostCells)
	return size
}

// goal is the aim in words.
func (p *Problem) goal() string {
	switch p.Aim {
	case Minimize:
		return "least " + p.Query.String()
	case Maximize:
		return "greatest " + p.Query.String()
	case Smallest:
		return "smallest " + p.Key
	case Largest:
		return "largest " + p.Key
	}
	return "greatest margin to the objectives"
}

// observation is what one seed says of a setting.
type observation struct {
	goal   float64   // the smaller the better; NaN: no value
	slacks []float64 // by objective, relative to its bound where that is not 0: below 0 is a miss; NaN: no value
	open   []bool    // by objective: the run ended too early to say more than that
}

// observe takes out of a run what the search is about.
func (p *Problem) observe(policy int, run *results.Run) observation {
	find := func(q results.Query) (float64, string) {
		for i := range run.Values {
			if v := &run.Values[i]; v.Query == q && !v.Null {
				return v.Value, v.Bound
			}
		}
		return math.NaN(), ""
	}
	var o observation
	margin := math.Inf(1)
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
		o.slacks, o.open = append(o.slacks, slack), append(o.open, open)
		margin = math.Min(margin, slack) // NaN stays
	}
	switch p.Aim {
	case Minimize:
		o.goal, _ = find(p.Query)
	case Maximize:
		v, _ := find(p.Query)
		o.goal = -v
	default:
		o.goal = -margin
	}
	return o
}
