package results

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"qsim/engine/keyed"
	"qsim/results/measure"
	"qsim/results/resultstest"
)

func TestSummaryJSON(t *testing.T) {
	data := encoded(t, summarized(t, 6))
	golden(t, "summary.json", data)
	if !json.Valid(data) {
		t.Error("summary.json is no JSON")
	}
}

// TestStoredP: p is not adjusted for the number of tests, so that it says what the interval beside it says.
func TestStoredP(t *testing.T) {
	var stored struct {
		Policies []struct {
			Versus map[string]struct {
				Low, High, P *float64
				Shown        bool
			} `json:"versus_baseline"`
		}
	}
	if err := json.Unmarshal(encoded(t, summarized(t, 6)), &stored); err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, p := range stored.Policies {
		for name, d := range p.Versus {
			if d.P == nil || *d.Low == *d.High {
				continue
			}
			tested++
			if apart := *d.Low > 0 || *d.High < 0; apart != (*d.P < alpha) || d.Shown && !apart {
				t.Errorf("%s: p %v, shown %t, interval %v to %v", name, *d.P, d.Shown, *d.Low, *d.High)
			}
		}
	}
	if tested == 0 {
		t.Error("no difference is tested")
	}
}

func TestReadSummaryRoundTrip(t *testing.T) {
	data := encoded(t, summarized(t, 6))
	other := bytes.ReplaceAll(data, []byte(`"limit": 2}`), []byte(`"limit": 2e0}`)) // as other programs write numbers
	read, err := ReadSummary(other)
	if err != nil || len(other) == len(data) {
		t.Fatal(err)
	}
	if again := encoded(t, read); !bytes.Equal(data, again) {
		t.Errorf("reading and writing changes it: %s", resultstest.FirstDifference(string(again), string(data)))
	}
	if half := read.Policies[0].Metric("sojourn.mean").Half; !(half > 0) {
		t.Errorf("the half-width is %v", half)
	}
}

func TestReadSummaryErrors(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"empty", "", "it ends after 0 bytes"},
		{"cut off", `{"version": 1, "seeds": [1, 2`, "it ends after 29 bytes, in the middle"},
		{"not JSON", "{\n\"version\": 1,\n oops}", "line 3"},
		{"another file", `{"a": 1}`, "no version"},
		{"a newer one", `{"version": 2}`, "version 2 is newer"},
		{"no policies", `{"version": 1}`, "no policies"},
		{"a wrong type", `{"version": 1, "policies": 7}`, "policies"},
		{"values missing", `{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"wasted": {"values": [1]}}}]}`, "wasted of A has 1 values for 2 seeds"},
		{"another number of values", `{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"wasted": {"mean": 1, "n": 2, "values": [1, null]}}}]}`, "wasted of A has 1 values, but says n 2"},
		{"a mean of nothing", `{"version": 1, "seeds": [1], "policies": [{"label": "A", "metrics": {"wasted": {"mean": 1, "n": 0, "values": [null]}}}]}`, "wasted of A has 0 values and a mean of 1"},
		{"a mean outside", `{"version": 1, "seeds": [1], "policies": [{"label": "A", "metrics": {"wasted": {"mean": 1, "low": 2, "high": 3, "n": 1, "values": [1]}}}]}`, "outside of its interval"},
		{"another mean", `{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"goodput": {"mean": 40, "low": 39, "high": 41, "n": 2, "values": [40, 50]}}}]}`, "goodput of A has a mean of 40, but its values have one of 45"},
		{"another quantile", `{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"sojourn.p99": {"mean": 4, "low": 3, "high": 5, "n": 2, "values": [5, 6]}}}]}`, "sojourn.p99 of A is 4, but the values by seed are from 5 to 6"},
		{"more than there is", `{"version": 1, "seeds": [1, 2], "policies": [{"label": "A", "metrics": {"zeal": {"mean": 1, "low": 0, "high": 1, "n": 2, "values": [1, 1e308]}}}]}`, "zeal of A has a value of 1e+308, more than any run has"},
		{"NaN", `{"version": 1, "seeds": [NaN], "policies": []}`, "line 1: invalid character 'N'"},
		{"more than a number can be", `{"version": 1, "seeds": [1], "duration_s": 1e999}`, "1e999"},
		{"a seed twice", `{"version": 1, "seeds": [2, 2], "policies": [{"label": "A"}]}`, "seed 2 follows seed 2"},
		{"no seeds", `{"version": 1, "policies": [{"label": "A"}]}`, "no seeds"},
		{"a label twice", `{"version": 1, "seeds": [2], "policies": [{"label": "A"}, {"label": "A"}]}`, "two policies are labelled \"A\""},
		{"two baselines", `{"version": 1, "seeds": [2], "policies": [{"label": "A", "baseline": true}, {"label": "B", "baseline": true}]}`, "2 baselines"},
		{"version 0 less one", `{"version": -1}`, "no version -1"},
		{"a verdict", `{"version": 1, "policies": [{}], "objectives": [{"verdict": "perhaps"}]}`, `unknown verdict "perhaps"`},
	} {
		_, err := ReadSummary([]byte(tt.input))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "read summary: ") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A metric that a newer program has written is kept.
func TestReadSummaryKeepsUnknownMetrics(t *testing.T) {
	s, err := ReadSummary([]byte(`{"version": 1, "seeds": [1], "policies": [{"label": "A", "metrics": {"zeal": {"mean": 1, "n": 1, "values": [1]}, "wasted": {"mean": null, "values": [null]}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if m := s.Policies[0].Metrics; len(m) != 2 || m[0].Metric != "wasted" || !m[0].Null() || m[1].Metric != "zeal" {
		t.Errorf("metrics = %+v", m)
	}
}

// Of a key that stands twice the later one holds, and bytes that are no text become �, as earlier versions read and wrote
// them.
func TestOddJSON(t *testing.T) {
	s, err := ReadSummary([]byte(`{"version": 1, "seeds": [1], "seeds": [2], "policies": [{"label": "A"}]}`))
	if err != nil || !slices.Equal(s.Seeds, []uint64{2}) {
		t.Errorf("got %+v, %v", s, err)
	}
	got, err := MarshalLines(map[string]string{"b\xff": "\xff", "a": "<"})
	if want := "{\"a\": \"<\", \"b�\": \"�\"}\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestReadSummaryWithoutKeys: a number whose key is missing is as unknown as one that is null.
func TestReadSummaryWithoutKeys(t *testing.T) {
	s, err := ReadSummary([]byte(`{"version": 1, "seeds": [1], "policies": [{"label": "A", "metrics": {"wasted": {"values": [null]}},
		"versus_baseline": {"wasted": {}}, "filtered": [{"metric": "wasted", "class": "mail", "values": [null], "versus_baseline": {"p": null}}]}],
		"objectives": [{"metric": "wasted", "policy": "A", "verdict": "unclear"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &s.Policies[0]
	for _, e := range []Estimate{p.Metrics[0], p.Filtered[0]} {
		if !math.IsNaN(e.Mean) || !math.IsNaN(e.Low) || !math.IsNaN(e.High) || !math.IsNaN(e.Half) || !math.IsNaN(e.Values[0]) {
			t.Errorf("%s: got %+v", e.Query, e)
		}
	}
	for _, d := range p.Versus {
		if !math.IsNaN(d.Difference) || !math.IsNaN(d.Low) || !math.IsNaN(d.High) || !math.IsNaN(d.Half) || !math.IsNaN(d.P) || !math.IsNaN(d.Adjusted) {
			t.Errorf("%s: got %+v", d.Query, d)
		}
	}
	if v := s.Objectives[0]; len(p.Versus) != 2 || !math.IsNaN(v.Value) || !math.IsNaN(v.Low) || !math.IsNaN(v.High) || !math.IsNaN(v.Half) {
		t.Errorf("%d differences, and the objective is %+v", len(p.Versus), v)
	}
}

// The order in which simulations end, or in which runs are handed over, changes nothing.
func TestSummaryDoesNotDependOnOrder(t *testing.T) {
	s, runs := comparison(6)
	var first map[string][]byte
	for i := range 3 {
		rand := keyed.Rand{Seed: uint64(i)}
		keys := make(map[*measure.Run]float64)
		shuffled := make([]*measure.Run, len(runs))
		for j := range runs {
			shuffled[j] = &runs[j]
			keys[shuffled[j]] = rand.Uniform(keyed.ForPolicy, uint64(j), 0, 0)
		}
		slices.SortFunc(shuffled, func(a, b *measure.Run) int { return int(math.Copysign(1, keys[a]-keys[b])) })
		var order []measure.Run
		for _, r := range shuffled {
			order = append(order, *r)
		}
		sum, err := Summarize(s, order, Options{})
		if err != nil {
			t.Fatal(err)
		}
		files, err := Files(sum, RunInfo{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string][]byte)
		for _, f := range files {
			got[f.Path] = f.Data
		}
		if first == nil {
			first = got
		}
		for path := range first {
			if !bytes.Equal(first[path], got[path]) {
				t.Errorf("%s depends on the order of the runs", path)
			}
		}
	}
}
