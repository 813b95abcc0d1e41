package world

import (
	"fmt"
	"math"
	"testing"
	"time"

	"qsim/engine/quantity"
	"qsim/results/measure"
	"qsim/scenarios"
)

// TestLeaseTold: the collector follows a lease only if events show its extensions.
func TestLeaseTold(t *testing.T) {
	for _, tt := range []struct {
		name, engine, with string
		want               time.Duration
	}{
		{"plain", "lease: {ttl: 40s, heartbeat: 0s}", "", 40 * time.Second},
		{"of a policy", "lease: {ttl: 40s, heartbeat: 0s}", "engine.lease.ttl: 90s", 90 * time.Second},
		{"of a node that beats", "lease: {ttl: 40s, heartbeat: 5s, of: node}", "", 0},
		{"acked early", "ack: early", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := load(t, "name: s\nduration: 1m\nwarmup: 0s\nengine: {"+tt.engine+"}\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\npolicies: [{kind: fifo, with: {"+tt.with+"}}]\n")
			if got := Settings(sc).Policies[0].Lease; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBucket(t *testing.T) {
	for _, tt := range []struct{ duration, bucket time.Duration }{
		{30 * time.Minute, 5 * time.Second}, {time.Hour, 5 * time.Second}, {10 * time.Minute, time.Second}, {4 * time.Hour, 30 * time.Second},
		{24 * time.Hour, 2 * time.Minute}, {time.Second, 2 * time.Millisecond}, {100, 1}, {quantity.Longest, 10 * 24 * time.Hour},
	} {
		if got := bucket(tt.duration); got != tt.bucket {
			t.Errorf("bucket of %v is %v, want %v", tt.duration, got, tt.bucket)
		}
	}
}

// TestDrainBuckets: a drain far longer than the run, as the last retries of most systems need, has wider buckets.
func TestDrainBuckets(t *testing.T) {
	for _, tt := range []struct {
		drain  string
		bucket time.Duration
	}{{"10s", 20 * time.Millisecond}, {"1000s", 20 * time.Millisecond}, {"1000h", time.Minute}} {
		sc := load(t, "duration: 10s\ndrain: "+tt.drain+"\njobs: [{class: a, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\n")
		if got := Settings(sc).Bucket; got != tt.bucket {
			t.Errorf("drain %s: bucket of %v, want %v", tt.drain, got, tt.bucket)
		}
	}
}

// TestShippedBuckets: charts of built-in scenarios have as many points as they can show.
func TestShippedBuckets(t *testing.T) {
	for _, info := range scenarios.Builtin() {
		sc, _ := opened(t, info.Name)
		if s := Settings(sc); s.Duration/s.Bucket < 240 || s.Duration/s.Bucket > 720 {
			t.Errorf("%s: %v buckets", info.Name, s.Duration/s.Bucket)
		}
	}
}

// TestSettingsOfCutRunTimes: a timeout that frees the worker cuts the mean service time, which is otherwise infinite;
// then it is the longest duration.
func TestSettingsOfCutRunTimes(t *testing.T) {
	cut := 20*time.Millisecond + time.Duration(20e6*math.Log(250)) // the mean of min(X, 5 s), where P(X > x) = 20 ms/x
	for timeout, want := range map[string]time.Duration{"timeout: 5s": cut, "timeout: 0s": quantity.Longest,
		"timeout: 5s, ignores-cancel: true": quantity.Longest} {
		sc, _ := scenarios.Load("a.yaml", []byte("jobs: [{class: mail, arrivals: 20/s, service: {dist: pareto, min: 20ms, alpha: 1}, "+timeout+"}]\n"), nil) // with a warning
		s := Settings(sc)
		for _, got := range []time.Duration{s.Service, s.Loads[0].Service} {
			if math.Abs(float64(got-want)) > 0.002*float64(want) {
				t.Errorf("%s: mean service time %v, want %v", timeout, got, want)
			}
		}
	}
}

// TestSettingsOfEndlessRunTimes: only a mean service time that is infinite is the longest duration, and that of a class
// that comes in bursts alone is left out of the mean over classes.
func TestSettingsOfEndlessRunTimes(t *testing.T) {
	for service, want := range map[string]time.Duration{"87600h": quantity.Longest - 1, "{dist: pareto, min: 1s, alpha: 1}": quantity.Longest,
		"{dist: pareto, min: 1s, alpha: 1.0000000001}": quantity.Longest - 1} {
		sc, _ := scenarios.Load("a.yaml", []byte("jobs: [{class: mail, arrivals: 20/s, service: "+service+", timeout: 0s}]\n"), nil) // with a warning
		if got := Settings(sc).Service; got != want {
			t.Errorf("%s: mean service time %v, want %v", service, got, want)
		}
	}
	sc, _ := scenarios.Load("a.yaml", []byte("jobs:\n  - {class: mail, arrivals: 20/s, service: 1s}\n"+
		"  - {class: rare, arrivals: 0/s, service: {dist: pareto, min: 1s, alpha: 1}, timeout: 0s}\n"), nil)
	if s := Settings(sc); s.Service != time.Second || s.Loads[1] != (measure.Load{Service: quantity.Longest}) {
		t.Errorf("mean service time %v, loads %v", s.Service, s.Loads)
	}
}

// TestSettings checks the settings of a scenario with storms out of order.
func TestSettings(t *testing.T) {
	sc := load(t, `
baseline: W
engine: {nodes: 4}
jobs:
  - {class: mail, arrivals: {process: constant, rate: 90/m}, service: 300ms, idempotent: true}
  - {class: post, arrivals: {process: poisson, rate: 3/h}, service: 1s}
storms:
  - {name: z, at: 20m, for: 5m, slow: {factor: 2.5}}
  - {name: a, at: 10m, for: 5m, fail: {hits: [mail], rate: 97%}}
  - {name: b, at: 15m, burst: {class: post, count: 1k}}
  - {name: c, at: 16m, for: 1m, burst: {class: post, factor: 3}}
  - {name: d, at: 17m, crash: {nodes: 50%, restart-after: 30s}}
  - {name: e, at: 18m, crash: {nodes: [0, 3], restart-after: 30s}}
policies:
  - {kind: weighted, label: W, fresh: 66.7%, lend: false}
  - {kind: fifo}
objectives:
  - {metric: fresh.wait.p99, during: a, class: mail, below: 10s, policies: [W, fifo]}
  - {metric: fresh.within, limit: 5s, above: 99%, expect: missed}
`)
	check := func(what string, got, want any) {
		t.Helper()
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%s: %s, want %s", what, g, w)
		}
	}
	s := Settings(sc)
	var names []string
	for _, w := range s.Storms {
		names = append(names, w.Name)
	}
	check("storms in order", names, "[a b c d e z]")
	check("end of a crash", s.Storms[3].To, 17*time.Minute+30*time.Second)
	check("baseline", s.Baseline, 0)
	check("objectives", len(s.Objectives), 3)
	check("first objective", s.Objectives[0].Text+" "+s.Objectives[0].Policy, "below 10s W")
	check("last objective", fmt.Sprint(s.Objectives[2].Bound, s.Objectives[2].Above, s.Objectives[2].Expect, s.Objectives[2].Limit), "0.99 true true 5s")
	check("entitled", fmt.Sprint(s.Policies[0].Entitled, s.Policies[1].Entitled), "0.667 0")
	check("rate", s.Rate, 1.5+3.0/3600)
	check("classes", fmt.Sprint(s.Classes, s.Guards), "[mail post] [1 0]")
}

// FuzzSettings holds the settings of whatever loads to be made without a panic.
func FuzzSettings(f *testing.F) {
	for _, info := range scenarios.Builtin() {
		if _, src, err := scenarios.Open(info.Name); err == nil {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		sc, _ := scenarios.Load("fuzz.yaml", src, nil)
		if sc == nil {
			return
		}
		if s := Settings(sc); len(s.Policies) != len(sc.Policies) || len(s.Classes) != len(sc.Jobs) || len(s.Storms) != len(sc.Storms) {
			t.Errorf("%d policies, %d classes and %d storms of a scenario with %d, %d and %d", len(s.Policies), len(s.Classes), len(s.Storms), len(sc.Policies), len(sc.Jobs), len(sc.Storms))
		}
	})
}
