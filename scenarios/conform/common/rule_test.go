package common

import (
	"math"
	"testing"
)

// runs returns one Run for each value, from which p measures that value.
func (p *Part) runs(values ...float64) (all []*Run) {
	for _, value := range values {
		r := &Run{}
		all = append(all, r)
		next := p.Value
		p.Value = func(asked *Run) float64 {
			if asked == r {
				return value
			}
			return next(asked)
		}
	}
	return all
}

// TestChanceOfTwoSeeds checks that two seeds with nearly equal differences make no rule off where runs of one seed
// differ by more, nor two that differ where those are equal. Case two is 1.96 √(0.1333 (1 + 1/4) / 2) uncertain.
func TestChanceOfTwoSeeds(t *testing.T) {
	for _, test := range []struct {
		simulated [][]float64
		want      string
		uncertain float64
	}{
		{[][]float64{{3, 3, 3, 3}, {3.01, 3.01, 3.01, 3.01}}, Off, 0},
		{[][]float64{{2.6, 3.4, 2.8, 3.2}, {2.61, 3.41, 2.81, 3.21}}, Near, .5658},
		{[][]float64{{2.69, 2.71, 2.7, 2.7}, {2.7, 2.72, 2.71, 2.71}}, Holds, .0127},
		{[][]float64{{2.8, 2.8, 2.8, 2.8}, {3.21, 3.21, 3.21, 3.21}}, Near, 2.5412},
	} {
		p := &Part{Least: .2}
		real := p.runs(2.7, 2.71)
		simulated := [][]*Run{p.runs(test.simulated[0]...), p.runs(test.simulated[1]...)}
		if v := p.judge(real, simulated, 1); v.Word != test.want || math.Abs(v.Uncertain-test.uncertain) > 1e-4 {
			t.Errorf("simulated %v: %s, difference %v ± %v, want %s ± %v", test.simulated, v.Word, v.Difference, v.Uncertain,
				test.want, test.uncertain)
		}
	}
}

// TestMoves checks that a planted fault moves a rule if the simulated figure changes by more than the tolerance.
func TestMoves(t *testing.T) {
	p := &Part{Least: .2}
	c := &sides{real: p.runs(2, 2), simulated: [][]*Run{p.runs(3, 3), p.runs(3, 3)}}
	for by, want := range map[float64]bool{0: false, .1: false, -.1: false, .3: true, -.3: true, math.NaN(): true} {
		faulty := [][]*Run{p.runs(3+by, 3+by), p.runs(3+by, 3+by)}
		if rule := (&Rule{Parts: []Part{*p}}); rule.moves(c, faulty) != want {
			t.Errorf("moved by %v: %v", by, !want)
		}
	}
	sampled := Rule{Parts: []Part{{Sample: func(*Run) []float64 { return []float64{1, 2} }}}}
	if !sampled.moves(c, c.simulated) {
		t.Error("a sample, whose fault KS finds, does not move")
	}
}

// TestRed checks that a rule which is off detects a fault, and with two seeds also a difference of twice the tolerance.
func TestRed(t *testing.T) {
	sample := func(*Run) []float64 { return nil }
	for _, test := range []struct {
		verdict Verdict
		seeds   int
		want    bool
	}{
		{Verdict{Word: Off, Part: &Part{Least: .2}}, 6, true},
		{Verdict{Word: Near, Part: &Part{Least: .2}, Difference: .5}, 2, true},
		{Verdict{Word: Near, Part: &Part{Least: .2}, Difference: -.5}, 2, true},
		{Verdict{Word: Near, Part: &Part{Least: .2}, Difference: .3}, 2, false},
		{Verdict{Word: Near, Part: &Part{Least: .2}, Difference: .5}, 6, false},
		{Verdict{Word: Near, Part: &Part{Least: .2, Sample: sample}, Difference: .5}, 2, false},
		{Verdict{Word: Near, Part: &Part{Share: .1}, Real: 9, Difference: .5}, 2, false},
	} {
		if got := test.verdict.red(test.seeds); got != test.want {
			t.Errorf("%+v with %d seeds: got %t", test.verdict, test.seeds, got)
		}
	}
}
