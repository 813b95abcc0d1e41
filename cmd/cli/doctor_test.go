//go:build !race

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"qsim/results/schematest"
)

// TestDoctorsCommands: the JSON of qsim doctor has its schema, and the command line of every finding runs and prints
// the finding's values, without and with the cure.
func TestDoctorsCommands(t *testing.T) {
	file, dir, qsim := small(t)
	var found struct {
		Incidents []struct {
			Incident, Exposure, Command string
			Value, Cured                *float64
		}
	}
	text := qsim("doctor", file, "--seeds", "2", "--out", dir, "--format", "json", "--quiet")
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	schematest.Validate(t, qsim("schema", "doctor"), text)
	shown := 0
	for _, f := range found.Incidents {
		if f.Exposure == "does not apply" {
			continue
		}
		shown++
		var run struct{ Objectives []struct{ Value *float64 } }
		words := append(strings.Fields(f.Command)[1:], "--no-files", "--format", "json", "--quiet")
		if err := json.Unmarshal(qsim(words...), &run); err != nil {
			t.Fatal(err)
		}
		for i, want := range []*float64{f.Value, f.Cured} {
			got := run.Objectives[i].Value
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s: %s shows %v, want %v", f.Incident, f.Command, got, want)
			}
		}
	}
	if len(found.Incidents) != 37 || shown < 15 {
		t.Errorf("%d incidents, %d of them shown", len(found.Incidents), shown)
	}
}
