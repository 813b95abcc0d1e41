package policies

import (
	"math"
	"testing"
	"time"
)

func TestParseValue(t *testing.T) {
	for _, tt := range []struct{ typ, text, want, err string }{
		{TypeShare, "80%", "80%", ""},
		{TypeShare, "0%", "0%", ""},
		{TypeShare, "100%", "100%", ""},
		{TypeShare, "66.7%", "66.7%", ""},
		{TypeShare, "0.0000001%", "0.0000001%", ""},
		{TypeShare, "33.3333333%", "33.3333333%", ""},
		{TypeShare, "300%", "", "300% is more than 100%"},
		{TypeShare, "100.1%", "", "100.1% is more than 100%"},
		{TypeShare, "-5%", "", "-5% is negative"},
		{TypeShare, "80", "", "share 80 has no unit: write 80%"},
		{TypeShare, "0.8", "", "share 0.8 has no unit: write 80%"},
		{TypeShare, "300", "", "share 300 has no unit: write 80%"},
		{TypeShare, "eighty%", "", `bad share "eighty%": want a number such as 20 or 2.5`},
		{TypeShare, "%", "", `bad share "%": want a number such as 20 or 2.5`},
		{TypeShare, "5.%", "", `bad share "5.%": want a number such as 20 or 2.5`},
		{TypeShare, "NaN%", "", `bad share "NaN%": want a number such as 20 or 2.5`},
		{TypeShare, "1.23456789%", "", `bad share "1.23456789%": at most 7 digits may stand after the point`},
		{TypeShare, "99999999999999999999%", "", `bad share "99999999999999999999%": the number is too large`},
		{TypeCountOrShare, "20", "20", ""},
		{TypeCountOrShare, "20%", "20%", ""},
		{TypeCountOrShare, "2k", "2000", ""},
		{TypeCountOrShare, "-1", "", "-1 is negative"},
		{TypeCountOrShare, "300%", "", "300% is more than 100%"},
		{TypeCountOrShare, "2.5", "", "count 2.5 is not a whole number"},
		{TypeCountOrShare, "many", "", `bad count "many": want a number such as 20 or 2.5`},
		{TypeNumber, "500", "500", ""},
		{TypeNumber, "100k", "100000", ""},
		{TypeNumber, "1.5k", "1500", ""},
		{TypeNumber, "5000000000", "", "count 5000000000 is too large: the most is 2147483647"},
		{TypeNumber, "9223372036854775807k", "", `bad count "9223372036854775807k": the number is too large`},
		{TypeDuration, "1.5s", "1.5s", ""},
		{TypeDuration, "1h30m", "1h30m0s", ""},
		{TypeDuration, "0s", "0s", ""},
		{TypeDuration, "30", "", "duration 30 has no unit: write 30s or 30ms"},
		{TypeDuration, "0", "", "duration 0 has no unit: write 0s"},
		{TypeDuration, "-5s", "", "-5s is negative"},
		{TypeDuration, "soon", "", `bad duration "soon": want a number and a unit (ms, s, m, h), such as 1.5s or 1h30m`},
		{TypeDuration, "", "", `bad duration "": want a number and a unit (ms, s, m, h), such as 1.5s or 1h30m`},
		{TypeBool, "true", "true", ""},
		{TypeBool, "false", "false", ""},
		{TypeBool, "yes", "", `"yes" is not true or false`},
		{TypeRate, "10/s", "10/s", ""},
		{TypeRate, "0.5/m", "0.5/m", ""},
		{TypeRate, "120/h", "120/h", ""},
		{TypeRate, "10", "", "rate 10 has no unit: write 10/s"},
		{TypeRate, "-1/s", "", "-1/s is negative"},
		{TypeRate, "200/fortnight", "", `bad rate "200/fortnight": unknown unit "fortnight" (want s, m or h)`},
		{TypeRate, "x/s", "", `bad rate "x/s": want a number such as 20 or 2.5`},
		{TypeChoice, "bury", "bury", ""},
		{TypeQuantum, "100ms", "100ms", ""},
		{TypeQuantum, "3", "3", ""},
		{TypeQuantum, "mean", "mean", ""},
		{TypeQuantum, "0", "", "0 is not positive"},
		{TypeQuantum, "0s", "", "0s is not positive"},
		{TypeQuantum, "-2s", "", "-2s is negative"},
		{TypeQuantum, "much", "", `bad duration "much": want a number and a unit (ms, s, m, h), such as 1.5s or 1h30m`},
		{TypeWeights, "{}", "{}", ""},
		{TypeWeights, "{high: 10, low: 5}", "{high: 10, low: 5}", ""},
		{TypeWeights, " {  high:1k,low :5,}", "{high: 1000, low: 5}", ""},
		{TypeWeights, "", "", `"" is no mapping of job classes: write {high: 10, low: 5}`},
		{TypeWeights, "10", "", `"10" is no mapping of job classes: write {high: 10, low: 5}`},
		{TypeWeights, "{high: 10", "", `"{high: 10" is no mapping of job classes: write {high: 10, low: 5}`},
		{TypeWeights, "{high}", "", `"high" is no job class and its value`},
		{TypeWeights, "{high: 1, high: 2}", "", "class high is given twice"},
		{TypeWeights, "{high: 0}", "", "class high: a weight of 0 is not in [1, 1000000]"},
		{TypeWeights, "{high: 2000k}", "", "class high: a weight of 2000000 is not in [1, 1000000]"},
		{TypeWeights, "{high: lots}", "", `class high: bad count "lots": want a number such as 20 or 2.5`},
		{TypeBudget, "30s", "30s", ""},
		{TypeBudget, "0s", "0s", ""},
		{TypeBudget, "{payments: 5s, mail: 1m}", "{payments: 5s, mail: 1m0s}", ""},
		{TypeBudget, "{}", "", "no class has a budget"},
		{TypeBudget, "30", "", "duration 30 has no unit: write 30s or 30ms"},
		{TypeBudget, "{mail: 30}", "", "class mail: duration 30 has no unit: write 30s or 30ms"},
		{"colour", "red", "", `unknown parameter type "colour"`},
	} {
		t.Run(tt.typ+" "+tt.text, func(t *testing.T) {
			got, err := ParseValue(tt.typ, tt.text)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if got.String() != tt.want || message != tt.err {
				t.Fatalf("got %q, error %q; want %q, error %q", got, message, tt.want, tt.err)
			}
			if err != nil {
				return
			}
			if again, err := ParseValue(tt.typ, got.String()); again != got || err != nil || got.Type() != tt.typ {
				t.Errorf("%v was read back as %v, %v", got, again, err)
			}
		})
	}
}

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

func TestRateIn(t *testing.T) {
	rate := func(text string) Rate {
		r, err := ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tt := range []struct {
		rate Rate
		in   time.Duration
		want int64
	}{
		{PerSecond(10), 10 * time.Second, 100},
		{rate("0.5/m"), 3 * time.Minute, 1},
		{rate("10/h"), time.Hour - 1, 9},
		{rate("9000000000000/s"), math.MaxInt64, maxEvents},
		{Rate{}, time.Hour, 0},
		{PerSecond(0), math.MaxInt64, 0},
	} {
		if got := tt.rate.In(tt.in); got != tt.want {
			t.Errorf("%v in %v: got %d, want %d", tt.rate, tt.in, got, tt.want)
		}
	}
	if got := (Rate{}).String(); got != "0/s" {
		t.Errorf("no rate is %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("-1/s is a rate")
		}
	}()
	PerSecond(-1)
}
