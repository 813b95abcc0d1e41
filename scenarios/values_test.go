package scenarios

import (
	"encoding"
	"math"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios/spec"
)

// TestValues checks that values such as durations parse, and how they are written again.
func TestValues(t *testing.T) {
	tests := []struct {
		name, text, canonical string
		into                  encoding.TextUnmarshaler
		write                 func() string
	}{}
	add := func(name, text, canonical string, into encoding.TextUnmarshaler, write func() string) {
		tests = append(tests, struct {
			name, text, canonical string
			into                  encoding.TextUnmarshaler
			write                 func() string
		}{name, text, canonical, into, write})
	}
	for text, canonical := range map[string]string{"500ms": "500ms", "1.5s": "1.5s", "2m": "2m", "1h30m": "1h30m", "90s": "1m30s", "0s": "0s", "500us": "500us", "500µs": "500us",
		"0.5h": "30m", "1500ms": "1.5s", "25h": "25h", "1h0.5s": "1h500ms", "87600h": "87600h", "7ns": "7ns", "1m1.5s": "1m1.5s"} {
		var d Duration
		add("duration", text, canonical, &d, func() string { return d.String() })
	}
	for text, canonical := range map[string]string{"120/s": "120/s", "3/m": "3/m", "10/h": "10/h", "0.5/s": "0.5/s", "1.25/m": "1.25/m", "2k/s": "2000/s", "0/s": "0/s", "120 / s": "120/s", "1e3/s": "1000/s"} {
		var r Rate
		add("rate", text, canonical, &r, func() string { return r.String() })
	}
	for text, canonical := range map[string]string{"20%": "20%", "33.3%": "33.3%", "0%": "0%", "100%": "100%", "2.50%": "2.5%", "0.0000001%": "0.0000001%"} {
		var s Share
		add("share", text, canonical, &s, func() string { return s.String() })
	}
	for text, canonical := range map[string]string{"100": "100", "100k": "100000", "1M": "1000000", "1.5k": "1500", "0": "0", "1e3": "1000"} {
		var c Count
		add("count", text, canonical, &c, func() string { return c.String() })
	}
	for text, canonical := range map[string]string{"100": "100", "20%": "20%"} {
		var c spec.CountOrShare
		add("count or share", text, canonical, &c, func() string { return c.String() })
	}
	for text, canonical := range map[string]string{"4": "4", "unlimited": "unlimited", "1": "1"} {
		var a spec.Attempts
		add("attempts", text, canonical, &a, func() string { return a.String() })
	}
	for text, canonical := range map[string]string{"none": "none", "full": "full", "equal": "equal", "decorrelated": "decorrelated", "±20%": "±20%", "+-20%": "±20%", "+/-2.5%": "±2.5%", "+10%": "+10%", "-50%": "-50%", "±0%": "none"} {
		var j spec.Jitter
		add("jitter", text, canonical, &j, func() string { return j.String() })
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.text, func(t *testing.T) {
			if err := tt.into.UnmarshalText([]byte(tt.text)); err != nil {
				t.Fatal(err)
			}
			if got := tt.write(); got != tt.canonical {
				t.Errorf("%s reads as %s, want %s", tt.text, got, tt.canonical)
			}
		})
	}
}

func TestMeanings(t *testing.T) {
	var d Duration
	var r Rate
	var s Share
	var c spec.CountOrShare
	for text, into := range map[string]encoding.TextUnmarshaler{"1h30m": &d, "3/m": &r, "33.3%": &s, "20%": &c} {
		if err := into.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if d.Std() != 90*time.Minute {
		t.Errorf("1h30m is %v", d.Std())
	}
	if r.PerSecond() != 0.05 || r.Num != 3 || r.Den != 1 || r.Per != time.Minute {
		t.Errorf("3/m is %+v, %v/s", r, r.PerSecond())
	}
	if s.Num != 333 || s.Den != 1000 || math.Abs(s.Float()-0.333) > 1e-12 {
		t.Errorf("33.3%% is %+v", s)
	}
	for workers, want := range map[int]int{100: 20, 1: 1, 7: 2, 5: 1} {
		if got := c.Of(workers); got != want {
			t.Errorf("20%% of %d is %d, want %d", workers, got, want)
		}
	}
	if got := (spec.CountOrShare{Count: 30}).Of(20); got != 20 {
		t.Errorf("30 of 20 is %d, want 20", got)
	}
}

// TestDistributions checks the mean of each kind of distribution against its parameters.
func TestDistributions(t *testing.T) {
	tests := []struct {
		text string
		mean float64 // seconds
	}{
		{"100ms", 0.1},
		{"{dist: constant, value: 2s}", 2},
		{"{dist: exponential, mean: 250ms}", 0.25},
		{"{dist: uniform, min: 8m, max: 12m}", 600},
		{"{dist: lognormal, mean: 3s, cv: 0.5}", 3},
		{"{dist: lognormal, p50: 400ms, p99: 1.5s}", 0.4 * math.Exp(math.Pow(math.Log(3.75)/2.3263478740408408, 2)/2)},
		{"{dist: gamma, mean: 1s, cv: 2}", 1},
		{"{dist: erlang, mean: 1s, k: 3}", 1},
		{"{dist: weibull, mean: 1s, shape: 2}", 1},
		{"{dist: pareto, min: 1s, alpha: 3}", 1.5},
		{"{dist: hyperexponential, mean: 1s, cv: 3}", 1},
		{"{dist: normal, mean: 10s, sd: 1s}", 10},
		{"{dist: empirical, values: [1s, 2s, 6s]}", 3},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var d Distribution
			if err := yaml.Load([]byte(tt.text), &d); err != nil {
				t.Fatal(err)
			}
			dist := d.Dist()
			if got := dist.Mean(); math.Abs(got-tt.mean) > 1e-6*tt.mean {
				t.Errorf("mean %v, want %v", got, tt.mean)
			}
			out, err := yaml.Dump(d)
			if err != nil {
				t.Fatal(err)
			}
			var again Distribution
			if err := yaml.Load(out, &again); err != nil || again.Dist().Sample(0.7) != dist.Sample(0.7) {
				t.Errorf("written as %s it reads as another, %v", out, err)
			}
		})
	}
}

func TestBound(t *testing.T) {
	for text, want := range map[string]spec.Bound{
		"10s": {Value: 10, Unit: "s"}, "500ms": {Value: 0.5, Unit: "s"}, "5%": {Value: 0.05, Unit: "%"}, "80/s": {Value: 80, Unit: "/s"},
		"100": {Value: 100}, "1.5": {Value: 1.5}, "10k": {Value: 10000},
	} {
		want.Text = text
		var b spec.Bound
		if err := b.UnmarshalText([]byte(text)); err != nil || b != want {
			t.Errorf("%s reads as %+v, %v, want %+v", text, b, err, want)
		}
	}
}
