package world

import (
	"maps"
	"slices"
	"testing"

	"qsim/scenarios"
	"qsim/scenarios/diagnostics"
)

// smallest is a scenario with the required keys only.
const smallest = `
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 10/s}
    service: 100ms
`

// load returns the scenario of a YAML text with overrides; a warning or error fails the test.
func load(t *testing.T, text string, sets ...scenarios.Override) *scenarios.Scenario {
	t.Helper()
	sc, ds := scenarios.Load("test.yaml", []byte(text), sets)
	if len(ds) > 0 {
		t.Errorf("diagnostics:\n%s", render(t, "test.yaml", []byte(text), ds))
	}
	if sc == nil {
		t.FailNow()
	}
	return sc
}

// render returns diagnostics as the text that users see.
func render(t *testing.T, name string, src []byte, ds diagnostics.List) []byte {
	t.Helper()
	return []byte(ds.Text(name, src))
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
