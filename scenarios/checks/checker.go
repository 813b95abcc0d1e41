// Package checks looks up the keys of one scenario by their paths and reports what is wrong with them at the positions
// that its file gives them. It has the checks of a single key, by the rules of package reference; those of several keys
// are in the files storm_KIND.go of package spec, and in package validate.
package checks

import (
	"fmt"
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

// Checker finds mistakes in a scenario whose single values are well-formed, and collects them at the positions that its
// file gives the values. A Section looks up its keys.
type Checker struct {
	Classes, Storms, Dependencies []NameAt // names that the scenario defines
	Problems                      []Problem

	full    *yaml.Node                  // tree of the scenario, completed by presets and defaults
	preset  map[*yaml.Node]string       // name of the preset that a node comes from
	failed  map[yaml.Mark]bool          // positions of values that could not be decoded
	unknown map[yaml.Mark]bool          // positions of unknown keys
	Asked   func(reference.Rule, []any) // called for every rule of a single key, with the key's path
}

// New returns a checker of a scenario's YAML tree, completed by presets and defaults. preset maps a node to the name of
// the preset that it comes from; failed and unknown hold the positions of values not decoded and of unknown keys.
func New(full *yaml.Node, preset map[*yaml.Node]string, failed, unknown map[yaml.Mark]bool) *Checker {
	return &Checker{full: full, preset: preset, failed: failed, unknown: unknown, Asked: func(reference.Rule, []any) {}}
}

// NameAt is a name and the YAML node that gives it.
type NameAt struct {
	Name string
	At   *yaml.Node
}

// Problem is an error or a warning about a scenario, with its position and severity.
type Problem struct {
	Error    *yaml.LoadError
	Severity diagnostics.Severity
}

// Stated reports whether the file or an override has a node, rather than a default or a preset; no node is nil.
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

// Errorf adds an error about a YAML node to the scenario's problems. The caller may still add help or a note.
func (c *Checker) Errorf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Error, quantity.Errorf(format, arguments...))
}

// Warnf adds a warning about a YAML node to the scenario's problems. The caller may still add help or a note.
func (c *Checker) Warnf(at *yaml.Node, format string, arguments ...any) *quantity.Error {
	return c.report(at, diagnostics.Warning, quantity.Errorf(format, arguments...))
}

// report adds an error or a warning, at the position of a YAML node, to the problems found in the scenario.
func (c *Checker) report(at *yaml.Node, severity diagnostics.Severity, e *quantity.Error) *quantity.Error {
	c.Problems = append(c.Problems, Problem{tree.ErrorAt(at, e), severity})
	return e
}

// Add adds the given error, at the position of a YAML node, to the problems found in the scenario.
func (c *Checker) Add(at *yaml.Node, e *quantity.Error) { c.report(at, diagnostics.Error, e) }

// AddAll adds errors, which have their positions already, to the problems found in the scenario.
func (c *Checker) AddAll(problems []*yaml.LoadError) {
	for _, p := range problems {
		c.Problems = append(c.Problems, Problem{p, diagnostics.Error})
	}
}

// Clean reports whether so far every value could be decoded and the checks found no error.
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

// Known reports whether a name is among those defined, and adds an error if not; what is the noun for it, as "storm".
func (c *Checker) Known(what string, at *yaml.Node, name string, there []NameAt) bool {
	names := plain.Distinct(plain.Map(there, func(n NameAt) string { return n.Name }))
	if slices.Contains(names, name) {
		return true
	}
	if len(c.Classes) == 0 && strings.HasPrefix(what, "job class") {
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

// Unique adds an error for each name that occurs twice.
func (c *Checker) Unique(what string, names []NameAt) {
	for i, n := range names {
		first := slices.IndexFunc(names[:i], func(earlier NameAt) bool { return earlier.Name == n.Name })
		if n.Name != "" && first >= 0 {
			c.Errorf(n.At, "two %s are named %s", what, quantity.Quote(n.Name)).Note =
				fmt.Sprintf("the first is on line %d", max(1, names[first].At.Line))
		}
	}
}

// BadName returns, as text, the mistake in a name of a class, storm, policy and the like; "" if it is valid.
func BadName(name string) string { return badName(name, "-_", "a-z, 0-9, - and _") }

// BadTitle returns, as text, the mistake in the name of a scenario, which names files; "" if it is valid.
func BadTitle(name string) string { return badName(name, "-", "a-z, 0-9 and -") }

// badName returns, as text, the mistake in a name of small letters, digits and signs; all lists these in words.
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

// BadErrorKind returns, as text, the mistake in an error kind for failing attempts, "" if it is valid. The kinds that
// the engine itself sets, for cancelled attempts and expired leases, are reserved.
func BadErrorKind(name string) string {
	if name == engine.Canceled.Name() || name == engine.LeaseExpired.Name() {
		return "it is the engine's own word, for what it does itself"
	}
	return BadName(name)
}

// BadLabel returns an error text for a policy's label that tables and charts cannot show; "" if it is valid.
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
