package results

import (
	"math"
	"slices"
	"testing"
)

func close(a, b, tolerance float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}

// Intervals and p values equal those that other programs compute.
func TestIntervalsAgainstReferences(t *testing.T) {
	for n, quantile := range map[int]float64{2: 12.706204736432095, 3: 4.302652729911275, 5: 2.7764451051977987, 20: 2.093024054408263, 100: 1.9842169515086827} {
		if got := halfWidth(math.Sqrt(float64(n)), n, alpha); !close(got, quantile, 1e-9) {
			t.Errorf("t quantile at %d values = %v, want %v", n, got, quantile)
		}
	}
	a, b := []float64{10.2, 9.8, 11.1, 10.4, 9.5}, []float64{10.9, 10.1, 11.9, 11.0, 10.4}
	if mean, half := Interval(a); !close(mean, 10.2, 1e-12) || !close(half, 0.7603608068958189, 1e-9) {
		t.Errorf("interval = %v ± %v", mean, half)
	}
	base, e := Estimate{Values: a}, Estimate{Values: b}
	d, _, _ := difference(&e, &base)
	if half := d.High - d.Difference; !close(d.Difference, 0.66, 1e-12) || !close(half, 0.28585251909870363, 1e-9) || !close(d.Difference-d.Low, half, 1e-12) {
		t.Errorf("paired difference = %+v", d)
	}
	student := 0.66 / 0.28585251909870363 * 2.7764451051977987
	x := student * student / (1 + student*student/4)
	if p := 1 - 0.75*math.Sqrt(x)*(1-x/12); !close(d.P, p, 1e-9) { // T₄ in closed form
		t.Errorf("p = %v, want %v", d.P, p)
	}
}

func TestIntervalsOfFewAndEqualValues(t *testing.T) {
	if mean, half := Interval([]float64{0.1}); mean != 0.1 || !math.IsNaN(half) {
		t.Errorf("one value: %v ± %v", mean, half)
	}
	if mean, half := Interval([]float64{0.1, 0.1, 0.1}); mean != 0.1 || half != 0 {
		t.Errorf("equal values: %v ± %v", mean, half)
	}
	if mean, half := Interval([]float64{math.Inf(1), math.Inf(1)}); !math.IsInf(mean, 1) || half != 0 {
		t.Errorf("infinite values: %v ± %v", mean, half)
	}
	for _, tt := range []struct {
		mean, half float64
		n          int
		want       float64
	}{{1, 0, 5, 0}, {0, 0, 5, 1}, {0, 1, 5, 1}, {1, 1, 5, 0.05}, {-1, 1, 5, 0.05}, {1, 1, 1, math.NaN()}} {
		if got := pairedP(tt.mean, tt.half, tt.n); !close(got, tt.want, 1e-9) {
			t.Errorf("p of %v ± %v = %v, want %v", tt.mean, tt.half, got, tt.want)
		}
	}
}

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.01, nan, 0.04, 0.03, 0.005, nan}, []float64{0.03, nan, 0.06, 0.06, 0.02, nan}},
		{[]float64{0.9, 0.6}, []float64{1, 1}},
		{nil, nil},
	} {
		if got := Holm(tt.p); !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return close(a, b, 1e-12) }) {
			t.Errorf("Holm(%v) = %v, want %v", tt.p, got, tt.want)
		}
	}
}

// TestSeedsNeeded checks the rounding of the number of seeds that bring ± half down to a distance, and what has none.
func TestSeedsNeeded(t *testing.T) {
	for _, tt := range []struct {
		half, distance float64
		n, want        int
	}{
		{1, 0.5, 20, 73}, {1, -0.5, 20, 73}, {1, 0.57, 20, 57}, {1, 0.1, 20, 1800}, {1, 0.0986, 20, 1900}, {1, 1, 20, 21},
		{1, 0, 20, 0}, {math.NaN(), 1, 1, 0}, {1, 1e-9, 20, 0},
	} {
		if got := seedsToReach(tt.half, tt.distance, tt.n, alpha); got != tt.want {
			t.Errorf("± %v, %v away, %d seeds: %d, want %d", tt.half, tt.distance, tt.n, got, tt.want)
		}
	}
}

// TestSeedsToReach compares the estimated number of seeds with the first one, counted up from n, that is enough.
func TestSeedsToReach(t *testing.T) {
	counted := func(half, distance float64, n int, level float64) int {
		deviation := half * math.Sqrt(float64(n)) / tQuantile(float64(n), alpha)
		for n < 3000 && halfWidth(deviation, n, level) >= math.Abs(distance) {
			n++
		}
		return n
	}
	for _, distance := range []float64{0.1, 0.3, 0.6, -0.9, 1, 1.1, 2, 10} {
		for _, n := range []int{2, 3, 5, 20, 97} {
			for _, level := range []float64{alpha, alpha / 2, alpha / 50} {
				want := roundSeeds(float64(counted(0.3, distance, n, level)), n)
				if got := seedsToReach(0.3, distance, n, level); got != want {
					t.Errorf("%v away, %d seeds, level %v: %d, want %d", distance, n, level, got, want)
				}
			}
		}
	}
	nan := math.NaN()
	for _, tt := range []struct {
		half, distance float64
		want           int
	}{{1, 0, 0}, {nan, 1, 0}, {1, nan, 0}, {1, 1e-9, 0}, {math.Inf(1), 1, 0}, {0, 1, 21}, {1, 0.0134, 98_000}, {1, 0.0132, 0}} {
		if got := seedsToReach(tt.half, tt.distance, 20, alpha); got != tt.want {
			t.Errorf("± %v, %v away: %d, want %d", tt.half, tt.distance, got, tt.want)
		}
	}
}

func TestJudge(t *testing.T) {
	nan := math.NaN()
	of := func(mean, half float64, bound string) Estimate {
		return Estimate{Mean: mean, Low: mean - half, High: mean + half, Half: half, N: 20, Bound: bound}
	}
	for _, tt := range []struct {
		name   string
		e      Estimate
		above  bool
		want   Outcome
		seeds  int
		reason string
	}{
		{"below, well", of(5, 1, ""), false, Met, 0, ""},
		{"below, to the bound", of(9, 1, ""), false, Met, 0, ""},
		{"below, across", of(9, 2, ""), false, Unclear, 73, ""},
		{"below, across, wrong side", of(11, 2, ""), false, Unclear, 73, ""},
		{"below, from the bound on", of(11, 1, ""), false, Unclear, 21, ""},
		{"below, not", of(12, 1, ""), false, Missed, 0, ""},
		{"below, at it", of(10, 2, ""), false, Unclear, 0, "the value is at the bound"},
		{"below, without spread", of(10, 0, ""), false, Met, 0, ""},
		{"above, well", of(12, 1, ""), true, Met, 0, ""},
		{"above, from the bound on", of(11, 1, ""), true, Met, 0, ""},
		{"above, not", of(5, 1, ""), true, Missed, 0, ""},
		{"above, across", of(9, 2, ""), true, Unclear, 73, ""},
		{"at least more, below", of(12, 1, ">="), false, Missed, 0, ""},
		{"at least less, below", of(5, 1, ">="), false, Unclear, 0, "the run ended too early to tell"},
		{"at least more, above", of(12, 1, ">="), true, Met, 0, ""},
		{"at least less, above", of(5, 1, ">="), true, Unclear, 0, "the run ended too early to tell"},
		{"one seed", Estimate{Mean: 5, Low: nan, High: nan, Half: nan, N: 1}, false, Unclear, 0, "one seed has no interval"},
		{"one seed of a count", Estimate{Unit: "jobs", Mean: 5, Low: nan, High: nan, Half: nan, N: 1}, false, Unclear, 0, "one seed has no interval"},
		{"one seed of a count, on the wrong side", Estimate{Unit: "jobs", Mean: 12, Low: nan, High: nan, Half: nan, N: 1}, false, Unclear, 0, "one seed has no interval"},
		{"one seed, at least more", Estimate{Mean: 12, Low: nan, High: nan, Half: nan, N: 1, Bound: ">="}, false, Unclear, 0, "one seed has no interval"},
		{"null", Estimate{Mean: nan, Reason: "no jobs"}, false, Unclear, 0, "no jobs"},
	} {
		got, seeds, reason := judge(&tt.e, tt.above, 10)
		if got != tt.want || seeds != tt.seeds || reason != tt.reason {
			t.Errorf("%s: %s, %d seeds, %q; want %s, %d, %q", tt.name, got, seeds, reason, tt.want, tt.seeds, tt.reason)
		}
	}
}

// With one seed only bounds of 0 have a verdict, met or missed.
func TestJudgeOneSeedAtZero(t *testing.T) {
	for _, tt := range []struct {
		e    Estimate
		want Outcome
	}{
		{Estimate{Unit: "jobs", N: 1}, Met}, {Estimate{Unit: "jobs", Mean: 4, N: 1}, Missed},
		{Estimate{Unit: "jobs", N: 1, Bound: ">="}, Unclear}, {Estimate{Unit: "s", N: 1}, Unclear},
	} {
		if got, _, _ := judge(&tt.e, false, 0); got != tt.want {
			t.Errorf("%v %s: %s, want %s", tt.e.Mean, tt.e.Unit, got, tt.want)
		}
	}
}

func TestFailed(t *testing.T) {
	for _, tt := range []struct {
		outcome                Outcome
		expect, strict, failed bool
	}{
		{Met, false, true, false}, {Met, true, false, true}, {Missed, false, false, true}, {Missed, true, true, false},
		{Unclear, false, false, false}, {Unclear, false, true, true}, {Unclear, true, false, false}, {Unclear, true, true, true},
	} {
		v := Verdict{Outcome: tt.outcome, Expect: tt.expect}
		if got := v.Failed(tt.strict); got != tt.failed {
			t.Errorf("%s, expect missed %v, strict %v: failed %v, want %v", tt.outcome, tt.expect, tt.strict, got, tt.failed)
		}
	}
}
