package measure

import (
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// duplicateStories lists sequences of events that lead to duplicates of job 1.
var duplicateStories = []struct {
	name string
	play func(tp *tape)
	want map[string]float64 // expected causes; the others must be 0
}{
	{"a slow execution outlives its lease", func(tp *tape) {
		slow := tp.lease(20, 1, 20)
		tp.start(20, 1, slow)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		tp.run(31, 1, 30, 1)
		tp.finish(40, 1, slow, 20, engine.NoError)
	}, map[string]float64{"lease": 1}},
	{"and ends before the one that replaces it", func(tp *tape) {
		slow := tp.lease(20, 1, 20)
		tp.start(20, 1, slow)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		second := tp.lease(31, 1, 30)
		tp.start(31, 1, second)
		tp.finish(32, 1, slow, 12, engine.NoError)
		tp.finish(33, 1, second, 2, engine.NoError)
		tp.outcome(33, engine.Acked, 1, second, 0)
	}, map[string]float64{"lease": 1}},
	{"a process dies after the effect", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.play(engine.Event{At: at(21), Kind: engine.NodeDown})
		tp.play(engine.Event{At: at(26), Kind: engine.NodeUp})
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"crash": 1}},
	{"and the lease of a reaper lapses, too, whose process lives", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.play(engine.Event{At: at(21), Kind: engine.NodeDown})
		tp.play(engine.Event{At: at(26), Kind: engine.NodeUp})
		tp.take(50, 1)
		tp.outcome(60, engine.Returned, 1, tp.takeFrom(60, 1, engine.NewEngineID(0, 1)), 0)
		tp.run(61, 1, 60, 1)
	}, map[string]float64{"crash": 1}},
	{"an ack is lost, and then the process of the reaper dies", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.take(50, 1)
		tp.play(engine.Event{At: at(51), Kind: engine.NodeDown})
		tp.play(engine.Event{At: at(56), Kind: engine.NodeUp})
		tp.outcome(60, engine.Returned, 1, tp.take(60, 1), 0)
		tp.run(61, 1, 60, 1)
	}, map[string]float64{"ack": 1}},
	{"a reaper hands a job back too late, which has been claimed again and will run", func(tp *tape) {
		tp.start(20, 1, tp.lease(20, 1, 20))
		tp.play(engine.Event{At: at(21), Kind: engine.Aborted, Job: 1, Token: tp.tokens, Ran: time.Second})
		tp.play(engine.Event{At: at(21), Kind: engine.NodeDown})
		late := tp.take(30, 1)
		tp.outcome(40, engine.Returned, 1, tp.take(40, 1), 0)
		second := tp.lease(41, 1, 40)
		tp.outcome(42, engine.Returned, 1, late, 0)
		tp.start(43, 1, second)
		tp.run(44, 1, 42, 1)
		tp.finish(46, 1, second, 3, engine.NoError)
	}, map[string]float64{"other": 1}},
	{"an ack is lost", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"ack": 1}},
	{"an ack is lost, then a retry fails", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		second := tp.lease(51, 1, 50)
		tp.start(51, 1, second)
		tp.finish(52, 1, second, 1, engine.FirstErrorKind)
		tp.outcome(52, engine.Nacked, 1, second, 1)
		tp.promote(53, 1, engine.Retry)
		tp.run(53, 1, 53, 1)
	}, map[string]float64{"ack": 1}},
	{"a lease lapses in vain, then an ack is lost", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.finish(51, 1, first, 31, engine.FirstErrorKind)
		second := tp.lease(51, 1, 50)
		tp.start(51, 1, second)
		tp.finish(52, 1, second, 1, engine.NoError)
		tp.outcome(80, engine.Returned, 1, tp.take(80, 1), 0)
		tp.run(81, 1, 80, 1)
	}, map[string]float64{"ack": 1}},
	{"a handler goes on after its timeout", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.outcome(25, engine.Nacked, 1, first, 1)
		tp.promote(26, 1, engine.Retry)
		tp.run(26, 1, 26, 1)
		tp.finish(30, 1, first, 10, engine.NoError)
	}, map[string]float64{"timeout": 1}},
	{"and succeeds before the store hears of the timeout", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(25, 1, first, 5, engine.NoError)
		tp.outcome(26, engine.Nacked, 1, first, 1)
		tp.promote(27, 1, engine.Retry)
		tp.run(27, 1, 27, 1)
	}, map[string]float64{"timeout": 1}},
	{"a process gives a lease up by its own clock, and its handler goes on", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.loseLease(25, 1, first)
		tp.finish(26, 1, first, 6, engine.NoError) // nothing is told to the store
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"lease": 1}},
	{"a lease expires under a handler long before the reaper notices", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(30, 1, first, 10, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"lease": 1}},
	{"and its process dies before the reaper comes", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(31, 1, first, 11, engine.NoError)
		tp.play(engine.Event{At: at(32), Kind: engine.NodeDown})
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"lease": 1}},
	{"a heartbeat prolongs a lease, and an ack is lost", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.play(engine.Event{At: at(28), Kind: engine.Extended, Job: 1, Token: first})
		tp.finish(31, 1, first, 11, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"ack": 1}},
	{"who held the lease before learns late that it is gone, and an ack is lost", func(tp *tape) {
		tp.loseLease(37, 1, again(tp))
		tp.finish(38, 1, tp.tokens, 7, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"ack": 1}},
	{"a heartbeat for the lease before prolongs nothing", func(tp *tape) {
		tp.play(engine.Event{At: at(38), Kind: engine.Extended, Job: 1, Token: again(tp)})
		tp.finish(43, 1, tp.tokens, 12, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"lease": 1}},
	{"a lease lapses, and a retry fails while the handler runs on", func(tp *tape) {
		slow := tp.lease(20, 1, 20)
		tp.start(20, 1, slow)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		second := tp.lease(31, 1, 30)
		tp.start(31, 1, second)
		tp.finish(32, 1, second, 1, engine.FirstErrorKind)
		tp.outcome(32, engine.Nacked, 1, second, 1)
		tp.promote(33, 1, engine.Retry)
		tp.finish(34, 1, slow, 14, engine.NoError)
		tp.run(35, 1, 33, 1)
	}, map[string]float64{"lease": 1}},
	{"a lease lapses in vain, and the retry goes on after its timeout", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		second := tp.lease(31, 1, 30)
		tp.start(31, 1, second)
		tp.finish(32, 1, first, 12, engine.FirstErrorKind)
		tp.outcome(35, engine.Nacked, 1, second, 1)
		tp.finish(36, 1, second, 5, engine.NoError)
		tp.promote(36, 1, engine.Retry)
		tp.run(37, 1, 36, 1)
	}, map[string]float64{"timeout": 1}},
	{"a nack is taken after its lease has gone to a reaper", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		tp.outcome(31, engine.Nacked, 1, first, 1)
		tp.promote(32, 1, engine.Retry)
		tp.run(33, 1, 32, 1)
		tp.finish(40, 1, first, 20, engine.NoError)
	}, map[string]float64{"lease": 1}},
	{"a nack is taken after its job has gone to another", func(tp *tape) {
		first := again(tp)
		tp.outcome(32, engine.Nacked, 1, first, 1)
		tp.finish(33, 1, tp.tokens, 2, engine.NoError)
		tp.promote(34, 1, engine.Retry)
		tp.run(34, 1, 34, 1)
	}, map[string]float64{"lease": 1}},
	{"an answer is lost, a retry fails, and what the answer brought runs at last", func(tp *tape) {
		lost := tp.lease(20, 1, 20)
		tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
		second := tp.lease(31, 1, 30)
		tp.start(31, 1, second)
		tp.finish(32, 1, second, 1, engine.FirstErrorKind)
		tp.outcome(32, engine.Nacked, 1, second, 1)
		tp.promote(33, 1, engine.Retry)
		tp.run(33, 1, 33, 1)
		tp.start(40, 1, lost)
		tp.finish(41, 1, lost, 1, engine.NoError)
	}, map[string]float64{"lease": 1}},
	{"an ack is lost, and the retry goes on after its timeout", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(21, 1, first, 1, engine.NoError)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		second := tp.lease(51, 1, 50)
		tp.start(51, 1, second)
		tp.outcome(55, engine.Nacked, 1, second, 1)
		tp.finish(56, 1, second, 5, engine.NoError)
		tp.promote(57, 1, engine.Retry)
		tp.outcome(58, engine.Buried, 1, tp.lease(57, 1, 57), 0)
		tp.start(58, 1, tp.tokens)
		tp.finish(59, 1, tp.tokens, 1, engine.FirstErrorKind)
	}, map[string]float64{"ack": 1}},
	{"an ack is not sent before its process gives the lease up", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.finish(25, 1, first, 5, engine.NoError)
		tp.loseLease(30, 1, first)
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, map[string]float64{"ack": 1}},
	{"no duplicate at all", func(tp *tape) {
		first := tp.lease(20, 1, 20)
		tp.start(20, 1, first)
		tp.play(engine.Event{At: at(21), Kind: engine.Aborted, Job: 1, Ran: time.Second})
		tp.play(engine.Event{At: at(21), Kind: engine.NodeDown})
		tp.outcome(50, engine.Returned, 1, tp.take(50, 1), 0)
		tp.run(51, 1, 50, 1)
	}, nil},
}

// again records an execution of job 1 whose lease is taken before it fails, and the start of another at 31 s; it
// returns the token of the first.
func again(tp *tape) engine.Token {
	first := tp.lease(20, 1, 20)
	tp.start(20, 1, first)
	tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
	tp.start(31, 1, tp.lease(31, 1, 30))
	tp.finish(32, 1, first, 12, engine.FirstErrorKind)
	return first
}

// Every duplicate has one cause, so that they add up.
func TestDuplicatesByCause(t *testing.T) {
	for _, tt := range duplicateStories {
		t.Run(tt.name, func(t *testing.T) {
			s := settings()
			s.Policies[0].Lease = 10 * time.Second
			tp := newTape(s, 0)
			tp.enqueue(20, 1, 0)
			tt.play(tp)
			r := tp.Finish(at(100), nil)
			sum := 0.0
			for _, name := range []string{"lease", "crash", "ack", "timeout", "other"} {
				checkQuery(t, r, Query{Metric: "duplicates." + name}, tt.want[name])
				sum += r.Find(Query{Metric: "duplicates." + name}).Value
			}
			checkQuery(t, r, Query{Metric: "duplicates.count"}, sum)
			checkQuery(t, r, Query{Metric: "duplicates.resubmits"}, 0)
			if tp.known.used() != 0 {
				t.Errorf("%d jobs are still remembered", tp.known.used())
			}
		})
	}
}

// A job without a guard succeeds three times: that is two duplicates, and one job whose effect was doubled.
func TestThreeSuccessesOfOneJob(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	tp.enqueue(20, 2, 0)
	for _, from := range []float64{20, 30, 40} {
		token := tp.lease(from, 1, from)
		tp.start(from, 1, token)
		tp.finish(from+1, 1, token, 1, engine.NoError)
		if from < 40 {
			tp.outcome(from+9, engine.Returned, 1, tp.take(from+9, 1), 0)
		} else {
			tp.outcome(from+1, engine.Acked, 1, token, 0)
		}
	}
	tp.run(50, 2, 20, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 2, "effects.double": 1, "duplicates.per10k": 10000})
}

// Two executions of a job overlap, and both succeed. With a guard that is looked up at the start the effect is doubled
// unless the key was there when the second began, or it takes no time; with one that is set together with the effect never.
func TestOverlappingExecutions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		guards []Guard
		second float64 // start of the second execution; the first succeeds at 30
		ran    float64
		want   float64
	}{
		{"no guard", []Guard{NoGuard}, 25, 10, 1}, {"none is said", nil, 25, 10, 1}, {"looked up before", []Guard{CheckGuard}, 25, 10, 1},
		{"looked up after", []Guard{CheckGuard}, 31, 4, 0}, {"no time", []Guard{CheckGuard}, 25, 0, 0}, {"set at once", []Guard{AtomicGuard}, 25, 10, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := settings()
			s.Guards = tt.guards
			tp := newTape(s, 0)
			tp.enqueue(20, 1, 0)
			first := tp.lease(20, 1, 20)
			tp.start(20, 1, first)
			tp.outcome(24, engine.Returned, 1, tp.take(24, 1), 0)
			second := tp.lease(24, 1, 24)
			if tt.second < 30 {
				tp.start(tt.second, 1, second)
			}
			tp.finish(30, 1, first, 10, engine.NoError)
			if tt.second > 30 {
				tp.start(tt.second, 1, second)
			}
			tp.finish(35, 1, second, tt.ran, engine.NoError)
			tp.outcome(35, engine.Acked, 1, second, 0)
			check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 1, "effects.double": tt.want})
		})
	}
}

// A caller gives up on a copy that is executed but not acked, and on one that is not; a third
// caller's copy dies, and of a fourth one the second copy does, without having been claimed.
func TestResubmittedCopies(t *testing.T) {
	s := settings()
	s.Patience, s.CopyBits = []time.Duration{5 * time.Second, 0}, 8
	tp := newTape(s, 0)
	for caller := engine.JobID(1); caller <= 4; caller++ {
		tp.enqueue(20, caller<<8, 0)
	}
	first := tp.lease(20, 1<<8, 20)
	tp.start(20, 1<<8, first)
	tp.finish(24, 1<<8, first, 4, engine.NoError) // its ack is under way
	for caller := engine.JobID(1); caller <= 4; caller++ {
		tp.enqueue(25, caller<<8+1, 0)
	}
	tp.run(25, 4<<8, 20, 1)
	tp.outcome(29, engine.Buried, 4<<8+1, 0, 0)
	tp.outcome(26, engine.Acked, 1<<8, first, 0)
	for caller := engine.JobID(1); caller <= 3; caller++ {
		tp.run(30, caller<<8+1, 25, 1)
	}
	tp.run(40, 2<<8, 20, 1)
	third := tp.lease(50, 3<<8, 20)
	tp.start(50, 3<<8, third)
	tp.finish(51, 3<<8, third, 1, engine.FirstErrorKind)
	tp.outcome(51, engine.Buried, 3<<8, third, 0)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 0, "duplicates.resubmits": 2})
	if len(tp.resubmitted) != 0 {
		t.Errorf("%d callers are still remembered", len(tp.resubmitted))
	}
}

// TestResubmittedAndBuried has a copy succeed after it was buried, its handler having gone on beyond its timeout, when
// the other copy was done.
func TestResubmittedAndBuried(t *testing.T) {
	s := settings()
	s.Patience, s.CopyBits = []time.Duration{5 * time.Second, 0}, 8
	tp := newTape(s, 0)
	tp.enqueue(20, 1<<8, 0)
	tp.enqueue(25, 1<<8+1, 0)
	first := tp.lease(26, 1<<8, 20)
	tp.start(26, 1<<8, first)
	tp.run(30, 1<<8+1, 25, 1)
	tp.outcome(36, engine.Buried, 1<<8, first, 0)
	tp.finish(40, 1<<8, first, 14, engine.NoError)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 0, "duplicates.resubmits": 1})
	if len(tp.resubmitted) != 0 {
		t.Errorf("%d callers are still remembered", len(tp.resubmitted))
	}
}

// TestRedrivenWhileItRuns has a job die whose ack was lost, and an older execution of it end after it was made ready
// again: it is not forgotten, and its next success is a duplicate.
func TestRedrivenWhileItRuns(t *testing.T) {
	s := settings()
	s.Redrives = true
	tp := newTape(s, 0)
	tp.enqueue(20, 1, 0)
	oldest := tp.lease(20, 1, 20)
	tp.start(20, 1, oldest)
	tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
	second := tp.lease(31, 1, 30)
	tp.start(31, 1, second)
	tp.finish(32, 1, second, 1, engine.NoError)
	tp.outcome(50, engine.Buried, 1, tp.take(50, 1), 0)
	tp.play(engine.Event{At: at(60), Kind: engine.Redriven, Job: 1, Class: engine.Retry, Age: 40 * time.Second})
	tp.finish(61, 1, oldest, 41, engine.FirstErrorKind)
	tp.run(62, 1, 60, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 1, "effects.double": 1})
	if tp.known.used() != 0 {
		t.Errorf("%d jobs are still remembered", tp.known.used())
	}
}

// TestResubmittedAndRedriven has a copy succeed that was dead and is made ready again, after the other copy had.
func TestResubmittedAndRedriven(t *testing.T) {
	s := settings()
	s.Patience, s.CopyBits, s.Redrives = []time.Duration{5 * time.Second, 0}, 8, true
	tp := newTape(s, 0)
	tp.enqueue(20, 1<<8, 0)
	tp.enqueue(25, 1<<8+1, 0)
	first := tp.lease(26, 1<<8, 20)
	tp.start(26, 1<<8, first)
	tp.finish(27, 1<<8, first, 1, engine.FirstErrorKind)
	tp.outcome(27, engine.Buried, 1<<8, first, 0)
	tp.run(30, 1<<8+1, 25, 1)
	tp.play(engine.Event{At: at(40), Kind: engine.Redriven, Job: 1 << 8, Class: engine.Retry, Age: 20 * time.Second})
	tp.run(41, 1<<8, 40, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 0, "duplicates.resubmits": 1})
	if len(tp.resubmitted) != 0 {
		t.Errorf("%d callers are still remembered", len(tp.resubmitted))
	}
}

// The series of starved time shows, bucket by bucket, when the oldest fresh job had waited for over a second.
func TestStarvedSeries(t *testing.T) {
	tp := newTape(settings(), 0) // buckets of 10 s
	for id := engine.JobID(1); id <= 4; id++ {
		tp.enqueue(15, id, 0)
	}
	tp.run(15.5, 1, 15, 0.1) // half a second: not starved
	tp.run(38, 2, 15, 0.1)   // from 16 to 38
	tp.run(38.9, 3, 15, 0.1) // still the same
	tp.run(41, 4, 15, 0.1)
	starved := tp.Finish(at(100), nil).Series.Starved
	want := []float64{0, 0.4, 1, 1, 0.1, 0, 0, 0, 0, 0}
	if len(starved) != len(want) {
		t.Fatalf("%d buckets, want %d", len(starved), len(want))
	}
	for i := range want {
		if d := starved[i] - want[i]; d > 1e-9 || d < -1e-9 {
			t.Errorf("bucket %d: %v, want %v", i, starved[i], want[i])
		}
	}
}

// A stretch that lasts when the run ends counts too.
func TestStarvedSeriesAtTheEnd(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(95, 1, 0)
	r := tp.Finish(at(103), left(unfinished.Job{ID: 1, State: engine.Ready, Age: 8 * time.Second, Waited: 8 * time.Second}))
	if got := r.Series.Starved; len(got) != 11 || got[9] != 0.4 || got[10] < 0.29 || got[10] > 0.31 {
		t.Errorf("starved = %v", got)
	}
}

func TestTenantCounts(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "a", "b", "c"}
	run := func(seconds float64) Run {
		tp := newTape(s, 0)
		play := func(at_ float64, kind engine.EventKind, job engine.JobID, tenant engine.TenantID, waited float64) {
			tp.play(engine.Event{At: at(at_), Kind: kind, Job: job, Tenant: tenant, Token: engine.Token(job), Waited: time.Duration(waited * 1e9), Ran: time.Second})
		}
		for job := engine.JobID(1); job <= 3; job++ {
			tenant := engine.TenantID(1 + job/3)
			play(20+float64(job), engine.Enqueued, job, tenant, 0)
			play(21+float64(job), engine.Leased, job, tenant, float64(job)*seconds)
			play(21+float64(job), engine.Started, job, tenant, 0)
			play(22+float64(job), engine.Finished, job, tenant, 0)
		}
		play(101, engine.Enqueued, 9, 1, 0) // after the end of arrivals
		play(102, engine.Leased, 9, 1, 50)
		return tp.Finish(at(110), nil)
	}
	a, b := run(1), run(2)
	got := PoolTenants([]*Run{&a, &b})
	want := []TenantCount{{Executions: 4, FreshClaims: 4, WaitSum: 9, WaitMax: 4}, {Executions: 2, FreshClaims: 2, WaitSum: 9, WaitMax: 6}, {}}
	if len(got) != len(want) {
		t.Fatalf("%d tenants, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("tenant %d: %+v, want %+v", i+1, got[i], want[i])
		}
	}
	s.Tenants = []string{"", "a"}
	if r := run(1); r.Tenants != nil {
		t.Errorf("a tenant alone is counted: %+v", r.Tenants)
	}
}

// The stored waits of tenants give the same values as the metric narrowed to one tenant, bounds included.
func TestTenantWaits(t *testing.T) {
	s := settings()
	s.Tenants = []string{"", "a", "b", "c", "d"}
	for _, name := range s.Tenants[1:] {
		s.Objectives = append(s.Objectives, Objective{Query: Query{Metric: "fresh.wait.p99", Tenant: name}})
	}
	run := func(seed uint64) Run {
		tp := newTape(s, 0)
		var tape []engine.Event
		for i := range uint64(900) {
			job, tenant, enqueued := engine.JobID(i+1), engine.TenantID(1+i%3), 5+float64(i)/10 // some before the warm-up is over
			waited := at(float64((i*7+seed*131)%97) / 10)
			tape = append(tape, engine.Event{At: at(enqueued), Kind: engine.Enqueued, Job: job, Tenant: tenant},
				engine.Event{At: at(enqueued) + waited, Kind: engine.Leased, Job: job, Tenant: tenant, Token: 1, Waited: time.Duration(waited), Age: time.Duration(waited)})
		}
		slices.SortStableFunc(tape, func(a, b engine.Event) int { return int(a.At - b.At) })
		for _, e := range tape {
			tp.play(e)
		}
		var unclaimed []unfinished.Job
		for i := range 20 {
			unclaimed = append(unclaimed, unfinished.Job{ID: engine.JobID(1000 + i), Tenant: 2, State: engine.Ready, Age: 40 * time.Second, Waited: 40 * time.Second},
				unfinished.Job{ID: engine.JobID(2000 + i), Tenant: 3, Class: engine.Retry, State: engine.Ready, Age: 40 * time.Second, Waited: 40 * time.Second},
				unfinished.Job{ID: engine.JobID(3000 + i), Tenant: 3, State: engine.Ready, Age: 109 * time.Second, Waited: 109 * time.Second}) // of the warm-up
		}
		r := tp.Finish(at(110), left(unclaimed...))
		r.Seed = seed
		return r
	}
	var runs []*Run
	for seed := range uint64(3) {
		r := run(seed + 1)
		runs = append(runs, &r)
	}
	pooled, got := Pool(runs), PoolTenantWaits(runs)
	if len(got) != 4 {
		t.Fatalf("%d tenants, want 4", len(got))
	}
	for i, w := range got {
		want, bound, ok := PooledQuantile(Query{Metric: "fresh.wait.p99", Tenant: s.Tenants[i+1]}, pooled)
		if ok != (w.Jobs > 0) || w.P99 != want || w.AtLeast != bound {
			t.Errorf("tenant %s: %+v, but its fresh.wait.p99 is %v, a bound: %v", s.Tenants[i+1], w, want, bound)
		}
		for _, h := range pooled {
			if n := h.Count(); h.Query == (Query{Metric: "fresh.wait", Tenant: s.Tenants[i+1]}) && n != w.Jobs {
				t.Errorf("tenant %s: %d jobs, want %d", s.Tenants[i+1], w.Jobs, n)
			}
		}
	}
	if !got[1].AtLeast || got[0].AtLeast || got[2].AtLeast || got[3].Jobs != 0 || got[0].Jobs == 0 {
		t.Errorf("%+v", got)
	}
}

// A job whose success was fenced, and that is buried, redriven and done, has been executed twice with success.
func TestRedrivenAfterSuccess(t *testing.T) {
	s := settings()
	s.Redrives = true
	tp := newTape(s, 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(21, 1, 20)
	tp.start(21, 1, token)
	tp.finish(25, 1, token, 4, engine.NoError)
	tp.outcome(26, engine.Buried, 1, token+1, 0)
	tp.play(engine.Event{At: at(30), Kind: engine.Redriven, Job: 1, Class: engine.Retry})
	tp.run(32, 1, 30, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{
		"duplicates.count": 1, "duplicates.other": 1, "effects.double": 1, "goodput": 1.0 / 90, "dead.count": 0})
}
