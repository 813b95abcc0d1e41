package check_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
)

// TestAsked tells the checker what a retry policy is asked as an execution of job 1 fails: the age and the latest delay
// of the job, and a draw for jitter, must be right. A holder that was frozen as its answer came counts the age from when
// it thawed, also if its lease is taken before its execution ends.
func TestAsked(t *testing.T) {
	const bad = engine.Timeout
	frozen := func() *story { // from 1 s to 5 s, and its lease is taken at 12 s
		s := later().lease(1, 0, 1, 0, 0).add(engine.Event{Kind: engine.NodePause}).after(4*time.Second).
			add(engine.Event{Kind: engine.NodeWake}).start(1, 0, 0, 1)
		return s.after(7*time.Second).take(1, 1)
	}
	ends := func(s *story, kind engine.EventKind) *story { // under the first lease
		return s.after(time.Second).add(engine.Event{Kind: kind, Job: 1, Delivery: 1, Error: bad, Token: 1})
	}
	ran := func() *story { return ends(later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1), engine.Finished) }
	again := func() *story { // it has failed, and fails again 2 s later
		s := ran().commit(engine.Nacked, 1, 1, bad, time.Second).after(time.Second).promoted(1)
		return s.lease(1, 0, 2, 0, 2*time.Second).start(1, 0, 0, 2).after(time.Second).finish(1, 0, 0, 2, bad)
	}
	job := func(delivery int32, age, delay time.Duration) engine.Job {
		return engine.Job{ID: 1, Delivery: delivery, Age: age, LastDelay: delay}
	}
	rounded := func(r *check.Rules) { r.Node.Kinds = []engine.KindConfig{{Grain: 500 * time.Millisecond}} }
	fromClaim := func(r *check.Rules) { // 1 s before its failure
		r.Node.Kinds = []engine.KindConfig{{From: engine.Leased, Grain: 500 * time.Millisecond}}
	}
	resets := func(r *check.Rules) { r.Redrive.Resets = true }
	mayReset := func(r *check.Rules) { r.Redrive = check.Redrive{Resets: true, Keeps: true} }
	revived := func() *story { // it has failed, died, and fails again once it was redriven
		s := again().commit(engine.Buried, 1, 2, engine.Conflict, 0).add(engine.Event{Kind: engine.Redriven, Job: 1, Class: engine.Retry})
		return s.lease(1, 0, 3, 0, 3*time.Second).start(1, 0, 0, 3).finish(1, 0, 0, 3, bad)
	}
	tests := []struct {
		name  string
		story *story
		node  int32
		job   engine.Job
		draw  float64
		want  string // the broken invariant; "": none
		rules func(r *check.Rules)
	}{
		{"all is right", ran(), 0, job(1, time.Second, 0), .5, "", nil},
		{"it is told a delay, and had none", ran(), 0, job(1, time.Second, time.Second), .5, "I-15", nil},
		{"all is right of a retry", again(), 0, job(2, 3*time.Second, time.Second), .5, "", nil},
		{"part of the delay was over", again(), 0, job(2, 3*time.Second, 2500*time.Millisecond), .5, "", fromClaim},
		{"more was over than could be", again(), 0, job(2, 3*time.Second, 2500*time.Millisecond+1), .5, "I-15", fromClaim},
		{"it is told what was left, and less", again(), 0, job(2, 3*time.Second, time.Second-1), .5, "I-15", fromClaim},
		{"the delay was rounded", again(), 0, job(2, 3*time.Second, 1500*time.Millisecond), .5, "", rounded},
		{"it was rounded by more than its grain", again(), 0, job(2, 3*time.Second, 1500*time.Millisecond+1), .5, "I-15", rounded},
		{"redriven with what it had", revived(), 0, job(3, 3*time.Second, time.Second), .5, "", nil},
		{"redriven as new", revived(), 0, job(3, 3*time.Second, 0), .5, "", resets},
		{"redriven as new, and told the delay before", revived(), 0, job(3, 3*time.Second, time.Second), .5, "I-15", resets},
		{"redriven as new, and told what was over of the delay before", revived(), 0, job(3, 3*time.Second, 500*time.Millisecond), .5, "I-15", func(r *check.Rules) {
			rounded(r)
			resets(r)
		}},
		{"redriven as new, or not", revived(), 0, job(3, 3*time.Second, 0), .5, "", mayReset},
		{"redriven as new, or with what it had", revived(), 0, job(3, 3*time.Second, time.Second), .5, "", mayReset},
		{"it is not told the delay", again(), 0, job(2, 3*time.Second, 0), .5, "I-15", nil},
		{"it is told the age of the attempt", again(), 0, job(2, time.Second, time.Second), .5, "I-15", nil},
		{"it is told an age that it has not reached", again(), 0, job(2, 3*time.Second+1, time.Second), .5, "I-15", nil},
		{"the jitter is that of the failure before", again(), 0, job(2, 3*time.Second, time.Second), .25, "I-9", nil},
		{"a holder fails, and its lease was taken", ends(frozen(), engine.Finished), 0, job(1, 8*time.Second, 0), .5, "", nil},
		{"a holder times out, and its lease was taken", ends(frozen(), engine.TimedOut), 0, job(1, 8*time.Second, 0), .5, "", nil},
		{"who took the lease is told the age of the attempt", frozen(), 1, job(1, 7*time.Second, 0), .5, "I-15", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rules()
			r.Heard, r.Trip = 1, time.Second
			if tt.rules != nil {
				tt.rules(&r)
			}
			c := check.New(r)
			for i := range tt.story.events {
				c.Record(&tt.story.events[i])
			}
			now := tt.story.events[len(tt.story.events)-1].At
			if tt.job.Delivery > 1 {
				c.Asked(now, 0, &engine.Job{ID: 1, Delivery: 1}, .25)
			}
			c.Asked(now, tt.node, &tt.job, tt.draw)
			got := ""
			if b := c.Breach(); b != nil {
				got = b.Invariant.String()
			}
			if got != tt.want {
				t.Errorf("got %q (%v), want %q", got, c.Breach(), tt.want)
			}
		})
	}
}
