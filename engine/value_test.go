package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
	"qsim/engine/keyed"
)

func TestTime(t *testing.T) {
	tests := []struct {
		name string
		at   engine.Time
		add  time.Duration
		want engine.Time
	}{
		{"sum", 3, 4, 7},
		{"back", 3, -4, -1},
		{"never", engine.Never, 5, engine.Never},
		{"overflow", engine.Never - 4, 5, engine.Never},
		{"just not", engine.Never - 5, 5, engine.Never},
		{"forever", 1, engine.Forever, engine.Never},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.at.Add(tt.add); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got := engine.Time(5e9).Sub(2e9); got != 3*time.Second {
		t.Errorf("5s - 2s = %v", got)
	}
	if got := engine.Time(2500 * time.Millisecond).Seconds(); got != 2.5 {
		t.Errorf("2.5 s are %v seconds", got)
	}
}

func TestEngineID(t *testing.T) {
	for _, tt := range []struct {
		node       int32
		generation uint32
	}{{0, 0}, {3, 1}, {1<<31 - 1, 1<<32 - 1}} {
		id := engine.NewEngineID(tt.node, tt.generation)
		if id.Node() != tt.node || id.Generation() != tt.generation {
			t.Errorf("got %d/%d, want %d/%d", id.Node(), id.Generation(), tt.node, tt.generation)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		value fmt.Stringer
		want  string
	}{
		{engine.Fresh, "fresh"}, {engine.Retry, "retry"}, {engine.AnyClass, "any"},
		{engine.OldestReady, "oldest"}, {engine.NewestReady, "newest"},
		{engine.Ack, "ack"}, {engine.Nack, "nack"}, {engine.Bury, "bury"}, {engine.Return, "return"}, {engine.Redo, "redo"}, {engine.Snooze, "snooze"},
		{engine.OldestOfAny, "oldest-of-any"}, {engine.TenantFair, "tenant-fair"}, {engine.Redriven, "redriven"}, {engine.LeaseForgotten, "lease-forgotten"},
		{engine.NoState, "?"}, {engine.Ready, "ready"}, {engine.Waiting, "waiting"}, {engine.InFlight, "in-flight"}, {engine.Done, "done"}, {engine.Dead, "dead"},
		{engine.OpClaim, "claim"}, {engine.OpCommit, "commit"}, {engine.OpExtend, "extend"}, {engine.OpRecover, "recover"},
		{engine.OpPromote, "promote"}, {engine.OpLead, "lead"}, {engine.OpStats, "stats"},
		{engine.Enqueued, "enqueued"}, {engine.Called, "called"}, {engine.RefusedLate, "refused-late"}, {engine.Aborted, "aborted"},
	}
	for _, tt := range tests {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("%T: got %q, want %q", tt.value, got, tt.want)
		}
	}
	for k := engine.Enqueued; k < engine.NumEventKinds; k++ {
		if k.String() == "" {
			t.Errorf("event kind %d has no name", k)
		}
	}
}

func TestKinds(t *testing.T) {
	tests := []struct {
		name string
		set  engine.Kinds
		kind engine.Kind
		want bool
	}{
		{"empty is all", 0, 1000, true}, {"in", 1 << 5, 5, true}, {"out", 1 << 5, 4, false}, {"last", 1 << 63, 63, true}, {"beyond", ^engine.Kinds(0), 64, false},
	}
	for _, tt := range tests {
		if got := tt.set.Has(tt.kind); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// scripted is a store that gives prepared answers and stores its calls.
type scripted struct {
	asked string
	err   error
}

func (s *scripted) note(format string, args ...any) { s.asked = fmt.Sprintf(format, args...) }

func (s *scripted) Enqueue(context.Context, []engine.NewJob) error { return s.err }

func (s *scripted) Claim(_ context.Context, e engine.EngineID, p engine.Plan, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.note("claim %d %d %v", e, p.Limit, ttl)
	return append(dst, leaseOfSeven), 4, s.err
}

func (s *scripted) Commit(_ context.Context, b engine.Batch, dst []engine.Result) ([]engine.Result, error) {
	s.note("commit %d %d", b.ID.Engine, b.ID.Seq)
	return append(dst, make([]engine.Result, len(b.Outcomes))...), s.err
}

func (s *scripted) ExtendLease(_ context.Context, k []engine.LeaseKey, ttl time.Duration, dst []engine.Status) ([]engine.Status, error) {
	s.note("extend %d %v", len(k), ttl)
	return append(dst, engine.Applied, engine.Stale, engine.Unapplied), s.err
}

func (s *scripted) Recover(_ context.Context, e engine.EngineID, limit int, grace, ttl time.Duration, dst []engine.Lease) ([]engine.Lease, time.Duration, error) {
	s.note("recover %d %d %v %v", e, limit, grace, ttl)
	return append(dst, leaseOfSeven), 5, s.err
}

func (s *scripted) Promote(_ context.Context, limit int, o engine.Order, dst []engine.Promotion) ([]engine.Promotion, error) {
	s.note("promote %d %v", limit, o)
	return append(dst, engine.Promotion{Job: 7, Kind: 2, Tenant: 3, Class: engine.Retry}), s.err
}

func (*scripted) ExtendNode(context.Context, engine.EngineID, bool, time.Duration) (int, error) {
	return 0, engine.ErrUnsupported
}

func (s *scripted) Lead(_ context.Context, r engine.Op, e engine.EngineID, ttl time.Duration) (bool, error) {
	s.note("lead %d %d %v", r, e, ttl)
	return true, s.err
}

func (s *scripted) Stats(_ context.Context, limit int) (engine.Stats, error) {
	s.note("stats %d", limit)
	return engine.Stats{Dead: 6}, s.err
}

var leaseOfSeven = engine.Lease{Token: 9, Holder: 4, Job: engine.Job{ID: 7, Kind: 2, Tenant: 3, Delivery: 2, Waited: 10, Age: 20}}

type events []engine.Event

func (v *events) Record(e *engine.Event) { *v = append(*v, *e) }

// TestExecuteAndRecord executes one call of each op and checks the request at the store, the row
// count of the reply, and the recorded events.
func TestExecuteAndRecord(t *testing.T) {
	keys := []engine.LeaseKey{{Job: 7, Token: 9}, {Job: 8, Token: 1}, {Job: 9, Token: 1}}
	outcome := func(v engine.Verb) engine.Outcome {
		return engine.Outcome{LeaseKey: keys[0], Verb: v, Error: engine.Conflict, Kind: 2, Tenant: 3, Delivery: 2, Delay: 30}
	}
	lease := engine.Event{Class: engine.Retry, JobKind: 2, Tenant: 3, Job: 7, Token: 9, Delivery: 2, Waited: 10, Age: 20, Holder: 4}
	leased, taken := lease, lease
	leased.Kind, taken.Kind = engine.Leased, engine.LeaseTaken
	tests := []struct {
		call  engine.Call
		asked string
		came  int
		want  events
	}{
		{engine.Call{Op: engine.OpClaim, Limit: 3, TTL: 5}, "claim 21474836480 3 5ns", 1, events{leased}},
		{engine.Call{Op: engine.OpRecover, Limit: 3, Grace: 4, TTL: 5}, "recover 21474836480 3 4ns 5ns", 1, events{taken}},
		{engine.Call{Op: engine.OpExtend, Keys: keys, TTL: 5}, "extend 3 5ns", 3, // nothing has changed with the third
			events{{Kind: engine.Extended, Job: 7, Token: 9}, {Kind: engine.ExtendRefused, Job: 8, Token: 1}}},
		{engine.Call{Op: engine.OpPromote, Limit: 4, Order: engine.NewestReady}, "promote 4 newest", 1,
			events{{Kind: engine.Promoted, Job: 7, JobKind: 2, Tenant: 3, Class: engine.Retry}}},
		{engine.Call{Op: engine.OpLead, Role: engine.OpPromote, TTL: 5}, "lead 5 21474836480 5ns", 0, nil},
		{engine.Call{Op: engine.OpStats, Limit: 8}, "stats 8", 0, nil},
		{engine.Call{Op: engine.OpCommit, Batch: engine.Batch{ID: engine.BatchID{Engine: 1, Seq: 2}, Outcomes: []engine.Outcome{outcome(engine.Ack)}}}, "commit 1 2", 1, nil}, // unapplied
	}
	refused := errors.New("refused")
	for _, tt := range tests {
		t.Run(tt.call.Op.String(), func(t *testing.T) {
			c := tt.call
			c.ID, c.Engine = 11, engine.NewEngineID(5, 0)
			store := &scripted{}
			for range 2 { // a reply is reused: nothing of the call before may be left
				c.Execute(context.Background(), store, nil)
			}
			if store.asked != tt.asked || c.Err != nil {
				t.Errorf("asked %q, want %q; error %v", store.asked, tt.asked, c.Err)
			}
			if c.Rows() != tt.came {
				t.Errorf("%d rows came, want %d", c.Rows(), tt.came)
			}
			want := events{{Kind: engine.Called, Op: c.Op, Count: int32(tt.came)}}
			want = append(want, tt.want...)
			for i := range want {
				want[i].At, want[i].Node = 99, 5
			}
			var got events
			c.Record(99, engine.RecordJobs(&got), new(engine.Event))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("recorded (-want +got):\n%s", d)
			}

			store.asked = ""
			c.Execute(context.Background(), store, refused)
			if store.asked != "" || c.Err != refused || c.Rows() != 0 {
				t.Errorf("refused: asked %q, error %v, %d rows", store.asked, c.Err, c.Rows())
			}
			got = nil
			c.Record(99, engine.RecordJobs(&got), new(engine.Event))
			if len(got) != 1 || got[0].Kind != engine.Called || got[0].Count != 0 {
				t.Errorf("refused: recorded %v", got)
			}
		})
	}
}

// TestRecordOutcomes checks the event recorded for each pair of outcome and result.
func TestRecordOutcomes(t *testing.T) {
	tests := []struct {
		verb   engine.Verb
		status engine.Status
		want   engine.EventKind // expected event; 0: none
	}{
		{engine.Ack, engine.Applied, engine.Acked}, {engine.Nack, engine.Applied, engine.Nacked}, {engine.Bury, engine.Applied, engine.Buried},
		{engine.Return, engine.Applied, engine.Returned}, {engine.Redo, engine.Applied, engine.Returned}, {engine.Snooze, engine.Applied, engine.Nacked}, {engine.Ack, engine.Stale, engine.Fenced}, {engine.Nack, engine.Unapplied, 0},
		{engine.Bury, engine.Stale, engine.Fenced}, {engine.Ack, engine.Applied.Again(), 0}, {engine.Nack, engine.Stale.Again(), 0},
	}
	for _, tt := range tests {
		c := engine.Call{Op: engine.OpCommit, Engine: engine.NewEngineID(5, 0), Batch: engine.Batch{Outcomes: []engine.Outcome{
			{LeaseKey: engine.LeaseKey{Job: 7, Token: 9}, Verb: tt.verb, Error: engine.Conflict, Kind: 2, Tenant: 3, Delivery: 2, Delay: 30,
				Reaped: tt.verb == engine.Bury, Aged: tt.verb == engine.Bury}}}}
		c.Reply = engine.Reply{Results: []engine.Result{{Status: tt.status, From: engine.InFlight, Class: engine.Retry, Age: 40}}}
		var got events
		c.Record(99, engine.RecordJobs(&got), new(engine.Event))
		got = got[1:] // Called
		var want events
		if tt.want != 0 {
			want = events{{At: 99, Kind: tt.want, Class: engine.Retry, From: engine.InFlight, Error: engine.Conflict, JobKind: 2, Tenant: 3, Delivery: 2, Reaped: tt.want == engine.Buried, Aged: tt.want == engine.Buried,
				Node: 5, Job: 7, Token: 9, Age: 40, Delay: 30}}
		}
		if d := cmp.Diff(want, got, cmp.Transformer("slice", func(v events) []engine.Event { return append([]engine.Event{}, v...) })); d != "" {
			t.Errorf("%v %d: (-want +got):\n%s", tt.verb, tt.status, d)
		}
	}
}

// drawing claims by the parity of a draw and notes the draws.
type drawing struct{ draws *[]float64 }

func (p drawing) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	*p.draws = append(*p.draws, v.Draw(0), v.Draw(1))
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (drawing) Observe(*engine.Observation) {}

// TestViewDraws checks that draws are a function of seed, engine, plan and n: equal for equal ones,
// different otherwise.
func TestViewDraws(t *testing.T) {
	draw := func(seed uint64, node int32) []float64 {
		c := newScript(t).cfg
		var draws []float64
		c.Engine, c.Rand, c.Policy = engine.NewEngineID(node, 0), keyed.Rand{Seed: seed}, drawing{&draws}
		c.Recorder = nil
		e := engine.New(c, &engine.Asked{}, 0)
		for i := range 2 {
			e.Wake(engine.Time(i))
			e.Handle(engine.Time(i), &engine.Call{ID: uint64(i + 1), Op: engine.OpClaim, Reply: engine.Reply{Next: engine.Forever}})
		}
		return draws
	}
	if a, b := draw(1, 1), draw(1, 1); !cmp.Equal(a, b) {
		t.Errorf("the same run drew %v and %v", a, b)
	}
	seen := map[float64]bool{}
	for _, d := range append(append(draw(1, 1), draw(2, 1)...), draw(1, 2)...) {
		if seen[d] || d <= 0 || d >= 1 {
			t.Errorf("drew %v twice, or it is not in (0, 1)", d)
		}
		seen[d] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d draws, want 12", len(seen))
	}
}

// watching is a policy that stores its observations.
type watching struct{ told *[]engine.Observation }

func (p watching) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (p watching) Observe(o *engine.Observation) { *p.told = append(*p.told, *o) }

// TestPolicyIsTold plays a claim of two classes and ends its executions in every
// way: a policy learns of every claim and of every end, once.
func TestPolicyIsTold(t *testing.T) {
	c := newScript(t).cfg
	var told []engine.Observation
	c.Policy, c.Recorder, c.Workers = watching{&told}, nil, 3
	c.Kinds[0].Timeout = time.Second
	e := engine.New(c, &engine.Asked{}, 0)
	e.Tick(0)
	e.Handle(1, &engine.Call{ID: 1, Op: engine.OpClaim, Reply: engine.Reply{Leases: []engine.Lease{
		{Token: 1, Job: engine.Job{ID: 7, Kind: 5, Delivery: 1}}, {Token: 2, Job: engine.Job{ID: 8, Delivery: 2}}, {Token: 3, Job: engine.Job{ID: 9, Delivery: 3}}}}})
	e.Finish(2, 0, engine.NoError, 1)
	e.Finish(3, 1, engine.Throttled, 1)
	e.Tick(engine.Time(1 + time.Second))
	e.Finish(engine.Time(2*time.Second), 2, engine.NoError, 1)
	want := []engine.Observation{
		{Now: 1, Claimed: [engine.NumClasses]int{1, 2}, Kinds: 1<<5 | 1},
		{Now: 2, Ended: true, Class: engine.Fresh, Job: 5},
		{Now: 3, Ended: true, Class: engine.Retry, Error: engine.Throttled},
		{Now: engine.Time(1 + time.Second), Ended: true, Class: engine.Retry, Error: engine.Timeout},
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// breaking is a policy that claims only jobs of kind 3, like a circuit breaker for the others.
type breaking struct{}

func (breaking) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	return append(dst, engine.Term{Class: engine.AnyClass, Kinds: 1 << 3, Limit: 1})
}

func (breaking) Observe(*engine.Observation) {}

// planned is a policy whose plans have one given term, and which stores the views.
type planned struct {
	term  engine.Term
	views *[]engine.View
}

func (p planned) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	*p.views = append(*p.views, *v)
	return append(dst, p.term)
}

func (planned) Observe(*engine.Observation) {}

// TestDryTerms answers a claim of one term without jobs, and ends an execution: the engine claims again at once
// unless the answer shows that no job for the term is ready.
func TestDryTerms(t *testing.T) {
	for _, tt := range []struct {
		name  string
		term  engine.Term
		again bool // whether it claims again before the poll
	}{
		{"any class", engine.Term{Class: engine.AnyClass, Limit: 9}, false},
		{"one class", engine.Term{Class: engine.Retry, Limit: 9}, false},
		{"kinds", engine.Term{Class: engine.AnyClass, Kinds: 2, Limit: 9}, true},
		{"a tenant", engine.Term{Class: engine.AnyClass, Tenant: 2, Limit: 9}, true},
		{"so many of each tenant", engine.Term{Class: engine.AnyClass, PerTenant: 2, Limit: 9}, true},
		{"not those that wait for long", engine.Term{Class: engine.AnyClass, MaxWait: 2, Limit: 9}, true},
		{"nor those, which it buries", engine.Term{Class: engine.AnyClass, MaxWait: 2, Shed: 1, Limit: 9}, false},
		{"none at all", engine.Term{Class: engine.AnyClass}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newScript(t).cfg
			var views []engine.View
			c.Policy, c.Recorder, c.Workers = planned{tt.term, &views}, nil, 4
			asked := &engine.Asked{}
			e := engine.New(c, asked, 0)
			e.Tick(0)
			calls := asked.Take()
			if (len(calls) == 1) != (tt.term.Limit > 0) {
				t.Fatalf("asked for %d times, want once if at all", len(calls))
			}
			if len(calls) == 0 {
				return
			}
			calls[0].Reply = engine.Reply{Next: engine.Forever, Leases: []engine.Lease{{Token: 1, Job: engine.Job{ID: 7, Delivery: 2}}}}
			e.Handle(1, calls[0])
			for _, c := range asked.Take() {
				c.Reply = engine.Reply{Next: engine.Forever}
				e.Handle(2, c)
			}
			e.Finish(3, 0, engine.NoError, 1)
			claims := 0
			for _, c := range asked.Take() {
				if c.Op == engine.OpClaim {
					claims++
				}
			}
			if (claims > 0) != tt.again {
				t.Errorf("%d claims when a worker fell idle, want some: %t", claims, tt.again)
			}
		})
	}
}

// TestViewOfAPlan tests that a policy's view lacks stats at first, and counts the outcomes being committed.
func TestViewOfAPlan(t *testing.T) {
	c := newScript(t).cfg
	var views []engine.View
	c.Policy, c.Recorder, c.Commit.Linger = planned{engine.Term{Class: engine.AnyClass, Limit: 9}, &views}, nil, 0
	asked := &engine.Asked{}
	e := engine.New(c, asked, 0)
	claim := func(now engine.Time, leases ...engine.Lease) {
		e.Wake(now)
		for _, c := range asked.Take() {
			if c.Op == engine.OpClaim {
				c.Reply = engine.Reply{Next: engine.Forever, Leases: leases}
				e.Handle(now, c)
			}
		}
	}
	claim(0, engine.Lease{Token: 1, Job: engine.Job{ID: 7, Delivery: 2}})
	e.Finish(1, 0, engine.NoError, 1)
	var commit *engine.Call
	for _, c := range asked.Take() {
		if c.Op == engine.OpCommit {
			commit = c
		}
	}
	claim(2)
	if last := views[len(views)-1]; last.StatsAge >= 0 || last.Committing != [engine.NumClasses]int{engine.Retry: 1} {
		t.Errorf("stats of %v, committing %v: want none, and one retry", last.StatsAge, last.Committing)
	}
	e.Handle(engine.Time(c.Fetch.Poll), &engine.Call{ID: commit.ID, Op: engine.OpCommit, Reply: engine.Reply{Results: []engine.Result{{Status: engine.Applied}}}})
	claim(engine.Time(c.Fetch.Poll))
	if last := views[len(views)-1]; last.Committing != [engine.NumClasses]int{} {
		t.Errorf("committing %v after the commit, want none", last.Committing)
	}
}

// TestRecordShed records a claim that found one job and buried another.
func TestRecordShed(t *testing.T) {
	shed := engine.Lease{Shed: true, Job: engine.Job{ID: 8, Kind: 2, Delivery: 1, Waited: 9}}
	c := engine.Call{Op: engine.OpClaim, Engine: engine.NewEngineID(5, 0), Reply: engine.Reply{Leases: []engine.Lease{{Token: 1, Job: engine.Job{ID: 7, Delivery: 1}}, shed}}}
	var got events
	c.Record(99, engine.RecordJobs(&got), new(engine.Event))
	want := events{
		{At: 99, Node: 5, Kind: engine.Called, Op: engine.OpClaim, Count: 2},
		{At: 99, Node: 5, Kind: engine.Leased, Job: 7, Token: 1, Delivery: 1},
		{At: 99, Node: 5, Kind: engine.Buried, From: engine.Ready, Job: 8, JobKind: 2, Delivery: 1, Waited: 9},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestFilteredPlanWaitsForThePoll answers the claims of a plan for some kinds only. An empty answer
// proves nothing about a class, but must not be repeated at once.
func TestFilteredPlanWaitsForThePoll(t *testing.T) {
	c := newScript(t).cfg
	c.Policy, c.Recorder, c.Workers = breaking{}, nil, 4
	asked := &engine.Asked{}
	e := engine.New(c, asked, 0)
	e.Tick(0)
	asked.Take()
	e.Handle(1, &engine.Call{ID: 1, Op: engine.OpClaim, Reply: engine.Reply{Next: engine.Forever, Leases: []engine.Lease{{Token: 1, Job: engine.Job{ID: 7, Kind: 3, Delivery: 1}}}}})
	if calls := asked.Take(); len(calls) != 1 || calls[0].Limit != 3 {
		t.Fatalf("after a claim that brought something: %v, want a claim for the 3 idle workers", calls)
	}
	e.Handle(2, &engine.Call{ID: 2, Op: engine.OpClaim, Reply: engine.Reply{Next: engine.Forever}})
	if calls := asked.Take(); len(calls) != 0 {
		t.Errorf("after a claim that brought nothing: %v, want none", calls)
	}
	if want := engine.Time(2).Add(c.Fetch.Poll); e.Deadline() != want {
		t.Errorf("deadline %d, want the poll at %d", e.Deadline(), want)
	}
}
