package results

import (
	"bytes"
	"embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"qsim/results/measure"
	"qsim/results/plain"
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

// OrNull converts a number for a JSON file: nil (null) if it is NaN or infinite.
func OrNull(v float64) *Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return new(Float(v))
}

// OrNaN converts a number from a JSON file: NaN if it is nil (null).
func OrNaN(v *Float) float64 {
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
		name, _ := encodeJSON(one.Key) // a text can always be encoded
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
	names := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(names, func(a, b string) int { return measure.Rank(a) - measure.Rank(b) })
	*list = plain.Map(names, func(name string) Member[T] { return Member[T]{name, values[name]} })
	return nil
}

// MarshalLines returns a value as JSON with line breaks between the elements of large objects and lists only, so that
// one metric or row of a table takes one line.
func MarshalLines(v any) ([]byte, error) {
	text, err := encodeJSON(v)
	if err != nil {
		return nil, err
	}
	var broken bytes.Buffer
	_ = json.Indent(&broken, text, "", "") // of valid JSON it does not fail
	lines, _, _ := folded(strings.Split(broken.String(), "\n"), 0)
	return []byte(lines + "\n"), nil
}

// encodeJSON returns a value as JSON without spaces, in which < and > are not escaped.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// folded joins the lines of the first JSON value in lines, which json.Indent has broken at every element, so that only
// large objects, lists of objects and lists of texts keep line breaks. height is the number of levels of containers in
// that value, 0 for a scalar, and rest are the lines after it. Lines are indented by depth.
func folded(lines []string, depth int) (text string, height int, rest []string) {
	text, rest = strings.TrimSuffix(lines[0], ","), lines[1:]
	last := text[len(text)-1]
	switch last {
	case '}', ']': // it is empty
		return text, 1, rest
	case '{', '[':
	default:
		return text, 0, rest
	}
	var parts []string
	spread := true
	for rest[0][0] != '}' && rest[0][0] != ']' {
		part, inner, after := folded(rest, depth+1)
		parts, height, rest = append(parts, part), max(height, inner), after
		spread = spread && (inner > 0 || last == '[' && part[0] == '"')
	}
	height++
	before, between, behind := "", ", ", strings.TrimSuffix(rest[0], ",")
	if spread || height > 3 {
		line := "\n" + strings.Repeat(" ", depth)
		before, between, behind = line+" ", ","+line+" ", line+behind
	}
	return text + before + strings.Join(parts, between) + behind, height, rest[1:]
}

// The schemas are made from the types that are written, and their comments.
//
//go:generate go test -run ^TestSchemas$ . -rewrite

//go:embed *.schema.json
var schemas embed.FS

// Schema returns the JSON schema (draft 2020-12) of a format that this package writes: summary (summary.json), run
// (run.json), compare (what MarshalComparisons returns) or tune (tune.json). It is nil for another name.
func Schema(name string) []byte {
	text, _ := schemas.ReadFile(name + ".schema.json")
	return text
}
