package study

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// TestDoctorsCosts: a cost is a metric that the cure makes worse, significantly and by enough.
func TestDoctorsCosts(t *testing.T) {
	const none = -1e9 // no difference is known
	for _, tt := range []struct {
		name, metric    string
		old, difference float64
		shown           bool
		want            string
	}{
		{"more of what should be less", "dead.count", 100, 20, true, "dead jobs +20"},
		{"less of what should be more", "goodput", 100, -20, true, "goodput −20/s"},
		{"less of what should be less", "dead.count", 100, -20, true, ""},
		{"more of what should be more", "goodput", 100, 20, true, ""},
		{"chance", "dead.count", 100, 20, false, ""},
		{"a share too small", "dead.count", 1000, 20, true, ""},
		{"too few", "dead.count", 1, 0.9, true, ""},
		{"as many more as there were", "store.calls.claim", 1000, 1000, true, "claims of the store +1,000"},
		{"not twice as many", "store.calls.claim", 1000, 900, true, ""},
		{"a time", "sojourn.p99", 1, 0.5, true, "p99 until done +500ms"},
		{"a share of the time", "wasted", 0.1, 0.05, true, "wasted worker time +5%"},
		{"a value on one side", "dead.count", 100, none, true, ""},
		{"no cost", "attempts.mean", 1, 5, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := measure.Query{Metric: tt.metric}
			s := results.Summary{Policies: []results.PolicySummary{
				{Metrics: []results.Estimate{{Query: q, Mean: tt.old}}}, {Metrics: []results.Estimate{{Query: q, Mean: tt.old + tt.difference}}}}}
			if tt.difference != none {
				s.Policies[1].Versus = []results.Contrast{{Query: q, Difference: tt.difference, Shown: tt.shown}}
			}
			if got := cost(&s); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	s := results.Summary{Policies: make([]results.PolicySummary, 2)}
	for _, metric := range []string{"goodput", "dead.count"} {
		q := measure.Query{Metric: metric}
		s.Policies[0].Metrics = append(s.Policies[0].Metrics, results.Estimate{Query: q, Mean: 10})
		s.Policies[1].Versus = append(s.Policies[1].Versus, results.Contrast{Query: q, Difference: 5, Shown: true})
	}
	if s.Policies[1].Versus[0].Difference = -5; cost(&s) != "dead jobs +5, goodput −5/s" {
		t.Errorf("of two: got %q", cost(&s))
	}
}

// TestDoctorsOrder: findings are ordered by verdict, then by the excess over the limit, equal ones in the given order;
// and the order in continuous integration.
func TestDoctorsOrder(t *testing.T) {
	verdict := func(outcome results.Outcome) results.Verdict {
		return results.Verdict{Query: measure.Query{Metric: "dead.count"}, Text: "below 3", Outcome: outcome, Value: 7, Half: math.NaN()}
	}
	d := Diagnosis{Policy: "fifo", Findings: []Finding{
		{Incident: "f", Exposure: Immune, Why: "no retries"},
		{Incident: "e", Exposure: Safe, over: 0.1, Scenario: &scenarios.Scenario{}, Yours: verdict(results.Met)},
		{Incident: "d", Exposure: Safe, over: 0.9, Scenario: &scenarios.Scenario{}, Yours: verdict(results.Met)},
		{Incident: "b", Exposure: Exposed, over: 2, Scenario: &scenarios.Scenario{}, Yours: verdict(results.Missed),
			Cure: "retry.jitter: full", Cost: "dead jobs +20"},
		{Incident: "g", Exposure: Immune},
		{Incident: "a", Exposure: Exposed, over: 3, Scenario: &scenarios.Scenario{}, Yours: verdict(results.Missed), Cure: "x"},
		{Incident: "c", Exposure: Unsure, Why: "not tried: its trouble does not fit: too large"},
	}}
	d.sort()
	var order string
	for _, f := range d.Findings {
		order += f.Incident
	}
	if order != "abcdefg" {
		t.Errorf("got the order %s", order)
	}
	for _, strict := range []bool{false, true} {
		var got []string
		for _, c := range d.Cases(strict) {
			got = append(got, fmt.Sprintf("%t %s", c.Failed, &c))
		}
		want := []string{"true fifo: a, dead.count below 3: missed, 7; cure: x",
			"true fifo: b, dead.count below 3: missed, 7; cure: retry.jitter: full; dead jobs +20",
			fmt.Sprintf("%t fifo: c: unclear, not tried: its trouble does not fit: too large", strict),
			"false fifo: d, dead.count below 3: met, 7", "false fifo: e, dead.count below 3: met, 7"}
		if !slices.Equal(got, want) {
			t.Errorf("strict: %t: got %q, want %q", strict, got, want)
		}
	}
}

// TestRoundUp: a limit that is measured has two digits, and is never below what was measured.
func TestRoundUp(t *testing.T) {
	for v, want := range map[float64]float64{0.1234: 0.13, 0.12: 0.12, 991: 1000, 3: 3, 7.0000000001: 7, 0.0501: 0.051, 0: 0, -1: 0, math.NaN(): 0} {
		if got := roundUp(v); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v: got %v, want %v", v, got, want)
		}
	}
}
