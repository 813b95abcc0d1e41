// Package scenariotest runs scenarios as Go tests, so that go test fails if a policy misses an objective:
//
//	func TestOutage(t *testing.T) { scenariotest.Run(t, "outage.yaml", queue.Polite) }
package scenariotest

import (
	"fmt"
	"slices"
	"testing"

	"qsim/policies"
	"qsim/results"
	"qsim/results/plain"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// Run simulates a scenario, a file or a built-in one, and holds every policy to the objectives: a subtest for each
// policy and objective. A missed one fails with the measured value, its 95 % interval and the command that shows it; an
// unclear one is skipped. kinds are further kinds of policies, each of which joins the policies of the scenario unless
// one of them is of that kind. Run registers kinds for the whole process, with policies.Add: a test that brings a new
// one must not run in parallel with others.
func Run(t *testing.T, scenario string, kinds ...policies.Kind) {
	t.Helper()
	sc, file := load(t, scenario, kinds)
	runs, err := world.Run(t.Context(), sc, world.Options{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	settings := world.Settings(sc)
	summary, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		t.Fatalf("summarize %s: %v", file, err)
	}
	cases := summary.Cases(false)
	if len(cases) == 0 {
		t.Fatalf("%s has no objectives to hold it to", file)
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.Policy+": "+c.Name, func(t *testing.T) {
			switch {
			case c.Failed:
				command := plain.ShellLine("qsim", "run", scenario, "--policy", c.Policy)
				t.Errorf("%s:%d: %s\nto see it: %s", file, c.Line, c, command)
			case c.Outcome == results.Unclear:
				t.Skip(c)
			}
		})
	}
}

// load registers the kinds that are new and loads the scenario with a policy of each kind.
func load(t *testing.T, name string, kinds []policies.Kind) (sc *scenarios.Scenario, file string) {
	t.Helper()
	for _, kind := range kinds {
		if slices.ContainsFunc(policies.AddedKinds(), func(k policies.Kind) bool { return k.Name == kind.Name }) {
			continue
		}
		if err := policies.Add(kind); err != nil {
			t.Fatal(err)
		}
	}
	file, src, err := scenarios.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	sc, problems := scenarios.Load(file, src, nil)
	var more []scenarios.Override
	for _, kind := range kinds {
		if sc != nil && len(sc.PoliciesNamed(kind.Name)) == 0 {
			more = append(more, scenarios.Override{Path: "policies.+", Value: fmt.Sprintf("{kind: %s}", kind.Name)})
		}
	}
	if more != nil {
		sc, problems = scenarios.Load(file, src, more)
	}
	if len(problems) > 0 {
		t.Log(problems.Text(file, src))
	}
	if sc == nil {
		t.FailNow()
	}
	return sc, file
}
