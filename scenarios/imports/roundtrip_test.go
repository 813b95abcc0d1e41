package imports

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qsim/engine/keyed"
)

const known = `
name: known
duration: 20m
drain: 20m
seeds: 1
engine: {workers: %d}
retry: {max-attempts: 5, backoff: {kind: exponential, first: 2s, factor: 2, max: 8s}, jitter: %s}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 7/s}
    service: {dist: lognormal, mean: 400ms, cv: 0.8}
    fails: {rate: 30%%, errors: {timeout: 75%%, smtp: 25%%}}
  - class: reports
    arrivals: {process: poisson, rate: 30/m}
    service: {dist: gamma, mean: 4s, cv: 0.5}
    fails: {rate: 4%%, errors: {disk-full: 100%%}}
policies: [{kind: fifo}]
`

// A known scenario is simulated, its jobs are exported and imported again. The seed is fixed,
// so a run never differs; with fresh seeds the tolerances, five standard errors or more, would fail
// once in a million runs.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		jitter, want string
		withDue      bool
		workers      int
	}{
		{"none", "none", true, 7}, {"full", "full", true, 7}, {"equal", "equal", true, 7}, {"±20%", "±20%", true, 7},
		// Without due times waits blur the pauses, so there are few.
		{"none", "none", false, 20}, {"full", "full", false, 20},
	} {
		if raced && (tt.jitter != "full" || !tt.withDue) {
			continue // one is as good as all of them
		}
		t.Run(fmt.Sprintf("%s due=%v", tt.jitter, tt.withDue), func(t *testing.T) {
			t.Parallel()
			x := exportOf(t, fmt.Sprintf(known, tt.workers, tt.jitter))
			found := read(t, "csv", x.csv(tt.withDue))
			if found.Jobs < 8_000 || found.Rows != int64(len(x.rows)) || len(found.Repairs) > 0 {
				t.Errorf("got %d jobs of %d rows with repairs %v", found.Jobs, found.Rows, found.Repairs)
			}
			checkFound(t, found, tt.workers)
			keys := strings.Join(found.Retry.Keys, ", ")
			for _, want := range []string{"max-attempts: 5", "kind: exponential", "first: 2s", "factor: 2", "max: 8s", "jitter: " + tt.want} {
				if !strings.Contains(keys, want) {
					t.Errorf("retry is %s, want %s in it; pauses %+v", keys, want, found.Retry.Pauses)
				}
			}
			compareWaits(t, found)
		})
	}
}

func checkFound(t *testing.T, found *Recording, workers int) {
	t.Helper()
	if len(found.Classes) != 2 || found.Classes[0].Name != "mail" || found.Classes[1].Name != "reports" {
		t.Fatalf("got classes %+v", found.Classes)
	}
	mail, reports := &found.Classes[0], &found.Classes[1]
	near := func(what string, got, want, tolerance float64) {
		t.Helper()
		if math.Abs(got-want) > tolerance {
			t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
		}
	}
	if f := mail.Service.Fits[mail.Service.Chosen]; f.Kind != "lognormal" {
		t.Errorf("mail runs as %s", f.Kind)
	}
	near("mean of mail", parameter(t, &mail.Service, "mean"), 0.4, 0.02)
	near("cv of mail", parameter(t, &mail.Service, "cv"), 0.8, 0.05)
	near("mean of reports", parameter(t, &reports.Service, "mean"), 4, 0.3)
	near("failures of mail", mail.Rate, 0.3, 0.022)
	near("failures of reports", reports.Rate, 0.04, 0.04)
	near("poison", mail.Poison+reports.Poison, 0, 0)
	if len(mail.Kinds) != 2 || mail.Kinds[0].Name != "timeout" || mail.Kinds[1].Name != "smtp" {
		t.Errorf("mail fails as %v", mail.Kinds)
	} else {
		near("share of timeouts", float64(mail.Kinds[0].Count)/float64(mail.Failed), 0.75, 0.06)
	}
	if workers == 7 && found.Workers.Most != 7 || found.Workers.Nodes != 1 {
		t.Errorf("got workers %+v, want 7", found.Workers)
	}
}

// compareWaits checks that the simulation of an imported scenario, with the recorded arrivals but other run times and
// failures, has nearly the recorded waits. A queue's waits depend on each other, so that the bound on their distance is
// wide; other bounds are relative.
func compareWaits(t *testing.T, found *Recording) {
	t.Helper()
	written, err := found.Write(Target{Scenario: filepath.Join(t.TempDir(), "again.yaml"), Seeds: 3})
	if err != nil {
		t.Fatal(err)
	}
	all, err := found.Compare(context.Background(), written, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 2 || all[0].What != "fresh wait" {
		t.Fatalf("got comparisons %+v", all)
	}
	numbers := 0
	for _, c := range all {
		if n := c.Number; n != nil {
			if !c.Close() {
				t.Errorf("%s is recorded as %v and simulated as %v", c.What, n.Recorded, n.Simulated)
			}
			numbers++
			continue
		}
		t.Logf("%-20s recorded %v %v simulated %v %v distance %.3f", c.What, c.Recorded.Quantile(0.5), c.Recorded.Quantile(0.99), c.Simulated.Quantile(0.5), c.Simulated.Quantile(0.99), c.Distance)
	}
	if numbers != 2 {
		t.Errorf("%d numbers are compared, want the dead share and attempts per job", numbers)
	}
	fresh := all[0]
	if p99 := fresh.Recorded.Quantile(0.99); !fresh.Close() || (fresh.Simulated.Quantile(0.99)-p99).Abs() > p99/4+Slack {
		t.Errorf("fresh waits are %+v", fresh)
	}
	at := slices.IndexFunc(all, func(c Comparison) bool { return c.What == "sojourn" })
	if at < 0 || !all[at].Close() {
		t.Errorf("sojourns are not close: %+v", all)
	}
}

// A simulation with half the workers has other waits, which Compare detects.
func TestCompareFindsWhatDiffers(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("TestRoundTrip runs the same goroutines")
	}
	x := exportOf(t, fmt.Sprintf(known, 7, "none"))
	found := read(t, "csv", x.csv(true))
	written, err := found.Write(Target{Scenario: filepath.Join(t.TempDir(), "again.yaml"), Workers: 6, Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := found.Compare(context.Background(), written, 1)
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Close() {
		t.Errorf("with fewer workers waits are as recorded: %+v", all[0])
	}
}

// The files that an import writes are the same, byte for byte, whatever the order of the rows.
func TestOrderChangesNothing(t *testing.T) {
	t.Parallel()
	length := map[bool]string{false: "4m", true: "3m"}[raced]
	text := exportOf(t, strings.Replace(fmt.Sprintf(known, 7, "full"), "20m", length, 2)).csv(true)
	describe := func(text string) string {
		found := read(t, "csv", text)
		var fits []Fit
		for i := range found.Classes {
			fits = append(fits, found.Classes[i].Service.Fits...)
		}
		folder := t.TempDir()
		if _, err := found.Write(Target{Scenario: filepath.Join(folder, "a.yaml")}); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found.Jobs, found.Length, found.Workers, found.Retry, fits) + contents(t, folder)
	}
	lines := strings.SplitAfter(text, "\n")
	rows := lines[1 : len(lines)-1]
	whole := describe(text)
	for seed := range uint64(2) {
		rand := keyed.Rand{Seed: seed}
		for i := range rows {
			k := int(rand.Uniform(keyed.ForRunTime, uint64(i), 0, 0) * float64(len(rows)))
			rows[i], rows[k] = rows[k], rows[i]
		}
		if got := describe(strings.Join(lines, "")); got != whole {
			t.Errorf("with rows in another order the result differs")
		}
	}
}
