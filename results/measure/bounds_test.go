package measure

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// TestGapsAtTheEdge folds claim gaps that begin and end with a window of time, which belong to it, and two across its ends.
func TestGapsAtTheEdge(t *testing.T) {
	w, whole := &clockWindow{stretch: stretch{10, 20}}, &clockWindow{stretch: stretch{0, 100}}
	v := view{windows: []*clockWindow{w, whole}}
	v.gaps.long = []stretch{{10, 20}, {9, 10}, {20, 21}, {19, 21}, {9, 11}}
	v.foldStretches()
	if w.folded.Count() != 1 || len(v.gaps.long) != 2 || v.gaps.long[0] != (stretch{19, 21}) || v.gaps.long[1] != (stretch{9, 11}) {
		t.Errorf("folded %+v, kept %v", &w.folded, v.gaps.long)
	}
	if whole.folded.Count() != 3 {
		t.Errorf("of a window that all lie in, %d are folded, want those that are not kept", whole.folded.Count())
	}
}

// TestClassSeries checks that classes have separate time series if there are several, and not too many.
func TestClassSeries(t *testing.T) {
	for _, tt := range []struct{ classes, want int }{{1, 0}, {2, 2}, {MostClassSeries, MostClassSeries}, {MostClassSeries + 1, 0}} {
		s := settings()
		s.Classes, s.Guards = make([]string, tt.classes), nil
		if got := len(newTape(s, 0).Finish(at(100), nil).Series.Classes); got != tt.want {
			t.Errorf("%d classes have %d series, want %d", tt.classes, got, tt.want)
		}
	}
}

// TestStrangeJobs plays events of a job that was never enqueued or claimed, and of a class that the settings lack: a job
// of that class starves after a second.
func TestStrangeJobs(t *testing.T) {
	set := settings()
	set.StarvedAfter = []time.Duration{time.Minute, time.Minute}
	tp := newTape(set, 0)
	tp.enqueued[1] = 15 // by its age alone
	tp.take(20, 1)
	tp.play(engine.Event{At: at(21), Kind: engine.Extended, Job: 1, Token: 1})
	tp.loseLease(22, 1, 1)
	tp.enqueue(30, 2, 2)
	tp.run(33, 2, 30, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"leases.expired": 1, "duplicates.count": 0, "starved.longest": 2})
}

// TestFreedWorkerOfAClass frees a worker at a timeout: in the view of its job's class, too, it was busy until then.
func TestFreedWorkerOfAClass(t *testing.T) {
	s := settings()
	ask := Query{Metric: "utilization", Class: "mail"}
	s.Asked = []Query{ask}
	tp := newTape(s, 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.start(20, 1, token)
	tp.play(engine.Event{At: at(24), Kind: engine.TimedOut, Job: 1, Token: token, Freed: true})
	checkQuery(t, tp.Finish(at(100), nil), ask, 4.0/180)
}

// TestHistogramSumCarries records more than 64 bits hold of nanoseconds.
func TestHistogramSumCarries(t *testing.T) {
	h := recorded([]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64})
	if h.Mean() != math.MaxInt64 || math.Abs(h.sum()/3/math.MaxInt64-1) > 1e-12 {
		t.Errorf("the mean is %v, the sum %v", h.Mean(), h.sum())
	}
}

// TestSlowdownWithoutCalm compares with a run without measured waits, and a run that lacks them itself.
func TestSlowdownWithoutCalm(t *testing.T) {
	for _, tt := range []struct{ stormy, calm []Value }{{nil, []Value{some(1)}}, {[]Value{some(1)}, nil}} {
		r := Run{Values: []Value{{Query: Query{Metric: slowdown}, Reason: "as it was"}}, means: tt.stormy}
		if r.CompareWithCalm(&Run{means: tt.calm}); r.Values[0].Reason != "as it was" {
			t.Errorf("%v, %v: got %+v", tt.stormy, tt.calm, r.Values[0])
		}
	}
}

// TestStormEndsWithTheRun drains in the instant in which the storm and the run end, with the job done or still running.
func TestStormEndsWithTheRun(t *testing.T) {
	for _, claimed := range []float64{46, 50} {
		for _, done := range []bool{true, false} {
			tp := newTape(settings(), 0)
			tp.enqueue(45, 1, 0)
			unresolved := left()
			if done {
				tp.run(claimed, 1, 45, 0)
			} else {
				tp.start(claimed, 1, tp.lease(claimed, 1, 45))
				unresolved = left(unfinished.Job{ID: 1, State: engine.InFlight, Age: seconds(5)})
			}
			r := tp.Finish(at(50), unresolved)
			if v := r.Find(Query{Metric: "drain.time"}); v.Null || v.Value != 0 || v.Bound != "" {
				t.Errorf("claimed at %v s, done %v: drain.time = %+v", claimed, done, v)
			}
		}
	}
}

// TestHungerAtTheEdge counts a claim, made while a job starves, in the windows that it lies in: they end before their
// last instant.
func TestHungerAtTheEdge(t *testing.T) {
	l := &lane{after: 1}
	l.push(0)
	h := hunger{lanes: []*lane{l}}
	w, longer := h.window(stretch{5, 10}), h.window(stretch{5, 11})
	if w == longer || h.window(stretch{5, 10}) != w {
		t.Errorf("a window for each length: %p, %p, %p", w, longer, h.window(stretch{5, 10}))
	}
	early := h.window(stretch{0, 2})
	for _, now := range []engine.Time{1, 4, 5, 9, 10} { // at 1 the job has waited for as long as it may
		h.judge(now, 0, engine.Retry)
	}
	if early.claims != 0 {
		t.Errorf("got %+v before any job starves", *early)
	}
	if w.claims != 2 || w.crowded != 2 || longer.claims != 3 {
		t.Errorf("got %+v and %+v", *w, *longer)
	}
}

func TestBacklogQuantile(t *testing.T) {
	levels := backlogLevels{}
	levels[0], levels[1] = 95, 5
	if at, above := levels.quantile(0.95), levels.quantile(0.96); at != 0 || above != 1 {
		t.Errorf("got %d and %d, want 0, which was exceeded for just so long, and 1", at, above)
	}
}

// TestRecovered distinguishes a recovery that lasted from one still to be confirmed.
func TestRecovered(t *testing.T) {
	known := &recovery{windows: fewestWindows}
	for _, tt := range []struct {
		name  string
		watch stormWatch
		left  bool
		want  Value
	}{
		{"confirmed", stormWatch{over: at(10), recovery: known, candidate: at(15), recoveredAt: at(15)}, true, some(5)},
		{"confirmed at 0", stormWatch{recovery: known}, true, some(0)},
		{"to be confirmed", stormWatch{over: at(10), recovery: known, candidate: at(16), recoveredAt: -1}, true, atLeast(6, true)},
		{"nothing can undo it", stormWatch{over: at(10), recovery: known, candidate: at(16), recoveredAt: -1}, false, some(6)},
		{"not back", stormWatch{over: at(10), recovery: known, candidate: -1, recoveredAt: -1}, false, atLeast(20, true)},
	} {
		if got := tt.watch.recovered(at(30), tt.left); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestRecoveriesOfTwoStorms has storms of different lengths, each with sliding windows of a different length.
func TestRecoveriesOfTwoStorms(t *testing.T) {
	s := calmSettings()
	s.Storms = append(s.Storms, Window{"brief", 900 * time.Second, 908 * time.Second})
	r := waits(s, exponential(0.05))
	for _, after := range []string{"down", "brief"} {
		if v := r.Find(Query{Metric: "recovery.time", After: after}); v.Null || v.Bound != "" || v.Value > 15 {
			t.Errorf("after %s: recovery takes %+v", after, v)
		}
	}
}

func TestSharesAreMarked(t *testing.T) {
	for name, want := range map[string]bool{"utilization": true, "fresh.within": true, "claim.gap.share": true, "throughput": false} {
		if info, ok := Lookup(name); !ok || info.Share != want {
			t.Errorf("%s: %v, a share: %v, want %v", name, ok, info.Share, want)
		}
	}
}

func TestTenantsWithoutAWindow(t *testing.T) {
	if got := new(tenantCounts).counted(3, nil); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestBeforeTheWindow ends a run before the window of a metric begins: shares of tenants, the most jobs at once and the
// longest stretches have no value, and no tenant is listed.
func TestBeforeTheWindow(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "one", "two"}
	q := Query{Metric: "jain", During: "down"}
	s.Asked = []Query{q}
	tp := newTape(s, 0)
	r := tp.Finish(at(5), left(unfinished.Job{ID: 1, State: engine.Waiting}))
	for _, q := range []Query{q, {Metric: "jain"}, {Metric: "backlog.fresh.max"}, {Metric: "backlog.retry.max"}, {Metric: "waiting.max"},
		{Metric: "claim.gap.longest"}, {Metric: "starved.claims"}, {Metric: "starved.longest"}} {
		if v := r.Find(q); !v.Null || v.Reason != noTime {
			t.Errorf("%v: %+v", q, v)
		}
	}
	if r.Tenants != nil {
		t.Errorf("tenants are counted: %v", r.Tenants)
	}
}

// TestMostTenantWaits checks that MostTenantWaits tenants have distributions of waits of their own, and no more.
func TestMostTenantWaits(t *testing.T) {
	var c tenantCounts
	if c.freshOf(MostTenantWaits) == nil || c.freshOf(MostTenantWaits+1) != nil {
		t.Errorf("%d tenants have waits of their own", len(c.fresh)-1)
	}
}

// TestNoWorst names the reason why a metric has no worst tenant.
func TestNoWorst(t *testing.T) {
	for _, tt := range []struct {
		metric  string
		tenants int
		reason  string
	}{{"fresh.wait.p99", mostTenants, ""}, {"fresh.wait.p99", mostTenants + 1, "the worst is"}, {slowdown, 2, "two runs are needed"}, {"throughput", 2, "neither more nor less"}} {
		if got := lookup(tt.metric).NoWorst(tt.tenants); !strings.HasPrefix(got, tt.reason) || (got == "") != (tt.reason == "") {
			t.Errorf("%s of %d tenants: %q, want %q", tt.metric, tt.tenants, got, tt.reason)
		}
	}
}

// TestStrangeNodes takes the lease of a node that is not among those of the settings as that of one alive, and ignores
// that it goes down.
func TestStrangeNodes(t *testing.T) {
	m := newMachines(2, 3)
	for _, node := range []int{-1, 2} {
		m.turn(0, node, true)
		if !m.alive(engine.NewEngineID(int32(node), 0)) || m.idle != 6 {
			t.Errorf("node %d: alive %v, %d workers", node, m.alive(engine.NewEngineID(int32(node), 0)), m.idle)
		}
	}
}

// TestClassesBeyondTheAsked counts the jobs of one class of three.
func TestClassesBeyondTheAsked(t *testing.T) {
	s := settings()
	s.Classes = []string{"mail", "sums", "letters"}
	mail := Query{Metric: "jobs", Class: "mail"}
	s.Objectives = []Objective{{Query: mail}} // without one, every class is asked about
	tp := newTape(s, 0)
	for kind := range engine.Kind(3) {
		tp.enqueue(20, engine.JobID(kind)+1, kind)
	}
	r := tp.Finish(at(100), nil)
	checkQuery(t, r, mail, 1)
	check(t, r, map[string]float64{"jobs": 3})
}

// TestEndsAtTheEdge ends an execution in the instant in which a window ends: it belongs to the next.
func TestEndsAtTheEdge(t *testing.T) {
	s := settings()
	during, after := Query{Metric: "throughput", During: "down"}, Query{Metric: "throughput", After: "down"}
	s.Asked = []Query{during, after}
	tp := newTape(s, 0)
	for id, end := range []float64{40, 50} {
		tp.enqueue(20, engine.JobID(id+1), 0)
		token := tp.lease(20, engine.JobID(id+1), 20)
		tp.start(20, engine.JobID(id+1), token)
		tp.finish(end, engine.JobID(id+1), token, end-20, engine.NoError)
	}
	r := tp.Finish(at(100), nil)
	checkQuery(t, r, during, 0.1)
	checkQuery(t, r, after, 1.0/50)
}

// TestLimitAtTheEnd leaves a job that has waited for just as long as the limit: it may still be claimed within it, or not.
func TestLimitAtTheEnd(t *testing.T) {
	q := Query{Metric: "fresh.within", Limit: 4 * time.Second}
	for ready, want := range map[time.Duration]float64{q.Limit: 1, q.Limit + 1: 0.5} {
		s := settings()
		s.Asked = []Query{q}
		tp := newTape(s, 0)
		tp.enqueue(20, 1, 0)
		tp.run(21, 1, 20, 1)
		checkQuery(t, tp.Finish(at(100), left(unfinished.Job{ID: 2, State: engine.Ready, Age: ready, Waited: ready})), q, want)
	}
}

// TestLivelock warns where executions succeed and outcomes are refused, and none is accepted.
func TestLivelock(t *testing.T) {
	for _, tt := range []struct{ succeeds, fenced, acked, warns bool }{{true, true, false, true}, {true, false, false, false}, {false, true, false, false}, {true, true, true, false}} {
		tp := newTape(settings(), 0)
		tp.enqueue(20, 1, 0)
		token := tp.lease(20, 1, 20)
		tp.start(20, 1, token)
		if err := engine.FirstErrorKind; tt.succeeds {
			tp.finish(21, 1, token, 1, engine.NoError)
		} else {
			tp.finish(21, 1, token, 1, err)
		}
		if tt.fenced {
			tp.play(engine.Event{At: at(22), Kind: engine.Fenced, Job: 1, Token: token})
		}
		if tt.acked {
			tp.outcome(22, engine.Acked, 1, token, 0)
		}
		if w := tp.Finish(at(100), nil).Warnings; (len(w) > 0) != tt.warns {
			t.Errorf("%+v: warnings %q", tt, w)
		}
	}
}

// TestHistogramContradictions reads histograms that are none.
func TestHistogramContradictions(t *testing.T) {
	for name, text := range map[string]string{
		"a bucket twice":              `{"buckets": [1, 1], "counts": [1, 1], "max": 1}`,
		"buckets that descend":        `{"buckets": [2, 1], "counts": [1, 1], "max": 2}`,
		"a bucket above the greatest": `{"buckets": [3], "counts": [1], "max": 1}`,
		"a bucket without a count":    `{"buckets": [0, 1], "counts": [1], "max": 1}`,
		"a greatest value below 0":    `{"buckets": [0], "counts": [1], "max": -1}`,
		"a count that is a text":      `{"buckets": [0], "counts": ["1"], "max": 0}`,
	} {
		var h Histogram
		if err := json.Unmarshal([]byte(text), &h); err == nil {
			t.Errorf("%s: got %+v", name, h)
		}
	}
}

// TestMergeCarries adds sums that exceed 64 bits of nanoseconds together, and some that do so by themselves.
func TestMergeCarries(t *testing.T) {
	long, all := recorded([]time.Duration{math.MaxInt64, math.MaxInt64, math.MaxInt64}), new(Histogram)
	for range 4 {
		all.Merge(long)
	}
	if all.Count() != 12 || math.Abs(float64(all.Mean())/math.MaxInt64-1) > 1e-12 || all.SumHigh != 5 {
		t.Errorf("%d durations of mean %v, %d times 2^64 ns", all.Count(), all.Mean(), all.SumHigh)
	}
}
