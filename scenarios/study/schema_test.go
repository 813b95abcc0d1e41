package study

import (
	"flag"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results"
	"qsim/results/schematest"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

// TestSchema holds the schema to the types that are written. Package cli holds a sweep to the schema.
func TestSchema(t *testing.T) {
	special := func(of reflect.Type, reflected func(reflect.Type) *jsonschema.Schema) *jsonschema.Schema {
		switch {
		case of.Kind() == reflect.Map:
			return &jsonschema.Schema{Type: "object", AdditionalProperties: reflected(of.Elem())}
		case of == reflect.TypeFor[results.Outcome]():
			return &jsonschema.Schema{Enum: []any{"", results.Met, results.Missed, results.Unclear}}
		case of == reflect.TypeFor[Exposure]():
			return &jsonschema.Schema{Enum: []any{Exposed, Safe, Unsure, Immune}}
		}
		return nil
	}
	folders := []string{filepath.Join("..", "..", "results"), "."}
	schematest.Golden(t, "sweep.schema.json", schematest.Build(t, "qsim sweep", &sweepJSON{}, folders, special), *rewrite)
	schematest.Golden(t, "doctor.schema.json", schematest.Build(t, "qsim doctor", &diagnosisJSON{}, folders, special), *rewrite)
}
