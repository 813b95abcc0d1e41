package scenarios

import (
	"reflect"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/policies"
)

// durationText and the constants below are regular expressions for values as scenario files write them.
const (
	durationText = `\+?(` + unsigned + `(ns|us|µs|μs|ms|s|m|h))+`
	rateText     = `\+?` + unsigned + exponent + `[kM]? */ *[smh]`
	shareText    = `\+?(0*100(\.0*)?|0*[0-9]{1,2}(\.[0-9]*)?|\.[0-9]+)` + exponent + ` *%`
	addendText   = `\+` + durationText + `(\*n)?(/` + durationText + `)?(\*n)?`
	nameText     = `[a-z0-9_-]{1,64}`
	nothingAtAll = `^[^1-9]*$` // a duration without any digit but 0

)

func text(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: "^" + pattern + "$"}
}

func anyOf(some ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{AnyOf: some} }

// valueSchemas returns JSON schemas, by Go type, of values that are written as text, such as durations.
func valueSchemas() map[string]*jsonschema.Schema {
	unlimited := &jsonschema.Schema{Const: "unlimited"}
	positive := number("number", 0, 1e6)
	positive.AnyOf[0].Minimum, positive.AnyOf[0].ExclusiveMinimum = "", "0"
	one := uint64(1)
	return map[string]*jsonschema.Schema{
		"Duration":     explained(text(durationText), "want a duration with its unit, such as 500ms, 30s or 1h30m"),
		"Offset":       explained(text(`[+-]?`+durationText), "want a duration with its unit, and a minus sign if it is back: 30s, -30s"),
		"Rate":         explained(text(rateText), "want a rate: so many per second, minute or hour, such as 30/s"),
		"Share":        explained(text(shareText), "want a share between 0% and 100%, such as 20%"),
		"Count":        number("integer", 0, quantity.MostCount),
		"CountOrShare": anyOf(ref("Count"), ref("Share")),
		"Nodes":        anyOf(ref("Count"), ref("Share"), &jsonschema.Schema{Const: "that"}, &jsonschema.Schema{Type: "array", Items: ref("Count")}),
		"Attempts":     anyOf(number("integer", 1, quantity.MostAttempts), unlimited),
		"Limit":        anyOf(number("integer", 0, quantity.MostAttempts), unlimited),
		"Number":       number("number", 0, 1e6),
		"Factor":       positive,
		"Bound":        anyOf(number("number", 0, 1e18), ref("Duration"), ref("Share"), ref("Rate")),
		"Jitter":       anyOf(&jsonschema.Schema{Enum: enum(policies.JitterWords())}, text(`(±|\+-|\+/-|\+|-) *`+shareText), text(addendText)),
		"Wake":         {Enum: []any{true, false, "true", "false", "one", "all"}},
		"ErrorShares":  {Type: "object", MinProperties: &one, PropertyNames: text(nameText), AdditionalProperties: ref("Share")},
		"Distribution": anyOf(ref("Duration"), ref("DistributionMap")),
	}
}

// explained returns s with the message that an editor shows for a value that s rejects.
func explained(s *jsonschema.Schema, message string) *jsonschema.Schema {
	s.Extras = map[string]any{"errorMessage": message, "patternErrorMessage": message}
	return s
}

// mapType returns the JSON schema of a Go type that is no plain struct, nil for others: a hook of the schema library.
func mapType(t reflect.Type) *jsonschema.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() {
		return &jsonschema.Schema{} // whoever has one says what it holds
	}
	if valueSchemas()[t.Name()] != nil {
		return ref(t.Name())
	}
	if words, ok := reflect.Zero(t).Interface().(interface{ Words() []string }); ok {
		return &jsonschema.Schema{Enum: enum(words.Words())}
	}
	return nil
}
