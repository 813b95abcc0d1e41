package dist

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"qsim/engine/keyed"
)

// mustDist returns d, of parameters that are known to be good.
func mustDist(d Dist, err error) Dist {
	if err != nil {
		panic(err)
	}
	return d
}

// testDraws are numbers in both tails, at the ends of the table, and across the body.
func testDraws() []float64 {
	us := []float64{1e-300, 1e-100, 1e-30, 1e-15, 1e-12, 1e-9, 1e-6, 0.5, math.Nextafter(0.5, 0), math.Nextafter(0.5, 1)}
	for _, u := range []float64{tableStart, 0x1p-12, 0x1p-5, 0.25, 0.001, 0.01, 0.1, 0.3, 0.4, 0.45, 0.49999} {
		us = append(us, u, math.Nextafter(u, 0), math.Nextafter(u, 1), 1-u, 1-u+0x1p-53, 1-u-0x1p-53)
	}
	us = append(us, 1-1e-6, 1-1e-9, 1-1e-12, 1-0x1p-52, 1-0x1p-53)
	for i := range 499 {
		us = append(us, (float64(i)+0.5)/499)
	}
	return us
}

func TestDistAgreesWithGonum(t *testing.T) {
	for _, tt := range slices.Concat(closedFormCases(), searchedCases()) {
		t.Run(tt.name, func(t *testing.T) {
			scale := tt.quantile(0.5)
			if c := tt.dist.curve; c != nil {
				scale = c.unit
			}
			for _, u := range testDraws() {
				got, want := tt.dist.Sample(u), tt.quantile(u)
				allowed := 1e-6
				if u < tableStart || u > 1-tableStart {
					allowed = 1e-9
				}
				if math.Abs(got-want) > allowed*math.Max(want, 1e-12*scale) {
					t.Errorf("Sample(%v) = %v, want %v: relative error %.1e", u, got, want, got/want-1)
				}
			}
		})
	}
}

// Random parameters, the table against the exact function it was built from.
func TestTableAgreesWithExactFunction(t *testing.T) {
	r := keyed.Rand{Seed: 1}
	draw := func(i int, n uint16, low, high float64) float64 { // evenly over the logarithm
		return low * math.Pow(high/low, r.Uniform(keyed.ForChaos, uint64(i), 0, n))
	}
	for i := range 8 {
		dists := []Dist{
			mustDist(LogNormalMeanCV(draw(i, 0, 1e-9, 1e9), draw(i, 1, 1e-6, 1000))),
			mustDist(Gamma(draw(i, 2, 1e-9, 1e9), draw(i, 3, 0.01, 30))),
			mustDist(Weibull(draw(i, 4, 1e-9, 1e9), draw(i, 5, 0.05, 1000))),
			mustDist(Pareto(draw(i, 6, 1e-9, 1e9), draw(i, 7, 0.1, 1000))),
			mustDist(HyperExponential(draw(i, 8, 1e-9, 1e9), draw(i, 9, 1, 1000))),
			mustDist(Normal(draw(i, 10, 1e-3, 1e2), 1)),
		}
		for _, d := range dists {
			for n := range uint16(300) {
				u := r.Uniform(keyed.ForRunTime, uint64(i), 0, n)
				got, want := d.Sample(u), d.curve.sampleExactly(u)
				if math.Abs(got-want) > 1e-6*math.Max(want, 1e-12*d.curve.unit) {
					t.Fatalf("%v: Sample(%v) = %v, exactly %v", d, u, got, want)
				}
			}
		}
	}
}

// Neighbouring numbers at the joins of cells, of the two halves and of table and
// tails, and at random places: rounding must not turn the curve back by one bit.
func TestSampleDoesNotFall(t *testing.T) {
	r := keyed.Rand{Seed: 3}
	for _, tt := range allDists() {
		t.Run(tt.name, func(t *testing.T) {
			var starts []float64
			for e := 1; e <= 20; e++ { // every cell of the coarsest table, every fourth of the finest
				for j := range 32 {
					tail := math.Ldexp(1+float64(j)/32, -e)
					starts = append(starts, tail, 1-tail)
				}
			}
			for n := range uint16(100) {
				u := r.Uniform(keyed.ForRunTime, 1, 1, n)
				starts = append(starts, u, math.Ldexp(u, -20), math.Ldexp(u, -300), 1-math.Ldexp(u, -20))
			}
			for _, u := range starts {
				for _, step := range []float64{0, 0x1p-38, 0x1p-36} { // in units of u; 0: the next number
					expectRising(t, tt.dist, u, step)
				}
			}
			before := 0.0
			for i := range 2000 {
				if y := tt.dist.Sample((float64(i) + 0.5) / 2000); y < before {
					t.Fatalf("Sample falls from %v to %v at step %d of 2000", before, y, i)
				} else {
					before = y
				}
			}
		})
	}
}

// expectRising walks eight steps from four below u to four above.
func expectRising(t *testing.T, d Dist, u, step float64) {
	t.Helper()
	at := u * (1 - 4*step)
	for range 4 {
		if step == 0 {
			at = math.Nextafter(at, 0)
		}
	}
	before := d.Sample(at)
	for range 8 {
		next := at + u*step
		if step == 0 {
			next = math.Nextafter(at, 2)
		}
		y := d.Sample(next)
		if y < before {
			t.Fatalf("Sample(%v) = %v, but Sample(%v) = %v", at, before, next, y)
		}
		at, before = next, y
	}
}

func TestSampleIsFiniteAndNotNegative(t *testing.T) {
	outside := []float64{0, 1, -1, 2, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e-310, math.Copysign(0, -1)}
	for _, tt := range allDists() {
		t.Run(tt.name, func(t *testing.T) {
			us := testDraws()
			if tt.dist.curve != nil {
				us = append(us, outside...)
			}
			for _, u := range us {
				if y := tt.dist.Sample(u); math.Signbit(y) || !(y <= math.MaxFloat64) {
					t.Errorf("Sample(%v) = %v", u, y)
				}
				if y := tt.dist.Duration(u); y < 0 || y > LongestDraw {
					t.Errorf("Duration(%v) = %v", u, y)
				}
			}
		})
	}
}

// The mean over the midpoints of 2^18 equal strata. What the outermost strata miss is
// largest for heavy tails, so each case states what it allows.
func TestMeanMatchesSamples(t *testing.T) {
	tests := []struct {
		name    string
		dist    Dist
		allowed float64
	}{
		{"constant", mustDist(Constant(3)), 1e-12},
		{"uniform", mustDist(Uniform(1, 4)), 1e-9},
		{"exponential", mustDist(Exponential(0.02)), 4e-6},
		{"lognormal cv", mustDist(LogNormalMeanCV(0.4, 0.8)), 4e-5},
		{"lognormal quantiles", mustDist(LogNormalQuantiles(0.4, 1.5)), 4e-5},
		{"normal", mustDist(Normal(0.010, 0.002)), 4e-6},
		{"normal near 0", mustDist(Normal(1, 1)), 4e-6},
		{"half-normal", mustDist(Normal(0, 1)), 4e-6},
		{"gamma", mustDist(Gamma(2, 0.5)), 4e-6},
		{"gamma wide", mustDist(Gamma(2, 3)), 4e-5},
		{"erlang", mustDist(Erlang(3, 5)), 4e-6},
		{"weibull", mustDist(Weibull(1, 0.7)), 4e-5},
		{"pareto", mustDist(Pareto(1, 3)), 1e-4},
		{"hyperexponential", mustDist(HyperExponential(1, 3)), 4e-5},
		{"empirical", mustDist(Empirical([]float64{5, 1, 2, 8})), 1e-12},
	}
	const strata = 1 << 18
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sum := 0.0
			for i := range strata {
				sum += tt.dist.Sample((float64(i) + 0.5) / strata)
			}
			if got, want := sum/strata, tt.dist.Mean(); math.Abs(got/want-1) > tt.allowed {
				t.Errorf("mean of samples %v, Mean() %v: relative difference %.1e", got, want, got/want-1)
			}
		})
	}
}

func TestMeanOfHeavyParetoIsInfinite(t *testing.T) {
	if got := mustDist(Pareto(1, 1)).Mean(); !math.IsInf(got, 1) {
		t.Errorf("got %v, want +Inf", got)
	}
}

func TestEmpiricalDrawsEachValueEquallyOften(t *testing.T) {
	values := []float64{30, 10, 20, 20}
	d := mustDist(Empirical(values))
	values[0] = 99 // it keeps a copy
	tests := []struct{ u, want float64 }{
		{1e-300, 10}, {0.25, 10}, {0.2500001, 20}, {0.5, 20}, {0.75, 20}, {0.7500001, 30}, {1 - 0x1p-53, 30},
	}
	for _, tt := range tests {
		if got := d.Sample(tt.u); got != tt.want {
			t.Errorf("Sample(%v) = %v, want %v", tt.u, got, tt.want)
		}
	}
	if d.Mean() != 20 {
		t.Errorf("mean %v, want 20", d.Mean())
	}
}

func TestDurationRoundsAndClamps(t *testing.T) {
	tests := []struct {
		seconds float64
		want    time.Duration
	}{
		{0, 0},
		{0.4e-9, 0},
		{0.6e-9, 1},
		{1.5, 1500 * time.Millisecond},
		{0.1, 100 * time.Millisecond},
		{4_000.123456789, 4_000_123_456_789},
		{86400 * 365 * 99, 99 * 365 * 24 * time.Hour},
		{86400 * 365 * 100, LongestDraw},
		{1e100, LongestDraw},
	}
	for _, tt := range tests {
		if got := mustDist(Constant(tt.seconds)).Duration(0.5); got != tt.want {
			t.Errorf("Duration of %v s = %d, want %d", tt.seconds, got, tt.want)
		}
	}
}

func TestSampleDoesNotAllocate(t *testing.T) {
	for _, tt := range allDists() {
		sum := 0.0
		n := testing.AllocsPerRun(100, func() {
			for _, u := range [...]float64{1e-12, 0.3, 0.7, 1 - 1e-12} {
				sum += tt.dist.Sample(u) + float64(tt.dist.Duration(u))
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

func TestErrorNamesParameter(t *testing.T) {
	_, err := LogNormalQuantiles(0.5, 0.4)
	var wrong *Error
	if !errors.As(err, &wrong) || wrong.Parameter != "p99" || err.Error() != "p99: 400ms is not above p50, 500ms" {
		t.Errorf("got %#v", err)
	}
}

// 0.9 - 0.3 rounds up, so that 0.3 plus it is above 0.9.
func TestUniformKeepsItsBounds(t *testing.T) {
	d := mustDist(Uniform(0.3, 0.9))
	if least, most := d.Sample(leastDraw), d.Sample(mostDraw); least < 0.3 || most > 0.9 || most < 0.8999999 {
		t.Errorf("samples from %v to %v, want 0.3 to 0.9", least, most)
	}
}

func TestSurelyMonotone(t *testing.T) {
	tests := []struct {
		name       string
		c1, c2, c3 float64
		falling    bool
		want       bool
	}{
		{"straight", 1, 0, 0, false, true},
		{"straight down", -1, 0, 0, true, true},
		{"wrong way", -1, 0, 0, false, false},
		{"level", 0, 0, 0, false, false},
		{"level at the left", 0, 1, 0, false, false},
		{"level at the right", 1, -0.5, 0, false, false},
		{"nearly level at the right", 1, -0.4999, 0, false, false},
		{"bent", 1, -0.4, 0, false, true},
		{"bent down", -1, 0.4, 0, true, true},
		{"turns back inside", 1, -3, 2.1, false, false},
		{"slow inside", 1, -1.5, 1, false, true},
	}
	for _, tt := range tests {
		if got := surelyMonotone(tt.c1, tt.c2, tt.c3, tt.falling); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
