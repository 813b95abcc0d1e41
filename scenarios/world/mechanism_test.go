package world

import (
	"reflect"
	"testing"
	"time"

	"qsim/engine"
	"qsim/results/measure"
)

// TestMechanics computes by hand the statistics of two rounds of a scenario with one storm, at ten
// times its speed: a claim counts in the phase of its answer, and an execution in the phase of its
// start, but its worker is busy in every phase that it touches.
func TestMechanics(t *testing.T) {
	const ms = time.Millisecond
	m := NewMechanics(&measure.Settings{Duration: 10 * time.Second, Storms: []measure.Window{{Name: "down", From: 4 * time.Second, To: 8 * time.Second}}},
		Speed{Num: 10, Den: 1})
	claim := func(woken bool, rows int, began, ended time.Duration) {
		m.Call(&engine.Call{Op: engine.OpClaim, Woken: woken, Engine: engine.NewEngineID(1, 1)}, rows, began, ended)
	}
	for range 2 {
		claim(true, 3, 10*ms, 12*ms)
		claim(false, 5, 15*ms, 19*ms)
		claim(false, 1, 398*ms, 401*ms) // answered in the storm
		m.Call(&engine.Call{Op: engine.OpCommit, Engine: engine.NewEngineID(1, 1)}, 7, 500*ms, 506*ms)
		m.Attempt(300*ms, 900*ms)   // 100 ms before the storm, 400 ms in it, 100 ms after it
		m.Attempt(1100*ms, 1200*ms) // when no more jobs come
		m.Over()
	}
	want := []Mechanism{
		{Phase: "calm", From: 0, To: 4 * time.Second, Lasts: 800 * ms, Attempts: 2, Busy: 200 * ms,
			Claims: Calls{4, 16, 12 * ms}, Woken: 2, Gap: 2 * (10 + 3) * ms},
		{Phase: "down", From: 4 * time.Second, To: 8 * time.Second, Lasts: 800 * ms, Busy: 800 * ms,
			Claims: Calls{2, 2, 6 * ms}, Gap: 2 * 379 * ms, Commits: Calls{2, 14, 12 * ms}},
		{Phase: "calm", From: 8 * time.Second, To: 10 * time.Second, Lasts: 400 * ms, Busy: 200 * ms},
		{Phase: "drain", From: 10 * time.Second, To: time.Duration(engine.Never), Lasts: 400 * ms, Attempts: 2, Busy: 200 * ms},
	}
	for i := range want {
		if !reflect.DeepEqual(m.Phases[i], want[i]) {
			t.Errorf("phase %d is %+v\nwant %+v", i, m.Phases[i], want[i])
		}
	}
}
