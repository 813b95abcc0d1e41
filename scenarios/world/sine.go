package world

import "math"

// sine returns sin(2π·turn) for any turn of at most 2^50, with an error below 1e-15. It
// gives the same bits on every processor, which math.Sin does not: no product is fused
// with a sum.
func sine(turn float64) float64 {
	turn -= math.Floor(turn)
	sign := 1.0
	if turn >= 0.5 {
		turn, sign = turn-0.5, -1
	}
	if turn > 0.25 {
		turn = 0.5 - turn // exact: both are within a factor of 2
	}
	// The Taylor series: at π/2 the term after the last is below 1e-18.
	x := float64(2 * math.Pi * turn)
	square := float64(x * x)
	sum := 0.0
	for n := 21.0; n >= 3; n -= 2 {
		sum = float64((1-sum)*square) / float64(n*(n-1))
	}
	return float64(sign * float64(x*(1-sum)))
}
