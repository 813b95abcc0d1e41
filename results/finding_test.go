package results

import (
	"math"
	"testing"
)

// The sentence names the baseline's worst, the policy that cures it, and the price, with the table's numbers.
func TestFinding(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		summary    *Summary
	}{
		{"cure and price", "A: p99 wait of fresh jobs in down 1m59s. B: 186ms (−99.8%), C 209ms; retries wait 2.4× longer under B.", storm()},
		{"the goal that is missed before the first", "A: dead jobs 9. B: 3 (−67%).",
			tableSummary(20, 0, "goodput", []float64{1, 2}, "dead.count", []float64{9, 3}).judged("goodput", "above 1", map[int]Outcome{0: Met, 1: Met}, false).
				judged("dead.count", "below 5", map[int]Outcome{0: Missed, 1: Met}, false)},
		{"the one that misses least, not the best of one metric", "A: mean wait of retries 9.0s. C: 3.0s (−67%), B 1.0s.",
			tableSummary(20, 0, "retry.wait.mean", []float64{9, 1, 3}, "dead.count", []float64{0, 50, 0}).judged("retry.wait.mean", "below 5s", map[int]Outcome{0: Missed, 1: Met, 2: Met}, false).
				judged("dead.count", "below 0", map[int]Outcome{0: Met, 1: Missed, 2: Met}, false)},
		{"dying is the price", "A: p99 wait of fresh jobs 9.0s. B: 1.0s (−89%); dead jobs 50 instead of 0.",
			tableSummary(20, 0, "fresh.wait.p99", []float64{9, 1}, "dead.count", []float64{0, 50}, "retry.wait.mean", []float64{1, 900}).judged("fresh.wait.p99", "below 5s", map[int]Outcome{0: Missed, 1: Met}, false)},
		{"others are worse", "A: duplicates 0, none is better. C: 40.",
			tableSummary(20, 0, "duplicates.count", []float64{0, 4, 40}).judged("duplicates.count", "below 0", map[int]Outcome{0: Met, 1: Missed, 2: Missed}, true)},
		{"many", "A: mean time until done 9.0s. B: 1.0s (−89%), the other three at most 4.0s.",
			tableSummary(20, 0, "sojourn.mean", []float64{9, 1, 2, 4, 3}).judged("sojourn.mean", "below 5s", map[int]Outcome{0: Missed, 1: Met, 2: Met, 3: Met, 4: Met}, false)},
		{"more is better", "A: jobs done per second 14. B: 60 (×4.3).",
			tableSummary(20, 0, "goodput", []float64{14, 60}).judged("goodput", "above 50", map[int]Outcome{0: Missed, 1: Met}, false)},
		{"alike", "No difference between the 2 policies is shown.", tableSummary(20, 0, "goodput", []float64{14, 14}).judged("goodput", "above 5", map[int]Outcome{0: Met, 1: Met}, false)},
		{"one policy", "A: dead jobs 9, goal ≤ 5.", tableSummary(20, 0, "goodput", []float64{14}, "dead.count", []float64{9}).judged("goodput", "above 5", map[int]Outcome{0: Met}, false).
			judged("dead.count", "below 5", map[int]Outcome{0: Missed}, false)},
		{"one policy, and no value in the first column", "A: dead jobs 9, goal ≤ 5.",
			tableSummary(20, 0, "goodput", []float64{math.NaN()}, "dead.count", []float64{9}).judged("goodput", "above 5", map[int]Outcome{0: Unclear}, false).
				judged("dead.count", "below 5", map[int]Outcome{0: Met}, false)},
		{"one policy, and no value where a miss is expected", "A: dead jobs 9, goal ≤ 5.",
			tableSummary(20, 0, "goodput", []float64{math.NaN()}, "dead.count", []float64{9}).judged("goodput", "above 5", map[int]Outcome{0: Unclear}, true).
				judged("dead.count", "below 5", map[int]Outcome{0: Met}, false)},
		{"one policy, and no value at all", "",
			tableSummary(20, 0, "goodput", []float64{math.NaN()}).judged("goodput", "above 5", map[int]Outcome{0: Unclear}, false)},
		{"nothing", "", &Summary{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := TableOf(tt.summary)
			if got := FindingOf(tt.summary, table).String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A difference that seeds do not show is no finding.
func TestFindingOfNoise(t *testing.T) {
	s := tableSummary(20, 5, "sojourn.mean", []float64{9, 7}).judged("sojourn.mean", "below 5s", map[int]Outcome{0: Missed, 1: Missed}, false)
	s.Policies[1].Versus[0].P, s.Policies[1].Versus[0].Shown = 0.3, false
	if got := FindingOf(s, TableOf(s)).String(); got != "No difference between the 2 policies is shown." {
		t.Errorf("got %s", got)
	}
}
