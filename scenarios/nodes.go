package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"

	"qsim/engine"
	"qsim/engine/quantity"
)

// lookup returns the value of key in a YAML map, or nil.
func lookup(node *yaml.Node, key string) *yaml.Node {
	if i := position(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// position returns the index of key among the content of a plain map, or -1.
func position(node *yaml.Node, key string) int {
	if node == nil || node.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// lookupAt returns the element of a YAML list with that index, or nil.
func lookupAt(node *yaml.Node, index int) *yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode || index >= len(node.Content) {
		return nil
	}
	return node.Content[index]
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// scalar returns a YAML node for a plain scalar.
func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// oneLine returns a value as YAML on one line.
func oneLine(value *yaml.Node) string {
	flow := inFlow(value)
	out, err := yaml.Dump(flow, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic("scenarios: " + err.Error()) // every value came from YAML
	}
	return strings.TrimSpace(strings.ReplaceAll(string(out), "\n", " "))
}

// place moves node and all nodes in it to the position of at.
func place(node, at *yaml.Node) {
	node.Line, node.Column = at.Line, at.Column
	for _, c := range node.Content {
		place(c, at)
	}
}

// describe returns a description of a node for its author: a map, a list, or the quoted value.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	return quantity.Quote(node.Value)
}

// errorAt returns the error e with the position of a node.
func errorAt(node *yaml.Node, e *quantity.Error) *yaml.LoadError {
	return yaml.NewLoadError(yaml.ConstructorStage, e.Message, yaml.Mark{Line: node.Line, Column: node.Column}, e)
}

// loadErrors returns the single errors joined in err.
func loadErrors(err error) []*yaml.LoadError {
	if err == nil {
		return nil
	}
	if many := (*yaml.LoadErrors)(nil); errors.As(err, &many) {
		return many.Errors
	}
	if one := (*yaml.LoadError)(nil); errors.As(err, &one) {
		return []*yaml.LoadError{one}
	}
	return []*yaml.LoadError{yaml.NewLoadError(yaml.ReaderStage, err.Error(), yaml.Mark{}, err)}
}

// closest returns the word of known most similar to word, or the only one that begins with it, or "". Of several the
// one with the same case wins.
func closest(word string, known []string) string {
	if len(word) > 64 {
		return ""
	}
	best, distance, inCase := "", 1+len(word)/3, 0
	for _, k := range known {
		d, own := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)), levenshtein.ComputeDistance(word, k)
		if d < distance || d == distance && (best == "" && len(word) > 2 || best != "" && own < inCase) {
			best, distance, inCase = k, d, own
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, k := range known {
		if strings.HasPrefix(k, strings.ToLower(word)) {
			if best != "" {
				return ""
			}
			best = k
		}
	}
	return best
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// unknownName returns the error for a name that does not exist, with the most similar name as help.
func unknownName(what, name string, names []string) *quantity.Error {
	e := quantity.Errorf("no %s is named %s", what, quantity.Quote(name))
	switch near := closest(name, names); {
	case near != "":
		e.Help = fmt.Sprintf("did you mean %q?", near)
	case len(names) > 0 && len(names) <= 12:
		var quoted []string
		for _, n := range names {
			quoted = append(quoted, quantity.Quote(n))
		}
		e.Help = "there is " + strings.Join(quoted, ", ")
	case len(names) == 0:
		e.Note = "the scenario has no " + what
	}
	return e
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// checkName returns, as text, the mistake in a name of a class, storm, policy and the like; "" if it is valid.
func checkName(name string) string {
	const most = 64
	switch {
	case name == "":
		return "it is empty"
	case len(name) > most:
		return fmt.Sprintf("it is longer than %d letters", most)
	}
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			continue
		}
		return "want only a-z, 0-9 and -"
	}
	return ""
}

// checkErrorKind returns, as text, the mistake in an error kind for failing attempts, "" if it is valid. Canceled
// attempts and those with an expired lease have not failed: the engine sets these kinds.
func checkErrorKind(name string) string {
	for _, kind := range []engine.ErrorKind{engine.Canceled, engine.LeaseExpired} {
		if name == kind.Name() {
			return "it is the engine's own word, for what it does itself"
		}
	}
	return checkName(name)
}
