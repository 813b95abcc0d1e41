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

// Lookup returns the value of a key in a YAML map; nil if the map lacks the key, or the node is nil or no map.
func Lookup(node *yaml.Node, key string) *yaml.Node {
	if i := Position(node, key); i >= 0 {
		return node.Content[i+1]
	}
	return nil
}

// Position returns the index of a key's node in the Content of a YAML map, its value being the next; -1: no such key.
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

// LookupAt returns the element of a YAML list at an index; nil if it is too short, or the node is nil or no list.
func LookupAt(node *yaml.Node, index int) *yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode || index >= len(node.Content) {
		return nil
	}
	return node.Content[index]
}

// Join returns path and key with a dot between them, such as engine.workers; key alone if path is "".
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

// Copied returns a copy of a YAML node, without its children, at the file position of another node, at.
func Copied(node, at *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: node.Kind, Style: node.Style, Tag: node.Tag, Value: node.Value,
		Line: at.Line, Column: at.Column}
}

// ListOf returns a YAML list of the given items, at the file position of a node.
func ListOf(at *yaml.Node, items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: at.Line, Column: at.Column, Content: items}
}

// Scalar returns a YAML scalar of that text, without a position or quotes.
func Scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// OneLine returns a YAML node as text on one line, such as {kind: fixed, delay: 60s}.
func OneLine(value *yaml.Node) string {
	flow := inFlow(value)
	out, err := yaml.Dump(flow, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		panic("tree: " + err.Error()) // every value came from YAML
	}
	return strings.TrimSpace(strings.ReplaceAll(string(out), "\n", " "))
}

// Place sets the file position of a YAML node, and of all nodes in it, to that of another node, at.
func Place(node, at *yaml.Node) {
	node.Line, node.Column = at.Line, at.Column
	for _, c := range node.Content {
		Place(c, at)
	}
}

// Describe returns what a YAML node is, for an error text: "a map", "a list", or a scalar's text in quotes.
func Describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	return quantity.Quote(node.Value)
}

// Errorf returns an error with formatted text and the file position of the YAML node that it is about.
func Errorf(node *yaml.Node, format string, arguments ...any) *yaml.LoadError {
	return ErrorAt(node, quantity.Errorf(format, arguments...))
}

// ErrorAt returns the error e, which it wraps, with the file position of the YAML node that it is about.
func ErrorAt(node *yaml.Node, e *quantity.Error) *yaml.LoadError {
	return yaml.NewLoadError(yaml.ConstructorStage, e.Message, yaml.Mark{Line: node.Line, Column: node.Column}, e)
}

// Errors returns the errors that err, from the YAML library, joins; any other error becomes one without a position.
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

// inFlow returns a deep copy of a YAML node in flow style, {} and [], so that its text fits on one line.
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

// Word returns the text of a key's value in a YAML map; "" if the map lacks the key or its value is a map or list.
func Word(node *yaml.Node, key string) string {
	if value := Lookup(node, key); value != nil {
		return value.Value
	}
	return ""
}

// Plain removes, in place, quotes and flow style from a YAML node and all nodes in it, for output in the usual style.
func Plain(node *yaml.Node) *yaml.Node {
	node.Style = 0
	for _, child := range node.Content {
		Plain(child)
	}
	return node
}

// MapOf returns a YAML map at the file position of at, of keys and values in turn: nodes, or strings placed there too.
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

// Dumped returns the YAML node, without positions, that a Go value is encoded to.
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

// InOrder returns a deep copy of a YAML node with sorted keys and no positions or styles: equal values, equal text.
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

// Strict holds the YAML library's options for decoding a tree from Parse: an unknown key is an error, a duplicate none.
var Strict = []yaml.Option{yaml.WithKnownFields(), yaml.WithUniqueKeys(false)}

// Builtin returns a function that returns the value decoded from the text of a YAML file embedded in the program. The
// text is parsed at the first call, which panics if it is not valid; file is its name, for the panic.
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

// AllInOrder returns a copy of a map, each of whose YAML nodes is sorted as by InOrder.
func AllInOrder(m map[string]yaml.Node) map[string]yaml.Node {
	result := maps.Clone(m)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value := m[key]
		result[key] = *InOrder(&value)
	}
	return result
}
