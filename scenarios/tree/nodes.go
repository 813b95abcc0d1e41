package tree

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
)

// Lookup returns the value of key in a YAML map, or nil.
func Lookup(node *yaml.Node, key string) *yaml.Node {
	if i := Position(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// Position returns the index of the node of a key in the Content of a YAML map, or -1.
func Position(node *yaml.Node, key string) int {
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

// LookupAt returns the element of a YAML list with that index, or nil.
func LookupAt(node *yaml.Node, index int) *yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode || index >= len(node.Content) {
		return nil
	}
	return node.Content[index]
}

// Join returns the path of a key below another path, which may be empty.
func Join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// Pairs yields the keys of a YAML map with their values, and nothing for a node that is no map.
func Pairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// Copied returns a copy of a YAML node, without its children, that has the file position of another node.
func Copied(node, at *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: node.Kind, Style: node.Style, Tag: node.Tag, Value: node.Value,
		Line: at.Line, Column: at.Column}
}

// ListOf returns a YAML list of items that has the file position of a given node.
func ListOf(at *yaml.Node, items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: at.Line, Column: at.Column, Content: items}
}

// Scalar returns a YAML node for a plain scalar.
func Scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// OneLine returns a value as YAML on one line.
func OneLine(value *yaml.Node) string {
	flow := inFlow(value)
	out, err := yaml.Dump(flow, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic("tree: " + err.Error()) // every value came from YAML
	}
	return strings.TrimSpace(strings.ReplaceAll(string(out), "\n", " "))
}

// Place gives a YAML node, and all nodes in it, the file position of another node.
func Place(node, at *yaml.Node) {
	node.Line, node.Column = at.Line, at.Column
	for _, c := range node.Content {
		Place(c, at)
	}
}

// Describe returns what a YAML node is, in words for the author of the file: a map, a list, or the quoted value.
func Describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	return quantity.Quote(node.Value)
}

// Errorf returns an error about a YAML file, formatted, with the file position of the node that it is about.
func Errorf(node *yaml.Node, format string, arguments ...any) *yaml.LoadError {
	return ErrorAt(node, quantity.Errorf(format, arguments...))
}

// ErrorAt returns an error with the file position of the node that it is about.
func ErrorAt(node *yaml.Node, e *quantity.Error) *yaml.LoadError {
	return yaml.NewLoadError(yaml.ConstructorStage, e.Message, yaml.Mark{Line: node.Line, Column: node.Column}, e)
}

// Errors returns the single errors of the YAML parser that err joins; any other error is returned as one of that type.
func Errors(err error) []*yaml.LoadError {
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

// inFlow returns a copy of node in YAML's flow style, so that it fits on one line.
func inFlow(node *yaml.Node) *yaml.Node {
	flow := *node
	flow.Style = node.Style&^(yaml.LiteralStyle|yaml.FoldedStyle) | yaml.FlowStyle
	if node.Kind == yaml.ScalarNode {
		flow.Style &^= yaml.FlowStyle
		if strings.Contains(node.Value, "\n") {
			flow.Style |= yaml.DoubleQuotedStyle
		}
	}
	flow.Content = nil
	for _, child := range node.Content {
		flow.Content = append(flow.Content, inFlow(child))
	}
	return &flow
}

// Word returns the text of the value of a key in a YAML map, "" if the map lacks the key.
func Word(node *yaml.Node, key string) string {
	if value := Lookup(node, key); value != nil {
		return value.Value
	}
	return ""
}

// Plain removes quotes and other styles from a YAML node and all nodes in it; only scalars that need quotes keep them.
func Plain(node *yaml.Node) *yaml.Node {
	node.Style = 0
	for _, child := range node.Content {
		Plain(child)
	}
	return node
}

// MapOf returns a YAML map of keys and values, in turn; the map and strings among them get the file position of a node.
func MapOf(at *yaml.Node, pairs ...any) *yaml.Node {
	result := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: at.Line, Column: at.Column}
	for _, p := range pairs {
		node, isNode := p.(*yaml.Node)
		if !isNode {
			node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: p.(string), Line: at.Line, Column: at.Column}
			var number float64
			if Scalar(node.Value).Load(&number) == nil {
				node.Tag = ""
			}
		}
		result.Content = append(result.Content, node)
	}
	return result
}

// Dumped returns a Go value as a YAML node.
func Dumped(v any) yaml.Node {
	var node yaml.Node
	if err := node.Dump(v); err != nil {
		panic("tree: " + err.Error()) // every value came from YAML
	}
	if node.Kind == yaml.DocumentNode {
		node = *node.Content[0]
	}
	return node
}

// InOrder returns a copy of node without positions and styles, with sorted keys.
func InOrder(node *yaml.Node) *yaml.Node {
	plain := &yaml.Node{Kind: node.Kind, Tag: node.Tag, Value: node.Value}
	if node.Kind != yaml.MappingNode {
		for _, c := range node.Content {
			plain.Content = append(plain.Content, InOrder(c))
		}
		return plain
	}
	values := map[string]*yaml.Node{}
	for key, value := range Pairs(node) {
		values[key.Value] = InOrder(value)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		plain.Content = append(plain.Content, Scalar(key), values[key])
	}
	return plain
}

// Strict holds the decoding options that refuse unknown keys. Parse itself refuses duplicate keys: the library's search
// for them takes time quadratic in their number.
var Strict = []yaml.Option{yaml.WithKnownFields(), yaml.WithUniqueKeys(false)}

// Builtin returns a function for the value of a YAML file that is built into the program. It reads the text once, and
// panics if that is not valid.
func Builtin[T any](file string, text []byte) func() T {
	return sync.OnceValue(func() (value T) {
		node, problems := Parse(text)
		if len(problems) == 0 {
			problems = Errors(node.Load(&value, Strict...))
		}
		if len(problems) > 0 {
			panic("tree: " + file + ": " + problems[0].Error())
		}
		return value
	})
}

// AllInOrder returns a copy of a map from names to YAML nodes with each node sorted as by InOrder.
func AllInOrder(m map[string]yaml.Node) map[string]yaml.Node {
	result := maps.Clone(m)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value := m[key]
		result[key] = *InOrder(&value)
	}
	return result
}
