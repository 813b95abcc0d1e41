package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
)

// sweepFixture describes a made-up sweep; value returns the metric in a cell, given its position on the axes.
type sweepFixture struct {
	name     string
	axes     []results.Axis
	policies int
	label    string // beginning of all policies' labels, before their numbers
	seeds    int
	query    measure.Query
	bound    float64 // bound of an objective; 0: there is none
	value    func(position []int, policy int) float64
	spread   float64 // relative half-width of the interval
	atLeast  func(position []int) bool
	title    string // wanted title of the chart
}

func numbers(key string, log bool, values ...float64) results.Axis {
	a := results.Axis{Key: key, Numbers: values, Log: log}
	for _, v := range values {
		a.Values = append(a.Values, fmt.Sprint(v))
	}
	return a
}

func wordsAxis(key string, values ...string) results.Axis {
	return results.Axis{Key: key, Values: values}
}

func sweepFixtures() []sweepFixture {
	p99 := measure.Query{Metric: "fresh.wait.p99", During: "payments-down"}
	workers := numbers("engine.workers", false, 60, 80, 100, 120, 140)
	var many []float64
	for i := range 60 {
		many = append(many, float64(i+1))
	}
	falling := func(position []int, policy int) float64 { return 100 / math.Pow(4, float64(position[0]+policy)) }
	return []sweepFixture{
		{name: "one axis", axes: []results.Axis{workers}, policies: 3, seeds: 20, query: p99, bound: 10, value: falling, spread: .2,
			title: "fresh.wait.p99 during payments-down is shown to be below 10 in 3 of 5 cells with Policy 1, in 4 of 5 with Policy 2 and in 5 of 5 with Policy 3"},
		{name: "one policy", axes: []results.Axis{workers}, policies: 1, seeds: 20, query: p99, value: falling, spread: .2,
			title: "fresh.wait.p99 during payments-down goes from 391ms with workers 140 to 1m40s with workers 60"},
		{name: "log axis", axes: []results.Axis{numbers("retry.backoff.first", true, 1, 2, 4, 8, 16, 32, 64, 128), wordsAxis("retry.jitter", "none", "full")},
			policies: 2, seeds: 5, query: measure.Query{Metric: "amplification"}, value: func(p []int, k int) float64 { return 1 + float64(k)/float64(p[0]+1) }, spread: .05},
		{name: "words", axes: []results.Axis{wordsAxis("retry.jitter", "none", "full", "±20%", "decorrelated")}, policies: 3, seeds: 5,
			query: measure.Query{Metric: "dead.share"}, value: func(p []int, k int) float64 { return float64(p[0]+k) / 8 }, spread: .1,
			title: "dead.share goes from 0% with Policy 1, jitter none to 62% with Policy 3, jitter decorrelated"},
		{name: "many values", axes: []results.Axis{numbers("engine.workers", false, many...)}, policies: 2, seeds: 5, query: p99, bound: .001, value: falling, spread: .5},
		{name: "many panels", axes: []results.Axis{workers, numbers("retry.max-attempts", false, 1, 2, 3, 4), wordsAxis("retry.jitter", "none", "full", "equal"), wordsAxis("engine.preset", "river", "oban", "que")},
			policies: 3, seeds: 5, query: p99, value: falling, spread: .2},
		{name: "many policies", axes: []results.Axis{workers, wordsAxis("retry.jitter", "none", "full")}, policies: 30, seeds: 5, query: p99, value: falling, spread: .2},
		{name: "like names", axes: []results.Axis{numbers("retry.backoff.max", false, 1, 2, 3), numbers("engine.lease.max", false, 1, 2)}, policies: 1, seeds: 5, query: p99, value: falling,
			title: "fresh.wait.p99 during payments-down goes from 6.2s with retry.backoff.max 3, engine.lease.max 1 to 1m40s with retry.backoff.max 1, engine.lease.max 1"},
		{name: "no value", axes: []results.Axis{workers}, policies: 2, seeds: 5, query: measure.Query{Metric: "recovery.time"}, value: func([]int, int) float64 { return math.NaN() },
			title: "recovery.time has no value in any cell"},
		{name: "gaps", axes: []results.Axis{workers, wordsAxis("retry.jitter", "none", "full")}, policies: 2, seeds: 5, query: p99,
			value: func(p []int, k int) float64 {
				if p[0] == 1+k || p[1] == 1 {
					return math.NaN()
				}
				return 3
			}, title: "fresh.wait.p99 during payments-down is 3s in every cell"},
		{name: "at least", axes: []results.Axis{workers}, policies: 2, seeds: 5, query: measure.Query{Metric: "recovery.time"}, spread: .1,
			value: func(p []int, k int) float64 { return 600 / float64(p[0]+k+1) }, atLeast: func(p []int) bool { return p[0] < 2 },
			title: "recovery.time goes from 1m40s with Policy 2, workers 140 to ≥ 10m with Policy 1, workers 60"},
		{name: "zeros", axes: []results.Axis{workers}, policies: 2, seeds: 5, query: p99, value: func([]int, int) float64 { return 0 }},
		{name: "one cell", axes: []results.Axis{numbers("engine.workers", false, 8)}, policies: 1, seeds: 1, query: p99, value: falling},
		{name: "one seed", axes: []results.Axis{workers}, policies: 2, seeds: 1, query: p99, value: falling},
		{name: "negative", axes: []results.Axis{numbers("storms.clock.clock.skew", false, -30, 0, 30)}, policies: 2, seeds: 5, query: p99, value: falling, spread: 3},
		{name: "not ascending", axes: []results.Axis{numbers("engine.workers", false, 140, 60, 100)}, policies: 2, seeds: 5, query: p99, value: falling, spread: .2},
		{name: "huge", axes: []results.Axis{numbers("engine.workers", true, 1, 1e3, 1e6)}, policies: 2, seeds: 5, query: measure.Query{Metric: "events"}, spread: .2,
			value: func(p []int, k int) float64 { return math.Pow(1e5, float64(p[0]+k)) }},
		{name: "infinite", axes: []results.Axis{workers}, policies: 2, seeds: 5, query: p99, value: func(p []int, k int) float64 { return []float64{math.Inf(1), 5}[k] }},
		{name: "names", axes: []results.Axis{workers, wordsAxis("jobs.mail.retry.backoff", "{kind: fixed, delay: 60s}", `"><script>alert(1)</script>`, strings.Repeat("long ", 60), "💥\n\x00\u202e")},
			policies: 3, label: `<b>"Queue"</b> 🚀 ` + strings.Repeat("x", 150), seeds: 5, query: p99, value: falling, spread: .2},
	}
}

func (f sweepFixture) build() *results.Sweep {
	s := &results.Sweep{Scenario: "retry-storm", ConfigHash: "9e41c0d2", Version: "0.1.0", Axes: f.axes, Queries: []measure.Query{f.query}}
	for i := range f.seeds {
		s.Seeds = append(s.Seeds, uint64(i+1))
	}
	for i := range f.policies {
		label := f.label
		if label == "" {
			label = "Policy "
		}
		s.Policies = append(s.Policies, measure.PolicyInfo{Label: fmt.Sprintf("%s%d", label, i+1)})
	}
	if f.bound != 0 {
		s.Objectives = []measure.Objective{{Query: f.query, Bound: f.bound, Text: fmt.Sprintf("below %g", f.bound)}}
	}
	size, _ := results.Size(f.axes, 10_000)
	for index := range size {
		cell := results.Cell{Index: index}
		position := s.Position(index)
		for policy := range f.policies {
			v := f.value(position, policy)
			e := results.Estimate{Query: f.query, Mean: v, Low: max(v*(1-f.spread), 0), High: v * (1 + f.spread), N: f.seeds}
			if math.IsNaN(v) {
				e.Reason = "no storm <ended>"
			}
			if f.seeds < 2 {
				e.Low, e.High = math.NaN(), math.NaN()
			}
			if f.atLeast != nil && f.atLeast(position) {
				e.Bound = ">="
			}
			row := results.CellRow{Policy: policy, Estimates: []results.Estimate{e}}
			if f.bound != 0 {
				outcome := results.Missed
				if v <= f.bound {
					outcome = results.Met
				}
				row.Verdicts = []results.Verdict{{Query: f.query, Outcome: outcome}}
			}
			cell.Rows = append(cell.Rows, row)
		}
		s.Cells = append(s.Cells, cell)
	}
	return s
}

func TestSweepChartsBearAnyData(t *testing.T) {
	for _, f := range sweepFixtures() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			figures, err := SweepCharts(f.build())
			if err != nil {
				t.Fatal(err)
			}
			if len(figures) != 1 || !strings.HasPrefix(figures[0].Name, "sweep-1-") {
				t.Fatalf("got %d figures, want sweep-1-...", len(figures))
			}
			checkFigure(t, figures[0])
			save(t, "sweep "+f.name, figures[0])
			if f.title != "" && figures[0].Title != f.title {
				t.Errorf("title: got\n%s\nwant\n%s", figures[0].Title, f.title)
			}
			again, err := SweepCharts(f.build())
			if err != nil || !bytes.Equal(bitmapOf(t, &again[0]), bitmapOf(t, &figures[0])) || !bytes.Equal(figures[0].SVG, again[0].SVG) {
				t.Errorf("two renders differ (%v)", err)
			}
		})
	}
}

func TestSweepChartsRefuseNothing(t *testing.T) {
	if _, err := SweepCharts(&results.Sweep{}); err == nil || !strings.Contains(err.Error(), "0 axes") {
		t.Errorf("got %v, want an error of 0 axes", err)
	}
}
