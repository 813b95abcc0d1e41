package measure

import (
	"math"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// story records five jobs in a tape: one before the warm-up ends, one that fails once, one that runs at once, one whose
// lease is taken while it runs, and one that dies.
func story(s *Settings) *tape {
	t := newTape(s, 0)
	t.enqueue(5, 1, 0)
	t.run(6, 1, 5, 1)
	t.enqueue(20, 2, 0)
	t.enqueue(20, 3, 0)
	t.play(engine.Event{At: at(21), Kind: engine.Called, Op: engine.OpClaim, Count: 1})
	two := t.lease(21, 2, 20)
	t.start(21, 2, two)
	t.finish(23, 2, two, 2, engine.FirstErrorKind)
	t.outcome(23, engine.Nacked, 2, two, 5)
	t.play(engine.Event{At: at(24), Kind: engine.Called, Op: engine.OpClaim, Count: 2})
	three := t.lease(24, 3, 20)
	t.start(25, 3, three)
	t.finish(27, 3, three, 2, engine.NoError)
	t.outcome(27, engine.Acked, 3, three, 0)
	t.promote(28, 2, engine.Retry)
	t.run(30, 2, 28, 1)

	t.enqueue(60, 4, 0)
	stale := t.lease(60, 4, 60)
	t.start(60, 4, stale)
	reaper := t.take(65, 4)
	t.outcome(65, engine.Nacked, 4, reaper, 0)
	t.promote(65, 4, engine.Retry)
	current := t.lease(66, 4, 65)
	t.start(66, 4, current)
	t.finish(67, 4, stale, 7, engine.NoError)
	t.play(engine.Event{At: at(67), Kind: engine.Fenced, Job: 4, Token: stale})
	t.finish(68, 4, current, 2, engine.NoError)
	t.outcome(68, engine.Acked, 4, current, 0)

	t.enqueue(70, 5, 0)
	five := t.lease(70, 5, 70)
	t.start(70, 5, five)
	t.finish(71, 5, five, 1, engine.FirstErrorKind)
	t.outcome(71, engine.Buried, 5, five, 0)
	return t
}

func TestMetricsOfAStory(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{{Query: Query{Metric: "fresh.within", Limit: 2 * time.Second}}}
	tp := story(s)
	tp.play(engine.Event{At: at(105), Kind: engine.Fenced, Job: 1})
	r := tp.Finish(at(110), nil)
	check(t, r, map[string]float64{
		"fresh.wait.mean": 1.25, "fresh.wait.p50": 0, "fresh.wait.p90": 4, "fresh.wait.p99": 4, "fresh.wait.p999": 4, "fresh.wait.max": 4,
		"retry.wait.mean": 1.5, "retry.wait.p50": 1, "retry.wait.max": 2,
		"attempt.wait.mean": 8.0 / 6, "attempt.wait.p50": 1, "attempt.wait.p99": 4,
		"start.wait.mean": 1.5, "start.wait.p50": 1, "start.wait.max": 5,
		"sojourn.mean": 26.0 / 3, "sojourn.p50": 8, "sojourn.max": 11,
		"attempts.mean": 1.5, "attempts.max": 2, "amplification": 1.5, "answered.share": math.NaN(), "answered.rate": math.NaN(), "jain": math.NaN(),
		"retries.total": 2, "retries.succeeded": 2, "retries.success-rate": 1, "retry.share": 1.0 / 3,
		"retry.delay.mean": 2.5, "retry.delay.p99": 5, "retries_total": 2, "retry_exhausted_total": 1, "retry_latency_seconds": 2.5, "retry.rate": 0.5,
		"deaths.limit": 1, "deaths.error": 0, "deaths.deadline": 0, "deaths.reaper": 0, "deaths.shed": 0,
		"dead.count": 1, "dead.share": 0.25, "deaths.count": 1, "unfinished.count": 0, "unfinished.share": 0,
		"duplicates.count": 1, "duplicates.per10k": 2500, "duplicates.executions": 1, "effects.double": 1,
		"wasted": 10.0 / 15, "stale.commits": 2, "leases.expired": 1, "leases.false": 1,
		"goodput": 3.0 / 90, "throughput": 6.0 / 90, "utilization": 15.0 / 180, "idle.ready": 11,
		"backlog.fresh.max": 2, "backlog.fresh.mean": 5.0 / 90, "backlog.retry.max": 1, "backlog.retry.mean": 3.0 / 90, "waiting.max": 1,
		"backlog.area": 1 - 7.0/30, "drain.time": 0, "recovery.time": math.NaN(),
		"claim.gap.longest": 3, "starved.claims": 0, "claim.gap.share": 0, "fresh.deficit": math.NaN(),
		"store.calls.claim": 2, "store.calls.commit": 0, "store.rows": 3, "store.fill.claim": 1.5, "store.fill.commit": math.NaN(),
		"claims": 6, "jobs": 4, "starved.jobs": 0.25, "starved.share": 3.0 / 90, "starved.longest": 3, "starved.crowding": 0,
	})
	checkQuery(t, r, Query{Metric: "fresh.within", Limit: 2 * time.Second}, 0.75)
	if r.Jobs != 5 || r.Policy != 0 || len(r.Warnings) != 0 {
		t.Errorf("run = %d jobs, policy %d, warnings %q", r.Jobs, r.Policy, r.Warnings)
	}
	if reason := r.Find(Query{Metric: "recovery.time"}).Reason; !strings.Contains(reason, "fewer than 20 windows") {
		t.Errorf("recovery.time is null for %q", reason)
	}
}

func TestSeriesOfAStory(t *testing.T) {
	r := story(settings()).Finish(at(95), nil)
	s := r.Series
	if n := len(s.FreshReady); n != 10 {
		t.Fatalf("%d elements, want 10: time goes on to the end of arrivals", n)
	}
	for _, tt := range []struct {
		name   string
		series []float64
		want   float64
	}{
		{"fresh wait p50", s.FreshWaitP50, 1}, {"fresh wait p99", s.FreshWaitP99, 4}, {"fresh ready", s.FreshReady, 0.5},
		{"retry ready", s.RetryReady, 0.2}, {"waiting", s.Waiting, 0.5}, {"utilization", s.Utilization, 0.2},
		{"throughput", s.Throughput, 0.2}, {"goodput", s.Goodput, 0.1}, {"fresh claims", s.FreshClaims, 0.2},
		{"retry claims", s.RetryClaims, 0}, {"failures", s.Failures, 0.1},
	} {
		if got := tt.series[2]; math.Abs(got-tt.want) > 0.004*tt.want {
			t.Errorf("%s of [20 s, 30 s) = %v, want %v", tt.name, got, tt.want)
		}
	}
	if !math.IsNaN(s.FreshWaitP99[1]) {
		t.Errorf("fresh wait p99 of [10 s, 20 s) = %v, but nothing was claimed", s.FreshWaitP99[1])
	}
}

// Fresh jobs stand by while retries are claimed.
func TestClaimGaps(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{{Query: Query{Metric: "starved.claims", During: "down"}}, {Query: Query{Metric: "claim.gap.longest", After: "down"}},
		{Query: Query{Metric: "claim.gap.share", After: "down"}}}
	tp := newTape(s, 1)
	for id := engine.JobID(1); id <= 6; id++ { // become retries before the warm-up ends
		tp.enqueue(1, id, 0)
		token := tp.lease(1, id, 1)
		tp.outcome(1, engine.Nacked, id, token, 0)
		tp.promote(1, id, engine.Retry)
	}
	tp.enqueue(20, 10, 0)
	tp.run(20.1, 10, 20, 0.1) // calm: mean wait 0.1 s, so the threshold is 1 s
	tp.enqueue(35, 11, 0)
	tp.enqueue(35, 12, 0)
	for id := engine.JobID(1); id <= 5; id++ {
		tp.lease(36+2*float64(id), id, 1) // at 38, 40, 42, 44, 46
	}
	tp.lease(55, 11, 35)
	tp.lease(55, 6, 1)
	tp.lease(56, 12, 35)
	r := tp.Finish(at(100), nil)
	check(t, r, map[string]float64{
		"claim.gap.longest": 20, "starved.claims": 5, "claim.gap.share": 19 / 21.1,
		"starved.jobs": 2.0 / 3, "starved.share": 20.0 / 90, "starved.longest": 20, "starved.crowding": 6.0 / 8,
		// 0.5 promised: five claims go by (2.5), the next two in turn are worth −0.5 and +0.5.
		"fresh.deficit": 2.5, "backlog.retry.max": 6,
	})
	checkQuery(t, r, Query{Metric: "starved.claims", During: "down"}, 4)
	checkQuery(t, r, Query{Metric: "claim.gap.longest", After: "down"}, 5)
	checkQuery(t, r, Query{Metric: "claim.gap.share", After: "down"}, 5.0/6)
}

// A deficit does not outlast the last ready fresh job.
func TestDeficitEndsWithTheLastFreshJob(t *testing.T) {
	tp := newTape(settings(), 1)
	claims := func(from float64, kinds string) {
		for i, kind := range kinds {
			id := engine.JobID(100*from) + engine.JobID(i)
			tp.enqueue(from, id, 0)
			if kind == 'R' {
				tp.outcome(from, engine.Nacked, id, tp.lease(from, id, from), 0)
				tp.promote(from, id, engine.Retry)
			}
		}
		tp.views[0].deficit = deficit{} // of setting the stage
		for i := range kinds {
			tp.lease(from+1, engine.JobID(100*from)+engine.JobID(i), from)
		}
	}
	claims(20, "RRF") // +0.5 +1 +0.5, and none is left
	claims(30, "RRRF")
	claims(50, "FFRRRRF") // what fresh jobs got before does not count against +0.5 +1 +1.5 +2
	check(t, tp.Finish(at(100), nil), map[string]float64{"fresh.deficit": 2})
}

// A deficit does not outlast the burial of the last ready fresh job either.
func TestDeficitEndsWithBurial(t *testing.T) {
	tp := newTape(settings(), 1)
	for i, retries := range []int{3, 1} {
		from := 20 + 20*float64(i)
		tp.play(engine.Event{At: at(from), Kind: engine.Enqueued, Job: engine.JobID(1 + i)})
		for range retries {
			tp.play(engine.Event{At: at(from), Kind: engine.Promoted, Job: 9, Class: engine.Retry})
			tp.play(engine.Event{At: at(from + 1), Kind: engine.Leased, Job: 9, Class: engine.Retry, Delivery: 2, Token: 1, Age: time.Second})
		}
		tp.play(engine.Event{At: at(from + 5), Kind: engine.Buried, Job: engine.JobID(1 + i), From: engine.Ready, Age: 5 * time.Second, Waited: 5 * time.Second})
	}
	check(t, tp.Finish(at(100), nil), map[string]float64{"fresh.deficit": 1.5})
}

// Claims before the end of the warm-up or after the end of arrivals count in no deficit.
func TestDeficitOfTheScenarioAlone(t *testing.T) {
	tp := newTape(settings(), 1) // from 10 s to 100 s, half of the claims are promised
	turn := func(from float64, retries int) {
		base := engine.JobID(1000 * from)
		for id := range engine.JobID(retries) { // become retries one after the other: as many fresh claims
			tp.enqueue(from, base+id, 0)
			tp.outcome(from, engine.Nacked, base+id, tp.lease(from, base+id, from), 0)
			tp.promote(from, base+id, engine.Retry)
		}
		tp.enqueue(from, base+999, 0)
		for id := range engine.JobID(retries) {
			tp.lease(from+1, base+id, from)
		}
		tp.lease(from+2, base+999, from)
	}
	turn(5, 9)
	turn(50, 3) // 1.5 short
	turn(120, 9)
	check(t, tp.Finish(at(200), nil), map[string]float64{"fresh.deficit": 1.5})
}

func TestUnresolvedJobs(t *testing.T) {
	s := settings()
	s.Objectives = []Objective{{Query: Query{Metric: "fresh.within", Limit: 4 * time.Second}}, {Query: Query{Metric: "sojourn.p50.km"}}}
	tp := newTape(s, 0)
	for id := engine.JobID(1); id <= 7; id++ {
		tp.enqueue(50, id, 0)
	}
	tp.run(52, 1, 50, 1)
	tp.run(54, 2, 50, 1)
	tp.lease(60, 3, 50) // never starts
	tp.outcome(70, engine.Nacked, 4, tp.lease(70, 4, 50), 100)
	r := tp.Finish(at(100), left(
		unfinished.Job{ID: 3, State: engine.InFlight, Class: engine.Retry, Age: 50 * time.Second},
		unfinished.Job{ID: 4, State: engine.Waiting, Class: engine.Retry, Age: 50 * time.Second},
		unfinished.Job{ID: 5, State: engine.Ready, Class: engine.Fresh, Age: 50 * time.Second, Waited: 50 * time.Second},
		unfinished.Job{ID: 6, State: engine.Ready, Class: engine.Fresh, Age: 50 * time.Second, Waited: 5 * time.Second},
		unfinished.Job{ID: 7, State: engine.Ready, Class: engine.Retry, Age: 50 * time.Second, Waited: 3 * time.Second},
		unfinished.Job{ID: 9, State: engine.Ready, Class: engine.Fresh, Age: 95 * time.Second, Waited: 95 * time.Second}, // of the warm-up
	))
	check(t, r, map[string]float64{
		"unfinished.count": 5, "unfinished.share": 5.0 / 7,
		"fresh.wait.p50": 10, "fresh.wait.p99": 50, "fresh.wait.mean": (2 + 4 + 10 + 20 + 50 + 5) / 6.0, "fresh.wait.max": 50,
		"retry.wait.p50": 3, "attempt.wait.max": 50, "start.wait.max": 50, "start.wait.mean": (2 + 4 + 50 + 50 + 5 + 3) / 6.0,
		"sojourn.p50": 50, "sojourn.p90": 50,
	})
	checkQuery(t, r, Query{Metric: "fresh.within", Limit: 4 * time.Second}, 2.0/6)
	for name, want := range map[string]string{"fresh.wait.p50": "", "fresh.wait.p99": ">=", "fresh.wait.mean": ">=", "fresh.wait.max": ">=",
		"retry.wait.p50": ">=", "sojourn.p50": ">=", "unfinished.count": ""} {
		if v := r.Find(Query{Metric: name}); v.Bound != want {
			t.Errorf("bound of %s = %q, want %q", name, v.Bound, want)
		}
	}
}

// TestLeftBeforePromotion leaves a scheduled job that waits: it ranks above the waits that have ended, wherever it waits
// for its first claim or start. Its own wait runs from when it is due, though no promoter has made it ready. So does
// that of a retry.
func TestLeftBeforePromotion(t *testing.T) {
	for _, tt := range []struct {
		class        engine.Class
		overdue      time.Duration
		fresh, start float64 // means
		retry        string  // bound of the mean wait of retries
	}{
		{engine.Fresh, 0, 1, 1, ""},
		{engine.Fresh, 30 * time.Second, 16, 16, ""},
		{engine.Retry, 0, 2, 2, ""},
		{engine.Retry, 30 * time.Second, 2, 16, ">="},
	} {
		tp := newTape(settings(), 0)
		tp.enqueue(50, 1, 0)
		tp.run(52, 1, 50, 1)
		tp.play(engine.Event{At: at(60), Kind: engine.Enqueued, Job: 2, Delay: time.Hour})
		u := unfinished.Job{ID: 2, State: engine.Waiting, Class: tt.class, Age: 40 * time.Second, Waited: tt.overdue}
		r := tp.Finish(at(100), left(u))
		check(t, r, map[string]float64{"fresh.wait.mean": tt.fresh, "start.wait.mean": tt.start})
		if v := r.Find(Query{Metric: "retry.wait.mean"}); v.Bound != tt.retry {
			t.Errorf("%+v: bound of the wait of retries: %+v", u, v)
		}
	}
}

// TestLeftUnstarted leaves jobs in flight under their second leases: one that waits for a worker, while an execution
// under its first lease runs on; and one that has run, while nothing is known of its first lease.
func TestLeftUnstarted(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(50, 1, 0)
	tp.enqueue(50, 2, 0)
	tp.start(50, 1, tp.lease(50, 1, 50))
	tp.lease(50, 2, 50)
	tp.outcome(58, engine.Returned, 2, tp.take(58, 2), 0)
	tp.outcome(60, engine.Returned, 1, tp.take(60, 1), 0)
	tp.lease(62, 1, 60)
	second := tp.lease(62, 2, 58)
	tp.start(64, 2, second)
	tp.finish(65, 2, second, 1, engine.NoError) // its ack is under way
	r := tp.Finish(at(100), left(
		unfinished.Job{ID: 1, State: engine.InFlight, Class: engine.Retry, Age: 50 * time.Second},
		unfinished.Job{ID: 2, State: engine.InFlight, Class: engine.Retry, Age: 50 * time.Second}))
	check(t, r, map[string]float64{"start.wait.mean": (0 + 6 + 40) / 3.0, "start.wait.max": 40})
}

// TestLeftInFlight leaves a job in flight for the first time, one that is ready for the first time, and a retry that waits:
// the first has waited no longer, and the last does not wait to be claimed.
func TestLeftInFlight(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "one", "two"}
	tp := newTape(s, 0)
	for id := engine.JobID(1); id <= 3; id++ {
		tp.play(engine.Event{At: at(50), Kind: engine.Enqueued, Job: id, Tenant: 1})
	}
	lease := func(id engine.JobID) {
		tp.play(engine.Event{At: at(52), Kind: engine.Leased, Job: id, Tenant: 1, Delivery: 1, Token: engine.Token(id), Waited: 2 * time.Second, Age: 2 * time.Second})
	}
	lease(1)
	lease(3)
	tp.play(engine.Event{At: at(53), Kind: engine.Nacked, Job: 3, Tenant: 1, Token: 3, From: engine.InFlight, Delay: time.Hour, Age: 3 * time.Second})
	r := tp.Finish(at(100), left(
		unfinished.Job{ID: 1, Tenant: 1, State: engine.InFlight, Class: engine.Fresh, Age: 50 * time.Second},
		unfinished.Job{ID: 2, Tenant: 1, State: engine.Ready, Class: engine.Fresh, Age: 50 * time.Second, Waited: 50 * time.Second},
		unfinished.Job{ID: 3, Tenant: 1, State: engine.Waiting, Class: engine.Retry, Age: 50 * time.Second}))
	check(t, r, map[string]float64{"fresh.wait.mean": 54.0 / 3, "retry.wait.mean": math.NaN(), "attempt.wait.mean": 54.0 / 3, "unfinished.count": 3})
	if w := PoolTenantWaits([]*Run{&r}); w[0].Jobs != 3 {
		t.Errorf("%d jobs of tenant one have been ready for the first time, want 3", w[0].Jobs)
	}
}

func TestEmptySetsAreNull(t *testing.T) {
	r := newTape(settings(), 0).Finish(at(100), nil)
	for i := range r.Values {
		v := &r.Values[i]
		info, _ := Lookup(v.Metric)
		ofJobs := lookup(v.Metric).basis == onJobs
		perJob := ofJobs && (info.Unit == "s" || strings.HasSuffix(v.Metric, ".mean")) || v.Metric == "duplicates.per10k" || v.Metric == "attempts.max"
		if perJob && !v.Null {
			t.Errorf("%s of no jobs = %v, want null", v.Query, v.Value)
		}
		if v.Null != (v.Reason != "") {
			t.Errorf("%s: null %v for reason %q", v.Query, v.Null, v.Reason)
		}
	}
}

func TestFilters(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "a", "b", "c", "d", "e", "f", "seven"}
	queries := map[Query]float64{
		{Metric: "fresh.wait.p99", During: "down"}: 2, {Metric: "fresh.wait.max", After: "down"}: 5, {Metric: "fresh.wait.max", Class: "sums"}: 3,
		{Metric: "jobs", During: "down", Class: "sums"}: 0, {Metric: "jobs", Tenant: "seven"}: 1, {Metric: "goodput", During: "down"}: 0.2,
		{Metric: "jobs", During: "herd"}: 1, {Metric: "goodput", During: "herd"}: math.NaN(), {Metric: "claims", After: "down"}: 1, {Metric: "throughput", After: "down"}: 1.0 / 60, {Metric: "attempts.mean", Tenant: "seven"}: 1,
		{Metric: "attempt.wait.max", Tenant: "seven"}: 5, {Metric: "jobs", Class: "none"}: math.NaN(), {Metric: "jobs", Tenant: "none"}: math.NaN(), {Metric: "jobs", During: "none"}: math.NaN(),
		{Metric: "jobs", After: "none"}: math.NaN(), {Metric: "gini"}: math.NaN(), {Metric: "fresh.wait.p90", During: "down", Class: "sums"}: math.NaN(),
		{Metric: "retry.delay.p99", During: "down"}: math.NaN(), {Metric: "backlog.fresh.max", After: "down"}: 1,
		// No job counts that is enqueued in the warm-up, or after the end of arrivals.
		{Metric: "jobs", During: "early"}: math.NaN(), {Metric: "claims", During: "early"}: 1, {Metric: "dead.count", During: "late"}: math.NaN(), {Metric: "jobs", After: "late"}: math.NaN(),
	}
	for q := range queries {
		s.Objectives = append(s.Objectives, Objective{Query: q})
	}
	s.Storms = append(s.Storms, Window{"early", 2 * time.Second, 9 * time.Second}, Window{"herd", 49 * time.Second, 49 * time.Second}, Window{"late", 100 * time.Second, 105 * time.Second})
	tp := newTape(s, 0)
	tp.enqueue(3, 5, 0)
	tp.run(4, 5, 3, 1)
	tp.enqueue(20, 1, 1)
	tp.run(23, 1, 20, 1)
	tp.enqueue(42, 2, 0)
	tp.run(44, 2, 42, 1)
	tp.enqueue(49, 3, 0)
	tp.run(49, 3, 49, 0.5)
	tp.enqueued[4] = 60
	tp.play(engine.Event{At: at(60), Kind: engine.Enqueued, Job: 4, Tenant: 7})
	tp.play(engine.Event{At: at(65), Kind: engine.Leased, Job: 4, Tenant: 7, Delivery: 1, Token: 99, Waited: 5 * time.Second, Age: 5 * time.Second})
	tp.start(65, 4, 99)
	tp.finish(66, 4, 99, 1, engine.NoError)
	tp.outcome(66, engine.Acked, 4, 99, 0)
	r := tp.Finish(at(110), nil)
	for q, want := range queries {
		checkQuery(t, r, q, want)
	}
}

// A fresh job that is buried while ready was never claimed in time, and has no wait.
func TestShedJobsCountAgainstTheLimit(t *testing.T) {
	s := settings()
	q := Query{Metric: "fresh.within", Limit: 2 * time.Second}
	s.Objectives = []Objective{{Query: q}}
	tp := newTape(s, 0)
	for id := engine.JobID(1); id <= 3; id++ {
		tp.enqueue(20, id, 0)
	}
	tp.run(21, 1, 20, 1)
	tp.play(engine.Event{At: at(23), Kind: engine.Buried, Job: 2, From: engine.Ready, Class: engine.Fresh, Age: seconds(3)})
	tp.run(25, 3, 20, 1)
	r := tp.Finish(at(110), nil)
	checkQuery(t, r, q, 1.0/3)
	check(t, r, map[string]float64{"fresh.wait.mean": 3, "dead.count": 1, "backlog.fresh.max": 3})
}
