package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
)

// tuning returns a made-up result of a search over the values of one key, or of two.
func tuning(axes []results.Axis, policies int, margin bool, value func(setting, policy int) (mean, half float64)) *results.Tuning {
	t := &results.Tuning{Scenario: "shop", ConfigHash: "0123abcd", Version: "1", Goal: "smallest engine.workers", Axes: axes, Margin: margin, Confidence: 0.95}
	if !margin {
		t.Goal, t.Query = "least sojourn.p99", measure.Query{Metric: "sojourn.p99"}
	}
	size, _ := results.Size(axes, 1000)
	for p := range policies {
		one := results.TunedPolicy{Label: fmt.Sprintf("Policy %d <script>\"é🔥\n", p+1), Runs: 100, Grid: 1000, Said: []string{"It is so."}}
		for setting := range size {
			if setting%3 == 2 {
				continue // was not tried
			}
			mean, half := value(setting, p)
			position := (&results.Sweep{Axes: axes}).Position(setting)
			r := results.Trial{Setting: setting, Values: (&results.Sweep{Axes: axes}).Values(setting), Number: float64(position[0]), Seeds: 5 * (1 + setting%3), Mean: mean, Half: half, Margin: mean, MarginHalf: half, Outcome: results.Met}
			if axes[0].Numbers != nil {
				r.Number = axes[0].Numbers[position[0]]
			}
			if mean < 0 {
				r.Outcome = results.Missed
			} else if one.Best == nil {
				one.Best = r.Values
			}
			one.Trials = append(one.Trials, r)
		}
		t.Policies = append(t.Policies, one)
	}
	return t
}

func TestTuneCharts(t *testing.T) {
	t.Parallel()
	workers := numbers("engine.workers", false, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16)
	rising := func(setting, policy int) (float64, float64) { return float64(setting-3-policy) / 4, 0.1 }
	for _, tt := range []struct {
		name  string
		t     *results.Tuning
		title string // want
		off   bool   // some values lie beyond the axis
	}{
		{"bisection", tuning([]results.Axis{workers}, 2, true, rising), "Smallest engine.workers: 7 with Policy 1 <script>\"é🔥 and 8 with Policy 2 <script>\"é🔥", true},
		{"far off", tuning([]results.Axis{workers}, 1, true, func(s, _ int) (float64, float64) { return float64(s-4) * 1e6, 1e9 }), "", true},
		{"far below", tuning([]results.Axis{workers}, 1, true, func(s, _ int) (float64, float64) { return -float64(s) * 1e6, 1 }), "", true},
		{"no values", tuning([]results.Axis{workers}, 1, true, func(int, int) (float64, float64) { return math.NaN(), math.NaN() }), "", false},
		{"infinite", tuning([]results.Axis{workers}, 1, false, func(int, int) (float64, float64) { return math.Inf(1), math.Inf(1) }), "", false},
		{"a metric, log steps", tuning([]results.Axis{numbers("retry.backoff.first", true, 1, 2, 4, 8, 16, 32)}, 1, false, func(s, _ int) (float64, float64) { return math.Pow(4, float64(s)), 0.3 }), "", false},
		{"words", tuning([]results.Axis{wordsAxis("retry.jitter", "none", "full", "equal"), workers}, 3, false, func(s, p int) (float64, float64) { return float64(s%7 + p), 0.2 }), "", false},
		{"one value", tuning([]results.Axis{numbers("engine.workers", false, 8)}, 1, true, rising), "Smallest engine.workers: no setting found with", false},
		{"many policies", tuning([]results.Axis{workers}, 30, true, rising), "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first, err := TuneCharts(tt.t)
			if err != nil {
				t.Fatal(err)
			}
			again, err := TuneCharts(tt.t)
			if err != nil {
				t.Fatal(err)
			}
			f := first[0]
			if len(first) != 1 || !bytes.Equal(bitmapOf(t, &f), bitmapOf(t, &again[0])) || !bytes.Equal(f.SVG, again[0].SVG) {
				t.Error("drawn twice it differs")
			}
			if !strings.HasPrefix(f.Title, tt.title) {
				t.Errorf("title %q, want %q", f.Title, tt.title)
			}
			if bytes.Contains(f.SVG, []byte("<script>")) || bytes.Contains(f.SVG, []byte("NaN")) {
				t.Error("the SVG holds a script or a NaN")
			}
			if off := bytes.Contains(f.SVG, []byte("off the scale")); off != tt.off {
				t.Errorf("the legend has values off the scale: %v, want %v", off, tt.off)
			}
			if len(tt.t.Policies) == 1 && !bytes.Contains(f.SVG, []byte("100 simulations, a full grid 1000")) {
				t.Error("no word on the cost beside that of a full grid")
			}
		})
	}
	some := tuning([]results.Axis{workers}, 1, false, rising)
	for _, bound := range []string{"", ">="} {
		some.Policies[0].Trials[2].Bound = bound
		f, err := TuneCharts(some)
		if err != nil || strings.HasSuffix(f[0].Subtitle, "; some are lower bounds") != (bound != "") {
			t.Errorf("with the bound %q the subtitle is %q (%v)", bound, f[0].Subtitle, err)
		}
	}
	if _, err := TuneCharts(&results.Tuning{}); err == nil {
		t.Error("nothing is drawn without an error")
	}
}
