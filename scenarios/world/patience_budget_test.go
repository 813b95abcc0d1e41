package world

import (
	"fmt"
	"testing"

	"qsim/results/measure"
)

// Ten jobs come at 0 and ten at 20 s to a worker that needs an hour for the first. All callers give
// up after 1 s and want to enqueue one more copy, as far as the budget of all first copies
// so far pays for it.
func TestPatienceBudget(t *testing.T) {
	const text = instant + `
duration: 40s
drain: 0s
jobs:
  - {class: mail, arrivals: {process: batch, size: 10, every: 20s}, service: 1h, patience: {after: 1s, resubmits: %s}}
  - {class: post, arrivals: {process: batch, size: 1000, every: 1h}, service: 1h, patience: {after: 1h, resubmits: 0}}
`
	for _, tt := range []struct {
		patience string
		want     float64 // copies in all
	}{
		{"1", 40}, {"1, budget: 100%", 40}, {"3, budget: 100%", 40}, {"3", 80}, {"1, budget: 30%", 26}, {"1, budget: 35%", 20 + 7}, // 3 of 10, 7 of 20
		{"1, budget: 9.9%", 21}, {"1, budget: 0%", 20}, {"0, budget: 50%", 20},
	} {
		t.Run(tt.patience, func(t *testing.T) {
			all := runs(t, fmt.Sprintf(text, tt.patience))
			if got := value(t, &all[0], measure.Query{Metric: "jobs"}) - 1000; got != tt.want {
				t.Errorf("%v copies, want %v", got, tt.want)
			}
		})
	}
}
