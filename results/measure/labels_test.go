package measure

import (
	"testing"
	"time"
)

// Every metric has a name for people, and no two that are not the same quantity share one.
func TestLabels(t *testing.T) {
	same := map[string]bool{"retries_total": true, "retry_exhausted_total": true}
	seen := map[string]string{}
	for _, m := range Metrics() {
		if m.Label == "" {
			t.Errorf("%s has no label", m.Name)
		}
		if other := seen[m.Label]; other != "" && !same[m.Name] {
			t.Errorf("%s and %s are both called %q", m.Name, other, m.Label)
		}
		seen[m.Label] = m.Name
	}
}

func TestLabelOfQuery(t *testing.T) {
	for _, tt := range []struct {
		query Query
		want  string
	}{
		{Query{Metric: "fresh.wait.p99"}, "p99 wait of fresh jobs"},
		{Query{Metric: "fresh.wait.p999.km", Class: "mail", During: "down"}, "mail: p99.9 wait of fresh jobs (Kaplan–Meier) in down"},
		{Query{Metric: "recovery.time", After: "down"}, "back to normal after down"},
		{Query{Metric: "fresh.within", Limit: 2 * time.Second, Tenant: "acme"}, "acme: fresh jobs claimed in time (2s)"},
		{Query{Metric: "dead.count", Class: "mail", Tenant: "acme"}, "mail, acme: dead jobs"},
		{Query{Metric: "fresh.wait.p99", Tenant: WorstTenant}, "worst tenant: p99 wait of fresh jobs"},
		{Query{Metric: "store.calls.claim"}, "claim calls"},
		{Query{Metric: "no.such"}, "no.such"},
		{Query{Metric: "nothing"}, "nothing"},
		{Query{Metric: "fresh.wait.p42"}, "fresh.wait.p42"},
		{Query{Metric: "wait.p99.km"}, "wait.p99.km"},
	} {
		if got := tt.query.Label(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.query, got, tt.want)
		}
	}
}
