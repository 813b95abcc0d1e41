package dist

import (
	"errors"
	"sort"
)

// Zipf draws one of n ranks: rank i, from 0, with a probability in proportion to (i+1)^-exponent. It is immutable, and
// copies share its table. Draws are by inversion, as in Dist: larger numbers never give smaller ranks.
type Zipf struct {
	n    int
	upTo []float64 // by rank, probability of that or a lower rank, without the last; nil: all ranks alike
}

// NewZipf returns the distribution over n ranks, n at least 1, exponent in [0, 1e100]. With exponent 0 all ranks are
// equally likely.
func NewZipf(n int, exponent float64) (Zipf, error) {
	if n < 1 {
		return Zipf{}, errors.New("zipf of no ranks")
	}
	if err := checkValue("exponent", exponent); err != nil {
		return Zipf{}, err
	}
	z := Zipf{n: n}
	if exponent == 0 || n == 1 {
		return z, nil
	}
	// Summed from the smallest weight to the largest, so that little is rounded away.
	z.upTo = make([]float64, n)
	sum := 0.0
	for i := n - 1; i >= 0; i-- {
		sum += portableExp(-float64(exponent * portableLog(float64(i+1))))
		z.upTo[i] = sum // of rank i and those after it
	}
	for i := range n - 1 {
		z.upTo[i] = 1 - z.upTo[i+1]/sum
	}
	z.upTo = z.upTo[:n-1]
	return z, nil
}

// Rank returns the rank in [0, n) that u in (0, 1) draws.
func (z Zipf) Rank(u float64) int {
	if z.upTo == nil {
		return min(int(float64(float64(z.n)*u)), max(z.n-1, 0))
	}
	return sort.Search(len(z.upTo), func(i int) bool { return z.upTo[i] > u })
}
