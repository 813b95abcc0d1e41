package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/tree"
)

// checker finds mistakes in a scenario whose single values are well-formed.
type checker struct {
	sc       *Scenario
	policy   int                // index of the policy whose overrides are in sc; noPolicy: none
	failed   map[yaml.Mark]bool // positions of values that could not be decoded
	unknown  map[yaml.Mark]bool // positions of unknown keys
	problems []problem
	asked    func(rule, []any) // if not nil, called for every rule of a single key, with the key's path
}

// ask calls the function asked, if that is set, with a rule of a key and the key's path.
func (c *checker) ask(r rule, path []any) {
	if c.asked != nil {
		c.asked(r, path)
	}
}

const noPolicy = -1

type problem struct {
	error    *yaml.LoadError
	severity diagnostics.Severity
}

// node returns the YAML node at a path of keys (string) and indexes (int), or nil.
func (c *checker) node(path ...any) *yaml.Node {
	node := c.sc.tree.full
	for _, step := range path {
		switch step := step.(type) {
		case string:
			node = tree.Lookup(node, step)
		case int:
			if node == nil || node.Kind != yaml.SequenceNode || step >= len(node.Content) {
				return nil
			}
			node = node.Content[step]
		}
		if node == nil {
			return nil
		}
	}
	return node
}

// has reports whether the scenario has a value at a path of keys and indexes.
func (c *checker) has(path ...any) bool { return c.node(path...) != nil }

// key returns the YAML node of the key at the end of path, or else the nearest node around it.
func (c *checker) key(path ...any) *yaml.Node {
	parent := c.node(path[:len(path)-1]...)
	if name, ok := path[len(path)-1].(string); ok {
		if i := tree.Position(parent, name); i >= 0 && parent.Content[i].Line != 0 {
			return parent.Content[i]
		}
	}
	return c.near(path...)
}

// near returns the innermost YAML node at or around path that the file contains.
func (c *checker) near(path ...any) *yaml.Node {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if node := c.node(path...); node != nil && node.Line != 0 {
			return node
		}
	}
	return &yaml.Node{Line: 1, Column: 1}
}

// given returns the YAML node of the first of paths that the file contains: values that it does not contain are
// defaults, not the author's mistake.
func (c *checker) given(paths ...[]any) *yaml.Node {
	for _, path := range paths {
		if node := c.node(path...); node != nil && node.Line != 0 {
			return node
		}
	}
	return c.near(paths[0]...)
}

// sound reports whether the value at path was decoded without an error; otherwise its zero value is meaningless.
func (c *checker) sound(path ...any) bool {
	for i := range path {
		around := c.node(path[:i]...)
		if around == nil {
			break // a default that depends on other values
		}
		if _, index := path[i].(int); index != (around.Kind == yaml.SequenceNode) || around.Kind == yaml.ScalarNode {
			return false
		}
	}
	node := c.node(path...)
	return node == nil || c.soundNode(node)
}

func (c *checker) failedAt(node *yaml.Node) bool {
	return node.Line != 0 && c.failed[yaml.Mark{Line: node.Line, Column: node.Column}]
}

func (c *checker) soundNode(node *yaml.Node) bool {
	if c.failedAt(node) {
		return false
	}
	for _, child := range node.Content {
		if !c.soundNode(child) {
			return false
		}
	}
	return true
}

// checkKind checks the key that names the kind of a map in which another mistake was found.
func (c *checker) checkKind(t *kindTable, node *yaml.Node) {
	if name := tree.Lookup(node, t.key); name != nil && name.Kind == yaml.ScalarNode && len(t.rowsOf(name.Value)) == 0 {
		c.problems = append(c.problems, problem{t.unknown(name), diagnostics.Error})
	}
}

func (c *checker) errorf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Error, format, arguments...)
}

func (c *checker) warnf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Warning, format, arguments...)
}

// report adds a problem at a node. The caller may still add help or a note to it.
func (c *checker) report(at *yaml.Node, severity diagnostics.Severity, format string, arguments ...any) *quantity.Error {
	e := quantity.Errorf(format, arguments...)
	c.add(at, severity, e)
	return e
}

func (c *checker) add(at *yaml.Node, severity diagnostics.Severity, e *quantity.Error) {
	c.problems = append(c.problems, problem{yaml.NewLoadError(yaml.ConstructorStage, e.Message, yaml.Mark{Line: at.Line, Column: at.Column}, e), severity})
}

// unsaid reports whether a value may be a default by mistake: a map around it has an unknown key, perhaps a
// misspelling of it; its rules are then not checked.
func (c *checker) unsaid(path []any) bool {
	if node := c.node(path...); node != nil && node.Line != 0 {
		return false
	}
	for i := range path {
		if c.hasUnknown(c.node(path[:i]...), func(string) bool { return true }) {
			return true
		}
	}
	return false
}

// misspelled reports whether a map has an unknown key that probably stands for name.
func (c *checker) misspelled(parent *yaml.Node, name any) bool {
	return c.hasUnknown(parent, func(key string) bool {
		return closest(key, []string{fmt.Sprint(name)}) != "" || meansElsewhere(key, name)
	})
}

func (c *checker) hasUnknown(node *yaml.Node, is func(key string) bool) bool {
	if node == nil || node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; c.unknown[yaml.Mark{Line: key.Line, Column: key.Column}] && is(key.Value) {
			return true
		}
	}
	return false
}

// count reports an error if a count is not in [least, most]; why is the reason for most.
func (c *checker) count(value Count, least, most int, why string, path ...any) {
	c.ask(rule{least: least, most: most}, path)
	if int(value) >= least && int(value) <= most || !c.sound(path...) || c.unsaid(path) {
		return
	}
	name := path[len(path)-1]
	if int(value) < least {
		c.errorf(c.near(path...), "%s %d is too few: want at least %d", name, value, least)
		return
	}
	c.errorf(c.near(path...), "%s %d is too many: at most %d, %s", name, value, most, why)
}

// positive reports an error if a duration is 0.
func (c *checker) positive(value Duration, path ...any) {
	c.ask(rule{positive: true}, path)
	if value == 0 && c.sound(path...) && !c.unsaid(path) {
		c.errorf(c.near(path...), "%s must be longer than 0s", path[len(path)-1])
	}
}

// required reports whether the key at path is there, and adds an error if it is missing.
func (c *checker) required(path ...any) bool {
	c.ask(rule{required: true}, path)
	if c.node(path...) != nil {
		return true
	}
	parent := c.node(path[:len(path)-1]...)
	if parent != nil && parent.Kind == yaml.MappingNode && !c.misspelled(parent, path[len(path)-1]) {
		c.errorf(c.near(path[:len(path)-1]...), "%q is missing", path[len(path)-1])
	}
	return false
}

// known reports whether name is among the defined names, and adds an error if not; what is the noun for them.
func (c *checker) known(what string, at *yaml.Node, name string, there []nameAt) bool {
	var names []string
	for _, n := range there {
		if n.name == name {
			return true
		}
		if !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	}
	if len(c.sc.Jobs) == 0 && strings.HasPrefix(what, "job class") {
		return false // an error in jobs has already been reported
	}
	e := unknownName(what, name, names)
	if near := closest(name, names); near != "" && at.Line > 0 { // overrides on a command line have no lines of the file
		for _, n := range there {
			if n.name == near && n.at != nil && n.at.Line > 0 {
				e.Help = fmt.Sprintf("did you mean %q (line %d)?", near, n.at.Line)
			}
		}
	}
	c.add(at, diagnostics.Error, e)
	return false
}

// nameAt is a name and the YAML node that gives it.
type nameAt struct {
	name string
	at   *yaml.Node
}

// unique adds an error for each name that occurs twice.
func (c *checker) unique(what string, names []nameAt) {
	for i, n := range names {
		for _, earlier := range names[:i] {
			if n.name != "" && earlier.name == n.name {
				c.errorf(n.at, "two %s are named %s", what, quantity.Quote(n.name)).Note = fmt.Sprintf("the first is on line %d", max(1, earlier.at.Line))
				break
			}
		}
	}
}

func (c *checker) classes() []nameAt {
	return namesIn(c, "jobs", "class", c.sc.Jobs, func(j *JobClass) string { return j.Class })
}

func (c *checker) storms() []nameAt {
	return namesIn(c, "storms", "name", c.sc.Storms, func(s *Storm) string { return s.Name })
}

func (c *checker) dependencies() []nameAt {
	return namesIn(c, "dependencies", "name", c.sc.Dependencies, func(d *Dependency) string { return d.Name })
}

// namesIn returns the names of the elements of a list, which each element has under a key.
func namesIn[T any](c *checker, list, key string, all []T, name func(*T) string) (names []nameAt) {
	for i := range all {
		names = append(names, nameAt{name(&all[i]), c.near(list, i, key)})
	}
	return names
}

// total returns the longest virtual time of a run: duration plus drain.
func (c *checker) total() time.Duration { return c.sc.Duration.Std() + c.sc.Drain.Std() }
