package imports

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine/dist"
	"qsim/results/plain"
)

// shape is a distribution with its distribution function and density.
type shape interface {
	CDF(x float64) float64
	LogProb(x float64) float64
}

// candidate is a family of distributions whose parameters are to be estimated.
type candidate struct {
	kind     string
	free     int  // parameters
	positive bool // its density at 0 is 0 or infinite
	// estimate returns the distribution under which sorted values are most likely, nil if there is none, and its
	// parameters as a scenario has them.
	estimate func(sorted []float64) (shape, []FitParameter)
	// of returns the simulation's distribution with the values of the first and the last of these parameters.
	of func(first, last float64) (dist.Dist, error)
}

var candidates = []*candidate{
	{kind: "exponential", free: 1, estimate: func(v []float64) (shape, []FitParameter) {
		mean := stat.Mean(v, nil)
		return provided(mean > 0, distuv.Exponential{Rate: 1 / mean}, inTime("mean", mean))
	}, of: func(mean, _ float64) (dist.Dist, error) { return dist.Exponential(mean) }},
	{kind: "uniform", free: 2, of: dist.Uniform, estimate: func(v []float64) (shape, []FitParameter) {
		low, high := v[0], v[len(v)-1]
		return provided(low < high, distuv.Uniform{Min: low, Max: high}, inTime("min", low), inTime("max", high))
	}},
	{kind: "normal", free: 2, estimate: estimateNormal, of: dist.Normal},
	{kind: "lognormal", free: 2, positive: true, estimate: estimateLogNormal, of: dist.LogNormalMeanCV},
	{kind: "gamma", free: 2, positive: true, estimate: estimateGamma, of: dist.Gamma},
	// k is one of a few whole numbers and no parameter that is free, so that where a whole number fits, the simpler family
	// does.
	{kind: "erlang", free: 1, positive: true, estimate: estimateErlang,
		of: func(mean, k float64) (dist.Dist, error) { return dist.Erlang(mean, int(k)) }},
	{kind: "weibull", free: 2, positive: true, estimate: estimateWeibull, of: dist.Weibull},
	{kind: "hyperexponential", free: 2, estimate: estimateHyperexponential, of: dist.HyperExponential},
	{kind: "pareto", free: 2, positive: true, of: dist.Pareto, estimate: func(v []float64) (shape, []FitParameter) {
		low := v[0]
		alpha := 1 / (meanLog(v) - math.Log(low))
		return provided(low > 0 && alpha > 1 && alpha < 1e3, distuv.Pareto{Xm: low, Alpha: alpha}, inTime("min", low),
			number("alpha", alpha))
	}},
}

// constant is the family of samples whose values are nearly equal, which need no estimate.
var constant = candidate{kind: "constant", of: func(v, _ float64) (dist.Dist, error) { return dist.Constant(v) }}

// provided returns an estimated distribution with its parameters, or nil if the parameters are out of range.
func provided(possible bool, s shape, parameters ...FitParameter) (shape, []FitParameter) {
	if !possible {
		return nil, nil
	}
	return s, parameters
}

func inTime(name string, seconds float64) FitParameter { return FitParameter{name, seconds, true} }
func number(name string, value float64) FitParameter   { return FitParameter{name, value, false} }

func meanLog(v []float64) float64 { return stat.Mean(plain.Map(v, math.Log), nil) }

func estimateLogNormal(v []float64) (shape, []FitParameter) {
	mu, sigma := stat.PopMeanStdDev(plain.Map(v, math.Log), nil)
	cv := math.Sqrt(math.Expm1(sigma * sigma))
	mean := math.Exp(mu + sigma*sigma/2)
	return provided(cv > 1e-4 && cv < 100, distuv.LogNormal{Mu: mu, Sigma: sigma}, inTime("mean", mean), number("cv", cv))
}

// estimateGamma returns the most likely gamma distribution: its shape k solves ln k − ψ(k) = ln of the mean − mean of
// ln x (Minka: Estimating a Gamma distribution, 2002), whose left side falls as k grows.
func estimateGamma(v []float64) (shape, []FitParameter) {
	mean := stat.Mean(v, nil)
	s := math.Log(mean) - meanLog(v)
	shapes := func(i int) float64 { return 1e-4 * math.Exp(float64(i)*0x1p-25) } // up to 1e10
	k := shapes(sort.Search(1<<30, func(i int) bool { return math.Log(shapes(i))-mathext.Digamma(shapes(i)) <= s }))
	cv := 1 / math.Sqrt(k)
	return provided(cv > 1e-3 && cv < 30, distuv.Gamma{Alpha: k, Beta: k / mean}, inTime("mean", mean), number("cv", cv))
}

// mostErlang is the largest shape k of an Erlang distribution to be fitted: above it, k and k+1 hardly differ.
const mostErlang = 50

// estimateErlang returns the most likely Erlang distribution: its k is one of the two whole numbers beside the shape of
// the most likely gamma distribution, whose likelihood falls to both sides. k = 1, which is exponential, gives none.
func estimateErlang(v []float64) (shape, []FitParameter) {
	s, parameters := estimateGamma(v)
	if s == nil {
		return nil, nil
	}
	mean, own := parameters[0].Value, math.Pow(parameters[1].Value, -2)
	logs, n := math.Log(mean/own)+mathext.Digamma(own), float64(len(v)) // the mean of ln x, as estimateGamma solves it
	best, most := 0.0, math.Inf(-1)
	for _, k := range []float64{math.Floor(own), math.Ceil(own)} {
		logGamma, _ := math.Lgamma(k)
		if likelihood := n * (k*math.Log(k/mean) + (k-1)*logs - k - logGamma); k >= 2 && likelihood > most {
			best, most = k, likelihood
		}
	}
	return provided(best >= 2 && best <= mostErlang, distuv.Gamma{Alpha: best, Beta: best / mean}, inTime("mean", mean),
		number("k", best))
}

// estimateWeibull returns the most likely Weibull distribution. Its shape k solves Σ xᵏ ln x ÷ Σ xᵏ − 1/k = mean of ln
// x (Cohen: Maximum likelihood estimation in the Weibull distribution, 1965, equation 7), by Newton's method, for
// values divided by the largest so that no power overflows.
func estimateWeibull(v []float64) (shape, []FitParameter) {
	largest := v[len(v)-1]
	logs := plain.Map(v, func(x float64) float64 { return math.Log(x / largest) })
	mean, deviation := stat.PopMeanStdDev(logs, nil)
	k := math.Pi / math.Sqrt(6) / deviation // of a Weibull distribution, whose logarithm is a Gumbel one
	var s0, s1, s2 float64
	for range 50 {
		s0, s1, s2 = 0, 0, 0
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
	scale := largest * math.Pow(s0/float64(len(v)), 1/k)
	return provided(k > 0.1 && k < 1000, distuv.Weibull{K: k, Lambda: scale}, inTime("mean", scale*math.Gamma(1+1/k)),
		number("shape", k))
}

// folded is the folded normal distribution: that of the absolute value of a normal variable.
type folded struct{ mean, deviation float64 }

func (f folded) CDF(x float64) float64 {
	return distuv.UnitNormal.CDF((x-f.mean)/f.deviation) - distuv.UnitNormal.CDF((-x-f.mean)/f.deviation)
}

func (f folded) LogProb(x float64) float64 {
	return distuv.Normal{Mu: f.mean, Sigma: f.deviation}.LogProb(x) +
		math.Log1p(math.Exp(-2*f.mean*x/(f.deviation*f.deviation)))
}

// estimateNormal returns the most likely folded normal distribution, by a fixed-point iteration (Leone, Nelson,
// Nottingham: The folded normal distribution, 1961): mean = average of x·tanh(mean·x÷sd²), and sd² = average of x² −
// mean². If the mean is several sd above 0, these are mean and deviation of the sample.
func estimateNormal(v []float64) (shape, []FitParameter) {
	squares, mean := floats.Dot(v, v)/float64(len(v)), stat.Mean(v, nil)
	variance := squares - mean*mean
	for range 200 {
		if !(variance > 0) {
			return nil, nil
		}
		sum := 0.0
		for _, x := range v {
			sum += x * math.Tanh(mean*x/variance)
		}
		next := sum / float64(len(v))
		done := math.Abs(next-mean) <= 1e-7*mean
		if mean, variance = next, squares-next*next; done {
			break
		}
	}
	deviation := math.Sqrt(variance)
	return provided(mean > 0.01*deviation && deviation > 1e-4*mean, folded{mean, deviation}, inTime("mean", mean),
		inTime("sd", deviation))
}

// hyperexponential is a mixture of two exponentials with equal parts of the mean; share is the weight of the first.
type hyperexponential struct{ mean, share float64 }

func (h hyperexponential) rates() (a, b float64) {
	return 2 * h.share / h.mean, 2 * (1 - h.share) / h.mean
}

func (h hyperexponential) CDF(x float64) float64 {
	a, b := h.rates()
	return 1 - h.share*math.Exp(-a*x) - (1-h.share)*math.Exp(-b*x)
}

// LogProb returns the logarithm of the density of the hyperexponential distribution at x. It factors out the larger
// branch, since far from 0 the ratio of the two overflows.
func (h hyperexponential) LogProb(x float64) float64 {
	a, b := h.rates()
	first, second := math.Log(h.share*a)-float64(a*x), math.Log((1-h.share)*b)-float64(b*x)
	return max(first, second) + math.Log1p(math.Exp(-math.Abs(first-second)))
}

// estimateHyperexponential returns the most likely hyperexponential distribution, by expectation and maximization
// (Dempster, Laird, Rubin 1977). With w the probability that a value is of the first branch, W the sum of w, A the sum
// of w·x and B the sum of (1-w)·x, the mean is 2(pA+qB)÷n, and p solves 2W÷p − 2(n−W)÷q = n(A−B)÷(pA+qB), q = 1-p. It
// begins with the moments; there is none for values that vary less than an exponential.
func estimateHyperexponential(v []float64) (shape, []FitParameter) {
	n := float64(len(v))
	mean, deviation := stat.PopMeanStdDev(v, nil)
	square := deviation * deviation / (mean * mean)
	if !(square > 1) {
		return nil, nil
	}
	h := hyperexponential{mean, (1 + math.Sqrt((square-1)/(square+1))) / 2}
	for range 100 {
		a, b := h.rates()
		odds := (1 - h.share) * b / (h.share * a)
		var count, first, second float64
		for _, x := range v {
			w := 1 / (1 + odds*math.Exp((a-b)*x))
			count, first, second = count+w, first+w*x, second+(1-w)*x
		}
		shares := func(i int) float64 { return 1 / (1 + math.Exp(16-float64(i)*0x1p-25)) } // 1e-7 to 1 - 1e-7
		p := shares(sort.Search(1<<30, func(i int) bool {
			p := shares(i)
			return 2*count/p-2*(n-count)/(1-p) <= n*(first-second)/(p*first+(1-p)*second)
		}))
		next := hyperexponential{2 * (p*first + (1-p)*second) / n, p}
		done := math.Abs(next.share-h.share) <= 1e-5 && math.Abs(next.mean-h.mean) <= 1e-5*h.mean
		if h = next; done {
			break
		}
	}
	r := 2*h.share - 1
	cv := math.Sqrt((1 + r*r) / (1 - r*r))
	return provided(cv > 1 && cv < 1000, h, inTime("mean", h.mean), number("cv", cv))
}
