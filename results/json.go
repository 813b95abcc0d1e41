package results

import (
	"embed"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// inFiles are the options of JSON files: a number that is NaN or infinite is null, and the keys of maps are sorted.
var inFiles = json.JoinOptions(
	json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
	json.WithMarshalers(json.MarshalToFunc(func(to *jsontext.Encoder, v float64) error {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return to.WriteToken(jsontext.Null)
		}
		return json.SkipFunc
	})),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(func(from *jsontext.Decoder, v *float64) error {
			if from.PeekKind() != jsontext.Null.Kind() {
				return json.SkipFunc
			}
			*v = math.NaN()
			return from.SkipValue()
		}),
		json.UnmarshalFromFunc(func(from *jsontext.Decoder, v *time.Duration) error { // seconds, which may have an exponent
			if from.PeekKind() != '0' {
				return json.SkipFunc
			}
			text, _ := from.ReadValue()
			seconds, err := strconv.ParseFloat(string(text), 64)
			*v = time.Duration(math.Round(seconds * 1e9))
			return err
		}),
		preset(noEstimate), preset(storedFiltered{Estimate: noEstimate}), preset(noContrast),
		preset(storedVerdict{Verdict: Verdict{Value: noEstimate.Mean, Low: noEstimate.Low, High: noEstimate.High}}),
	)))

// preset returns an unmarshaler that begins every value of a type with v: a key that is missing leaves its part of v.
func preset[T any](v T) *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(_ *jsontext.Decoder, to *T) error {
		*to = v
		return json.SkipFunc
	})
}

// MarshalLines returns a value as JSON with line breaks between the elements of large objects and lists only, so that
// one metric or row of a table takes one line.
func MarshalLines(v any) ([]byte, error) {
	text, err := json.Marshal(v, inFiles, jsontext.WithIndent(""))
	if err != nil {
		return nil, err
	}
	lines, _, _ := folded(strings.Split(string(text), "\n"), 0)
	return []byte(lines + "\n"), nil
}

// folded joins the lines of the first JSON value in lines, broken at every element, so that only
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

// Schemas holds the JSON schemas (draft 2020-12) of what this package writes, NAME.schema.json for each: summary, run,
// compare (what MarshalComparisons returns) and tune. They are made from the types written, and their comments.
//
//go:generate go test -run ^TestSchemas$ . -rewrite
//go:embed *.schema.json
var Schemas embed.FS
