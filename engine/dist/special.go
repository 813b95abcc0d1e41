package dist

import (
	"cmp"
	"math"
)

const (
	halfLog2Pi  = 0.918938533204672741780329736406  // ln(2π)/2
	logGamma1p5 = -0.120782237635245222345518445782 // ln Γ(3/2) = ln(√π/2)
	sqrt2OverPi = 0.797884560802865355879892119869  // √(2/π)
)

// normalCentral and the variables below are the coefficients of the normal quantile function in Wichura: Algorithm AS
// 241, The Percentage Points of the Normal Distribution, Applied Statistics 37 (1988), 477-484, routine PPND16:
// numerators and denominators for |p-½| ≤ 0.425, for r = √(-ln p) ≤ 5 and for r in (5, 27], error about 1e-16.
var (
	normalCentral = [2][]float64{{
		3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	}, {
		1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	}}
	normalMiddle = [2][]float64{{
		1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}, {
		1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}}
	normalFar = [2][]float64{{
		6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}, {
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}}
)

// normalUpperQuantile returns the z ≥ 0 that a standard normal variable exceeds with probability p in [1e-307, 0.5].
func normalUpperQuantile(p float64) float64 {
	q := 0.5 - p
	if q <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q*polynomial(r, normalCentral[0])) / polynomial(r, normalCentral[1])
	}
	r := math.Sqrt(-portableLog(p))
	if r <= 5 {
		r -= 1.6
		return polynomial(r, normalMiddle[0]) / polynomial(r, normalMiddle[1])
	}
	r -= 5
	return polynomial(r, normalFar[0]) / polynomial(r, normalFar[1])
}

// normalCDF returns the probability that a standard normal variable is at most z, to full relative precision for z < 0,
// by Φ(-z) = Q(½, z²/2) / 2 for z ≥ 0.
func normalCDF(z float64) float64 {
	if z == 0 {
		return 0.5
	}
	x := float64(0.5 * float64(z*z))
	upper := float64(0.5 * portableExp(logGammaQ(0.5, x, float64(0.5*portableLog(x))-x-logGamma1p5)))
	if z < 0 {
		return upper
	}
	return 1 - upper
}

// normalDensity returns the density of the standard normal distribution at z.
func normalDensity(z float64) float64 {
	return portableExp(-float64(0.5*float64(z*z)) - halfLog2Pi)
}

// stirlingRest returns ln Γ(x+1) - (x+½)·ln x + x - ½·ln 2π for x ≥ 16 by Stirling's
// series, B(2n) / (2n(2n-1) x^(2n-1)); the first term left out is below 3e-20.
func stirlingRest(x float64) float64 {
	inverse := 1 / x
	return float64(inverse * polynomial(float64(inverse*inverse), []float64{
		1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156,
	}))
}

// logGamma returns ln Γ(x) for x in [1e-6, 1e300], with an absolute error below 3e-14
// for x < 20: Γ(x) = Γ(x+n) / (x(x+1)...(x+n-1)).
func logGamma(x float64) float64 {
	product := 1.0
	for ; x < 16; x++ {
		product = float64(product * x)
	}
	return float64((x-0.5)*portableLog(x)) - x + halfLog2Pi + stirlingRest(x) - portableLog(product)
}

// logGammaPeak returns ln(a^a·e^-a / Γ(a+1)) for a ≥ 1e-6, a constant of the gamma distribution of shape a.
func logGammaPeak(a float64) float64 {
	if a >= 16 {
		return -halfLog2Pi - float64(0.5*portableLog(a)) - stirlingRest(a)
	}
	return float64(a*portableLog(a)) - a - logGamma(a+1)
}

// gammaTerms is the highest number of terms of gammaSeries and gammaFraction. Both need about 9√a terms, so this is
// room for shapes up to 1e6.
const gammaTerms = 100_000

// logGammaP returns ln P(a, x), P the regularized lower incomplete gamma function,
// given logTerm = ln(x^a·e^-x / Γ(a+1)). DLMF 8.11.4 below a+1, DLMF 8.9.2 above.
func logGammaP(a, x, logTerm float64) float64 {
	if x < a+1 {
		return logTerm + portableLog(gammaSeries(a, x))
	}
	return portableLog1p(-portableExp(logTerm + portableLog(gammaFraction(a, x))))
}

// logGammaQ returns ln(1 - P(a, x)), given logTerm as for logGammaP, to full relative precision where x ≥ a+1.
func logGammaQ(a, x, logTerm float64) float64 {
	if x < a+1 {
		return portableLog1p(-portableExp(logTerm + portableLog(gammaSeries(a, x))))
	}
	return logTerm + portableLog(gammaFraction(a, x))
}

// gammaSeries returns 1 + x/(a+1) + x²/((a+1)(a+2)) + ..., the series for logGammaP below a+1.
func gammaSeries(a, x float64) float64 {
	sum, term := 1.0, 1.0
	for range gammaTerms {
		a++
		term = float64(term*x) / a
		sum += term
		if term < float64(sum*0x1p-55) {
			break
		}
	}
	return sum
}

// gammaFraction returns a / (x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - ...))), evaluated
// forwards by the modified algorithm of Lentz (Thompson and Barnett 1986).
func gammaFraction(a, x float64) float64 {
	const tiny = 1e-300
	b := x + 1 - a
	d := 1 / b
	c, h := 1/tiny, d
	for n := 1.0; n < gammaTerms; n++ {
		b += 2
		numerator := float64(n * (a - n))
		d = 1 / cmp.Or(b+float64(numerator*d), tiny)
		c = cmp.Or(b+numerator/c, tiny)
		factor := float64(c * d)
		h = float64(h * factor)
		if factor > 1-0x1p-52 && factor < 1+0x1p-52 {
			break
		}
	}
	return float64(a * h)
}
