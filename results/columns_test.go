package results

import (
	"math"
	"slices"
	"testing"

	"qsim/results/measure"
)

// tableSummary returns a summary of policies A, B, ... of which the first is the baseline. metrics are queries as text,
// each with its values by policy, which get an interval of ± half.
func tableSummary(seeds int, half float64, metrics ...any) *Summary {
	s := &Summary{Scenario: "made", Duration: 600}
	for seed := range seeds {
		s.Seeds = append(s.Seeds, uint64(seed+1))
	}
	for i := 0; i < len(metrics); i += 2 {
		q, err := measure.ParseQuery(metrics[i].(string))
		if err != nil {
			panic(err)
		}
		for k, mean := range metrics[i+1].([]float64) {
			if k == len(s.Policies) {
				s.Policies = append(s.Policies, PolicySummary{Label: string(rune('A' + k)), Kind: "fifo", Baseline: k == 0})
			}
			p := &s.Policies[k]
			p.Filtered = append(p.Filtered, Estimate{Query: q, Mean: mean, Low: mean - half, High: mean + half, Half: half,
				N: seeds, Values: slices.Repeat([]float64{mean}, seeds)})
			if k > 0 {
				d := Contrast{Query: q, Difference: mean - s.Policies[0].Find(q).Mean, Shown: seeds > 1, P: 0.001}
				if mean == s.Policies[0].Find(q).Mean {
					d.Shown, d.P = false, 1
				}
				p.Versus = append(p.Versus, d)
			}
		}
	}
	return s
}

// judged adds an objective (query and bound as text) to a summary, with its outcomes by index of the policy.
func (s *Summary) judged(query, text string, outcomes map[int]Outcome, expect bool) *Summary {
	q, err := measure.ParseQuery(query)
	if err != nil {
		panic(err)
	}
	for i := range s.Policies {
		if o := outcomes[i]; o != "" {
			e := s.Policies[i].Find(q)
			s.Objectives = append(s.Objectives, Verdict{Query: q, Policy: s.Policies[i].Label, Text: text, Value: e.Mean, Half: e.Half, Outcome: o, Expect: expect})
		}
	}
	return s
}

func labelsOf(columns []Column) (list []string) {
	for i := range columns {
		list = append(list, columns[i].Part.String()+"/"+columns[i].Query.String())
	}
	return list
}

// storm returns a summary of a baseline that misses its goal, and two policies that reach it and make retries wait.
func storm() *Summary {
	s := tableSummary(20, 0.1, "fresh.wait.p99 during down", []float64{119, 0.186, 0.209}, "recovery.time after down", []float64{339, 81, 3.3},
		"dead.count", []float64{548, 0, 0}, "duplicates.per10k", []float64{0, 0, 0}, "retry.wait.mean", []float64{68, 163, 261},
		"sojourn.mean", []float64{40, 34, 50}, "idle.ready", []float64{2070, 2180, 13228}, "wasted", []float64{0.1, 0.1, 0.1})
	s.judged("fresh.wait.p99 during down", "below 1s", map[int]Outcome{1: Met, 2: Met}, false)
	s.judged("fresh.wait.p99 during down", "below 1s", map[int]Outcome{0: Missed}, true)
	return s.judged("recovery.time after down", "below 5m", map[int]Outcome{1: Met, 2: Met}, false)
}

// The columns are the objectives' metrics in their order, then the costs, the worst first; deaths wherever there are
// any. What is equal under all policies takes no column.
func TestColumns(t *testing.T) {
	table := TableOf(storm())
	if got, want := labelsOf(table.Columns), []string{"what you get/fresh.wait.p99 during down", "what you get/recovery.time after down",
		"what you pay/dead.count", "what you pay/idle.ready", "what you pay/retry.wait.mean", "what you pay/sojourn.mean"}; !slices.Equal(got, want) {
		t.Errorf("columns\n%q, want\n%q", got, want)
	}
	var alike []string
	for i := range table.Alike {
		alike = append(alike, table.Alike[i].AlikeText())
	}
	if want := []string{"no duplicates", "wasted worker time 10% ±10%"}; !slices.Equal(alike, want) {
		t.Errorf("alike: %q, want %q", alike, want)
	}
	fresh := table.Columns[0]
	if fresh.GoalText() != "≤ 1s" || fresh.Label != "p99 wait of fresh jobs in down" {
		t.Errorf("header %q, goal %q", fresh.Label, fresh.GoalText())
	}
	for i, want := range []string{"✗ 1m59s ", "✓ 186ms −99.8%", "✓ 209ms −99.8%"} {
		if c := fresh.Cells[i]; c.Marks()+" "+c.Value+" "+c.Change != want {
			t.Errorf("cell %d: %q %q %q, want %s", i, c.Marks(), c.Value, c.Change, want)
		}
	}
	if c := table.Columns[5]; slices.ContainsFunc(c.Cells, func(c TableCell) bool { return c.Best }) {
		t.Error("a policy is best by the time until done though more jobs die under another")
	}
}

// A metric that gets better is no price, nor is one that differs by chance or by next to nothing.
func TestPrices(t *testing.T) {
	s := tableSummary(20, 0.1, "goodput", []float64{1, 2}, "retry.wait.mean", []float64{5, 4}, "idle.ready", []float64{0.01, 0.5}, "wasted", []float64{.1, .2},
		"dead.share", []float64{0.1, 0.2}, "dead.count", []float64{1, 2})
	s.judged("goodput", "above 1", map[int]Outcome{0: Met, 1: Met}, false).judged("dead.share", "below 50%", map[int]Outcome{0: Met, 1: Met}, false)
	s.Policies[1].Against(measure.Query{Metric: "wasted"}).P = 0.2
	if got, want := labelsOf(TableOf(s).Columns), []string{"what you get/goodput", "what you get/dead.share"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Without objectives a table has the waits of the classes, deaths and duplicates.
func TestColumnsWithoutObjectives(t *testing.T) {
	s := tableSummary(5, 0.1, "fresh.wait.p99 class mail", []float64{1, 2}, "fresh.wait.p99 class sums", []float64{3, 3}, "dead.count", []float64{0, 1},
		"duplicates.per10k", []float64{1, 2}, "retry.wait.mean", []float64{1, 9})
	want := []string{"what you get/fresh.wait.p99 class mail", "what you pay/dead.count", "what you pay/duplicates.per10k"}
	if got := labelsOf(TableOf(s).Columns); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	settings := settings()
	settings.Classes = []string{"a", "b", "c", "d", "e"}
	if got := TableQueries(settings); len(got) != 6 || got[3].Class != "d" {
		t.Errorf("queries %v", got)
	}
}

func TestGoalTexts(t *testing.T) {
	s := tableSummary(5, 0, "dead.count", []float64{4, 0, 0}).judged("dead.count", "above 3", map[int]Outcome{0: Met}, false).
		judged("dead.count", "below 0", map[int]Outcome{1: Met, 2: Met}, false)
	if got, want := TableOf(s).Columns[0].GoalText(), "≥ 3 (A), else = 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s = tableSummary(5, 0, "goodput", []float64{14, 60, 70}).judged("goodput", "above 55/s", map[int]Outcome{2: Met}, false).
		judged("goodput", "above 30/s", map[int]Outcome{0: Missed}, false)
	if got, want := TableOf(s).Columns[0].GoalText(), "≥ 55/s (C), ≥ 30/s (A)"; got != want {
		t.Errorf("B has no goal: got %q, want %q", got, want)
	}
}

// A ratio and its goal have one unit: that in which the scenario writes the goal, also where the ratio may exceed 1.
func TestGoalAndCellHaveOneUnit(t *testing.T) {
	for text, want := range map[string]string{"below 10%": "89.2% ±1% ≤ 10%, 120%", "below 0.1": "0.892 ±0.01 ≤ 0.1, 1.2"} {
		s := tableSummary(5, 0.01, "retry.rate", []float64{.892, 1.2}).judgedAll("retry.rate", text, Missed)
		c := TableOf(s).Columns[0]
		if got := c.Cells[0].Value + " " + c.Cells[0].Half + " " + c.GoalText() + ", " + c.Cells[1].Value; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if got := s.Objectives[0].Words(); got != c.Cells[0].Value+" "+c.Cells[0].Half {
			t.Errorf("%s: the verdict says %s", text, got)
		}
	}
}

// An interval narrower than the last digit of a value is not printed, and a value has no digits finer than its
// interval.
func TestNoFalsePrecision(t *testing.T) {
	for _, tt := range []struct {
		metric     string
		mean, half float64
		want       string
	}{
		{"amplification", 1.13, 0.000092, "1.13"}, {"amplification", 1.19, 0.00033, "1.19"}, {"sojourn.mean", 28.4, 0, "28.4s"},
		{"sojourn.mean", 0.000981, 0.233, "1ms ±233ms"}, {"amplification", 1.13, 0.2, "1.13 ±0.2"}, {"fresh.wait.p99", 0.186, 0.133, "186ms ±133ms"},
		{"dead.share", 0.0000158, math.NaN(), "0.0016%"}, {"sojourn.mean", 12.4, 17, "12.4s ±17.0s"}, {"dead.count", 4.4, 6.2, "4.4 ±6.2"},
	} {
		s := tableSummary(5, tt.half, tt.metric, []float64{tt.mean})
		c := CellOf(s, 0, measure.Query{Metric: tt.metric})
		got := c.Value
		if c.Half != "" {
			got += " " + c.Half
		}
		if got != tt.want {
			t.Errorf("%s %v ± %v: %q, want %q", tt.metric, tt.mean, tt.half, got, tt.want)
		}
	}
}

// The best cell is bold, unless all are alike or it is not known to be.
func TestBestCells(t *testing.T) {
	t.Parallel()
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
			sum := tableSummary(1, nan, tt.metric, tt.means)
			q := measure.Query{Metric: tt.metric}
			for i := range sum.Policies {
				if tt.bounds != nil {
					sum.Policies[i].Find(q).Bound = tt.bounds[i]
				}
			}
			c := ColumnOf(sum, q)
			var got []bool
			for i := range c.Cells {
				got = append(got, c.Cells[i].Best)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("best: %v, want %v", got, tt.want)
			}
		})
	}
}
