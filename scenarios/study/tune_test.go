package study

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/results/text"
	"qsim/scenarios"
)

const queue = `
name: queue
duration: 20m
warmup: 1m
seeds: 1
engine: {workers: 10, commit: {linger: 0s}, store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s}}
jobs:
  - class: work
    arrivals: {process: poisson, rate: 8/s}
    service: {dist: exponential, mean: 1s}
policies: [{kind: fifo}, {kind: lifo}]
objectives: [{metric: fresh.wait.mean, below: 100ms}]
`

func axis(t *testing.T, text string) Axis {
	t.Helper()
	a, err := ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func tuned(t *testing.T, p *Problem, parallel int) *results.Tuning {
	t.Helper()
	p.Confidence, p.Indifference, p.MostSeeds = 0.95, 0.05, cmp.Or(p.MostSeeds, 200)
	p.Source.Parallel = parallel
	found, err := p.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// meanWait returns the mean wait in M/M/c, in service times, by Erlang C: C(c, a) ÷ (c - a) for a load of a.
func meanWait(c int, load float64) float64 {
	if load >= float64(c) {
		return math.Inf(1)
	}
	term, sum := 1.0, 0.0
	for k := range c {
		sum += term
		term *= load / float64(k+1)
	}
	last := term * float64(c) / (float64(c) - load)
	return last / (sum + last) / (float64(c) - load)
}

// The smallest number of workers of M/M/c is known: that of Erlang's formula. Its mean wait is
// 23 % below the bound and that of one worker less 67 % above it, so that all verdicts together
// are wrong in at most 5 % of other seeds; these are fixed. Bytes do not depend on Parallel.
func TestSmallestNumberOfWorkers(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("TestSettingsInParallel runs the same goroutines")
	}
	want := 1
	for meanWait(want, 8) > 0.1 {
		want++
	}
	problem := func() *Problem {
		return &Problem{Source: Source{Name: "queue.yaml", Text: []byte(queue), Policies: []string{"fifo"}}, Axes: []Axis{axis(t, "engine.workers=6..24")}, Aim: Smallest, Key: "engine.workers"}
	}
	found := tuned(t, problem(), 1)
	p := &found.Policies[0]
	if p.Outcome != results.Met || p.Best == nil || p.Best[0] != fmt.Sprint(want) {
		t.Fatalf("got %+v, want %d workers, waits %v and before %v", p, want, meanWait(want, 8), meanWait(want-1, 8))
	}
	if len(p.Trials) > 9 || p.Runs >= p.Grid {
		t.Errorf("%d values and %d runs, where a grid takes %d", len(p.Trials), p.Runs, p.Grid)
	}
	for _, words := range []string{"is the smallest value that meets all objectives", "Sure to 95 %", "Not tried: ", "simulations"} {
		if !strings.Contains(strings.Join(p.Said, "\n"), words) {
			t.Errorf("%q is not said: %q", words, p.Said)
		}
	}
	one, err := results.MarshalTuning(found)
	if err != nil {
		t.Fatal(err)
	}
	again, err := results.MarshalTuning(tuned(t, problem(), 4))
	if err != nil {
		t.Fatal(err)
	}
	if string(one) != string(again) {
		t.Errorf("one core finds\n%s\nand four\n%s", one, again)
	}
}

// Concurrent simulations of several settings share nothing: the race detector looks at them.
func TestSettingsInParallel(t *testing.T) {
	t.Parallel()
	text := strings.Replace(queue, "20m", "2m", 1)
	found := tuned(t, &Problem{Source: Source{Name: "queue.yaml", Text: []byte(text), Policies: []string{"fifo"}}, Axes: []Axis{axis(t, "engine.workers=9..12")}, Aim: Minimize, Query: measure.Query{Metric: "fresh.wait.mean"}, MostSeeds: 25}, 4)
	if len(found.Policies) != 1 || len(found.Policies[0].Trials) != 4 {
		t.Errorf("got %+v", found)
	}
}

// Another file that only a value names is another problem.
func TestConfigOfTuningFilesThatAxesName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Replace(queue, "{process: poisson, rate: 8/s}", "{process: trace, file: a.csv}", 1)
	hash := func(values string) string {
		t.Helper()
		for name, values := range map[string]string{"a.csv": "1\n2\n", "b.csv": values} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(values), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return tuned(t, &Problem{Source: Source{Name: filepath.Join(dir, "queue.yaml"), Text: []byte(text), Policies: []string{"fifo"}}, Axes: []Axis{axis(t, "jobs.work.arrivals.file=a.csv,b.csv")}, Aim: Minimize, Query: measure.Query{Metric: "goodput"}, MostSeeds: 20}, 0).ConfigHash
	}
	first := hash("1\n2\n")
	if again, other := hash("1\n2\n"), hash("1\n3\n"); again != first || other == first {
		t.Errorf("equal files have configs %s and %s, another one %s", first, again, other)
	}
}

// The largest rate that ten workers bear, for both policies, which have the same mean wait.
func TestLargestForEveryPolicy(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("TestSettingsInParallel runs the same goroutines")
	}
	found := tuned(t, &Problem{Source: Source{Name: "queue.yaml", Text: []byte(queue)}, Axes: []Axis{axis(t, "jobs.work.arrivals.rate=2/s..9/s/1/s")}, Aim: Largest, Key: "jobs.work.arrivals.rate"}, 0)
	want := 0
	for rate := 2; rate <= 9 && meanWait(10, float64(rate)) <= 0.1; rate++ {
		want = rate
	}
	if len(found.Policies) != 2 {
		t.Fatalf("got %d policies", len(found.Policies))
	}
	for _, p := range found.Policies {
		if p.Best == nil || p.Best[0] != fmt.Sprintf("%d/s", want) {
			t.Errorf("%s: got %+v, want %d/s", p.Label, p, want)
		}
	}
}

// A policy's own parameter concerns that policy alone. With strict objectives of retries and
// fresh jobs the cap in the middle is best.
func TestParameterOfAPolicy(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("TestSettingsInParallel runs the same goroutines")
	}
	text := strings.Replace(queue, "[{kind: fifo}, {kind: lifo}]", "[{kind: fifo}, {kind: inflight-cap, label: cap, retries: 2}]", 1)
	text = strings.Replace(text, "mean: 1s}", "mean: 1s}\n    fails: {rate: 15%, errors: {unavailable: 100%}}", 1)
	found := tuned(t, &Problem{Source: Source{Name: "queue.yaml", Text: []byte(text)}, Axes: []Axis{axis(t, "policies.cap.retries=1,2,4")}, Aim: Minimize, Query: measure.Query{Metric: "fresh.wait.mean"}, MostSeeds: 40}, 0)
	if len(found.Policies) != 1 || found.Policies[0].Label != "cap" || len(found.Policies[0].Trials) != 3 {
		t.Errorf("got %+v", found.Policies)
	}
}

func TestObjectives(t *testing.T) {
	t.Parallel()
	set, err := Objectives([]string{"fresh.wait.p99 below 10s", "goodput above 20/s"})
	if err != nil || set.Value != `["fresh.wait.p99 below 10s", "goodput above 20/s"]` {
		t.Errorf("%+v, %v", set, err)
	}
	if _, err := Objectives([]string{"goodput above 20/s", "goodput", "x"}); err == nil || strings.Count(err.Error(), "want METRIC below") != 2 {
		t.Errorf("%v", err)
	}
}

func TestProblemsThatAreNone(t *testing.T) {
	t.Parallel()
	source := Source{Name: "queue.yaml", Text: []byte(queue)}
	for _, tt := range []struct {
		name    string
		problem Problem
		want    string
	}{
		{"no key", Problem{Source: source}, "no key to vary"},
		{"two keys", Problem{Source: source, Axes: []Axis{axis(t, "engine.workers=1..3"), axis(t, "engine.nodes=1..3")}, Aim: Smallest, Key: "engine.workers"}, "is looked for alone"},
		{"another key", Problem{Source: source, Axes: []Axis{axis(t, "engine.workers=1..3")}, Aim: Smallest, Key: "engine.nodes"}, "not the key that is searched"},
		{"a misspelt key", Problem{Source: Source{Name: "q.yaml", Text: source.Text, Sets: []scenarios.Override{{Path: "objectives", Value: "[]"}}}, Axes: []Axis{axis(t, "engine.worker=1,2")}}, "engine.worker=1: "},
		{"words", Problem{Source: source, Axes: []Axis{axis(t, "retry.jitter=none,full")}, Aim: Largest, Key: "retry.jitter"}, "must be numbers that go up"},
		{"a value that is none", Problem{Source: source, Axes: []Axis{axis(t, "engine.workers=0,1")}, Aim: Smallest, Key: "engine.workers"}, "engine.workers=0"},
		{"no objective", Problem{Source: Source{Name: "q.yaml", Text: source.Text, Sets: []scenarios.Override{{Path: "objectives", Value: "[]"}}}, Axes: []Axis{axis(t, "engine.workers=1..3")}}, "there is no objective"},
		{"a wrong metric", Problem{Source: source, Axes: []Axis{axis(t, "engine.workers=1..3")}, Aim: Minimize, Query: measure.Query{Metric: "fresh.wait.p98"}}, "fresh.wait.p98"},
		{"a policy that is not there", Problem{Source: source, Axes: []Axis{axis(t, "policies.weighted.fresh=10%,20%")}}, "no policy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.problem.Run(context.Background(), nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A goal that is only a lower bound is marked for people, and in a column of its own for programs. In a run that ends
// with its arrivals a mean time until done is one, however little that is, and decides nothing.
func TestTuningOfLowerBounds(t *testing.T) {
	t.Parallel()
	p := &Problem{Source: Source{Name: "queue.yaml", Text: []byte(queue), Policies: []string{"fifo"}, Sets: []scenarios.Override{{Path: "duration", Value: "2m"}, {Path: "drain", Value: "0s"}, {Path: "objectives", Value: "[]"}}},
		Axes: []Axis{axis(t, "engine.workers=15,30")}, Aim: Minimize, Query: measure.Query{Metric: "sojourn.mean"}, MostSeeds: 20}
	found := tuned(t, p, 0)
	if name := found.Cases()[0].Name; name != "least sojourn.mean" {
		t.Errorf("without objectives the case is %q", name)
	}
	for format, want := range map[text.Format]string{text.Text: "  ≥ ", text.CSV: ",>=,"} {
		said := TuningTable(found, text.TableOptions{Format: format}, func(string, []string) string { return "" })
		if strings.Count(said, want) != 2 || found.Policies[0].Outcome != results.Unclear {
			t.Errorf("%s, want twice %q in\n%s", found.Policies[0].Outcome, want, said)
		}
	}
}

// TestTuningGoesOn: an interrupted search simulates only the rest when repeated, and finds the same as an
// uninterrupted one.
func TestTuningGoesOn(t *testing.T) {
	if raced {
		t.Skip("TestSettingsInParallel runs the same goroutines")
	}
	path := filepath.Join(t.TempDir(), "folder", "observed.jsonl")
	problem := func(keep bool) *Problem {
		p := &Problem{Source: Source{Name: "queue.yaml", Text: []byte(queue), Policies: []string{"fifo"}, Parallel: 1}, Axes: []Axis{axis(t, "engine.workers=6..20/1")}, Aim: Smallest,
			Key: "engine.workers", Confidence: 0.95, MostSeeds: 40}
		p.Source.Sets = []scenarios.Override{{Path: "duration", Value: "4m"}, {Path: "objectives", Value: "[fresh.wait.p99 below 5s, dead.count below 0]"}}
		if keep {
			p.Keep = func(string) string { return path }
		}
		return p
	}
	var all atomic.Int64
	want, err := problem(false).Run(t.Context(), func(string) { all.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var first atomic.Int64
	if _, err := problem(true).Run(ctx, func(string) {
		if first.Add(1) > all.Load()/2 {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want that of the context", err)
	}
	var second atomic.Int64
	judged := 0
	p := problem(true)
	p.Judged = func(_ string, settings, of int) { judged = settings }
	got, err := p.Run(t.Context(), func(string) { second.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	a, _ := results.MarshalTuning(want)
	b, _ := results.MarshalTuning(got)
	if string(a) != string(b) || !strings.Contains(string(b), "dead.count was 0 in all 40 seeds") {
		t.Errorf("got\n%s\nwant\n%s", b, a)
	}
	if second.Load() >= all.Load() || second.Load() == 0 || judged != 15 {
		t.Errorf("%d simulations after %d, where %d are needed in all; %d settings judged", second.Load(), first.Load(), all.Load(), judged)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("what was kept is gone before the result is stored: %v", err)
	}
}

// TestMemory keeps observations, cuts the file in its last line, or just before its end, and goes on behind the rest.
func TestMemory(t *testing.T) {
	for _, cut := range []int{0, 1, 9} {
		path := filepath.Join(t.TempDir(), "below", "kept")
		running := plain.Must(openMemory(path, origin{"hash", "1.0.0"})) // another process that makes the same search
		keep := func(settings ...int) (known int) {
			t.Helper()
			m, err := openMemory(path, origin{"hash", "1.0.0"})
			if err != nil {
				t.Fatal(err)
			}
			for _, setting := range settings {
				if err := m.keep(answered{ask{setting, 0, 1}.name("fifo"), []observation{{Goal: float64(setting), Slacks: []float64{math.Inf(1)}}}}); err != nil {
					t.Fatal(err)
				}
			}
			for setting := range 4 {
				if seen, ok := m.known[ask{setting, 0, 1}.name("fifo")]; ok {
					if known++; len(seen) != 1 || seen[0].Goal != float64(setting) || !math.IsInf(seen[0].Slacks[0], 1) {
						t.Errorf("of setting %d it kept %v", setting, seen)
					}
				}
			}
			return known
		}
		keep(0, 1)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text[:len(text)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := running.keep(answered{ask{2, 0, 1}.name("fifo"), []observation{{Goal: 2, Slacks: []float64{math.Inf(1)}}}}); err != nil {
			t.Fatal(err)
		}
		want := 3 - cut/9 // a line without its newline is whole
		if known := keep(3); known != want {
			t.Errorf("without the last %d bytes, and with one more, it knows %d settings, want %d", cut, known, want)
		}
		if known := keep(); known != want+1 {
			t.Errorf("after two more it knows %d settings, want %d", known, want+1)
		}
		other, err := openMemory(path, origin{"hash", "1.1.0"})
		if err != nil || len(other.known) != 0 {
			t.Errorf("a search of another version knows %v (%v)", other.known, err)
		}
		if text, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		for range 2 { // two processes that made one search
			defer func(m memory) {
				if err := errors.Join(m.keep(answered{}), m.remove()); err != nil {
					t.Error(err)
				}
			}(plain.Must(openMemory(path, origin{"hash", "1.0.0"})))
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(`{"format"`), []byte(`{"note":1,"format"`)), 0o600); err != nil {
			t.Fatal(err)
		}
		if known := keep(); known != 0 {
			t.Errorf("of lines with an unknown member it knows %d settings", known)
		}
	}
}
