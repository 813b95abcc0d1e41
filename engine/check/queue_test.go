package check

import (
	"testing"
	"time"
	"unsafe"

	"qsim/engine"
	"qsim/engine/unfinished"
)

// TestCatchesUp records an event and then asks the checker: whatever the answer depends on has been checked by then.
func TestCatchesUp(t *testing.T) {
	for name, ask := range map[string]func(c *Checker){
		"Breach":    func(c *Checker) { c.Breach() },
		"Events":    func(c *Checker) { c.Events() },
		"Checks":    func(c *Checker) { c.Checks() },
		"Probes":    func(c *Checker) { c.Probes() },
		"Asked":     func(c *Checker) { c.Asked(0, 0, &engine.Job{ID: 2}, 0.5) },
		"Balance":   func(c *Checker) { c.Balance(engine.Stats{}) },
		"Sweep":     func(c *Checker) { c.Sweep(func(func(unfinished.Job) bool) {}) },
		"Settle":    func(c *Checker) { c.Settle() },
		"Released":  func(c *Checker) { c.Released(0, 0, 0) },
		"Complain":  func(c *Checker) { c.Complain(Recount, 0, "two and two are %d", 5) },
		"Stopped":   func(c *Checker) { c.Stopped(0, 0) },
		"Idles":     func(c *Checker) { c.Idles(0, 0) },
		"Overtaken": func(c *Checker) { c.Overtaken(0, 0) },
		"Waits":     func(c *Checker) { c.Waits(time.Second) },
		"Record":    func(c *Checker) { c.Record(&engine.Event{Kind: engine.NodeUp}) },
	} {
		c := New(Rules{Nodes: 1})
		engine.RecordJobs(c).Enqueued(0, &engine.NewJob{ID: 1})
		if c.events[engine.Enqueued] != 0 {
			t.Errorf("%s: an event is checked before anything is asked", name)
		}
		if ask(c); c.events[engine.Enqueued] != 1 {
			t.Errorf("%s: the event before it is not checked", name)
		}
	}
}

// TestRowSize checks that the record of a job fills four lines of a cache: a larger one would share lines with others.
func TestRowSize(t *testing.T) {
	if size := unsafe.Sizeof(job{}); size != 256 {
		t.Errorf("the record of a job has %d bytes, want 256", size)
	}
}

// TestFind looks up more jobs than are remembered as recent, twice in a row each, when every third of them is done.
func TestFind(t *testing.T) {
	jobs := &New(Rules{}).jobs
	const number = 5 << recentBits
	refs := make([]ref, number)
	for i := range refs {
		refs[i], _ = jobs.add(engine.JobID(i+1) << slotShift)
	}
	for i := 0; i < number; i += 3 {
		jobs.finish(refs[i], jobs.at(refs[i]))
	}
	for i := range 2 * number {
		id, want := engine.JobID(i/2+1)<<slotShift, refs[i/2]
		r, j := jobs.find(id)
		if done := i/2%3 == 0; r != want || (j == nil) != done || !done && (j != jobs.at(want) || j.id != id) {
			t.Fatalf("job %d is found as %d, %v, want %d", id, r, j, want)
		}
	}
	if r, j := jobs.find(number<<slotShift + 1); r != noRef || j != nil {
		t.Errorf("a job that was never added is found as %d, %v", r, j)
	}
}
