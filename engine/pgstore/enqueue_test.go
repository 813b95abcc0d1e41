package pgstore

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	redriven := claim()
	if len(redriven) != 1 || redriven[0].Charged != 2 || redriven[0].Failures != 1 { // it does not start over
		t.Errorf("claimed once more: %+v", redriven)
	}
	end(engine.Ack, redriven...)
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

// TestManyAreTheSameJobs enqueues jobs one by one and many at once, which go by COPY: they are the same to whoever
// claims them.
func TestManyAreTheSameJobs(t *testing.T) {
	s, ctx := open(t, engine.StoreOptions{LapseAfter: -1}), bounded(t)
	stopClock(t, s)
	samples := []engine.NewJob{{}, {Kind: 63, Priority: -7, Tenant: 1<<32 - 1, Payload: []byte("pay")}, {Priority: 7, Payload: []byte{}},
		{Kind: 1, Priority: math.MinInt16, Tenant: 5, Payload: make([]byte, 300)}, {Priority: math.MaxInt16, Payload: []byte{0}}}
	for _, copies := range []int{1, copyFrom} {
		var jobs []engine.NewJob
		for i := range copies * len(samples) {
			j := samples[i%len(samples)]
			j.ID = engine.JobID(i + 1)
			jobs = append(jobs, j)
		}
		if err := s.Enqueue(ctx, jobs); err != nil {
			t.Fatal(err)
		}
		leases, _, err := s.Claim(ctx, peer, engine.Plan{Limit: 999, Terms: []engine.Term{anyTerm(999)}}, time.Minute, nil)
		if err != nil || len(leases) != len(jobs) {
			t.Fatalf("%d leases of %d jobs, %v", len(leases), len(jobs), err)
		}
		last := leases[0].Priority
		for _, l := range leases {
			j := jobs[l.ID-1]
			got := engine.NewJob{ID: l.ID, Kind: l.Kind, Priority: l.Priority, Tenant: l.Tenant, Payload: l.Payload}
			if d := cmp.Diff(j, got); d != "" || l.Priority < last || l.Age != 0 || l.Waited != 0 {
				t.Errorf("%d at once: age %v, waited %v (-want +got)\n%s", len(jobs), l.Age, l.Waited, d)
			}
			last = l.Priority
		}
		if _, err := s.Commit(ctx, acks(peer, uint64(copies), leases), nil); err != nil {
			t.Fatal(err)
		}
	}
}
