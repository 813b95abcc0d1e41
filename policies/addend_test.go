package policies

import (
	"strings"
	"testing"
	"time"

	"qsim/engine/keyed"
)

func TestParseAddend(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Addend
		back string // text returned by String
	}{
		{"+30s", Addend{Width: 30 * second}, "+30s"},
		{"+1500ms", Addend{Width: 1500 * millisecond}, "+1.5s"},
		{"+30s/1s", Addend{Width: 30 * second, Step: second}, "+30s/1s"},
		{"+10s*n", Addend{Width: 10 * second, Grows: GrowRange}, "+10s*n"},
		{"+10s*n/1s", Addend{Width: 10 * second, Step: second, Grows: GrowRange}, "+10s*n/1s"},
		{"+30s/1s*n", Addend{Width: 30 * second, Step: second, Grows: GrowDraw}, "+30s/1s*n"},
		{"+30s/30s*n", Addend{Width: 30 * second, Step: 30 * second, Grows: GrowDraw}, "+30s/30s*n"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := parseAddend(tt.text)
			if err != nil || got != tt.want || got.String() != tt.back || !isAddend(tt.text) {
				t.Errorf("got %+v, %q, %v; want %+v, %q", got, got.String(), err, tt.want, tt.back)
			}
			if again, err := ParseJitter(tt.back); err != nil || again != (Jitter{Kind: Added, Addend: tt.want}) || again.String() != tt.back {
				t.Errorf("as a jitter: %v, %v", again, err)
			}
		})
	}
	for _, tt := range []struct{ text, want string }{
		{"30s", "no plus"}, {"+", "bad duration"}, {"+30", "no unit"}, {"+0s", "out of range"}, {"+-3s", "negative"}, {"+3s/0s", "step of 0s"}, {"+3s/4s", "step of 4s"},
		{"+3s/", "bad duration"}, {"+3s*n/1s*n", "bad duration"}, {"+3s*m", "bad duration"}, {"+2000000h", "too long"}, {"+3s*n*n", "bad duration"},
	} {
		if got, err := parseAddend(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || got != (Addend{}) {
			t.Errorf("%s: %+v, %v; want an error with %q", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"+20%", "+", "±30s", "+x", "", "30s", "+-30s", "+/-30s"} {
		if isAddend(text) {
			t.Errorf("%q is taken for an addend", text)
		}
	}
}

// TestGrowingAddend tests that an addend without steps grows equally under both kinds of growth.
func TestGrowingAddend(t *testing.T) {
	for _, grows := range []Growth{GrowRange, GrowDraw} {
		if a := (Addend{Width: 30 * second, Grows: grows}); a.String() != "+30s*n" || a.draw(3, 0.5) != 45*second {
			t.Errorf("growth %d: %v draws %v", grows, a, a.draw(3, 0.5))
		}
	}
	for _, text := range []string{"+9s", "+0.5s", "+.5s"} {
		if j, err := ParseJitter(text); err != nil || j.Kind != Added {
			t.Errorf("%s: %v, %v", text, j, err)
		}
	}
}

// What comes in steps comes in all of them, equally often.
func TestAddendIsUniform(t *testing.T) {
	rand := keyed.Rand{Seed: 1}
	for _, tt := range []struct {
		text  string
		n     int64
		unit  time.Duration
		count int // number of distinct values: 0, unit, 2 unit...
	}{
		{"+30s/1s", 2, second, 30},
		{"+10s*n/1s", 2, second, 20},
		{"+30s/1s*n", 2, 2 * second, 30},
		{"+10s/4s", 1, 4 * second, 3},
	} {
		t.Run(tt.text, func(t *testing.T) {
			a, err := parseAddend(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			seen := make([]int, tt.count)
			for id := range uint64(tt.count * 1000) {
				d := a.draw(tt.n, rand.Uniform(keyed.ForJitter, id, 1, 0))
				if d%tt.unit != 0 || int(d/tt.unit) >= tt.count {
					t.Fatalf("drew %v", d)
				}
				seen[d/tt.unit]++
			}
			if tt.text == "+10s/4s" { // the last step is cut short by the width: half as likely
				seen[2] *= 2
			}
			for i, got := range seen { // 1000 each (1200 of 3), standard deviation 32
				if got < 780 || got > 1420 {
					t.Errorf("%d times %v: %v", got, time.Duration(i)*tt.unit, seen)
				}
			}
		})
	}
}
