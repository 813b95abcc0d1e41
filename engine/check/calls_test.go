package check_test

import (
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/quantity"
)

func (s *story) call(op engine.Op, node, jobs int32) *story {
	return s.add(engine.Event{Kind: engine.Called, Op: op, Node: node, Count: jobs})
}

// TestRulesOfCalls ends stories with calls of several operations: some rules are for one of them, others for all.
func TestRulesOfCalls(t *testing.T) {
	batches := func(r *check.Rules) {
		r.Node.Fetch.Batch, r.Node.Commit.Batch, r.Node.Reaper.Batch, r.Node.Promoter.Batch = 2, 2, 2, 2
	}
	soon := func(r *check.Rules) { r.Calm, r.Idle, r.Soon.Claim = 0, time.Hour, time.Second }
	leading := func(r *check.Rules) {
		r.Calm, r.Trip, r.Node.Reaper.LeaderOnly, r.Node.Leader.TTL = 0, time.Second, true, 3*time.Second
	}
	sharing := func(r *check.Rules) { r.Exact, r.Share = true, quantity.Fraction(1, 2) }
	all := func(broken string) map[engine.Op]string {
		of := map[engine.Op]string{}
		for op := engine.OpClaim; op < engine.NumOps; op++ {
			of[op] = broken
		}
		return of
	}
	fresh := func(claims engine.JobID) *story { // claims of one fresh job each, beside a ready retry
		s := begun().lease(1, 0, 1, 0, 0).add(engine.Event{Kind: engine.Returned, Job: 1, Delivery: 1, Error: engine.Canceled,
			From: engine.InFlight, Token: 1}).enqueue(2)
		for job := range claims {
			s.enqueue(3+job).call(engine.OpClaim, 0, 1).lease(2+job, 0, 1, 0, 0)
		}
		return s
	}
	left := func() *story {
		return begun().enqueue(2).after(2*time.Second).claim(0).lease(1, 0, 1, 2*time.Second, 2*time.Second)
	}
	inTurn := func() *story { return later().call(engine.OpRecover, 0, 0).call(engine.OpRecover, 1, 0) }
	for _, tt := range []struct {
		name  string
		story func() *story // before the call of node 0
		rules func(r *check.Rules)
		stops bool // node 0 is told to stop at 1 s
		jobs  int32
		want  map[engine.Op]string // broken invariants; the others break none
	}{
		{"more jobs than a batch", begun, batches, false, 3,
			map[engine.Op]string{engine.OpClaim: "I-11", engine.OpCommit: "I-11", engine.OpRecover: "I-11", engine.OpPromote: "I-11"}},
		{"as many jobs as a batch", begun, batches, false, 2, nil},
		{"soon after a stop signal", func() *story { return later().after(time.Second) }, conserving, true, 0, nil},
		{"long after a stop signal", func() *story { return later().after(time.Second + 1) }, conserving, true, 0,
			map[engine.Op]string{engine.OpClaim: "I-13"}},
		{"nodes take turns", func() *story { return inTurn().after(2*time.Second - 1) }, leading, false, 0,
			map[engine.Op]string{engine.OpRecover: "I-13"}},
		{"nodes lead in turn", func() *story { return inTurn().after(2 * time.Second) }, leading, false, 0, nil},
		{"nobody has claimed since a job became ready", func() *story { return later().after(time.Second + 1) }, soon, false, 0,
			all("I-12")},
		{"a claim left a job that there was room for", left, conserving, false, 0,
			all("I-12")},
		{"four claims of fresh jobs while retries were ready", func() *story { return fresh(4) }, sharing, false, 0, all("I-11")},
		{"a claim of a fresh job, before other calls", func() *story {
			return fresh(1).call(engine.OpCommit, 0, 0).call(engine.OpExtend, 0, 0).call(engine.OpStats, 0, 0).call(engine.OpCommit, 0, 0)
		}, sharing, false, 0, nil},
	} {
		for op := engine.OpClaim; op < engine.NumOps; op++ {
			r := rules()
			tt.rules(&r)
			c, s := check.New(r), tt.story()
			for i := range s.events {
				c.Record(&s.events[i])
			}
			if tt.stops {
				c.Stopped(0, engine.Time(time.Second))
			}
			if b := c.Breach(); b != nil {
				t.Fatalf("%s: %v", tt.name, b)
			}
			got := ""
			last := s.call(op, 0, tt.jobs).events[len(s.events)-1]
			if c.Record(&last); c.Breach() != nil {
				got = c.Breach().Invariant.String()
			}
			if got != tt.want[op] {
				t.Errorf("%s, %v: got %q, want %q: %v", tt.name, op, got, tt.want[op], c.Breach())
			}
		}
	}
}
