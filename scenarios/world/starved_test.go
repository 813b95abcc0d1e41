package world

import (
	"context"
	"strings"
	"testing"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/report"
	"qsim/scenarios"
)

// summaryOf returns the summary of a built-in scenario under a number of seeds, with additional metrics.
func summaryOf(t *testing.T, name string, seeds int, more ...measure.Query) *results.Summary {
	t.Helper()
	sc, _ := opened(t, name)
	sc.Seeds = scenarios.Count(seeds)
	if err := sc.Measure(more); err != nil {
		t.Fatal(err)
	}
	runs, err := Run(context.Background(), sc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings(sc)
	sum, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// starvationTitle returns the title of the starvation chart.
func starvationTitle(t *testing.T, sum *results.Summary) string {
	t.Helper()
	figures, err := report.Charts(sum, "v0")
	if err != nil {
		t.Fatal(err)
	}
	for i := range figures {
		if figures[i].Name == "6-starvation" {
			return figures[i].Title
		}
	}
	t.Fatal("there is no chart of starvation")
	return ""
}

// While payments are down fresh jobs starve under FIFO for nearly all of the storm, and not at all under its cures.
func TestRetryStormStarves(t *testing.T) {
	t.Parallel()
	storm := measure.Query{Metric: "starved.share", During: "payments-down"}
	sum := summaryOf(t, "retry-storm", 2, storm)
	for i := range sum.Policies {
		p := &sum.Policies[i]
		switch share := p.Find(storm).Mean; {
		case p.Kind == "fifo" && share < .9:
			t.Errorf("%s: fresh jobs starve for %v of the storm, want nearly all", p.Label, share)
		case p.Kind != "fifo" && share != 0:
			t.Errorf("%s: fresh jobs starve for %v of the storm", p.Label, share)
		}
	}
	if title := starvationTitle(t, sum); !strings.HasPrefix(title, "Fresh jobs starve for 9m") || !strings.Contains(title, "with Shared FIFO, never with ") {
		t.Errorf("the report says: %s", title)
	}
}

// Two hundred quiet customers starve behind a noisy one under FIFO; serving quiet tenants first prevents that, as
// table and report show.
func TestNoisyCustomerStarvesTheQuiet(t *testing.T) {
	t.Parallel()
	sum := summaryOf(t, "noisy-customer", 2)
	table := results.TableOf(sum)
	column := table.Find(measure.Query{Metric: "starved.share", Class: "quiet", Tenant: measure.WorstTenant})
	if column == nil || column.Part != results.Gets {
		t.Fatalf("the table has no column of what the worst quiet customer bears: %+v", table.Columns)
	}
	for i := range sum.Policies {
		p := &sum.Policies[i]
		starved, waits := p.Find(column.Query).Mean, p.Find(measure.Query{Metric: "fresh.wait.p99", Class: "quiet", Tenant: measure.WorstTenant, During: "flood"}).Mean
		if fifo := p.Kind == "fifo"; fifo != (starved > .5) || fifo != (waits > 120) || !fifo && (starved > .01 || waits > 5) {
			t.Errorf("%s: the worst quiet customer starves for %v of the time and waits for %v s", p.Label, starved, waits)
		}
	}
	if title := starvationTitle(t, sum); !strings.HasPrefix(title, "Fresh jobs of quiet starve for 1") || !strings.Contains(title, "with FIFO, never with ") {
		t.Errorf("the report says: %s", title)
	}
}
