package chaos

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qsim/engine/check"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// TestDrawnTexts checks that a seed always draws the same text of a valid scenario, and that every kind of storm is
// drawn.
func TestDrawnTexts(t *testing.T) {
	kinds := map[string]int{}
	for seed := uint64(1); seed <= 300; seed++ {
		w := Draw(seed)
		if again := Draw(seed); again.Text != w.Text {
			t.Fatalf("seed %d is drawn as\n%s\nand as\n%s", seed, w.Text, again.Text)
		}
		if w.Seed() != seed || len(w.scenario.Policies) != 1 {
			t.Errorf("seed %d: the world has seed %d and %d policies", seed, w.Seed(), len(w.scenario.Policies))
		}
		for i := range w.scenario.Storms {
			kinds[w.scenario.Storms[i].Kind()]++
		}
		resolved, err := Parse("resolved", string(w.scenario.Resolved()))
		if err != nil {
			t.Fatal(err)
		}
		if seed <= 20 {
			if a, b := w.Run(0, false), resolved.Run(0, false); a.Digest != b.Digest {
				t.Errorf("seed %d runs differently with all keys spelled out", seed)
			}
		}
	}
	for _, kind := range scenarios.Troubles() {
		if kinds[kind] == 0 {
			t.Errorf("no storm of kind %s is ever drawn", kind)
		}
	}
	for kind := range drawers {
		if !slices.Contains(scenarios.Troubles(), kind) {
			t.Errorf("there is a drawer for storms of kind %s, which there is not", kind)
		}
	}
}

// TestOnlyWhatCanBeReckoned checks that each drawn world has a bound by which all jobs end, and that scenarios without
// one, whose jobs may never end, break no invariant.
func TestOnlyWhatCanBeReckoned(t *testing.T) {
	for seed := uint64(1); seed <= 1000; seed++ {
		if w := Draw(seed); !world.Reckons(w.scenario) {
			t.Errorf("seed %d cannot be reckoned:\n%s", seed, w.Text)
		}
	}
	for _, entry := range Catalogue {
		for _, lines := range entry.Texts {
			if !world.Reckons(with(t, base, lines).scenario) {
				t.Errorf("%s cannot be reckoned", entry.ID)
			}
		}
	}
	if testing.Short() {
		return
	}
	for _, name := range []string{"poison-kills-processes", "retry-keeps-its-old-place"} {
		text, err := os.ReadFile("../incidents/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		w, err := Parse(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if f := Replay(w); f != nil {
			t.Errorf("%s: %s", name, f.Report.String())
		}
	}
}

// TestKeptWorlds checks that the worlds in testdata/failed, which once failed, do not fail.
func TestKeptWorlds(t *testing.T) {
	files, err := filepath.Glob("testdata/failed/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "# ") {
				t.Error("it does not say what went wrong")
			}
			if f := Replay(w); f != nil {
				t.Errorf("%s\n%s", f.Report.String(), f.History)
			}
		})
	}
}

// TestWhatIsNoWorld checks that the error for a text that is no valid scenario has its line and the wrong key.
func TestWhatIsNoWorld(t *testing.T) {
	_, err := Parse("wrong.yaml", "jobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\nstorms: [{name: x, at: 1s, plague: {}}]\n")
	if err == nil || !strings.Contains(err.Error(), `wrong.yaml:2:`) || !strings.Contains(err.Error(), "plague") {
		t.Errorf("%v", err)
	}
}

// Run runs the world and checks the invariants of only, none meaning all. If twice, it compares the events with those
// of a run without a checker.
func (w *World) Run(only check.Set, twice bool) Report {
	r := runner{only: only}
	return r.run(w, twice)
}
