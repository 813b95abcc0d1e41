package verify

import (
	"math"
	"slices"
	"testing"
	"time"

	"qsim/engine"
)

// TestDurations checks quantiles of the histogram durations against those of the sorted values.
func TestDurations(t *testing.T) {
	var all durations
	var values []time.Duration
	for i := range 500 {
		v := time.Duration(i*i) * 97711
		values = append(values, v)
		var one durations
		one.record(v)
		all.merge(&one)
	}
	slices.Sort(values)
	for _, q := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 1} {
		want := values[int(math.Ceil(q*500))-1].Seconds()
		if got := all.quantile(q); math.Abs(got-want) > want/4000+1e-9 {
			t.Errorf("quantile %v: got %v, want %v", q, got, want)
		}
	}
	for _, v := range []time.Duration{0, 1, 4095, 4096, 8191, 8192, 1 << 40, 1<<40 + 12345, math.MaxInt64} {
		if got := middleOf(bucketOf(v)); math.Abs(float64(got-v)) > float64(v)/4096 {
			t.Errorf("bucket of %d: its middle is %d", v, got)
		}
		if v > 0 && bucketOf(v) < bucketOf(v-1) {
			t.Errorf("bucket of %d lies below that of the one before", v)
		}
	}
}

// TestCappedCoins checks that the plans of the policy cappedCoins keep its cap on retries and its share of fresh jobs.
func TestCappedCoins(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		fresh                float64
		cap, inFlight, idle  int
		mostRetry, mostFresh int
	}{
		{"room for one", 0, 1, 0, 3, 1, 3},
		{"no room", 0, 1, 1, 3, 0, 3},
		{"more in flight than the cap", 0.5, 1, 2, 1, 0, 1},
		{"fresh first", 1, 5, 0, 2, 5, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			policy := cappedCoins{fresh: tt.fresh, cap: tt.cap}
			view := engine.View{Idle: tt.idle, Workers: 10, InFlight: [engine.NumClasses]int{0, tt.inFlight}}
			var limits [engine.NumClasses]int
			terms := policy.Plan(&view, nil)
			for _, term := range terms {
				limits[term.Class] += term.Limit
			}
			if limits[engine.Retry] != tt.mostRetry || limits[engine.Fresh] < tt.mostFresh {
				t.Errorf("got %+v: at most %d retries and at least %d fresh", terms, tt.mostRetry, tt.mostFresh)
			}
			if tt.fresh == 1 && (terms[0].Class != engine.Fresh || terms[0].Limit != tt.idle) {
				t.Errorf("got %+v: want fresh jobs first", terms)
			}
		})
	}
}
