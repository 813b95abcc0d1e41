package world

import (
	"testing"

	"qsim/engine"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// Every metric that an objective of a shipped scenario is about is a column of its table, or a line beneath it where
// all policies are alike, with the objective's goal. Runs without events have the queries and no values: no simulation is needed.
func TestColumnsOfShippedScenarios(t *testing.T) {
	objectives := 0
	for _, b := range scenarios.Builtin() {
		sc, _ := opened(t, b.Name)
		settings := Settings(sc)
		var runs []measure.Run
		for i := range settings.Policies {
			run := measure.NewCollector(&settings, i).Finish(engine.Time(settings.Duration), nil)
			run.Seed = 1
			runs = append(runs, run)
		}
		sum, err := results.Summarize(&settings, runs, results.Options{})
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		table := results.TableOf(sum)
		for i := range settings.Objectives {
			objectives++
			o := &settings.Objectives[i]
			switch c := table.Find(o.Query); {
			case c == nil:
				t.Errorf("%s: %s has no column", b.Name, o.Query)
			case c.Part != results.Gets || c.Label == "" || c.GoalText() == "":
				t.Errorf("%s: %s is the column %q, goal %q, of %s", b.Name, o.Query, c.Label, c.GoalText(), c.Part)
			}
		}
	}
	if objectives < 200 {
		t.Errorf("%d objectives were looked at", objectives)
	}
}
