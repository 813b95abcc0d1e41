package scenariotest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/policies"
	"qsim/scenarios/scenariotest"
)

// freshOnly claims no retries at all.
var freshOnly = policies.Kind{Name: "fresh-only", Doc: "No retries.",
	State: policies.StateNone, Cost: policies.CostNothing,
	Drawn: policies.Drawn{Never: "it starves retries"},
	New:   func(policies.Arguments) (engine.Policy, error) { return ignoring{}, nil }}

type ignoring struct{}

func (ignoring) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.Fresh, Limit: v.Idle})
}

func (ignoring) Observe(*engine.Observation) {}

// TestHeld is run by TestRun in a separate process, since some of its subtests fail.
func TestHeld(t *testing.T) {
	name := os.Getenv("HELD")
	if name == "" {
		t.Skip("it is run by TestRun")
	}
	scenariotest.Run(t, name, freshOnly)
	scenariotest.Run(t, name, freshOnly) // a second test of the same package brings the same kind
}

func TestRun(t *testing.T) {
	const base = "duration: 1m\nwarmup: 5s\nseeds: 3\nengine: {workers: 4}\n" +
		"jobs: [{class: mail, arrivals: {process: poisson, rate: 4/s}, service: 500ms, fails: {rate: 10%}}]\n"
	for _, tt := range []struct {
		name, scenario string
		fails          bool
		want           []string
	}{
		{"met", base + "objectives:\n  - {metric: fresh.wait.mean, below: 1h}\n", false,
			[]string{"--- PASS: TestHeld/fifo:_fresh.wait.mean_below_1h ",
				"--- PASS: TestHeld/fresh-only:_fresh.wait.mean_below_1h "}},
		{"missed by the kind alone", base + "objectives:\n  - {metric: unfinished.share, below: 1%}\n", true,
			[]string{"--- PASS: TestHeld/fifo:_unfinished.share_below_1% ",
				"--- FAIL: TestHeld/fresh-only:_unfinished.share_below_1% ",
				"held.yaml:7: fresh-only: unfinished.share below 1%: missed, 9.63% ±7.2%\n", "to see it: qsim run held.yaml --policy fresh-only\n"}},
		{"unclear", base + "objectives: [sojourn.mean below 1h]\npolicies: [{kind: fresh-only, label: None}]\n",
			false,
			[]string{"--- SKIP: TestHeld/None:_sojourn.mean_below_1h ", "None: sojourn.mean below 1h: unclear, "}},
		{"no objectives", base, true, []string{"held.yaml has no objectives to hold it to"}},
		{"a mistake", base + "objektives: []\n", true, []string{"unknown key", `did you mean "objectives"?`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/held.yaml", []byte(tt.scenario), 0o666); err != nil {
				t.Fatal(err)
			}
			process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHeld$", "-test.v")
			process.Dir, process.Env = dir, append(os.Environ(), "HELD=held.yaml")
			out, err := process.CombinedOutput()
			if failed := err != nil; failed != tt.fails {
				t.Errorf("failed: %t, want %t (%v)", failed, tt.fails, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("want %q in\n%s", want, out)
				}
			}
		})
	}
}
