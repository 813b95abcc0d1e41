package imports

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine"
	"qsim/engine/dist"
)

// candidate is a distribution with its parameters still open.
type candidate struct {
	kind     string
	free     int  // parameters
	positive bool // its density at 0 is 0 or infinite
	// estimate returns the distribution under which sorted values are most likely, and its
	// parameters as a scenario has them; false if there is none.
	estimate func(sorted []float64) (shape, []FitParameter, bool)
	// drawn is the engine's distribution with these parameters, to draw from quicker than by
	// Quantile; nil: Quantile is quick.
	drawn func(parameters []FitParameter) (dist.Dist, error)
}

// shape is what is needed of a distribution of gonum.
type shape interface {
	CDF(x float64) float64
	LogProb(x float64) float64
	Quantile(p float64) float64
}

var candidates = []candidate{
	{kind: "exponential", free: 1, estimate: func(v []float64) (shape, []FitParameter, bool) {
		mean := stat.Mean(v, nil)
		return distuv.Exponential{Rate: 1 / mean}, []FitParameter{{"mean", mean, true}}, mean > 0
	}},
	{kind: "uniform", free: 2, estimate: func(v []float64) (shape, []FitParameter, bool) {
		low, high := v[0], v[len(v)-1]
		return distuv.Uniform{Min: low, Max: high}, []FitParameter{{"min", low, true}, {"max", high, true}}, low < high
	}},
	{kind: "normal", free: 2, estimate: estimateNormal, drawn: func(p []FitParameter) (dist.Dist, error) { return dist.Normal(p[0].Value, p[1].Value) }},
	{kind: "lognormal", free: 2, positive: true, estimate: estimateLogNormal},
	{kind: "gamma", free: 2, positive: true, estimate: estimateGamma, drawn: func(p []FitParameter) (dist.Dist, error) { return dist.Gamma(p[0].Value, p[1].Value) }},
	// k is one of a few whole numbers and no parameter that is free, so that where a whole number fits, the
	// simpler family does.
	{kind: "erlang", free: 1, positive: true, estimate: estimateErlang, drawn: func(p []FitParameter) (dist.Dist, error) { return dist.Erlang(p[0].Value, int(p[1].Value)) }},
	{kind: "weibull", free: 2, positive: true, estimate: estimateWeibull},
	{kind: "hyperexponential", free: 2, estimate: estimateHyperexponential, drawn: func(p []FitParameter) (dist.Dist, error) { return dist.HyperExponential(p[0].Value, p[1].Value) }},
	{kind: "pareto", free: 2, positive: true, estimate: func(v []float64) (shape, []FitParameter, bool) {
		low := v[0]
		alpha := 1 / (meanLog(v) - math.Log(low))
		return distuv.Pareto{Xm: low, Alpha: alpha}, []FitParameter{{"min", low, true}, {"alpha", alpha, false}}, low > 0 && alpha > 1 && alpha < 1e3
	}},
}

func meanLog(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += math.Log(x)
	}
	return sum / float64(len(v))
}

func estimateLogNormal(v []float64) (shape, []FitParameter, bool) {
	logs := make([]float64, len(v))
	for i, x := range v {
		logs[i] = math.Log(x)
	}
	mu, sigma := stat.PopMeanStdDev(logs, nil)
	cv := math.Sqrt(math.Expm1(sigma * sigma))
	return distuv.LogNormal{Mu: mu, Sigma: sigma}, []FitParameter{{"mean", math.Exp(mu + sigma*sigma/2), true}, {"cv", cv, false}}, cv > 1e-4 && cv < 100
}

// estimateGamma finds the shape by the generalized Newton iteration of Minka: Estimating a
// Gamma distribution (2002), which ends in four or five steps.
func estimateGamma(v []float64) (shape, []FitParameter, bool) {
	mean := stat.Mean(v, nil)
	s := math.Log(mean) - meanLog(v)
	if !(s > 0) {
		return nil, nil, false
	}
	k := (3 - s + math.Sqrt((s-3)*(s-3)+24*s)) / (12 * s)
	for range 20 {
		trigamma := mathext.Zeta(2, k)
		next := 1 / (1/k + (math.Log(k)-s-mathext.Digamma(k))/(k*k*(1/k-trigamma)))
		if !(next > 0) || math.IsInf(next, 0) {
			return nil, nil, false
		}
		done := math.Abs(next-k) <= 1e-10*k
		if k = next; done {
			break
		}
	}
	cv := 1 / math.Sqrt(k)
	return distuv.Gamma{Alpha: k, Beta: k / mean}, []FitParameter{{"mean", mean, true}, {"cv", cv, false}}, cv > 1e-3 && cv < 30
}

// estimateWeibull solves for the shape k: Σ xᵏ ln x ÷ Σ xᵏ − 1/k = mean of ln x (Cohen:
// Maximum likelihood estimation in the Weibull distribution, 1965, equation 7), by Newton's
// method, of values divided by the largest so that no power overflows.
func estimateWeibull(v []float64) (shape, []FitParameter, bool) {
	largest := v[len(v)-1]
	logs := make([]float64, len(v))
	for i, x := range v {
		logs[i] = math.Log(x / largest)
	}
	mean, deviation := stat.PopMeanStdDev(logs, nil)
	k := math.Pi / math.Sqrt(6) / deviation // of a Weibull distribution, whose logarithm is a Gumbel one
	for range 50 {
		var s0, s1, s2 float64
		for _, l := range logs {
			p := math.Exp(k * l)
			s0, s1, s2 = s0+p, s1+float64(p*l), s2+float64(float64(p*l)*l)
		}
		f := s1/s0 - 1/k - mean
		slope := s2/s0 - (s1/s0)*(s1/s0) + 1/(k*k)
		next := max(k-f/slope, k/2)
		done := math.Abs(next-k) <= 1e-10*k
		if k = next; done || math.IsNaN(k) {
			break
		}
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(k * l)
	}
	scale := largest * math.Pow(sum/float64(len(v)), 1/k)
	return distuv.Weibull{K: k, Lambda: scale}, []FitParameter{{"mean", scale * math.Gamma(1+1/k), true}, {"shape", k, false}}, k > 0.1 && k < 1000
}

// fit estimates, and says how good that is.
func (f *candidate) fit(sorted []float64) (Fit, bool) {
	d, parameters, ok := f.estimate(sorted)
	if !ok {
		return Fit{}, false
	}
	likelihood := 0.0
	for _, x := range sorted {
		likelihood += d.LogProb(x)
	}
	fit := Fit{Kind: f.kind, Parameters: parameters, Distance: distance(sorted, d.CDF), P50: d.Quantile(0.5), P99: d.Quantile(0.99),
		Score: float64(f.free)*math.Log(float64(len(sorted))) - 2*likelihood}
	if floats.HasNaN([]float64{fit.Distance, fit.P50, fit.P99, fit.Score}) || math.IsInf(fit.Score, 0) {
		return Fit{}, false
	}
	fit.P = math.NaN()
	return fit, true
}

const (
	mostTested = 1000 // values of a sample, so that a test takes a tenth of a second
	resamples  = 99   // so that P has two digits
)

// p is by the parametric bootstrap, since the tables of Kolmogorov and Smirnov are for
// parameters that were known beforehand, and accept too much where they were fitted: Stute,
// González Manteiga, Presedo Quindimil: Bootstrap based goodness-of-fit-tests (1993). Its draws are
// the same each time.
func (f *candidate) p(sorted []float64) float64 {
	tested := thinned(sorted, mostTested)
	own, parameters, ok := f.estimate(tested)
	if !ok {
		return 0
	}
	draw := own.Quantile
	if f.drawn != nil {
		dist, err := f.drawn(parameters)
		if err != nil {
			return 0
		}
		draw = dist.Sample
	}
	far := distance(tested, own.CDF)
	rand, above := engine.Rand{Seed: 1}, 0
	values := make([]float64, len(tested))
	for r := range resamples {
		for i := range values {
			values[i] = draw(rand.Uniform(engine.ForRunTime, uint64(i), uint64(r), 0))
		}
		slices.Sort(values)
		again, _, ok := f.estimate(values)
		if !ok || distance(values, again.CDF) >= far {
			above++
		}
	}
	return float64(above+1) / (resamples + 1)
}
