package measure

import (
	"math"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
)

// Ten thousand stretches of 1 to 6 s without a claim, too many to be kept one by one, and one
// across the beginning of the storm: the share equals their sum.
func TestGapShareOfManyStretches(t *testing.T) {
	const jobs, gap = 10_000, 10.0
	s := settings()
	s.Warmup, s.Duration, s.Bucket = 0, time.Duration(jobs*gap*1e9), 0
	s.Storms = []Window{{"down", 60_001 * time.Second, 70_000 * time.Second}}
	during := Query{Metric: "claim.gap.share", During: "down"}
	s.Objectives = []Objective{{Query: during}}
	tp := newTape(s, 0)
	wait := func(i int) float64 { return 1.001 + 5*keyed.Rand{Seed: 3}.Uniform(keyed.ForPolicy, uint64(i), 0, 0) }
	calmWaits, calm := 0.0, 0
	for i := range jobs {
		at := gap * float64(i)
		tp.enqueue(at, engine.JobID(i+1), 0)
		tp.run(at+wait(i), engine.JobID(i+1), at, 0.1)
		if at < 60_001 {
			calmWaits += wait(i)
			calm++
		}
	}
	if n := len(tp.views[0].gaps.long); n > mostStretches {
		t.Errorf("%d stretches are kept", n)
	}
	r := tp.Finish(tp.views[0].now, nil)
	threshold := max(1, 10*calmWaits/float64(calm))
	if threshold < 6 {
		t.Fatalf("a threshold of %v s leaves none out", threshold)
	}
	checkQuery(t, r, Query{Metric: "claim.gap.share"}, 0)

	// With a shorter threshold there is something to add up.
	tp.views[0].storms.calm.freshWaits = 0 // as if claims had taken no time
	var starved, present, inStorm, presentInStorm float64
	for i := range jobs {
		from, to := gap*float64(i), gap*float64(i)+wait(i)
		starved += to - from - 1
		present += to - from
		inStorm += max(0, min(to, 70_000)-max(from+1, 60_001))
		presentInStorm += max(0, min(to, 70_000)-max(from, 60_001))
	}
	tp.views[0].foldStretches()
	if kept := tp.views[0].gaps.long; len(kept) != 1 || kept[0].from != at(60_000) {
		t.Errorf("kept %v, want the one across the beginning of the storm", kept)
	}
	whole := (&question{view: tp.views[0], clock: tp.views[0].windows[0]}).gapShare()
	storm := (&question{view: tp.views[0], clock: tp.views[0].window(tp.spanOf(during))}).gapShare()
	if math.Abs(whole.Value/(starved/present)-1) > 0.004 || math.Abs(storm.Value/(inStorm/presentInStorm)-1) > 0.004 {
		t.Errorf("%v and %v, want %v and %v", whole.Value, storm.Value, starved/present, inStorm/presentInStorm)
	}
}

// A streak of retries that pass over a fresh job ends when that job is buried where it stands.
func TestStreakEndsWithBurial(t *testing.T) {
	tp := newTape(settings(), 0)
	passes := func(from float64, retries int) {
		tp.enqueue(from, engine.JobID(from), 0)
		for range retries {
			tp.play(engine.Event{At: at(from), Kind: engine.Promoted, Job: 9, Class: engine.Retry})
			tp.play(engine.Event{At: at(from + 1), Kind: engine.Leased, Job: 9, Class: engine.Retry, Delivery: 2, Token: 1, Age: time.Second})
		}
	}
	passes(20, 3)
	tp.play(engine.Event{At: at(25), Kind: engine.Buried, Job: 20, From: engine.Ready, Age: 5 * time.Second, Waited: 5 * time.Second})
	passes(30, 2)
	tp.run(32, 30, 30, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"starved.claims": 3, "claim.gap.longest": 5})
}

// Of no claims the mean wait is 0: a claim gap is then longer than a second.
func TestMeanWaitOfNothing(t *testing.T) {
	if got := new(clockWindow).meanFreshWait(); got != 0 {
		t.Errorf("got %v", got)
	}
	tp := newTape(settings(), 0) // no claim before the storm
	tp.enqueue(60, 1, 0)
	tp.run(65, 1, 60, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"claim.gap.share": 4.0 / 5})
}

// Claim gaps of less than a second count too: claim.gap.longest is the longest of them.
func TestShortGaps(t *testing.T) {
	tp := newTape(settings(), 0)
	for i, gap := range []float64{0.2, 0.5, 0.3} {
		s := 20 + 2*float64(i)
		tp.enqueue(s, engine.JobID(i+1), 0)
		tp.run(s+gap, engine.JobID(i+1), s, 0.1)
	}
	check(t, tp.Finish(at(100), nil), map[string]float64{"claim.gap.longest": 0.5, "claim.gap.share": 0})
}

// Fresh jobs that are all claimed at once leave no gap, which is a value; without any there is none.
func TestNoTimeWithFreshJobs(t *testing.T) {
	for jobs, want := range map[int]float64{0: math.NaN(), 1: 0} {
		tp := newTape(settings(), 0)
		for id := range engine.JobID(jobs) {
			tp.enqueue(20, id+1, 0)
			tp.run(20, id+1, 20, 1)
		}
		check(t, tp.Finish(at(100), nil), map[string]float64{"claim.gap.share": want})
	}
}

// Where the first storm comes with the end of the warm-up, the mean wait of the whole run says from when a gap is long;
// and what is measured against the time before the storm has no value.
func TestStormWithoutCalm(t *testing.T) {
	s := settings()
	s.Storms[0].From = s.Warmup
	tp := newTape(s, 0)
	for i := range 20 {
		tp.enqueue(20+float64(i), engine.JobID(i+1), 0)
		tp.run(20.5+float64(i), engine.JobID(i+1), 20+float64(i), 0.1)
	}
	tp.enqueue(50, 99, 0)
	tp.run(70, 99, 50, 1)
	r := tp.Finish(at(100), nil)
	threshold := 10 * (20*0.5 + 20) / 21
	check(t, r, map[string]float64{"claim.gap.share": (20 - threshold) / 30})
	for _, name := range []string{"backlog.area", "drain.time"} {
		if v := r.Find(Query{Metric: name}); !v.Null || v.Reason != noCalm {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A retry that is buried where it stands ends no streak of retries that pass over a fresh job.
func TestStreakGoesOn(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	retry := func(s float64, kind engine.EventKind) {
		tp.play(engine.Event{At: at(s), Kind: engine.Promoted, Job: 9, Class: engine.Retry})
		tp.play(engine.Event{At: at(s), Kind: kind, Job: 9, From: engine.Ready, Class: engine.Retry, Delivery: 2, Token: 1, Age: time.Second})
	}
	for i, kind := range []engine.EventKind{engine.Leased, engine.Leased, engine.Buried, engine.Leased} {
		retry(21+float64(i), kind)
	}
	tp.run(30, 1, 20, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"starved.claims": 3, "claim.gap.longest": 10})
}
