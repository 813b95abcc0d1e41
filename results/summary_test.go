package results

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qsim/results/measure"
	"qsim/results/resultstest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	resultstest.Golden(t, filepath.Join("testdata", name), got, *rewrite)
}

func summarized(t testing.TB, seeds int) *Summary {
	t.Helper()
	s, runs := comparison(seeds)
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func encoded(t *testing.T, s *Summary) []byte {
	t.Helper()
	data, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVerdictsOfASummary(t *testing.T) {
	sum := summarized(t, 6)
	var got []string
	for i := range sum.Objectives {
		v := &sum.Objectives[i]
		got = append(got, fmt.Sprintf("%s %s: %s %s", v.Query, v.Policy, v.Outcome, v.Note()))
	}
	want := []string{
		"fresh.wait.p99 during down FIFO: missed ",
		"fresh.wait.p99 during down Weighted: met ",
		"fresh.wait.p99 during down FIFO: missed as expected",
		"fresh.within limit 2s Weighted: met ",
	}
	if !slices.Equal(got[:4], want) {
		t.Errorf("verdicts = %q", got)
	}
	if sum.Exit != 1 {
		t.Errorf("exit = %d, want 1: an objective is missed", sum.Exit)
	}
	d := sum.Policies[1].Against(measure.Query{Metric: "fresh.wait.p99", During: "down"})
	if d == nil || !d.Shown || d.Difference > -5 || d.High >= 0 {
		t.Errorf("difference = %+v", d)
	}
	if d := sum.Policies[1].Against(measure.Query{Metric: "jobs"}); d == nil || d.Shown || d.P != 1 {
		t.Errorf("difference of what is equal = %+v", d)
	}
	if sum.Policies[0].Versus != nil {
		t.Error("the baseline is compared with itself")
	}
}

func TestPooledQuantileIsTheCentre(t *testing.T) {
	sum := summarized(t, 6)
	e := sum.Policies[1].Metric("fresh.wait.p90")
	var pooled measure.Histogram
	for i := range sum.Data[1].Pooled {
		if sum.Data[1].Pooled[i].Query.String() == "fresh.wait" {
			pooled = sum.Data[1].Pooled[i].Ended
		}
	}
	if pooled.Count() != 6*80 || e.Mean != pooled.Quantile(0.9).Seconds() {
		t.Errorf("p90 = %v of %d jobs, want %v of 480", e.Mean, pooled.Count(), pooled.Quantile(0.9).Seconds())
	}
	if len(sum.Data[1].Series) != 6 {
		t.Errorf("series of %d seeds", len(sum.Data[1].Series))
	}
}

// After an interrupt only the seeds count that every policy finished.
func TestPartialRuns(t *testing.T) {
	s, runs := comparison(6)
	runs = slices.DeleteFunc(runs, func(r measure.Run) bool { return r.Seed == 2 && r.Policy == 1 || r.Seed > 4 })
	sum, err := Summarize(s, runs, Options{Seeds: []uint64{1, 2, 3, 4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	if !sum.Partial || !slices.Equal(sum.Seeds, []uint64{1, 3, 4}) || sum.Policies[0].Metric("jobs").N != 3 {
		t.Errorf("partial %v, seeds %v", sum.Partial, sum.Seeds)
	}
	if sum.Warnings[0] != "partial: 3 of 6 seeds finished under every policy" || sum.Warnings[1] != "3 seeds are few: intervals are wide" {
		t.Errorf("warnings = %q", sum.Warnings)
	}
	whole := slices.DeleteFunc(runs, func(r measure.Run) bool { return r.Seed == 2 })
	if sum, _ := Summarize(s, whole, Options{}); sum.Partial {
		t.Error("all that was run finished, yet it is partial")
	}
}

func TestSummarizeErrors(t *testing.T) {
	s, runs := comparison(2)
	for _, tt := range []struct {
		name string
		s    *measure.Settings
		runs []measure.Run
		want string
	}{
		{"no policy", &measure.Settings{Scenario: "x"}, nil, "no policy"},
		{"no common seed", s, runs[:1], "no seed was finished by every policy"},
		{"one seed twice", s, append(runs[:2:2], runs[0]), "two runs of FIFO with seed 1"},
		{"unknown policy", s, []measure.Run{{Policy: 2}}, "of policy 2, but there are 2"},
	} {
		if _, err := Summarize(tt.s, tt.runs, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// One seed gives values, but neither intervals nor verdicts nor comparisons.
func TestOneSeed(t *testing.T) {
	s, runs := comparison(1)
	sum, err := Summarize(s, runs, Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if e := sum.Policies[0].Metric("fresh.wait.p99"); e.Null() || !math.IsNaN(e.Low) || e.N != 1 {
		t.Errorf("estimate = %+v", e)
	}
	for i := range sum.Objectives {
		if v := &sum.Objectives[i]; v.Outcome != Unclear || v.Seeds != 0 {
			t.Errorf("verdict = %+v", v)
		}
	}
	if sum.Exit != 1 || !strings.HasPrefix(sum.Warnings[0], "one seed") || strings.Contains(strings.Join(sum.Warnings, "\n"), "unclear") {
		t.Errorf("exit %d, warnings %q", sum.Exit, sum.Warnings)
	}
	if !bytes.Contains(encoded(t, sum), []byte(`"low": null, "high": null, "n": 1`)) {
		t.Error("missing intervals are not null")
	}
}

func TestWarningsOfASummary(t *testing.T) {
	s, runs := comparison(6)
	for i := range runs {
		r := &runs[i]
		for j := range r.Values {
			if v := &r.Values[j]; r.Policy == 1 && r.Seed == 1 && v.Metric == "unfinished.count" {
				v.Value = 1
			}
		}
		if r.Policy == 0 {
			for j := range r.Values {
				switch v := &r.Values[j]; {
				case v.Metric == "unfinished.count" && r.Seed < 3:
					v.Value = 1000
				case v.Query == measure.Query{Metric: "fresh.wait.p99", During: "down"} && r.Seed == 1:
					v.Null, v.Reason = true, "none"
				case v.Metric == "fresh.within":
					v.Null, v.Reason = true, "it was a long day"
				}
			}
			r.Series.FreshReady[9] = 100
		}
		if r.Seed == 1 {
			r.Warnings = []string{"odd"}
		}
	}
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(sum.Warnings, "\n")
	for _, want := range []string{
		"FIFO: 2,000 jobs were neither done nor dead at the end, in 2 of 6 seeds",
		"Weighted: 1 job was neither done nor dead at the end, in 1 of 6 seeds",
		"FIFO: the backlog was still growing when arrivals stopped, in 6 of 6 seeds",
		"FIFO: odd, in 1 of 6 seeds", "Weighted: odd, in 1 of 6 seeds",
		"FIFO: fresh.wait.p99 during down has a value in 5 of 6 seeds only",
		"FIFO: fresh.within limit 2s has no value: it was a long day",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
}

// Values that are bounds never make a difference that they might undo.
func TestBoundsAndDifferences(t *testing.T) {
	for _, tt := range []struct {
		difference  float64
		bound, base string
		want        bool
	}{{-1, "", "", true}, {-1, ">=", "", false}, {1, ">=", "", true}, {-1, "", ">=", true}, {1, "", ">=", false}, {1, ">=", ">=", false}} {
		if got := sure(tt.difference, tt.bound, tt.base); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestDecideKeepsBounds marks a significant difference as shown only if bounds on the values do not undo it.
func TestDecideKeepsBounds(t *testing.T) {
	family := []*Contrast{{Difference: 2, Low: 1, High: 3, P: 1e-6}, {Difference: 2, Low: 1, High: 3, P: 1e-6, baseBound: "lower"},
		{Difference: -2, Low: -3, High: -1, P: 1e-6, baseBound: "lower"}, {Difference: 2, Low: -1, High: 5, P: .3}}
	decide(family)
	for i, want := range []bool{true, false, true, false} {
		if family[i].Shown != want {
			t.Errorf("contrast %d: shown %v, want %v", i, family[i].Shown, want)
		}
	}
}

func TestPrecise(t *testing.T) {
	s, runs := comparison(12)
	s.Objectives = s.Objectives[:1]
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Widest(0.5) != "" || sum.Widest(1e-6) == "" {
		t.Errorf("precise to 50 %%: %v, to a millionth: %v", sum.Widest(0.5) == "", sum.Widest(1e-6) == "")
	}
	if few := summarized(t, 6); few.Widest(0.5) == "" {
		t.Error("six seeds are taken for enough")
	}
}

// A value that is 0 under every seed is not the least sure one, unless there is no other.
func TestWidestIsNotAZeroOfAllSeeds(t *testing.T) {
	s, runs := comparison(6)
	s.Objectives = []measure.Objective{{Query: measure.Query{Metric: "dead.count"}}, {Query: measure.Query{Metric: "goodput"}}}
	for i := range runs {
		runs[i].Values = []measure.Value{{Query: s.Objectives[0].Query}, {Query: s.Objectives[1].Query, Value: float64(i + 1)}}
	}
	for _, want := range []string{"jobs done", "dead jobs"} {
		sum, err := Summarize(s, runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Widest(0.5); !strings.Contains(got, want) {
			t.Errorf("the least sure value is %q, want that of %s", got, want)
		}
		s.Objectives = s.Objectives[:1]
	}
}

// No job that is dead in the one run that there is: nothing is unclear about that. Any that is dead is one too many
// for an objective of none. Many unclear objectives have one warning.
func TestCountsOfOneSeed(t *testing.T) {
	s, runs := comparison(1)
	s.Objectives = []measure.Objective{{Query: measure.Query{Metric: "dead.count"}, Bound: 0, Text: "below 0"},
		{Query: measure.Query{Metric: "jobs"}, Bound: 0, Text: "below 0"}}
	sum, err := Summarize(s, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Outcome{Met, Met, Missed, Missed} {
		if v := &sum.Objectives[i]; v.Outcome != want {
			t.Errorf("%s of %s: %v is %s, want %s", v.Query, v.Policy, v.Value, v.Outcome, want)
		}
	}
	for _, hopeless := range []int{0, 2} { // which no number of seeds decides
		many := &Summary{Seeds: []uint64{1, 2}}
		for i := range 7 {
			v := Verdict{Outcome: Unclear, Seeds: 40}
			if i < hopeless {
				v = Verdict{Outcome: Unclear, Reason: "no job was retried"}
			}
			many.Objectives = append(many.Objectives, v)
		}
		var warnings []string
		many.warnOfUnclear(func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) })
		want := "7 of 7 objectives are unclear; run about 40 seeds" + map[int]string{2: " for 5 of them"}[hopeless]
		if len(warnings) != 1 || warnings[0] != want {
			t.Errorf("warnings %q", warnings)
		}
	}
	if got := (&Verdict{Outcome: Unclear, Seeds: 1200}).Note(); got != "unclear; run about 1,200 seeds" {
		t.Errorf("note %q", got)
	}
}
