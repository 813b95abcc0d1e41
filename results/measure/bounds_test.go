package measure

import (
	"math"
	"testing"
	"time"

	"qsim/engine"
)

// TestGapsAtTheEdge folds claim gaps that begin and end with a window of time, which belong to it, and one across its end.
func TestGapsAtTheEdge(t *testing.T) {
	w := &clockWindow{from: 10, to: 20}
	v := view{windows: []*clockWindow{w}}
	v.gaps.long = []stretch{{10, 20}, {9, 10}, {20, 21}, {19, 21}}
	v.foldStretches()
	if w.folded == nil || w.folded.Count() != 1 || len(v.gaps.long) != 1 || v.gaps.long[0] != (stretch{19, 21}) {
		t.Errorf("folded %+v, kept %v", w.folded, v.gaps.long)
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

// TestStrangeJobs plays events of a job that was never enqueued or claimed, and of a class that the settings lack.
func TestStrangeJobs(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueued[1] = 15 // by its age alone
	tp.take(20, 1)
	tp.play(engine.Event{At: at(21), Kind: engine.Extended, Job: 1, Token: 1})
	tp.loseLease(22, 1, 1)
	tp.enqueue(30, 2, 2)
	tp.run(31, 2, 30, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"leases.expired": 1, "duplicates.count": 0})
}

// TestFreedWorkerOfAClass frees a worker under the eyes of a view of another time: it was busy until then.
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

// TestPackedSumCarries records more than 64 bits hold of nanoseconds.
func TestPackedSumCarries(t *testing.T) {
	var p Packed
	for range 3 {
		p.record(bucketOf(math.MaxInt64), math.MaxInt64)
	}
	if h, err := p.Unpack(); err != nil || h.Mean() != math.MaxInt64 {
		t.Errorf("the mean is %v, %v", h.Mean(), err)
	}
	p.Max = -1
	if _, err := p.Unpack(); err == nil {
		t.Error("a greatest value below 0 is taken")
	}
}

// TestSlowdownWithoutCalm compares with a run without measured waits, and a run that lacks them itself.
func TestSlowdownWithoutCalm(t *testing.T) {
	for _, tt := range []struct{ stormy, calm []number }{{nil, []number{some(1)}}, {[]number{some(1)}, nil}} {
		r := Run{Values: []Value{{Query: Query{Metric: slowdown}, Reason: "as it was"}}, means: tt.stormy}
		if r.CompareWithCalm(&Run{means: tt.calm}); r.Values[0].Reason != "as it was" {
			t.Errorf("%v, %v: got %+v", tt.stormy, tt.calm, r.Values[0])
		}
	}
}

// TestStormEndsWithTheRun drains in the instant in which the storm and the run end.
func TestStormEndsWithTheRun(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(45, 1, 0)
	tp.run(46, 1, 45, 1)
	r := tp.Finish(at(50), nil)
	if v := r.Find(Query{Metric: "drain.time"}); v.Null || v.Value != 0 || v.Bound != "" {
		t.Errorf("drain.time = %+v", v)
	}
}

// TestHungerAtTheEdge counts a claim, made while a job starves, in the windows that it lies in: they end before their
// last instant.
func TestHungerAtTheEdge(t *testing.T) {
	l := &lane{after: 1}
	l.push(0)
	h := hunger{lanes: []*lane{l}}
	w, longer := h.window(5, 10), h.window(5, 11)
	if w == longer || h.window(5, 10) != w {
		t.Errorf("a window for each length: %p, %p, %p", w, longer, h.window(5, 10))
	}
	for _, now := range []engine.Time{4, 5, 9, 10} {
		h.judge(now, 0, engine.Retry)
	}
	if w.claims != 2 || w.crowded != 2 || longer.claims != 3 {
		t.Errorf("got %+v and %+v", *w, *longer)
	}
}

func TestBacklogQuantile(t *testing.T) {
	levels := backlogLevels{}
	levels.time[0], levels.time[1] = 95, 5
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
		want  number
	}{
		{"confirmed", stormWatch{over: at(10), recovery: known, candidate: at(15), recoveredAt: at(15)}, true, some(5)},
		{"confirmed at 0", stormWatch{recovery: known}, true, some(0)},
		{"to be confirmed", stormWatch{over: at(10), recovery: known, candidate: at(16), recoveredAt: -1}, true, number{value: 6, bound: true}},
		{"nothing can undo it", stormWatch{over: at(10), recovery: known, candidate: at(16), recoveredAt: -1}, false, some(6)},
		{"not back", stormWatch{over: at(10), recovery: known, candidate: -1, recoveredAt: -1}, false, number{value: 20, bound: true}},
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
	for name, want := range map[string]bool{"utilization": true, "claim.gap.share": true, "throughput": false} {
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

// TestPackedContradictions reads histograms that no Pack has written.
func TestPackedContradictions(t *testing.T) {
	for name, p := range map[string]Packed{
		"a bucket twice":              {Buckets: []uint16{1, 1}, Counts: []uint32{1, 1}, Max: 1},
		"a bucket above the greatest": {Buckets: []uint16{3}, Counts: []uint32{1}, Max: 1},
		"a bucket without a count":    {Buckets: []uint16{0, 1}, Counts: []uint32{1}, Max: 1},
	} {
		if h, err := p.Unpack(); err == nil {
			t.Errorf("%s: got %v", name, h.Count())
		}
	}
}

// TestMergeCarries adds sums that exceed 64 bits of nanoseconds together, and some that do so by themselves.
func TestMergeCarries(t *testing.T) {
	var long, packed Histogram
	for range 3 {
		long.Record(math.MaxInt64)
	}
	p := long.Pack()
	for range 4 {
		packed.mergePacked(&p)
	}
	if packed.Count() != 12 || math.Abs(float64(packed.Mean())/math.MaxInt64-1) > 1e-12 || packed.sumHi != 5 {
		t.Errorf("%d durations of mean %v, %d times 2^64 ns", packed.Count(), packed.Mean(), packed.sumHi)
	}
}
