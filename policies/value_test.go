package policies

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"qsim/engine/quantity"
)

func TestParseValue(t *testing.T) {
	for _, tt := range []struct{ typ, text, want, err string }{
		{TypeShare, "80%", "80%", ""},
		{TypeShare, "0%", "0%", ""},
		{TypeShare, "100%", "100%", ""},
		{TypeShare, "66.7%", "66.7%", ""},
		{TypeShare, "0.0000001%", "0.0000001%", ""},
		{TypeShare, "33.3333333%", "33.3333333%", ""},
		{TypeShare, "300%", "", `share "300%" is over 100%`},
		{TypeShare, "100.1%", "", `share "100.1%" is over 100%`},
		{TypeShare, "-5%", "", `share "-5%" is negative`},
		{TypeShare, "-5", "", `share -5 is negative`},
		{TypeShare, "80", "", `share 80 has no percent sign: write 80%`},
		{TypeShare, "0.8", "", `share 0.8 has no percent sign: write 80%`},
		{TypeShare, "300", "", `share 300 has no percent sign: write 300%`},
		{TypeShare, "eighty%", "", `bad share "eighty%"`},
		{TypeShare, "%", "", `bad share "%"`},
		{TypeShare, "5.%", "5%", ""},
		{TypeShare, "NaN%", "", `bad share "NaN%"`},
		{TypeShare, "1.23456789%", "", `share "1.23456789%" has too many digits (at most 7 after the point)`},
		{TypeShare, "99999999999999999999%", "", `share "99999999999999999999%" is out of range (0% to 100%)`},
		{TypeCountOrShare, "20", "20", ""},
		{TypeCountOrShare, "20%", "20%", ""},
		{TypeCountOrShare, "2k", "2000", ""},
		{TypeCountOrShare, "-1", "", `count -1 is negative`},
		{TypeCountOrShare, "300%", "", `share "300%" is over 100%`},
		{TypeCountOrShare, "2.5", "", `want a whole number, not 2.5`},
		{TypeCountOrShare, "many", "", `want a count or a share, not "many"`},
		{TypeNumber, "500", "500", ""},
		{TypeNumber, "100k", "100000", ""},
		{TypeNumber, "1.5k", "1500", ""},
		{TypeNumber, "5000000000", "", `count 5000000000 is too large (at most 1000000000)`},
		{TypeNumber, "9223372036854775807k", "", `want a whole number, not "9223372036854775807k"`},
		{TypeDuration, "1.5s", "1.5s", ""},
		{TypeDuration, "1h30m", "1h30m", ""},
		{TypeDuration, "0s", "0s", ""},
		{TypeDuration, "30", "", "duration 30 has no unit: write 30s or 30ms"},
		{TypeDuration, "0", "", "duration 0 has no unit: write 0s"},
		{TypeDuration, "-5s", "", `duration "-5s" is negative`},
		{TypeDuration, "soon", "", `bad duration "soon"`},
		{TypeDuration, "", "", `bad duration ""`},
		{TypeBool, "true", "true", ""},
		{TypeBool, "false", "false", ""},
		{TypeBool, "yes", "", `want true or false, not "yes"`},
		{TypeRate, "10/s", "10/s", ""},
		{TypeRate, "0.5/m", "0.5/m", ""},
		{TypeRate, "120/h", "120/h", ""},
		{TypeRate, "10", "", `rate 10 has no unit: write 10/s, 10/m or 10/h`},
		{TypeRate, "-1", "", `rate -1 is negative`},
		{TypeRate, "-1/s", "", `rate "-1/s" is negative`},
		{TypeRate, "200/fortnight", "", `bad rate "200/fortnight": unknown unit "fortnight" (want s, m or h)`},
		{TypeRate, "x/s", "", `bad rate "x/s"`},
		{TypeChoice, "bury", "bury", ""},
		{TypeQuantum, "100ms", "100ms", ""},
		{TypeQuantum, "3", "3", ""},
		{TypeQuantum, "mean", "mean", ""},
		{TypeQuantum, "0", "", "0 is not positive"},
		{TypeQuantum, "0s", "", "0s is not positive"},
		{TypeQuantum, "-2s", "", `duration "-2s" is negative`},
		{TypeQuantum, "much", "", `bad duration "much"`},
		{TypeWeights, "{}", "{}", ""},
		{TypeWeights, "{high: 10, low: 5}", "{high: 10, low: 5}", ""},
		{TypeWeights, "{high: 1000k}", "{high: 1000000}", ""},
		{TypeWeights, "", "", `want a mapping of job classes, not ""`},
		{TypeWeights, "10", "", `want a mapping of job classes, not 10`},
		{TypeWeights, "{high: 0}", "", "class high: a weight of 0 is not in [1, 1000000]"},
		{TypeWeights, "{high: 2000k}", "", "class high: a weight of 2000000 is not in [1, 1000000]"},
		{TypeWeights, "{high: lots}", "", `class high: want a whole number, not "lots"`},
		{TypeBudget, "30s", "30s", ""},
		{TypeBudget, "0s", "0s", ""},
		{TypeBudget, "{payments: 5s, mail: 1m}", "{payments: 5s, mail: 1m}", ""},
		{TypeBudget, "{}", "", "no class has a budget"},
		{TypeBudget, "30", "", "duration 30 has no unit: write 30s or 30ms"},
		{TypeBudget, "{mail: 30}", "", "class mail: duration 30 has no unit: write 30s or 30ms"},
		{"colour", "red", "", `unknown parameter type "colour"`},
	} {
		t.Run(tt.typ+" "+tt.text, func(t *testing.T) {
			got, err := parseText(tt.typ, tt.text)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if takes := TakesMapping(tt.typ); takes != (tt.typ == TypeWeights || tt.typ == TypeBudget) {
				t.Errorf("takes a mapping: %v", takes)
			}
			if got.String() != tt.want || message != tt.err {
				t.Fatalf("got %q, error %q; want %q, error %q", got, message, tt.want, tt.err)
			}
			if err != nil {
				return
			}
			if again, err := parseText(tt.typ, got.String()); !reflect.DeepEqual(again, got) || err != nil || got.typ != tt.typ {
				t.Errorf("%v was read back as %v, %v", got, again, err)
			}
		})
	}
}

// An entry of a mapping that is wrong comes with the same help as the value by itself.
func TestHelpOfEntries(t *testing.T) {
	_, alone := ParseValue(TypeBudget, "30")
	_, entry := ParseMapping(TypeBudget, []Entry{{"mail", "30"}})
	var one, other *quantity.Error
	if !errors.As(alone, &one) || !errors.As(entry, &other) || one.Help != other.Help || other.Message != "class mail: "+one.Message {
		t.Errorf("alone: %#v; as an entry: %#v", alone, entry)
	}
}

func TestRateIn(t *testing.T) {
	rate := func(text string) (r quantity.Rate) {
		if err := r.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tt := range []struct {
		rate quantity.Rate
		in   time.Duration
		want int64
	}{
		{quantity.Rate{Num: 10, Den: 1, Per: time.Second}, 10 * time.Second, 100},
		{rate("0.5/m"), 3 * time.Minute, 1},
		{rate("10/h"), time.Hour - 1, 9},
		{rate("1000000000/s"), math.MaxInt64, maxEvents},
		{quantity.Rate{}, time.Hour, 0},
		{quantity.Rate{Num: 0, Den: 1, Per: time.Second}, math.MaxInt64, 0},
	} {
		if got := eventsIn(tt.rate, tt.in); got != tt.want {
			t.Errorf("%v in %v: got %d, want %d", tt.rate, tt.in, got, tt.want)
		}
	}
	if got := (quantity.Rate{}).String(); got != "0/s" {
		t.Errorf("no rate is %s", got)
	}
}
