package results

import (
	"strings"
	"testing"

	"qsim/results/measure"
)

// bounded marks a metric's values under some policies, by index, as lower bounds.
func (s *Summary) bounded(metric string, policies ...int) *Summary {
	for _, i := range policies {
		s.Policies[i].Find(measure.Query{Metric: metric}).Bound = ">="
	}
	return s
}

// unsure makes a metric's difference between some policies, by index, and the baseline not significant.
func (s *Summary) unsure(metric string, p float64, policies ...int) *Summary {
	for _, i := range policies {
		d := s.Policies[i].Against(measure.Query{Metric: metric})
		d.P, d.Shown = p, false
	}
	return s
}

// judgedAll adds an objective to a summary, with the same outcome for every policy.
func (s *Summary) judgedAll(metric, text string, o Outcome) *Summary {
	outcomes := make(map[int]Outcome)
	for i := range s.Policies {
		outcomes[i] = o
	}
	return s.judged(metric, text, outcomes, false)
}

// The finding calls only known improvements better: not the times of the few jobs that did not die, nor a lower
// bound, nor less of a metric without a better direction, nor a difference that is not significant.
func TestFindingIsTrue(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		summary    *Summary
	}{
		{"the times of those that did not die", "A: dead jobs 0, none is better. B: 50.",
			tableSummary(20, 0, "sojourn.p99", []float64{629, 3.4}, "dead.count", []float64{0, 50}).judgedAll("sojourn.p99", "below 15m", Met).
				judgedAll("dead.count", "below 60", Met)},
		{"nor are they a price", "A: duplicates 9 (goal ≤ 10 met). B: 1 (−89%).",
			tableSummary(20, 0, "duplicates.count", []float64{9, 1}, "dead.count", []float64{50, 0}, "sojourn.mean", []float64{1, 50}).
				judgedAll("duplicates.count", "below 10", Met)},
		{"a lower bound is not better", "No difference between the 2 policies is shown.",
			tableSummary(20, 0, "retry.wait.max", []float64{90, 30}).judgedAll("retry.wait.max", "below 100s", Met).bounded("retry.wait.max", 1).
				unsure("retry.wait.max", 0.001, 1)},
		{"nor worse than one", "No difference between the 2 policies is shown.",
			tableSummary(20, 0, "retry.wait.max", []float64{30, 90}).judgedAll("retry.wait.max", "below 100s", Met).bounded("retry.wait.max", 0, 1).
				unsure("retry.wait.max", 0.001, 1)},
		{"better than a lower bound", "A: longest wait of retries ≥ 1m30s (goal ≤ 100s met). B: 30.0s (≤ −67%).",
			tableSummary(20, 0, "retry.wait.max", []float64{90, 30}).judgedAll("retry.wait.max", "below 100s", Met).bounded("retry.wait.max", 0)},
		{"a goal of another policy alone", "A: longest wait of retries 1m30s. B: 30.0s (−67%).",
			tableSummary(20, 0, "retry.wait.max", []float64{90, 30}).judged("retry.wait.max", "below 100s", map[int]Outcome{1: Met}, false)},
		{"two goals of all", "A: longest wait of retries 1m30s (goal ≤ 100s, ≤ 95s met). B: 30.0s (−67%).",
			tableSummary(20, 0, "retry.wait.max", []float64{90, 30}).judgedAll("retry.wait.max", "below 100s", Met).judgedAll("retry.wait.max", "below 95s", Met)},
		{"a goal of its own", "A: longest wait of retries 1m30s (goal ≤ 100s met). B: 30.0s (−67%).",
			tableSummary(20, 0, "retry.wait.max", []float64{90, 30}).judged("retry.wait.max", "below 100s", map[int]Outcome{0: Met}, false).
				judged("retry.wait.max", "below 40s", map[int]Outcome{1: Met}, false)},
		{"of two that do as well, the one that costs less", "A: p99 wait of fresh jobs 9.0s. C: 100ms (−99%), B 100ms too; retries wait 2× longer under C.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{9, .1, .1}, "retry.wait.mean", []float64{1, 60, 2}).
				judged("fresh.wait.p99", "below 1s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false)},
		{"not one that costs less here and more there", "A: p99 wait of fresh jobs 9.0s. B: 100ms (−99%), C 100ms too; retries wait 60× longer under B.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{9, .1, .1}, "retry.wait.mean", []float64{1, 60, 2}, "wasted", []float64{.01, .02, .3}).
				judged("fresh.wait.p99", "below 1s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false)},
		{"nor one that costs less and does worse", "A: p99 wait of fresh jobs 9.0s. B: 100ms (−99%), C 200ms; retries wait 60× longer under B.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{9, .1, .2}, "retry.wait.mean", []float64{1, 60, 2}).
				judged("fresh.wait.p99", "below 1s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false)},
		{"nor one that costs less and misses more", "A: p99 wait of fresh jobs 9.0s. B: 100ms (−99%), C 100ms too; retries wait 60× longer under B.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{9, .1, .1}, "retry.wait.mean", []float64{1, 60, 2}, "sojourn.max", []float64{50, 50, 80}).
				judged("fresh.wait.p99", "below 1s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false).
				judged("sojourn.max", "below 60s", map[int]Outcome{0: Met, 1: Met, 2: Missed}, false)},
		{"nor one that costs less and is less sure", "A: p99 wait of fresh jobs 9.0s. B: 100ms (−99%); retries wait 60× longer.",
			tableSummary(2, 0, "fresh.wait.p99", []float64{9, .1, .1}, "retry.wait.mean", []float64{1, 60, 2}).
				judged("fresh.wait.p99", "below 1s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false).unsure("fresh.wait.p99", 0.2, 2)},
		{"a fact of the run within a range", "None of the 2 policies is shown to be better.",
			tableSummary(20, 0, "utilization", []float64{0.3, 0.01}).judgedAll("utilization", "below 50%", Met).judgedAll("utilization", "above 1%", Met)},
		{"a fact of the run without a goal", "None of the 2 policies is shown to be better.",
			tableSummary(20, 0, "utilization", []float64{0.3, 0.01}).judgedAll("utilization", "above 1%", Met).judged("utilization", "below 10%", map[int]Outcome{1: Met}, false)},
		{"a cure that misses more", "A: p99 wait of fresh jobs 1.0s, none is better. B: 21.0s (×21).",
			tableSummary(20, 0, "deaths.limit", []float64{843, 0}, "fresh.wait.p99", []float64{1, 21}).judgedAll("deaths.limit", "below 1000", Met).
				judged("fresh.wait.p99", "below 2s", map[int]Outcome{0: Met, 1: Missed}, true)},
		{"a cure that is expected to miss more", "A: p99 wait of fresh jobs 1.0s, none is better. B: 21.0s (×21).",
			tableSummary(20, 0, "deaths.limit", []float64{843, 0}, "fresh.wait.p99", []float64{1, 21}).judgedAll("deaths.limit", "below 1000", Unclear).
				judged("fresh.wait.p99", "below 2s", map[int]Outcome{1: Unclear}, true).judged("fresh.wait.p99", "below 2s", map[int]Outcome{0: Unclear}, false)},
		{"few seeds do not tell apart", "A: mean time until done 9.0s (goal ≤ 50s met). B: 1.0s (−89%, not told apart yet).",
			tableSummary(2, 5, "sojourn.mean", []float64{9, 1}).judgedAll("sojourn.mean", "below 50s", Met).unsure("sojourn.mean", 0.2, 1)},
		{"told apart before a larger one", "A: mean time until done 9.0s (goal ≤ 50s met). C: 3.0s (−67%).",
			tableSummary(2, 5, "sojourn.mean", []float64{9, 1, 3}).judgedAll("sojourn.mean", "below 50s", Met).unsure("sojourn.mean", 0.2, 1)},
		{"not told apart among many tests", "No difference between the 2 policies is shown.",
			tableSummary(20, 5, "sojourn.mean", []float64{9, 1}).judgedAll("sojourn.mean", "below 50s", Met).unsure("sojourn.mean", 0.03, 1)},
		{"a difference in what is paid alone", "No difference between the 2 policies is shown in what you get.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{1, 1}, "retry.wait.mean", []float64{1, 17}).judgedAll("fresh.wait.p99", "below 2s", Met)},
		{"no price that is not told apart", "A: duplicates 9 (goal ≤ 10 met). B: 1 (−89%).",
			tableSummary(2, 0, "duplicates.count", []float64{9, 1}, "retry.wait.mean", []float64{1, 50}).judgedAll("duplicates.count", "below 10", Met).
				unsure("retry.wait.mean", 0.2, 1)},
		{"the price is as sure as the cure", "A: mean wait of retries 9.0s (goal ≤ 50s met). B: 1.0s (−89%, not told apart yet); 12× the dead jobs.",
			tableSummary(2, 5, "retry.wait.mean", []float64{9, 1}, "dead.count", []float64{4, 50}).judgedAll("retry.wait.mean", "below 50s", Met).
				unsure("retry.wait.mean", 0.2, 1).unsure("dead.count", 0.2, 1)},
		{"the others too", "A: duplicates 9 (goal ≤ 10 met). B: 0 (−100%), the other two 0 too.",
			tableSummary(20, 0, "duplicates.count", []float64{9, 0, 0, 0}).judgedAll("duplicates.count", "below 10", Met)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := FindingOf(tt.summary, TableOf(tt.summary)).String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A requested metric removes no cost from the table, neither a similar metric nor the cost itself.
func TestAskedKeepsPrices(t *testing.T) {
	for _, asked := range []string{"retry.wait.p50", "retry.wait.mean", "wasted"} {
		s := tableSummary(20, 0, "duplicates.count", []float64{9, 1}, "retry.wait.p50", []float64{1, 2}, "retry.wait.mean", []float64{1, 3}, "wasted", []float64{0.1, 0.1}).
			judgedAll("duplicates.count", "below 10", Met)
		s.Settings = &measure.Settings{Asked: []measure.Query{{Metric: asked}}}
		table := TableOf(s)
		if got, want := FindingOf(s, table).String(), "A: duplicates 9 (goal ≤ 10 met). B: 1 (−89%); retries wait 3× longer."; got != want {
			t.Errorf("asked %s: got %s, want %s", asked, got, want)
		}
		if c := table.Find(measure.Query{Metric: asked}); c == nil || c.Part != Asked {
			t.Errorf("%s is not in the table as asked for", asked)
		}
	}
}

// The finding of a table whose reader watches one metric is about that, whatever else is missed.
func TestFindingOfWatched(t *testing.T) {
	for metric, want := range map[string]string{
		"":              "A: duplicates 9. B: 1 (−89%); 4× the dead jobs.",
		"wasted":        "No difference between the 2 policies is shown in wasted worker time.",
		"goodput":       "A: jobs done per second 1. B: 2 (×2); 4× the dead jobs.",
		"dead.count":    "A: dead jobs 2, none is better. B: 8 (×4).",
		"attempts.mean": "A: duplicates 9. B: 1 (−89%); 4× the dead jobs.", // it is not in the table
	} {
		s := tableSummary(20, 0, "duplicates.count", []float64{9, 1}, "retry.wait.mean", []float64{1, 3}, "wasted", []float64{0.1, 0.1},
			"goodput", []float64{1, 2}, "dead.count", []float64{2, 8}).judgedAll("duplicates.count", "below 0", Missed)
		s.Settings = &measure.Settings{}
		for _, asked := range []string{"wasted", "goodput", "dead.count"} {
			s.Settings.Asked = append(s.Settings.Asked, measure.Query{Metric: asked})
		}
		table := TableOf(s)
		table.Watched.Metric = metric
		if got := FindingOf(s, table).String(); got != want {
			t.Errorf("%s: got %s, want %s", metric, got, want)
		}
	}
}

// Lower bounds of the same size are not known to be the same.
func TestBoundsAreNotAlike(t *testing.T) {
	s := tableSummary(20, 0, "goodput", []float64{1, 2}, "retry.wait.max", []float64{90, 90}).judgedAll("goodput", "above 1", Met).
		judgedAll("retry.wait.max", "below 10s", Missed).bounded("retry.wait.max", 0, 1)
	if table := TableOf(s); len(table.Alike) != 0 || len(table.Columns) != 2 {
		t.Errorf("columns %q, alike %q", labelsOf(table.Columns), labelsOf(table.Alike))
	}
}

// A least and a most of the same size are one goal, and bounds have their digits grouped as values have.
func TestExactGoal(t *testing.T) {
	s := tableSummary(5, 0, "attempts.max", []float64{5, 5, 90}).judged("attempts.max", "above 5", map[int]Outcome{0: Met, 1: Met}, false).
		judged("attempts.max", "below 5", map[int]Outcome{0: Met, 1: Met}, false)
	if got := TableOf(s).Columns[0].GoalText(); got != "= 5" {
		t.Errorf("got %q, want = 5", got)
	}
	for text, want := range map[string]string{"below 1000": "≤ 1,000", "above 1000.5": "≥ 1,000.5", "below 1000s": "≤ 1000s", "below 0": "= 0"} {
		if got := (&Verdict{Text: text}).Limit(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The warning about one seed describes which verdicts are still possible.
func TestWarningOfOneSeed(t *testing.T) {
	for outcome, want := range map[Outcome]string{Unclear: "no verdicts and", Missed: "no verdicts but on counts that must be 0"} {
		s := &Summary{Seeds: []uint64{1}, Settings: settings(), Objectives: []Verdict{{Outcome: outcome, Reason: oneSeed}}}
		s.warn(nil, 1)
		if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], want) {
			t.Errorf("%s: %q, want %q", outcome, s.Warnings, want)
		}
	}
}
