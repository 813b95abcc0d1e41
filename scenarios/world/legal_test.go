package world

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/scenarios"
)

// TestCalmAfterKills: the last storm is not over while an attempt may run that began in it and kills its process.
func TestCalmAfterKills(t *testing.T) {
	for _, tt := range []struct {
		name, job, api, storm string
		runs                  time.Duration // the longest attempt
	}{
		{"a success", "service: 30s", "", "", 30 * time.Second},
		{"a failure", "service: 1s, fails: {rate: 1%, takes: 10m}", "", "", 10 * time.Minute},
		{"a failure in a storm", "service: 1s", "", "fail: {rate: 100%, takes: 11m}", 11 * time.Minute},
		{"slow", "service: 1s", "", "slow: {factor: 100}", 100 * time.Second},
		{"an outage", "service: 1s, calls: api", "limit: {rate: 100/s}", "outage: {dependency: api, takes: 12m}", 12 * time.Minute},
		{"over a limit", "service: 1s, calls: api", "limit: {concurrency: 1}, over: {slow: 400}", "", 400 * time.Second},
		{"beside others", "service: 10s, calls: api", "limit: {concurrency: 1}, over: {fail: 1%}, slows: 100%", "", 100 * time.Second},
		{"refused", "service: 1s, calls: api", "limit: {rate: 1/s}, over: {rejects-in: 13m}", "", 13 * time.Minute},
		{"a row", "service: 1s, calls: api", "conflict: {network: 100s}", "", 401 * time.Second},
	} {
		text := "duration: 5m\nwarmup: 0s\nseeds: 1\nengine: {nodes: 1, workers: 10, restart: 3s, call-timeout: 1s}\n"
		if tt.api != "" {
			text += "dependencies: [{name: api, " + tt.api + "}]\n"
		}
		text += "jobs:\n  - {class: a, arrivals: {process: poisson, rate: 10/h}, " + tt.job + "}\nstorms:\n  - {name: k, at: 1m, for: 1s, kill: {rate: 1%}}\n"
		if tt.storm != "" {
			text += "  - {name: s, at: 1m, for: 1s, " + tt.storm + "}\n"
		}
		sc := load(t, text)
		if least := engine.Time(0).Add(61*time.Second + tt.runs + 3*time.Second); lastStorm(sc) < least {
			t.Errorf("%s: it is calm at %v, a process may be down until %v", tt.name, time.Duration(lastStorm(sc)), time.Duration(least))
		}
	}
}

var drawnScenarios = flag.Uint64("drawn", 250, "how many random scenarios TestDrawnScenariosHold runs")

// TestDrawnScenariosHold runs random scenarios from all the language allows, odd ones above all: the
// checker must report no breach.
func TestDrawnScenariosHold(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("simulations by one goroutine")
	}
	ran := uint64(0)
	for seed := range *drawnScenarios {
		d := drawing{rand.New(rand.NewPCG(seed, 1))}
		text := d.scenario()
		sc, _ := scenarios.Load("drawn.yaml", []byte(text), nil)
		if sc == nil {
			continue // not everything goes together
		}
		ran++
		runs, err := Run(context.Background(), sc, Options{Parallel: 1, Check: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if wantPossible(t, runs); t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
	if ran < *drawnScenarios/2 {
		t.Errorf("only %d of %d scenarios are legal", ran, *drawnScenarios)
	}
	t.Logf("%d scenarios held", ran)
}

// drawing draws random parts of a scenario's text.
type drawing struct{ *rand.Rand }

func (d drawing) of(choices ...string) string { return choices[d.IntN(len(choices))] }

// at returns text with a probability of the given tenths, else "".
func (d drawing) at(tenths int, text string) string {
	if d.IntN(10) < tenths {
		return text
	}
	return ""
}

// mapping returns a YAML mapping of those entries that are not empty.
func mapping(entries ...string) string {
	var kept []string
	for _, e := range entries {
		if e != "" {
			kept = append(kept, e)
		}
	}
	return "{" + strings.Join(kept, ", ") + "}"
}

func (d drawing) scenario() string {
	var jobs, storms string
	for _, class := range "abc"[:1+d.IntN(3)] {
		jobs += "  - " + d.job(string(class)) + "\n"
	}
	for i := range d.IntN(4) {
		storms += fmt.Sprintf("  - {name: s%d, at: %ss, %s}\n", i, d.of("10", "30", "60", "100", "110"), d.storm())
	}
	if storms != "" {
		storms = "storms:\n" + storms
	}
	return "name: drawn\nduration: 2m\nwarmup: 0s\ndrain: 3m\nseeds: 1\nengine: " + d.engine() + "\nretry: " + d.retry() + "\npolicies: [" +
		d.of("{kind: fifo}", "{kind: lifo}", "{kind: fresh-first}", "{kind: retry-first}", "{kind: weighted, fresh: 70%}", "{kind: bernoulli, fresh: 30%}", "{kind: inflight-cap, retries: 1}",
			"{kind: adaptive-lifo, older-than: 1s}", "{kind: codel, target: 300ms, interval: 1s, then: bury}", "{kind: codel, target: 300ms, interval: 1s, then: last}", "{kind: split, priority: 80%}") +
		"]\njobs:\n" + jobs + storms
}

func (d drawing) job(class string) string {
	return mapping("class: "+class, "arrivals: {process: poisson, rate: "+d.of("2", "5", "15")+"/s}", "service: "+d.of("50ms", "{dist: exponential, mean: 200ms}", "{dist: lognormal, p50: 200ms, p99: 3s}", "3s"),
		"priority: "+d.of("0", "0", "-3", "5"), d.at(7, "fails: {rate: "+d.of("5", "40", "90")+"%}"), d.at(1, "kills: 1%"), d.at(1, "silences: 3%"), d.at(2, "ignores-cancel: true"),
		d.at(2, "delay: 2s"), d.at(1, "max-running: 2"), d.at(2, "serial: {keys: 3}"), d.at(2, "tenants: {count: 3, skew: 1}"), d.at(1, "poison: 5%"), d.at(1, "patience: {after: 1s, resubmits: 1}"))
}

func (d drawing) storm() string {
	if d.IntN(5) == 0 {
		return d.of("crash: {nodes: 1, restart-after: 4s}", "stop: {nodes: 1, grace: 6s}", "on: leased, nth: 20, before: 30s, crash: {nodes: that, restart-after: 3s}",
			"on: finished, nth: 7, crash: {nodes: that, restart-after: 3s}", "redrive: {share: 100%, reset: true}", "redrive: {share: 50%}", "leases: {lose: 40%}")
	}
	return "for: " + d.of("5", "20") + "s, " + d.of("rolling: {every: 3s, restart-after: 2s}", "pause: {nodes: 1}", "heartbeats: {lose: 70%}", "calls: {lose-request: 20%, lose-reply: 20%}", "calls: {duplicate: 60%}",
		"calls: {delay: {dist: exponential, mean: 1s}}", "calls: {ops: [claim], delay: 7s}", "calls: {error: 50%}", "store: {stall: true}", "store: {slow: 30}", "store: {error: 60%}", "store: {partial: 40%}",
		"reaper: {stall: true}", "clock: {nodes: 1, skew: 8s}", "clock: {nodes: 1, skew: -8s}",
		"store: {parallel: 1}", "hang: {rate: 10%, extra: 9s}", "kill: {rate: 3%}", "on: called, op: commit, nth: 30, before: 20s, pause: {nodes: that}")
}

func (d drawing) retry() string {
	return mapping("max-attempts: "+d.of("1", "2", "3", "8", "unlimited"), "backoff: "+d.of("{kind: none}", "{kind: fixed, delay: 1s}", "{kind: exponential, first: 100ms, factor: 2, max: 5s}",
		"{kind: fibonacci, first: 200ms, max: 5s}", "{kind: linear, first: 100ms, step: 300ms, max: 3s}"), d.at(5, "jitter: "+d.of("full", "equal", "decorrelated", "none")), d.at(3, "count: failure"),
		d.at(2, "free: ["+d.of("timeout", "unavailable")+"]"), d.at(2, "deadline: 20s"), d.at(2, "never: [throttled]"))
}

func (d drawing) engine() string {
	ttl := []int{2, 5, 10, 30}[d.IntN(4)]
	var store []string
	for _, call := range []string{"claim", "commit", "extend", "recover", "promote", "enqueue"} {
		store = append(store, d.at(4, call+": "+d.of("0s", "200us", "5ms", "30ms", "{dist: exponential, mean: 3ms}", "{dist: hyperexponential, mean: 2ms, cv: 9}", "{dist: pareto, min: 1ms, alpha: 1.5}")))
	}
	store = append(store, d.at(2, "per-job: "+d.of("10us", "1ms")))
	heartbeat := fmt.Sprintf("%dms", ttl*1000/3)
	return mapping("nodes: "+d.of("1", "1", "2", "3", "5"), "workers: "+d.of("1", "2", "4", "9"),
		"fetch: "+mapping("batch: "+d.of("1", "2", "7", "100"), "poll: "+d.of("10ms", "100ms", "2s"), "wake: "+d.of("true", "false", "all"), d.at(4, "prefetch: "+d.of("1", "5", "40")), d.at(1, "cooldown: 300ms")),
		"commit: "+mapping("batch: "+d.of("1", "3", "100"), "linger: "+d.of("0s", "5ms", "50ms"), "calls: "+d.of("1", "2"), d.at(3, "timeout: "+d.of("1s", "3s")), d.at(2, "tries: 2"), d.at(2, "give-up: drop"), d.at(3, "eager: true"),
			d.at(3, "backpressure: "+d.of("0", "0", "1", "5", "50")), d.at(2, "backoff: [1s, 20s]")),
		"lease: "+mapping(fmt.Sprintf("ttl: %ds", ttl), "heartbeat: "+d.of("0s", heartbeat, heartbeat, fmt.Sprintf("%ds", 2*ttl)), d.at(2, fmt.Sprintf("max: %ds", 2*ttl)), d.at(1, "of: node"),
			d.at(2, "names: kept"), d.at(1, "check: local"), "late-claim: "+d.of("return", "run", "ignore")),
		"fence: "+d.of("token", "token", "state", "none"),
		"reaper: "+mapping("every: "+d.of("0s", "5ms", "100ms", "1s", "3s"), "batch: "+d.of("1", "10", "100"), d.at(2, "grace: 1s"), d.at(3, "on-start: false"), d.at(3, "counts: nothing"), d.at(3, "owner: leader"),
			d.at(2, "max: "+d.of("0", "1", "3")), d.at(4, "after: "+d.of("retry", "ready", "dead")), d.at(3, "place: "+d.of("head", "tail")), d.at(1, "gap: "+d.of("100ms", "2s")), d.at(3, "guard: "+d.of("token", "state", "none")),
			"finds: "+d.of("lease", "in-flight")),
		d.at(3, "promoter: "+mapping("every: "+d.of("200ms", "2s", "{dist: exponential, mean: 500ms}"), "batch: "+d.of("1", "10", "100"), "order: "+d.of("oldest", "newest"), d.at(3, "owner: leader"), d.at(3, "gap: 100ms"))),
		"place: "+d.of("due", "due", "due", "tail", "head", "created"), d.at(1, "ack: early"), d.at(1, "waiting: held"), d.at(4, "timeout: "+d.of("400ms", "2s")), d.at(2, "on-timeout: "+d.of("free", "wait")), d.at(3, "call-timeout: "+d.of("4s", "10s")),
		d.at(1, "max-in-flight: 6"), "store: "+mapping(store...))
}
