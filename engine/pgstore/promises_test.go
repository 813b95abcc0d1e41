package pgstore

import (
	"context"
	"testing"
	"time"

	"qsim/engine"
)

// TestListenerFindsWhatWaits wakes a listener when a job is due of which nothing was announced since it listens.
func TestListenerFindsWhatWaits(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	mute := &Store{pool: s.pool, schema: s.schema, rules: s.rules, text: s.text} // nobody takes its announcements
	mute.news.waiting = make(chan struct{}, 1)
	if err := mute.Enqueue(ctx, []engine.NewJob{{ID: 1, Delay: time.Second}, {ID: 2, Delay: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	woken := listen(t, ctx, s)
	plan := engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}
	for {
		select {
		case <-woken:
		case <-ctx.Done():
			t.Fatal("nobody is told that a job is due")
		}
		l, _, err := s.Claim(ctx, engine.NewEngineID(1, 0), plan, time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(l) > 0 {
			return
		}
	}
}

// TestFollowDoesNotHurry tries once a second to enqueue the job of a schedule while the store is unavailable.
func TestFollowDoesNotHurry(t *testing.T) {
	needServer(t)
	s, err := Open(t.Context(), server.DSN(), Options{Schema: newSchema()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(t.Context()); err != nil {
		t.Error(err)
	}
	s.Close()
	until, stop := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer stop()
	tries := 0
	err = s.Follow(until, Schedule{Name: "often", Next: Every(time.Millisecond), Job: func(at time.Time) engine.NewJob {
		tries++
		return engine.NewJob{ID: engine.JobID(at.UnixNano())}
	}})
	if err != nil || tries < 1 || tries > 2 {
		t.Errorf("%d tries in 1.2 s, %v; want one or two", tries, err)
	}
}

// TestStatsAreBounded counts no further than it is asked to, and all without a bound.
func TestStatsAreBounded(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	var jobs []engine.NewJob
	for id := range engine.JobID(100) {
		jobs = append(jobs, engine.NewJob{ID: id + 1})
	}
	if err := s.Enqueue(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]int{0: 100, 1: 1, 10: 10, 1000: 100} {
		if st, err := s.Stats(ctx, most); err != nil || st.Ready[engine.Fresh] != want {
			t.Errorf("at most %d: %+v, %v; want %d", most, st, err, want)
		}
	}
}
