package measure

import (
	"testing"
	"time"

	"qsim/engine"
)

// loseAnswer records a job whose claim has a lost answer: a reaper takes its lease, and it waits for another claim. It
// returns the token of the lost claim.
func (t *tape) loseAnswer(s float64, job engine.JobID) engine.Token {
	t.enqueue(s, job, 0)
	lost := t.lease(s, job, s)
	t.outcome(s, engine.Nacked, job, t.take(s, job), 0)
	return lost
}

// TestLimbo loses the answers to claims of more jobs than are remembered for that: the oldest are forgotten, unless they
// are leased again or have been forgotten already, and jobs that go through without trouble do not drive them out.
func TestLimbo(t *testing.T) {
	tp := newTape(settings(), 0)
	lost := map[engine.JobID]engine.Token{}
	for id := engine.JobID(1); id <= limboSize; id++ {
		lost[id] = tp.loseAnswer(20, id)
	}
	tp.start(21, 2, lost[2])
	tp.finish(21, 2, lost[2], 0, engine.FirstErrorKind) // the answer was late: of that claim there is nothing to come
	tp.promote(21, 3, engine.Retry)
	again := tp.lease(21, 3, 21)
	for id := engine.JobID(10_000); id < 20_000; id++ {
		tp.enqueue(22, id, 0)
		tp.run(22, id, 22, 0)
	}
	for id := engine.JobID(5001); id <= 5004; id++ {
		lost[id] = tp.loseAnswer(23, id)
	}
	for id, want := range map[engine.JobID]bool{1: false, 2: false, 3: true, 4: false, 5: true, 5001: true, 5004: true} {
		if got := tp.known.find(id) != nil; got != want {
			t.Errorf("job %d is remembered: %v, want %v", id, got, want)
		}
	}
	tp.start(24, 3, again)
	tp.finish(24, 3, again, 0, engine.NoError)
	tp.outcome(24, engine.Acked, 3, again, 0)
	tp.start(25, 3, lost[3]) // its other claim
	tp.finish(25, 3, lost[3], 0, engine.NoError)
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 1})
	if tp.strange != 0 || tp.known.find(3) != nil {
		t.Errorf("%d executions are of nobody, job 3 is remembered: %v", tp.strange, tp.known.find(3) != nil)
	}
}

// TestLimboOfCopies has all copies of a caller's job done, one of which had a claim with a lost answer: once that copy
// is forgotten, so is the caller.
func TestLimboOfCopies(t *testing.T) {
	s := settings()
	s.Patience, s.CopyBits = []time.Duration{5 * time.Second}, 16
	tp := newTape(s, 0)
	first, second := engine.JobID(1<<16), engine.JobID(1<<16+1)
	tp.loseAnswer(20, first)
	tp.enqueue(25, second, 0)
	tp.run(26, second, 25, 1)
	tp.promote(27, first, engine.Retry)
	tp.run(28, first, 27, 1)
	for id := engine.JobID(2); id < 2+limboSize; id++ {
		if id == limboSize/2 && tp.resubmitted[first] == nil {
			t.Error("the caller is forgotten before its time")
		}
		tp.loseAnswer(30, id<<16)
	}
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.resubmits": 1})
	if len(tp.resubmitted) != 0 {
		t.Errorf("%d callers are still remembered", len(tp.resubmitted))
	}
}

// TestForgottenExecution has an execution end, and one begin, of a job that was forgotten and is claimed anew: it is
// forgotten again once it is done.
func TestForgottenExecution(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueued[1] = 20
	tp.start(20, 1, 500)
	current := tp.lease(21, 1, 21)
	tp.finish(22, 1, 500, 2, engine.FirstErrorKind)
	tp.start(23, 1, 501)
	tp.start(23, 1, current)
	tp.finish(24, 1, 501, 1, engine.FirstErrorKind)
	tp.finish(24, 1, current, 1, engine.NoError)
	tp.outcome(24, engine.Acked, 1, current, 0)
	tp.Finish(at(100), nil)
	if tp.known.used() != 0 || tp.strange != 1 {
		t.Errorf("%d jobs are remembered, %d executions are of nobody", tp.known.used(), tp.strange)
	}
}

// TestBuriedAfterSuccess buries a job whose ack was lost: it is forgotten.
func TestBuriedAfterSuccess(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.start(20, 1, token)
	tp.finish(21, 1, token, 1, engine.NoError)
	tp.outcome(50, engine.Buried, 1, tp.take(50, 1), 0)
	check(t, tp.Finish(at(100), nil), map[string]float64{"dead.count": 1, "wasted": 1})
	if tp.known.used() != 0 {
		t.Errorf("%d jobs are remembered", tp.known.used())
	}
}

// TestEffectOfManySuccesses counts a job whose effect is applied four times as one.
func TestEffectOfManySuccesses(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	for i := range 4 {
		s := 20 + 10*float64(i)
		token := tp.lease(s, 1, s)
		tp.start(s, 1, token)
		tp.finish(s+1, 1, token, 1, engine.NoError)
		tp.outcome(s+9, engine.Returned, 1, tp.take(s+9, 1), 0)
	}
	check(t, tp.Finish(at(100), nil), map[string]float64{"duplicates.count": 3, "effects.double": 1})
}

// TestEarlyAckOfAFailure takes the ack of an execution at its start, which then fails: its time is wasted.
func TestEarlyAckOfAFailure(t *testing.T) {
	tp := newTape(settings(), 0)
	tp.enqueue(20, 1, 0)
	token := tp.lease(20, 1, 20)
	tp.outcome(20, engine.Acked, 1, token, 0)
	tp.start(20, 1, token)
	tp.finish(25, 1, token, 5, engine.FirstErrorKind)
	check(t, tp.Finish(at(100), nil), map[string]float64{"wasted": 1, "goodput": 0})
}
