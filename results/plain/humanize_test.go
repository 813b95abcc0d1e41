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

func TestJoined(t *testing.T) {
	for want, texts := range map[string][]string{"": {"", ""}, "a": {"", "a"}, "a, b": {"a", "", "b"}} {
		if got := Joined(", ", texts...); got != want {
			t.Errorf("%q: got %q, want %q", texts, got, want)
		}
	}
	if got := "a" + When(true, " and b") + When(false, " and c"); got != "a and b" {
		t.Errorf("got %q", got)
	}
}

func TestLists(t *testing.T) {
	numbers := []int{3, 4, 5, 4}
	above := func(least int) func(n int) bool { return func(n int) bool { return n >= least } }
	if got := Count(numbers, above(4)); got != 3 {
		t.Errorf("%d of %v are 4 or more, want 3", got, numbers)
	}
	if got := Find(numbers, func(n *int) bool { return *n >= 4 }); got != &numbers[1] {
		t.Errorf("found %v, want the first 4", got)
	}
	if got := Find(numbers, func(n *int) bool { return *n > 5 }); got != nil {
		t.Errorf("found %v, want none", *got)
	}
}

// TestLongDuration checks durations beyond the nanoseconds that an int64 counts, 292 years.
func TestLongDuration(t *testing.T) {
	for seconds, want := range map[float64]string{3e8: "3472d05h", 9e9: "104166d16h", 2e10: "634y", -5e10: "−1584y", 2e11: "6338y"} {
		if got := Duration(seconds); got != want {
			t.Errorf("%g s: got %s, want %s", seconds, got, want)
		}
	}
}
