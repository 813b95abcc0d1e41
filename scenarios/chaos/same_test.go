package chaos

import (
	"runtime"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/sim"
)

// TestSameWhoeverWatches checks that worlds have the same events with and without a checker, a history of one job, or
// more than one processor.
func TestSameWhoeverWatches(t *testing.T) {
	eager := 0
	for seed := uint64(1); seed <= 30; seed++ {
		w := Draw(seed)
		eager += strings.Count(w.Text, "eager: true")
		r := runner{}
		digest := func(checked bool, h *check.History) sim.Digest {
			report := r.once(w, checked, h)
			return report.Digest
		}
		want := digest(false, nil)
		for name, got := range map[string]sim.Digest{
			"with a checker": digest(true, nil), "with a history": digest(true, &check.History{Job: 7, Until: engine.Never}), "again": digest(false, nil),
			"with a checker that looks for one thing": func() sim.Digest {
				report := w.Run(check.Set(0).With(check.Due), false)
				return report.Digest
			}(),
		} {
			if got != want {
				t.Errorf("seed %d, %s: fingerprint %016x, want %016x", seed, name, uint64(got), uint64(want))
			}
		}
		before := runtime.GOMAXPROCS(1)
		if got := digest(true, nil); got != want {
			t.Errorf("seed %d, on one processor: fingerprint %016x, want %016x", seed, uint64(got), uint64(want))
		}
		runtime.GOMAXPROCS(before)
	}
	if eager == 0 {
		t.Error("no world commits eagerly")
	}
}

// TestNothingIsTheSameByChance checks that another seed of the same scenario gives another digest of events.
func TestNothingIsTheSameByChance(t *testing.T) {
	a := Draw(1)
	b, err := Parse("b", strings.Replace(a.Text, "seed: 1\n", "seed: 2\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	if x, y := a.Run(0, false), b.Run(0, false); x.Digest == y.Digest {
		t.Error("another seed, the same fingerprint")
	}
}
