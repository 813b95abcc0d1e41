package policies

import (
	"context"
	"fmt"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/memstore"
	"qsim/engine/quantity"
)

// stored drives a policy against the store that offers every order.
type stored struct {
	*memstore.Store
	t      *testing.T
	policy engine.Policy
	view   engine.View
	next   engine.JobID
	terms  []engine.Term
}

func newStored(t *testing.T, policy engine.Policy, o engine.StoreOptions) *stored {
	s := &stored{t: t, policy: policy, view: engine.View{Workers: 1000, StatsAge: -1}}
	o.LapseAfter = -1
	s.Store = memstore.NewSingle(func() engine.Time { return s.view.Now }, o)
	return s
}

// add enqueues count jobs like j.
func (s *stored) add(count int, j engine.NewJob) {
	s.t.Helper()
	for range count {
		s.next++
		s.view.Now++
		j.ID = s.next
		if err := s.Enqueue(context.Background(), []engine.NewJob{j}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// fetch claims up to idle jobs by one plan and reports them to the policy.
func (s *stored) fetch(idle int) []engine.Lease {
	s.t.Helper()
	s.view.Idle = idle
	setPlanNumber(&s.view, planNumber(&s.view)+1)
	s.terms = s.policy.Plan(&s.view, s.terms[:0])
	leases, _, err := s.Claim(context.Background(), 1, engine.Plan{Limit: idle, Terms: s.terms}, time.Hour, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var count [engine.NumClasses]int
	var kinds engine.Kinds
	for i := range leases {
		if l := &leases[i]; !l.Shed {
			count[l.Class()]++
			kinds = kinds.With(l.Kind)
		}
	}
	s.policy.Observe(&engine.Observation{Now: s.view.Now, Claimed: count, Kinds: kinds})
	return leases
}

// ended reports to the policy that an execution of kind has ended with e.
func (s *stored) ended(kind engine.Kind, e engine.ErrorKind) {
	o := engine.Observation{Now: s.view.Now, Ended: true, Job: kind, Error: e}
	s.policy.Observe(&o)
}

// The share by priority holds to less than one claim at every moment, for every batch,
// while urgent jobs are ready and all others are older than they.
func TestSplitHolds(t *testing.T) {
	for batch := 1; batch <= 60; batch += 3 {
		for _, share := range []quantity.Share{{}, quantity.Percent(80), quantity.Fraction(2, 3), quantity.Fraction(1, 97), quantity.Percent(100)} {
			s := newStored(t, &Split{Priority: share}, engine.StoreOptions{})
			s.add(300, engine.NewJob{Priority: 1})
			s.add(300, engine.NewJob{})
			num, den := share.Fraction()
			urgent, total := int64(0), int64(0)
			for total+int64(batch) <= 300 {
				for _, l := range s.fetch(batch) {
					total++
					urgent += int64(1 - l.Priority)
				}
				if ahead := urgent*den - total*num; ahead < 0 || ahead >= den {
					t.Fatalf("batch %d, share %v: %d of %d claims were urgent", batch, share, urgent, total)
				}
			}
		}
	}
}

// What could not be used is forgotten, as after a lost claim nothing is.
func TestSplitForgets(t *testing.T) {
	policy := &Split{Priority: quantity.Percent(20)}
	s := newStored(t, policy, engine.StoreOptions{})
	s.add(8, engine.NewJob{Priority: 1})
	spell := func(count int) (out string) {
		for range count {
			for _, l := range s.fetch(1) {
				out += string("UO"[l.Priority])
			}
		}
		return out
	}
	if got := spell(9); got != "OOOOOOOO" || policy.carry.owed != 0 {
		t.Errorf("got %s, carry %d", got, policy.carry.owed)
	}
	s.add(20, engine.NewJob{Priority: 1})
	s.add(20, engine.NewJob{})
	if got := spell(10); got != "UOOOOUOOOO" {
		t.Errorf("got %s", got)
	}
	spell(2)
	before := policy.carry.owed
	policy.Observe(&engine.Observation{Claimed: [engine.NumClasses]int{7, 7}}) // an answer to no plan
	if policy.carry.owed != before {
		t.Errorf("an answer to no plan changed the carry from %d to %d", before, policy.carry.owed)
	}
	policy.Plan(&engine.View{Idle: 1}, nil)
	policy.Plan(&engine.View{Idle: 1}, nil) // the first was lost
	if got := spell(3); got != "OOO" || before == 0 {
		t.Errorf("after a lost claim: got %s", got)
	}
}

// Tenants with jobs ready get equal numbers of claims, or equal time, at every moment.
func TestTenantsHold(t *testing.T) {
	costs := []time.Duration{30 * time.Millisecond, 10 * time.Millisecond, 70 * time.Millisecond}
	for kind, off := range map[string]struct {
		values map[string]string
		most   time.Duration // largest difference between two tenants
		cost   func(engine.Kind) time.Duration
	}{
		"tenant-round-robin": {nil, 1, func(engine.Kind) time.Duration { return 1 }},
		"tenant-drr":         {map[string]string{"quantum": "50ms"}, 120 * time.Millisecond, func(k engine.Kind) time.Duration { return costs[k] }},
	} {
		for batch := 1; batch <= 40; batch += 3 {
			s := newStored(t, newPolicy(t, kind, off.values, 100), engine.StoreOptions{Service: costs})
			for tenant := range engine.TenantID(3) {
				s.add(int(50*(tenant+4)), engine.NewJob{Tenant: 7 + tenant, Kind: engine.Kind(tenant)})
			}
			var got [3]time.Duration
			for total := 0; total < 90; {
				for _, l := range s.fetch(batch) {
					total++
					got[l.Tenant-7] += off.cost(l.Kind)
				}
				if apart := max(got[0], got[1], got[2]) - min(got[0], got[1], got[2]); apart > off.most {
					t.Fatalf("%s, batch %d: %v", kind, batch, got)
				}
			}
		}
	}
}

// A quiet tenant's jobs go before the backlog of a noisy one.
func TestTenantFairServesTheQuiet(t *testing.T) {
	s := newStored(t, newPolicy(t, "tenant-fair", map[string]string{"share": "50%", "at-least": "5"}, 100), engine.StoreOptions{})
	s.add(100, engine.NewJob{Tenant: 1})
	s.fetch(20)
	s.add(4, engine.NewJob{Tenant: 2})
	got := ""
	for _, l := range s.fetch(6) {
		got += fmt.Sprint(l.Tenant)
	}
	if got != "222211" {
		t.Errorf("got %s", got)
	}
}

// An old job of no importance is served once it has waited long enough; with a deadline,
// in its turn.
func TestAgingAndDeadline(t *testing.T) {
	for kind, want := range map[string]string{"aging": "0213", "deadline": "2013"} {
		values := map[string]map[string]string{"aging": {"every": "1s"}, "deadline": {"budget": "{payments: 10s, refunds: 1s, mail: 2s}"}}[kind]
		s := newStored(t, newPolicy(t, kind, values, 100), engine.StoreOptions{})
		s.add(1, engine.NewJob{Priority: 5}) // 0: payments
		s.view.Now = engine.Time(5 * time.Second)
		s.add(1, engine.NewJob{Priority: 1, Kind: 0})           // 1
		s.add(1, engine.NewJob{Kind: 2, Priority: 0})           // 2
		s.view.Now = s.view.Now.Add(time.Millisecond)           //
		s.add(1, engine.NewJob{Priority: 1, Kind: 0, Delay: 1}) // 3: of 1's kind, and younger
		s.view.Now = s.view.Now.Add(500 * time.Millisecond)
		got := ""
		for _, l := range s.fetch(9) {
			got += fmt.Sprint(l.ID - 1)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}

// Weights are the shares of first places, within six standard deviations (false alarms
// < 1e-8 per run), and every class is in every plan.
func TestQueuesShare(t *testing.T) {
	policy := NewQueues([]int64{6, 3, 1})
	view := engine.View{Idle: 3}
	var first [3]int
	var second [3]int // expected second class when the first is class 0
	const plans = 20_000
	for n := range uint64(plans) {
		setPlanNumber(&view, n)
		terms := policy.Plan(&view, nil)
		var all engine.Kinds
		for _, term := range terms {
			all |= term.Kinds
		}
		if len(terms) != 3 || all != 7 {
			t.Fatalf("plan %d: %+v", n, terms)
		}
		for k := range engine.Kind(3) {
			if terms[0].Kinds.Has(k) {
				first[k]++
			}
			if terms[0].Kinds.Has(0) && terms[1].Kinds.Has(k) {
				second[k]++
			}
		}
	}
	for _, tt := range []struct{ got, of, tenths int }{{first[0], plans, 6}, {first[1], plans, 3}, {first[2], plans, 1}} {
		// The variance of a share p of n draws is np(1-p): (of·tenths·(10-tenths))/100.
		if off := 10*tt.got - tt.of*tt.tenths; off*off > 36*tt.of*tt.tenths*(10-tt.tenths) {
			t.Errorf("first places %v of %d", first, plans)
		}
	}
	if off := 4*second[1] - 3*first[0]; off*off > 36*first[0]*3 || second[0] != 0 {
		t.Errorf("second places %v of %d behind class 0, want three of four for class 1", second, first[0])
	}
}

// A claim takes all it can of one queue and then of the next.
func TestQueuesTakesAll(t *testing.T) {
	s := newStored(t, NewQueues([]int64{1000, 1, 1}), engine.StoreOptions{})
	for kind := range engine.Kind(3) {
		s.add(2, engine.NewJob{Kind: kind})
	}
	if got := s.fetch(9); len(got) != 6 || got[0].Kind == got[5].Kind || got[0].Kind != got[1].Kind {
		t.Errorf("%+v", got)
	}
}
