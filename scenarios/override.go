package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/diagnostics"
	"qsim/scenarios/reference"
	"qsim/scenarios/spec"
	"qsim/scenarios/tree"
)

// Positions in the values of overrides have negative lines: -1 is the first override.

// parse parses an override's YAML value, such as {kind: fixed, delay: 60s}; index gives errors their position.
func parse(o Override, index int) (*yaml.Node, []*yaml.LoadError) {
	at, bad := position(index), ""
	switch problems := diagnostics.CheckText([]byte(o.Value)); {
	case len(o.Value) > 1<<16:
		bad = "the value is too long"
	case strings.TrimSpace(o.Value) == "":
		bad = "there is no value"
	case len(problems) > 0:
		bad = problems[0].Message
	}
	if bad != "" {
		return nil, []*yaml.LoadError{tree.ErrorAt(at, quantity.Errorf("%s", bad))}
	}
	node, problems := tree.Parse([]byte(o.Value))
	for _, p := range problems {
		p.Mark.Line, p.Mark.Column = at.Line, at.Column
	}
	if node != nil {
		tree.Place(node, at)
	}
	return node, problems
}

// namesFile reports whether an override sets a key `file`, at its path or inside its value, so that Load reads a file.
func namesFile(path string, value *yaml.Node) bool {
	if path == "file" || strings.HasSuffix(path, ".file") {
		return true
	}
	for i, child := range value.Content {
		key := ""
		if value.Kind == yaml.MappingNode && i%2 == 1 {
			key = value.Content[i-1].Value
		}
		if namesFile(key, child) {
			return true
		}
	}
	return false
}

func position(index int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Line: -1 - index, Column: 1}
}

// apply returns a copy of a scenario's YAML tree with value at a path like engine.workers; new keys are placed at at.
func apply(root, at *yaml.Node, path string, value *yaml.Node) (*yaml.Node, *quantity.Error) {
	words := strings.Split(path, ".")
	if slices.Contains(words, "") && words[0] != "policies" { // whose labels may end with a dot
		return nil, quantity.Errorf("bad path %s: a part of it is empty", quantity.Quote(path))
	}
	if len(words) > tree.MostDepth {
		return nil, quantity.Errorf("bad path %s: it is too deep", quantity.Quote(path))
	}
	return applyAt(root, at, nil, words, value)
}

func applyAt(node, at *yaml.Node, done, path []string, value *yaml.Node) (*yaml.Node, *quantity.Error) {
	if len(path) == 0 {
		return tree.MergedAt(strings.Join(done[max(0, len(done)-1):], ""), node, value), nil
	}
	if len(done) == 3 && done[0] == "policies" && done[2] == "with" {
		path = []string{strings.Join(path, ".")} // the keys of that map are paths
	}
	if node != nil && node.Kind == yaml.SequenceNode {
		return applyInList(node, at, done, path, value)
	}
	if len(done) == 1 && done[0] == "policies" && path[0] == another {
		fifo := tree.ListOf(at, tree.MapOf(at, "kind", "fifo"))
		return applyInList(fifo, at, done, path, value) // beside the default
	}
	if len(done) == 1 && reference.Tables().Lists[done[0]].Names != nil {
		return nil, quantity.Errorf("the scenario has no %s", done[0])
	}
	child, e := applyAt(tree.Lookup(node, path[0]), at, append(done, path[0]), path[1:], value)
	if e != nil {
		return nil, e
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[0], Line: at.Line, Column: at.Column}
	over := tree.MapOf(at, key, child)
	if node == nil || node.Kind != yaml.MappingNode {
		return over, nil
	}
	if len(path) == 1 {
		over.Line, over.Column = node.Line, node.Column
	}
	return tree.Merged(node, over), nil
}

// another is the last word of an override's path that appends an element to a list: --set policies.+=weighted.
const another = "+"

func applyInList(list, at *yaml.Node, done, path []string, value *yaml.Node) (*yaml.Node, *quantity.Error) {
	name := strings.Join(done, ".")
	keys := reference.Tables().Lists[name].Names
	if keys == nil {
		return nil, quantity.Errorf("%s is a list: override it as a whole", name)
	}
	if len(path) == 1 && path[0] == another {
		result := *list
		result.Content = append(append([]*yaml.Node(nil), list.Content...), value)
		return &result, nil
	}
	var names []string
	var named []int // indexes of the elements with these names
	for _, key := range keys {
		for i, item := range list.Content {
			if n := tree.Lookup(item, key); n != nil {
				names, named = append(names, n.Value), append(named, i)
			}
		}
	}
	path = reference.WithName(path, names)
	first := slices.Index(names, path[0])
	if first < 0 {
		return nil, reference.UnknownName(reference.Tables().Lists[name].Noun, path[0], names)
	}
	result, i := *list, named[first]
	result.Content = slices.Clone(list.Content)
	if len(path) == 1 && name == "storms" && value.Value == noStorm {
		result.Content = slices.Delete(result.Content, i, i+1)
		return &result, nil
	}
	element, e := applyAt(list.Content[i], at, append(done, path[0]), path[1:], value)
	if e != nil {
		return nil, e
	}
	result.Content[i] = element
	return &result, nil
}

// noStorm is the value of an override that removes a storm from the scenario: --set storms.NAME=none.
const noStorm = "none"

// withoutObjectives returns a scenario's YAML tree without the objectives during or after a storm that an override has
// removed, and two numbers: gone, objectives dropped, out of of, objectives before.
func withoutObjectives(given, at *yaml.Node, storm string) (rest *yaml.Node, gone, of int) {
	list := tree.Lookup(given, "objectives")
	if list == nil || list.Kind != yaml.SequenceNode {
		return given, 0, 0
	}
	kept := *list
	kept.Content = slices.DeleteFunc(slices.Clone(list.Content), func(o *yaml.Node) bool {
		return tree.Word(o, "during") == storm || tree.Word(o, "after") == storm
	})
	rest = tree.Merged(given, tree.MapOf(at, "objectives", &kept))
	return rest, len(list.Content) - len(kept.Content), len(list.Content)
}

// overridable lists the top-level keys of a scenario into which the paths in a policy's `with:` may lead.
var overridable = []string{"engine", "retry", "dependencies", "jobs", "storms"}

// withPolicy returns a scenario's YAML tree with the `with:` of one policy applied, in the order of spec.ComparePaths,
// so that the order in the file does not matter. Wrong overrides are skipped and returned as errors.
func withPolicy(given *yaml.Node, index int) (*yaml.Node, []*yaml.LoadError) {
	list := tree.Lookup(given, "policies")
	if list == nil || list.Kind != yaml.SequenceNode || index >= len(list.Content) {
		return given, nil
	}
	with := tree.Lookup(list.Content[index], "with")
	if with == nil || with.Kind != yaml.MappingNode {
		return given, nil
	}
	entries := slices.Collect(slices.Chunk(with.Content, 2))
	slices.SortStableFunc(entries, func(a, b []*yaml.Node) int { return spec.ComparePaths(a[0].Value, b[0].Value) })
	var problems []*yaml.LoadError
	for _, entry := range entries {
		next, bad := given, notForPolicy(entry[0].Value, entry[1])
		if bad == nil {
			next, bad = apply(given, entry[0], entry[0].Value, entry[1])
		}
		if bad != nil {
			problems = append(problems, tree.ErrorAt(entry[0], bad))
			continue
		}
		given = next
	}
	return given, problems
}

// notForPolicy returns an error if a policy's `with:` may not contain an override: of a key outside overridable, or one
// that renames, adds or removes classes or storms, since policies must be compared on the same jobs. Otherwise nil.
func notForPolicy(path string, value *yaml.Node) *quantity.Error {
	words := strings.Split(path, ".")
	if !slices.Contains(overridable, words[0]) {
		bad := quantity.Errorf("a policy cannot override %s", quantity.Quote(path))
		bad.Help = "want a path into " + quantity.OrList(overridable) + ", such as retry.jitter"
		if near := plain.Nearest(words[0], overridable); near != "" {
			bad.Help = fmt.Sprintf("did you mean %q?", near+strings.TrimPrefix(path, words[0]))
		}
		return bad
	}
	keys := reference.Tables().Lists[words[0]].Names
	if keys == nil {
		return nil
	}
	key, sets := keys[0], func(key string) bool {
		return len(words) == 2 && tree.Lookup(value, key) != nil || len(words) == 3 && words[2] == key
	}
	switch {
	case len(words) == 1:
		e := quantity.Errorf("a policy cannot replace all of %s", words[0])
		e.Help = fmt.Sprintf("name one of them, such as %s.NAME.KEY", words[0])
		return e
	case len(words) == 2 && value.Kind != yaml.MappingNode:
		return quantity.Errorf("want a map of keys for %s, not %s", quantity.Quote(path), tree.Describe(value))
	case words[0] == "jobs" && sets("starved-after"):
		return quantity.Errorf("a policy cannot change when jobs starve: it is the same under all")
	case sets(key):
		return quantity.Errorf("a policy cannot rename a %s", reference.Tables().Lists[words[0]].Noun)
	}
	return nil
}
