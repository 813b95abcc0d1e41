package spec

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/scenarios/tree"
)

// Entitled returns the share of claims, in [0, 1], that the policy guarantees to fresh jobs while fresh jobs and
// retries are both ready; 0: no guarantee.
func (p *Policy) Entitled() float64 { return policies.Entitled(p.Kind, p.values) }

// Policy is one of the policies compared.
type Policy struct {
	Kind  string `yaml:"kind"`  // which policy it is: `qsim list policies` describes them
	Label string `yaml:"label"` // name in tables and charts, at most 40 characters; unique
	// overrides of keys of engine, retry, dependencies, jobs and storms for this policy alone, by path; see Variant
	With   map[string]yaml.Node `yaml:"with,omitempty"`
	Params map[string]yaml.Node `yaml:",inline"` // parameters of the policy's kind

	values  map[string]policies.Value
	spelled map[string]yaml.Node // With in the form that Resolved writes
}

// ReadParameter parses a parameter of the policy, of a type of package policies, and keeps its value.
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

// parseParameter parses the value of a policy parameter: a scalar, or for some types a map from job classes.
func parseParameter(typ string, node *yaml.Node) (policies.Value, error) {
	if node.Kind == yaml.ScalarNode {
		return policies.ParseValue(typ, node.Value)
	}
	var entries []policies.Entry
	takes := node.Kind == yaml.MappingNode && policies.TakesMapping(typ)
	for i := 0; takes && i+1 < len(node.Content); i += 2 {
		takes = node.Content[i+1].Kind == yaml.ScalarNode
		entries = append(entries, policies.Entry{Class: node.Content[i].Value, Text: node.Content[i+1].Value})
	}
	if !takes {
		return policies.Value{}, quantity.Errorf("want a %s, not %s", strings.ReplaceAll(typ, "-", " "), tree.Describe(node))
	}
	return policies.ParseMapping(typ, entries)
}
