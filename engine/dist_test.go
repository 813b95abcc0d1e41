package engine

import (
	"errors"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// mustDist returns d, of parameters that are known to be good.
func mustDist(d Dist, err error) Dist {
	if err != nil {
		panic(err)
	}
	return d
}

// distCase is a distribution and gonum's idea of it: quantile gives the value whose
// lower tail is u, 1-u being the exact upper tail.
type distCase struct {
	name     string
	dist     Dist
	quantile func(u float64) float64
}

// gonumNormal is the standard normal quantile, by symmetry accurate in both tails.
func gonumNormal(u float64) float64 {
	if u > 0.5 {
		return -mathext.NormalQuantile(1 - u)
	}
	return mathext.NormalQuantile(u)
}

// gammaTails returns both tails of a gamma.
func gammaTails(mean, shape float64) func(x float64) (lower, upper float64) {
	return func(x float64) (float64, float64) {
		x *= shape / mean
		if x < 1e-9 { // x^a / Γ(a+1) (1 - ax/(a+1) + ...)
			g, _ := math.Lgamma(shape + 1)
			return math.Exp(shape*math.Log(x)-g) * (1 - shape*x/(shape+1)), 1
		}
		return mathext.GammaIncReg(shape, x), mathext.GammaIncRegComp(shape, x)
	}
}

// nearZero takes over from q for small u, where gonum computes ln(1-u) or (1-u)^x.
func nearZero(small, q func(u float64) float64) func(u float64) float64 {
	return func(u float64) float64 {
		if u < 1e-3 {
			return small(u)
		}
		return q(u)
	}
}

func gonumLogNormal(median, sigma float64) func(float64) float64 {
	return func(u float64) float64 { return median * math.Exp(sigma*gonumNormal(u)) }
}

func closedFormCases() []distCase {
	exponential := func(mean float64) func(float64) float64 {
		return nearZero(func(u float64) float64 { return -mean * math.Log1p(-u) }, distuv.Exponential{Rate: 1 / mean}.Quantile)
	}
	weibull := func(mean, shape float64) func(float64) float64 {
		scale := mean / math.Gamma(1+1/shape)
		return nearZero(func(u float64) float64 { return scale * math.Pow(-math.Log1p(-u), 1/shape) },
			distuv.Weibull{K: shape, Lambda: scale}.Quantile)
	}
	pareto := func(min, alpha float64) func(float64) float64 {
		return nearZero(func(u float64) float64 { return min * math.Exp(-math.Log1p(-u)/alpha) },
			distuv.Pareto{Xm: min, Alpha: alpha}.Quantile)
	}
	sigma := func(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }
	p99 := distuv.UnitNormal.Quantile(0.99)
	return []distCase{
		{"constant", mustDist(Constant(3)), func(float64) float64 { return 3 }},
		{"uniform", mustDist(Uniform(1, 3)), distuv.Uniform{Min: 1, Max: 3}.Quantile},
		{"exponential", mustDist(Exponential(0.02)), exponential(0.02)},
		{"lognormal p50 p99", mustDist(LogNormalQuantiles(0.4, 1.5)), gonumLogNormal(0.4, math.Log(1.5/0.4)/p99)},
		{"lognormal narrow", mustDist(LogNormalMeanCV(1, 1e-6)), gonumLogNormal(1, 1e-6)},
		{"lognormal cv 1", mustDist(LogNormalMeanCV(2, 1)), gonumLogNormal(2/math.Sqrt2, sigma(1))},
		{"lognormal cv 10", mustDist(LogNormalMeanCV(0.1, 10)), gonumLogNormal(0.1/math.Sqrt(101), sigma(10))},
		{"lognormal wide", mustDist(LogNormalQuantiles(1e-6, 1e3)), gonumLogNormal(1e-6, math.Log(1e9)/p99)},
		{"normal far from 0", mustDist(Normal(50, 1)), func(u float64) float64 { return 50 + gonumNormal(u) }},
		{"weibull 0.5", mustDist(Weibull(2, 0.5)), weibull(2, 0.5)},
		{"weibull 2", mustDist(Weibull(0.3, 2)), weibull(0.3, 2)},
		{"weibull 0.05", mustDist(Weibull(1, 0.05)), weibull(1, 0.05)},
		{"weibull 1000", mustDist(Weibull(1, 1000)), weibull(1, 1000)},
		{"pareto 1.5", mustDist(Pareto(0.01, 1.5)), pareto(0.01, 1.5)},
		{"pareto 0.1", mustDist(Pareto(1, 0.1)), pareto(1, 0.1)},
		{"pareto 1000", mustDist(Pareto(1, 1000)), pareto(1, 1000)},
	}
}

func searchedCases() []distCase {
	return []distCase{
		{"gamma 0.5", mustDist(Gamma(1, 0.5)), invert(gammaTails(1, 4))},
		{"gamma 2", mustDist(Gamma(3, 2)), invert(gammaTails(3, 0.25))},
		{"gamma 0.1", mustDist(Gamma(0.2, 0.1)), invert(gammaTails(0.2, 100))},
		{"gamma 10", mustDist(Gamma(1, 10)), invert(gammaTails(1, 0.01))},
		{"erlang 1", mustDist(Erlang(1, 1)), invert(gammaTails(1, 1))},
		{"erlang 3", mustDist(Erlang(0.6, 3)), invert(gammaTails(0.6, 3))},
		{"half-normal", mustDist(Normal(0, 2)), invert(foldedCDF(0, 2))},
		{"normal near 0", mustDist(Normal(1, 1)), invert(foldedCDF(1, 1))},
		{"normal 2", mustDist(Normal(2, 1)), invert(foldedCDF(2, 1))},
		{"normal 5", mustDist(Normal(0.010, 0.002)), invert(foldedCDF(0.010, 0.002))},
		{"normal 39", mustDist(Normal(39, 1)), invert(foldedCDF(39, 1))},
		{"hyperexponential 1", mustDist(HyperExponential(2, 1)), func(u float64) float64 { return -2 * math.Log1p(-u) }},
		{"hyperexponential 3", mustDist(HyperExponential(1, 3)), invert(hyperexponentialTails(1, 3))},
		{"hyperexponential 50", mustDist(HyperExponential(1, 50)), invert(hyperexponentialTails(1, 50))},
	}
}

// foldedCDF returns both tails of |X|, X normal: the lower one near 0 by its series.
func foldedCDF(mean, sd float64) func(x float64) (lower, upper float64) {
	n := distuv.Normal{Mu: mean, Sigma: sd}
	return func(x float64) (float64, float64) {
		if v, m := x/sd, mean/sd; v < 1e-3 {
			// 2φ(m)v (1 + (m²-1)v²/6), the next term being of order v⁴
			return 2 * distuv.UnitNormal.Prob(m) * v * (1 + (m*m-1)*v*v/6), 1
		}
		return n.CDF(x) - n.CDF(-x), n.Survival(x) + n.CDF(-x)
	}
}

// hyperexponentialTails returns both tails of the mixture, from the textbook formulas.
func hyperexponentialTails(mean, cv float64) func(x float64) (lower, upper float64) {
	p := (1 + math.Sqrt((cv*cv-1)/(cv*cv+1))) / 2
	return func(x float64) (float64, float64) {
		a, b := -2*p*x/mean, -2*(1-p)*x/mean
		return -p*math.Expm1(a) - (1-p)*math.Expm1(b), p*math.Exp(a) + (1-p)*math.Exp(b)
	}
}

// invert returns the quantile function for two tails, by bisection on a scale of
// ratios.
func invert(tails func(x float64) (lower, upper float64)) func(float64) float64 {
	return func(u float64) float64 {
		low, high := 1e-300, 1e9
		for range 65 { // to 1 in 2^55 of the 700 between the logarithms
			x := math.Sqrt(low * high)
			lower, upper := tails(x)
			if (u <= 0.5 && lower < u) || (u > 0.5 && upper > 1-u) {
				low = x
			} else {
				high = x
			}
		}
		return math.Sqrt(low * high)
	}
}

// testDraws are numbers in both tails, at the ends of the table, and across the body.
func testDraws() []float64 {
	us := []float64{1e-300, 1e-100, 1e-30, 1e-15, 1e-12, 1e-9, 1e-6, 0.5, math.Nextafter(0.5, 0), math.Nextafter(0.5, 1)}
	for _, u := range []float64{tableStart, 0x1p-12, 0x1p-5, 0.25, 0.001, 0.01, 0.1, 0.3, 0.4, 0.45, 0.49999} {
		us = append(us, u, math.Nextafter(u, 0), math.Nextafter(u, 1), 1-u, 1-u+0x1p-53, 1-u-0x1p-53)
	}
	us = append(us, 1-1e-6, 1-1e-9, 1-1e-12, 1-0x1p-52, 1-0x1p-53)
	for i := range 997 {
		us = append(us, (float64(i)+0.5)/997)
	}
	return us
}

func TestDistAgreesWithGonum(t *testing.T) {
	for _, tt := range append(closedFormCases(), searchedCases()...) {
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
	r := Rand{1}
	draw := func(i int, n uint16, low, high float64) float64 { // evenly over the logarithm
		return low * math.Pow(high/low, r.Uniform(ForChaos, uint64(i), 0, n))
	}
	for i := range 40 {
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
				u := r.Uniform(ForRunTime, uint64(i), 0, n)
				got, want := d.Sample(u), d.curve.sampleExactly(u)
				if math.Abs(got-want) > 1e-6*math.Max(want, 1e-12*d.curve.unit) {
					t.Fatalf("%v: Sample(%v) = %v, exactly %v", d, u, got, want)
				}
			}
		}
	}
}

func allDists() []distCase {
	cases := append(closedFormCases(), searchedCases()...)
	return append(cases,
		distCase{name: "zero value"},
		distCase{name: "empirical", dist: mustDist(Empirical([]float64{3, 1, 2, 2, 10}))},
		distCase{name: "gamma 0.001", dist: mustDist(Gamma(1, 0.001))},
		distCase{name: "gamma 100", dist: mustDist(Gamma(1, 100))},
		distCase{name: "lognormal cv 1000", dist: mustDist(LogNormalMeanCV(1, 1000))},
		distCase{name: "smallest", dist: mustDist(Gamma(1e-100, 3))},
		distCase{name: "largest", dist: mustDist(Pareto(1e100, 0.1))},
	)
}

// Neighbouring numbers at the joins of cells, of the two halves and of table and
// tails, and at random places: rounding must not turn the curve back by one bit.
func TestSampleDoesNotFall(t *testing.T) {
	r := Rand{3}
	for _, tt := range allDists() {
		t.Run(tt.name, func(t *testing.T) {
			var starts []float64
			for e := 1; e <= 20; e++ { // every cell of the coarsest table, every fourth of the finest
				for j := range 32 {
					tail := math.Ldexp(1+float64(j)/32, -e)
					starts = append(starts, tail, 1-tail)
				}
			}
			for n := range uint16(1000) {
				u := r.Uniform(ForRunTime, 1, 1, n)
				starts = append(starts, u, math.Ldexp(u, -20), math.Ldexp(u, -300), 1-math.Ldexp(u, -20))
			}
			for _, u := range starts {
				for _, step := range []float64{0, 0x1p-38, 0x1p-36} { // in units of u; 0: the next number
					expectRising(t, tt.dist, u, step)
				}
			}
			before := 0.0
			for i := range 20_000 {
				if y := tt.dist.Sample((float64(i) + 0.5) / 20_000); y < before {
					t.Fatalf("Sample falls from %v to %v at step %d of 20000", before, y, i)
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

// The mean over the midpoints of 2^20 equal strata. What the outermost strata miss is
// largest for heavy tails, so each case states what it allows.
func TestMeanMatchesSamples(t *testing.T) {
	tests := []struct {
		name    string
		dist    Dist
		allowed float64
	}{
		{"constant", mustDist(Constant(3)), 1e-12},
		{"uniform", mustDist(Uniform(1, 4)), 1e-9},
		{"exponential", mustDist(Exponential(0.02)), 1e-6},
		{"lognormal cv", mustDist(LogNormalMeanCV(0.4, 0.8)), 1e-5},
		{"lognormal quantiles", mustDist(LogNormalQuantiles(0.4, 1.5)), 1e-5},
		{"normal", mustDist(Normal(0.010, 0.002)), 1e-6},
		{"normal near 0", mustDist(Normal(1, 1)), 1e-6},
		{"half-normal", mustDist(Normal(0, 1)), 1e-6},
		{"gamma", mustDist(Gamma(2, 0.5)), 1e-6},
		{"gamma wide", mustDist(Gamma(2, 3)), 1e-5},
		{"erlang", mustDist(Erlang(3, 5)), 1e-6},
		{"weibull", mustDist(Weibull(1, 0.7)), 1e-5},
		{"pareto", mustDist(Pareto(1, 3)), 1e-4},
		{"hyperexponential", mustDist(HyperExponential(1, 3)), 1e-5},
		{"empirical", mustDist(Empirical([]float64{5, 1, 2, 8})), 1e-12},
	}
	const strata = 1 << 20
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
		{5_000_000.123456789, 5_000_000_123_456_789},
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

func TestDistErrorNamesParameter(t *testing.T) {
	_, err := LogNormalQuantiles(0.5, 0.4)
	var wrong *DistError
	if !errors.As(err, &wrong) || wrong.Parameter != "p99" || err.Error() != "p99: 400ms is not above p50, 500ms" {
		t.Errorf("got %#v", err)
	}
}

func BenchmarkDist(b *testing.B) {
	var us [4096]float64
	for i := range us {
		us[i] = Rand{1}.Uniform(ForRunTime, uint64(i), 1, 0)
	}
	benchmarks := []distCase{
		{name: "constant", dist: mustDist(Constant(1))},
		{name: "uniform", dist: mustDist(Uniform(1, 2))},
		{name: "exponential", dist: mustDist(Exponential(1))},
		{name: "lognormal", dist: mustDist(LogNormalQuantiles(0.4, 1.5))},
		{name: "normal", dist: mustDist(Normal(0.010, 0.002))},
		{name: "gamma", dist: mustDist(Gamma(1, 0.5))},
		{name: "weibull", dist: mustDist(Weibull(1, 0.5))},
		{name: "pareto", dist: mustDist(Pareto(1, 1.5))},
		{name: "hyperexponential", dist: mustDist(HyperExponential(1, 3))},
		{name: "empirical", dist: mustDist(Empirical(us[:1000]))},
	}
	for _, bb := range benchmarks {
		b.Run("dist="+bb.name, func(b *testing.B) {
			b.ReportAllocs()
			sum, i := 0.0, 0
			for b.Loop() {
				sum += bb.dist.Sample(us[i%len(us)])
				i++
			}
			if sum <= 0 {
				b.Fatal(sum)
			}
		})
	}
}

func BenchmarkNewDist(b *testing.B) {
	b.Run("dist=lognormal", func(b *testing.B) {
		for b.Loop() {
			mustDist(LogNormalQuantiles(0.4, 1.5))
		}
	})
	b.Run("dist=gamma", func(b *testing.B) {
		for b.Loop() {
			mustDist(Gamma(1, 0.5))
		}
	})
}
