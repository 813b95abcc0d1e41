//go:build !js

package scenarios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/scenarios/reference"
)

// The schema is made from the structs, their comments and the rules of the checker.
//
//go:generate go test -tags schema -run ^TestSchemaFile$ . -rewrite

// Schema returns the text of the JSON schema (draft 2020-12) of scenario files, for editors, with the policies
// registered in this program. Load refuses what it refuses, and more, such as unknown names. It must not be changed.
func Schema() []byte {
	added := policies.AddedKinds()
	if len(added) == 0 {
		return schema
	}
	// The definition of a policy alone is read and written again: the rest has keywords that this library does not know.
	at := bytes.Index(schema, policyAt) + len(policyAt)
	decoder := json.NewDecoder(bytes.NewReader(schema[at:]))
	var s jsonschema.Schema
	if err := decoder.Decode(&s); err != nil {
		panic("scenarios: " + err.Error()) // it is this package's own
	}
	kinds, _ := s.Properties.Get("kind")
	kinds.Enum = nil
	for _, kind := range policies.Kinds() {
		choice(kinds, kind.Name, kind.Doc)
	}
	for i := range added {
		s.AllOf = append(s.AllOf, kindSchema(&added[i]))
	}
	with, err := json.MarshalIndent(&s, "  ", " ")
	if err != nil {
		panic("scenarios: " + err.Error())
	}
	return slices.Concat(schema[:at], with, schema[at+int(decoder.InputOffset()):])
}

var policyAt = []byte("\n  \"Policy\": ")

// choice adds a word to those that a JSON schema allows as a value, with the first sentence of doc as its description.
func choice(s *jsonschema.Schema, word, doc string) {
	if s.Extras == nil {
		s.Extras = map[string]any{"enumDescriptions": []string(nil)}
	}
	doc, _, _ = strings.Cut(strings.TrimSuffix(doc, "."), ". ")
	s.Enum = append(s.Enum, word)
	s.Extras["enumDescriptions"] = append(s.Extras["enumDescriptions"].([]string), doc)
}

// kindSchema returns the JSON schema for policies of one kind: only the parameters of that kind are allowed.
func kindSchema(kind *policies.Kind) *jsonschema.Schema {
	then := &jsonschema.Schema{Properties: jsonschema.NewProperties(), PropertyNames: &jsonschema.Schema{}}
	keys := []string{"kind", "label", "with"}
	for _, p := range kind.Params {
		parameter := parameterSchema(p.Type)
		if len(p.Choices) > 0 {
			parameter.Enum = enum(p.Choices)
		}
		parameter.Description = p.Doc + "; default " + p.Default
		then.Properties.Set(p.Name, parameter)
		keys = append(keys, p.Name)
	}
	then.PropertyNames.Enum = enum(keys)
	return when("kind", kind.Name, then)
}

// parameterSchema returns the JSON schema for values of a policy parameter; typ is a Type constant of package policies.
func parameterSchema(typ string) *jsonschema.Schema {
	return map[string]*jsonschema.Schema{
		policies.TypeShare:        ref("Share"),
		policies.TypeCountOrShare: ref("CountOrShare"),
		policies.TypeDuration:     ref("Duration"),
		policies.TypeRate:         ref("Rate"),
		policies.TypeNumber:       ref("Count"),
		policies.TypeBool:         {AnyOf: []*jsonschema.Schema{{Type: "boolean"}, {Enum: []any{"true", "false"}}}},
		policies.TypeQuantum: {AnyOf: []*jsonschema.Schema{
			ref("Duration"), number("integer", 1, quantity.MostCount), {Const: "mean"}}},
		policies.TypeWeights: {Type: "object", AdditionalProperties: number("integer", 1, 1e6)},
		policies.TypeBudget: {AnyOf: []*jsonschema.Schema{
			ref("Duration"), {Type: "object", AdditionalProperties: ref("Duration")}}},
		policies.TypeChoice: {},
	}[typ]
}

// when returns a JSON schema that applies the schema then only to objects in which a key has the given value.
func when(key, value string, then *jsonschema.Schema) *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	properties.Set(key, &jsonschema.Schema{Const: value})
	return &jsonschema.Schema{If: &jsonschema.Schema{Required: []string{key}, Properties: properties}, Then: then}
}

// unsigned and the constants below are regular expressions, in the JSON schema, for numbers written as text.
const (
	unsigned = `([0-9]+\.?[0-9]*|\.[0-9]+)`
	exponent = `([eE][+-]?[0-9]+)?`
)

func ref(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: reference.DefinitionsAt + name}
}

// number returns the JSON schema of a number (JSON type kind) in [least, most]: plain, in quotes, or ending in k or M.
func number(kind string, least, most float64) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: kind, Minimum: decimalNumber(least), Maximum: decimalNumber(most)},
		{Type: "string", Pattern: "^" + unsigned + exponent + "[kM]?$"}}}
}

func decimalNumber(v float64) json.Number { return json.Number(fmt.Sprintf("%.0f", v)) }

func enum[S ~string](words []S) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}
