package check_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/bound"
	"qsim/engine/check"
)

// failing begins a second in: so many new jobs fail on node 0, one after the other, and are ready again a second later.
func failing(jobs engine.JobID) *story {
	s := (&story{}).after(time.Second).up()
	for job := range jobs {
		s.enqueue(job+1).lease(job+1, 0, 1, 0, 0).start(job+1, 0, 0, 1).finish(job+1, 0, 0, 1, engine.Timeout).
			commit(engine.Nacked, job+1, 1, engine.Timeout, time.Second)
	}
	s.after(time.Second)
	for job := range jobs {
		s.promoted(job + 1)
	}
	return s
}

// begin has node 0 claim a job of failing again, and begin it in a slot.
func (s *story) begin(job engine.JobID, slot engine.Slot) *story {
	return s.lease(job, 0, 2, s.at.Sub(2*second), s.at.Sub(second)).start(job, 0, slot, 2)
}

// retry has node 0 run a job of failing again, in no time.
func (s *story) retry(job engine.JobID, err engine.ErrorKind) *story {
	return s.begin(job, 0).finish(job, 0, 0, 2, err)
}

// until goes on at a time.
func (s *story) until(at time.Duration) *story { s.at = engine.Time(at); return s }

func (s *story) shed(job engine.JobID) *story {
	return s.add(engine.Event{Kind: engine.Buried, Job: job, From: engine.Ready})
}

// TestHolds holds processes to what policies promise on jobs that they hold back: most pairs are at a bound.
func TestHolds(t *testing.T) {
	const ns = time.Nanosecond
	bad, good := engine.Timeout, engine.NoError
	bucket := bound.Promise{Ration: bound.Ration{Burst: 4, Cost: 2, Succeeded: [engine.NumClasses]int64{engine.Fresh: 1, engine.Retry: 2}}}
	budget := bound.Promise{Ration: bound.Ration{Burst: 2, Cost: 1, Window: 9 * time.Second}}
	earned := bound.Promise{Ration: bound.Ration{Cost: 2, Claimed: 1, Window: 9 * time.Second, Earlier: time.Second}}
	spaced := bound.Promise{Brakes: []bound.Brake{{Class: engine.AnyClass, Failures: 2, Every: 10 * time.Second}}}
	few := bound.Promise{Brakes: []bound.Brake{{Class: engine.Retry, Failures: 2, AtOnce: 1}}}
	late := bound.Promise{Interval: 10 * time.Second, Buries: 1}
	two := func() *story { return failing(4).retry(1, bad).retry(2, bad) }
	// The second of two jobs began before they failed, and is still at it.
	beside := func() *story {
		return (&story{}).after(time.Second).up().enqueue(9).lease(9, 0, 1, 0, 0).start(9, 0, 1, 1)
	}
	held := func() *story { // jobs 1 and 2 have failed in a row, and are ready again, and job 9 runs
		s, f := beside(), failing(2)
		for i := range f.events[2:] {
			e := f.events[2+i]
			if e.Token > 0 {
				e.Token++
			}
			s.events = append(s.events, e)
		}
		s.at, s.token = f.at, f.token+1
		return s
	}
	over := func(s *story) *story { // job 9 succeeds
		token := s.token
		s.token = 1
		s.finish(9, 0, 1, 1, good)
		s.token = token
		return s
	}
	for _, tt := range []struct {
		name  string
		holds bound.Promise
		story *story
		rules func(r *check.Rules)
		want  string
	}{
		{"a bucket pays for two", bucket, two(), nil, ""},
		{"and not for three", bucket, two().retry(3, bad), nil, "I-11"},
		{"however much later", bucket, two().after(time.Hour).retry(3, bad), nil, "I-11"},
		{"but a retry that succeeds pays", bucket, failing(4).retry(1, bad).retry(2, good).retry(3, bad), nil, ""},
		{"for one", bucket, failing(4).retry(1, bad).retry(2, good).retry(3, bad).retry(4, bad), nil, "I-11"},
		{"two fresh jobs pay for one", bucket, two().run(7, good).run(8, good).retry(3, bad), nil, ""},
		{"one does not", bucket, two().run(7, good).retry(3, bad), nil, "I-11"},
		{"nor do two that fail", bucket, two().run(7, bad).run(8, bad).retry(3, bad), nil, "I-11"},
		{"what is beyond the brim is lost", bucket, failing(4).run(7, good).run(8, good).retry(1, bad).retry(2, bad).retry(3, bad), nil, "I-11"},
		{"a job was claimed ahead", bucket, two().retry(3, bad), func(r *check.Rules) { r.Node.Fetch.Prefetch = 1 }, ""},
		{"a new process has a full bucket", bucket, two().restart(0).retry(3, bad).retry(4, bad), nil, ""},
		{"a budget pays for two", budget, two(), nil, ""},
		{"and not for three", budget, two().until(11*time.Second-ns).retry(3, bad), nil, "I-11"},
		{"in a window", budget, two().until(11*time.Second).retry(3, bad).retry(4, bad), nil, ""},
		{"each second fresh job pays", earned, failing(4).until(11*time.Second-ns).retry(1, bad).retry(2, bad), nil, ""},
		{"for one", earned, failing(4).retry(1, bad).retry(2, bad).retry(3, bad), nil, "I-11"},
		{"but not for long", earned, failing(4).until(11*time.Second).retry(1, bad), nil, "I-11"},
		{"an answer came after a pause", earned, failing(4).freeze().until(11*time.Second).retry(1, bad), nil, ""},
		{"which was long ago", earned, failing(4).freeze().until(12*time.Second).retry(1, bad), nil, "I-11"},
		{"a late answer counts", earned, failing(4).until(11*time.Second).retry(1, bad), func(r *check.Rules) { r.Node.CallTimeout = ns }, ""},
		{"two failures hold a third back", spaced, failing(2).until(11*time.Second-ns).begin(1, 0), nil, "I-11"},
		{"for a time", spaced, failing(2).until(11*time.Second).begin(1, 0), nil, ""},
		{"and a fourth for another", spaced, failing(2).until(11*time.Second).retry(1, bad).until(21*time.Second-ns).begin(2, 0), nil, "I-11"},
		{"as long", spaced, failing(2).until(11*time.Second).retry(1, bad).until(21*time.Second).begin(2, 0), nil, ""},
		{"one failure does not", spaced, failing(1).begin(1, 0), nil, ""},
		{"nor do two with a success in between", spaced, failing(0).run(7, bad).run(8, good).run(9, bad).after(ns).run(10, good), nil, ""},
		{"a success ends it", spaced, failing(2).until(11*time.Second).retry(1, good).begin(2, 0), nil, ""},
		{"but not that of an earlier one", spaced, over(held()).begin(1, 0), nil, "I-11"},
		{"unless it may have been tried", spaced, over(held().until(11*time.Second)).begin(1, 0).begin(2, 1), nil, ""},
		{"it was claimed before", spaced, failing(2).begin(1, 0), func(r *check.Rules) { r.Node.CallTimeout = time.Second }, ""},
		{"it was claimed after", spaced, failing(2).begin(1, 0), func(r *check.Rules) { r.Node.CallTimeout = time.Second - ns }, "I-11"},
		{"another process", spaced, failing(2).lease(1, 1, 2, 0, time.Second).start(1, 1, 0, 2), nil, ""},
		{"two that were told to stop do not", spaced, failing(0).run(7, engine.Canceled).run(8, engine.LeaseExpired).after(ns).run(9, good), nil, ""},
		{"nor two that died with their process", spaced, died(), nil, ""},
		{"a timeout counts once", spaced, timedOut(false), nil, ""},
		{"and not at all while its handler is waited for", spaced, timedOut(true), nil, ""},
		{"the process was frozen in between", spaced, failing(2).freeze().begin(1, 0), nil, ""},
		{"others are not held back", bound.Promise{Brakes: []bound.Brake{{Class: engine.AnyClass, Kinds: 2, Failures: 2, Every: time.Hour}}},
			failing(2).begin(1, 0), nil, ""},
		{"after two failures one at once", few, two().after(ns).begin(3, 0).begin(4, 1), nil, "I-11"},
		{"one after the other", few, two().after(ns).retry(3, bad).begin(4, 1), nil, ""},
		{"after a success two at once", few, failing(4).retry(1, bad).retry(2, good).after(ns).begin(3, 0).begin(4, 1), nil, ""},
		{"first attempts do not count", few, failing(4).after(ns).begin(3, 0).begin(4, 1), nil, ""},
		{"two fresh jobs where one may run", bound.Promise{Lanes: true, Cap: 1},
			running().enqueue(2).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1), nil, "I-11"},
		{"two fresh jobs, of which one may be late", bound.Promise{Lanes: true, Cap: 1},
			running().enqueue(2).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1), func(r *check.Rules) { r.Node.Lease.RunLate = true }, ""},
		{"or held", bound.Promise{Lanes: true, Cap: 1},
			running().enqueue(2).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1), func(r *check.Rules) { r.Store.Held = true }, ""},
		{"the second may be late", few, two().after(ns).begin(3, 0).begin(4, 1), func(r *check.Rules) { r.Node.Lease.RunLate = true }, ""},
		{"a retry that nothing pays for may be late", bucket, two().retry(3, bad), func(r *check.Rules) { r.Node.Lease.RunLate = true }, ""},
		{"two retries where one may run", bound.Promise{Capped: true, Cap: 1}, failing(4).after(ns).begin(1, 0).begin(2, 1), nil, "I-11"},
		{"two retries, of which one may be late", bound.Promise{Capped: true, Cap: 1}, failing(4).after(ns).begin(1, 0).begin(2, 1), func(r *check.Rules) { r.Node.Lease.RunLate = true }, ""},
		{"a job is claimed in time", late, later().after(10*time.Second).lease(1, 0, 1, 10*time.Second, 10*time.Second), conserving, ""},
		{"and one too late", late, later().after(10*time.Second+ns).lease(1, 0, 1, 10*time.Second+ns, 10*time.Second+ns), conserving, "I-11"},
		{"one too late beside one that was buried", late, later().enqueue(2).until(20*time.Second).claimed(2).shed(1).lease(2, 0, 1, 19*time.Second, 19*time.Second), conserving, ""},
		{"and in the claim after that", late, later().enqueue(2).until(20*time.Second).claimed(1).shed(1).claimed(1).lease(2, 0, 1, 19*time.Second, 19*time.Second), conserving, "I-11"},
		{"buried while the queue is new", late, later().after(10 * time.Second).shed(1), conserving, "I-11"},
		{"buried when it is not", late, later().until(20 * time.Second).claimed(1).enqueue(2).after(6 * time.Second).shed(2), conserving, ""},
		{"buried soon after it was empty", late, later().until(20 * time.Second).claim(0).enqueue(2).until(30 * time.Second).shed(2), conserving, "I-11"},
		{"buried after the interval", late, later().until(11500 * time.Millisecond).claim(0).until(12 * time.Second).shed(1), conserving, ""},
		{"buried for a failure", late, later().lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).finish(1, 0, 0, 1, bad).until(3*time.Second).
			commit(engine.Buried, 1, 1, bad, 0), conserving, ""},
		{"buried soon after a claim had no answer", late, later().until(20 * time.Second).add(engine.Event{Kind: engine.CallTimedOut, Op: engine.OpClaim}).
			claim(0).enqueue(2).until(28 * time.Second).shed(2), conserving, ""},
		{"buried later", late, later().until(20 * time.Second).claim(0).enqueue(2).until(30*time.Second + ns).shed(2), conserving, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rules()
			r.Retries, r.Promise = nil, tt.holds
			r.Sheds = 5 * time.Second
			if tt.rules != nil {
				tt.rules(&r)
			}
			c := check.New(r)
			for i := range tt.story.events {
				if c.Record(&tt.story.events[i]); c.Breach() != nil && i < len(tt.story.events)-2 {
					t.Fatalf("event %d of %d: %v", i, len(tt.story.events), c.Breach())
				}
			}
			got := ""
			if b := c.Breach(); b != nil {
				got = b.Invariant.String()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q: %v", got, tt.want, c.Breach())
			}
		})
	}
}

// TestFurtherStopSignal tells a process twice to stop: from the first signal on it must hand back the job that it holds,
// and not begin it. It has done that if the store refuses it, of a lease that has lapsed.
func TestFurtherStopSignal(t *testing.T) {
	held := func() *story { return begun().after(time.Second).lease(1, 0, 1, time.Second, time.Second) }
	refused := engine.Event{Kind: engine.Fenced, Job: 1, Delivery: 1, Token: 1, Error: engine.Canceled}
	down := engine.Event{Kind: engine.NodeDown, Node: 0}
	for _, tt := range []struct {
		story  *story // the signals come 6 s and 3 s before its last event
		breaks bool
	}{
		{held().after(6 * time.Second).add(down), true},
		{held().after(12 * time.Second).add(refused).after(6 * time.Second).add(down), false},
		{held().after(6*time.Second).start(1, 0, 0, 1), true},
	} {
		r := rules()
		r.HandBack, r.Store.Fence = 5*time.Second, engine.FenceToken
		lapsing(&r)
		c := check.New(r)
		s := tt.story
		for i := range s.events {
			if i == len(s.events)-1 {
				c.Stopped(0, s.at.Add(-6*time.Second))
				c.Stopped(0, s.at.Add(-3*time.Second))
			}
			c.Record(&s.events[i])
		}
		if b := c.Breach(); (b != nil) != tt.breaks || b != nil && b.Invariant != check.Recovery {
			t.Errorf("got %v", b)
		}
	}
}

func (s *story) freeze() *story {
	return s.add(engine.Event{Kind: engine.NodePause}).add(engine.Event{Kind: engine.NodeWake})
}

// died has the process of two new jobs die, and begin another.
func died() *story {
	s := (&story{}).after(time.Second).up().enqueue(1).enqueue(2).enqueue(3).lease(1, 0, 1, 0, 0).start(1, 0, 0, 1).lease(2, 0, 1, 0, 0).start(2, 0, 1, 1)
	for job := range engine.JobID(2) {
		s.add(engine.Event{Kind: engine.Aborted, Job: job + 1, Delivery: 1, Slot: engine.Slot(job), Error: engine.Timeout})
	}
	return s.after(time.Second).lease(3, 0, 1, time.Second, time.Second).start(3, 0, 0, 1)
}

// timedOut has a new job time out, or be told to and go on, and end with a failure. Another job begins then.
func timedOut(waits bool) *story {
	s := (&story{}).after(time.Second).up().enqueue(1).enqueue(2).lease(1, 0, 1, 0, 0).start(1, 0, 0, 1)
	s.add(engine.Event{Kind: engine.TimedOut, Job: 1, Delivery: 1, Token: 1, Error: engine.Timeout, WaitsOut: waits})
	return s.finish(1, 0, 0, 1, engine.Timeout).after(time.Second).lease(2, 0, 1, time.Second, time.Second).start(2, 0, 0, 1)
}

// run has node 0 run a new job in no time.
func (s *story) run(job engine.JobID, err engine.ErrorKind) *story {
	return s.enqueue(job).lease(job, 0, 1, 0, 0).start(job, 0, 0, 1).finish(job, 0, 0, 1, err)
}

// claimed is a claim that brings so many jobs.
func (s *story) claimed(jobs int32) *story {
	return s.add(engine.Event{Kind: engine.Called, Op: engine.OpClaim, Count: jobs})
}
