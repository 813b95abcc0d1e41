package results

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"qsim/results/measure"
)

// Float is a number in a JSON file. A nil *Float stands for a missing value, null.
type Float float64

// MarshalJSON returns the number in its shortest form.
func (f Float) MarshalJSON() ([]byte, error) {
	format := byte('f')
	if size := math.Abs(float64(f)); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(nil, float64(f), format, -1, 64), nil
}

// orNull returns v as a number for a JSON file, nil (null) if v is NaN or infinite.
func orNull(v float64) *Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	f := Float(v)
	return &f
}

func orNaN(v *Float) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// Object is a JSON object whose keys keep their order.
type Object[T any] []Member[T]

// Member is a key of an Object with its value.
type Member[T any] struct {
	Key   string
	Value T
}

// MarshalJSON returns the object as JSON, its keys in the order of the list.
func (list Object[T]) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range list {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := encodeJSON(one.Key)
		if err != nil {
			return nil, err
		}
		value, err := encodeJSON(one.Value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads an object whose keys are names of metrics, and sorts them in the order of the table of metrics.
func (list *Object[T]) UnmarshalJSON(text []byte) error {
	var values map[string]T
	if err := json.Unmarshal(text, &values); err != nil {
		return err
	}
	*list = nil
	names := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(names, func(a, b string) int { return measure.Rank(a) - measure.Rank(b) })
	for _, name := range names {
		*list = append(*list, Member[T]{name, values[name]})
	}
	return nil
}

// MarshalLines returns v as JSON broken into lines: each part of a large object or list is on a separate line, down to
// one metric or row a line.
func MarshalLines(v any) ([]byte, error) {
	text, err := encodeJSON(v)
	if err != nil {
		return nil, err
	}
	root, _ := parseJSON(text)
	return append(root.appendTo(nil, 0), '\n'), nil
}

// encodeJSON returns v as JSON without spaces, in which < and > are not escaped.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// jsonNode is a value of a JSON text without spaces.
type jsonNode struct {
	key    []byte // key with its quotes; nil: the value is an element of an array
	text   []byte // text of a scalar
	open   byte   // opening bracket of an object or array
	parts  []jsonNode
	height int // depth of nested containers in the value, itself included; 0: a scalar
}

// parseJSON reads one JSON value from text and returns the text after it. text must come from encodeJSON.
func parseJSON(text []byte) (n jsonNode, rest []byte) {
	if text[0] != '{' && text[0] != '[' {
		end := scalarEnd(text)
		return jsonNode{text: text[:end]}, text[end:]
	}
	n.open, n.height = text[0], 1
	for text = text[1:]; text[0] != '}' && text[0] != ']'; {
		if text[0] == ',' {
			text = text[1:]
		}
		var key []byte
		if n.open == '{' {
			end := scalarEnd(text)
			key, text = text[:end], text[end+1:]
		}
		var part jsonNode
		part, text = parseJSON(text)
		part.key = key
		n.parts, n.height = append(n.parts, part), max(n.height, 1+part.height)
	}
	return n, text[1:]
}

// scalarEnd returns the length of the JSON string, number or word at the start of text.
func scalarEnd(text []byte) int {
	if text[0] != '"' {
		if end := bytes.IndexAny(text, ",]}"); end >= 0 {
			return end
		}
		return len(text)
	}
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// spread reports whether the parts of a JSON value are put on separate lines: those of large objects, of lists of
// objects, and of lists of texts.
func (n *jsonNode) spread() bool {
	return n.height > 3 || len(n.parts) > 0 && !slices.ContainsFunc(n.parts, func(part jsonNode) bool {
		return part.open == 0 && (n.open == '{' || part.text[0] != '"')
	})
}

func (n *jsonNode) appendTo(out []byte, depth int) []byte {
	if n.key != nil {
		out = append(append(out, n.key...), ':', ' ')
	}
	if n.open == 0 {
		return append(out, n.text...)
	}
	line := func(depth int) {
		out = append(append(out, '\n'), bytes.Repeat([]byte(" "), depth)...)
	}
	out = append(out, n.open)
	spread := n.spread()
	for i := range n.parts {
		if i > 0 {
			out = append(out, ',')
		}
		if spread {
			line(depth + 1)
		} else if i > 0 {
			out = append(out, ' ')
		}
		out = n.parts[i].appendTo(out, depth+1)
	}
	if spread {
		line(depth)
	}
	return append(out, n.open+2) // the other bracket
}

// The schemas are made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchemas$ . -rewrite

//go:embed *.schema.json
var schemas embed.FS

// Schema returns the JSON schema (draft 2020-12) of a format that this package writes: summary (summary.json), run
// (run.json), compare (what MarshalComparisons returns) or tune (tune.json). It is nil for another name.
func Schema(name string) []byte {
	text, err := schemas.ReadFile(name + ".schema.json")
	if err != nil {
		return nil
	}
	return text
}
