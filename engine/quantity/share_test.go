package quantity

import (
	"math"
	"testing"
)

func TestShareOf(t *testing.T) {
	for _, tt := range []struct {
		share Share
		n     int
		want  int
	}{
		{Percent(20), 100, 20}, {Percent(20), 4, 1}, {Percent(20), 2, 0}, {Percent(50), 3, 2},
		{Percent(100), math.MaxInt32, math.MaxInt32}, {Share{}, 9, 0}, {Fraction(1, 3), 100, 33}, {Fraction(2, 3), 100, 67},
	} {
		if got := tt.share.Of(tt.n); got != tt.want {
			t.Errorf("%v of %d: got %d, want %d", tt.share, tt.n, got, tt.want)
		}
	}
}

func TestShareIsExact(t *testing.T) {
	if num, den := Fraction(40, 60).Fraction(); num != 2 || den != 3 {
		t.Errorf("got %d/%d, want 2/3", num, den)
	}
	if num, den := (Share{}).Fraction(); num != 0 || den != 1 {
		t.Errorf("got %d/%d, want 0/1", num, den)
	}
	if Percent(0) != (Fraction(0, 7)) {
		t.Error("0 % is not 0/7")
	}
	for _, fraction := range [][2]int64{{-1, 2}, {3, 2}, {0, 0}, {1, maxDenominator + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is a share", fraction)
				}
			}()
			Fraction(fraction[0], fraction[1])
		}()
	}
}
