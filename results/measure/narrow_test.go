package measure

import (
	"math"
	"testing"
	"time"

	"qsim/engine"
)

// What is counted by the clock is counted by class and tenant too: mail has three
// executions of which one fails, sums has one, in the storm.
func TestEventsByClassAndTenant(t *testing.T) {
	s := settings()
	s.Tenants, s.Patience = []string{"", "one", "two"}, []time.Duration{seconds(5)}
	ask := func(metric, class, tenant, during, after string) Query {
		q := Query{Metric: metric, Class: class, Tenant: tenant, During: during, After: after}
		s.Objectives = append(s.Objectives, Objective{Query: q})
		return q
	}
	want := map[Query]float64{
		ask("goodput", "mail", "", "", ""): 2.0 / 90, ask("goodput", "sums", "", "", ""): 1.0 / 90, ask("goodput", "sums", "", "down", ""): 0.1,
		ask("goodput", "mail", "", "down", ""): 0, ask("throughput", "mail", "", "", ""): 3.0 / 90, ask("throughput", "mail", "", "", "down"): 1.0 / 60,
		ask("claims", "mail", "", "", ""): 3, ask("claims", "sums", "", "", ""): 1, ask("claims", "", "one", "", ""): 0,
		ask("retry.share", "mail", "", "", ""): 1.0 / 3, ask("retry.share", "sums", "", "", ""): 0, ask("retry.share", "", "two", "", ""): math.NaN(),
		ask("stale.commits", "mail", "", "", ""): 2, ask("stale.commits", "sums", "", "", ""): 1, ask("stale.commits", "mail", "", "down", ""): 1,
		ask("stale.commits", "", "one", "", ""): 1, ask("stale.commits", "mail", "two", "", ""): 0,
		ask("answered.rate", "mail", "", "", ""): 1.0 / 90, ask("answered.rate", "sums", "", "", ""): math.NaN(),
		ask("utilization", "mail", "", "", ""): 3.0 / 180, ask("utilization", "", "two", "", ""): 0, // of the time of all workers
		ask("store.rows", "mail", "", "", ""): math.NaN(),
	}
	tp := newTape(s, 0)
	tp.enqueue(5, 9, 0)
	tp.run(5, 9, 5, 1) // before the warm-up is over
	tp.enqueue(20, 1, 0)
	tp.run(20, 1, 20, 1)
	tp.enqueue(30, 2, 0)
	token := tp.lease(30, 2, 30)
	tp.start(30, 2, token)
	tp.finish(31, 2, token, 1, engine.FirstErrorKind)
	tp.outcome(31, engine.Nacked, 2, token, 1)
	tp.enqueue(42, 3, 1)
	tp.run(42, 3, 42, 1)
	fenced := func(s float64, kind engine.Kind, tenant engine.TenantID) {
		tp.play(engine.Event{At: at(s), Kind: engine.Fenced, JobKind: kind, Tenant: tenant})
	}
	fenced(45, 0, 1)
	fenced(46, 1, 0)
	tp.promote(59, 2, engine.Retry)
	tp.run(60, 2, 59, 1)
	fenced(104, 0, 0) // after arrivals have ended
	r := tp.Finish(at(110), nil)
	for q, v := range want {
		checkQuery(t, r, q, v)
	}
	check(t, r, map[string]float64{"goodput": 3.0 / 90, "throughput": 4.0 / 90, "claims": 4, "stale.commits": 3})
	if v := r.Find(Query{Metric: "store.rows", Class: "mail"}); v.Reason != "it cannot be narrowed so" {
		t.Errorf("reason %q", v.Reason)
	}
}
