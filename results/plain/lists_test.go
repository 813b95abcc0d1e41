package plain

import (
	"math"
	"slices"
	"testing"
)

// TestOrder checks that Order sorts the indexes of elements by their keys, without those that have none, stably.
func TestOrder(t *testing.T) {
	t.Parallel()
	known := func(v float64) (float64, bool) { return v, !math.IsNaN(v) }
	for _, tt := range []struct {
		name string
		list []float64
		want []int
	}{
		{"none", nil, nil},
		{"no key", []float64{math.NaN(), math.NaN()}, nil},
		{"ascending", []float64{3, 1, 2}, []int{1, 2, 0}},
		{"equal keys", []float64{2, 1, 2, 1}, []int{1, 3, 0, 2}},
		{"one without a key", []float64{2, math.NaN(), 1}, []int{2, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Order(tt.list, known); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
