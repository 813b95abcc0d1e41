package results

import (
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results/schematest"
)

// TestSchemas compares the schemas with the types written to files. Package cli checks files of a run against the
// schemas.
func TestSchemas(t *testing.T) {
	for name, v := range map[string]any{"summary": &storedSummary{}, "run": &RunInfo{}, "compare": &storedComparisons{},
		"tune": &storedTuning{}} {
		schematest.Golden(t, name+".schema.json", schematest.Build(t, "qsim "+name, v, ".", storedTypes), *rewrite)
	}
}

// storedTypes are the schemas of types that write themselves.
func storedTypes(of reflect.Type, reflected func(reflect.Type) *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case strings.HasPrefix(of.Name(), "Object["):
		one, _ := of.Elem().FieldByName("Value")
		return &jsonschema.Schema{Type: "object", AdditionalProperties: reflected(one.Type)}
	case of == reflect.TypeFor[Float]():
		return schematest.NumberOrNull()
	case of == reflect.TypeFor[valuesOrNull]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "array", Items: &jsonschema.Schema{Type: "string"}}, {Type: "null"}}}
	case of == reflect.TypeFor[Outcome]():
		return &jsonschema.Schema{Enum: []any{"", Met, Missed, Unclear}}
	}
	return nil
}
