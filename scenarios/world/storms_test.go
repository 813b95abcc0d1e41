package world

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"qsim/engine"
	"qsim/engine/fault"
	"qsim/engine/keyed"
	"qsim/engine/sim"
	"qsim/scenarios"
	"qsim/scenarios/spec"
)

// troubled is the beginning of a scenario that a storm of any kind, which follows, changes.
const troubled = `
duration: 2m
drain: 10m
warmup: 0s
seeds: 1
engine:
  nodes: 3
  workers: 4
  call-timeout: 1s
  lease: {ttl: 5s, heartbeat: 1s, check: local}
  commit: {linger: 0s}
  promoter: {every: 500ms}
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 1s}}
dependencies: [{name: payments-api, limit: {concurrency: 5}}, {name: mailer, limit: {concurrency: 5}}]
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 20/s}, service: {dist: exponential, mean: 400ms}, fails: {rate: 20%}, calls: mailer}
  - {class: post, arrivals: {process: poisson, rate: 1/s}, service: 400ms, calls: payments-api}
storms: [{name: a, `

// TestEveryTroubleActs: the documented example of every kind of storm changes a run, and the checker does not report it
// as an error of the engine.
func TestEveryTroubleActs(t *testing.T) {
	if raced {
		t.Skip("simulations by one goroutine")
	}
	fingerprint := func(text string) uint64 {
		t.Helper()
		sc, ds := scenarios.Load("test.yaml", []byte(text), nil)
		if sc == nil {
			t.Fatalf("%s", render(t, "test.yaml", []byte(text), ds))
		}
		runs, err := Run(context.Background(), sc, Options{Parallel: 1, Check: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return runs[0].Fingerprint
	}
	crash := "at: 40s, crash: {nodes: 1, restart-after: 5s}}" // so that there is something to reap
	for _, kind := range scenarios.AllKinds().Storms {
		_, storm, _ := strings.Cut(strings.TrimSuffix(kind.Example, "}"), ", for: 5m, ")
		if kind.Name == "leases" {
			storm = "leases: {lose: 100%}" // the example loses one of a hundred, and there are fewer
		}
		if fingerprint(troubled+"at: 30s, for: 30s, "+storm+"}, {name: b, "+crash+"]\n") == fingerprint(troubled+crash+"]\n") {
			t.Errorf("%s makes no difference", storm)
		}
	}
}

// TestStormsThatFollowEvents: which control of the simulation a storm turns into that begins with an event.
func TestStormsThatFollowEvents(t *testing.T) {
	for _, tt := range []struct {
		storm string
		want  fault.Control
	}{
		{"on: leased, nth: 5, at: 50ms, crash: {nodes: that, restart-after: 2s}", fault.Control{Kind: fault.Crash, On: engine.Leased, Nth: 5, Node: -1, At: 5e7, For: 2e9}},
		{"on: called, op: promote, at: 0s, for: 1s, before: 30s, pause: {nodes: [1]}", fault.Control{Kind: fault.Pause, On: engine.Called, Op: engine.OpPromote, Node: 1, For: 1e9, Before: 30e9}},
		{"on: finished, nth: 2, for: 1s, store: {stall: true}", fault.Control{Kind: fault.StallStore, On: engine.Finished, Nth: 2, Node: -1, For: 1e9}},
		{"on: finished, for: 1s, store: {parallel: 2}", fault.Control{Kind: fault.LimitStore, On: engine.Finished, Node: -1, For: 1e9, Limit: 2}},
	} {
		sc := load(t, troubled+tt.storm+"}]\n")
		if d := cmp.Diff([]fault.Control{tt.want}, troublesOf(sc, keyed.Rand{Seed: 1}).controls); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.storm, d)
		}
		if windows := Windows(sc); len(windows) != 0 {
			t.Errorf("%s has the windows %v", tt.storm, windows)
		}
	}
}

// TestCrashAfterTheEvent: a crash set off by an event hits the node of the event, after the storm's delay.
func TestCrashAfterTheEvent(t *testing.T) {
	sc := load(t, troubled+"on: leased, nth: 5, at: 50ms, crash: {nodes: that, restart-after: 2s}}]\n")
	leased := 0
	var fifth, died engine.Event
	_, err := Run(context.Background(), sc, Options{Parallel: 1, Alter: func(_ int, _ uint64, cfg *sim.Config) {
		cfg.Recorder = watching{cfg.Recorder, func(e *engine.Event) {
			switch e.Kind {
			case engine.Leased:
				if leased++; leased == 5 {
					fifth = *e
				}
			case engine.NodeDown:
				died = *e
			}
		}}
	}})
	if err != nil || died.Node != fifth.Node || died.At != fifth.At.Add(50e6) {
		t.Errorf("%v: the fifth lease is that of node %d at %v, node %d dies at %v", err, fifth.Node, fifth.At, died.Node, died.At)
	}
}

// watching is a recorder that calls a function with each event and passes it on.
type watching struct {
	next engine.Recorder
	see  func(*engine.Event)
}

func (w watching) Record(e *engine.Event) {
	w.see(e)
	w.next.Record(e)
}

// TestOnlySomeArrivals: with the key only, a class has exactly the named arrivals, unchanged.
func TestOnlySomeArrivals(t *testing.T) {
	arrivals := func(only string) (all map[engine.JobID]engine.Time) {
		sc := load(t, "duration: 1m\nwarmup: 0s\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s"+only+"}, service: 10ms}]\nstorms: [{name: s, at: 5s, burst: {class: a, count: 2}}]\n")
		w, err := newWorkload(sc, keyed.Rand{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		all = map[engine.JobID]engine.Time{}
		for {
			var j engine.NewJob
			at, ok := w.Next(&j)
			if !ok {
				return all
			}
			all[j.ID] = at
		}
	}
	all, some := arrivals(""), arrivals(", only: [17, 3]")
	if len(some) != 4 {
		t.Errorf("%d jobs, want two, and two of the burst", len(some))
	}
	for id, at := range some {
		if all[id] != at {
			t.Errorf("job %d comes at %v, among all at %v", id, at, all[id])
		}
	}
	for _, index := range []uint64{3, 17} {
		if _, comes := some[spec.JobID(0, index)]; !comes {
			t.Errorf("job %d stays away", index)
		}
	}
}
