package trace

import (
	"flag"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"qsim/results/resultstest"
	"qsim/results/schematest"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

// TestSchema compares the JSON schema of a trace with the types that are written. Package cli checks traces against it.
func TestSchema(t *testing.T) {
	span := map[reflect.Type]jsonschema.Schema{reflect.TypeFor[Span](): *schematest.NumberOrNull()}
	schema := schematest.Build(t, "qsim trace", &document{}, []string{"."}, span)
	resultstest.Golden(t, "trace.schema.json", schema, *rewrite)
}
