package results

import (
	"slices"
	"testing"

	"qsim/results/measure"
)

// scattered adds and subtracts spread in turn, from seed to seed, to and from a metric's values under some policies, by
// index: under every other one it begins with subtracting.
func (s *Summary) scattered(metric string, spread float64, policies ...int) *Summary {
	for n, i := range policies {
		e := s.Policies[i].Find(measure.Query{Metric: metric})
		for seed := range e.Values {
			e.Values[seed] += spread * float64(1-2*((seed+n)%2))
		}
	}
	return s
}

// Marks of the table, the finding and titles of charts use one rule for better values: no winner among values that are
// equivalent, not significantly different, or without a better direction.
func TestOneRuleOfWhatIsBetter(t *testing.T) {
	t.Parallel()
	const metric = "retry.wait.p99"
	for _, tt := range []struct {
		name    string
		summary *Summary
		best    []bool
		ranked  []int
	}{
		{"the best of three", tableSummary(20, 0, metric, []float64{9, 3, 1}), []bool{false, false, true}, []int{2, 1, 0}},
		{"two within the equivalence band", tableSummary(20, 0, metric, []float64{9, 1.04, 1}), []bool{false, true, true}, []int{2, 1, 0}},
		{"two that seeds do not tell apart", tableSummary(20, 0, metric, []float64{9, 1.5, 1}).scattered(metric, 2, 1, 2), []bool{false, true, true}, []int{2, 1, 0}},
		{"few seeds: the means decide", tableSummary(3, 0, metric, []float64{9, 1.5, 1}).scattered(metric, 2, 1, 2), []bool{false, false, true}, []int{2, 1, 0}},
		{"none is told apart from the baseline", tableSummary(20, 0, metric, []float64{9, 7}).unsure(metric, .2, 1), []bool{false, false}, []int{1, 0}},
		{"a goal says which is better of a fact", tableSummary(20, 0, "utilization", []float64{.9, .4}).judgedAll("utilization", "below 50%", Met),
			[]bool{false, true}, []int{1, 0}},
		{"a range makes neither better", tableSummary(20, 0, "goodput", []float64{9, 4}).judgedAll("goodput", "below 20", Met).judgedAll("goodput", "above 2", Met),
			[]bool{false, false}, []int{1, 0}},
	} {
		c := ColumnOf(tt.summary, tt.summary.Policies[0].Filtered[0].Query)
		for i := range c.Cells {
			if c.Cells[i].Best != tt.best[i] {
				t.Errorf("%s: policy %d best: %v, want %v", tt.name, i, c.Cells[i].Best, tt.best[i])
			}
		}
		if got := c.Ranked(); !slices.Equal(got, tt.ranked) {
			t.Errorf("%s: ranked %v, want %v", tt.name, got, tt.ranked)
		}
	}
}
