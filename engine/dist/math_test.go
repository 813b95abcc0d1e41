package dist

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"qsim/engine/keyed"
)

// ulps is how many representable numbers lie between two of the same sign.
func ulps(a, b float64) uint64 {
	if a == b || a != a && b != b {
		return 0
	}
	x, y := math.Float64bits(a), math.Float64bits(b)
	return max(x, y) - min(x, y)
}

// spread returns n numbers of (low, high), evenly spaced and shaken.
func spread(low, high float64, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = low + (high-low)*(float64(i)+keyed.Rand{Seed: 5}.Uniform(keyed.ForChaos, uint64(i), 1, 0))/float64(n)
	}
	return xs
}

func TestPortableFunctionsAreWithin2Ulp(t *testing.T) {
	const n = 20_000
	var logArguments []float64
	for i, x := range spread(1, 2, n) {
		logArguments = append(logArguments, x, math.Ldexp(x, i%2045-1022), 1+(x-1.5)/1e6)
	}
	nearOne := spread(-1e-3, 1e-3, n)
	tests := []struct {
		name       string
		got, want  func(float64) float64
		xs, corner []float64
		allowed    uint64
	}{
		{"log", portableLog, math.Log, logArguments,
			[]float64{0, 1, -1, 0x1p-1022, math.MaxFloat64, math.Inf(1), math.NaN(), math.Sqrt2, 0.5, 2}, 2},
		{"log1p", portableLog1p, math.Log1p, append(spread(-0.999, 3, n), nearOne...),
			[]float64{0, 1e-300, -1e-300, -1, 1e17, 1e300, math.Inf(1), math.NaN(), 1, -0.5}, 2},
		{"exp", portableExp, math.Exp, append(spread(-745, 709, n), nearOne...),
			[]float64{0, 1, 1e-300, 709.79, 1e9, -745.2, -745.1, -708.5, math.Inf(1), math.Inf(-1), math.NaN()}, 2},
		{"expm1", portableExpm1, math.Expm1, append(spread(-3, 3, n), nearOne...), []float64{0, 0.5, -0.5, 1e-300, -800}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			worst := uint64(0)
			for _, x := range append(tt.xs, tt.corner...) {
				got, want := tt.got(x), tt.want(x)
				worst = max(worst, ulps(got, want))
				if ulps(got, want) > tt.allowed {
					t.Fatalf("%s(%v) = %v, want %v", tt.name, x, got, want)
				}
			}
			t.Logf("at most %d ulp from package math", worst)
		})
	}
}

// Arguments for which package math is known to err on amd64: logarithms of subnormal numbers,
// exponentials just below the overflow.
func TestPortableFunctionsAtTheEdge(t *testing.T) {
	if got, want := portableLog(5e-324), -1074*math.Ln2; ulps(got, want) > 1 {
		t.Errorf("portableLog(5e-324) = %v, want %v", got, want)
	}
	if got, want := portableLog(0x1.8p-1030), math.Log(0x1.8p-1000)-30*math.Ln2; ulps(got, want) > 2 {
		t.Errorf("portableLog(0x1.8p-1030) = %v, want %v", got, want)
	}
	for _, x := range []float64{709.4, 709.5, 709.7, 709.78} {
		half := math.Exp(x / 2)
		if got, want := portableExp(x), half*half; ulps(got, want) > 4 {
			t.Errorf("portableExp(%v) = %v, want %v", x, got, want)
		}
	}
}

func expectClose(t *testing.T, what string, got, want, allowed float64) {
	t.Helper()
	if !(math.Abs(got-want) <= allowed*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v: off by %.1e", what, got, want, got-want)
	}
}

func TestLogGamma(t *testing.T) {
	for _, x := range append(spread(0.001, 40, 2000), 1, 2, 0.5, 1e-6, 1e3, 1e6, 1e12) {
		want, _ := math.Lgamma(x)
		expectClose(t, fmt.Sprintf("logGamma(%v)", x), logGamma(x), want, 3e-14)
		want, _ = math.Lgamma(x + 1)
		expectClose(t, fmt.Sprintf("logGammaPeak(%v)", x), logGammaPeak(x), x*math.Log(x)-x-want, 3e-14*math.Max(1, 2*x*math.Log(x+2)))
	}
	expectClose(t, "logGamma(3/2)", logGamma1p5, logGamma(1.5), 5e-15)
}

func TestIncompleteGamma(t *testing.T) {
	for _, a := range []float64{0.01, 0.25, 0.5, 1, 2.5, 10, 100, 3000} {
		for _, ratio := range spread(0.01, 4, 200) {
			x := a * ratio
			term := a*math.Log(x) - x - logGamma(a+1)
			what := fmt.Sprintf("at a = %v, x = %v: ", a, x)
			// Near the underflow gonum has fewer digits than we.
			if p := mathext.GammaIncReg(a, x); p > 1e-200 {
				expectClose(t, what+"ln P", logGammaP(a, x, term), math.Log(p), 1e-11)
			}
			if q := mathext.GammaIncRegComp(a, x); q > 1e-200 {
				expectClose(t, what+"ln Q", logGammaQ(a, x, term), math.Log(q), 1e-11)
			}
		}
	}
}

func TestNormalQuantileAndCDF(t *testing.T) {
	for _, u := range append(spread(1e-4, 0.5, 5000), 1e-300, 1e-100, 1e-20, 1e-12, 1e-6, 0.075, math.Exp(-25), 0.5) {
		z := normalUpperQuantile(u)
		expectClose(t, fmt.Sprintf("normalUpperQuantile(%v)", u), z, -mathext.NormalQuantile(u), 2e-14)
		// Through the other function and back: Φ changes by z times what z is off by.
		if back := normalCDF(-z); math.Abs(back/u-1) > 1e-13*(1+z*z) {
			t.Errorf("normalCDF(-normalUpperQuantile(%v)) = %v", u, back)
		}
		if above := normalCDF(z); math.Abs(above-(1-u)) > 1e-15 {
			t.Errorf("normalCDF(normalUpperQuantile(%v)) = %v, want %v", u, above, 1-u)
		}
	}
	for _, z := range append(spread(-30, 8, 5000), 0, -1e-10, 1e-10) {
		if got, want := normalCDF(z), math.Erfc(-z/math.Sqrt2)/2; math.Abs(got/want-1) > 2e-13 {
			t.Errorf("normalCDF(%v) = %v, want %v", z, got, want)
		}
		expectClose(t, fmt.Sprintf("normalDensity(%v)", z), normalDensity(z), math.Exp(-z*z/2)/math.Sqrt(2*math.Pi), 1e-15)
	}
}

func TestExpRemainder(t *testing.T) {
	for _, x := range append(spread(-0.51, 0.51, 2000), spread(-40, 40, 500)...) {
		want := math.Expm1(x) - x
		if math.Abs(x) < 0.01 { // where that cancels
			want = x * x / 2 * (1 + x/3*(1+x/4*(1+x/5*(1+x/6))))
		}
		if got := expRemainder(x); math.Abs(got/want-1) > 2e-13 {
			t.Errorf("expRemainder(%v) = %v, want %v", x, got, want)
		}
	}
}
