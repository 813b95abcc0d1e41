package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// callersOf returns settings in which callers of mail give up after 4 s and copies are
// numbered by the two low bits of a job's ID.
func callersOf() *Settings {
	s := settings()
	s.Patience, s.CopyBits = []time.Duration{4 * time.Second}, 2
	return s
}

// Three callers with patience and one without: the first is answered by its first copy,
// the second by its third, the third by none. The second came before the warm-up was over,
// so that it is left out.
func TestCallers(t *testing.T) {
	s := callersOf()
	s.Objectives = []Objective{{Query: Query{Metric: "answered.share", Class: "mail"}}, {Query: Query{Metric: "answered.share", Class: "sums"}},
		{Query: Query{Metric: "answered.share", During: "down"}}, {Query: Query{Metric: "answered.rate", During: "down"}}}
	tp := newTape(s, 0)
	tp.enqueue(9, 4, 0) // caller 1, before the warm-up ends at 10
	tp.enqueue(13, 5, 0)
	tp.run(13, 4, 9, 2)
	tp.enqueue(17, 6, 0)
	tp.run(17, 6, 17, 4) // done at the last instant
	tp.run(22, 5, 13, 1)
	tp.enqueue(20, 8, 0) // caller 2
	tp.run(20, 8, 20, 1)
	tp.enqueue(36, 12, 0) // caller 3, before the storm from 40 on
	tp.enqueue(40, 13, 0)
	tp.run(41, 12, 36, 1)
	tp.run(41, 13, 40, 4)
	tp.enqueue(42, 16, 1) // caller 4, who waits for ever
	tp.run(45, 16, 42, 6)
	r := tp.Finish(at(110), nil)
	check(t, r, map[string]float64{
		"answered.share": 0.5, "answered.rate": 2.0 / 90, "jobs": 6, "attempts.mean": 1, "amplification": 4.0 / 3,
	})
	checkQuery(t, r, Query{Metric: "answered.share", Class: "mail"}, 0.5)
	checkQuery(t, r, Query{Metric: "answered.share", Class: "sums"}, math.NaN())
	checkQuery(t, r, Query{Metric: "answered.share", During: "down"}, math.NaN())
	checkQuery(t, r, Query{Metric: "answered.rate", During: "down"}, 0)
}

// Callers who wait for ever are not answered in time, even if at once.
func TestAnsweredOfThosePatient(t *testing.T) {
	tp := newTape(callersOf(), 0)
	tp.enqueue(20, 4, 1)
	tp.run(20, 4, 20, 0)
	tp.enqueue(30, 8, 0)
	tp.run(30, 8, 30, 0)
	check(t, tp.Finish(at(100), nil), map[string]float64{"answered.rate": 1.0 / 90, "answered.share": 1})
}

// A caller enqueues three copies, all of which are done, one after the other: two too many. What becomes of other jobs
// meanwhile is not remembered.
func TestThreeCopies(t *testing.T) {
	tp := newTape(callersOf(), 0)
	for i := range 3 {
		tp.enqueue(20+4*float64(i), 4+engine.JobID(i), 0)
	}
	tp.enqueue(29, 8, 0)
	for i := range 3 {
		tp.run(30+float64(i), 4+engine.JobID(i), 20+4*float64(i), 0.5)
	}
	tp.enqueue(40, 12, 0)
	tp.enqueue(44, 13, 0)
	tp.run(45, 8, 29, 0.5)
	tp.run(46, 12, 40, 0.5)
	tp.run(47, 13, 44, 0.5)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.resubmits": 3, "duplicates.count": 0})
	if len(tp.resubmitted) != 0 {
		t.Errorf("callers are remembered: %v", tp.resubmitted)
	}
}

// A redrive of a job whose death was never recorded does not change the number of dead jobs.
func TestRedrivenFromBefore(t *testing.T) {
	s := settings()
	s.Redrives, s.Warmup = true, 0
	tp := newTape(s, 0)
	tp.enqueue(20, 1, 0)
	tp.outcome(21, engine.Buried, 1, tp.lease(21, 1, 20), 0)
	tp.play(engine.Event{At: at(30), Kind: engine.Redriven, Job: 7, Class: engine.Retry})
	check(t, tp.Finish(at(100), nil), map[string]float64{"dead.count": 1})
}

// A caller who still waits when the run ends counts as undecided.
func TestCallersAtTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name  string
		age   float64
		bound string
	}{{"waits", 3.9, ">="}, {"has given up", 4, ""}} {
		t.Run(tt.name, func(t *testing.T) {
			tp := newTape(callersOf(), 0)
			tp.enqueue(20, 8, 0)
			tp.run(20, 8, 20, 1)
			tp.enqueue(99-tt.age, 12, 0)
			r := tp.Finish(at(99), left(unfinished.Job{ID: 12, State: engine.Ready, Age: seconds(tt.age), Waited: seconds(tt.age)}))
			if v := r.Find(Query{Metric: "answered.share"}); v.Value != 0.5 || v.Bound != tt.bound {
				t.Errorf("answered.share = %s%v, want %s0.5", v.Bound, v.Value, tt.bound)
			}
		})
	}
}

// Redriven jobs are not dead at the end, but have died.
func TestRedriven(t *testing.T) {
	s := settings()
	s.Redrives = true
	tp := newTape(s, 0)
	for id := engine.JobID(1); id <= 3; id++ {
		tp.enqueue(20, id, 0)
		token := tp.lease(20, id, 20)
		tp.start(20, id, token)
		tp.finish(21, id, token, 1, engine.FirstErrorKind)
		tp.outcome(21, engine.Buried, id, token, 0)
	}
	for id := engine.JobID(1); id <= 2; id++ {
		tp.play(engine.Event{At: at(30), Kind: engine.Redriven, Class: engine.Retry, Job: id})
	}
	tp.run(31, 1, 30, 1)
	token := tp.lease(32, 2, 30)
	tp.start(32, 2, token)
	tp.finish(33, 2, token, 1, engine.FirstErrorKind)
	tp.outcome(33, engine.Buried, 2, token, 0)
	check(t, tp.Finish(at(110), nil), map[string]float64{"deaths.count": 4, "dead.count": 2, "dead.share": 2.0 / 3, "unfinished.count": 0,
		"retries.succeeded": 1, "backlog.retry.max": 2})
}

func TestFairShares(t *testing.T) {
	for _, tt := range []struct {
		total   int64
		demands []int64
		want    []float64
	}{
		{9, []int64{100, 100, 100}, []float64{3, 3, 3}},
		{10, []int64{2, 8, 3}, []float64{2, 5, 3}},
		{13, []int64{2, 8, 3}, []float64{2, 8, 3}},
		{7, []int64{1, 100, 1}, []float64{1, 5, 1}},
	} {
		if got := fairShares(tt.total, tt.demands); !slices.Equal(got, tt.want) {
			t.Errorf("%d among %v: %v, want %v", tt.total, tt.demands, got, tt.want)
		}
	}
}

// Tenant 1 gets 8 executions of the 10 it demands, tenant 2 gets 2 of 10; tenant 3 has its only
// one, tenant 4 no demand. The max-min fair shares are 5, 5 and 1. Executions before the end of the
// warm-up do not count.
func TestJain(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{{Query: Query{Metric: "jain", During: "down"}}, {Query: Query{Metric: "jain", After: "down"}}}
	tp := newTape(s, 0)
	execute := func(tenant engine.TenantID, id engine.JobID, ends float64) {
		tp.play(engine.Event{At: at(ends), Kind: engine.Finished, Job: id, Tenant: tenant, Ran: seconds(1)})
		tp.play(engine.Event{At: at(ends), Kind: engine.Acked, Job: id, Tenant: tenant, From: engine.InFlight, Age: seconds(1)})
	}
	add := func(tenant engine.TenantID, s float64, delay time.Duration) {
		tp.play(engine.Event{At: at(s), Kind: engine.Enqueued, Job: 1, Tenant: tenant, Delay: delay})
	}
	for range 7 {
		add(2, 1, 0)
		execute(2, 1, 2)
	}
	for range 10 {
		add(1, 15, 0)
		add(2, 15, 0)
	}
	add(3, 15, 0)
	add(4, 15, time.Hour) // is not ready
	for i := range 8 {
		execute(1, 1, 20+float64(i))
	}
	execute(2, 1, 30)
	execute(2, 1, 31)
	execute(3, 1, 32)
	r := tp.Finish(at(100), left())
	x := []float64{8.0 / 5, 2.0 / 5, 1}
	want := (x[0] + x[1] + x[2]) * (x[0] + x[1] + x[2]) / (3 * (x[0]*x[0] + x[1]*x[1] + x[2]*x[2]))
	checkQuery(t, r, Query{Metric: "jain"}, want)
	checkQuery(t, r, Query{Metric: "jain", During: "down"}, math.NaN())
	checkQuery(t, r, Query{Metric: "jain", After: "down"}, math.NaN())
}

// Of two tenants with equal demand, one has all executions.
func TestJainOfTwo(t *testing.T) {
	for _, tt := range []struct {
		tenants int
		want    float64
	}{{1, math.NaN()}, {2, 0.5}} {
		s := settings()
		s.Tenants = []string{"", "one", "two"}
		tp := newTape(s, 0)
		for tenant := range tt.tenants {
			tp.play(engine.Event{At: at(15), Kind: engine.Enqueued, Job: 1, Tenant: engine.TenantID(tenant + 1)})
			tp.play(engine.Event{At: at(15), Kind: engine.Enqueued, Job: 2, Tenant: engine.TenantID(tenant + 1)})
		}
		for range 2 {
			tp.play(engine.Event{At: at(20), Kind: engine.Finished, Job: 1, Tenant: 1, Ran: seconds(1)})
			tp.play(engine.Event{At: at(20), Kind: engine.Acked, Job: 1, Tenant: 1, From: engine.InFlight, Age: seconds(1)})
		}
		r := tp.Finish(at(100), left())
		if checkQuery(t, r, Query{Metric: "jain"}, tt.want); len(r.Tenants) != 2 || r.Tenants[0].Executions != 2 {
			t.Errorf("tenants %+v", r.Tenants)
		}
	}
}

// The slowdown is 1 where waits are as long as without storms, and 2 where they are twice as long.
func TestSlowdown(t *testing.T) {
	s := settings()
	whole, during := Query{Metric: "slowdown"}, Query{Metric: "slowdown", During: "down"}
	s.Objectives = []Objective{{Query: whole}, {Query: during}}
	run := func(wait float64) Run {
		tp := newTape(s, 0)
		tp.enqueue(20, 1, 0)
		tp.run(21, 1, 20, 1)
		tp.enqueue(42, 2, 0)
		tp.run(42+wait, 2, 42, 1)
		return tp.Finish(at(110), nil)
	}
	stormy, calm := run(3), run(1)
	checkQuery(t, stormy, whole, math.NaN())
	stormy.CompareWithCalm(&calm)
	checkQuery(t, stormy, whole, 2)
	checkQuery(t, stormy, during, 3)

	stormy, calm = run(3), run(0)
	stormy.CompareWithCalm(&calm)
	checkQuery(t, stormy, whole, 4)
	checkQuery(t, stormy, during, math.NaN())
	if want := "without the storms no fresh job waits"; stormy.Find(during).Reason != want {
		t.Errorf("slowdown is null for %q, want %q", stormy.Find(during).Reason, want)
	}

	unclaimed := func(t *tape) Run {
		t.enqueue(20, 1, 0)
		t.run(21, 1, 20, 1)
		t.enqueue(100, 2, 0)
		return t.Finish(at(110), left(unfinished.Job{ID: 2, State: engine.Ready, Age: seconds(20), Waited: seconds(20)}))
	}
	if v := stormy.Find(whole); v.Bound != "" {
		t.Errorf("slowdown of jobs that were all claimed: %+v, want no bound", v)
	}
	stormy, calm = run(3), newTape(s, 0).Finish(at(110), nil)
	empty := newTape(s, 0).Finish(at(110), nil)
	empty.CompareWithCalm(&stormy)
	stormy.CompareWithCalm(&calm)
	for reason, r := range map[string]Run{"no fresh job was ready": empty, "no fresh job was ready without the storms": stormy} {
		if v := r.Find(whole); !v.Null || v.Reason != reason {
			t.Errorf("got %+v, want none, as %s", v, reason)
		}
	}

	bound := unclaimed(newTape(s, 0))
	calm = run(1)
	bound.CompareWithCalm(&calm)
	if v := bound.Find(whole); v.Null || v.Bound != ">=" {
		t.Errorf("slowdown of a run with an unclaimed job = %+v, want a bound", v)
	}
	bound = unclaimed(newTape(s, 0))
	stormy = run(3)
	stormy.CompareWithCalm(&bound)
	checkQuery(t, stormy, whole, math.NaN())
	if want := "without the storms, too, jobs were unclaimed at the end"; stormy.Find(whole).Reason != want {
		t.Errorf("slowdown is null for %q, want %q", stormy.Find(whole).Reason, want)
	}
}
