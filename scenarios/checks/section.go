package checks

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Section is one map of a scenario's YAML, such as a job class, for checking several of its keys. These are named by
// their paths below it, such as lease.ttl; an empty path is the map itself.
type Section struct {
	*Checker
	path []any // keys (string) and indexes (int) that lead to the map
}

// Whole returns the Section of the whole scenario.
func (c *Checker) Whole() Section { return Section{c, nil} }

// In returns the Section of the map at a path of keys and indexes below that of another Section.
func (s Section) In(path ...any) Section { return Section{s.Checker, slices.Concat(s.path, path)} }

// to returns the Section of the value of a key.
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

// around returns the Section of the map or list that has a Section, and the key or index of that.
func (s Section) around() (parent Section, name any) {
	last := len(s.path) - 1
	return Section{s.Checker, s.path[:last]}, s.path[last]
}

// Node returns the YAML node of the value of a key in the map that a Section stands for; nil if the map lacks the key.
func (s Section) Node(key string) *yaml.Node {
	node := s.full
	for _, step := range s.to(key).path {
		node = inside(node, step)
	}
	return node
}

// inside returns the value of a key or index in a map or list, or nil.
func inside(node *yaml.Node, step any) *yaml.Node {
	if index, is := step.(int); is {
		return tree.LookupAt(node, index)
	}
	return tree.Lookup(node, step.(string))
}

// Has reports whether a map of the scenario, completed by defaults, has a key.
func (s Section) Has(key string) bool { return s.Node(key) != nil }

// inFile returns the YAML node of the value of a key if it is from the file or an override, and not from a default.
func (s Section) inFile(key string) *yaml.Node {
	if node := s.Node(key); node != nil && node.Line != 0 {
		return node
	}
	return nil
}

// Place returns the YAML node at which Fault reports a broken rule about keys: one that the file contains, since values
// from defaults are not the author's mistake.
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

// key returns the YAML node of the key of a Section or, if the file lacks it, the innermost node around it.
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

// near returns the innermost YAML node at or around a Section that the file contains.
func (s Section) near() *yaml.Node {
	for ; len(s.path) > 0; s, _ = s.around() {
		if node := s.inFile(""); node != nil {
			return node
		}
	}
	return &yaml.Node{Line: 1, Column: 1}
}

// Fault adds an error if a rule is broken: at the value of the first of keys (separated by spaces) that the file
// contains or, for a single key with a colon after it, at the key itself. Help may be added to the result in any case.
func (s Section) Fault(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.Errorf(s.Place(keys), format, arguments...)
}

// Warn adds a warning if a rule is broken, as Fault adds an error.
func (s Section) Warn(broken bool, keys, format string, arguments ...any) *quantity.Error {
	if !broken {
		return &quantity.Error{}
	}
	return s.Warnf(s.Place(keys), format, arguments...)
}

// Sound reports whether the values of the given keys of a map, or of the map itself if none is given, could be decoded.
// One that could not is left at zero, and is not to be checked further.
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

// Required reports whether a map of the scenario has a key, and adds an error if it has not.
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

// Count adds an error if the value of a key, a count, is not in [least, most]; why gives the reason for the bound most.
func (s Section) Count(value quantity.Count, least, most int, why, key string) {
	own := s.to(key)
	s.Asked(reference.Rule{Least: least, Most: reference.Limit(most)}, own.path)
	_, name := own.around()
	few, many := int(value) < least, int(value) > most
	if (few || many) && own.Sound() && !own.unsaid() {
		own.Fault(few, "", "%s %d is too few: want at least %d", name, value, least)
		own.Fault(many, "", "%s %d is too many: at most %d, %s", name, value, most, why)
	}
}

// Positive adds an error if the value of a key, a duration, is 0.
func (s Section) Positive(value quantity.Duration, key string) {
	own := s.to(key)
	s.Asked(reference.Rule{Positive: true}, own.path)
	_, name := own.around()
	own.Fault(value == 0 && own.Sound() && !own.unsaid(), "", "%s must be longer than 0s", name)
}

// unsaid reports whether a value may be missing by mistake: a map around it has an unknown key, perhaps the right one
// misspelt. The rules for the value are then not checked.
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

// CheckKeys checks every key of the scenario against its rule in the table of package reference.
func (c *Checker) CheckKeys() {
	for _, key := range reference.Tables().Keys {
		if key.Rule != (reference.Rule{}) {
			c.Whole().hold(key.Rule, strings.Split(key.Path, "."))
		}
	}
}

// hold checks all keys below a Section that match a pattern, rest, in which * is any list element, against a rule.
func (s Section) hold(r reference.Rule, rest []string) {
	switch list := s.Node(""); {
	case len(rest) == 0:
		s.holdOne(r)
	case rest[0] != "*":
		s.In(rest[0]).hold(r, rest[1:])
	case list != nil && list.Kind == yaml.SequenceNode:
		for i := range list.Content {
			s.In(i).hold(r, rest[1:])
		}
	}
}

// holdOne checks the value that a Section stands for against a rule, unless it could not be decoded.
func (s Section) holdOne(r reference.Rule) {
	if r.Required && !s.Required("") || !s.Has("") {
		return
	}
	node, lasts, number := s.Node(""), quantity.Duration(0), quantity.Count(0)
	switch {
	case r.Positive && node.Load(&lasts) == nil:
		s.Positive(lasts, "")
	case r.Most > 0 && node.Load(&number) == nil:
		s.Count(number, r.Least, int(r.Most), r.Why, "")
	case r.Named != "" && node.Kind == yaml.ScalarNode && s.Sound():
		bad := BadName(node.Value)
		s.Fault(bad != "", "", "bad %s name %s: %s", r.Named, quantity.Quote(node.Value), bad)
	}
}
