package imports

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// mostErlang is the largest k of an Erlang distribution that is looked for: beyond it a gamma
// distribution differs too little from its neighbours.
const mostErlang = 50

// estimateErlang takes the better of the two whole numbers beside the shape of the most likely gamma
// distribution, whose likelihood falls to both sides of it. With k = 1 it is exponential.
func estimateErlang(v []float64) (shape, []FitParameter, bool) {
	_, parameters, ok := estimateGamma(v)
	if !ok {
		return nil, nil, false
	}
	mean, cv := parameters[0].Value, parameters[1].Value
	logs, n := meanLog(v), float64(len(v))
	best, most := 0.0, math.Inf(-1)
	for _, k := range []float64{math.Floor(1 / (cv * cv)), math.Ceil(1 / (cv * cv))} {
		logGamma, _ := math.Lgamma(k)
		if likelihood := n * (k*math.Log(k/mean) + (k-1)*logs - k - logGamma); k >= 2 && likelihood > most {
			best, most = k, likelihood
		}
	}
	return distuv.Gamma{Alpha: best, Beta: best / mean}, []FitParameter{{"mean", mean, true}, {"k", best, false}}, best >= 2 && best <= mostErlang
}

// folded is the absolute value of a normal distribution.
type folded struct{ mean, deviation float64 }

// CDF implements shape.
func (f folded) CDF(x float64) float64 {
	return distuv.UnitNormal.CDF((x-f.mean)/f.deviation) - distuv.UnitNormal.CDF((-x-f.mean)/f.deviation)
}

// LogProb implements shape.
func (f folded) LogProb(x float64) float64 {
	return distuv.Normal{Mu: f.mean, Sigma: f.deviation}.LogProb(x) + math.Log1p(math.Exp(-2*f.mean*x/(f.deviation*f.deviation)))
}

// Quantile implements shape.
func (f folded) Quantile(p float64) float64 { return invert(f.CDF, p, f.mean+f.deviation) }

// estimateNormal maximizes the likelihood of the absolute value by its fixed point (Leone, Nelson,
// Nottingham: The folded normal distribution, 1961): mean = average of x·tanh(mean·x÷sd²), and sd² = that of x² less
// mean². Some deviations above 0 those are mean and deviation of the sample.
func estimateNormal(v []float64) (shape, []FitParameter, bool) {
	squares := 0.0
	for _, x := range v {
		squares += x * x
	}
	squares /= float64(len(v))
	mean := stat.Mean(v, nil)
	variance := squares - mean*mean
	for range 200 {
		if !(variance > 0) {
			return nil, nil, false
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
	return folded{mean, deviation}, []FitParameter{{"mean", mean, true}, {"sd", deviation, true}}, mean > 0.01*deviation && deviation > 1e-4*mean
}

// hyperexponential is a mixture of two exponentials, the first with this share, each with half of the mean.
type hyperexponential struct{ mean, share float64 }

// rates are those of the two branches.
func (h hyperexponential) rates() (a, b float64) {
	return 2 * h.share / h.mean, 2 * (1 - h.share) / h.mean
}

// CDF implements shape.
func (h hyperexponential) CDF(x float64) float64 {
	a, b := h.rates()
	return 1 - h.share*math.Exp(-a*x) - (1-h.share)*math.Exp(-b*x)
}

// LogProb implements shape. It takes the larger branch out, since far from 0 the ratio of the two
// is beyond all numbers.
func (h hyperexponential) LogProb(x float64) float64 {
	a, b := h.rates()
	first, second := math.Log(h.share*a)-float64(a*x), math.Log((1-h.share)*b)-float64(b*x)
	return max(first, second) + math.Log1p(math.Exp(-math.Abs(first-second)))
}

// Quantile implements shape.
func (h hyperexponential) Quantile(p float64) float64 { return invert(h.CDF, p, h.mean) }

// estimateHyperexponential maximizes the likelihood by expectation and maximization (Dempster, Laird, Rubin
// 1977). With w the probability that a value is of the first branch, W the sum of w, A that of w·x and B that
// of (1-w)·x, the mean is 2(pA+qB)÷n, and p solves 2W÷p − 2(n−W)÷q = n(A−B)÷(pA+qB), q = 1-p. It
// begins with the moments; what varies less than an exponential is none.
func estimateHyperexponential(v []float64) (shape, []FitParameter, bool) {
	n := float64(len(v))
	mean, deviation := stat.PopMeanStdDev(v, nil)
	square := deviation * deviation / (mean * mean)
	if !(square > 1) {
		return nil, nil, false
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
		low, high := 0.0, 1.0
		for range 60 {
			p := (low + high) / 2
			if 2*count/p-2*(n-count)/(1-p) > n*(first-second)/(p*first+(1-p)*second) {
				low = p
			} else {
				high = p
			}
		}
		next := hyperexponential{2 * (low*first + (1-low)*second) / n, low}
		done := math.Abs(next.share-h.share) <= 1e-5 && math.Abs(next.mean-h.mean) <= 1e-5*h.mean
		if h = next; done {
			break
		}
	}
	r := 2*h.share - 1
	cv := math.Sqrt((1 + r*r) / (1 - r*r))
	return h, []FitParameter{{"mean", h.mean, true}, {"cv", cv, false}}, cv > 1 && cv < 1000
}

// invert finds where a distribution function on [0, ∞) is p, by bisection; near is a first guess above 0.
func invert(cdf func(float64) float64, p, near float64) float64 {
	low, high := 0.0, near
	for i := 0; cdf(high) < p; i++ {
		if low, high = high, 2*high; i > 200 {
			return math.Inf(1)
		}
	}
	for range 100 {
		middle := (low + high) / 2
		if cdf(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
