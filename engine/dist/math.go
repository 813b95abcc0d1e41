package dist

import "math"

// The functions of this file and of special.go give the same bits on every
// processor, which math.Log, math.Exp and their like do not: those have assembly
// for some processors, and compilers fuse x*y+z into one rounding where the
// processor can. Here every product is rounded by an explicit float64 conversion,
// which the language forbids to fuse; what is left, + - * / and the square root,
// IEEE 754 rounds the same way everywhere.

// portableLog, portableLog1p and portableExp follow e_log.c and e_exp.c of FDLIBM,
// https://www.netlib.org/fdlibm/, errors below 1 ulp, which came with this notice:
//
//	Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All rights reserved.
//	Permission to use, copy, modify, and distribute this software is freely
//	granted, provided that this notice is preserved.
const (
	log2High = 6.93147180369123816490e-01 // ln 2 cut to 32 bits: k*log2High is exact
	log2Low  = 1.90821492927058770002e-10 // the rest of ln 2
	log2e    = 1.44269504088896338700e+00 // 1 / ln 2
)

var (
	// (ln(1+f) - ln(1-f) - 2s) / s as a minimax polynomial in s² without its constant.
	logCoefficients = []float64{
		6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
	}
	// r(eʳ+1)/(eʳ-1) - 2 as a minimax polynomial in r² without its constant.
	expCoefficients = []float64{
		1.66666666666666657415e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
		-1.65339022054652515390e-06, 4.13813679705723846039e-08,
	}
)

// polynomial returns the sum of c[i]·xⁱ by Horner's rule.
func polynomial(x float64, c []float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = c[i] + float64(sum*x)
	}
	return sum
}

// portableLog returns ln x. The error is below 1 ulp for finite x > 0; ln 0 is -Inf, and NaN is returned for x < 0.
func portableLog(x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0 || x != x:
		return math.NaN()
	case x > math.MaxFloat64:
		return x
	}
	k := 0.0
	if x < 0x1p-1022 {
		x, k = float64(x*0x1p54), -54
	}
	// x = 2^k (1+f) with 1+f in [√½, √2).
	b := math.Float64bits(x)
	k += float64(int64(b>>52) - 1023)
	x = math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if x >= math.Sqrt2 {
		x, k = float64(x*0.5), k+1
	}
	return log1pReduced(x-1, k)
}

// portableLog1p returns ln(1+x) for x > -1, with an error below 2 ulp.
func portableLog1p(x float64) float64 {
	if x > math.Sqrt2/2-1 && x < math.Sqrt2-1 {
		return log1pReduced(x, 0)
	}
	// What rounding 1+x loses is given back to first order.
	sum := 1 + x
	if sum <= 0 || sum > math.MaxFloat64 {
		return portableLog(sum)
	}
	lost := x - (sum - 1)
	if x > 1 {
		lost = 1 - (sum - x)
	}
	return portableLog(sum) + lost/sum
}

// log1pReduced returns k·ln 2 + ln(1+f) for 1+f in [√½, √2).
func log1pReduced(f, k float64) float64 {
	s := f / (2 + f)
	square := float64(s * s)
	rest := float64(square * polynomial(square, logCoefficients))
	half := float64(float64(0.5*f) * f)
	if k == 0 {
		return f - (half - float64(s*(half+rest)))
	}
	return float64(k*log2High) - ((half - (float64(s*(half+rest)) + float64(k*log2Low))) - f)
}

// portableExp returns e^x. The error is below 1 ulp; for x above 709.78 it returns +Inf, below -745.13 it returns 0.
func portableExp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 7.09782712893383973096e+02:
		return math.Inf(1)
	case x < -7.45133219101941108420e+02:
		return 0
	case -0x1p-28 < x && x < 0x1p-28:
		return 1 + x
	}
	k := int(float64(log2e*x) + math.Copysign(0.5, x))
	high := x - float64(float64(k)*log2High)
	low := float64(float64(k) * log2Low)
	r := high - low
	square := float64(r * r)
	c := r - float64(square*polynomial(square, expCoefficients))
	y := 1 - ((low - float64(r*c)/(2-c)) - high)
	switch {
	case k > 1023:
		return float64(float64(y*2) * powerOf2(k-1))
	case k < -1022:
		return float64(float64(y*powerOf2(k+64)) * 0x1p-64)
	}
	return float64(y * powerOf2(k))
}

// powerOf2 returns 2^k for k in [-1022, 1023].
func powerOf2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// expRemainder returns e^x - 1 - x to full relative precision, also for small x, where subtraction would lose all
// digits.
func expRemainder(x float64) float64 {
	if x < -0.5 || x > 0.5 {
		return (portableExp(x) - 1) - x
	}
	// x²/2! + x³/3! + ...; the 17th term is below 2^-60 of the first.
	sum := 0.0
	for n := 18.0; n >= 3; n-- {
		sum = float64((1+sum)*x) / n
	}
	return float64(float64(0.5*float64(x*x)) * (1 + sum))
}

// portableExpm1 returns e^x - 1 to full relative precision.
func portableExpm1(x float64) float64 {
	if x < -0.5 || x > 0.5 {
		return portableExp(x) - 1
	}
	return x + expRemainder(x)
}
