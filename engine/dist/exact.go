package dist

import "math"

// quantile is a quantile function computed without a table: it returns the value that is not exceeded with probability
// t, or 1-t if upper, for t in [leastDraw, ½]. Where it needs a numeric search, that begins at near; found, where it
// ended, is a good start for the next search.
type quantile func(t float64, upper bool, near float64) (value, found float64)

// raised returns the quantile function unit·e^y, for a function that returns y.
func raised(unit float64, y func(t float64, upper bool, near float64) float64) quantile {
	return func(t float64, upper bool, near float64) (value, found float64) {
		found = y(t, upper, near)
		value = float64(unit * portableExp(spaced(found)))
		if value < leastValue {
			value = 0
		}
		return value, found
	}
}

// leastValue is the limit below which samples are rounded to 0: far below any useful value, far above the smallest
// numbers, which lose precision.
const leastValue = 1e-200

// spaced rounds y to a multiple of 2^-46, if it has finer bits. Different results then differ by so much that the
// rounding errors of portableExp cannot change their order.
func spaced(y float64) float64 {
	const magic = 1.5 * (1 << (52 - 46))
	if y <= -32 || y >= 32 {
		return y
	}
	return (y + magic) - magic
}

// unitExponential returns the quantile of the exponential distribution of mean 1 for probability t, or 1-t if upper.
func unitExponential(t float64, upper bool) float64 {
	if upper {
		return -portableLog(t)
	}
	return -portableLog1p(-t)
}

// normalQuantile returns the value that a standard normal variable does not exceed with probability t, or 1-t if upper.
func normalQuantile(t float64, upper bool) float64 {
	if upper {
		return normalUpperQuantile(t)
	}
	return -normalUpperQuantile(t)
}

// tail is the logarithm of the probability of a value less or, if upper, more than e^y in some unit, and its derivative
// with respect to y.
type tail func(y float64, upper bool) (value, slope float64)

// search returns the y at which a tail probability is t. It is Newton's method on logarithms, where the tails of all
// these distributions are nearly straight, within a bracket that shrinks at every step.
func (logTail tail) search(t float64, upper bool, near float64) float64 {
	target := portableLog(t)
	const least, most = -1e8, 300.0
	low, high, y, missBefore := least, most, near, math.Inf(1)
	for range 300 {
		value, slope := logTail(y, upper)
		miss := value - target
		if (miss > 0) != upper {
			high = y
		} else {
			low = y
		}
		next := y - miss/slope
		inside := next > low && next < high
		slow := math.Abs(miss) > float64(0.5*missBefore) && low > least && high < most
		switch {
		case inside && math.Abs(miss) < 1e-8:
			return next // the next miss would be about miss², 1e-16
		case !inside || slow:
			next = float64(0.5 * (low + high))
		}
		if next == y {
			break
		}
		y, missBefore = next, math.Abs(miss)
	}
	return y
}

// gammaTail returns the tail of a gamma distribution of shape a, in units of its mean. It is P(a, x) at x = a·e^y; its
// density in y is x^a·e^-x / Γ(a) = a·(a^a·e^-a / Γ(a+1))·e^(-a(e^y-1-y)).
func gammaTail(a float64) tail {
	peak := logGammaPeak(a)
	return func(y float64, upper bool) (value, slope float64) {
		x, term := float64(a*portableExp(y)), peak-float64(a*expRemainder(y))
		if upper {
			value = logGammaQ(a, x, term)
			return value, -float64(a * portableExp(term-value))
		}
		value = logGammaP(a, x, term)
		return value, float64(a * portableExp(term-value))
	}
}

// hyperexponentialTail returns the tail of a mixture of two exponentials with shares p and q and rates 2p and 2q, so
// that each contributes half of the mean 1.
func hyperexponentialTail(p, q float64) tail {
	return func(y float64, upper bool) (value, slope float64) {
		v := portableExp(y)
		x1, x2 := -float64(float64(2*p)*v), -float64(float64(2*q)*v)
		e1, e2 := float64(p*portableExp(x1)), float64(q*portableExp(x2))
		density := -(float64(e1*x1) + float64(e2*x2))
		if upper {
			return portableLog(e1 + e2), -density / (e1 + e2)
		}
		below := -(float64(p*portableExpm1(x1)) + float64(q*portableExpm1(x2)))
		return portableLog(below), density / below
	}
}

// foldedTail returns the tail of the distribution of |X|, X normal with mean m and deviation 1.
func foldedTail(m float64) tail {
	return func(y float64, upper bool) (value, slope float64) {
		v := portableExp(y)
		if !upper && v < 0.5 {
			return foldedStart(m, v, y)
		}
		density := float64(v * (normalDensity(v-m) + normalDensity(v+m)))
		if upper {
			above := normalCDF(m-v) + normalCDF(-v-m)
			return portableLog(above), -density / above
		}
		below := normalCDF(v-m) - normalCDF(-v-m)
		return portableLog(below), density / below
	}
}

// foldedStart is the lower tail of foldedTail, log P(|X| < v) with v = e^y and X normal with mean m and deviation 1,
// for v < ½, where the difference of two values of the normal CDF would lose precision; φ is the normal density:
//
//	P(|X| < v) = 2φ(m)·∫₀ᵛ e^(-s²/2)·cosh(ms) ds = 2φ(m)·v·Σ He₂ₙ(m)·v²ⁿ / (2n+1)!
//
// because e^(ms-s²/2) generates the Hermite polynomials, Heₙ₊₁ = m·Heₙ - n·Heₙ₋₁.
func foldedStart(m, v, y float64) (value, slope float64) {
	square, mv := float64(v*v), float64(m*v)
	sum, before, last := 1.0, 1.0, mv // Heₙ(m)·vⁿ/n! for n = 0 and 1
	for n := 1.0; n < 200; n += 2 {
		even := (float64(mv*last) - float64(square*before)) / (n + 1)
		odd := (float64(mv*even) - float64(square*last)) / (n + 2)
		sum += even / (n + 2)
		before, last = even, odd
		if n > mv && math.Abs(even)+math.Abs(odd) < 0x1p-60 {
			break
		}
	}
	value = math.Ln2 - halfLog2Pi - float64(0.5*float64(m*m)) + y + portableLog(sum)
	cosh := float64(0.5 * (portableExp(mv) + portableExp(-mv)))
	return value, float64(portableExp(-float64(0.5*square))*cosh) / sum
}
