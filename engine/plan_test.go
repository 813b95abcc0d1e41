package engine_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"qsim/engine"
)

// TestTermValidate checks that a term is invalid at the first value beyond each bound and valid at the last one
// within.
func TestTermValidate(t *testing.T) {
	type term = engine.Term
	for _, tt := range []struct {
		name        string
		term        term
		ok          bool
		unsupported bool
	}{
		{"nothing", term{}, true, false},
		{"last class", term{Class: engine.AnyClass}, true, false},
		{"no class", term{Class: engine.AnyClass + 1}, false, true},
		{"last order", term{Order: engine.TenantFair, Rule: &engine.Rule{ShareDen: 1}}, true, false},
		{"no order", term{Order: engine.TenantFair + 1, Rule: &engine.Rule{ShareDen: 1}}, false, true},
		{"per tenant", term{PerTenant: 1, Order: engine.NewestReady}, true, false},
		{"per tenant, negative", term{PerTenant: -1}, false, false},
		{"per tenant, of another order", term{PerTenant: 1, Order: engine.OldestOfAny}, false, true},
		{"another order", term{Order: engine.OldestOfAny}, true, false},
		{"wait", term{MaxWait: 1}, true, false},
		{"wait, negative", term{MaxWait: -1}, false, false},
		{"wait, of another order", term{MaxWait: 1, Order: engine.NewestReady}, false, true},
		{"shed", term{MaxWait: 1, Shed: 1}, true, false},
		{"shed, negative", term{Shed: -1}, false, false},
		{"aging", term{Order: engine.Aging, Rule: &engine.Rule{Every: 1}}, true, false},
		{"aging, no rule", term{Order: engine.Aging}, false, false},
		{"aging, never", term{Order: engine.Aging, Rule: &engine.Rule{}}, false, false},
		{"deadline", term{Order: engine.Deadline, Rule: &engine.Rule{}}, true, false},
		{"deadline, no rule", term{Order: engine.Deadline}, false, false},
		{"deficit", term{Order: engine.TenantDeficit, Rule: &engine.Rule{Quantum: 1}}, true, false},
		{"deficit, no rule", term{Order: engine.TenantDeficit}, false, false},
		{"deficit, no quantum", term{Order: engine.TenantDeficit, Rule: &engine.Rule{}}, false, false},
		{"fair, no rule", term{Order: engine.TenantFair}, false, false},
		{"fair, no share", term{Order: engine.TenantFair, Rule: &engine.Rule{}}, false, false},
		{"in turn", term{Order: engine.TenantRoundRobin}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.term.Validate()
			if (err == nil) != tt.ok || errors.Is(err, engine.ErrUnsupported) != tt.unsupported {
				t.Errorf("got %v, want none: %t, unsupported: %t", err, tt.ok, tt.unsupported)
			}
		})
	}
	for o := range engine.TenantFair + 1 {
		if want := o >= engine.TenantRoundRobin; o.ByTenant() != want {
			t.Errorf("%v is by tenant: %t, want %t", o, o.ByTenant(), want)
		}
	}
}

func TestKindsEndAt64(t *testing.T) {
	all := ^engine.Kinds(0)
	for k, want := range map[engine.Kind]bool{0: true, 63: true, 64: false, 65: false} {
		if got := all.Has(k); got != want {
			t.Errorf("kind %d is among all: %t, want %t", k, got, want)
		}
	}
	if engine.Kinds(2).Has(64) || !engine.Kinds(0).Has(64) {
		t.Error("kinds beyond 63 are in the empty set, which is all kinds, and in no other")
	}
}

func TestOptionsComplete(t *testing.T) {
	got := engine.StoreOptions{}.Complete()
	if got.Fence != engine.FenceToken || got.Place != engine.PlaceDue {
		t.Errorf("got %v and %v, want token and due", got.Fence, got.Place)
	}
	set := engine.StoreOptions{Fence: engine.FenceNone, Place: engine.PlaceHead}
	if got := set.Complete(); !reflect.DeepEqual(got, set) {
		t.Errorf("got %v, want what was set, %v", got, set)
	}
}

func TestObservation(t *testing.T) {
	for _, tt := range []struct {
		ended             bool
		why               engine.ErrorKind
		succeeded, failed bool
	}{
		{false, engine.NoError, false, false},
		{false, engine.Timeout, false, false},
		{true, engine.NoError, true, false},
		{true, engine.Timeout, false, true},
	} {
		o := engine.Observation{Ended: tt.ended, Error: tt.why}
		if o.Succeeded() != tt.succeeded || o.Failed() != tt.failed {
			t.Errorf("%+v: succeeded %t, failed %t", tt, o.Succeeded(), o.Failed())
		}
	}
}

// TestCopyFrom tests that a copy of a call has an equal request, with slices of its own, and keeps its own answer.
func TestCopyFrom(t *testing.T) {
	o := &engine.Call{ID: 7, Op: engine.OpCommit, Limit: 3, TTL: time.Second, Terms: []engine.Term{{Limit: 1}}, Keys: []engine.LeaseKey{{Job: 1}},
		Jobs: []engine.JobID{1}, Batch: engine.Batch{Settled: 4, Outcomes: []engine.Outcome{{Verb: engine.Ack}}}}
	o.Leading = true
	c := &engine.Call{ID: 8}
	c.Extended = 9
	c.CopyFrom(o)
	want := *o
	want.Reply = engine.Reply{Extended: 9}
	if !reflect.DeepEqual(*c, want) {
		t.Fatalf("got %+v, want %+v", *c, want)
	}
	o.Terms[0].Limit, o.Keys[0].Job, o.Jobs[0], o.Batch.Outcomes[0].Verb = 2, 2, 2, engine.Nack
	if c.Terms[0].Limit != 1 || c.Keys[0].Job != 1 || c.Jobs[0] != 1 || c.Batch.Outcomes[0].Verb != engine.Ack {
		t.Errorf("the copy shares slices: %+v", *c)
	}
}
