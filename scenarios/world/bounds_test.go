package world

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/check"
	"qsim/engine/fault"
	"qsim/engine/sim"
)

// TestBoundsAreTight checks that the checker's bounds after the storms do not grow with what has no part in them: slow
// promotions, whose answers are awaited for no longer than the call timeout, and more outcomes
// than jobs arrive; that a search for ended leases that a storm refused counts once; that claims without a cost have a
// bound, too; and that they await commits for no longer than these take with as many outcomes as they carry.
func TestBoundsAreTight(t *testing.T) {
	sc := load(t, smallest+"engine: {call-timeout: 5s, promoter: {every: 5s}, store: {claim: 0s, promote: {dist: lognormal, p50: 1s, p99: 1h}}}\n")
	w, err := newWorld(sc, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r := w.rules(1); r.Trip == 0 || r.Trip > 15*time.Second || r.Idle == 0 || r.Idle > 2*time.Minute {
		t.Errorf("slow promotions: trip %v, idle %v", r.Trip, r.Idle)
	}
	if r := w.rules(1); r.Between != 1 {
		t.Errorf("claims without a cost: a worker takes %v to find its next job", r.Between)
	}
	for commit, most := range map[string]time.Duration{
		"batch: 1, calls: 1, backpressure: 100":     2 * 85 * time.Millisecond, // 2 workers, and 40 ms for each outcome
		"batch: 100, calls: 4, backpressure: 100":   3 * time.Millisecond,
		"batch: 100, calls: 4, backpressure: 10000": 500 * time.Microsecond,
	} {
		sc := load(t, smallest+"engine: {workers: 2, store: {commit: 20ms}, commit: {linger: 0s, "+commit+"}}\n")
		w, err := newWorld(sc, 0)
		if err != nil {
			t.Fatal(err)
		}
		if r := w.rules(1); r.Awaits == 0 || r.Awaits > most {
			t.Errorf("%s: an execution awaits commits for %v", commit, r.Awaits)
		}
	}
	sc = load(t, "duration: 10s\nengine: {store: {commit: 1s}, commit: {backpressure: 1000, timeout: 5s}}\njobs:\n"+
		"  - {class: a, arrivals: {process: poisson, rate: 1/s}, service: 10ms}\n")
	s, err := Compile(sc, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds()
	if b.Rules().Idle == 0 || b.idle() > 10*time.Minute {
		t.Errorf("%d jobs: idle %v", b.Come, b.idle())
	}
	sc = load(t, smallest+"engine: {call-timeout: 1s, lease: {ttl: 1m}, reaper: {every: 0s, batch: 1}}\n"+
		"storms:\n  - {name: refused, at: 1s, for: 1s, calls: {ops: [recover], error: 100%}}\n")
	if w, err = newWorld(sc, 0); err != nil {
		t.Fatal(err)
	}
	r := w.rules(1)
	sc.Storms = nil
	if w, err = newWorld(sc, 0); err != nil {
		t.Fatal(err)
	}
	if w.rules(1).Way != time.Millisecond { // of a commit
		t.Errorf("a call and its answer are under way for %v", w.rules(1).Way)
	}
	if calm := w.rules(1); calm.Recover == 0 || calm.Recover != r.Recover-time.Minute || calm.RecoverEach != r.RecoverEach {
		t.Errorf("no search for ended leases refused: recovered in %v, each batch in %v", calm.Recover, calm.RecoverEach)
	}
	if r.Recover < time.Minute || r.Recover > 80*time.Second || r.RecoverEach == 0 || r.RecoverEach > 3*time.Second {
		t.Errorf("a search for ended leases refused: recovered in %v, each batch in %v", r.Recover, r.RecoverEach)
	}
}

// TestBackpressureExplainsIdleness: workers idle while a claim awaits commits, which is no breach.
func TestBackpressureExplainsIdleness(t *testing.T) {
	for _, commit := range []string{"{linger: 200ms, backpressure: 1}", "{linger: 0s, batch: 1, calls: 1, backpressure: 10}",
		"{linger: 0s, batch: 1, calls: 1, backpressure: 100}"} {
		sc := load(t, "duration: 1m\nwarmup: 0s\ndrain: 2m\nseeds: 1\nengine: {workers: 2, store: {claim: 200us, commit: 20ms}, commit: "+commit+
			"}\npolicies: [lifo]\njobs: [{class: a, arrivals: {process: poisson, rate: 150/s}, service: 10ms}]\n")
		if _, err := Run(context.Background(), sc, Options{Parallel: 1, Check: true}); err != nil {
			t.Errorf("%s: %v", commit, err)
		}
	}
}

// TestCheckedAfterStorms: --check knows how soon waiting jobs are promoted, outcomes are committed, and jobs are handed
// back by a process that stops, as chaos does.
func TestCheckedAfterStorms(t *testing.T) {
	const text = "duration: 2m\nwarmup: 0s\ndrain: 10m\nseeds: 1\nengine: {workers: 5, fetch: {prefetch: 20}, commit: {backpressure: 100}, promoter: {every: 1s}, lease: {ttl: 3m, heartbeat: 0s}}\n" +
		"policies: [fifo]\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 10ms, delay: 2s}, {class: long, arrivals: {process: batch, size: 12, every: 2m}, service: 30s}]\n" +
		"storms: [{name: stop, at: 20s, stop: {nodes: 1, grace: 1m}}]\n"
	for _, tt := range []struct {
		name  string
		broke check.Invariant // 0: none
		alter func(cfg *sim.Config)
	}{
		{"nothing", 0, func(*sim.Config) {}},
		{"no promotions", check.Due, func(cfg *sim.Config) {
			stall := fault.Control{Kind: fault.StallPromoter, At: engine.Time(10 * time.Second), For: 5 * time.Minute}
			cfg.Controls = append(slices.Clone(cfg.Controls), stall)
		}},
		{"no commits", check.Atomicity, func(cfg *sim.Config) { cfg.Network = without{cfg.Network, true} }},
		{"nothing handed back", check.Recovery, func(cfg *sim.Config) { cfg.Network = without{cfg.Network, false} }},
	} {
		_, err := Run(context.Background(), load(t, text), Options{Parallel: 1, Check: true, Alter: func(_ int, _ uint64, cfg *sim.Config) { tt.alter(cfg) }})
		got, broken := check.Invariant(0), (*Broken)(nil)
		if errors.As(err, &broken) {
			got = broken.Cause.(*check.Breach).Invariant
		}
		if got != tt.broke {
			t.Errorf("%s: %v broke, want %v: %v", tt.name, got, tt.broke, err)
		}
	}
}

// without is a network that loses all commits or, if all is false, drops from them the outcomes that hand jobs back.
type without struct {
	sim.Network
	all bool
}

func (n without) Request(now engine.Time, c *engine.Call) sim.Fate {
	if c.Op == engine.OpCommit && n.all {
		return sim.Fate{LoseRequest: true}
	}
	returned := func(o engine.Outcome) bool { return o.Error == engine.Canceled }
	c.Batch.Outcomes = slices.DeleteFunc(slices.Clone(c.Batch.Outcomes), returned)
	return n.Network.Request(now, c)
}
