package common

import "testing"

// runs gives a part one run for each of its values.
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

// Two seeds of which the differences are nearly equal by chance make no rule red where runs of one seed differ by more.
func TestChanceOfTwoSeeds(t *testing.T) {
	for _, test := range []struct {
		simulated [][]float64
		want      string
	}{
		{[][]float64{{3, 3, 3, 3}, {3.01, 3.01, 3.01, 3.01}}, Off},
		{[][]float64{{2.6, 3.4, 2.8, 3.2}, {2.61, 3.41, 2.81, 3.21}}, Near},
		{[][]float64{{2.69, 2.71, 2.7, 2.7}, {2.7, 2.72, 2.71, 2.71}}, Holds},
	} {
		p := &Part{Least: .2}
		real := p.runs(2.7, 2.71)
		simulated := [][]*Run{p.runs(test.simulated[0]...), p.runs(test.simulated[1]...)}
		if v := p.judge(real, simulated, 1); v.Word != test.want {
			t.Errorf("simulated %v: %s, difference %v ± %v, want %s", test.simulated, v.Word, v.Difference, v.Uncertain, test.want)
		}
	}
}

// A fault moves a rule by what it does to the simulated side alone.
func TestMoves(t *testing.T) {
	p := &Part{Least: .2}
	c := &sides{real: p.runs(2, 2), simulated: [][]*Run{p.runs(3, 3), p.runs(3, 3)}}
	for by, want := range map[float64]bool{0: false, .1: false, -.1: false, .3: true, -.3: true} {
		faulty := [][]*Run{p.runs(3+by, 3+by), p.runs(3+by, 3+by)}
		if rule := (&Rule{Parts: []Part{*p}}); rule.moves(c, faulty) != want {
			t.Errorf("moved by %v: %v", by, !want)
		}
	}
}
