package results

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"qsim/results/measure"
)

// result returns a summary of one policy with the given values of metrics, by name and then by seed.
func result(label string, metrics map[string][]float64) *Summary {
	s := &Summary{Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100, Policies: []PolicySummary{{Label: label, Kind: label, Baseline: true, Fingerprint: label}}}
	p := &s.Policies[0]
	for _, m := range measure.Metrics() {
		values, ok := metrics[m.Name]
		if !ok {
			continue
		}
		e := Estimate{Query: measure.Query{Metric: m.Name}, Unit: m.Unit, Mean: math.NaN(), Reason: "nothing happened"}
		sum := 0.0
		for _, v := range values {
			if e.Values = append(e.Values, v); !math.IsNaN(v) {
				e.N++
				sum += v
			}
		}
		if e.N > 0 {
			e.Mean, e.Reason = sum/float64(e.N), ""
		}
		p.Metrics = append(p.Metrics, e)
		for len(s.Seeds) < len(values) {
			s.Seeds = append(s.Seeds, uint64(len(s.Seeds)+1))
		}
	}
	return s
}

// elsewhere changes the seeds of a summary to others, so that it cannot be paired by seed.
func elsewhere(s *Summary) *Summary {
	for i := range s.Seeds {
		s.Seeds[i] += 100
	}
	return s
}

func compared(t *testing.T, base, new *Summary, gate Gate) *Comparison {
	t.Helper()
	var queries []measure.Query
	for _, e := range base.Policies[0].Metrics {
		queries = append(queries, e.Query)
	}
	c, err := Compare(Named{Summary: base, Name: "old"}, Named{Summary: new, Name: "new"}, queries, gate)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	before = []float64{10.2, 9.8, 11.1, 10.4, 9.5}
	after  = []float64{10.9, 10.1, 11.9, 11.0, 10.4}
)

// Values of other programs: paired as in R's t.test(paired = TRUE), and by hand; Welch by
// the formula of its author.
func TestContrastAgainstReferences(t *testing.T) {
	mean, half, p := contrast(aboutMean(before), aboutMean(after), 1, true)
	if !close(mean, 0.66, 1e-12) || !close(half, 0.28585251909870363, 1e-9) || !close(p, 0.003042448497, 1e-9) {
		t.Errorf("paired: %v ± %v, p %v", mean, half, p)
	}
	// Two sides of two values each and equal variances have 2 degrees of freedom, of which
	// the t quantile is 4.302652729911275 and P(|T| > t) = 1 − t/√(2+t²).
	mean, half, p = contrast(aboutMean([]float64{1, 3}), aboutMean([]float64{6, 8}), 1, false)
	spread := math.Sqrt(2.0/2 + 2.0/2)
	if x := 5 / spread; !close(mean, 5, 1e-12) || !close(half, 4.302652729911275*spread, 1e-9) || !close(p, 1-x/math.Sqrt(2+x*x), 1e-9) {
		t.Errorf("Welch, equal variances: %v ± %v, p %v", mean, half, p)
	}
	// One side does not scatter: what is left is the t interval of the other.
	mean, half, _ = contrast(aboutMean([]float64{2, 2, 2}), aboutMean(before), 1, false)
	if _, want := Interval(before); !close(mean, 8.2, 1e-12) || !close(half, want, 1e-9) {
		t.Errorf("Welch, one side constant: %v ± %v, want ± %v", mean, half, want)
	}
	for _, tt := range []struct {
		a, b          []float64
		paired        bool
		mean, half, p float64
	}{
		{[]float64{1}, []float64{2}, true, 1, math.NaN(), math.NaN()},
		{[]float64{1}, []float64{2, 3}, false, 1.5, math.NaN(), math.NaN()},
		{[]float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1}, false, 0, 0, 1},
		{[]float64{0.1, 0.1, 0.1}, []float64{0.3, 0.3}, false, 0.2, 0, 0},
	} {
		mean, half, p := contrast(aboutMean(tt.a), aboutMean(tt.b), 1, tt.paired)
		if !close(mean, tt.mean, 1e-12) || !close(half, tt.half, 1e-12) || !close(p, tt.p, 1e-12) {
			t.Errorf("%v, %v: %v ± %v, p %v", tt.a, tt.b, mean, half, p)
		}
	}
}

func scaled(values []float64, factor float64) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = v * factor
	}
	return list
}

func TestGate(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name      string
		metric    string
		base, new []float64
		most      float64
		want      Outcome
		note      string
	}{
		{"twice as long", "sojourn.mean", before, scaled(before, 2), 0.05, Missed, "worse"},
		{"twice as long is allowed", "sojourn.mean", before, scaled(before, 2), 1, Met, ""},
		{"a little more, within the limit", "sojourn.mean", before, scaled(before, 1.02), 0.05, Met, ""},
		{"a little more, none allowed", "sojourn.mean", before, scaled(before, 1.02), 0, Missed, "worse"},
		{"half as long", "sojourn.mean", before, scaled(before, 0.5), 0, Met, ""},
		{"the same", "sojourn.mean", before, before, 0, Met, ""},
		{"about the limit", "sojourn.mean", before, after, 0.05, Unclear, "unclear; run about 12 seeds"},
		{"half as much, where more is better", "goodput", before, scaled(before, 0.5), 0.05, Missed, "worse"},
		{"twice as much, where more is better", "goodput", before, scaled(before, 2), 0, Met, ""},
		{"all gone, all allowed", "goodput", before, scaled(before, 0), 1, Met, ""},
		{"a fact", "throughput", before, scaled(before, 0.5), 0, "", ""},
		{"some, where there was nothing", "duplicates.count", scaled(before, 0), before, 10, Missed, "worse"},
		{"one seed", "sojourn.mean", before[:1], scaled(before[:1], 3), 0.05, Unclear, "unclear; one seed has no interval"},
		{"gone", "sojourn.mean", before, []float64{nan, nan, nan, nan, nan}, 0.05, Unclear, "unclear; new: nothing happened"},
		{"there now", "sojourn.mean", []float64{nan, nan, nan, nan, nan}, before, 0.05, Unclear, "unclear; old: nothing happened"},
		{"never there", "sojourn.mean", []float64{nan, nan}, []float64{nan, nan}, 0.05, "", "old: nothing happened"},
		{"in no common seed", "sojourn.mean", []float64{nan, 1}, []float64{1, nan}, 0.05, Unclear, "unclear; no seed has a value in both results"},
	} {
		c := compared(t, result("A", map[string][]float64{tt.metric: tt.base}), result("A'", map[string][]float64{tt.metric: tt.new}), Gate{Set: true, Most: tt.most})
		d := &c.Changes[0]
		if d.Verdict != tt.want || d.Note() != tt.note {
			t.Errorf("%s: %q (%s), want %q (%s)", tt.name, d.Verdict, d.Note(), tt.want, tt.note)
		}
		if want := map[Outcome]int{Missed: 1}[tt.want]; c.Exit != want {
			t.Errorf("%s: exit %d, want %d", tt.name, c.Exit, want)
		}
		c = compared(t, result("A", map[string][]float64{tt.metric: tt.base}), result("A'", map[string][]float64{tt.metric: tt.new}), Gate{Set: true, Most: tt.most, Strict: true})
		if want := map[Outcome]int{Missed: 1, Unclear: 1}[tt.want]; c.Exit != want {
			t.Errorf("%s, strict: exit %d, want %d", tt.name, c.Exit, want)
		}
		if c = compared(t, result("A", map[string][]float64{tt.metric: tt.base}), result("A", map[string][]float64{tt.metric: tt.new}), Gate{}); c.Exit != 0 || c.Changes[0].Verdict != "" {
			t.Errorf("%s, without a gate: exit %d, verdict %q", tt.name, c.Exit, c.Changes[0].Verdict)
		}
	}
}

// A metric equal in every seed is no worse, however it scatters between seeds: the allowed share of
// such values has an interval too.
func TestGateOnNoDifference(t *testing.T) {
	rare := []float64{0, 0, 0, 0, 5}
	for _, tt := range []struct {
		name      string
		new       []float64
		bound     string
		want      Outcome
		baseBound string
	}{
		{"the same", rare, "", Met, ""},
		{"the same, but it may be more", rare, ">=", Unclear, ""},
		{"the same, and it was perhaps more", rare, "", Met, ">="},
		{"more here, less there", []float64{0, 1, 0, 0, 4}, "", Unclear, ""},
	} {
		for _, strict := range []bool{false, true} {
			base, new := result("A", map[string][]float64{"duplicates.count": rare}), result("A'", map[string][]float64{"duplicates.count": tt.new})
			base.Policies[0].Metrics[0].Bound, new.Policies[0].Metrics[0].Bound = tt.baseBound, tt.bound
			c := compared(t, base, new, Gate{Set: true, Most: 0.05, Strict: strict})
			if d := &c.Changes[0]; d.Verdict != tt.want || (c.Exit == 0) != (tt.want == Met || !strict) {
				t.Errorf("%s: %s (%s), exit %d, want %s", tt.name, d.Verdict, d.Note(), c.Exit, tt.want)
			}
		}
	}
}

// scattering returns n values, for an even n, with exactly the given mean and standard deviation.
func scattering(n int, mean, deviation float64) []float64 {
	off := deviation * math.Sqrt(float64(n-1)/float64(n))
	values := make([]float64, n)
	for i := range values {
		values[i], off = mean+off, -off
	}
	return values
}

// A regression that is significant alone, but not among so many metrics, has an estimate of the
// seeds needed: with that many it is significant, with fewer not yet.
func TestGateSaysHowManySeedsTellAmongManyMetrics(t *testing.T) {
	with := func(n int) *Change {
		base, new := map[string][]float64{}, map[string][]float64{}
		for _, m := range measure.Metrics() {
			if m.LessIsBetter && m.Unit == "s" && len(base) < 20 {
				base[m.Name], new[m.Name] = scattering(n, 10, 0.1), scattering(n, 10, 3)
			}
		}
		base["sojourn.mean"], new["sojourn.mean"] = scattering(n, 10, 0), scattering(n, 10.5, 0.5)
		c := compared(t, result("A", base), result("B", new), Gate{Set: true})
		for i := range c.Changes {
			if c.Changes[i].Metric == "sojourn.mean" {
				return &c.Changes[i]
			}
		}
		t.Fatal("it is not among the metrics")
		return nil
	}
	// The difference is one deviation: t(5, 0.975)/√6 is 1.05, t(9, 0.975)/√10 is 0.72.
	few := with(10)
	if alone := few.excessHalf < few.excess; few.Verdict != Unclear || !alone {
		t.Fatalf("%s (%s), %v ± %v", few.Verdict, few.Note(), few.excess, few.excessHalf)
	}
	// Of 21 metrics the first is told at 0.05/21: t(14, 1-0.00119) = 3.71 is less than √15, but
	// t(13, 1-0.00119) = 3.75 more than √14.
	if few.Seeds != 15 {
		t.Errorf("%d seeds would decide, want 15", few.Seeds)
	}
	if d := with(14); d.Verdict != Unclear || d.Seeds != 15 {
		t.Errorf("with 14 seeds: %s (%s)", d.Verdict, d.Note())
	}
	if d := with(16); d.Verdict != Missed || d.Seeds != 0 {
		t.Errorf("with 16 seeds: %s (%s)", d.Verdict, d.Note())
	}
}

// Of results with different seeds, too, the estimate is enough: the interval of 8 seeds, which the degrees of freedom of
// both sides make narrow for 4, is too wide still.
func TestGateSaysHowManyOtherSeedsTell(t *testing.T) {
	for n, want := range map[int]int{4: 11, 8: 11, 12: 0} {
		c := compared(t, result("A", map[string][]float64{"sojourn.mean": scattering(n, 10, 0.5)}),
			elsewhere(result("B", map[string][]float64{"sojourn.mean": scattering(n, 10.5, 0.5)})), Gate{Set: true})
		if d := &c.Changes[0]; d.Seeds != want || (d.Verdict == Missed) != (want == 0) {
			t.Errorf("with %d seeds: %s (%s), want %d", n, d.Verdict, d.Note(), want)
		}
	}
}

// The quantile of the pooled data may fall while those by seed rise: the printed difference and its
// share of the base use the same one.
func TestDifferencesOfQuantiles(t *testing.T) {
	base, new := result("A", map[string][]float64{"sojourn.p99": {5, 6, 7, 6, 5}}), result("A", map[string][]float64{"sojourn.p99": {6, 7, 8, 7, 6}})
	base.Policies[0].Metrics[0].Mean, new.Policies[0].Metrics[0].Mean = 9.8, 9.4
	d := &compared(t, base, new, Gate{}).Changes[0]
	if !close(d.Difference, 1, 1e-12) || !close(d.Relative(), 1/5.8, 1e-12) {
		t.Errorf("paired: %v, %v", d.Difference, d.Relative())
	}
	d = &compared(t, base, elsewhere(new), Gate{Set: true}).Changes[0]
	// About the pooled values the spreads are √(Σ(v-9.8)²/4) = 4.5304 and √(Σ(v-9.4)²/4) = 3.0265,
	// so that the standard error is √((20.525+9.16)/5) = 2.4366.
	if !close(d.Difference, -0.4, 1e-12) || !close(d.Relative(), -0.4/9.8, 1e-12) || d.Half < 5 || d.Half > 6 || d.Verdict != Unclear {
		t.Errorf("Welch: %v ± %v, %v, %s", d.Difference, d.Half, d.Relative(), d.Verdict)
	}
}

// A value that is only a lower bound decides if no true value could change the verdict.
func TestGateOnBounds(t *testing.T) {
	for _, tt := range []struct {
		metric        string
		factor        float64
		base, new     string
		same, without Outcome
	}{
		{"sojourn.mean", 2, "", ">=", Missed, Missed}, {"sojourn.mean", 0.5, "", ">=", Unclear, Unclear},
		{"sojourn.mean", 2, ">=", "", Unclear, Unclear}, {"sojourn.mean", 0.5, ">=", "", Met, Met},
		{"answered.share", 0.5, "", ">=", Unclear, Unclear}, {"answered.share", 2, "", ">=", Met, Met},
		{"sojourn.mean", 1, ">=", ">=", Met, Unclear},
	} {
		for _, same := range []bool{true, false} {
			base, new := result("A", map[string][]float64{tt.metric: before}), result("A", map[string][]float64{tt.metric: scaled(before, tt.factor)})
			base.Policies[0].Metrics[0].Bound, new.Policies[0].Metrics[0].Bound = tt.base, tt.new
			want := tt.same
			if !same {
				new.Policies[0].Fingerprint, want = "another", tt.without
			}
			if c := compared(t, base, new, Gate{Set: true}); c.Changes[0].Verdict != want {
				t.Errorf("%+v, same events %v: %s, want %s", tt, same, c.Changes[0].Verdict, want)
			}
		}
	}
}

// Of many metrics that are judged at once, each needs a smaller p value to fail the gate.
func TestGateAdjustsForTheNumberOfMetrics(t *testing.T) {
	base, new := map[string][]float64{"sojourn.mean": before}, map[string][]float64{"sojourn.mean": after}
	if d := &compared(t, result("A", base), result("B", new), Gate{Set: true}).Changes[0]; d.Verdict != Missed {
		t.Fatalf("alone: %s, p %v", d.Verdict, d.P)
	}
	for _, m := range measure.Metrics() {
		if m.LessIsBetter && m.Unit == "s" && len(base) < 20 && base[m.Name] == nil {
			base[m.Name], new[m.Name] = before, []float64{9.8, 10.2, 10.4, 11.1, 9.4} // as long, all in all
		}
	}
	c := compared(t, result("A", base), result("B", new), Gate{Set: true})
	for i := range c.Changes {
		d := &c.Changes[i]
		if d.Verdict != Unclear || d.Shown {
			t.Errorf("%s among %d: %s (%s), shown %v", d.Metric, len(base), d.Verdict, d.Note(), d.Shown)
		}
	}
}

// Results with common seeds are compared in pairs, which here makes the difference significant.
func TestCompareIsPairedBySeed(t *testing.T) {
	metrics, changed := map[string][]float64{"sojourn.mean": before}, map[string][]float64{"sojourn.mean": after}
	paired := compared(t, result("A", metrics), result("A", changed), Gate{})
	if d := paired.Changes[0]; !paired.Paired || !d.Shown || len(paired.Warnings) > 0 || d.N != 5 {
		t.Errorf("paired %v, %+v, %q", paired.Paired, d, paired.Warnings)
	}
	alone := compared(t, result("A", metrics), elsewhere(result("A", changed)), Gate{})
	if d := alone.Changes[0]; alone.Paired || d.Shown || !close(d.Difference, paired.Changes[0].Difference, 1e-9) || d.Half <= 2*paired.Changes[0].Half {
		t.Errorf("paired %v, %+v", alone.Paired, d)
	}
	if len(alone.Warnings) != 1 || !strings.Contains(alone.Warnings[0], "Welch") {
		t.Errorf("warnings %q", alone.Warnings)
	}
}

func TestCompareWarnsAndRefuses(t *testing.T) {
	of := func(change func(s *Summary)) *Summary {
		s := result("A", map[string][]float64{"sojourn.mean": before})
		change(s)
		return s
	}
	plain := func(*Summary) {}
	two := func(labels ...string) func(s *Summary) {
		return func(s *Summary) {
			p := s.Policies[0]
			s.Policies = nil
			for _, label := range labels {
				p.Label = label
				s.Policies = append(s.Policies, p)
			}
		}
	}
	for _, tt := range []struct {
		name      string
		base, new func(s *Summary)
		version   string
		want      string
		refused   bool
	}{
		{"another scenario", plain, func(s *Summary) { s.Scenario = "large" }, "", "different scenarios: small and large", true},
		{"no policy in common", two("A", "B"), two("C", "D"), "", "no policy in common", true},
		{"no metric in common", plain, func(s *Summary) { s.Policies[0].Metrics[0].Metric = "goodput" }, "", "no metric in common", true},
		{"another length", plain, func(s *Summary) { s.Duration = 7200 }, "", "the runs are of 1m40s and 2h", false},
		{"partial", func(s *Summary) { s.Partial = true }, plain, "", "old is partial", false},
		{"few seeds", func(s *Summary) { s.Seeds = s.Seeds[:3] }, plain, "", "3 seeds are few", false},
		{"a policy missing", two("A", "B"), two("A"), "", "B is in old only and left out", false},
		{"a policy more", two("A"), two("B", "A"), "", "B is in new only and left out", false},
		{"some seeds in common", plain, func(s *Summary) { s.Seeds[4] = 9 }, "", "the seeds differ: the two results are compared as independent", false},
		{"an objective of one", func(s *Summary) {
			s.Objectives = []Verdict{{Query: measure.Query{Metric: "goodput", During: "down"}}}
		}, plain, "", "goodput during down is not in both results", false},
		{"another policy", plain, two("Z"), "", "the policies differ: A and Z", false},
		{"another version", plain, plain, "0.0.9", "different versions of the program, 0.1.0 and 0.0.9", false},
	} {
		c, err := Compare(Named{of(tt.base), "old", "0.1.0", nil}, Named{of(tt.new), "new", tt.version, nil}, nil, Gate{})
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		default:
			got = strings.Join(c.Warnings, "\n")
		}
		if (err != nil) != tt.refused || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// unusual returns two comparisons of metrics with some values missing or 0.
func unusual(t *testing.T) []*Comparison {
	nan := math.NaN()
	base := result("A", map[string][]float64{"sojourn.mean": before, "goodput": {0, 0, 0, 0, 0}, "dead.share": {nan, nan, nan, nan, nan}, "attempts.mean": {nan, 1, nan, nan, nan}})
	new := result("A", map[string][]float64{"sojourn.mean": after, "goodput": before, "dead.share": {0, 0.1, 0.2, 0, 0}, "attempts.mean": {nan, 2, 3, nan, nan}})
	return []*Comparison{compared(t, base, new, Gate{Set: true, Most: 0.05}), compared(t, base, elsewhere(new), Gate{})}
}

// In the JSON of a comparison, a value that is NaN is null.
func TestComparisonJSON(t *testing.T) {
	list := unusual(t)
	var decoded struct {
		Comparisons []struct {
			Paired  bool
			Most    *float64 `json:"max_regression"`
			Changes []struct {
				Metric   string
				Relative *float64
				Reason   string
			}
		}
	}
	encoded, err := MarshalComparisons(list)
	if err == nil {
		err = json.Unmarshal(encoded, &decoded)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c := decoded.Comparisons; len(c) != 2 || !c[0].Paired || c[1].Paired || *c[0].Most != 0.05 || c[1].Most != nil {
		t.Errorf("%+v", c)
	}
	for _, d := range decoded.Comparisons[0].Changes {
		if (d.Relative == nil) != (d.Metric == "goodput" || d.Metric == "dead.share") {
			t.Errorf("%s: relative %v", d.Metric, d.Relative)
		}
	}
}

// TestPairsWithMissingSeeds pairs by seed where one side or the other has no value for some: those seeds are left out, and
// the others stay with their own partners.
func TestPairsWithMissingSeeds(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name      string
		base, new []float64
		n         int
		mean      float64
	}{
		{"missing in the new one", []float64{100, 1, 2, 3}, []float64{nan, 11, 12, 13}, 3, 10},
		{"missing in the base", []float64{nan, 1, 2, 3}, []float64{100, 11, 12, 13}, 3, 10},
		{"missing at the end", []float64{1, 2, 3, 100}, []float64{11, 12, 13, nan}, 3, 10},
		{"another on either side", []float64{100, 1, nan, 3}, []float64{nan, 11, 100, 13}, 2, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compared(t, result("A", map[string][]float64{"sojourn.mean": tt.base}), result("A", map[string][]float64{"sojourn.mean": tt.new}), Gate{})
			if d := &c.Changes[0]; d.N != tt.n || d.Difference != tt.mean || d.Half != 0 {
				t.Errorf("%d pairs, %v ± %v; want %d, %v ± 0", d.N, d.Difference, d.Half, tt.n, tt.mean)
			}
		})
	}
}

// TestChangeWords prints a difference of shares in percentage points, beside a change in percent, and none where sums of
// floats alone make one.
func TestChangeWords(t *testing.T) {
	for _, tt := range []struct {
		metric         string
		of, difference float64
		half           float64
		want           string
	}{
		{"wasted", 0.43, 0.0267, 0.00086, "+2.67 pp ±0.086 pp +6%"},
		{"dead.share", 0.02, -0.01, math.NaN(), "−1 pp  −50%"},
		{"goodput", 60, 2.4e-15, 0.00075, "0 ±0.00075 0%"},
		{"fresh.wait.p99", 2, -0.5, 0.1, "−500ms ±100ms −25%"},
	} {
		c := Change{Contrast: Contrast{Query: measure.Query{Metric: tt.metric}, Difference: tt.difference, Half: tt.half}, of: tt.of}
		w := c.Words()
		if got := w.Difference + " " + w.Half + " " + w.Change; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.metric, got, tt.want)
		}
	}
}

// Keys that both results have come before those of a storm or a policy that one has alone, eight lines are written, and
// two long values show where they differ.
func TestKeyWords(t *testing.T) {
	t.Parallel()
	long := func(middle string) string {
		return "{timeout: 40%, " + middle + ", network: 10%, validation: 20%, other: 9%}"
	}
	base := []KeyValue{{"a", "1"}, {"old.x", "1"}, {"b", "1"}, {"c", long("unavailable: 1%")}, {"d", long("")}}
	new := []KeyValue{{"new.x", "1"}, {"a", "1"}, {"b", "2"}, {"c", long("unavailable: 21%")}, {"d", ""}}
	want := []string{"b: 1 → 2", "c: …vailable: 1%, network: 10…%, other: 9%} → …vailable: 21%, network: 1…%, other: 9%}",
		"d: {timeout: 40%, , network: …%, other: 9%} → –", "new.x: – → 1", "old.x: 1 → –"}
	c := Comparison{Keys: keyChanges(base, new)}
	if got := c.KeyWords(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Keys = make([]KeyChange, 10)
	if got := c.KeyWords(); len(got) != 9 || got[8] != "and 2 more keys" {
		t.Errorf("got %q of 10 keys", got)
	}
	if got := keyChanges(nil, new); got != nil {
		t.Errorf("got %v of an unknown base", got)
	}
}
