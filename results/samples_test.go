package results

import (
	"math"
	"testing"

	"qsim/engine"
)

// TestDetectable draws samples that differ by what Detectable says, and wants the
// difference shown in about four cases of five: but for the formula's own error of 0.03 within 5 standard deviations of 2000
// draws, which a right formula misses once in a million runs.
func TestDetectable(t *testing.T) {
	const trials, cv = 2000, .1
	rand := engine.Rand{Seed: 11}
	noise, err := engine.Normal(100, 1) // far from 0: the absolute value is the value
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{5, 10, 40} {
		difference, shown := Detectable(cv, n), 0
		for trial := range trials {
			base, new := make([]float64, n), make([]float64, n)
			for i := range n {
				base[i] = 1 + cv*(noise.Sample(rand.Uniform(1, uint64(trial), uint64(i), uint16(n)))-100)
				new[i] = 1 + difference + cv*(noise.Sample(rand.Uniform(2, uint64(trial), uint64(i), uint16(n)))-100)
			}
			if Against(base, new, false).P < .05 {
				shown++
			}
		}
		if got, tolerance := float64(shown)/trials, 5*math.Sqrt(.8*.2/trials)+.03; math.Abs(got-.8) > tolerance {
			t.Errorf("n = %d: %v of the differences are shown, want 0.8 ± %.3f", n, got, tolerance)
		}
	}
}

func TestRunsToDetect(t *testing.T) {
	for _, tt := range []struct {
		cv, difference float64
		want           int
	}{{0, .05, 2}, {.01, .05, 3}, {.1, 0, 0}, {.1, -1, 0}, {math.NaN(), .05, 0}, {1000, .001, 0}} {
		got := RunsToDetect(tt.cv, tt.difference)
		if got != tt.want {
			t.Errorf("cv %v, difference %v: %d runs, want %d", tt.cv, tt.difference, got, tt.want)
		}
	}
	for _, cv := range []float64{.02, .1, .4} {
		n := RunsToDetect(cv, .05)
		if Detectable(cv, n) > .05 || n > 2 && Detectable(cv, n-1) <= .05 {
			t.Errorf("cv %v: %d is not the least number of runs", cv, n)
		}
	}
}

func TestAgainst(t *testing.T) {
	base, new := []float64{10, 20, 30, 40}, []float64{11, 21.5, 30.5, 41}
	paired, independent := Against(base, new, true), Against(base, new, false)
	if paired.Difference != 1 || independent.Difference != 1 {
		t.Errorf("differences %v and %v, want 1", paired.Difference, independent.Difference)
	}
	if !(paired.P < .05) || !(independent.P > .5) {
		t.Errorf("p = %v paired and %v not: the pairs differ much more than the two of a pair", paired.P, independent.P)
	}
	if one := Against([]float64{1}, []float64{2}, false); one.Difference != 1 || !math.IsNaN(one.P) || !math.IsNaN(one.Half) {
		t.Errorf("one value on each side: %+v", one)
	}
}
