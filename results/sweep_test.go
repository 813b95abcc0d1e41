package results

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Query
		err  string
	}{
		{"goodput", Query{Metric: "goodput"}, ""},
		{" fresh.wait.p99  during down ", Query{Metric: "fresh.wait.p99", During: "down"}, ""},
		{"sojourn.p99 class mail tenant three after down", Query{Metric: "sojourn.p99", Class: "mail", Tenant: "three", After: "down"}, ""},
		{"fresh.within limit 2s", Query{Metric: "fresh.within", Limit: 2 * time.Second}, ""},
		{"", Query{}, "want a metric"},
		{"goodput during", Query{}, "a value is missing after during"},
		{"goodput in down", Query{}, "want during, after, class, tenant or limit"},
		{"goodput during a during b", Query{}, "during is there twice"},
		{"fresh.within limit 2s limit 3s", Query{}, "limit is there twice"},
		{"fresh.within limit soon", Query{}, "want a duration"},
		{"fresh.within limit -2s", Query{}, "want a duration"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseQuery(tt.text)
			switch {
			case tt.err == "" && (err != nil || got != tt.want):
				t.Fatalf("got %+v (%v), want %+v", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Fatalf("got %v, want %q in it", err, tt.err)
			case tt.err != "":
				return
			}
			if again, err := ParseQuery(got.String()); err != nil || again != got {
				t.Errorf("%q reads as %+v (%v)", got.String(), again, err)
			}
		})
	}
}

// A metric of the whole run is not called one of a storm.
func TestTitlesOfWholeRuns(t *testing.T) {
	whole, storm := Query{Metric: "fresh.wait.p99"}, Query{Metric: "fresh.wait.p99", During: "down"}
	for _, tt := range []struct {
		queries []Query
		want    []string
	}{
		{[]Query{whole}, []string{"fresh p99"}},
		{[]Query{storm}, []string{"fresh p99 in storm"}},
	} {
		if got := (&Sweep{Queries: tt.queries}).titles(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got titles %q, want %q", tt.queries, got, tt.want)
		}
	}
	if got := (&Sweep{Queries: []Query{whole, storm}}).titles(); strings.Contains(got[0], "storm") || !strings.Contains(got[1], "in storm") {
		t.Errorf("got titles %q", got)
	}
}

// What is asked for is measured, whether or not an objective is about it.
func TestAskedIsMeasured(t *testing.T) {
	s := &Settings{Objectives: []Objective{{Query: Query{Metric: "goodput", During: "down"}}}, Asked: []Query{
		{Metric: "goodput", During: "down"}, {Metric: "goodput"}, {Metric: "goodput", Class: "mail"}, {Metric: "slowdown"}}}
	want := []Query{{Metric: "goodput", During: "down"}, {Metric: "goodput", Class: "mail"}, {Metric: "slowdown"}} // goodput is measured anyway
	if got := Queries(s); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !s.Wants("slowdown") || s.Wants("jain") {
		t.Error("slowdown is asked for, jain is not")
	}
}

// made is a sweep of two keys and two policies with numbers that say where they belong.
func made() *Sweep {
	s := &Sweep{Scenario: "made", ConfigHash: "9e41c0d2", Seeds: []uint64{1, 2}, Policies: []PolicyInfo{{Label: "FIFO"}, {Label: `LIFO, "odd"`}},
		Axes:       []Axis{{Key: "engine.workers", Values: []string{"8", "16"}, Numbers: []float64{8, 16}}, {Key: "retry.jitter", Values: []string{"none", `"±20%"`}}},
		Queries:    []Query{{Metric: "fresh.wait.p99", During: "down"}, {Metric: "goodput"}},
		Objectives: []Objective{{Query: Query{Metric: "goodput"}, Above: true, Bound: 5, Text: "above 5"}}}
	for cell := range 4 {
		sum := &Summary{Seeds: s.Seeds}
		for i, p := range s.Policies {
			value := float64(10*cell + i)
			sum.Policies = append(sum.Policies, PolicySummary{Label: p.Label, Fingerprint: "00", Filtered: []Estimate{
				{Query: s.Queries[0], Mean: value, Low: value - 1, High: value + 1, Half: 1, N: 2, Values: []float64{1, 2}}},
				Metrics: []Estimate{{Query: s.Queries[1], Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), Half: math.NaN(), Reason: "nothing"}}})
			sum.Objectives = append(sum.Objectives, Verdict{Query: s.Queries[1], Policy: p.Label, Text: "above 5", Outcome: []Outcome{Met, Missed, Unclear, Met}[cell]})
		}
		if err := s.AddCell(3-cell, sum); err != nil { // in any order
			panic(err)
		}
	}
	return s
}

func TestSweepTable(t *testing.T) {
	s := made()
	var b strings.Builder
	if err := WriteSweep(&b, s, TableOptions{Path: "here", Note: "in no time"}); err != nil {
		t.Fatal(err)
	}
	want := `made  engine.workers (2) × retry.jitter (2): 4 cells × 2 policies × 2 seeds

workers  jitter  policy       fresh p99 in storm  goodput
────────────────────────────────────────────────────────────────────
8        none    FIFO                30.0s ±1.0s        –  met
                 LIFO, "odd"         31.0s ±1.0s        –  met
8        "±20%"  FIFO                20.0s ±1.0s        –  unclear
                 LIFO, "odd"         21.0s ±1.0s        –  unclear
16       none    FIFO                10.0s ±1.0s        –  missed
                 LIFO, "odd"         11.0s ±1.0s        –  missed
16       "±20%"  FIFO                   0s ±1.0s        –  met
                 LIFO, "odd"          1.0s ±1.0s        –  met

± 95 % t-interval over the seeds, which are the same in every cell; ≥ the run ended too early to tell; the last column: all objectives of the policy
here  in no time
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := WriteSweep(&b, s, TableOptions{Format: CSV}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if want := `1,8,"""±20%""","LIFO, ""odd""",21,20,22,2,,,,,0,,unclear,00`; lines[4] != want {
		t.Errorf("got %s\nwant %s", lines[4], want)
	}
}

// A table of thousands of rows says that it is not all.
func TestLongSweepTable(t *testing.T) {
	s := made()
	s.Axes[0].Values = make([]string, 200)
	for i := range 300 {
		s.Cells = append(s.Cells, Cell{Index: 4 + i%390, Rows: s.Cells[0].Rows})
	}
	var b strings.Builder
	if err := WriteSweep(&b, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "and 408 rows more: --format csv prints them all\n"; !strings.Contains(b.String(), want) || strings.Count(b.String(), "\n") > 220 {
		t.Errorf("want %q behind 200 rows in\n%s", want, b.String())
	}
}

func TestSweepRefusesCells(t *testing.T) {
	s := made()
	for _, tt := range []struct {
		name string
		sum  *Summary
		want string
	}{
		{"a cell twice", &Summary{Policies: []PolicySummary{{Label: "FIFO"}, {Label: `LIFO, "odd"`}}}, "there already"},
		{"fewer policies", &Summary{Policies: []PolicySummary{{Label: "FIFO"}}}, "1 policies"},
		{"other policies", &Summary{Policies: []PolicySummary{{Label: "FIFO"}, {Label: "LIFO"}}}, "is LIFO"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.AddCell(0, tt.sum); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}
