package pgstore

import (
	"errors"
	"testing"
	"time"

	"qsim/engine"
)

// TestEnqueueAgain enqueues jobs once more: that fails, and adds none, as long as the store holds
// one of them, even dead; and runs them once more when all are forgotten, unless their handler uses
// Effects.
func TestEnqueueAgain(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1, KeepDead: true}), bounded(t)
	effects, err := s.Effects(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jobs, e, seq := []engine.NewJob{{ID: 1}, {ID: 2}}, engine.NewEngineID(1, 0), uint64(0)
	claim := func() []engine.Lease {
		l, _, err := s.Claim(ctx, e, engine.Plan{Limit: 9, Terms: []engine.Term{anyTerm(9)}}, time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	end := func(v engine.Verb, l ...engine.Lease) {
		seq++
		b := acks(e, seq, l)
		for i := range b.Outcomes {
			b.Outcomes[i].Verb = v
		}
		if _, err := s.Commit(ctx, b, nil); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(when string) {
		if err := s.Enqueue(ctx, jobs); !errors.Is(err, engine.ErrDuplicate) {
			t.Errorf("%s: %v", when, err)
		}
	}
	if err := s.Enqueue(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	refused("both are ready")
	first := claim()
	for i := range first {
		if got, err := effects.Apply(ctx, &first[i].Job, 1); got != EffectApplied || err != nil {
			t.Errorf("effect of job %d: %v, %v", first[i].ID, got, err)
		}
	}
	refused("both are in flight")
	end(engine.Ack, first[0])
	refused("one is done")
	end(engine.Bury, first[1])
	refused("the other is dead")
	if again, err := s.Redrive(ctx, nil, 9, false, nil); err != nil || len(again) != 1 || again[0].Job != first[1].ID {
		t.Fatalf("redriven %v, %v", again, err)
	}
	end(engine.Ack, claim()...)
	if err := s.Enqueue(ctx, jobs); err != nil {
		t.Errorf("both are done: %v", err)
	}
	second := claim()
	if len(second) != 2 {
		t.Errorf("claimed %v", second)
	}
	for i := range second {
		if got, err := effects.Apply(ctx, &second[i].Job, 1); got != EffectKnown || err != nil {
			t.Errorf("effect of job %d, which was done before: %v, %v", second[i].ID, got, err)
		}
	}
}
