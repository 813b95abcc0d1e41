package results

import (
	"math"
	"testing"

	"qsim/results/measure"
)

// The sign of equivalence is shown only if the whole interval lies in the band; if neither a
// difference nor equivalence is shown, the number of seeds that would decide is.
func TestLikeness(t *testing.T) {
	for _, tt := range []struct {
		name              string
		difference, half  float64
		base              float64
		n                 int
		shown, bound      bool
		mark              string
		leastTell, atMost int
	}{
		{"forty times as much, but three seeds", 11.0, 12, .27, 3, false, false, "?", 4, 30},
		{"equal in every seed", 0, 0, 0, 5, false, false, "≈", 0, 0},
		{"equal but for the band", .01, .03, 1, 5, false, false, "≈", 0, 0},
		{"shown to differ by less than the band", .01, .005, 1, 5, true, false, "≈", 0, 0},
		{"at the edge of the band", .02, .03, 1, 5, false, false, "≈", 0, 0},
		{"no difference, a wide interval", 0, .2, 1, 5, false, false, "?", 20, 100},
		{"shown", 5, 1, 1, 5, true, false, "", 0, 0},
		{"a bound is the same as nothing", 0, 0, 1, 5, false, true, "?", 0, 0},
		{"one seed", 0, math.NaN(), 1, 1, false, false, "", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Contrast{Difference: tt.difference, Low: tt.difference - tt.half, High: tt.difference + tt.half, Shown: tt.shown}
			d.Likeness = likeness(tt.difference, tt.half, tt.base, DefaultSameWithin, tt.n, 4, tt.shown, tt.bound)
			if got := d.Mark(); got != tt.mark || d.Tell < tt.leastTell || d.Tell > tt.atMost {
				t.Errorf("%q, %d seeds would decide; want %q, %d to %d", got, d.Tell, tt.mark, tt.leastTell, tt.atMost)
			}
		})
	}
}

// A summary keeps its likeness in its file, and judges anew by another band.
func TestLikenessOfSummaries(t *testing.T) {
	s, runs := comparison(6)
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same := measure.Query{Metric: "duplicates.per10k"}
	waits := measure.Query{Metric: "fresh.wait.p99", During: "down"}
	p := &sum.Policies[1]
	if got := p.Against(same).Mark() + p.Against(waits).Mark(); got != "≈" {
		t.Errorf("the marks of no duplicates and of shorter waits are %q, want ≈ for the first only", got)
	}
	sum.FindLikeness(.99)
	if got := p.Against(waits).Mark(); got != "≈" {
		t.Errorf("within ±99 %%: %q", got)
	}
	if sum.SameWithin != .99 {
		t.Errorf("SameWithin = %v", sum.SameWithin)
	}
	back, err := ReadSummary(encoded(t, sum))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.Policies[1].Against(waits).Likeness, p.Against(waits).Likeness; got != want || back.SameWithin != sum.SameWithin {
		t.Errorf("read back %+v within %v, want %+v within %v", got, back.SameWithin, want, sum.SameWithin)
	}
}

// Bounds are printed as inclusive, and a bound of 0 as "= 0".
func TestLimits(t *testing.T) {
	for text, want := range map[string]string{
		"below 10s": "≤ 10s", "above 90%": "≥ 90%", "below 5": "≤ 5", "below 0": "= 0", "below 0s": "= 0s", "below 0.0%": "= 0.0%",
		"below 0.05": "≤ 0.05", "above 0": "≥ 0", "of an earlier version": "of an earlier version",
	} {
		v := Verdict{Text: text}
		if got := v.Limit(); got != want {
			t.Errorf("%s is printed as %s, want %s", text, got, want)
		}
	}
}
