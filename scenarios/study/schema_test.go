package study

import (
	"flag"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"qsim/results"
	"qsim/results/resultstest"
	"qsim/results/schematest"
)

var rewrite = flag.Bool("rewrite", false, "write the schema anew")

// TestSchema holds the schema to the types that are written. Package cli holds a sweep to the schema.
func TestSchema(t *testing.T) {
	special := map[reflect.Type]jsonschema.Schema{
		reflect.TypeFor[time.Duration]():   {Type: "number"},
		reflect.TypeFor[results.Outcome](): {Enum: []any{"", results.Met, results.Missed, results.Unclear}},
		reflect.TypeFor[Exposure]():        {Enum: []any{Exposed, Safe, Unsure, Immune}},
	}
	folders := []string{filepath.Join("..", "..", "results"), "."}
	for name, v := range map[string]any{"sweep": &sweepJSON{}, "doctor": &diagnosisJSON{}} {
		schema := schematest.Build(t, "qsim "+name, v, folders, special)
		resultstest.Golden(t, name+".schema.json", schema, *rewrite)
	}
}
