package results

import (
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"qsim/results/resultstest"
	"qsim/results/schematest"
)

// TestSchemas compares the schemas with the types written to files. Package cli checks files of a run against the
// schemas.
func TestSchemas(t *testing.T) {
	special := map[reflect.Type]jsonschema.Schema{
		reflect.TypeFor[time.Duration](): {Type: "number"},
		reflect.TypeFor[Outcome]():       {Enum: []any{"", Met, Missed, Unclear}},
	}
	for name, v := range map[string]any{"summary": &storedSummary{}, "run": &RunInfo{}, "compare": &storedComparisons{},
		"tune": &storedTuning{}} {
		schema := schematest.Build(t, "qsim "+name, v, []string{"."}, special)
		resultstest.Golden(t, name+".schema.json", schema, *rewrite)
	}
}
