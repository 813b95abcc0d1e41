package world

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/policies"
	"qsim/results/measure"
	"qsim/scenarios"
)

// greedy is a policy that panics after a thousand plans.
type greedy struct{ asked int }

func (g *greedy) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if g.asked++; g.asked > 1000 {
		panic("greedy: an invariant of its own")
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (*greedy) Observe(*engine.Observation) {}

// TestBroken runs a policy that panics and one that does not: the error names the first broken
// simulation, and the others' runs are kept.
func TestBroken(t *testing.T) {
	sc, problems := scenarios.Load("a", []byte("duration: 5m\nseeds: 3\n"+oneClass), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	sc.Compare("Greedy", func(int) engine.Policy { return &greedy{} })
	runs, err := Run(context.Background(), sc, Options{Parallel: 1})
	var broken *Broken
	if !errors.As(err, &broken) {
		t.Fatalf("got %v, want a *Broken", err)
	}
	if broken.Policy != "Greedy" || broken.Seed != 1 || broken.At <= 0 || !strings.Contains(err.Error(), "greedy: an invariant of its own") || !strings.Contains(string(broken.Stack), "Plan") {
		t.Errorf("got %v\n%s", err, broken.Stack)
	}
	if len(runs) != 1 || runs[0].Policy != 0 {
		t.Errorf("%d runs ended, want the one before it", len(runs))
	}
}

// mortal is a policy that panics when it plans at or after a time.
type mortal struct{ at *engine.Time }

func (m mortal) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	if v.Now >= *m.at {
		panic("mortal")
	}
	return append(dst, engine.Term{Class: engine.AnyClass, Limit: v.Idle})
}

func (mortal) Observe(*engine.Observation) {}

// TestBreachBeforePanic has an engine try jobs more often than it may, and panic soon after the first time: the breach
// is reported as without the panic, with the history of its job.
func TestBreachBeforePanic(t *testing.T) {
	sc, problems := scenarios.Load("a", []byte("duration: 5m\nretry: {max-attempts: 2}\n"+
		"jobs: [{class: a, arrivals: {process: poisson, rate: 20/s}, service: 100ms, fails: {rate: 50%}}]\n"), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	dies := engine.Never
	sc.Compare("Mortal", func(int) engine.Policy { return mortal{&dies} })
	run := func() *Broken {
		_, err := Run(context.Background(), sc, Options{Parallel: 1, Check: true, Alter: func(policy int, _ uint64, cfg *sim.Config) {
			if policy == 1 {
				cfg.Nodes[0].Kinds[0].Retry = &policies.Backoff{Kind: policies.Fixed, First: time.Second, MaxAttempts: 9}
			}
		}})
		var broken *Broken
		if !errors.As(err, &broken) || broken.History == "" {
			t.Fatalf("got %v, want a *Broken with the history of a job", err)
		}
		return broken
	}
	alive := run()
	dies = engine.Time(alive.At) + 1
	if dead := run(); !reflect.DeepEqual(dead, alive) {
		t.Errorf("got %v\n%s\nwant %v\n%s", dead, dead.History, alive, alive.History)
	}
}

const oneClass = "jobs: [{class: a, arrivals: {process: poisson, rate: 20/s}, service: 100ms}]\n"

// TestMeasuresWhatPolicySees overrides settings of the measurement for one policy: whether a class
// is idempotent, and the times of a storm.
func TestMeasuresWhatPolicySees(t *testing.T) {
	const src = `
duration: 10m
storms:
  - {name: x, at: 3m, for: 1m, fail: {rate: 100%}}
policies:
  - {kind: fifo}
  - {kind: fifo, label: later, with: {storms.x.at: 6m, jobs.a.idempotent: true, jobs.a.service: 50ms}}
  - {kind: fifo, label: none, with: {jobs.a.arrivals.rate: 0/s}}
` + oneClass
	sc, problems := scenarios.Load("a", []byte(src), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	base, later := settingsOf(Settings(sc), sc, 0), settingsOf(Settings(sc), sc, 1)
	if base.Guards[0] != measure.NoGuard || later.Guards[0] != measure.CheckGuard {
		t.Errorf("guards: %v and %v", base.Guards, later.Guards)
	}
	if base.Storms[0].From != 3*minute || later.Storms[0].From != 6*minute || later.Storms[0].To != 7*minute {
		t.Errorf("storms: %v and %v", base.Storms, later.Storms)
	}
	if s := Settings(sc); s.Policies[0].Storms != nil || s.StormsOf(0)[0] != base.Storms[0] || s.StormsOf(1)[0] != later.Storms[0] {
		t.Errorf("storms that reports take: %v and %v", s.StormsOf(0), s.StormsOf(1))
	}
	if 2*later.Service != base.Service {
		t.Errorf("service: %v and %v", base.Service, later.Service)
	}
	if p := Settings(sc).Policies; p[0].Rate != 0 || p[0].Service != 0 || p[1].Rate != later.Rate || p[1].Service != later.Service || p[2].Rate != 0 || p[2].Service == 0 {
		t.Errorf("jobs that warnings take: %+v", p)
	}
}

const minute = 60e9

// TestStormWithoutHits: a storm without the key hits makes attempts of every class fail.
func TestStormWithoutHits(t *testing.T) {
	sc, problems := scenarios.Load("a", []byte("duration: 3m\nstorms: [{name: x, at: 0s, for: 2m, fail: {rate: 100%}}]\n"+oneClass), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	runs, err := Run(context.Background(), sc, Options{Check: true})
	if err != nil || runs[0].Jobs == 0 {
		t.Fatal(err)
	}
	h := newHandlers(sc, keyed.Rand{Seed: 1})
	for id := range engine.JobID(100) {
		if x := h.Begin(engine.Time(minute), 0, &engine.Job{ID: id + 1, Delivery: 1}); x.Error == engine.NoError {
			t.Fatalf("an attempt of job %d succeeds", id+1)
		}
	}
}

// TestPolicySeesItsWorkers accepts a parameter that is possible with the policy's own
// overrides only, and refuses one that is not.
func TestPolicySeesItsWorkers(t *testing.T) {
	const base = "engine: {workers: 10}\n" + oneClass
	if sc, problems := scenarios.Load("a", []byte(base+"policies: [{kind: fifo}, {kind: separate, retry-workers: 20, with: {engine.workers: 100}}]"), nil); sc == nil {
		t.Errorf("20 of 100 workers: %v", problems)
	}
	if sc, _ := scenarios.Load("a", []byte(base+"policies: [{kind: separate, retry-workers: 9, with: {engine.workers: 5}}]"), nil); sc != nil {
		t.Errorf("9 of 5 workers are accepted")
	}
}
