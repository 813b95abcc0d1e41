//go:build !race

// Simulations take ten times as long with the race detector; scripts/test runs these tests without it.

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"qsim/cmd/ui"
	"qsim/results/schematest"
)

const schemaScenario = `name: small
duration: 1m
warmup: 5s
seeds: 3
engine: {workers: 4}
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 1s}}
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 9/s}, service: {dist: exponential, mean: 200ms}, fails: {rate: 30%}}
storms: [{name: down, at: 20s, for: 10s, fail: {rate: 90%}}]
policies: [{kind: fifo}, {kind: fresh-first}]
objectives: [{metric: fresh.wait.p99, during: down, below: 1s}, {metric: jain, below: 2}]
`

// small writes schemaScenario to a file in a new folder, and returns both and qsim, which runs a command and returns its
// standard output: the test fails on exit codes beyond that of a missed objective.
func small(t *testing.T) (file, dir string, qsim func(arguments ...string) []byte) {
	dir = t.TempDir()
	file = filepath.Join(dir, "small.yaml")
	if err := os.WriteFile(file, []byte(schemaScenario), 0o666); err != nil {
		t.Fatal(err)
	}
	return file, dir, func(arguments ...string) []byte {
		t.Helper()
		var out, notes bytes.Buffer
		root := newRoot()
		root.SetArgs(arguments)
		root.SetOut(&out)
		root.SetErr(&notes)
		if exit := ui.Settle(root, root.Execute()); exit > ui.ExitMissed {
			t.Fatalf("qsim %q: exit %d\n%s", arguments, exit, &notes)
		}
		return out.Bytes()
	}
}

// TestSchemasOfResults runs commands and validates their files against the schemas, which describe every key.
// TestDoctorsCommands does so for doctor.
func TestSchemasOfResults(t *testing.T) {
	file, dir, qsim := small(t)
	run := filepath.Join(dir, "small", "latest")
	summary := qsim("run", file, "--out", dir, "--format", "json", "--quiet")
	about, err := os.ReadFile(filepath.Join(run, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		document []byte
	}{
		{"summary", summary},
		{"run", about},
		{"compare", qsim("compare", run, file, "--set", "engine.workers=3", "--max-regression", "5%", "--metric", "all", "--format", "json", "--quiet")},
		{"sweep", qsim("sweep", file, "--vary", "engine.workers=3,4", "--vary", "retry.jitter=full,none", "--out", dir, "--format", "json", "--quiet")},
		{"tune", qsim("tune", file, "--over", "engine.workers=2..6", "--smallest", "engine.workers", "--max-seeds", "20", "--out", dir, "--format", "json", "--quiet")},
		{"trace", qsim("trace", file, "--format", "json")},
		{"trace", qsim("trace", file, "--find", "dead", "--format", "json")},
		{"trace", qsim("trace", file, "--from", "20s", "--to", "30s", "--limit", "50", "--format", "json")},
	} {
		schematest.Validate(t, qsim("schema", tt.name), tt.document)
	}
}
