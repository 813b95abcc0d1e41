package pgstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/live"
	"qsim/policies"
)

// TestCancel cancels jobs in every state, with dead jobs kept and not: only live ones are returned, none of
// them is claimed or committed any more, and the next job of a serial key is free, which is announced.
func TestCancel(t *testing.T) {
	for _, keep := range []bool{true, false} {
		s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: keep}), bounded(t)
		if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1, Serial: 7}, {ID: 2, Serial: 7}, {ID: 3}, {ID: 4, Serial: 8}}); err != nil {
			t.Fatal(err)
		}
		holder, plan := engine.NewEngineID(1, 0), engine.Plan{Limit: 2, Terms: []engine.Term{anyTerm(2)}}
		leases, _, err := s.Claim(ctx, holder, plan, time.Minute, nil)
		if err != nil || len(leases) != 2 || leases[0].ID != 1 || leases[1].ID != 3 {
			t.Fatalf("claimed %v, %v", leases, err)
		}
		if err := s.Enqueue(ctx, []engine.NewJob{{ID: 5, Delay: time.Hour}}); err != nil {
			t.Fatal(err)
		}
		mute := &Store{pool: s.pool, rules: s.rules, text: s.text} // nobody takes its announcements
		mute.news.waiting = make(chan struct{}, 1)
		got, err := mute.Cancel(ctx, []engine.JobID{5, 99, 1, 4}, []engine.JobID{77})
		if want := []engine.JobID{77, 1, 4, 5}; err != nil || !slices.Equal(got, want) {
			t.Errorf("canceled %v, %v, want %v", got, err, want)
		}
		if ready, _ := mute.news.take(); ready != 2 {
			t.Errorf("%d jobs are announced, want one for each freed serial key", ready)
		}
		if got, err := mute.Cancel(ctx, []engine.JobID{1, 4, 5}, nil); err != nil || len(got) != 0 {
			t.Errorf("canceled once more: %v, %v", got, err)
		}
		if ready, _ := mute.news.take(); ready != 0 {
			t.Error("jobs are announced although none was canceled")
		}
		results, err := s.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: holder, Seq: 1}, Outcomes: []engine.Outcome{
			{LeaseKey: leases[0].Key(), Verb: engine.Ack}, {LeaseKey: leases[1].Key(), Verb: engine.Ack}}}, nil)
		if err != nil || results[0].Status != engine.Stale || results[1].Status != engine.Applied {
			t.Errorf("the canceled and the other: %v, %v", results, err)
		}
		if leases, _, err = s.Claim(ctx, holder, plan, time.Minute, nil); err != nil || len(leases) != 1 || leases[0].ID != 2 {
			t.Errorf("then claimed %v, %v, want the next of the serial key", leases, err)
		}
		if stats, err := s.Stats(ctx, 0); err != nil || stats.Dead != 3 {
			t.Errorf("%d are dead, %v, want 3", stats.Dead, err)
		}
		if dead, err := s.Dead(ctx, 9, nil); err != nil || keep != (len(dead) == 3) {
			t.Errorf("kept %v, %v", dead, err)
		}
	}
}

// TestCancelRunning cancels a job whose handler runs: within a heartbeat the handler's context ends with
// ErrLeaseLost, and the job is not run again.
func TestCancelRunning(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true}), bounded(t)
	running, stop := context.WithCancel(ctx)
	began, ended := make(chan struct{}, 9), make(chan error, 9)
	c := live.Config{Engine: live.Defaults(2, &policies.Backoff{Kind: policies.Fixed, First: time.Second, MaxAttempts: 1}), Store: s, Handler: func(ctx context.Context, j *engine.Job) error {
		began <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil
	}}
	c.Engine.Lease.Heartbeat = 50 * time.Millisecond
	done := make(chan error, 1)
	go func() { done <- live.Run(running, c) }()
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 1}}); err != nil {
		t.Fatal(err)
	}
	<-began
	if got, err := s.Cancel(ctx, []engine.JobID{1}, nil); err != nil || len(got) != 1 {
		t.Fatalf("canceled %v, %v", got, err)
	}
	select {
	case cause := <-ended:
		if !errors.Is(cause, live.ErrLeaseLost) {
			t.Errorf("the handler's context ended for %v", cause)
		}
	case <-ctx.Done():
		t.Error("the handler goes on")
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if dead, err := s.Dead(ctx, 9, nil); err != nil || len(dead) != 1 || len(began) != 0 {
		t.Errorf("dead %v, %v; begun %d times more", dead, err, len(began))
	}
}
