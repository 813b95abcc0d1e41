package measure

import (
	"math"
	"testing"
	"time"
)

// censored returns the waits 3, 5, 5+, 8, 10+, 12, 12 and 15+ ns, with + for those that have not ended.
func censored() *Waits {
	return &Waits{*recorded([]time.Duration{3, 5, 8, 12, 12}), *recorded([]time.Duration{5, 10, 15})}
}

func TestCensoredWaits(t *testing.T) {
	w := censored()
	for _, tt := range []struct {
		name  string
		got   Value
		want  float64 // ns
		bound bool
	}{
		{"p25", w.quantile(0.25), 5, false},
		{"median: the fourth of eight", w.quantile(0.5), 12, false},
		{"the fifth, all that ended", w.quantile(0.625), 12, false},
		{"the sixth of all as if they ended now", w.quantile(0.75), 12, true},
		{"the last", w.quantile(0.99), 15, true},
		{"mean of waits and ages", w.mean(), 70.0 / 8, true},
		{"longest", w.longest(), 15, true},
		{"Kaplan–Meier median", w.kaplanMeier().quantile(0.5), 12, false},
		{"Kaplan–Meier p25", w.kaplanMeier().quantile(0.25), 5, false},
		{"Kaplan–Meier p99, out of sight", w.kaplanMeier().quantile(0.99), 15, true},
		{"Kaplan–Meier mean up to 15", w.kaplanMeier().mean(), 10, true},
		{"mean without censoring", (&Waits{Ended: *recorded([]time.Duration{2, 4})}).mean(), 3, false},
		{"Kaplan–Meier mean without censoring", (&Waits{Ended: *recorded([]time.Duration{2, 4})}).kaplanMeier().mean(), 3, false},
		{"median of ages alone", (&Waits{Unresolved: *recorded([]time.Duration{2, 4})}).quantile(0.5), 2, true},
	} {
		if math.Abs(tt.got.Value*1e9-tt.want) > 1e-9 || (tt.got.Bound == ">=") != tt.bound || tt.got.Null {
			t.Errorf("%s = %+v, want %v ns, bound %v", tt.name, tt.got, tt.want, tt.bound)
		}
	}
}

func TestSurvivalCurve(t *testing.T) {
	s := censored().kaplanMeier()
	wantAt, want := []time.Duration{3, 5, 8, 12}, []float64{0.875, 0.75, 0.6, 0.2}
	for i := range want {
		if i >= len(s.at) || s.at[i] != wantAt[i] || math.Abs(s.share[i]-want[i]) > 1e-12 {
			t.Fatalf("survival = %v at %v, want %v at %v", s.share, s.at, want, wantAt)
		}
	}
}
