package text

import (
	"math"
	"slices"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
)

// made returns a sweep of two keys with two values each and two policies, with numbers that encode their positions.
func made() *results.Sweep {
	s := &results.Sweep{Scenario: "made", ConfigHash: "9e41c0d2", Seeds: []uint64{1, 2}, Policies: []measure.PolicyInfo{{Label: "FIFO"}, {Label: `LIFO, "odd"`}},
		Axes:       []results.Axis{{Key: "engine.workers", Values: []string{"8", "16"}, Numbers: []float64{8, 16}}, {Key: "retry.jitter", Values: []string{"none", `"±20%"`}}},
		Queries:    []measure.Query{{Metric: "fresh.wait.p99", During: "down"}, {Metric: "goodput"}},
		Objectives: []measure.Objective{{Query: measure.Query{Metric: "goodput"}, Above: true, Bound: 5, Text: "above 5"}}}
	for cell := range 4 {
		sum := &results.Summary{Seeds: s.Seeds}
		for i, p := range s.Policies {
			value := float64(10*cell + i)
			sum.Policies = append(sum.Policies, results.PolicySummary{Label: p.Label, Fingerprint: "00", Filtered: []results.Estimate{
				{Query: s.Queries[0], Mean: value, Low: value - 1, High: value + 1, Half: 1, N: 2, Values: []float64{1, 2}}},
				Metrics: []results.Estimate{{Query: s.Queries[1], Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), Half: math.NaN(), Reason: "nothing"}}})
			sum.Objectives = append(sum.Objectives, results.Verdict{Query: s.Queries[1], Policy: p.Label, Text: "above 5", Outcome: []results.Outcome{results.Met, results.Missed, results.Unclear, results.Met}[cell]})
		}
		made, err := s.CellOf(3-cell, sum)
		if err != nil {
			panic(err)
		}
		s.Cells = slices.Insert(s.Cells, 0, *made)
	}
	return s
}

func TestSweepTable(t *testing.T) {
	s := made()
	want := `made  engine.workers (2) × retry.jitter (2): 4 cells × 2 policies × 2 seeds

workers  jitter  policy       p99 wait of fresh jobs in down  jobs done per second
───────────────────────────────────────────────────────────────────────────────────────────
8        none    FIFO                            30.0s ±1.0s                     –  met
                 LIFO, "odd"                     31.0s ±1.0s                     –  met
8        "±20%"  FIFO                            20.0s ±1.0s                     –  unclear
                 LIFO, "odd"                     21.0s ±1.0s                     –  unclear
16       none    FIFO                            10.0s ±1.0s                     –  missed
                 LIFO, "odd"                     11.0s ±1.0s                     –  missed
16       "±20%"  FIFO                               0s ±1.0s                     –  met
                 LIFO, "odd"                      1.0s ±1.0s                     –  met

± 95 % t-interval over the seeds, which are the same in every cell; ≥ the run ended too early to tell; the last column: all objectives of the policy
`
	if got := Sweep(s, TableOptions{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := strings.Split(Sweep(s, TableOptions{Format: CSV}), "\n")
	if want := `1,8,"""±20%""","LIFO, ""odd""",21,20,22,2,,,,,0,,unclear,00`; lines[4] != want {
		t.Errorf("got %s\nwant %s", lines[4], want)
	}
}

// TestLongSweepTable checks that a table of more than 200 rows is cut, with a note about the rest.
func TestLongSweepTable(t *testing.T) {
	s := made()
	s.Axes[0].Values = make([]string, 200)
	for i := range 300 {
		s.Cells = append(s.Cells, results.Cell{Index: 4 + i%390, Rows: s.Cells[0].Rows})
	}
	got := Sweep(s, TableOptions{})
	if want := "and 408 rows more: --format csv prints them all\n"; !strings.Contains(got, want) || strings.Count(got, "\n") > 220 {
		t.Errorf("want %q behind 200 rows in\n%s", want, got)
	}
}
