package results

import (
	"math"
	"testing"

	"qsim/engine/dist"
	"qsim/engine/keyed"
)

// TestDetectable draws samples that differ by Detectable, and requires a significant difference in about four cases of
// five: within 5 standard deviations of 2000 draws, and the formula's own error of 0.03, which a right formula misses
// once in a million runs.
func TestDetectable(t *testing.T) {
	const trials, cv = 2000, .1
	rand := keyed.Rand{Seed: 11}
	noise, err := dist.Normal(100, 1) // far from 0: the absolute value is the value
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{5, 10, 40} {
		difference, shown := Detectable(cv, n, 1), 0
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
	}{{0, .05, 4}, {.01, .05, 4}, {.02, .05, 4}, {.1, 0, 0}, {.1, -1, 0}, {math.NaN(), .05, 0}, {1000, .001, 0}} {
		got := RunsToDetect(tt.cv, tt.difference, 1)
		if got != tt.want {
			t.Errorf("cv %v, difference %v: %d runs, want %d", tt.cv, tt.difference, got, tt.want)
		}
	}
	for _, cv := range []float64{.02, .1, .4} {
		n := RunsToDetect(cv, .05, 1)
		if Detectable(cv, n, 1) > .05 || n > 4 && Detectable(cv, n-1, 1) <= .05 {
			t.Errorf("cv %v: %d is not the least number of runs", cv, n)
		}
	}
}

// TestDetectableAmong draws samples of 13 metrics, of which one differs by Detectable, and requires
// a significant difference after Holm's adjustment in about four cases of five.
func TestDetectableAmong(t *testing.T) {
	const trials, cv, n, metrics = 1000, .1, 12, 13
	rand := keyed.Rand{Seed: 12}
	noise, err := dist.Normal(100, 1)
	if err != nil {
		t.Fatal(err)
	}
	difference, shown := Detectable(cv, n, metrics), 0
	for trial := range trials {
		p := make([]float64, metrics)
		for m := range p {
			base, new := make([]float64, n), make([]float64, n)
			for i := range n {
				base[i] = 1 + cv*(noise.Sample(rand.Uniform(1, uint64(trial), uint64(i), uint16(m)))-100)
				new[i] = 1 + cv*(noise.Sample(rand.Uniform(2, uint64(trial), uint64(i), uint16(m)))-100)
				if m == 0 {
					new[i] += difference
				}
			}
			p[m] = Against(base, new, false).P
		}
		if Holm(p)[0] < .05 {
			shown++
		}
	}
	if got := float64(shown) / trials; math.Abs(got-.8) > .09 {
		t.Errorf("%v of the differences are shown, want 0.8 ± 0.09", got)
	}
}

// TestExcess compares samples a tenth higher and a tenth lower with a limit.
func TestExcess(t *testing.T) {
	base, new := []float64{1, 1.01, .99, 1}, []float64{1.1, 1.11, 1.09, 1.1}
	for _, tt := range []struct {
		base, new []float64
		factor    float64
		less      bool
		beyond    bool
	}{{base, new, 1.05, false, true}, {base, new, 1.2, false, false}, {new, base, .95, true, true}, {new, base, .8, true, false}, {base, new, .95, true, false}} {
		for _, paired := range []bool{false, true} {
			excess, p := Excess(tt.base, tt.new, tt.factor, tt.less, paired)
			if (excess > 0) != tt.beyond || (p < .05) != tt.beyond {
				t.Errorf("factor %v, less %v, paired %v: excess %v, p %v", tt.factor, tt.less, paired, excess, p)
			}
		}
	}
	if _, p := Excess([]float64{1}, []float64{2}, 1, false, false); !math.IsNaN(p) {
		t.Errorf("one value on each side: p %v", p)
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
