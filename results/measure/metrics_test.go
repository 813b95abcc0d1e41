package measure

import (
	"strings"
	"testing"
	"time"
)

func TestMetricsAreDescribed(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range Metrics() {
		if m.Name == "" || m.Doc == "" || strings.HasSuffix(m.Doc, ".") || m.Unit == "" || seen[m.Name] {
			t.Errorf("%+v: a name, a unit or a sentence is missing, or the name is taken", m)
		}
		if m.LessIsBetter && m.MoreIsBetter || m.Share && m.Unit != "1" {
			t.Errorf("%+v contradicts itself", m)
		}
		seen[m.Name] = true
		if got, ok := Lookup(m.Name); !ok || got != m {
			t.Errorf("Lookup(%s) = %+v, %v", m.Name, got, ok)
		}
	}
	for _, name := range strings.Fields(`fresh.wait.mean fresh.wait.p50 fresh.wait.p90 fresh.wait.p99 fresh.wait.p999 fresh.wait.max retry.wait.p99
		attempt.wait.p99 start.wait.p99 sojourn.p99 fresh.within starved.jobs starved.share starved.longest starved.crowding starved.claims claim.gap.longest claim.gap.share fresh.deficit attempts.mean amplification
		retries.total retries.succeeded retries.success-rate dead.count dead.share retry.delay.mean goodput throughput duplicates.count duplicates.per10k
		duplicates.executions effects.double wasted stale.commits leases.expired leases.false backlog.fresh.max backlog.fresh.mean backlog.retry.max
		backlog.retry.mean waiting.max backlog.area utilization idle.ready drain.time recovery.time store.calls.claim store.calls.commit store.rows claims
		events jobs unfinished.count unfinished.share attempts.max retry.delay.p99 retry.share deaths.count fresh.wait.p99.km
		retries_total retry_exhausted_total retry_latency_seconds jain slowdown answered.share answered.rate`) {
		if !seen[name] {
			t.Errorf("there is no metric %s", name)
		}
	}
	for _, name := range []string{"gini", "", "fresh.wait"} {
		if _, ok := Lookup(name); ok {
			t.Errorf("metric %q is offered", name)
		}
	}
}

func TestQueries(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{
		{Query: Query{Metric: "wasted"}},                         // a metric of the whole run
		{Query: Query{Metric: "fresh.wait.p99", During: "down"}}, // there for the storm
		{Query: Query{Metric: "sojourn.p99", Class: "mail", Tenant: "three"}}, {Query: Query{Metric: "sojourn.p99", Class: "mail", Tenant: "three"}},
		{Query: Query{Metric: "fresh.within", Limit: 2 * time.Second}}, {Query: Query{Metric: "sojourn.p50.km"}}, {Query: Query{Metric: "jain"}}, {Query: Query{Metric: "slowdown"}},
	}
	var got []string
	for _, q := range Queries(s) {
		got = append(got, q.String())
	}
	want := "fresh.wait.p99 during down; recovery.time after down; sojourn.p99 class mail tenant three; fresh.within limit 2s; sojourn.p50.km; slowdown"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("queries = %s\nwant      %s", s, want)
	}
}

// Metrics that cannot be narrowed to a class give a reason, and the alternatives it names can.
func TestMetricsSayWhyTheyCannotBeNarrowed(t *testing.T) {
	for _, m := range Metrics() {
		why := m.NotNarrower
		if m.Filters.Has(ByClass|ByTenant) != (why == "") {
			t.Errorf("%s: %q", m.Name, why)
		}
		if _, instead, ok := strings.Cut(why, ": "); ok {
			for _, name := range strings.Split(strings.TrimSuffix(instead, " after the storm"), ", ") {
				if info, known := Lookup(name); !known || !info.Filters.Has(ByClass|ByTenant) {
					t.Errorf("%s: %s is none that takes a class", m.Name, name)
				}
			}
		}
	}
}

// A metric that operators know by another name is better or worse at the same values under both.
func TestNamesOfOperatorsKeepTheDirection(t *testing.T) {
	for theirs, ours := range map[string]string{"retries_total": "retries.total", "retry_exhausted_total": "deaths.limit",
		"retry_latency_seconds": "retry.delay.mean"} {
		a, known := Lookup(theirs)
		b, too := Lookup(ours)
		if !known || !too || a.LessIsBetter != b.LessIsBetter || a.MoreIsBetter != b.MoreIsBetter {
			t.Errorf("%s: %+v, but %s: %+v", theirs, a, ours, b)
		}
	}
}
