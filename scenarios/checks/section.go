package checks

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Section is a place in a scenario's YAML tree, mostly a map such as one job class, for checking several keys below it.
// Its methods name keys by their paths from there, such as lease.ttl; "" is the place itself.
type Section struct {
	*Checker
	path []any // keys (string) and indexes (int) that lead to the map
}

// Whole returns the Section at the root of the scenario.
func (c *Checker) Whole() Section { return Section{c, nil} }

// In returns the Section at a path below s: keys (string) of maps and indexes (int) of lists.
func (s Section) In(path ...any) Section { return Section{s.Checker, slices.Concat(s.path, path)} }

// to returns the Section at a key, a path with dots such as lease.ttl, below s.
func (s Section) to(key string) Section {
	if key == "" {
		return s
	}
	path := slices.Clone(s.path)
	for word := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '.' }) {
		path = append(path, word)
	}
	return Section{s.Checker, path}
}

// around returns the Section of the map or list that contains s, and the key or index of s in it.
func (s Section) around() (parent Section, name any) {
	last := len(s.path) - 1
	return Section{s.Checker, s.path[:last]}, s.path[last]
}

// Node returns the YAML node at a key, a path from s, in the scenario completed by defaults; nil if there is none.
func (s Section) Node(key string) *yaml.Node {
	node := s.full
	for _, step := range s.to(key).path {
		node = inside(node, step)
	}
	return node
}

// inside returns the child of a YAML node at a step: a key (string) of a map, or an index (int) of a list; nil if none.
func inside(node *yaml.Node, step any) *yaml.Node {
	if index, is := step.(int); is {
		return tree.LookupAt(node, index)
	}
	return tree.Lookup(node, step.(string))
}

// Has reports whether a key, a path from s, has a value in the scenario completed by presets and defaults.
func (s Section) Has(key string) bool { return s.Node(key) != nil }

// inFile returns the YAML node at a key if it comes from the file, a preset or an override; nil if from a default.
func (s Section) inFile(key string) *yaml.Node {
	if node := s.Node(key); node != nil && node.Line != 0 {
		return node
	}
	return nil
}

// Place returns the YAML node at which Fault reports a broken rule about keys (in the form that Fault takes): of those
// that the file contains, since the author does not see defaults.
func (s Section) Place(keys string) *yaml.Node {
	if key, itself := strings.CutSuffix(keys, ":"); itself {
		return s.to(key).key()
	}
	for key := range strings.FieldsSeq(keys) {
		if node := s.inFile(key); node != nil {
			return node
		}
	}
	first, _, _ := strings.Cut(keys, " ")
	return s.to(first).near()
}

// key returns the YAML node of the key (not the value) at s or, if the file lacks it, the innermost node around it.
func (s Section) key() *yaml.Node {
	around, last := s.around()
	parent := around.Node("")
	if name, ok := last.(string); ok {
		if i := tree.Position(parent, name); i >= 0 && parent.Content[i].Line != 0 {
			return parent.Content[i]
		}
	}
	return s.near()
}

// near returns the YAML node at s or, if the file lacks it, the innermost node around s that the file contains.
func (s Section) near() *yaml.Node {
	for ; len(s.path) > 0; s, _ = s.around() {
		if node := s.inFile(""); node != nil {
			return node
		}
	}
	return &yaml.Node{Line: 1, Column: 1}
}

// Fault adds an error to the scenario's problems if broken is true, the outcome of a check. Its position is the value
// of the first of keys (separated by spaces) in the file; "KEY:" is the key itself. Help may be added to the result.
func (s Section) Fault(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.Errorf(s.Place(keys), format, arguments...)
}

// Warn adds a warning to the scenario's problems if broken, the outcome of a check, is true; keys are as for Fault.
func (s Section) Warn(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.Warnf(s.Place(keys), format, arguments...)
}

// Sound reports whether the values of keys, or of the map s if none is given, could be decoded. A value that could not
// is 0 in the decoded scenario, and checks of it would report a second error.
func (s Section) Sound(keys ...string) bool {
	if len(keys) > 0 {
		return !slices.ContainsFunc(keys, func(key string) bool { return !s.to(key).Sound() })
	}
	node := s.full
	for _, step := range s.path {
		if _, index := step.(int); index != (node.Kind == yaml.SequenceNode) || node.Kind == yaml.ScalarNode {
			return false
		}
		if node = inside(node, step); node == nil {
			return true // a default that depends on other values
		}
	}
	return s.SoundNode(node)
}

// Required reports whether a key has a value. If not, it adds an error, unless an unknown key beside it may be meant.
func (s Section) Required(key string) bool {
	own := s.to(key)
	s.Asked(reference.Rule{Required: true}, own.path)
	if own.Has("") {
		return true
	}
	around, name := own.around()
	parent := around.Node("")
	if parent != nil && parent.Kind == yaml.MappingNode && !s.misspelled(parent, name) {
		s.Errorf(around.near(), "%q is missing", name)
	}
	return false
}

// Count adds an error if a key's value is not in [least, most]: why is the reason for most, as the end of its text.
func (s Section) Count(value quantity.Count, least, most int, why, key string) {
	own := s.to(key)
	s.Asked(reference.Rule{Least: least, Most: most}, own.path)
	_, name := own.around()
	few, many := int(value) < least, int(value) > most
	if (few || many) && own.Sound() && !own.unsaid() {
		own.Fault(few, "", "%s %d is too few: want at least %d", name, value, least)
		own.Fault(many, "", "%s %d is too many: at most %s", name, value, plain.Joined(", ", strconv.Itoa(most), why))
	}
}

// Positive adds an error if a key's value, a duration, is 0s. Values that could not be decoded are passed over.
func (s Section) Positive(value quantity.Duration, key string) {
	own := s.to(key)
	s.Asked(reference.Rule{Positive: true}, own.path)
	_, name := own.around()
	own.Fault(value == 0 && own.Sound() && !own.unsaid(), "", "%s must be longer than 0s", name)
}

// unsaid reports whether the value at s may be absent from the file by mistake: a map around it has an unknown key,
// perhaps a misspelling. Checks then pass over it.
func (s Section) unsaid() bool {
	if s.inFile("") != nil {
		return false
	}
	for i := range s.path {
		if s.hasUnknown(s.Whole().In(s.path[:i]...).Node(""), func(string) bool { return true }) {
			return true
		}
	}
	return false
}

// CheckKeys checks the value of every key of the scenario that has a rule in package reference's table of keys.
func (c *Checker) CheckKeys() {
	for _, key := range reference.Tables().Keys {
		if key.Rule != (reference.Rule{}) {
			c.Whole().hold(c.full, key.Rule, strings.Split(key.Path, "."))
		}
	}
}

// hold checks the values at all paths from s, whose YAML node is given, that match a pattern against a rule; * in it is
// any element of a list.
func (s Section) hold(node *yaml.Node, r reference.Rule, rest []string) {
	switch {
	case len(rest) == 0:
		s.holdOne(r)
	case rest[0] != "*":
		if value := tree.Lookup(node, rest[0]); value != nil || r.Required && len(rest) == 1 {
			s.In(rest[0]).hold(value, r, rest[1:])
		}
	case node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			s.In(i).hold(item, r, rest[1:])
		}
	}
}

// holdOne checks the value at s, if it could be decoded, against a rule: required, above 0s, in bounds, a valid name.
func (s Section) holdOne(r reference.Rule) {
	if r.Required && !s.Required("") || !s.Has("") {
		return
	}
	node, lasts, number := s.Node(""), quantity.Duration(0), quantity.Count(0)
	switch {
	case r.Positive && node.Load(&lasts) == nil:
		s.Positive(lasts, "")
	case r.Most > 0 && node.Load(&number) == nil:
		s.Count(number, r.Least, r.Most, r.Why, "")
	case r.Named != "" && node.Kind == yaml.ScalarNode && s.Sound():
		bad := BadName(node.Value)
		s.Fault(bad != "", "", "bad %s name %s: %s", r.Named, quantity.Quote(node.Value), bad)
	}
}
