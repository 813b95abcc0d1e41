package text

import (
	"math"
	"slices"
	"testing"

	"qsim/results"
	"qsim/results/measure"
)

func TestGrid(t *testing.T) {
	sum := summarized(t, 6)
	g := GridOf(sum, measure.Query{Metric: "goodput"}, measure.Query{Metric: "goodput"}, measure.Query{Metric: "no.such"})
	var titles []string
	for _, c := range g.Columns {
		titles = append(titles, c.Title)
	}
	if n := len(titles); n < 5 || titles[0] != "p99 wait of fresh jobs in down" || titles[n-1] != "jobs done per second" || slices.Index(titles, "jobs done per second") != n-1 {
		t.Errorf("columns %q", titles)
	}
	if len(g.Rows) != 2 || len(g.Rows[0]) != len(g.Columns) {
		t.Fatalf("%d rows of %d cells", len(g.Rows), len(g.Rows[0]))
	}
	if g.Rows[0][0].Change != "base" || g.Rows[0][0].Half == "" {
		t.Errorf("the baseline's cell is %+v", g.Rows[0][0])
	}
}

// The best is bold, unless all are alike or it is not known to be.
func TestGridMarksTheBest(t *testing.T) {
	estimate := func(metric string, mean float64, bound string) results.Estimate {
		e := results.Estimate{Query: measure.Query{Metric: metric}, Mean: mean, Bound: bound, Half: math.NaN(), Values: []float64{mean}}
		if math.IsNaN(mean) {
			e.Reason = "there was none"
		}
		return e
	}
	nan := math.NaN()
	for _, tt := range []struct {
		name, metric string
		means        []float64
		bounds       []string
		want         []bool
	}{
		{"less is better", "sojourn.p99", []float64{3, 1, 2}, nil, []bool{false, true, false}},
		{"more is better", "goodput", []float64{3, 1, 2}, nil, []bool{true, false, false}},
		{"neither", "utilization", []float64{.3, .1, .2}, nil, []bool{false, false, false}},
		{"alike", "sojourn.p99", []float64{2, 2, 2}, nil, []bool{false, false, false}},
		{"alike when printed", "sojourn.p99", []float64{60.1, 60.2, 90}, nil, []bool{true, true, false}},
		{"a lower bound may be worse", "sojourn.p99", []float64{1, 2, 3}, []string{">=", "", ""}, []bool{false, true, false}},
		{"or best of what is more", "goodput", []float64{1, 2, 3}, []string{"", "", ">="}, []bool{false, false, true}},
		{"nothing known", "sojourn.p99", []float64{nan, nan, nan}, nil, []bool{false, false, false}},
		{"one known", "sojourn.p99", []float64{nan, 4, nan}, nil, []bool{false, false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sum := &results.Summary{Seeds: []uint64{1}}
			for i, mean := range tt.means {
				bound := ""
				if tt.bounds != nil {
					bound = tt.bounds[i]
				}
				sum.Policies = append(sum.Policies, results.PolicySummary{Label: string(rune('A' + i)), Baseline: i == 0, Metrics: []results.Estimate{estimate(tt.metric, mean, bound)}})
			}
			g := GridOf(sum, measure.Query{Metric: tt.metric})
			var got []bool
			for _, row := range g.Rows {
				got = append(got, row[0].Best)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("best: %v, want %v", got, tt.want)
			}
			if math.IsNaN(tt.means[0]) && g.Rows[0][0].Reason != "there was none" {
				t.Errorf("no reason in %+v", g.Rows[0][0])
			}
		})
	}
}
