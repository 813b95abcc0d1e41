package dist

import (
	"math"
	"testing"
)

// Ranks are drawn as often as their weights say, to 1e-12: the share of u that draws a
// rank is read from the table's edges.
func TestZipf(t *testing.T) {
	for _, tt := range []struct {
		n        int
		exponent float64
	}{{1, 0}, {1, 3}, {4, 0}, {10, 1}, {1000, 1.2}, {3, 10}, {100_000, 0.5}} {
		z, err := NewZipf(tt.n, tt.exponent)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := range tt.n {
			sum += math.Pow(float64(i+1), -tt.exponent)
		}
		below := 0.0
		for _, i := range []int{0, 1, 2, tt.n / 2, tt.n - 1} {
			if i >= tt.n {
				continue
			}
			below = 0
			for k := range i {
				below += math.Pow(float64(k+1), -tt.exponent) / sum
			}
			share := math.Pow(float64(i+1), -tt.exponent) / sum
			if got := z.Rank(below + share/2); got != i {
				t.Errorf("n %d, exponent %v: the middle of rank %d draws %d", tt.n, tt.exponent, i, got)
			}
			if i > 0 && share > 1e-9 {
				if got := z.Rank(below - 1e-12); got != i-1 {
					t.Errorf("n %d, exponent %v: just below rank %d draws %d", tt.n, tt.exponent, i, got)
				}
			}
		}
		if got := z.Rank(mostDraw); got != tt.n-1 {
			t.Errorf("n %d, exponent %v: the largest draw gives rank %d", tt.n, tt.exponent, got)
		}
	}
	for _, bad := range []struct {
		n        int
		exponent float64
	}{{0, 1}, {2, -1}, {2, math.NaN()}, {2, math.Inf(1)}} {
		if _, err := NewZipf(bad.n, bad.exponent); err == nil {
			t.Errorf("n %d, exponent %v: no error", bad.n, bad.exponent)
		}
	}
}
