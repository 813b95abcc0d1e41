package pgstore

import (
	"errors"
	"testing"
	"time"

	"qsim/engine"
)

// TestEffects delivers a job to two engines, the second after the lease of the first was recovered.
// Only the holder of the lease may apply the job's effect, and only one delivery does.
func TestEffects(t *testing.T) {
	ctx := t.Context()
	s := open(t, engine.StoreOptions{LapseAfter: -1})
	effects, err := s.Effects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(ctx, []engine.NewJob{{ID: 7}}); err != nil {
		t.Fatal(err)
	}
	want := func(what string, j *engine.Job, want Effect) {
		t.Helper()
		if got, err := effects.Apply(ctx, j, 1); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	claim := func(node int32) engine.Lease {
		t.Helper()
		leases, _, err := s.Claim(ctx, engine.NewEngineID(node, 0), engine.Plan{Limit: 1, Terms: []engine.Term{{Class: engine.AnyClass, Limit: 1}}}, time.Nanosecond, nil)
		if err != nil || len(leases) != 1 {
			t.Fatalf("claim: %v, %v", leases, err)
		}
		return leases[0]
	}
	commit := func(node int32, seq uint64, o engine.Outcome) {
		t.Helper()
		results, err := s.Commit(ctx, engine.Batch{ID: engine.BatchID{Engine: engine.NewEngineID(node, 0), Seq: seq}, Outcomes: []engine.Outcome{o}}, nil)
		if err != nil || results[0].Status != engine.Applied {
			t.Fatalf("commit: %v, %v", results, err)
		}
	}
	first := claim(1)
	recovered, _, err := s.Recover(ctx, engine.NewEngineID(2, 0), 1, 0, time.Minute, nil)
	if err != nil || len(recovered) != 1 {
		t.Fatalf("recover: %v, %v", recovered, err)
	}
	want("a reaper has the job", &first.Job, EffectStale)
	commit(2, 1, engine.Outcome{LeaseKey: recovered[0].Key(), Verb: engine.Return, Delivery: recovered[0].Delivery})
	want("it is ready", &first.Job, EffectStale)
	second := claim(3)
	want("another delivery has it", &first.Job, EffectStale)
	want("the holder", &second.Job, EffectApplied)
	want("the holder, once more", &second.Job, EffectKnown)
	commit(3, 1, engine.Outcome{LeaseKey: second.Key(), Verb: engine.Ack, Delivery: second.Delivery})
	want("it is done", &second.Job, EffectStale)
	if got, err := effects.Apply(ctx, &engine.Job{ID: 1 << 63}, 1); got != EffectStale || !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("a job that no store here has: %v, %v", got, err)
	}
	var n int64
	if err := s.pool.QueryRow(ctx, "select count(*) from effects").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d effects, %v, want 1", n, err)
	}
}

// TestEffectsTogether calls Effects from several processes at once: one creates the table, and all return it.
func TestEffectsTogether(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{}), bounded(t)
	for range 20 {
		if _, err := s.pool.Exec(ctx, "drop table if exists effects"); err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				_, err := s.Effects(ctx)
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}
