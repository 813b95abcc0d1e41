package world

import (
	"testing"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/policies"
	"qsim/results/plain"
)

// planned is a policy that makes given plans, one after the other.
type planned struct{ plans [][]engine.Term }

func (p *planned) Plan(_ *engine.View, dst []engine.Term) []engine.Term {
	next := p.plans[0]
	p.plans = p.plans[1:]
	return append(dst, next...)
}

func (p *planned) Observe(*engine.Observation) {}

// TestPlansWhenFree has a process with four idle workers claim jobs, plan another claim and end two executions. It must
// plan again as the first of them ends, if the claim may have left ready jobs.
func TestPlansWhenFree(t *testing.T) {
	any4, some4 := engine.Term{Class: engine.AnyClass, Limit: 4}, engine.Term{Class: engine.AnyClass, Limit: 4, Kinds: 1}
	fresh4, fresh2 := engine.Term{Class: engine.Fresh, Limit: 4}, engine.Term{Class: engine.Fresh, Limit: 2}
	retry4, retry2 := engine.Term{Class: engine.Retry, Limit: 4}, engine.Term{Class: engine.Retry, Limit: 2}
	none := []engine.Term(nil)
	tests := []struct {
		name    string
		claims  []engine.Term
		brings  [engine.NumClasses]int
		follows []engine.Term // the plan after the answer, of which nothing is claimed
		breaks  bool
	}{
		{"all jobs, and it found few", []engine.Term{any4}, [2]int{1, 0}, none, false},
		{"all jobs, as many as asked for", []engine.Term{any4}, [2]int{3, 1}, none, true},
		{"all jobs, few, and then some kinds", []engine.Term{any4}, [2]int{1, 0}, []engine.Term{some4}, false},
		{"some kinds", []engine.Term{some4}, [2]int{1, 0}, none, true},
		{"both classes, and it found few", []engine.Term{fresh4, retry4}, [2]int{2, 1}, none, false},
		{"both classes, fresh jobs up to a limit", []engine.Term{fresh2, retry4}, [2]int{2, 0}, none, true},
		{"both classes, retries up to a limit", []engine.Term{fresh4, retry2}, [2]int{0, 2}, none, true},
		{"both classes, as many as asked for", []engine.Term{fresh4, retry4}, [2]int{2, 2}, none, true},
		{"one class", []engine.Term{retry4}, [2]int{0, 1}, none, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := check.New(check.Rules{Nodes: 1, Node: engine.Config{Workers: 4}})
			c.Record(&engine.Event{Kind: engine.NodeUp})
			policy := func(int32) engine.Policy { return &planned{plans: [][]engine.Term{tt.claims, tt.follows}} }
			right := func() engine.Policy { return plain.Must(policies.New("fifo", nil, 4, nil)) }
			p := Watch(policy, right, c, true)(0)
			p.Plan(&engine.View{Idle: 4}, nil)
			p.Observe(&engine.Observation{Claimed: tt.brings, Kinds: 1})
			p.Plan(&engine.View{Idle: 4}, nil)
			for range 2 {
				p.Observe(&engine.Observation{Ended: true})
			}
			if b := c.Breach(); (b != nil) != tt.breaks {
				t.Errorf("got breach %v, want one: %v", b, tt.breaks)
			}
		})
	}
}

// TestEndsDuringClaims: a process plans no claim as an execution ends while the answer to another is under way, and the
// checker of a run expects none.
func TestEndsDuringClaims(t *testing.T) {
	runs(t, `
duration: 1m
drain: 10m
warmup: 0s
seeds: 1
engine: {nodes: 1, workers: 10, store: {claim: 50ms}, fetch: {batch: 4}, commit: {backpressure: 0}}
retry: {backoff: {kind: fixed, delay: 1s}}
dependencies: [{name: api}, {name: bank}]
jobs:
  - {class: a, arrivals: {process: poisson, rate: 20/s}, service: {dist: exponential, mean: 100ms}, calls: api}
  - {class: b, arrivals: {process: poisson, rate: 20/s}, service: {dist: exponential, mean: 100ms}, calls: bank}
storms: [{name: down, at: 10s, for: 20s, outage: {dependency: api, error: error}}]
policies: [{kind: breaker}]
`)
}
