package scenarios

import (
	"context"
	"path"
	"strings"
	"testing"

	"qsim/results"
)

// shippedSeeds are enough for every lesson: each is far larger than its interval.
const shippedSeeds = 5

// TestShippedScenariosRun runs every scenario that is part of the program, with few seeds, and wants
// its objectives to come out as the file says: what a cure is to mend misses, and the cure
// meets.
func TestShippedScenariosRun(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("hundreds of millions of events: run without the race detector")
	}
	for _, b := range Builtin() {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			name, src, err := Open(b.Name)
			if err != nil {
				t.Fatal(err)
			}
			sc, problems := Load(name, src, nil)
			if sc == nil {
				t.Fatal(problems)
			}
			sc.Seeds = min(sc.Seeds, shippedSeeds)
			if len(problems) > 0 {
				t.Errorf("warnings: %v", problems)
			}
			runs, err := Run(context.Background(), sc, Options{Parallel: 1})
			if err != nil {
				t.Fatal(err)
			}
			settings := sc.Settings()
			summary, err := results.Summarize(&settings, runs, results.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(summary.Objectives) == 0 {
				t.Error("no objectives: what does it assert?")
			}
			for i := range summary.Objectives {
				if v := &summary.Objectives[i]; v.Failed(false) {
					t.Errorf("%s of %s: %v in [%v, %v], %s: %s", v.Metric, v.Policy, v.Value, v.Low, v.High, v.Text, v.Outcome)
				}
			}
		})
	}
}

// TestIncidentsSayWhatHappened holds the files to their form: a comment on top that says
// what happened, where that is known from and what to look at, and both a variant that
// shows the trouble and one that does not.
func TestIncidentsSayWhatHappened(t *testing.T) {
	incidents := 0
	for _, b := range Builtin() {
		if !strings.HasPrefix(b.Name, "incidents/") {
			continue
		}
		incidents++
		name, src, err := Open(b.Name)
		if err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(string(src), "\nname:")
		if lines := strings.Count(comment, "\n# "); !strings.HasPrefix(comment, "# ") || lines < 3 || !strings.Contains(comment, "Source") {
			t.Errorf("%s: want a comment on top, with a Source", b.Name)
		}
		sc, problems := Load(name, src, nil)
		if sc == nil {
			t.Errorf("%s: %v", b.Name, problems)
			continue
		}
		if sc.Name != path.Base(b.Name) {
			t.Errorf("%s is named %s inside", b.Name, sc.Name)
		}
		missed, met := 0, 0
		for i := range sc.Objectives {
			if sc.Objectives[i].Expect == "missed" {
				missed++
			} else {
				met++
			}
		}
		if missed == 0 || met == 0 || len(sc.Policies) < 2 {
			t.Errorf("%s: %d policies, %d objectives to miss and %d to meet: want a variant that shows the trouble and one that does not", b.Name, len(sc.Policies), missed, met)
		}
	}
	if incidents == 0 {
		t.Error("no incidents")
	}
}
