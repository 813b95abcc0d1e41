package measure

import (
	"math"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// A process dies with two executions; their leases expire and are taken.
func TestCrash(t *testing.T) {
	tp := newTape(settings(), 0)
	for id := engine.JobID(1); id <= 3; id++ {
		tp.enqueue(20, id, 0)
	}
	tp.start(20, 1, tp.lease(20, 1, 20))
	tp.start(20, 2, tp.lease(20, 2, 20))
	for id := engine.JobID(1); id <= 2; id++ {
		tp.play(engine.Event{At: at(24), Kind: engine.Aborted, Job: id, Ran: 4 * time.Second})
	}
	tp.play(engine.Event{At: at(24), Kind: engine.NodeDown})
	tp.play(engine.Event{At: at(30), Kind: engine.NodeUp})
	for id := engine.JobID(1); id <= 2; id++ {
		reaper := tp.take(32, id)
		tp.outcome(32, engine.Returned, id, reaper, 0)
	}
	tp.run(40, 1, 32, 1)
	tp.run(41, 2, 32, 1)
	tp.run(42, 3, 20, 1)
	r := tp.Finish(at(100), nil)
	check(t, r, map[string]float64{
		"leases.expired": 2, "leases.false": 0, "wasted": 8.0 / 11, "duplicates.count": 0, "duplicates.executions": 0,
		"throughput": 3.0 / 90, "utilization": 11.0 / 180,
		// Job 3 is ready over [20, 42): no idle worker until the crash, none while the process is down,
		// two until 40, one from then on.
		"idle.ready": 2*10 + 1*2,
	})
	if n := tp.known.used(); n != 0 {
		t.Errorf("%d jobs are still remembered", n)
	}
}

// An event by which a node is up, or down, changes nothing if the node is so already, as at the start.
func TestNodesThatAreUpAlready(t *testing.T) {
	s := settings()
	s.Nodes = 2
	tp := newTape(s, 0)
	turn := func(s float64, kind engine.EventKind, node int32) {
		tp.play(engine.Event{At: at(s), Kind: kind, Node: node})
	}
	turn(0, engine.NodeUp, 0)
	turn(0, engine.NodeUp, 1)
	tp.enqueue(20, 1, 0)
	turn(30, engine.NodeDown, 1)
	turn(31, engine.NodeDown, 1)
	turn(32, engine.NodeDown, 2) // there is none
	tp.run(40, 1, 20, 1)
	check(t, tp.Finish(at(100), nil), map[string]float64{"idle.ready": 4*10 + 2*10})
}

// The answer to a claim is lost for long; the job is done meanwhile, then the lost copy runs.
func TestLateCopyIsADuplicate(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 1)
	lost := tp.lease(20, 1, 20)
	reaper := tp.take(50, 1)
	tp.outcome(50, engine.Nacked, 1, reaper, 0)
	tp.promote(50, 1, engine.Retry)
	tp.run(51, 1, 50, 1)
	tp.start(60, 1, lost)
	tp.finish(61, 1, lost, 1, engine.NoError)
	r := tp.Finish(at(100), nil)
	check(t, r, map[string]float64{"duplicates.count": 1, "duplicates.executions": 1, "effects.double": 0, "start.wait.mean": 1, "wasted": 0.5})
	if n := tp.known.used(); n != 0 {
		t.Errorf("%d jobs are still remembered", n)
	}
}

// A handler goes on after its attempt timed out: its lease ended with that attempt, and the one that a reaper takes is of
// another claim. Of all claims whose leases are taken the handlers go on too, however many claims follow.
func TestTakenLeases(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	over := tp.lease(20, 1, 20)
	tp.start(20, 1, over)
	tp.outcome(21, engine.Nacked, 1, over, 1)
	tp.promote(22, 1, engine.Retry)
	lost := make([]engine.Token, 34)
	for i := range lost {
		s := 22 + float64(i)
		lost[i] = tp.lease(s, 1, s)
		tp.start(s, 1, lost[i])
		tp.outcome(s, engine.Nacked, 1, tp.take(s, 1), 1)
		tp.promote(s+1, 1, engine.Retry)
		if i == 30 { // of 31 claims later it is still known
			tp.finish(s+1, 1, over, 1, engine.FirstErrorKind)
		}
	}
	between := tp.lease(56, 1, 56)
	tp.start(56, 1, between)
	tp.outcome(57, engine.Nacked, 1, between, 1)
	tp.promote(58, 1, engine.Retry)
	lost = append(lost, tp.lease(58, 1, 58))
	tp.start(58, 1, lost[34])
	tp.outcome(59, engine.Nacked, 1, tp.take(59, 1), 1)
	tp.promote(60, 1, engine.Retry)
	last := tp.lease(60, 1, 60)
	tp.start(60, 1, last)
	for _, token := range append(lost, between, last) {
		tp.finish(61, 1, token, 1, engine.FirstErrorKind)
	}
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.executions": float64(len(lost))})
}

// Without fencing the ack of the first holder is accepted while the job is ready again,
// and, of another job, while it waits.
func TestUnfencedAck(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	tp.enqueue(20, 2, 0)
	one, two := tp.lease(20, 1, 20), tp.lease(20, 2, 20)
	tp.start(20, 1, one)
	tp.start(20, 2, two)
	tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
	tp.outcome(30, engine.Nacked, 2, tp.take(30, 2), 60)
	tp.finish(32, 1, one, 12, engine.NoError)
	tp.play(engine.Event{At: at(32), Kind: engine.Acked, Job: 1, Token: one, From: engine.Ready, Class: engine.Retry, Delivery: 1, Age: 12 * time.Second})
	tp.finish(33, 2, two, 13, engine.NoError)
	tp.play(engine.Event{At: at(33), Kind: engine.Acked, Job: 2, Token: two, From: engine.Waiting, Class: engine.Retry, Delivery: 1, Age: 13 * time.Second})
	r := tp.Finish(at(100), nil)
	check(t, r, map[string]float64{"wasted": 0, "sojourn.max": 13, "duplicates.executions": 2, "duplicates.count": 0, "backlog.retry.mean": 2.0 / 90,
		"retry.wait.p50": math.NaN(), "waiting.max": 1})
	if tp.views[0].level != [numAreas]int64{} || tp.known.used() != 0 {
		t.Errorf("left: levels %v, known %d", tp.views[0].level, tp.known.used())
	}
}

// With early acks the ack is accepted before the execution begins.
func TestEarlyAck(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.outcome(20, engine.Acked, 1, token, 0)
	tp.start(20, 1, token)
	tp.finish(25, 1, token, 5, engine.NoError)
	check(t, tp.Finish(at(100), nil), map[string]float64{"wasted": 0, "sojourn.max": 0, "goodput": 1.0 / 90})
	if tp.known.used() != 0 {
		t.Errorf("%d jobs are still remembered", tp.known.used())
	}
}

// Events of jobs that are not known are warned about, each kind of them, and jobs that are tried for ever unless they end.
func TestWarningsOfEach(t *testing.T) {
	for name, play := range map[string]func(tp *tape){
		"executions of jobs": func(tp *tape) { tp.start(61, 77, 500) },
		"executions of":      func(tp *tape) { tp.finish(62, 77, 500, 1, engine.NoError) },
		"livelock: jobs are": func(tp *tape) {
			tp.enqueue(20, 1, 0)
			tp.claims[1] = endlessTries - 1
			tp.lease(20, 1, 20)
		},
		"": func(tp *tape) {
			tp.enqueue(20, 1, 0)
			tp.claims[1] = endlessTries - 2
			tp.lease(20, 1, 20)
		},
	} {
		for _, ends := range []bool{false, true} {
			tp := newTape(settings(), 0)
			play(tp)
			unresolved := left(unfinished.Job{ID: 1, State: engine.InFlight, Class: engine.Retry, Age: 80 * time.Second})
			if ends {
				unresolved = nil
			}
			want := name != "" && !(ends && strings.HasPrefix(name, "livelock"))
			if w := tp.Finish(at(100), unresolved).Warnings; (len(w) == 1) != want || want && !strings.HasPrefix(w[0], name) {
				t.Errorf("%s, which ends: %v: warnings %q", name, ends, w)
			}
		}
	}
}

func TestWarnings(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.start(20, 1, token)
	tp.outcome(30, engine.Returned, 1, tp.take(30, 1), 0)
	tp.finish(60, 1, token, 40, engine.NoError)
	tp.play(engine.Event{At: at(60), Kind: engine.Fenced, Job: 1, Token: token})
	tp.start(61, 77, 500)
	tp.finish(62, 77, 500, 1, engine.NoError)
	r := tp.Finish(at(100), left(unfinished.Job{ID: 1, State: engine.Ready, Class: engine.Retry, Age: 80 * time.Second, Waited: 70 * time.Second}))
	if len(r.Warnings) != 2 || !strings.HasPrefix(r.Warnings[0], "livelock") || !strings.HasPrefix(r.Warnings[1], "executions of jobs") {
		t.Errorf("warnings = %q", r.Warnings)
	}
}

// The collector allocates nothing per event once it has seen the like.
func TestRecordDoesNotAllocate(t *testing.T) {
	m := newMix()
	for range 4000 {
		m.round()
	}
	m.due = append(make([]engine.JobID, 0, 4096), m.due...)
	if n := testing.AllocsPerRun(100, m.round); n > 0 {
		t.Errorf("%v allocations per round", n)
	}
	if n := m.c.(*Collector).known.used(); n > 8 {
		t.Errorf("%d jobs are remembered, of which none is leased", n)
	}
}
