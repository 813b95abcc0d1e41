package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchfmt"

	"qsim/cmd/ui"
	"qsim/results"
	layout "qsim/results/text"
	"qsim/scenarios"
)

// told returns the measurements of a round with distinct numbers only: 2 jobs of 100 were lost, 3 were executed twice,
// and all phases have different durations.
func told() *loaded {
	const ms = time.Millisecond
	r := &loaded{open: true, endedRun: endedRun{took: 2 * time.Second, account: account{jobs: 100, done: 90, dead: 5, duplicates: 3}}}
	r.reconcile(5, 3)
	r.enqueue.add(10*ms, 10)
	r.claim.add(40*ms, 20)
	r.execute.add(5*ms, 1)
	r.commit.add(70*ms, 10)
	for i := range 100 {
		r.pickup.Record(time.Duration(i+1) * ms)
		r.sojourn.Record(time.Duration(i+1) * 10 * ms)
	}
	return r
}

// toldMetrics holds the expected metrics of the round that told returns, by their units in the Go benchmark format.
var toldMetrics = map[string]float64{
	"jobs/s": 47.5, "lost": 2, "duplicates": 3,
	"enqueue-sec/job": .001, "claim-sec/job": .002, "execute-sec/job": .005, "commit-sec/job": .007,
	"p99-enqueue-sec": .010, "p99-claim-sec": .040, "p99-execute-sec": .005, "p99-commit-sec": .070,
	"p50-pickup-sec": .050, "p99-pickup-sec": .099, "p50-sojourn-sec": .5, "p99-sojourn-sec": .99,
}

// TestLoadReport reads back the report of a load in every format: each number is that of its phase,
// and none is missing.
func TestLoadReport(t *testing.T) {
	near := func(got, want float64) bool { return math.Abs(got-want) <= .01*want }
	r, l := told(), &load{rate: perSecond(50), lasts: scenarios.Duration(2 * time.Second), workers: 8, engines: 1, batch: 10}
	c := &candidate{policy: "fifo", store: memory, rounds: []*loaded{r}}
	c.name = l.name(c)

	var lines bytes.Buffer
	(&benchWriter{out: &lines}).result(c.name, r.done+r.dead, r.took, r.metrics())
	reader := benchfmt.NewReader(&lines, "test")
	if !reader.Scan() {
		t.Fatal(reader.Err())
	}
	result, ok := reader.Result().(*benchfmt.Result)
	if !ok {
		t.Fatal(reader.Result())
	}
	for unit, want := range toldMetrics {
		if got, ok := result.Value(unit); !ok || !near(got, want) {
			t.Errorf("the benchmark's %s is %v, %v, want %v", unit, got, ok, want)
		}
	}

	out := t.TempDir()
	s := &session{console: &ui.Console{}, flags: &runFlags{out: out}, begun: time.Now(), jobs: r.account}
	text, err := s.json([]*candidate{c})
	var parsed loadJSON
	if err != nil || json.Unmarshal(text, &parsed) != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if parsed.Lost != 2 || parsed.Duplicates != 3 {
		t.Errorf("JSON says lost %d, duplicates %d, want 2 and 3", parsed.Lost, parsed.Duplicates)
	}
	for name, want := range toldMetrics {
		if got := parsed.Candidates[0].Metrics[name].Mean; !near(got, want) {
			t.Errorf("%s is %v in JSON, want %v", name, got, want)
		}
	}
	printed := strings.Join(strings.Fields(loadTable([]*candidate{c}, layout.TableOptions{})), " ")
	for _, want := range []string{"lost 2", "duplicates 3", "claim-sec/job 2ms", "p99-commit-sec 70", "p50-sojourn-sec 50"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the table has no %q:\n%s", want, printed)
		}
	}

	if err := s.files([]*candidate{c}, "abc"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		count   int
		longest float64 // longest duration in ms
	}{"pickup": {100, 100}, "sojourn": {100, 1000}, "enqueue": {1, 10}, "claim": {1, 40}, "execute": {1, 5}, "commit": {1, 70}} {
		count, longest := readHGRM(t, filepath.Join(out, "load", "latest", "hist", "fifo-memory."+name+".hgrm"))
		if count != want.count || !near(longest, want.longest) {
			t.Errorf("%s.hgrm has %d values up to %v ms, want %d up to %v ms", name, count, longest, want.count, want.longest)
		}
	}
}

// TestIntervalsOfRounds measures two rounds of which one lost jobs: the interval of a metric has no values below 0.
func TestIntervalsOfRounds(t *testing.T) {
	whole := told()
	whole.lost = 0
	_, metrics := (&candidate{rounds: []*loaded{told(), whole}}).summary()
	if m := metrics["lost"]; m.Mean != 1 || m.Low == nil || *m.Low != 0 || *m.High < 10 {
		t.Errorf("lost: %+v", m)
	}
}

// readHGRM reads a file of percentiles as HdrHistogram's plotter does: below a heading
// lines of value, percentile, count up to it and 1/(1-percentile), which rise to all. It
// returns the last count and value.
func readHGRM(t *testing.T, path string) (count int, value float64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return 0, 0
	}
	rows, last := 0, 0.0
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") || fields[0] == "Value" {
			continue
		}
		var v, percentile float64
		var n int
		var inverse string
		if _, err := fmt.Sscan(line, &v, &percentile, &n, &inverse); err != nil || v < value || percentile < last || n < count {
			t.Errorf("%s: %q after %v, %v, %d: %v", path, line, value, last, count, err)
		}
		value, last, count, rows = v, percentile, n, rows+1
	}
	if rows == 0 || last != 1 {
		t.Errorf("%s ends at percentile %v after %d rows\n%s", path, last, rows, text)
	}
	return count, value
}

// TestVerdictSaysLost checks that standard error has the losses and duplicates of all rounds.
func TestVerdictSaysLost(t *testing.T) {
	c := newRun()
	var stderr bytes.Buffer
	c.SetErr(&stderr)
	s := &session{console: ui.NewConsole(c, false), flags: &runFlags{}}
	for range 3 {
		s.count(&candidate{}, &told().endedRun)
	}
	err := s.settle(ui.ExitMet, nil)
	var f *ui.Failure
	if !errors.As(err, &f) || f.Exit != ui.ExitInvariant || !strings.Contains(f.Error(), "6 jobs were lost") {
		t.Errorf("it ends with %v", err)
	}
	if want := "300 jobs: 270 done, 15 dead, 9 left; lost 6, duplicates 9\n"; !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("it said %q, want %q", stderr.String(), want)
	}
	stderr.Reset()
	s.jobs = account{jobs: 10, done: 5, dead: 1, left: 1, lost: 3, duplicates: 4}
	err = s.settle(ui.ExitMet, nil)
	if !errors.As(err, &f) || f.Exit != ui.ExitInvariant {
		t.Errorf("a scenario ends with %v", err)
	}
	if want := "10 jobs: 5 done, 1 dead, 1 left; lost 3, duplicates 4\n"; !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("it said %q, want %q", stderr.String(), want)
	}
}

// TestPrefetch claims ahead if handlers are short, unless a flag sets the prefetch, which only then
// is in the benchmark's name.
func TestPrefetch(t *testing.T) {
	for _, tt := range []struct {
		flag, work string
		want       int
		named      bool
	}{{"", "0s", 50, false}, {"", "9ms", 50, false}, {"", "10ms", 0, false}, {"0", "0s", 0, true}, {"50", "0s", 50, false}, {"7", "1s", 7, true}} {
		c, given := &cobra.Command{}, &load{jobs: 1}
		addWorkFlags(c, given)
		for name, text := range map[string]string{"workers": "10", "prefetch": tt.flag, "work": tt.work} {
			if text == "" {
				continue
			}
			if err := c.Flags().Set(name, text); err != nil {
				t.Fatal(err)
			}
		}
		l := given.complete()
		sc, err := policyScenario(l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if int(l.prefetch) != tt.want || int(sc.Engine.Fetch.Prefetch) != tt.want {
			t.Errorf("--prefetch %q --work %s: %d, and %d in the scenario, want %d", tt.flag, tt.work, l.prefetch, sc.Engine.Fetch.Prefetch, tt.want)
		}
		if name := l.name(&candidate{policy: "fifo", store: memory}); strings.Contains(name, "prefetch=") != tt.named {
			t.Errorf("--prefetch %q --work %s: the benchmark is called %s", tt.flag, tt.work, name)
		}
	}
}

// TestScattersFamily counts the comparisons by which a difference is corrected: one for each metric that differs between
// rounds, and one for the time per job.
func TestScattersFamily(t *testing.T) {
	for _, lost := range []int64{0, 1} {
		var c candidate
		for i := range 5 {
			r := &loaded{}
			r.done, r.took, r.lost = 100, time.Second+time.Duration(i)*time.Millisecond, lost*int64(i)
			c.rounds = append(c.rounds, r)
		}
		list := scatters(&c, .5)
		if len(list) != 1 || list[0].Detectable != results.Detectable(list[0].CV, 5, 2+int(lost)) {
			t.Errorf("%d metrics differ: %+v", 1+lost, list)
		}
	}
}
