package dist

import (
	"math"
	"strings"
	"testing"
)

func TestConstructorsRefuse(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		name string
		make func() (Dist, error)
		want string
	}{
		{"constant", func() (Dist, error) { return Constant(-0.5) }, "value: -500ms is negative"},
		{"constant nan", func() (Dist, error) { return Constant(nan) }, "value: NaN is not a finite number"},
		{"constant huge", func() (Dist, error) { return Constant(1e101) }, "value: 1e+101 is above 1e100"},
		{"uniform order", func() (Dist, error) { return Uniform(2, 1) }, "min: 2s is above max, 1s"},
		{"uniform negative", func() (Dist, error) { return Uniform(-1, 1) }, "min: -1s is negative"},
		{"uniform infinite", func() (Dist, error) { return Uniform(0, inf) }, "max: +Inf is not a finite number"},
		{"exponential zero", func() (Dist, error) { return Exponential(0) }, "mean: 0s is not positive"},
		{"exponential tiny", func() (Dist, error) { return Exponential(1e-101) }, "mean: 1e-101 is below 1e-100"},
		{"exponential infinite", func() (Dist, error) { return Exponential(inf) }, "mean: +Inf is not a finite number"},
		{"lognormal mean", func() (Dist, error) { return LogNormalMeanCV(-1, 1) }, "mean: -1s is negative"},
		{"lognormal cv zero", func() (Dist, error) { return LogNormalMeanCV(1, 0) }, "cv: 0 is not positive"},
		{"lognormal cv nan", func() (Dist, error) { return LogNormalMeanCV(1, nan) }, "cv: NaN is not a finite number"},
		{"lognormal cv range", func() (Dist, error) { return LogNormalMeanCV(1, 1001) }, "cv: 1001 is not in [1e-06, 1000]"},
		{"lognormal p50", func() (Dist, error) { return LogNormalQuantiles(0, 1) }, "p50: 0s is not positive"},
		{"lognormal equal", func() (Dist, error) { return LogNormalQuantiles(1, 1) }, "p99: 1s is not above p50, 1s"},
		{"lognormal order", func() (Dist, error) { return LogNormalQuantiles(0.4, 0.1) }, "p99: 100ms is not above p50, 400ms"},
		{"lognormal ratio", func() (Dist, error) { return LogNormalQuantiles(1e-6, 1e4) }, "p99: 2h46m40s is more than 1e9 times p50, 1us"},
		{"normal mean", func() (Dist, error) { return Normal(-1, 1) }, "mean: -1s is negative"},
		{"normal sd", func() (Dist, error) { return Normal(1, 0) }, "sd: 0s is not positive"},
		{"gamma cv", func() (Dist, error) { return Gamma(1, 0.0001) }, "cv: 0.0001 is not in [0.001, 100]"},
		{"gamma mean", func() (Dist, error) { return Gamma(nan, 1) }, "mean: NaN is not a finite number"},
		{"erlang k", func() (Dist, error) { return Erlang(1, 0) }, "k: 0 is not positive"},
		{"erlang mean", func() (Dist, error) { return Erlang(0, 2) }, "mean: 0s is not positive"},
		{"weibull shape", func() (Dist, error) { return Weibull(1, -2) }, "shape: -2 is not positive"},
		{"weibull mean", func() (Dist, error) { return Weibull(0, 2) }, "mean: 0s is not positive"},
		{"pareto min", func() (Dist, error) { return Pareto(0, 1) }, "min: 0s is not positive"},
		{"pareto alpha", func() (Dist, error) { return Pareto(1, inf) }, "alpha: +Inf is not a finite number"},
		{"hyperexponential cv", func() (Dist, error) { return HyperExponential(1, 0.5) }, "cv: 0.5 is not in [1, 1000]"},
		{"hyperexponential mean", func() (Dist, error) { return HyperExponential(0, 2) }, "mean: 0s is not positive"},
		{"empirical empty", func() (Dist, error) { return Empirical(nil) }, "values: there are none"},
		{"empirical negative", func() (Dist, error) { return Empirical([]float64{1, -2}) }, "values[1]: -2s is negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := tt.make()
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if d != (Dist{}) {
				t.Errorf("got %+v beside the error, want the zero value", d)
			}
		})
	}
}

func TestMeansAndConstants(t *testing.T) {
	tests := []struct {
		dist     Dist
		want     string
		mean     float64
		constant bool
	}{
		{Dist{}, "0s", 0, true},
		{mustDist(Constant(0.0005)), "500us", 0.0005, true},
		{mustDist(Constant(math.Copysign(0, -1))), "0s", 0, true},
		{mustDist(Constant(120)), "2m", 120, true},
		{mustDist(Constant(5400)), "1h30m", 5400, true},
		{mustDist(Constant(3600)), "1h", 3600, true},
		{mustDist(Constant(610)), "10m10s", 610, true},
		{mustDist(Constant(1e-12)), "1e-12s", 1e-12, true},
		{mustDist(Constant(1e20)), "1e+20s", 1e20, true},
		{mustDist(Uniform(0.001, 0.002)), "uniform min 1ms max 2ms", 0.0015, false},
		{mustDist(Uniform(3, 3)), "3s", 3, true},
		{mustDist(Exponential(0.02)), "exponential mean 20ms", 0.02, false},
		{mustDist(LogNormalMeanCV(0.4, 1.5)), "lognormal mean 400ms cv 1.5", 0.4, false},
		{mustDist(LogNormalQuantiles(0.4, 1.5)), "lognormal p50 400ms p99 1.5s", 0.47006540463976093, false},
		{mustDist(Normal(0.01, 0.002)), "normal mean 10ms sd 2ms", 0.010000000213846621, false},
		{mustDist(Normal(100, 1)), "normal mean 1m40s sd 1s", 100, false},
		{mustDist(Gamma(1, 0.5)), "gamma mean 1s cv 0.5", 1, false},
		{mustDist(Erlang(1, 3)), "erlang mean 1s k 3", 1, false},
		{mustDist(Weibull(2, 0.7)), "weibull mean 2s shape 0.7", 2, false},
		{mustDist(Pareto(0.1, 1.5)), "pareto min 100ms alpha 1.5", 0.3, false},
		{mustDist(HyperExponential(1, 3)), "hyperexponential mean 1s cv 3", 1, false},
		{mustDist(Empirical([]float64{1, 2})), "empirical of 2 values", 1.5, false},
		{mustDist(Empirical([]float64{2, 2})), "empirical of 2 values", 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if got := spellSeconds(tt.mean); !strings.Contains(tt.want, " ") && got != tt.want {
				t.Errorf("spellSeconds(%v) = %q, want %q", tt.mean, got, tt.want)
			}
			if got := tt.dist.Mean(); math.Abs(got-tt.mean) > 1e-14*tt.mean {
				t.Errorf("Mean() = %v, want %v", got, tt.mean)
			}
			if got := tt.dist.IsConstant(); got != tt.constant {
				t.Errorf("IsConstant() = %v, want %v", got, tt.constant)
			}
		})
	}
}

// Summing 0.1 a hundred thousand times without care is off by 2e-12 of the sum.
func TestEmpiricalMeanIsExact(t *testing.T) {
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = 0.1
	}
	if got := mustDist(Empirical(values)).Mean(); got != 0.1 {
		t.Errorf("got %v, want 0.1", got)
	}
}

// The quantiles a user gives are the quantiles that come out, and the coefficient of
// variation too.
func TestParametersComeBack(t *testing.T) {
	d := mustDist(LogNormalQuantiles(0.4, 1.5))
	if p50, p99 := d.Sample(0.5), d.Sample(0.99); math.Abs(p50-0.4) > 1e-12 || math.Abs(p99-1.5) > 1e-6 {
		t.Errorf("p50 %v and p99 %v, want 0.4 and 1.5", p50, p99)
	}
	tests := []struct {
		name   string
		dist   Dist
		wantCV float64
	}{
		{"lognormal", mustDist(LogNormalMeanCV(1, 0.8)), 0.8},
		{"gamma", mustDist(Gamma(1, 0.7)), 0.7},
		{"gamma wide", mustDist(Gamma(1, 2)), 2},
		{"erlang", mustDist(Erlang(1, 4)), 0.5},
		{"hyperexponential", mustDist(HyperExponential(1, 2.5)), 2.5},
		{"exponential", mustDist(Exponential(1)), 1},
		{"normal", mustDist(Normal(1, 0.1)), 0.1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const strata = 1 << 16
			sum := 0.0
			for i := range strata {
				deviation := tt.dist.Sample((float64(i)+0.5)/strata)/tt.dist.Mean() - 1
				sum += deviation * deviation
			}
			if got := math.Sqrt(sum / strata); math.Abs(got/tt.wantCV-1) > 5e-3 {
				t.Errorf("cv of samples %v, want %v", got, tt.wantCV)
			}
		})
	}
}
