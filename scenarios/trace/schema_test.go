package trace

import (
	"flag"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results/schematest"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

// TestSchema holds the schema to the types that are written. Package cli holds traces to the schema.
func TestSchema(t *testing.T) {
	span := func(of reflect.Type, _ func(reflect.Type) *jsonschema.Schema) *jsonschema.Schema {
		if of == reflect.TypeFor[Span]() {
			return schematest.NumberOrNull()
		}
		return nil
	}
	schematest.Golden(t, "trace.schema.json", schematest.Build(t, "qsim trace", &document{}, []string{"."}, span), *rewrite)
}
