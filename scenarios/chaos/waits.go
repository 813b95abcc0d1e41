package chaos

import (
	"time"

	"qsim/engine"
)

// idle is the longest that a worker may be idle in calm while a job is ready.
func (w *World) idle(trip time.Duration) time.Duration {
	e := &w.Engine
	d := max(e.Fetch.Poll, e.Fetch.ErrorPause) + trip
	if e.Commit.Backpressure > 0 { // until what is not yet committed is
		jobs, _ := w.jobs()
		d += w.settleOutcome() + time.Duration(8*jobs)*w.Links.Delay[engine.OpCommit]
	}
	return d
}

// looking is how long a worker that has ended a job looks for the next one while jobs are
// ready, on average at the most: one claim after the other brings a batch each.
func (w *World) looking() time.Duration {
	e := &w.Engine
	claims := 1 + (e.Workers+e.Fetch.Batch-1)/e.Fetch.Batch
	return time.Duration(claims) * (16*w.Links.Delay[engine.OpClaim] + w.Links.PerJob*time.Duration(e.Fetch.Batch))
}

// rest is the longest that a process holds anything when nothing is left to do.
func (w *World) rest() time.Duration {
	jobs, _ := w.jobs()
	return w.Heal + w.leftovers() + w.patience() + time.Duration(8*jobs)*w.Links.Delay[engine.OpCommit]
}

// way is the longest that a call is on its way, there and back.
func (w *World) way() (d time.Duration) {
	for _, mean := range w.Links.Delay {
		d = max(d, 2*latest*mean)
	}
	return d + w.Links.PerJob*time.Duration(w.Engine.Fetch.Batch+w.Engine.Commit.Batch)
}
