package measure

import (
	"fmt"
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// methods records an event by the method that engine.JobRecorder has for its kind, or else by Record.
func methods(c engine.JobRecorder, e *engine.Event) {
	lease := leaseOf(e)
	switch e.Kind {
	case engine.Called:
		c.Called(e.At, e.Node, e.Op, e.Count)
	case engine.Enqueued:
		c.Enqueued(e.At, &engine.NewJob{ID: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Delay: e.Delay})
	case engine.Promoted:
		c.Promoted(e.At, e.Node, &engine.Promotion{Job: e.Job, Kind: e.JobKind, Tenant: e.Tenant, Class: e.Class})
	case engine.Leased:
		c.Leased(e.At, e.Node, lease)
	case engine.Started:
		c.Started(e.At, e.Node, e.Slot, lease, e.Waited)
	case engine.Finished:
		c.Finished(e.At, e.Node, e.Slot, lease, e.Error, e.Ran)
	case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
		o := engine.Outcome{Error: e.Error, Kind: e.JobKind, Tenant: e.Tenant, Delivery: e.Delivery, Delay: e.Delay, Reaped: e.Reaped}
		o.Job, o.Token = e.Job, e.Token
		c.Committed(e.At, e.Node, e.Kind, &o, &engine.Result{From: e.From, Class: e.Class, Age: e.Age})
	default:
		c.Record(e)
	}
}

// TestMethodsAreRecord tests that each method of a JobRecorder counts the same as an event of its kind.
func TestMethodsAreRecord(t *testing.T) {
	for seed := range uint64(12) {
		d := newDrawn(seed)
		d.play()
		one, other := NewCollector(d.settings, 0), NewCollector(d.settings, 0)
		for i := range d.heard {
			e := d.heard[i]
			switch e.Kind {
			case engine.Leased: // a lease says its class by its number
				e.Class = leaseOf(&e).Class()
			case engine.Acked, engine.Nacked, engine.Buried, engine.Returned:
				e.Waited = 0 // which an outcome does not say
			}
			one.Record(&e)
			methods(other, &e)
		}
		if a, b := fmt.Sprintf("%+v", one.Finish(d.now, nil)), fmt.Sprintf("%+v", other.Finish(d.now, nil)); a != b {
			t.Errorf("story %d is measured otherwise by methods", seed)
		}
	}
}

// TestAskedAlone tests that a query has the same value alone as among others, though less is measured for it. Sums that
// are split at other times may differ in rounding.
func TestAskedAlone(t *testing.T) {
	for seed := range uint64(12) {
		d := newDrawn(seed)
		d.play()
		measured := func(asked ...Query) Run {
			s := *d.settings
			s.Asked = asked
			c := NewCollector(&s, 0)
			for _, e := range d.heard {
				c.Record(&e)
			}
			return c.Finish(d.now, nil)
		}
		asked := d.settings.Asked
		for _, name := range []string{backlogArea, drainTime, recoveryTime} {
			asked = append(asked, Query{Metric: name, Class: d.settings.Classes[0]})
		}
		all := measured(asked...)
		for _, q := range asked {
			alone := measured(q)
			want, got := all.Find(q), alone.Find(q)
			if got.Null != want.Null || got.Bound != want.Bound || math.Abs(got.Value-want.Value) > 1e-9*math.Abs(want.Value) {
				t.Errorf("story %d: %s = %+v alone, %+v among others", seed, q, got, want)
			}
		}
	}
}

// TestEndBeforeArrivals ends a run before the end of arrivals. If no job is left, windows of time go on to the end of
// arrivals; if a job is left they all end.
func TestEndBeforeArrivals(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		s := settings()
		s.StarvedAfter = []time.Duration{5 * time.Second}
		after := Query{Metric: "throughput", After: "down"}
		ofClass := Query{Metric: "throughput", After: "down", Class: "mail"}
		s.Asked = []Query{after, ofClass}
		tp := newTape(s, 0)
		tp.enqueue(20, 1, 0)
		tp.run(40, 1, 20, 1) // starves from 25 to 40
		tp.enqueue(60, 2, 0)
		tp.run(60, 2, 60, 1)
		want, later, unresolved := 90.0, 50.0, left()
		if leaves {
			want, later, unresolved = 60, 20, left(unfinished.Job{ID: 3, State: engine.Waiting, Class: engine.Retry, Age: time.Second})
		}
		r := tp.Finish(at(70), unresolved)
		check(t, r, map[string]float64{"throughput": 2 / want, "starved.share": 15 / want, "utilization": 2 / (2 * want)})
		checkQuery(t, r, after, 1/later)
		checkQuery(t, r, ofClass, 1/later)
	}
}

// TestGapEndsWithBurial ends a claim gap when the last ready fresh job is buried.
func TestGapEndsWithBurial(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	tp.play(engine.Event{At: at(25), Kind: engine.Buried, Job: 1, From: engine.Ready, Class: engine.Fresh, Waited: 5 * time.Second, Age: 5 * time.Second})
	tp.enqueue(60, 2, 0)
	tp.run(61, 2, 60, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"claim.gap.longest": 5})
}

// TestCannotBeNarrowed queries every metric with every filter: a filter that the metric does not allow gives no
// value, with a reason; any other gives no such reason.
func TestCannotBeNarrowed(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "one", "two"}
	for i := range allMetrics {
		name := allMetrics[i].Name
		s.Asked = append(s.Asked, Query{Metric: name, During: "down"}, Query{Metric: name, After: "down"},
			Query{Metric: name, Class: "mail"}, Query{Metric: name, Tenant: "one"})
	}
	s.Asked = append(s.Asked, Query{Metric: slowdown, Class: "letters"}, Query{Metric: "nonsense"}, Query{Metric: recoveryTime, Tenant: WorstTenant})
	r := NewCollector(s, 0).Finish(at(100), nil)
	for _, q := range s.Asked {
		v, reason := r.Find(q), "it cannot be narrowed so"
		m := lookup(q.Metric)
		switch {
		case m == nil:
			reason = "there is no metric of that name"
		case q.Class == "letters":
			reason = "there is no class named letters"
		case m.Filters.Has(filterNamed(q)):
			if v.Reason == reason {
				t.Errorf("%s: %s", q, v.Reason)
			}
			continue
		}
		if !v.Null || v.Reason != reason {
			t.Errorf("%s: %+v, want none, as %s", q, v, reason)
		}
	}
}

// filterNamed returns the filter of a query that has exactly one.
func filterNamed(q Query) Filters {
	switch {
	case q.During != "":
		return ByDuring
	case q.After != "":
		return ByAfter
	case q.Class != "":
		return ByClass
	}
	return ByTenant
}

// TestWorstOfThoseThatHaveOne leaves out a tenant without a value, in either direction of worse.
func TestWorstOfThoseThatHaveOne(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "one", "two", "three"}
	q := Query{Metric: "fresh.within", Limit: 5 * time.Second, Tenant: WorstTenant}
	s.Asked = []Query{q}
	tp := newTape(s, 0)
	for i, waited := range []float64{1, 2, 8} {
		id := engine.JobID(i + 1)
		tp.play(engine.Event{At: at(20 + float64(i)), Kind: engine.Enqueued, Job: id, Tenant: 1})
		tp.play(engine.Event{At: at(20 + float64(i) + waited), Kind: engine.Leased, Job: id, Tenant: 1, Delivery: 1, Token: 1, Waited: seconds(waited), Age: seconds(waited)})
	}
	tp.play(engine.Event{At: at(31), Kind: engine.Enqueued, Job: 9, Tenant: 2, Delay: time.Hour})
	r := tp.Finish(at(100), left(unfinished.Job{ID: 9, Tenant: 2, State: engine.Waiting, Age: seconds(69)}))
	checkQuery(t, r, q, 2.0/3)
	s.Tenants[3] = WorstTenant // a tenant of that name is not told of by name
	nothing := NewCollector(s, 0).Finish(at(100), nil)
	if v := nothing.Find(q); v.Reason != "no tenant has a job" {
		t.Errorf("%+v", v)
	}
}

// TestWithinLimits measures two limits of the same jobs, each by itself.
func TestWithinLimits(t *testing.T) {
	s := settings()
	want := map[Query]float64{}
	for limit, share := range map[time.Duration]float64{time.Second: 0.25, 2 * time.Second: 0.5, 9 * time.Second: 1} {
		q := Query{Metric: "fresh.within", Limit: limit}
		s.Asked, want[q] = append(s.Asked, q), share
	}
	tp := newTape(s, 0)
	for i, waited := range []float64{1, 2, 5, 9} {
		tp.enqueue(20+10*float64(i), engine.JobID(i+1), 0)
		tp.run(20+10*float64(i)+waited, engine.JobID(i+1), 20+10*float64(i), 0.1)
	}
	r := tp.Finish(at(100), nil)
	for q, share := range want {
		checkQuery(t, r, q, share)
	}
}

// TestDeathsByCause buries a job in every way, and counts the death by the conditions of its class's retry policy.
func TestDeathsByCause(t *testing.T) {
	const kind = engine.FirstErrorKind
	for _, tt := range []struct {
		name  string
		rules [][]engine.ErrorKind
		event engine.Event
		want  string
	}{
		{"where it stood", nil, engine.Event{From: engine.Ready}, "shed"},
		{"where it stood, by an execution that failed", nil, engine.Event{From: engine.Ready, Error: kind}, "limit"},
		{"by a reaper", [][]engine.ErrorKind{{kind}}, engine.Event{From: engine.InFlight, Error: kind, Reaped: true}, "reaper"},
		{"by its kind of error", [][]engine.ErrorKind{{kind}}, engine.Event{From: engine.InFlight, Error: kind}, "error"},
		{"by another kind", [][]engine.ErrorKind{{kind}}, engine.Event{From: engine.InFlight, Error: kind + 1}, "limit"},
		{"by age", nil, engine.Event{From: engine.InFlight, Error: kind, Aged: true}, "deadline"},
		{"by age, of a kind that buries no job", [][]engine.ErrorKind{{kind}}, engine.Event{From: engine.InFlight, Error: kind + 1, Aged: true}, "deadline"},
		{"by a reaper, old", nil, engine.Event{From: engine.InFlight, Error: kind, Reaped: true, Aged: true}, "reaper"},
		{"by none of these", nil, engine.Event{From: engine.InFlight, Error: kind, Delivery: 3}, "limit"},
		{"of a class without rules", [][]engine.ErrorKind{{kind}}, engine.Event{From: engine.InFlight, Error: kind, JobKind: 1}, "limit"},
	} {
		s := settings()
		s.Burials = tt.rules
		tp := newTape(s, 0)
		tp.enqueue(20, 1, tt.event.JobKind)
		e := tt.event
		e.At, e.Kind, e.Job, e.Age = at(30), engine.Buried, 1, 10*time.Second
		tp.play(e)
		r := tp.Finish(at(100), nil)
		for _, name := range []string{"limit", "error", "deadline", "reaper", "shed"} {
			if got, want := r.Find(Query{Metric: "deaths." + name}).Value, map[bool]float64{true: 1}[name == tt.want]; got != want {
				t.Errorf("%s: deaths.%s = %v, want %v", tt.name, name, got, want)
			}
		}
	}
}

// TestRetriesDoNotStarve leaves a retry ready at the end, for longer than a fresh job may wait.
func TestRetriesDoNotStarve(t *testing.T) {
	for class, want := range map[engine.Class]float64{engine.Retry: 0, engine.Fresh: 79.0 / 90} {
		tp := newTape(settings(), 0)
		tp.enqueue(20, 1, 0)
		r := tp.Finish(at(100), left(unfinished.Job{ID: 1, Class: class, State: engine.Ready, Age: 80 * time.Second, Waited: 80 * time.Second}))
		check(t, r, map[string]float64{"starved.share": want, "starved.longest": want * 90})
	}
}

// TestPooledQuantiles computes quantiles of several runs together, with unresolved jobs as longer than all, or by
// Kaplan–Meier, and reports if there is none.
func TestPooledQuantiles(t *testing.T) {
	h := NamedHistogram{Query: Query{Metric: "fresh.wait"}}
	for i := range 10 {
		h.Ended.Record(time.Duration(i+1) * time.Second)
		if i < 5 {
			h.Unresolved.Record(time.Second / 2)
		}
	}
	pooled := Pool([]*Run{{Histograms: []NamedHistogram{h}}, {Histograms: []NamedHistogram{h}}})
	for name, want := range map[string]float64{"fresh.wait.p50": 8, "fresh.wait.p50.km": 5, "fresh.wait.mean": math.NaN(), "retry.wait.p50": math.NaN(), "goodput": math.NaN(), "nonsense": math.NaN()} {
		got, bound, ok := PooledQuantile(Query{Metric: name}, pooled)
		if ok == math.IsNaN(want) || ok && math.Abs(got-want) > 0.004*want || bound {
			t.Errorf("%s: %v, %v, %v, want %v", name, got, bound, ok, want)
		}
	}
	same := NamedHistogram{h.Query, Waits{h.Unresolved, h.Unresolved}} // as many of one as of the other
	if got, bound, ok := PooledQuantile(Query{Metric: "fresh.wait.p50"}, Pool([]*Run{{Histograms: []NamedHistogram{same}}})); !ok || bound || math.Abs(got-0.5) > 0.002 {
		t.Errorf("half of them are unresolved: %v, %v, %v", got, bound, ok)
	}
	if got := PoolTenantWaits([]*Run{{tenantWaits: make([]Waits, 2)}, {tenantWaits: make([]Waits, 1)}}); got != nil {
		t.Errorf("a run has fewer tenants: %+v", got)
	}
	counted, lacking := Run{Tenants: []TenantCount{{Executions: 1}, {}}}, Run{}
	more := Run{Tenants: []TenantCount{{Executions: 1}, {}, {Executions: 5}}}
	if got := PoolTenants([]*Run{&counted, &more}); len(got) != 2 || got[0].Executions != 2 {
		t.Errorf("of a run with more tenants than the first: %v", got)
	}
	if len(pooled) != 1 || pooled[0].Ended.Count() != 20 || Pool([]*Run{{Histograms: []NamedHistogram{{Waits: Waits{Ended: h.Ended}}}}})[0].Unresolved.Count() != 0 {
		t.Errorf("two histograms of one query give %d, of %d waits", len(pooled), pooled[0].Ended.Count())
	}
	if _, ok := HistogramOf(Query{Metric: "goodput"}); ok {
		t.Error("goodput has a histogram")
	}
	if v := counted.Find(Query{Metric: "goodput"}); !v.Null || v.Reason != "it was not measured" {
		t.Errorf("what was not measured: %+v", v)
	}
	if got := PoolTenants([]*Run{&counted, &lacking}); got != nil {
		t.Errorf("of runs of which one counted nothing: %v", got)
	}
	if got := PoolTenantWaits([]*Run{{tenantWaits: make([]Waits, 2)}}); len(got) != 2 || got[0] != (TenantWait{}) {
		t.Errorf("of tenants without jobs: %+v", got)
	}
	if Rank("nonsense") != len(Metrics()) || Rank(Metrics()[3].Name) != 3 {
		t.Error("a metric's rank is not its index")
	}
}
