package measure

import (
	"testing"
	"time"

	"qsim/engine"
)

// A worker that goes on at a timeout is free from then on, not once more when the handler returns at last, or dies.
func TestFreedWorker(t *testing.T) {
	for _, end := range []engine.Event{
		{Kind: engine.Finished, Error: engine.Timeout},
		{Kind: engine.Aborted}, // which has no token
	} {
		tp := newTape(settings(), 0)
		tp.enqueue(20, 1, 0)
		token := tp.lease(20, 1, 20)
		tp.start(20, 1, token)
		tp.enqueue(22, 2, 0)
		other := tp.lease(22, 2, 22)
		tp.start(22, 2, other)
		tp.play(engine.Event{At: at(24), Kind: engine.TimedOut, Job: 1, Slot: 1, Token: token, Freed: true})
		tp.finish(26, 2, other, 4, engine.NoError) // the worker of another execution, which ends meanwhile
		end.At, end.Job, end.Slot, end.Ran = at(30), 1, 1, 10*time.Second
		tp.play(end)
		tp.enqueue(40, 3, 0)
		tp.run(40, 3, 40, 2)
		check(t, tp.Finish(at(100), nil), map[string]float64{"utilization": 10.0 / 180})
	}
}

// Two workers that are freed at once are each free once, and idle for jobs of another class than theirs.
func TestTwoFreedWorkers(t *testing.T) {
	s := settings()
	ofOthers, busy := Query{Metric: "idle.ready", Class: "sums"}, Query{Metric: "utilization", Class: "sums"}
	s.Asked = []Query{ofOthers, busy}
	tp := newTape(s, 0)
	var tokens [3]engine.Token
	for id := engine.JobID(1); id <= 2; id++ {
		tp.enqueue(20, id, 0)
		tokens[id] = tp.lease(20, id, 20)
		tp.start(20, id, tokens[id])
	}
	tp.enqueue(22, 3, 1)
	for id := engine.JobID(1); id <= 2; id++ {
		tp.play(engine.Event{At: at(24), Kind: engine.TimedOut, Job: id, Slot: engine.Slot(id), Token: tokens[id], Freed: true})
	}
	tp.run(25, 3, 22, 1) // two workers are idle beside it for a second
	for id := engine.JobID(1); id <= 2; id++ {
		tp.play(engine.Event{At: at(30), Kind: engine.Finished, Job: id, Slot: engine.Slot(id), Token: tokens[id], Error: engine.Timeout, Ran: 10 * time.Second})
	}
	tp.enqueue(40, 4, 0)
	tp.run(40, 4, 40, 2)
	r := tp.Finish(at(100), nil)
	check(t, r, map[string]float64{"utilization": (2*4 + 1 + 2) / 180.0})
	checkQuery(t, r, ofOthers, 2)
	checkQuery(t, r, busy, 1/180.0)
	if len(tp.freed) > 0 {
		t.Errorf("executions are remembered after their end: %v", tp.freed)
	}
}
