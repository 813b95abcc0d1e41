package imports

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"qsim/engine/dist"
	"qsim/engine/keyed"
)

// drawn returns n draws from a distribution of package dist, which is computed otherwise than those of fits.
func drawn(t *testing.T, n int, seed uint64, dist dist.Dist, err error) []float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = dist.Sample(keyed.Rand{Seed: seed}.Uniform(keyed.ForArrival, uint64(i), 7, 0))
	}
	return values
}

// The draws are fixed, so that a run never differs. Of fresh seeds a test of a true
// distribution refuses 5 in 100, which the distance of a sample of 4,000 makes up for.
func TestFitRecoversWhatWasDrawn(t *testing.T) {
	t.Parallel()
	make := func(d dist.Dist, err error) func(*testing.T) []float64 {
		return func(t *testing.T) []float64 { return drawn(t, 4000, 11, d, err) }
	}
	for _, tt := range []struct {
		name, kind string
		sample     func(*testing.T) []float64
		want       []float64
		tolerance  float64 // relative: five standard errors, false alarm below 1e-6
	}{
		{"exponential", "exponential", make(dist.Exponential(0.2)), []float64{0.2}, 0.08},
		{"uniform", "uniform", make(dist.Uniform(1, 3)), []float64{1, 3}, 0.01},
		{"lognormal", "lognormal", make(dist.LogNormalMeanCV(0.5, 0.8)), []float64{0.5, 0.8}, 0.1},
		{"gamma", "gamma", make(dist.Gamma(2, 0.6)), []float64{2, 0.6}, 0.06},
		{"gamma with a peak at 0", "gamma", make(dist.Gamma(2, 2)), []float64{2, 2}, 0.16},
		{"weibull", "weibull", make(dist.Weibull(0.03, 2)), []float64{0.03, 2}, 0.07},
		{"pareto", "pareto", make(dist.Pareto(0.1, 2.5)), []float64{0.1, 2.5}, 0.08},
		{"normal", "normal", make(dist.Normal(0.5, 0.1)), []float64{0.5, 0.1}, 0.06},
		{"normal that is folded", "normal", make(dist.Normal(1, 1)), []float64{1, 1}, 0.15},
		{"erlang", "erlang", make(dist.Erlang(0.2, 3)), []float64{0.2, 3}, 0.05},
		{"hyperexponential", "hyperexponential", make(dist.HyperExponential(0.3, 3)), []float64{0.3, 3}, 0.25},
		// With so few values of the slow branch cv is off by 13 % in a sample of this size.
		{"hyperexponential with a long tail", "hyperexponential", make(dist.HyperExponential(1, 12)), []float64{1, 12}, 0.65},
		{"constant", "constant", make(dist.Constant(0.7)), []float64{0.7}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sample := slices.Sorted(slices.Values(tt.sample(t)))
			fits := fitDistributions(sample)
			if len(fits) == 0 || fits[0].Kind != tt.kind {
				t.Fatalf("got %+v, want %s first", fits, tt.kind)
			}
			best := fits[0]
			if !best.Acceptable(sample) {
				t.Errorf("%s is refused: distance %v, p %v", best.Kind, best.Distance, best.P)
			}
			for i, want := range tt.want {
				if got := best.Parameters[i].Value; math.Abs(got-want) > tt.tolerance*want {
					t.Errorf("%s is %v, want %v within %v", best.Parameters[i].Name, got, want, tt.tolerance)
				}
			}
		})
	}
}

// Far out only the slow branch of a mixture counts, and its density is no less a number than any other.
func TestHyperexponentialFarOut(t *testing.T) {
	t.Parallel()
	h := hyperexponential{mean: 1, share: 0.995}
	a, b := h.rates()
	for _, x := range []float64{0, 0.1, 1, 10, 300, 356, 400, 1000, 1e4, 1e6} {
		want := math.Log((1-h.share)*b) - b*x
		if x < 300 { // there the other branch counts too, and no exponential is 0
			want = math.Log(h.share*a*math.Exp(-a*x) + (1-h.share)*b*math.Exp(-b*x))
		}
		if got := h.LogProb(x); !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
			t.Errorf("at %v the logarithm of the density is %v, want %v", x, got, want)
		}
	}
}

func TestFitRefusesWhatItIsNot(t *testing.T) {
	t.Parallel()
	fast, err := dist.LogNormalMeanCV(0.01, 0.2)
	a := drawn(t, 3000, 5, fast, err)
	slow, err := dist.LogNormalMeanCV(2, 0.2)
	sample := append(a, drawn(t, 1000, 6, slow, err)...)
	slices.Sort(sample)
	for _, fit := range fitDistributions(sample) {
		if fit.Acceptable(sample) {
			t.Errorf("%s is accepted for two humps: distance %v, p %v", fit.Kind, fit.Distance, fit.P)
		}
	}
}

func TestFitOfLittle(t *testing.T) {
	t.Parallel()
	if fits := fitDistributions(make([]float64, FewestToFit-1)); fits != nil {
		t.Errorf("got %v for too few values", fits)
	}
	if fits := fitDistributions(make([]float64, 100)); len(fits) != 1 || fits[0].Kind != "constant" || fits[0].drawn().Sample(0.5) != 0 || fits[0].Distance != 0 {
		t.Errorf("got %+v for zeros, want the constant 0", fits)
	}
	exponential, err := dist.Exponential(1)
	sample := drawn(t, 100, 1, exponential, err)
	for i := range 10 {
		sample[i] = 0
	}
	slices.Sort(sample)
	for _, fit := range fitDistributions(sample) {
		if fit.Kind == "lognormal" || math.IsNaN(fit.Score) {
			t.Errorf("got %+v where one value in ten is 0", fit)
		}
	}
}

// Of a true distribution the test must refuse about one sample in twenty: with 60 samples of
// 200 values at most 9, more happens once in 1,000 runs of other seeds; these are fixed.
func TestFitLevel(t *testing.T) {
	t.Parallel()
	dist, err := dist.Weibull(1, 1.5)
	refused := 0
	weibull := candidates[slices.IndexFunc(candidates, func(c *candidate) bool { return c.kind == "weibull" })]
	for seed := range uint64(60) {
		sample := drawn(t, 200, seed+100, dist, err)
		slices.Sort(sample)
		if weibull.p(sample) < level {
			refused++
		}
	}
	if refused > 9 {
		t.Errorf("%d of 60 samples of a Weibull distribution are refused as such", refused)
	}
}

// What is spelled does not depend on the last bits of a mean, which other machines sum in another order.
func TestSpellingHasNoLastBits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		spell func(v float64) string
		v     float64
		want  string
	}{
		{func(v float64) string { return spellDigits(v, 4) }, 0.82225, "822.3ms"},
		{func(v float64) string { return spellDigits(v, 4) }, 12.345, "12.35s"},
		{spellRound, 2.15, "2.2s"},
		{spellRound, 0.0215, "22ms"},
		{func(v float64) string { return fmt.Sprint(niceFactor(v)) }, 1.2345, "1.235"},
	} {
		for _, v := range []float64{tt.v * (1 - 1e-14), tt.v, tt.v * (1 + 1e-14)} {
			if got := tt.spell(v); got != tt.want {
				t.Errorf("%v is spelled %s, want %s", v, got, tt.want)
			}
		}
	}
}
