package trace

import (
	"flag"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results/schematest"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

// TestSchema compares the JSON schema of a trace with the types that are written. Package cli checks traces against it.
func TestSchema(t *testing.T) {
	span := func(of reflect.Type, _ func(reflect.Type) *jsonschema.Schema) *jsonschema.Schema {
		if of == reflect.TypeFor[Span]() {
			return schematest.NumberOrNull()
		}
		return nil
	}
	schematest.Golden(t, "trace.schema.json", schematest.Build(t, "qsim trace", &document{}, []string{"."}, span), *rewrite)
}
