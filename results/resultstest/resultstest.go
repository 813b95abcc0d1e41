// Package resultstest holds what the tests of results and of package text share: a small scenario, runs, golden files.
package resultstest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/results/measure"
)

// Settings returns the settings of a small scenario: two classes of jobs, one guarded against duplicates by a key that
// is looked up when an execution starts, one storm (a failure with a window of time), two workers, two policies.
func Settings() *measure.Settings {
	return &measure.Settings{
		Scenario: "small", ConfigHash: "0a1b2c3d", Duration: 100 * time.Second, Drain: 100 * time.Second,
		Warmup: 10 * time.Second, Bucket: 10 * time.Second, Nodes: 1, Workers: 2, Service: 100 * time.Millisecond, Rate: 20,
		Classes: []string{"mail", "sums"}, Guards: []measure.Guard{measure.NoGuard, measure.CheckGuard},
		Storms:   []measure.Window{{Name: "down", From: 40 * time.Second, To: 50 * time.Second}},
		Policies: []measure.PolicyInfo{{Kind: "fifo", Label: "FIFO"}, {Kind: "weighted", Label: "Weighted", Entitled: 0.5}},
	}
}

// Comparison returns the settings and runs of two policies under the given number of seeds: FIFO, under which jobs that
// are enqueued in the storm wait long, and one under which they do not.
func Comparison(seeds int) (*measure.Settings, []measure.Run) {
	s := Settings()
	down := measure.Query{Metric: "fresh.wait.p99", During: "down"}
	within := measure.Query{Metric: "fresh.within", Limit: 2 * time.Second}
	s.Objectives = []measure.Objective{
		{Query: down, Bound: 5, Text: "below 5s"},
		{Query: down, Bound: 5, Text: "below 5s", Policy: "fifo", Expect: true},
		{Query: within, Above: true, Bound: 0.9, Text: "above 90%", Policy: "Weighted"},
		{Query: measure.Query{Metric: "sojourn.mean", Class: "mail"}, Bound: 0.69, Text: "below 690ms", Policy: "Weighted"},
	}
	var runs []measure.Run
	for seed := range uint64(seeds) {
		for policy, slow := range []float64{8, 1} {
			runs = append(runs, Simulated(s, policy, seed+1, slow))
		}
	}
	return s, runs
}

// Simulated returns a made-up run: a job arrives each second, waits for less than half a second, or slow seconds longer
// if it arrives in the storm, and runs for 0.3 s.
func Simulated(s *measure.Settings, policy int, seed uint64, slow float64) measure.Run {
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
		waited := claimed.Sub(ready)
		for _, e := range []engine.Event{
			{At: claimed, Kind: engine.Leased, Delivery: 1, Waited: waited, Age: waited},
			{At: claimed, Kind: engine.Started},
			{At: now, Kind: engine.Finished, Ran: 300 * time.Millisecond},
			{At: now, Kind: engine.Acked, From: engine.InFlight, Delivery: 1, Age: now.Sub(ready)},
		} {
			e.Job, e.Token = id, engine.Token(id)
			c.Record(&e)
		}
	}
	r := c.Finish(now, nil)
	r.Seed, r.Fingerprint = seed, seed*0x9e3779b97f4a7c15+uint64(policy)
	return r
}

// Golden compares got with the file at path; with rewrite, it writes that file first.
func Golden(t *testing.T, path string, got []byte, rewrite bool) {
	t.Helper()
	if rewrite {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -rewrite to accept):\n%s", path, FirstDifference(string(got), string(want)))
	}
}

// FirstDifference returns, for a message, the first line in which two texts differ, or else their numbers of lines.
func FirstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n got: %s\nwant: %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
