package sim_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/dist"
	"qsim/engine/fault"
	"qsim/engine/sim"
	"qsim/policies"
)

// arrivals is a workload of jobs at given times.
type arrivals struct {
	at []time.Duration
	n  int
}

func (a *arrivals) Next(j *engine.NewJob) (engine.Time, bool) {
	if a.n == len(a.at) {
		return 0, false
	}
	a.n++
	*j = engine.NewJob{ID: engine.JobID(a.n)}
	return engine.Time(a.at[a.n-1]), true
}

// TestRest ends a run when nothing is left to do: at once, or after a rest in which nodes go on asking. Work that comes
// during a rest ends it, and the next one is as long.
func TestRest(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rest    time.Duration
		redrive bool
	}{{"none", 0, false}, {"a rest", 10 * time.Second, false}, {"work during the rest", 10 * time.Second, true}} {
		t.Run(tt.name, func(t *testing.T) {
			w := quietWorld(t, 5)
			w.node.Fetch.Poll, w.config.Rest = 100*time.Millisecond, tt.rest
			w.flaky.fail, w.store.KeepDead = 1, true
			w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 1}
			if tt.redrive {
				w.config.Controls = []fault.Control{{Kind: fault.Redrive, On: engine.Called, Op: engine.OpRecover, Nth: 6, Node: -1, Share: 1}}
			}
			var buried, last engine.Time
			deaths := 0
			for _, e := range w.events(engine.Buried, engine.Called) {
				if last = e.At; e.Kind == engine.Buried {
					buried = e.At
					deaths++
				}
			}
			if want := map[bool]int{false: 5, true: 10}[tt.redrive]; deaths != want {
				t.Errorf("%d deaths, want %d", deaths, want)
			}
			if over := last.Sub(buried); over > tt.rest || over < tt.rest-100*time.Millisecond {
				t.Errorf("the last call comes %v after the last job has died, want %v or just before", over, tt.rest)
			}
		})
	}
}

// TestEndsAtOnce has the worker claim again in the instant in which it commits its last job: without a rest, the run is
// over with that commit, and the claim is not served any more.
func TestEndsAtOnce(t *testing.T) {
	for rest, want := range map[time.Duration]int{0: 0, 1: 1} {
		w := quietWorld(t, 1)
		w.node.Workers, w.node.Commit.Batch, w.node.Commit.Linger, w.config.Rest = 1, 1, 0, rest
		acked, claims := engine.Never, 0
		for _, e := range w.events(engine.Called, engine.Acked) {
			if e.Kind == engine.Acked {
				acked = e.At
			} else if e.Op == engine.OpClaim && acked == e.At {
				claims++
			}
		}
		if acked == engine.Never || claims != want {
			t.Errorf("rest %v: the job is done at %v, and %d claims are served then, want %d", rest, time.Duration(acked), claims, want)
		}
	}
}

// TestUntil ends a run at a given time, whatever is left: events at that instant still happen, the clock stops
// there, and does not move any more.
func TestUntil(t *testing.T) {
	for _, tt := range []struct {
		until, now time.Duration
		jobs       int
	}{
		{5 * time.Second, 5 * time.Second, 10},                 // the tenth comes at that instant
		{5250 * time.Millisecond, 5250 * time.Millisecond, 10}, // nothing comes then
		{5*time.Second - 1, 5*time.Second - 1, 9},
		{time.Hour, 10*time.Second + 106_500*time.Microsecond, 20}, // all are done: three ways of 0.5 ms, 100 ms to run, 5 ms to linger
	} {
		w := quietWorld(t, 20)
		w.jobs.gap = drawn(t)(dist.Constant(0.5))
		w.config.Until = engine.Time(tt.until)
		s := w.start()
		steps := int64(0)
		for s.Step() {
			steps++
		}
		if s.Events() != steps || steps < 5*int64(tt.jobs) {
			t.Errorf("%d events in %d steps", s.Events(), steps)
		}
		if again := s.Step(); again || s.Now() != engine.Time(tt.now) || w.ledger.n[engine.Enqueued] != tt.jobs || s.Over() != (tt.jobs == 20) {
			t.Errorf("until %v: stands at %v after %d jobs, goes on %v, over %v", tt.until, time.Duration(s.Now()), w.ledger.n[engine.Enqueued], again, s.Over())
		}
	}
}

// TestNotOver ends a run while its only job waits to be tried again: nothing comes and nothing runs, but it is not over.
func TestNotOver(t *testing.T) {
	w := quietWorld(t, 1)
	w.flaky.fail = 1
	w.node.Kinds[0].Retry = &policies.Backoff{MaxAttempts: 2, Kind: policies.Fixed, First: time.Minute}
	w.config.Until = 30 * second
	s := w.start()
	if s.Run(); s.Over() || w.ledger.n[engine.Nacked] != 1 || w.flaky.begun != w.flaky.ended {
		t.Errorf("over %v, after %d failures, %d executions begun, %d ended", s.Over(), w.ledger.n[engine.Nacked], w.flaky.begun, w.flaky.ended)
	}
}

// TestSlowEnqueue has every other job take two seconds to the store: it is enqueued then, and the run waits for it.
func TestSlowEnqueue(t *testing.T) {
	w := quietWorld(t, 0)
	w.workload = &arrivals{at: []time.Duration{time.Second, time.Second, 2 * time.Second, 3 * time.Second}}
	w.config.EnqueueDelay = func(at engine.Time, j *engine.NewJob) time.Duration {
		if want := []engine.Time{second, second, 2 * second, 3 * second}[j.ID-1]; at != want {
			t.Errorf("job %d is asked about at %v", j.ID, time.Duration(at))
		}
		return 2 * time.Second * time.Duration(j.ID%2)
	}
	want := map[engine.JobID]engine.Time{1: 3 * second, 2: second, 3: 4 * second, 4: 3 * second}
	enqueued := w.events(engine.Enqueued)
	for i, e := range enqueued {
		if order := []engine.JobID{2, 1, 4, 3}; e.Job != order[i] { // of one instant, the one that was sent first
			t.Errorf("job %d is enqueued where job %d should", e.Job, order[i])
		}
		if e.At != want[e.Job] {
			t.Errorf("job %d is enqueued at %v, want %v", e.Job, time.Duration(e.At), time.Duration(want[e.Job]))
		}
	}
	if len(enqueued) != 4 || w.ledger.n[engine.Acked] != 4 {
		t.Errorf("%d jobs are enqueued, %d done", len(enqueued), w.ledger.n[engine.Acked])
	}
}

// fussy revokes the jobs of odd numbers when they would arrive.
type fussy struct {
	*arrivals
	t *testing.T
}

func (f fussy) Comes(now engine.Time, j *engine.NewJob) bool {
	if now != engine.Time(f.at[j.ID-1]) || f.n != int(j.ID) {
		f.t.Errorf("job %d is asked about at %v, after %d were taken", j.ID, time.Duration(now), f.n)
	}
	return j.ID%2 == 0
}

// TestRevoked checks that jobs revoked at their arrival leave no trace.
func TestRevoked(t *testing.T) {
	w := quietWorld(t, 0)
	w.workload = fussy{&arrivals{at: []time.Duration{time.Second, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}}, t}
	var jobs []engine.JobID
	for _, e := range w.events(engine.Enqueued) {
		jobs = append(jobs, e.Job)
	}
	if len(jobs) != 2 || jobs[0] != 2 || jobs[1] != 4 || w.ledger.n[engine.Acked] != 2 || w.flaky.begun != 2 {
		t.Errorf("jobs %v come, %d are done", jobs, w.ledger.n[engine.Acked])
	}
}

// court is a Judge that decides outcomes at the end of executions: those of even jobs fail.
type court struct {
	*flaky
	decided map[engine.JobID]engine.Time
	ended   map[engine.JobID]engine.ErrorKind
}

func (c court) Begin(now engine.Time, node int32, j *engine.Job) sim.Execution {
	x := c.flaky.Begin(now, node, j)
	x.Undecided = true
	if j.ID == 3 {
		x.Runs = time.Hour
	}
	return x
}

func (c court) Decide(now engine.Time, _ int32, j *engine.Job) engine.ErrorKind {
	c.decided[j.ID] = now
	if j.ID%2 == 0 {
		return engine.Conflict
	}
	return engine.NoError
}

func (c court) End(now engine.Time, node int32, j *engine.Job, err engine.ErrorKind, aborted bool) {
	c.ended[j.ID] = err
	c.flaky.End(now, node, j, err, aborted)
}

// TestUndecided checks that the outcome of an execution is decided when it reaches its own end, and not for a
// cancelled one.
func TestUndecided(t *testing.T) {
	w := quietWorld(t, 3)
	w.node.Kinds = []engine.KindConfig{{Timeout: time.Second, Retry: &policies.Backoff{MaxAttempts: 1}}}
	c := court{w.flaky, map[engine.JobID]engine.Time{}, map[engine.JobID]engine.ErrorKind{}}
	w.handlers = c
	for _, e := range w.events(engine.Finished) {
		if want := []engine.ErrorKind{engine.NoError, engine.Conflict, engine.Timeout}[e.Job-1]; e.Error != want || c.ended[e.Job] != want {
			t.Errorf("job %d ends with error %d, its handler with %d, want %d", e.Job, e.Error, c.ended[e.Job], want)
		}
		if at, asked := c.decided[e.Job]; asked != (e.Job != 3) || asked && at != e.At {
			t.Errorf("job %d ends at %v and is decided at %v, %v", e.Job, time.Duration(e.At), time.Duration(at), asked)
		}
	}
	if len(c.ended) != 3 {
		t.Errorf("%d executions ended", len(c.ended))
	}
}

// TestCancelledKillsNobody cancels executions at whose end their process would die: they never reach it.
func TestCancelledKillsNobody(t *testing.T) {
	w := quietWorld(t, 3)
	w.node.Kinds = []engine.KindConfig{{Timeout: time.Second, Retry: &policies.Backoff{MaxAttempts: 1}}}
	w.flaky.service, w.flaky.kill = drawn(t)(dist.Constant(5)), 1
	w.start().Run()
	if n := w.ledger.n; n[engine.NodeDown] != 0 || n[engine.Finished] != 3 || n[engine.Buried] != 3 {
		t.Errorf("%d processes died, %d executions finished, %d jobs are buried, want 0, 3 and 3", n[engine.NodeDown], n[engine.Finished], n[engine.Buried])
	}
}

// TestHolds reads the leases held by the engine of a node before, during and after an execution, and while its process
// is frozen or down.
func TestHolds(t *testing.T) {
	w := quietWorld(t, 0)
	w.nodes, w.node.Workers = 1, 4
	w.workload = &arrivals{at: []time.Duration{time.Second, 2 * time.Second}}
	w.flaky.service = drawn(t)(dist.Constant(3))
	w.config.Controls = []fault.Control{{Kind: fault.Pause, At: 10 * second, For: 2 * time.Second}, {Kind: fault.Crash, At: 14 * second, For: 2 * time.Second},
		{Kind: fault.ShiftClock, At: 11 * second, Times: 2, Every: 4 * time.Second}} // does nothing, at a time when nothing else happens
	w.config.Until, w.config.Rest = 20*second, time.Hour
	w.node.Fetch.Poll = time.Second / 4
	s := w.start()
	for _, tt := range []struct {
		at         time.Duration
		held, idle int
		ok         bool
	}{
		{time.Second / 2, 0, 4, true}, {3 * time.Second / 2, 1, 3, true}, {5 * time.Second / 2, 2, 2, true}, {9 * time.Second / 2, 1, 3, true},
		{9 * time.Second, 0, 4, true}, {11 * time.Second, 0, 0, false}, {13 * time.Second, 0, 4, true}, {15 * time.Second, 0, 0, false}, {18 * time.Second, 0, 4, true},
	} {
		for s.Now() < engine.Time(tt.at) && s.Step() {
		}
		if held, idle, ok := s.Holds(0); held != tt.held || idle != tt.idle || ok != tt.ok {
			t.Errorf("at %v: holds %d with %d idle workers, %v; want %d, %d, %v", time.Duration(s.Now()), held, idle, ok, tt.held, tt.idle, tt.ok)
		}
	}
}

// TestEventsOfCalls wants no event of a deadline that was set too early: there are two of each call, two of each job, and
// one before each commit and each recovery, which a deadline brings.
func TestEventsOfCalls(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		w := quietWorld(t, 100)
		w.nodes = nodes
		w.config.EnqueueDelay = func(engine.Time, *engine.NewJob) time.Duration { return 0 } // on its way for no time
		most := 2 * 100
		w.ledger.perTime = func(e *engine.Event) {
			if e.Kind != engine.Called {
				return
			}
			if most += 2; e.Op == engine.OpCommit || e.Op == engine.OpRecover {
				most++
			}
		}
		s := w.start()
		if s.Run(); s.Events() > int64(most) {
			t.Errorf("%d nodes: %d events, want at most %d", nodes, s.Events(), most)
		}
	}
}

// TestEventsOfLostAnswers wants no event of an answer that is lost: of each recovery there is the call and the deadline
// at which it is made again, and at the start and the end a few others.
func TestEventsOfLostAnswers(t *testing.T) {
	w := quietWorld(t, 0)
	w.workload = &arrivals{at: []time.Duration{1000 * time.Second}}
	w.node.Fetch.Poll, w.config.Until = 100*time.Hour, 900*second
	lost := fault.Fault{Window: fault.Window{For: engine.Forever}, LoseReply: 1}
	lost.Ops[engine.OpRecover] = true
	w.links.Faults = []fault.Fault{lost}
	most := 5
	w.ledger.perTime = func(e *engine.Event) {
		if e.Kind == engine.Called && e.Op == engine.OpRecover {
			most += 2
		}
	}
	s := w.start()
	if s.Run(); s.Events() > int64(most) || most < 300 {
		t.Errorf("%d events, want at most %d, and those of 150 recoveries", s.Events(), most)
	}
}

// TestRestBeginsAgain has a redrive come during a rest, of none: the rest begins anew after it.
func TestRestBeginsAgain(t *testing.T) {
	w := quietWorld(t, 5)
	w.node.Fetch.Poll, w.config.Rest, w.store.KeepDead = 100*time.Millisecond, 10*time.Second, true
	w.config.Controls = []fault.Control{{Kind: fault.Redrive, On: engine.Called, Op: engine.OpRecover, Nth: 6, Node: -1, At: 3 * second}}
	var asked, last engine.Time
	recovered := 0
	for _, e := range w.events(engine.Called) {
		if last = e.At; e.Op == engine.OpRecover {
			if recovered++; recovered == 6 {
				asked = e.At
			}
		}
	}
	if over := last.Sub(asked); over > 13*time.Second || over < 13*time.Second-100*time.Millisecond {
		t.Errorf("the last call comes %v after the one that the redrive follows, want 13 s or just before", over)
	}
}
