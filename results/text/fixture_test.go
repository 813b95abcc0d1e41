package text

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/results"
	"qsim/results/measure"
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

// elsewhere gives s other seeds.
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
	c, err := results.Compare(base, new, results.CompareOptions{BaseName: "old", NewName: "new", Gate: gate, Queries: queries})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	before = []float64{10.2, 9.8, 11.1, 10.4, 9.5}
	after  = []float64{10.9, 10.1, 11.9, 11.0, 10.4}
)

// unusual returns two comparisons of metrics with some values missing or 0.
func unusual(t *testing.T) []*results.Comparison {
	nan := math.NaN()
	base := result("A", map[string][]float64{"sojourn.mean": before, "goodput": {0, 0, 0, 0, 0}, "dead.share": {nan, nan, nan, nan, nan}, "attempts.mean": {nan, 1, nan, nan, nan}})
	new := result("A", map[string][]float64{"sojourn.mean": after, "goodput": before, "dead.share": {0, 0.1, 0.2, 0, 0}, "attempts.mean": {nan, 2, 3, nan, nan}})
	return []*results.Comparison{compared(t, base, new, results.Gate{Set: true, Most: 0.05}), compared(t, base, elsewhere(new), results.Gate{})}
}

// settings returns the settings of a small scenario: two classes, one of them guarded by a key, one
// storm, two workers, two policies.
func settings() *measure.Settings {
	return &measure.Settings{
		Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100 * time.Second, Drain: 100 * time.Second, Warmup: 10 * time.Second,
		Bucket: 10 * time.Second, Nodes: 1, Workers: 2, Classes: []string{"mail", "sums"}, Guards: []measure.Guard{measure.NoGuard, measure.CheckGuard},
		Storms: []measure.Window{{Name: "down", From: 40 * time.Second, To: 50 * time.Second}}, Service: 100 * time.Millisecond, Rate: 20,
		Policies: []measure.PolicyInfo{{Kind: "fifo", Label: "FIFO"}, {Kind: "weighted", Label: "Weighted", Entitled: 0.5}},
	}
}

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -rewrite to accept):\n%s", name, firstDifference(string(got), string(want)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// comparison returns the settings and runs of two policies under some seeds: FIFO, under
// which fresh jobs of the storm wait long, and one under which they do not.
func comparison(seeds int) (*measure.Settings, []measure.Run) {
	s := settings()
	s.Objectives = []measure.Objective{
		{Query: measure.Query{Metric: "fresh.wait.p99", During: "down"}, Bound: 5, Text: "below 5s"},
		{Query: measure.Query{Metric: "fresh.wait.p99", During: "down"}, Bound: 5, Text: "below 5s", Policy: "fifo", Expect: true},
		{Query: measure.Query{Metric: "fresh.within", Limit: 2 * time.Second}, Above: true, Bound: 0.9, Text: "above 90%", Policy: "Weighted"},
		{Query: measure.Query{Metric: "sojourn.mean", Class: "mail"}, Bound: 0.69, Text: "below 690ms", Policy: "Weighted"},
	}
	var runs []measure.Run
	for seed := range uint64(seeds) {
		for policy, slow := range []float64{8, 1} {
			runs = append(runs, simulated(s, policy, seed+1, slow))
		}
	}
	return s, runs
}

// simulated plays a job each second, which waits for slow seconds if it is of the storm,
// and less than half a second else, and runs for 0.3 s.
func simulated(s *measure.Settings, policy int, seed uint64, slow float64) measure.Run {
	c := measure.NewCollector(s, policy)
	rand := keyed.Rand{Seed: seed}
	now := engine.Time(0)
	for id := engine.JobID(1); id < 90; id++ {
		ready := engine.Time(id) * engine.Time(time.Second)
		wait := 0.5 * rand.Uniform(keyed.ForPolicy, uint64(id), 0, 0)
		if id >= 40 && id < 50 {
			wait += slow
		}
		c.Record(&engine.Event{At: ready, Kind: engine.Enqueued, Job: id})
		claimed := max(engine.Time(math.Round((float64(id)+wait)*1e9)), now)
		now = engine.Time(math.Round((claimed.Seconds() + 0.3) * 1e9))
		waited, token, ran := claimed.Sub(ready), engine.Token(id), 300*time.Millisecond
		c.Record(&engine.Event{At: claimed, Kind: engine.Leased, Job: id, Delivery: 1, Token: token, Waited: waited, Age: waited})
		c.Record(&engine.Event{At: claimed, Kind: engine.Started, Job: id, Token: token})
		c.Record(&engine.Event{At: now, Kind: engine.Finished, Job: id, Token: token, Ran: ran})
		c.Record(&engine.Event{At: now, Kind: engine.Acked, Job: id, Token: token, From: engine.InFlight, Delivery: 1, Age: now.Sub(ready)})
	}
	r := c.Finish(now, nil)
	r.Seed, r.Fingerprint = seed, seed*0x9e3779b97f4a7c15+uint64(policy)
	return r
}

func summarized(t testing.TB, seeds int) *results.Summary {
	t.Helper()
	s, runs := comparison(seeds)
	sum, err := results.Summarize(s, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func encoded(t *testing.T, s *results.Summary) []byte {
	t.Helper()
	data, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
