package results

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results/schematest"
)

// TestSchemas compares the schemas with the types written to files. Package cli checks files of a run against the
// schemas.
func TestSchemas(t *testing.T) {
	for name, v := range map[string]any{"summary": &storedSummary{}, "run": &RunInfo{}, "compare": &storedComparisons{},
		"tune": &storedTuning{}} {
		schematest.Golden(t, name+".schema.json", schematest.Build(t, "qsim "+name, v, []string{"."}, storedTypes), *rewrite)
	}
}

// storedTypes returns the JSON schema of a type that has JSON methods of its own, nil for any other.
func storedTypes(of reflect.Type, reflected func(reflect.Type) *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case of.Kind() == reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: reflected(of.Elem())}
	case of == reflect.TypeFor[Outcome]():
		return &jsonschema.Schema{Enum: []any{"", Met, Missed, Unclear}}
	}
	return nil
}
