package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"qsim/results/measure"
	"qsim/results/plain"
)

// made returns a sweep of two keys and two policies with numbers that encode their positions.
func made() *Sweep {
	s := &Sweep{Scenario: "made", ConfigHash: "9e41c0d2", Seeds: []uint64{1, 2}, Policies: []measure.PolicyInfo{{Label: "FIFO"}, {Label: `LIFO, "odd"`}},
		Axes:       []Axis{{Key: "engine.workers", Values: []string{"8", "16"}, Numbers: []float64{8, 16}}, {Key: "retry.jitter", Values: []string{"none", `"±20%"`}}},
		Queries:    []measure.Query{{Metric: "fresh.wait.p99", During: "down"}, {Metric: "goodput"}},
		Objectives: []measure.Objective{{Query: measure.Query{Metric: "goodput"}, Above: true, Bound: 5, Text: "above 5"}}}
	for cell := range 4 {
		sum := &Summary{Seeds: s.Seeds}
		for i, p := range s.Policies {
			value := float64(10*cell + i)
			sum.Policies = append(sum.Policies, PolicySummary{Label: p.Label, Fingerprint: "00", Filtered: []Estimate{
				{Query: s.Queries[0], Mean: value, Low: value - 1, High: value + 1, Half: 1, N: 2, Values: []float64{1, 2}}},
				Metrics: []Estimate{{Query: s.Queries[1], Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), Half: math.NaN(), Reason: "nothing"}}})
			sum.Objectives = append(sum.Objectives, Verdict{Query: s.Queries[1], Policy: p.Label, Text: "above 5", Outcome: []Outcome{Met, Missed, Unclear, Met}[cell]})
		}
		made, err := s.CellOf(3-cell, sum)
		if err != nil {
			panic(err)
		}
		s.Cells = slices.Insert(s.Cells, 0, *made)
	}
	return s
}

func TestSweepRefusesCells(t *testing.T) {
	s := made()
	for _, tt := range []struct {
		name string
		sum  *Summary
		want string
	}{
		{"fewer policies", &Summary{Policies: []PolicySummary{{Label: "FIFO"}}}, "1 policies"},
		{"other policies", &Summary{Policies: []PolicySummary{{Label: "FIFO"}, {Label: "LIFO"}}}, "is LIFO"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := s.CellOf(0, tt.sum); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// TestWorst joins verdicts: one that is missed stands for all, else one that is unclear.
func TestWorst(t *testing.T) {
	for _, tt := range []struct {
		outcomes []Outcome
		worst    int // index; -1: none
	}{
		{nil, -1}, {[]Outcome{Met, Met}, 0}, {[]Outcome{Met, Unclear, Met}, 1}, {[]Outcome{Unclear, Unclear}, 0},
		{[]Outcome{Unclear, Missed, Met, Unclear}, 1}, {[]Outcome{Missed, Missed}, 1},
	} {
		var row CellRow
		for _, o := range tt.outcomes {
			row.Verdicts = append(row.Verdicts, Verdict{Outcome: o})
		}
		verdicts, want := plain.Where(row.Verdicts, func(*Verdict) bool { return true }), Outcome("")
		var sought *Verdict
		if tt.worst >= 0 {
			sought, want = verdicts[tt.worst], tt.outcomes[tt.worst]
		}
		if got := Worst(verdicts); got != sought || row.Outcome() != want {
			t.Errorf("%v: got %v and %q, want %v and %q", tt.outcomes, got, row.Outcome(), sought, want)
		}
	}
}
