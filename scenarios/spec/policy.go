package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results/plain"
	"qsim/scenarios/tree"
)

// Entitled returns the share of claims, in [0, 1], that the policy guarantees to fresh jobs while fresh jobs and
// retries are both ready; 0 if it guarantees none.
func (p *Policy) Entitled() float64 { return policies.Entitled(p.Kind, p.values) }

// Policy is a fetch policy: it decides which job is claimed next. It has parameters, and overrides of other keys.
type Policy struct {
	Kind  string `yaml:"kind"`  // which policy it is: `qsim list policies` describes them
	Label string `yaml:"label"` // name in tables and charts, at most 40 characters; unique
	// overrides of keys of engine, retry, dependencies, jobs and storms for this policy alone, by path; see Variant
	With   map[string]yaml.Node `yaml:"with,omitempty"`
	Params map[string]yaml.Node `yaml:",inline"` // parameters of the policy's kind

	values  map[string]policies.Value
	spelled map[string]yaml.Node // With in the form that Resolved writes

	custom func(workers int) engine.Policy // constructor of a policy added by Compare; nil for others
}

// ReadParameter parses and stores the policy's parameter of that name; typ is a Type constant of package policies.
func (p *Policy) ReadParameter(name, typ string) error {
	node := p.Params[name]
	value, err := parseParameter(typ, &node)
	if err != nil {
		return err
	}
	if p.values == nil {
		p.values = map[string]policies.Value{}
	}
	p.values[name] = value
	return nil
}

// parseParameter returns a policy's parameter of type typ from a word or, for some types, a map from job classes.
func parseParameter(typ string, node *yaml.Node) (policies.Value, error) {
	if node.Kind == yaml.ScalarNode {
		return policies.ParseValue(typ, node.Value)
	}
	var entries []policies.Entry
	takes := node.Kind == yaml.MappingNode && policies.TakesMapping(typ)
	for key, value := range tree.Pairs(node) {
		takes = takes && value.Kind == yaml.ScalarNode
		entries = append(entries, policies.Entry{Class: key.Value, Text: value.Value})
	}
	if !takes {
		return policies.Value{}, quantity.Errorf("want a %s, not %s", strings.ReplaceAll(typ, "-", " "), tree.Describe(node))
	}
	return policies.ParseMapping(typ, entries)
}

// Compare adds a policy written in Go to those that runs of the scenario compare. make returns a new one for a node
// with so many workers. No other policy may have the label.
func (sc *Scenario) Compare(label string, make func(workers int) engine.Policy) {
	sc.Policies = append(sc.Policies, Policy{Kind: "custom", Label: label, custom: make}) // which no file can name
}

// PolicyMaker returns a function that makes a new instance, for one node, of the policy with index i in Policies.
func (sc *Scenario) PolicyMaker(i int) (func() engine.Policy, error) {
	p, workers := &sc.Policies[i], int(sc.Engine.Workers)
	if p.custom != nil {
		return func() engine.Policy { return p.custom(workers) }, nil
	}
	classes := plain.Map(sc.Jobs, func(j JobClass) policies.Class {
		return policies.Class{Name: j.Class, Calls: j.Calls, Cost: j.Service.Average().Std()}
	})
	if _, err := policies.New(p.Kind, p.values, workers, classes); err != nil {
		return nil, err
	}
	return func() engine.Policy { return plain.Must(policies.New(p.Kind, p.values, workers, classes)) }, nil
}

// Select returns a copy of the scenario with only those policies that PoliciesNamed finds for names. Objectives are
// limited to these, or dropped if none is left. If the baseline was not selected, the first policy becomes it.
func (sc *Scenario) Select(names []string) (*Scenario, error) {
	var keep []int
	for _, name := range names {
		found := sc.PoliciesNamed(name)
		if len(found) == 0 {
			labels := plain.Map(sc.Policies, func(p Policy) string { return p.Label })
			return nil, fmt.Errorf("no policy is named %q: there are %s", name, strings.Join(labels, ", "))
		}
		keep = append(keep, found...)
	}
	slices.Sort(keep)
	keep = slices.Compact(keep)
	selected := *sc
	selected.variants, selected.Objectives = nil, nil
	selected.Policies = plain.Map(keep, func(i int) Policy { return sc.Policies[i] })
	baseline := sc.PoliciesNamed(sc.Baseline)[0]
	if !slices.Contains(keep, baseline) {
		baseline = keep[0]
	}
	selected.Baseline = sc.Policies[baseline].Label
	for _, o := range sc.Objectives {
		left := slices.DeleteFunc(slices.Clone(o.Policies), func(name string) bool {
			return !slices.ContainsFunc(sc.PoliciesNamed(name), func(i int) bool { return slices.Contains(keep, i) })
		})
		if len(o.Policies) == 0 || len(left) > 0 {
			o.Policies = left
			selected.Objectives = append(selected.Objectives, o)
		}
	}
	for _, i := range keep {
		var variant *Scenario
		if v := sc.Variant(i); v != sc {
			narrowed := *v
			narrowed.Policies, narrowed.Objectives, narrowed.Baseline = selected.Policies, selected.Objectives, selected.Baseline
			variant = &narrowed
		}
		selected.variants = append(selected.variants, variant)
	}
	return &selected, nil
}

// Calm returns a copy of the scenario under the policy with that index, with another duration, no warm-up, no
// objectives, and only the given storms: with it a wall-clock run is calibrated.
func (sc *Scenario) Calm(policy int, lasts time.Duration, storms ...Storm) *Scenario {
	calm := *sc.Variant(policy)
	calm.Policies, calm.variants = sc.Policies, nil
	calm.Storms, calm.Objectives = storms, nil
	calm.Duration, calm.Warmup = Duration(lasts), 0
	calm.Drain = Duration(max(lasts, time.Minute))
	return &calm
}
