// Package checks finds mistakes in the values of a scenario's keys and reports them at their positions in its file. It
// applies the rules of package reference to single keys, and gives those who compare several keys (the files
// storm_KIND.go of package spec, and package validate) the means to look keys up and report errors.
package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Checker collects the errors and warnings about a scenario whose single values are well-formed. Section looks up keys.
type Checker struct {
	Names    map[string][]NameAt // by list, such as jobs, the names of its elements; "" for one without
	Problems []Problem
	Cut      bool // Names lacks the last of a list that is too long

	full    *yaml.Node                  // tree of the scenario, completed by presets and defaults
	preset  map[*yaml.Node]string       // name of the preset that a node comes from
	failed  map[yaml.Mark]bool          // positions of values that could not be decoded
	unknown map[yaml.Mark]bool          // positions of unknown keys
	Asked   func(reference.Rule, []any) // hook for tests: called with each rule checked and the path of its key
}

// New returns a checker of a scenario with the YAML tree full, completed by presets and defaults. preset maps a node to
// the name of the preset it is from; failed and unknown: positions of values not decoded and of unknown keys.
func New(full *yaml.Node, preset map[*yaml.Node]string, failed, unknown map[yaml.Mark]bool) *Checker {
	c := &Checker{full: full, preset: preset, failed: failed, unknown: unknown, Asked: func(reference.Rule, []any) {}}
	c.Names = map[string][]NameAt{}
	for key, value := range tree.Pairs(full) {
		keys := reference.Tables().Lists[key.Value].Names
		for i := 0; keys != nil && tree.LookupAt(value, i) != nil; i++ {
			at := c.Whole().In(key.Value, i).Place(strings.Join(keys, " "))
			c.Names[key.Value] = append(c.Names[key.Value], NameAt{at.Value, at}) // a map has the value ""
		}
	}
	return c
}

// NameAt is a name that a scenario defines, such as that of a job class, with the YAML node of its definition.
type NameAt struct {
	Name string
	At   *yaml.Node
}

// Problem is an error or a warning about a scenario, with its position and severity.
type Problem struct {
	Error    *yaml.LoadError
	Severity diagnostics.Severity
}

// Stated reports whether the file or an override contains a YAML node, rather than a preset or a default; nil: false.
func (c *Checker) Stated(node *yaml.Node) bool {
	return node != nil && node.Line != 0 && c.preset[node] == ""
}

// FailedAt reports whether the value of a YAML node could not be decoded.
func (c *Checker) FailedAt(node *yaml.Node) bool {
	return node.Line != 0 && c.failed[yaml.Mark{Line: node.Line, Column: node.Column}]
}

// SoundNode reports whether a YAML node and all nodes in it were decoded without an error.
func (c *Checker) SoundNode(node *yaml.Node) bool {
	failed := func(child *yaml.Node) bool { return !c.SoundNode(child) }
	return !c.FailedAt(node) && !slices.ContainsFunc(node.Content, failed)
}

// Errorf adds an error, at a YAML node's position, to Problems. Help or a note may be added to the result afterwards.
func (c *Checker) Errorf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Error, quantity.Errorf(format, arguments...))
}

// Warnf adds a warning, at a YAML node's position, to Problems. Help or a note may be added to the result afterwards.
func (c *Checker) Warnf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Warning, quantity.Errorf(format, arguments...))
}

// report adds an error or a warning, at a YAML node's position, to Problems, and returns e, to which help may be added.
func (c *Checker) report(at *yaml.Node, severity diagnostics.Severity, e *quantity.Error) *quantity.Error {
	c.Problems = append(c.Problems, Problem{tree.ErrorAt(at, e), severity})
	return e
}

// Add adds the given error, at the position of a YAML node, to the problems found in the scenario.
func (c *Checker) Add(at *yaml.Node, e *quantity.Error) { c.report(at, diagnostics.Error, e) }

// AddUnknown adds the error of an unknown key at its YAML node. A required key that it may be meant for is not missing.
func (c *Checker) AddUnknown(key *yaml.Node, e *quantity.Error) {
	c.Add(key, e)
	c.unknown[yaml.Mark{Line: key.Line, Column: key.Column}] = true
}

// AddAll adds errors, which have their positions already, to the problems found in the scenario.
func (c *Checker) AddAll(problems []*yaml.LoadError) {
	for _, p := range problems {
		c.Problems = append(c.Problems, Problem{p, diagnostics.Error})
	}
}

// Clean reports whether the scenario has no error so far: all values could be decoded, and no check has added an error.
func (c *Checker) Clean() bool {
	isError := func(p Problem) bool { return p.Severity == diagnostics.Error }
	return len(c.failed) == 0 && !slices.ContainsFunc(c.Problems, isError)
}

// misspelled reports whether a map has an unknown key that its author probably meant to be a given key.
func (c *Checker) misspelled(parent *yaml.Node, name any) bool {
	return c.hasUnknown(parent, func(key string) bool {
		return plain.Nearest(key, []string{fmt.Sprint(name)}) != "" || reference.MeansElsewhere(key, name)
	})
}

func (c *Checker) hasUnknown(node *yaml.Node, is func(key string) bool) bool {
	for key := range tree.Pairs(node) {
		if c.unknown[yaml.Mark{Line: key.Line, Column: key.Column}] && is(key.Value) {
			return true
		}
	}
	return false
}

// Known reports whether a name that the scenario uses is among there, those that it defines, and adds an error if not.
// what is the noun for it, such as "storm".
func (c *Checker) Known(what string, at *yaml.Node, name string, there []NameAt) bool {
	names := plain.Distinct(plain.Map(there, func(n NameAt) string { return n.Name }))
	if slices.Contains(names, name) || c.Cut {
		return true
	}
	if len(c.Names["jobs"]) == 0 && strings.HasPrefix(what, "job class") {
		return false // an error in jobs has already been reported
	}
	e := reference.UnknownName(what, name, names)
	near := plain.Nearest(name, names)
	if near != "" && at.Line > 0 { // overrides on a command line have no lines of the file
		for _, n := range there {
			if n.Name == near && n.At != nil && n.At.Line > 0 {
				e.Help = fmt.Sprintf("did you mean %q (line %d)?", near, n.At.Line)
			}
		}
	}
	c.Add(at, e)
	return false
}

// CheckNames adds an error for each name that two elements of one list of the scenario have.
func (c *Checker) CheckNames() {
	for _, key := range slices.Sorted(maps.Keys(c.Names)) {
		first := map[string]*yaml.Node{"": nil}
		for _, name := range c.Names[key] {
			if earlier, twice := first[name.Name]; !twice {
				first[name.Name] = name.At
			} else if earlier != nil {
				plural := reference.Tables().Lists[key].Plural
				c.Errorf(name.At, "two %s are named %s", plural, quantity.Quote(name.Name)).Note =
					fmt.Sprintf("the first is on line %d", max(1, earlier.Line))
			}
		}
	}
}

// BadName returns what is wrong with the name of a class, storm, tenant or the like, for an error text; "" if nothing.
func BadName(name string) string { return badName(name, "-_", "a-z, 0-9, - and _") }

// BadTitle returns what is wrong with a scenario's name, which also names files, for an error text; "" if nothing.
func BadTitle(name string) string { return badName(name, "-", "a-z, 0-9 and -") }

// badName returns what is wrong with a name of small letters, digits and signs (all: these in words); "" if nothing.
func badName(name, signs, all string) string {
	const most = 64
	switch {
	case name == "":
		return "it is empty"
	case len(name) > most:
		return fmt.Sprintf("it is longer than %d letters", most)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789"+signs) != "":
		return "want only " + all
	}
	return ""
}

// BadErrorKind returns what is wrong with an error kind, such as timeout, that a scenario gives its failing attempts,
// for an error text; "" if nothing. The kinds for cancelled attempts and expired leases are the engine's own.
func BadErrorKind(name string) string {
	if name == engine.Canceled.Name() || name == engine.LeaseExpired.Name() {
		return "it is the engine's own word, for what it does itself"
	}
	return BadName(name)
}

// BadLabel returns what is wrong with a policy's label, shown in tables and charts, for an error text; "" if nothing.
func BadLabel(label string) string {
	if label == "" || strings.TrimSpace(label) != label {
		return "it is empty, or starts or ends with a space"
	}
	if len([]rune(label)) > 40 {
		return "it is longer than 40 characters"
	}
	if strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "want only printable characters"
	}
	return ""
}
