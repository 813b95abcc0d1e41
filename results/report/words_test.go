package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"qsim/results/plain"
)

func TestSpelling(t *testing.T) {
	tests := []struct {
		name  string
		spell func(float64) string
		value float64
		want  string
	}{
		{"zero", seconds, 0, "0s"},
		{"microseconds", seconds, .00042, "420µs"},
		{"rounds up to a millisecond", seconds, .0009996, "1ms"},
		{"milliseconds", seconds, .18, "180ms"},
		{"rounds up to a second", seconds, .9996, "1s"},
		{"seconds", seconds, 5.84, "5.8s"},
		{"tens of seconds", seconds, 28.83, "28.8s"},
		{"rounds up to a minute", seconds, 59.97, "1m"},
		{"minutes", seconds, 566.4, "9m26s"},
		{"whole minutes", seconds, 600, "10m"},
		{"rounds up to an hour", seconds, 3599.7, "1h"},
		{"hours", seconds, 4325, "1h12m"},
		{"rounds up to a day", seconds, 86399, "1d"},
		{"days", seconds, 2*86400 + 3*3600, "2d03h"},
		{"a few seconds more", seconds, 124, "2m04s"},
		{"a few minutes more", seconds, 3900, "1h05m"},
		{"negative", seconds, -5.84, "−5.8s"},
		{"no number", seconds, math.NaN(), "–"},
		{"few", plain.Amount, .42, "0.42"},
		{"nine and a half", plain.Amount, 9.5, "9.5"},
		{"dozens", plain.Amount, 85.7, "86"},
		{"hundreds", plain.Amount, 771.4, "771"},
		{"rounds up to a thousand", plain.Amount, 999.6, "1k"},
		{"thousands", plain.Amount, 4712, "4.7k"},
		{"ten thousands", plain.Amount, 23985, "24k"},
		{"hundred thousands", plain.Amount, 123456, "123k"},
		{"dozens of thousands", plain.Amount, 55432, "55k"},
		{"millions", plain.Amount, 1.3e6, "1.3M"},
		{"hundred millions", plain.Amount, 345e6, "345M"},
		{"thousand millions", plain.Amount, 2.5e9, "2.5G"},
		{"none", percent, 0, "0%"},
		{"not none", percent, .00001, "less than 0.01%"},
		{"little", percent, .0002, "0.02%"},
		{"some", percent, .0187, "1.9%"},
		{"a third", percent, .3412, "34%"},
		{"nearly all", percent, .9987, "99.87%"},
		{"not all", percent, .99999, "more than 99.99%"},
		{"all", percent, 1, "100%"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.spell(tt.value); got != tt.want {
				t.Errorf("got %q for %v, want %q", got, tt.value, tt.want)
			}
		})
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "In-flight cap 20%", "In-flight cap 20%"},
		{"lines and tabs", " a\n\tb  c ", "a b c"},
		{"control characters", "\x00a\x1bb\u0085c", "ab c"},
		{"reordering", "a\u202Eb\u2066c\u200Dd", "abcd"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"not in XML", "a\uFFFEb", "ab"},
		{"emoji", "🔥 storm", "🔥 storm"},
		{"nothing", " \n", "(no name)"},
		{"nothing left", "\x00 \x01", "(no name)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := clean(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWrapFits(t *testing.T) {
	const width = 200
	for _, text := range append(nasty, "one two three four five six seven eight nine ten eleven twelve", "x") {
		text = clean(text)
		for _, line := range wrap(titleStyle, text, width) {
			if w := titleStyle.Width(line); w > width {
				t.Errorf("line %q is %v wide, more than %v", line, w, width)
			}
		}
	}
	if got := strings.Join(wrap(titleStyle, "a = b · c", width), "|"); got != "a = b · c" {
		t.Errorf("got %q: text that fits must stay as it is", got)
	}
}

func TestClockMarksAnyDuration(t *testing.T) {
	tests := []struct {
		duration time.Duration
		want     string
	}{
		{time.Second, "0 200ms 400ms 600ms 800ms 1s"},
		{90 * time.Second, "0 15s 30s 45s 1m 1m15s 1m30s"},
		{30 * time.Minute, "0 5m 10m 15m 20m 25m 30m"},
		{time.Hour, "0 10m 20m 30m 40m 50m 1h"},
		{24 * time.Hour, "0 3h 6h 9h 12h 15h 18h 21h 1d"},
		{30 * 24 * time.Hour, "0 5d 10d 15d 20d 25d 30d"},
	}
	for _, tt := range tests {
		t.Run(tt.duration.String(), func(t *testing.T) {
			var labels []string
			for _, tick := range clock(8).Ticks(0, tt.duration.Seconds()) {
				labels = append(labels, tick.Label)
			}
			if got := strings.Join(labels, " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWaitRange(t *testing.T) {
	tests := []struct {
		name      string
		low, high float64
	}{
		{"storm", .1, 566},
		{"one value", 163, 163},
		{"minutes to days", 163, 1e5},
		{"zero", 0, 0},
		{"zero to something", 0, 5},
		{"no number", math.NaN(), math.NaN()},
		{"all tiny", 2e-4, 5e-4},
		{"below the tiniest", 1e-9, 2e-9},
		{"endless", 1, math.Inf(1)},
		{"nothing", math.Inf(1), 0},
		{"narrow", 2, 2.1},
		{"wide", 1e-9, 1e9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from, to, floor := waitRange(tt.low, tt.high)
			if !(from >= tinyWait && from < to && to <= 2.001e9) {
				t.Errorf("got range %v to %v", from, to)
			}
			if tt.low <= tt.high && tt.high <= mostWait && tt.high >= leastWait && !(to >= tt.high) {
				t.Errorf("range ends at %v, below %v", to, tt.high)
			}
			if tt.low < from && floor != from {
				t.Errorf("%v is below the range, which begins at %v, and not called clipped", tt.low, from)
			}
			if n := ticksIn(from, to); n < 2 {
				t.Errorf("only %d ticks in %v to %v", n, from, to)
			}
			if got := len(waits(floor, 5).Ticks(from, to)); got < 1 || got > 6 {
				t.Errorf("got %d marks, want 1 to 6", got)
			}
		})
	}
}

func TestLogScaleBearsZero(t *testing.T) {
	for _, v := range []float64{0, -1, 1e-9} {
		if got := (logScale{}).Normalize(.001, 10, v); got != 0 {
			t.Errorf("got %v for %v, want 0", got, v)
		}
	}
}

// Charts spell values like tables, except that they leave out zero smaller units.
func TestChartsAndTablesSpellTimesAlike(t *testing.T) {
	for _, v := range []float64{.0999, .00123, .9994, 28.83, 61, 124, 599, 3601, 3900, 86400 + 3*3600, 40 * 86400} {
		table := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(plain.Duration(v), "00s"), "00m"), "00h")
		if chart := seconds(v); chart != table {
			t.Errorf("%v s: %s in charts, %s in tables", v, chart, table)
		}
	}
}

func TestAsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain 12": "plain 12", "אבג": "גבא", "אבג label": "גבא label", "a אב גד b": "a דג בא b", "p99 אב, 12s": "p99 בא, 12s", "אב 12 גד": "בא 12 דג",
	} {
		if got := asSeen(text); got != want {
			t.Errorf("%q is seen as %q, want %q", text, got, want)
		}
	}
}

// TestByText checks that policies of one text share a phrase, that many are counted, and that one without a text is left
// out.
func TestByText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", []string{"", ""}, ""},
		{"one policy", []string{"7"}, "7 with A"},
		{"the same", []string{"7", "7"}, "7 under every policy"},
		{"nothing", []string{"no setting", "no setting"}, "no setting under any policy"},
		{"one without", []string{"7", "", "7"}, "7 with A and C"},
		{"several", []string{"7", "8", "7", "9"}, "7 with A and C, 8 with B and 9 with D"},
		{"many of one", []string{"7", "7", "7", "7", "", "8"}, "7 with 4 of 5 policies and 8 with F"},
		{"many texts", []string{"7", "8", "7", "9", "10", "9"}, "7 with A and C, 8 with B and others with 3 policies"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			names := strings.Split("ABCDEF", "")[:len(tt.texts)]
			if got := byText(tt.texts, names, "others"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
