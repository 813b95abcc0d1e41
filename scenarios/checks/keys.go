package checks

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/reference"
)

// CheckKeys checks every key of the scenario against its rule.
func (c *Checker) CheckKeys() {
	for _, key := range reference.Table {
		if key.Rule != (reference.Rule{}) {
			c.hold(key.Rule, nil, strings.Split(key.Path, "."))
		}
	}
}

// hold checks against the rule r all keys below path that match the pattern rest.
func (c *Checker) hold(r reference.Rule, path []any, rest []string) {
	switch list := c.Node(path...); {
	case len(rest) == 0:
		c.holdOne(r, path)
	case rest[0] != "*":
		c.hold(r, append(path[:len(path):len(path)], rest[0]), rest[1:])
	case list != nil && list.Kind == yaml.SequenceNode:
		for i := range list.Content {
			c.hold(r, append(path[:len(path):len(path)], i), rest[1:])
		}
	}
}

// holdOne checks the key at path. A value that cannot be decoded has been reported.
func (c *Checker) holdOne(r reference.Rule, path []any) {
	if r.Required && !c.Required(path...) || c.Node(path...) == nil {
		return
	}
	node, lasts, number := c.Node(path...), quantity.Duration(0), quantity.Count(0)
	switch {
	case r.Positive && node.Load(&lasts) == nil:
		c.Positive(lasts, path...)
	case r.Most > 0 && node.Load(&number) == nil:
		c.Count(number, r.Least, r.Most, r.Why, path...)
	case r.Name != "" && node.Kind == yaml.ScalarNode && c.Sound(path...):
		if bad := BadName(node.Value); bad != "" {
			c.Errorf(c.Near(path...), "bad %s name %s: %s", r.Name, quantity.Quote(node.Value), bad)
		}
	}
}
