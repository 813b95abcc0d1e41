package plain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShortenKeepsBothEnds(t *testing.T) {
	long := strings.Repeat("é", 100) + "-tail"
	got := Shorten(long, 30)
	if n := utf8.RuneCountInString(got); n != 30 || !strings.HasSuffix(got, "-tail") || !strings.HasPrefix(got, "éé") {
		t.Errorf("got %q of %d characters", got, n)
	}
	if got := Shorten("short", 5); got != "short" {
		t.Errorf("got %q, want it unchanged", got)
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct {
		value    float64
		decimals int
		want     string
	}{{0, 2, "0"}, {100, 0, "100"}, {1.5, 3, "1.5"}, {-0.25, 1, "-0.2"}, {2, 2, "2"}, {1e-12, 12, "0.000000000001"}} {
		if got := Fixed(tt.value, tt.decimals); got != tt.want {
			t.Errorf("Fixed(%v, %d) is %q, want %q", tt.value, tt.decimals, got, tt.want)
		}
	}
}

func TestRuns(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "7": {7}, "1-3,5": {1, 2, 3, 5}, "0,2-3": {0, 2, 3}} {
		if got := strings.Join(Runs(numbers, "-"), ","); got != want {
			t.Errorf("%v: got %s, want %s", numbers, got, want)
		}
	}
}
