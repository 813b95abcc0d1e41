package checks

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/reference"
)

// Section is one map of a scenario's YAML, such as a job class, for checking several of its keys. These are named by
// their paths below it, such as lease.ttl; an empty path is the map itself.
type Section struct {
	whole *Checker
	path  []any
}

// In returns the Section of the map at a path of keys and indexes.
func (c *Checker) In(path ...any) Section { return Section{c, path} }

// In returns the Section of the map at a path below that of another Section.
func (s Section) In(path ...any) Section { return Section{s.whole, slices.Concat(s.path, path)} }

// To returns the path of a key in a Section, counted from the root of the scenario.
func (s Section) To(key string) []any {
	path := slices.Clone(s.path)
	for word := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' }) {
		path = append(path, word)
	}
	return path
}

// Fault adds an error if a rule is broken: at the value of the first of keys (separated by spaces) that the file
// contains or, for a single key with a colon after it, at the key itself. Help may be added to the result in any case.
func (s Section) Fault(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.whole.Errorf(s.Place(keys), format, arguments...)
}

// Warn adds a warning if a rule is broken, as Fault adds an error.
func (s Section) Warn(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.whole.Warnf(s.Place(keys), format, arguments...)
}

// Place returns the YAML node at which Fault reports a broken rule about keys: one that the file contains, since values
// from defaults are not the author's mistake.
func (s Section) Place(keys string) *yaml.Node {
	if key, itself := strings.CutSuffix(keys, ":"); itself {
		return s.whole.Key(s.To(key)...)
	}
	for key := range strings.FieldsSeq(keys) {
		if node := s.Node(key); node != nil && node.Line != 0 {
			return node
		}
	}
	first, _, _ := strings.Cut(keys, " ")
	return s.whole.Near(s.To(first)...)
}

// Sound reports whether the values of the given keys of a map, or of the map itself if none is given, could be decoded.
func (s Section) Sound(keys ...string) bool {
	if len(keys) == 0 {
		return s.whole.Sound(s.path...)
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !s.whole.Sound(s.To(key)...) })
}

// Required reports whether a map of the scenario has a key, and adds an error if it has not.
func (s Section) Required(key string) bool { return s.whole.Required(s.To(key)...) }

// Has reports whether a map of the scenario, completed by defaults, has a key.
func (s Section) Has(key string) bool { return s.Node(key) != nil }

// Node returns the YAML node of the value of a key in the map that a Section stands for; nil if the map lacks the key.
func (s Section) Node(key string) *yaml.Node { return s.whole.Node(s.To(key)...) }

// CheckKeys checks every key of the scenario against its rule in the table of package reference.
func (c *Checker) CheckKeys() {
	for _, key := range reference.Tables().Keys {
		if key.Rule != (reference.Rule{}) {
			c.hold(key.Rule, nil, strings.Split(key.Path, "."))
		}
	}
}

// hold checks all keys below a path that match a pattern, rest, in which * is any list element, against a rule.
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

// holdOne checks the key at a path against a rule, unless its value could not be decoded.
func (c *Checker) holdOne(r reference.Rule, path []any) {
	if r.Required && !c.Required(path...) || c.Node(path...) == nil {
		return
	}
	node, lasts, number := c.Node(path...), quantity.Duration(0), quantity.Count(0)
	switch {
	case r.Positive && node.Load(&lasts) == nil:
		c.Positive(lasts, path...)
	case r.Most > 0 && node.Load(&number) == nil:
		c.Count(number, r.Least, int(r.Most), r.Why, path...)
	case r.Named != "" && node.Kind == yaml.ScalarNode && c.Sound(path...):
		if bad := BadName(node.Value); bad != "" {
			c.Errorf(c.Near(path...), "bad %s name %s: %s", r.Named, quantity.Quote(node.Value), bad)
		}
	}
}
