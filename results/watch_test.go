package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"qsim/engine/keyed"
	"qsim/results/measure"
	"qsim/results/resultstest"
)

// scattered returns runs of a policy, one for each seed, whose goodput has mean 1 and the given standard deviation.
func scattered(policy, seeds int, deviation float64) []measure.Run {
	var runs []measure.Run
	for seed := range uint64(seeds) {
		u := keyed.Rand{Seed: seed + 1}.Uniform(keyed.ForPolicy, uint64(policy), 0, 0)
		v := 1 + float64(deviation*math.Sqrt(12)*(u-0.5))
		runs = append(runs, measure.Run{Policy: policy, Seed: seed + 1, Values: []measure.Value{{Query: measure.Query{Metric: "goodput"}, Value: v}}})
	}
	return runs
}

// watching returns settings whose only objective is on the goodput.
func watching() *measure.Settings {
	s := settings()
	s.Objectives = []measure.Objective{{Query: measure.Query{Metric: "goodput"}, Above: true, Bound: 0.5, Text: "above 0.5/s", Policy: "FIFO"}}
	return s
}

// The watch stops at the first number of seeds, from ten on, at which the rule holds for
// every policy, the objective's or not.
func TestWatchStopsAtTheFirstThatIsEnough(t *testing.T) {
	for _, tt := range []struct{ deviation, other, g float64 }{
		{0.2, 0.1, 0.05}, {0.1, 0.2, 0.05}, {0.3, 0.01, 0.1}, {1e-6, 1e-6, 0.05}, {0.2, 0.2, 0.9},
	} {
		a, b := scattered(0, 400, tt.deviation), scattered(1, 400, tt.other)
		w := NewWatch(watching(), tt.g)
		stopped := 0
		for i := range a {
			if w.Add([]measure.Run{b[i], a[i]}) {
				stopped = i + 1
				break
			}
		}
		if first := firstPrecise(a, b, tt.g); stopped != first {
			t.Errorf("%+v: stopped after %d seeds, want %d", tt, stopped, first)
		}
	}
}

// firstPrecise returns the first number of seeds, from 10, for which t·s/√n ≤ g·|mean|/(1+g) under two policies, or 0.
func firstPrecise(a, b []measure.Run, g float64) int {
	holds := func(runs []measure.Run) bool {
		sum, squares := 0.0, 0.0
		for i := range runs {
			sum += runs[i].Values[0].Value
		}
		mean := sum / float64(len(runs))
		for i := range runs {
			squares += (runs[i].Values[0].Value - mean) * (runs[i].Values[0].Value - mean)
		}
		return halfWidth(math.Sqrt(squares/float64(len(runs)-1)), len(runs), alpha) <= g*math.Abs(mean)/(1+g)
	}
	for n := 10; n <= len(a); n++ {
		if holds(a[:n]) && holds(b[:n]) {
			return n
		}
	}
	return 0
}

// Quantiles are watched over the pooled jobs, as in the report, and a metric without a value does
// not prolong a run.
func TestWatchSeesWhatASummarySees(t *testing.T) {
	s, runs := comparison(14)
	s.Objectives = []measure.Objective{{Query: measure.Query{Metric: "fresh.wait.p90"}}, {Query: measure.Query{Metric: "jain"}}, {Query: measure.Query{Metric: "fresh.wait.p50", During: "down"}}}
	for i := range runs { // as their settings would have had it measured
		runs[i] = resultstest.Simulated(s, runs[i].Policy, runs[i].Seed, []float64{8, 1}[runs[i].Policy])
	}
	for _, g := range []float64{0.5, 0.2, 0.1, 0.05, 0.02} {
		w := NewWatch(s, g)
		for n := 1; n <= 14; n++ {
			seed := slices.Clone(runs[2*n-2 : 2*n])
			sum, err := Summarize(s, runs[:2*n], Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := w.Add(seed), sum.Widest(g) == ""; got != want {
				t.Errorf("g %v, %d seeds: the watch says %v, the summary %v", g, n, got, want)
			}
		}
	}
}

// Ten seeds, some without a value, count as fewer than ten.
func TestWatchCountsSeedsWithAValue(t *testing.T) {
	s := watching()
	s.Policies = s.Policies[:1]
	w := NewWatch(s, 0.9)
	runs := scattered(0, 14, 0.01)
	runs[2].Values[0].Null, runs[5].Values[0].Null = true, true
	for i := range runs {
		if got, want := w.Add(runs[i:i+1]), i >= 11; got != want {
			t.Errorf("%d seeds, %d with a value: enough %v", i+1, i-1, got)
		}
	}
}

func TestWarningOfSeedsThatRanOut(t *testing.T) {
	s := watching()
	runs := slices.Concat(scattered(0, 12, 0.4), scattered(1, 12, 0.1))
	sum, err := Summarize(s, runs, Options{Until: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(sum.Warnings, "\n"); !strings.Contains(all, "12 seeds are not enough for intervals of ±5%, which takes ±4.8% of the measured value: jobs done per second under FIFO is ") {
		t.Errorf("warnings:\n%s", all)
	}
	if sum, _ = Summarize(s, runs, Options{Until: 0.9}); strings.Contains(strings.Join(sum.Warnings, "\n"), "not enough") {
		t.Errorf("enough, and yet: %q", sum.Warnings)
	}
}
