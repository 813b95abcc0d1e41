package text

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/resultstest"
)

func TestTables(t *testing.T) {
	sum := summarized(t, 6)
	golden(t, "table.txt", []byte(Summary(sum, TableOptions{})))
	golden(t, "table-80.txt", []byte(Summary(sum, TableOptions{Width: 80})))
	golden(t, "table-color.txt", []byte(Summary(sum, TableOptions{Color: true})))
	golden(t, "table.md", []byte(Summary(sum, TableOptions{Format: Markdown})))
	golden(t, "table.csv", []byte(Summary(sum, TableOptions{Format: CSV})))
}

// TestTableOfAStoredSummary checks that a summary read from JSON, without the scenario, has the same table but for the
// first line.
func TestTableOfAStoredSummary(t *testing.T) {
	sum := summarized(t, 6)
	read, err := results.ReadSummary(encoded(t, sum))
	if err != nil {
		t.Fatal(err)
	}
	tail := func(s string) string { return s[strings.Index(s, "\n"):] }
	if got, want := tail(Summary(read, TableOptions{})), tail(Summary(sum, TableOptions{})); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	read.Settings = sum.Settings
	if got, want := Summary(read, TableOptions{}), Summary(sum, TableOptions{}); got != want {
		t.Errorf("with settings:\n%s\nwant:\n%s", got, want)
	}
}

// TestTableFits checks that tables fit their width, however wide the labels, and that no label takes all of it.
func TestTableFits(t *testing.T) {
	for _, width := range []int{80, 100, 120} {
		sum := summarized(t, 6)
		sum.Policies[1].Label = "Weighted eighty to twenty, and 重试队列 in another language, 🚀 besides"
		for i := range sum.Objectives {
			if sum.Objectives[i].Policy == "Weighted" {
				sum.Objectives[i].Policy = sum.Policies[1].Label
			}
		}
		out := Summary(sum, TableOptions{Width: width})
		for _, line := range strings.Split(out, "\n") {
			if columns(line) > width {
				t.Errorf("%d columns, not %d: %s", columns(line), width, line)
			}
		}
		if width == 80 && !strings.Contains(out, "…") {
			t.Errorf("nothing is cut:\n%s", out)
		}
	}
}

func TestHeadings(t *testing.T) {
	sum := summarized(t, 6)
	sum.Settings.Nodes, sum.Settings.Workers = 3, 50
	sum.Settings.Storms = append(sum.Settings.Storms, measure.Window{Name: "second-storm", From: 60 * time.Second, To: 90 * time.Second})
	want := "small   1m40s virtual · 6 seeds · 3 nodes × 50 workers · 20 jobs/s · down 40s–50s\n   second-storm 1m0s–1m30s"
	if got := heading(sum, 85); got != strings.Replace(want, "1m0s", "1m", 1) {
		t.Errorf("heading = %s", got)
	}
	sum.Settings = nil
	if got := heading(sum, 80); got != "small   1m40s virtual · 6 seeds" {
		t.Errorf("heading = %s", got)
	}
}

// TestTableWithoutStorms checks that without storms the table is about the whole run, and has no column of recovery.
func TestTableWithoutStorms(t *testing.T) {
	s, runs := resultstest.Comparison(5)
	s.Storms, s.Objectives = nil, nil
	sum, err := results.Summarize(s, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := Summary(sum, TableOptions{})
	if !strings.Contains(out, "mail: p99 wait") || strings.Contains(out, "in down") || strings.Contains(out, "recovery") || strings.Contains(out, "objective") || !strings.Contains(out, "no duplicates") {
		t.Errorf("table:\n%s", out)
	}
}

func TestNullsAndBoundsInTables(t *testing.T) {
	sum := summarized(t, 6)
	info, _ := measure.Lookup("drain.time")
	for _, tt := range []struct {
		e    *results.Estimate
		want string
	}{{nil, "–"}, {&results.Estimate{Mean: math.NaN()}, "–"}, {&results.Estimate{Mean: 300, Bound: ">="}, "≥ 5m00s"}, {&results.Estimate{Mean: 0.12}, "120ms"},
		{&results.Estimate{Mean: 5.35, Half: 26}, "5.3s"}, {&results.Estimate{Mean: 5.35, Half: 27}, "5s"}, {&results.Estimate{Mean: 9.68, Half: 50}, "10s"},
		{&results.Estimate{Mean: 0.0123, Half: 1}, "10ms"}, {&results.Estimate{Mean: 130, Half: 1000}, "1m40s"}} {
		if got := results.FormatEstimate(tt.e, info); got != tt.want {
			t.Errorf("%+v = %q, want %q", tt.e, got, tt.want)
		}
	}
	q := measure.Query{Metric: "fresh.wait.p99", During: "down"}
	p, base := sum.Policies[1].Find(q), sum.Policies[0].Find(q)
	base.Mean, base.Bound = 10, ">="
	for _, tt := range []struct {
		mean  float64
		bound string
		want  string
	}{{1, "", "≤ −90%"}, {1, ">=", ""}, {math.NaN(), "", ""}} {
		p.Mean, p.Bound = tt.mean, tt.bound
		if got := results.CellOf(sum, 1, q).Change; got != tt.want {
			t.Errorf("change of %v %s = %q, want %q", tt.mean, tt.bound, got, tt.want)
		}
	}
	base.Bound, p.Mean, p.Bound = "", 12, ">="
	if got := results.CellOf(sum, 1, q).Change; got != "≥ +20%" {
		t.Errorf("change of a bound = %q", got)
	}
	base.Mean = 0
	if got := results.CellOf(sum, 1, q).Change; got != "" {
		t.Errorf("change from nothing = %q", got)
	}
	p.Mean = 0
	if got := results.CellOf(sum, 1, q).Change; got != "0%" {
		t.Errorf("change from nothing to nothing = %q", got)
	}
}

func TestConclusions(t *testing.T) {
	v := func(o results.Outcome, expect bool) results.Verdict {
		return results.Verdict{Outcome: o, Expect: expect}
	}
	for _, tt := range []struct {
		verdicts []results.Verdict
		want     string
	}{
		{nil, ""}, {[]results.Verdict{v(results.Met, false), v(results.Missed, true)}, "all objectives as expected, 1 of 2 missed as the scenario says"},
		{[]results.Verdict{v(results.Missed, false), v(results.Met, false)}, "1 objective missed"},
		{[]results.Verdict{v(results.Missed, false), v(results.Missed, false), v(results.Met, true), v(results.Unclear, true)}, "2 objectives missed, 1 objective met that should have been missed, 1 objective unclear"},
		{[]results.Verdict{{Outcome: results.Unclear, Seeds: 15}, {Outcome: results.Unclear, Reason: "no job was retried"}}, "2 objectives unclear: run about 15 seeds for 1 of them"},
		{[]results.Verdict{{Outcome: results.Unclear, Reason: "no job died"}, {Outcome: results.Unclear, Reason: "no job was retried"}}, "2 objectives unclear"},
	} {
		if got := Conclusion(&results.Summary{Objectives: tt.verdicts}); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.verdicts, got, tt.want)
		}
	}
	signs := ""
	for _, v := range []results.Verdict{v(results.Met, false), v(results.Met, true), v(results.Missed, false), v(results.Missed, true), v(results.Unclear, false)} {
		color := outcomeColor(&v)
		signs += v.Outcome.Sign() + map[string]string{green: "g", red: "r", yellow: "y"}[color]
	}
	if signs != "✓g✓r✗r✗?y" {
		t.Errorf("signs = %s", signs)
	}
}

func TestFormatDuration(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 1e-12: "0s", 3e-9: "3ns", 9.56e-4: "956µs", 0.0123: "12ms", 0.12: "120ms", 0.9994: "999ms", 0.9996: "1.0s", 8.84: "8.8s",
		59.94: "59.9s", 59.96: "1m00s", 253: "4m13s", 484: "8m04s", 712.4: "11m52s", 3599.6: "1h00m", 3725: "1h02m", 86399: "1d00h", 100000: "1d04h",
		-8.8: "−8.8s", 5e11: "15844y", math.NaN(): "–", math.Inf(1): "–", 300: "5m00s", 0.00123: "1.2ms", 4.5e-6: "4.5µs",
	} {
		if got := plain.Duration(seconds); got != want {
			t.Errorf("%v s = %q, want %q", seconds, got, want)
		}
	}
}

func TestFormatValue(t *testing.T) {
	plain, share, wait := measure.MetricInfo{Unit: "executions"}, measure.MetricInfo{Unit: "1", Share: true}, measure.MetricInfo{Unit: "s"}
	for _, tt := range []struct {
		v    float64
		info measure.MetricInfo
		want string
	}{
		{4.43, plain, "4.43"}, {12300, plain, "12,300"}, {1234567.4, plain, "1,234,567"}, {0, plain, "0"}, {0.00012, plain, "0.00012"}, {-0.00003, plain, "−0.00003"}, {-3, plain, "−3"},
		{-1234.5, plain, "−1,234"}, {0.97, share, "97%"}, {0.12345, share, "12.3%"}, {1, share, "100%"}, {math.NaN(), plain, "–"}, {8.8, wait, "8.8s"},
	} {
		if got := results.FormatValue(tt.v, tt.info); got != tt.want {
			t.Errorf("%v = %q, want %q", tt.v, got, tt.want)
		}
	}
	for ratio, want := range map[float64]string{0.03: "−97%", 1.12: "+12%", 14: "×14", 1234: "×1,234", 0.9989: "−0.1%", 0.00001: "−99.9%", 1.0042: "+0.4%", 5: "×5", 2.4: "×2.4", 1.98: "+98%", 0.9997: "0%", 0: "−100%", 11: "×11"} {
		if got := results.FormatChange(ratio); got != want {
			t.Errorf("change %v = %q, want %q", ratio, got, want)
		}
	}
}

func TestFormatHalfAndRate(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{results.FormatHalf(36.44, measure.MetricInfo{Unit: "jobs"}), "±36"}, {results.FormatHalf(0.00091, measure.MetricInfo{Unit: "1", Share: true}), "±0.091%"},
		{results.FormatHalf(0.5, measure.MetricInfo{Unit: "s"}), "±500ms"}, {results.FormatHalf(12345, measure.MetricInfo{Unit: "jobs"}), "±12,345"},
		{plain.Arrivals(1200), "1,200 jobs/s"}, {plain.Arrivals(1.0 / 60), "1 job/min"}, {plain.Arrivals(1), "1 job/s"}, {plain.Arrivals(1.001), "1 job/s"}, {plain.Arrivals(0.001), "3.6 jobs/h"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestRoundDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		30 * time.Minute: "30m", 90 * time.Minute: "1h30m", time.Hour: "1h", 500 * time.Millisecond: "500ms", 0: "0s", 100 * time.Second: "1m40s",
	} {
		if got := plain.Setting(d); got != want {
			t.Errorf("%v = %q, want %q", d, got, want)
		}
	}
	for want, w := range map[string]measure.Window{"1m–2m5s": {From: time.Minute, To: 125 * time.Second}, "at 2m5s": {From: 125 * time.Second, To: 125 * time.Second}} {
		if got := plain.Span(w.From, w.To); got != want {
			t.Errorf("%v = %q, want %q", w, got, want)
		}
	}
}

// TestTableFitsTerminals checks that tables of up to 20 policies fit terminals of any usual width without leaving
// values out: columns without room are printed below the others.
func TestTableFitsTerminals(t *testing.T) {
	for _, policies := range []int{1, 2, 4, 20} {
		sum := manyPolicies(policies)
		for _, width := range []int{44, 60, 80, 120, 200} {
			out := Summary(sum, TableOptions{Width: width})
			for line := range strings.Lines(out) {
				if n := columns(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d policies, width %d: a line of %d columns: %s", policies, width, n, line)
				}
			}
			words := strings.Join(strings.Fields(out), " ")
			for _, want := range []string{"payments-down", "normal", "? 2m03s ±44.0s", "run about 26 seeds"} {
				if !strings.Contains(words, want) {
					t.Errorf("%d policies, width %d: no %q in\n%s", policies, width, want, out)
				}
			}
			if policies > 2 && strings.Count(out, "…") < 1 && width == 44 {
				t.Errorf("no name is cut in\n%s", out)
			}
		}
	}
}

// manyPolicies returns a summary of n policies with long names, three columns and two unclear objectives.
func manyPolicies(n int) *results.Summary {
	s := &results.Summary{Scenario: "narrow", Seeds: []uint64{1, 2}, Duration: 60}
	recovery, fresh := measure.Query{Metric: "recovery.time", After: "payments-down"}, measure.Query{Metric: "fresh.wait.p99", During: "payments-down"}
	for i := range n {
		p := results.PolicySummary{Label: fmt.Sprintf("Pruned jobs return, with guard %d", i), Baseline: i == 0}
		for _, q := range []measure.Query{fresh, recovery, {Metric: "dead.count"}} {
			p.Filtered = append(p.Filtered, results.Estimate{Query: q, Mean: 123.4 * float64(i+1), Low: 100, High: 400, Half: 44, N: 2})
		}
		s.Policies = append(s.Policies, p)
		for _, q := range []measure.Query{fresh, recovery} {
			s.Objectives = append(s.Objectives, results.Verdict{Query: q, Policy: p.Label, Text: "below 10s", Value: 123.4, Half: 44, Outcome: results.Unclear, Seeds: 26})
		}
	}
	return s
}

// TestUnwanted checks that an objective with an unexpected outcome has a line of its own below the table, once.
func TestUnwanted(t *testing.T) {
	sum := summarized(t, 6)
	if out := Summary(sum, TableOptions{}); strings.Count(out, "✗ p99 wait of fresh jobs in down ≤ 5s: FIFO 8.5s ±91ms\n") != 1 || strings.Contains(out, "as expected") {
		t.Errorf("got\n%s", out)
	}
}

// TestTableOfOneSeed checks that the table of one seed has no intervals, which need more seeds.
func TestTableOfOneSeed(t *testing.T) {
	if out := Summary(summarized(t, 1), TableOptions{}); strings.ContainsAny(out, "±≈") || strings.Contains(out, "NaN") || strings.Contains(out, "Holm") {
		t.Error(out)
	}
}

// TestTableHasNoFormulas checks that a label which a spreadsheet would take for a formula is quoted in CSV.
func TestTableHasNoFormulas(t *testing.T) {
	sum := summarized(t, 2)
	for i, label := range []string{"=cmd|calc!A1", "'=cmd|calc!A1"} {
		sum.Policies[i].Label, sum.Settings.Policies[i].Label = label, label
	}
	if out := Summary(sum, TableOptions{Format: CSV}); strings.Contains(out, "\n=") || !strings.Contains(out, "\n'=cmd|calc!A1") || !strings.Contains(out, "\n''=cmd|calc!A1") {
		t.Error(out)
	}
}

// TestTableOfHostileNames checks that names read from JSON bring no control characters to a terminal.
func TestTableOfHostileNames(t *testing.T) {
	const hostile = "a\x1b[8mb\x00\b\r\x7f\u009b2J\u202etxt\u2066\\u001b"
	sum := summarized(t, 2)
	sum.Scenario, sum.Warnings, sum.Policies[0].Label = hostile, []string{hostile}, hostile
	read, err := results.ReadSummary(encoded(t, sum))
	if err != nil {
		t.Fatal(err)
	}
	if out := Summary(read, TableOptions{}); strings.ContainsAny(out, "\x1b\r\u009b\u202e") {
		t.Errorf("%q", out)
	}
}
