package world

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/results/measure"
	"qsim/scenarios"
)

// instant is a part of a scenario with a store without delays and commits without linger, so that
// times can be computed by hand.
const instant = `
warmup: 0s
seeds: 1
engine:
  nodes: 1
  workers: 1
  commit: {linger: 0s}
  store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s}
`

// runs simulates the scenario of a text, which may have warnings, and returns its runs.
func runs(t *testing.T, text string, sets ...scenarios.Override) []measure.Run {
	t.Helper()
	sc, ds := scenarios.Load("test.yaml", []byte(text), sets)
	if sc == nil {
		t.Fatalf("%s", render(t, "test.yaml", []byte(text), ds))
	}
	all, err := Run(context.Background(), sc, Options{Check: true})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// value returns the value of a metric in a run, NaN if there is none.
func value(t *testing.T, r *measure.Run, q measure.Query) float64 {
	t.Helper()
	for _, v := range r.Values {
		if v.Query == q {
			if v.Null {
				return math.NaN()
			}
			return v.Value
		}
	}
	t.Fatalf("%v was not measured", q)
	return 0
}

// mean returns the mean of a metric over runs.
func mean(t *testing.T, all []measure.Run, metric string) float64 {
	t.Helper()
	sum := 0.0
	for i := range all {
		sum += value(t, &all[i], measure.Query{Metric: metric})
	}
	return sum / float64(len(all))
}

// Callers give up after 1 s. What is to be expected was counted by hand.
func TestPatience(t *testing.T) {
	const jobs = `
duration: 20s
jobs:
  - {class: mail, arrivals: {process: batch, size: %d, every: 10s}, service: %s, patience: {after: 1s, resubmits: %d}}
`
	for _, tt := range []struct {
		name      string
		size      int
		service   string
		resubmits int
		workers   string
		want      string // jobs, answered.share, amplification
	}{
		{"all in time", 1, "1s", 3, "1", "2 1 1"},
		// Copies come at 0, 1 and 2, and are done at 3, 6 and 9.
		{"never in time", 1, "3s", 2, "1", "6 0 3"},
		{"nobody resubmits", 1, "3s", 0, "1", "2 0 1"},
		// The second is done at 1.2; its other copy came at 1 and is done at 1.8.
		{"the second again", 2, "600ms", 1, "1", "6 1 1.5"},
		{"two at once", 2, "600ms", 1, "2", "4 1 1"},
		// Three that take 400 ms: the third is done at 1.2, its other copy, of 1 s, at 1.6.
		{"the third again", 3, "400ms", 5, "1", "8 1 1.3333"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := runs(t, instant+fmt.Sprintf(jobs, tt.size, tt.service, tt.resubmits), scenarios.Override{Path: "engine.workers", Value: tt.workers})
			r := &all[0]
			got := fmt.Sprintf("%v %v %.5g", value(t, r, measure.Query{Metric: "jobs"}), value(t, r, measure.Query{Metric: "answered.share"}),
				value(t, r, measure.Query{Metric: "amplification"}))
			if got != tt.want {
				t.Errorf("jobs, answered.share and amplification are %s, want %s", got, tt.want)
			}
		})
	}
}

// A copy that fails for good is an answer: its caller does not resubmit, and does not count as answered well.
func TestPatienceWithTheDead(t *testing.T) {
	all := runs(t, instant+`
duration: 20s
jobs:
  - class: mail
    arrivals: {process: constant, rate: 0.1/s}
    service: 100ms
    poison: 100%
    retry: {max-attempts: 1}
    patience: {after: 1s, resubmits: 3}
`)
	if jobs, share := mean(t, all, "jobs"), mean(t, all, "answered.share"); jobs != 2 || share != 0 {
		t.Errorf("%v jobs, %v answered; want 2 and 0", jobs, share)
	}
}

// Copies that come while the first is worked on find the work done: they end at once when
// it does, at 2 s. The one of 1.5 s is in time then.
func TestCopiesOfIdempotentJobs(t *testing.T) {
	text := instant + `
duration: 40s
jobs:
  - {class: mail, arrivals: {process: constant, rate: 0.1/s, start: 0s}, service: 2s, idempotent: true, patience: {after: 500ms, resubmits: 4}}
`
	all := runs(t, text)
	if jobs, busy, share := mean(t, all, "jobs"), mean(t, all, "utilization"), mean(t, all, "answered.share"); jobs != 16 || math.Abs(busy-0.2) > 1e-9 || share != 1 {
		t.Errorf("%v jobs, utilization %v, answered %v; want 16, 4 of them worked on for 2 s of the 40 s, and all", jobs, busy, share)
	}
}

// With a way of the first copy to the store, patience begins when it is there.
func TestPatienceBeginsAtTheStore(t *testing.T) {
	all := runs(t, instant+`
duration: 20s
jobs:
  - {class: mail, arrivals: {process: constant, rate: 0.1/s}, service: 1s, patience: {after: 1s, resubmits: 1}}
`, scenarios.Override{Path: "engine.store.enqueue", Value: "700ms"})
	if jobs, share := mean(t, all, "jobs"), mean(t, all, "answered.share"); jobs != 2 || share != 1 {
		t.Errorf("%v jobs, %v answered; want 2 and all", jobs, share)
	}
}

// An execution that keeps its node from sending heartbeats loses its lease.
func TestSilences(t *testing.T) {
	const jobs = `
duration: 10m
jobs:
  - {class: mail, arrivals: {process: batch, size: 1, every: 5m}, service: 45s, silences: %s}
`
	for _, tt := range []struct {
		share string
		want  float64
	}{{"0%", 0}, {"100%", 2}} {
		all := runs(t, instant+fmt.Sprintf(jobs, tt.share), scenarios.Override{Path: "engine.lease", Value: "{ttl: 30s, heartbeat: 5s}"},
			scenarios.Override{Path: "retry.max-attempts", Value: "1"})
		if got := mean(t, all, "leases.false"); got != tt.want {
			t.Errorf("silences %s: %v leases expired while their holder lived, want %v", tt.share, got, tt.want)
		}
	}
}

// slowdown is the ratio of the waits of two separate runs, one of them without its storm.
func TestSlowdownIsThatOfTwoRuns(t *testing.T) {
	const base = `
warmup: 10s
duration: 3m
seeds: 3
engine: {workers: 2}
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 10/s}, service: {dist: exponential, mean: 120ms}}
policies: [{kind: fifo}, {kind: lifo}]
`
	const storm = `
storms: [{name: slow, at: 1m, for: 10s, slow: {hits: [mail], factor: 4}}]
objectives: [{metric: slowdown, below: 1000}, {metric: slowdown, during: slow, above: 1}]
`
	stormy, calm := runs(t, base+storm), runs(t, base)
	for i := range stormy {
		wait := measure.Query{Metric: "fresh.wait.mean"}
		want := value(t, &stormy[i], wait) / value(t, &calm[i], wait)
		if got := value(t, &stormy[i], measure.Query{Metric: "slowdown"}); math.Abs(got/want-1) > 1e-12 || got < 1.2 {
			t.Errorf("run %d: slowdown %v, want %v", i, got, want)
		}
		if during := value(t, &stormy[i], measure.Query{Metric: "slowdown", During: "slow"}); during < 2 {
			t.Errorf("run %d: slowdown %v during the storm", i, during)
		}
	}
}

// Every policy sees the same arrivals, run times and failures, whatever it overrides.
func TestPoliciesSeeTheSameWorld(t *testing.T) {
	sc := load(t, `
duration: 10m
jobs:
  - {class: mail, arrivals: {process: gamma, rate: 5/s, cv: 2}, service: {dist: exponential, mean: 100ms}, fails: {rate: 30%, errors: {a: 50%, b: 50%}}, tenants: {count: 3, skew: 1}}
  - {class: sums, arrivals: {process: on-off, rate: 5/s, on: {dist: exponential, mean: 1m}, off: 1m}, service: {dist: lognormal, mean: 50ms, cv: 3}, kills: 10%}
storms: [{name: s, at: 3m, for: 1m, fail: {hits: [mail], rate: 50%, error: down}}]
policies: [{kind: fifo}, {kind: lifo, with: {engine.workers: 7, engine.nodes: 3, retry.jitter: full, retry.max-attempts: 9}}]
`)
	var seen [2]strings.Builder
	for i := range seen {
		v := sc.Variant(i)
		rand := keyed.Rand{Seed: 5}
		w, err := newWorkload(v, rand)
		if err != nil {
			t.Fatal(err)
		}
		h := newHandlers(v, rand)
		for {
			var j engine.NewJob
			at, ok := w.Next(&j)
			if !ok {
				break
			}
			for n := range int32(2) {
				fmt.Fprintln(&seen[i], at, j, h.Begin(at, 0, &engine.Job{ID: j.ID, Kind: j.Kind, Delivery: n + 1}))
			}
		}
	}
	if seen[0].Len() < 100_000 || seen[0].String() != seen[1].String() {
		t.Errorf("%d and %d bytes of arrivals and executions: want them equal", seen[0].Len(), seen[1].Len())
	}
}

// The order in which simulations end, and how often they are run, changes nothing.
func TestWorldIsDeterministic(t *testing.T) {
	sc := load(t, `
warmup: 10s
duration: 2m
seeds: 3
engine: {workers: 4, nodes: 2}
dependencies: [{name: api, limit: {concurrency: 6}, slows: 50%, conflict: {network: {dist: normal, mean: 10ms, sd: 2ms}}}]
jobs:
  - {class: mail, arrivals: {process: diurnal, mean: 20/s, swing: 80%, period: 1m}, service: {dist: exponential, mean: 100ms}, calls: api, silences: 1%, tenants: {count: 9, skew: 1}}
  - {class: sums, arrivals: {process: ramp, from: 1/s, to: 20/s}, service: {dist: exponential, mean: 200ms}, patience: {after: 1s, resubmits: 2}}
storms: [{name: out, at: 1m, for: 2s, outage: {dependency: api}, repeat: {every: 20s, times: 2}}]
policies: [{kind: fifo}, {kind: lifo}]
objectives: [{metric: slowdown, above: 0}, {metric: fresh.wait.p99, tenant: mail/0, below: 1h}]
`)
	var seen [2]string
	for i, parallel := range []int{1, 4} {
		all, err := Run(context.Background(), sc, Options{Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		for k := range all {
			seen[i] += fmt.Sprintf("%x %v\n", all[k].Fingerprint, all[k].Values)
		}
	}
	if seen[0] != seen[1] {
		t.Errorf("one at a time:\n%s\nfour at once:\n%s", seen[0], seen[1])
	}
}
