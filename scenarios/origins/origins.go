// Package origins lists every key of a scenario with its value and the source of the value: a line of the file, a
// preset, an override, or a default with its reason. It is what qsim explain prints.
package origins

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/policies"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// Of returns every key of a scenario that has an effect, in the order of the scenario language, with its value and the
// source of the value. sets are the overrides that the scenario was loaded with. Of keys that depend on a kind, such as
// the parameters of a distribution, only those of the chosen kind are returned.
func Of(sc *spec.Scenario, sets []spec.Override) []spec.Setting {
	plain := sc.Canonical()
	for i := range plain.Policies {
		plain.Policies[i].With = tree.AllInOrder(sc.Policies[i].With)
	}
	root := tree.Dumped(plain)
	e := explainer{sc: sc, sets: sets}
	e.walk("", &root, sc.Origin().Full)
	return e.settings
}

// OfPolicy returns the settings that policy i changes by its `with:`, in the form of Of; nil if it has no `with:`.
func OfPolicy(sc *spec.Scenario, i int, sets []spec.Override) []spec.Setting {
	v := sc.Variant(i)
	if v == sc {
		return nil
	}
	base := map[string]string{}
	for _, s := range Of(sc, sets) {
		base[s.Path] = s.Value
	}
	return slices.DeleteFunc(Of(v, sets), func(s spec.Setting) bool {
		value, there := base[s.Path]
		return there && value == s.Value
	})
}

// explainer collects the result of Of while it walks through the YAML tree of a scenario.
type explainer struct {
	sc       *spec.Scenario
	sets     []spec.Override
	settings []spec.Setting
}

// walk adds the settings in a YAML value at a path; given is the node it was decoded from, with its place in the file.
func (e *explainer) walk(path string, value, given *yaml.Node) {
	if !branches(value) {
		e.add(path, value, given)
		return
	}
	if value.Kind == yaml.SequenceNode {
		e.list(path, value, given)
		return
	}
	for key, child := range tree.Pairs(value) {
		switch name := key.Value; {
		case strings.HasPrefix(path, "jobs.") && name == "retry":
			continue // comes below, with what it stands upon
		case strings.HasSuffix(path, ".with"):
			e.add(tree.Join(path, name), child, tree.Lookup(given, name))
		default:
			e.walk(tree.Join(path, name), child, e.source(given, name))
		}
	}
	if strings.HasSuffix(path, "retry.backoff") {
		for key, own := range tree.Pairs(given) { // parameters of 0 are not dumped
			if tree.Lookup(value, key.Value) == nil {
				e.add(tree.Join(path, key.Value), own, own)
			}
		}
	}
	e.unsaid(path, value)
}

// branches reports whether the parts of a YAML value are settings of their own, as those of a map mostly are. A
// distribution, and a map of error shares, is one setting.
func branches(value *yaml.Node) bool {
	switch value.Kind {
	case yaml.MappingNode:
		block := len(value.Content) > 0 && value.Style&yaml.FlowStyle == 0
		return tree.Lookup(value, "dist") == nil && (block || tree.Lookup(value, "ahead") != nil)
	case yaml.SequenceNode:
		return len(value.Content) > 0 && value.Content[0].Kind == yaml.MappingNode
	}
	return false
}

// source returns the node in given, the file's map, that a key was decoded from: perhaps a synonym such as max-retries.
func (e *explainer) source(given *yaml.Node, key string) *yaml.Node {
	if node := tree.Lookup(given, key); node != nil {
		return node
	}
	return tree.Lookup(given, map[string]string{"max-attempts": "max-retries", "guard": "idempotent"}[key])
}

// list adds the settings of the elements of a list of maps, such as jobs, each under its name, or else its number.
func (e *explainer) list(path string, value, given *yaml.Node) {
	for i, item := range value.Content {
		name := strconv.Itoa(i + 1)
		for _, key := range reference.Tables().Lists[path].Names {
			if n := tree.Lookup(item, key); n != nil && n.Value != "" {
				name = n.Value
				break
			}
		}
		at := tree.LookupAt(given, i)
		switch path { // of which Scenario.Select may have removed some
		case "policies":
			at = e.policy(item)
		case "objectives":
			at = e.sc.Objectives[i].Node()
		}
		e.walk(tree.Join(path, name), item, at)
		if path == "jobs" {
			e.retry(tree.Join(tree.Join(path, name), "retry"), i, at)
		}
	}
}

// policy returns the YAML node with the file's positions for a policy in the scenario: the one with the same label.
func (e *explainer) policy(item *yaml.Node) *yaml.Node {
	list := tree.Lookup(e.sc.Origin().Full, "policies")
	for i := 0; tree.LookupAt(list, i) != nil; i++ {
		own := list.Content[i]
		if cmp.Or(tree.Word(own, "label"), tree.Word(own, "kind")) == tree.Word(item, "label") {
			return own
		}
	}
	return nil
}

// retry adds the retry settings of a job class, which was decoded from the map given, if it has some of its own; those
// that it has not have the source "as retry".
func (e *explainer) retry(path string, class int, given *yaml.Node) {
	whole := tree.Lookup(given, "retry")
	if whole == nil {
		return
	}
	of := e.sc.RetryOf(class)
	retry := tree.Dumped(&of)
	first := len(e.settings)
	e.walk(path, &retry, whole)
	inherited := explainer{sc: e.sc, sets: e.sets}
	inherited.walk(path, &retry, tree.Lookup(e.sc.Origin().Full, "retry"))
	for i := range e.settings[first:] {
		if s := &e.settings[first+i]; slices.Contains(inherited.settings, *s) {
			s.Origin = "as retry"
		}
	}
}

// add adds one setting: path and value, and as its source that of given, the node that the value was decoded from.
func (e *explainer) add(path string, value, given *yaml.Node) {
	e.settings = append(e.settings, spec.Setting{Path: path, Value: tree.OneLine(value), Origin: e.origin(path, given)})
}

// origin returns, in words, where a value is from: "line 5", "preset river (line 3)", "--set ...", "default: REASON".
func (e *explainer) origin(path string, node *yaml.Node) string {
	if node == nil || node.Line == 0 {
		if why := reference.Because(path); why != "" {
			return "default: " + why
		}
		return "default"
	}
	place := e.place(node)
	for _, part := range node.Content { // of a value that is one setting, as a distribution is
		if own := e.place(part); part.Line < 0 && !strings.Contains(place, own) {
			place += ", " + own
		}
	}
	if preset := e.sc.Origin().Preset[node]; preset != "" {
		return fmt.Sprintf("preset %s (%s)", preset, place)
	}
	return place
}

// place returns where a YAML node was read from, in words: "line 5", or the text of the override.
func (e *explainer) place(node *yaml.Node) string {
	switch set := -1 - node.Line; {
	case set < 0:
		return fmt.Sprintf("line %d", node.Line)
	case set < len(e.sets):
		return diagnostics.Cut(e.sets[set].String())
	}
	return "an override"
}

// unsaid adds the settings of the map at a path that value, and so the file, leaves out, each with its default.
func (e *explainer) unsaid(path string, value *yaml.Node) {
	class := e.sc.ClassIndex(strings.TrimPrefix(path, "jobs."))
	for _, k := range reference.Tables().Keys {
		dot := strings.LastIndexByte(k.Path, '.')
		if k.Unsaid == "" || k.Path == "jobs.*.idempotent" || !reference.Matches(k.Path[:dot], path) ||
			tree.Lookup(value, k.Path[dot+1:]) != nil {
			continue
		}
		own := spec.Setting{Path: tree.Join(path, k.Path[dot+1:]), Value: k.Unsaid, Origin: "default"}
		if k.Path == "jobs.*.starved-after" && class >= 0 {
			own.Value, own.Origin = spec.Duration(e.sc.Jobs[class].StarvesAfter()).String(), "default: "+k.Unsaid
		}
		e.settings = append(e.settings, own)
	}
	kind, err := policies.Find(tree.Word(value, "kind"))
	if err != nil || !strings.HasPrefix(path, "policies.") || strings.HasSuffix(path, ".with") {
		return
	}
	for _, p := range kind.Params {
		if tree.Lookup(value, p.Name) == nil {
			own := spec.Setting{Path: tree.Join(path, p.Name), Value: p.Default, Origin: "default"}
			e.settings = append(e.settings, own)
		}
	}
}
