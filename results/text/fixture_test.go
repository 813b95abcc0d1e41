package text

import (
	"flag"
	"math"
	"path/filepath"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/resultstest"
)

// result returns a summary of one policy whose metrics have these values by seed.
func result(label string, metrics map[string][]float64) *results.Summary {
	s := &results.Summary{Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100, Policies: []results.PolicySummary{{Label: label, Kind: label, Baseline: true, Fingerprint: label}}}
	p := &s.Policies[0]
	for _, m := range measure.Metrics() {
		values, ok := metrics[m.Name]
		if !ok {
			continue
		}
		e := results.Estimate{Query: measure.Query{Metric: m.Name}, Unit: m.Unit, Mean: math.NaN(), Reason: "nothing happened"}
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

// elsewhere gives s other seeds, so that it cannot be compared seed by seed, and returns it.
func elsewhere(s *results.Summary) *results.Summary {
	for i := range s.Seeds {
		s.Seeds[i] += 100
	}
	return s
}

func compared(t *testing.T, base, new *results.Summary, gate results.Gate) *results.Comparison {
	t.Helper()
	var queries []measure.Query
	for _, e := range base.Policies[0].Metrics {
		queries = append(queries, e.Query)
	}
	c, err := results.Compare(results.Named{Summary: base, Name: "old"}, results.Named{Summary: new, Name: "new"}, queries, gate)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	before = []float64{10.2, 9.8, 11.1, 10.4, 9.5}
	after  = []float64{10.9, 10.1, 11.9, 11.0, 10.4}
)

// unusual returns two comparisons of metrics with missing values and zeros, the second of runs with different seeds.
func unusual(t *testing.T) []*results.Comparison {
	nan := math.NaN()
	base := result("A", map[string][]float64{"sojourn.mean": before, "goodput": {0, 0, 0, 0, 0}, "dead.share": {nan, nan, nan, nan, nan}, "attempts.mean": {nan, 1, nan, nan, nan}})
	new := result("A", map[string][]float64{"sojourn.mean": after, "goodput": before, "dead.share": {0, 0.1, 0.2, 0, 0}, "attempts.mean": {nan, 2, 3, nan, nan}})
	return []*results.Comparison{compared(t, base, new, results.Gate{Set: true, Most: 0.05}), compared(t, base, elsewhere(new), results.Gate{})}
}

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	resultstest.Golden(t, filepath.Join("testdata", name), got, *rewrite)
}

func summarized(t testing.TB, seeds int) *results.Summary {
	t.Helper()
	s, runs := resultstest.Comparison(seeds)
	sum, err := results.Summarize(s, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func encoded(t *testing.T, s *results.Summary) []byte {
	t.Helper()
	data, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
