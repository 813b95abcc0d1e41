package dist

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

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
			lower := math.Exp(shape*math.Log(x)-g) * (1 - shape*x/(shape+1))
			return lower, 1 - lower
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

var closedFormCases = sync.OnceValue(func() []distCase {
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
})

var searchedCases = sync.OnceValue(func() []distCase {
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
})

// foldedCDF returns both tails of |X|, X normal: the lower one near 0 by its series.
func foldedCDF(mean, sd float64) func(x float64) (lower, upper float64) {
	below := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	return func(x float64) (float64, float64) {
		v, m := x/sd, mean/sd
		if v < 1e-3 {
			// 2φ(m)v (1 + (m²-1)v²/6), the next term being of order v⁴
			return 2 * distuv.UnitNormal.Prob(m) * v * (1 + (m*m-1)*v*v/6), 1
		}
		return below(v-m) - below(-v-m), below(m-v) + below(-v-m)
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

var allDists = sync.OnceValue(func() []distCase {
	return append(slices.Concat(closedFormCases(), searchedCases()),
		distCase{name: "zero value"},
		distCase{name: "empirical", dist: mustDist(Empirical([]float64{3, 1, 2, 2, 10}))},
		distCase{name: "gamma 0.01", dist: mustDist(Gamma(1, 0.01))},
		distCase{name: "gamma 100", dist: mustDist(Gamma(1, 100))},
		distCase{name: "lognormal cv 1000", dist: mustDist(LogNormalMeanCV(1, 1000))},
		distCase{name: "smallest", dist: mustDist(Gamma(1e-100, 3))},
		distCase{name: "largest", dist: mustDist(Pareto(1e100, 0.1))},
	)
})
