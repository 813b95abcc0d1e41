package scenarios

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/scenarios/spec"
)

// smallest is a scenario with the required keys only.
const smallest = `
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 10/s}
    service: 100ms
`

func load(t *testing.T, text string, sets ...Override) *Scenario {
	t.Helper()
	sc, ds := Load("test.yaml", []byte(text), sets)
	if len(ds) > 0 {
		t.Errorf("diagnostics:\n%s", render(t, "test.yaml", []byte(text), ds))
	}
	if sc == nil {
		t.FailNow()
	}
	return sc
}

// TestShipped checks that every shipped scenario loads without an error or a warning.
func TestShipped(t *testing.T) {
	all := Builtin()
	if len(all) < 4 {
		t.Fatalf("%d built-in scenarios, want at least 4", len(all))
	}
	for _, info := range all {
		t.Run(info.Name, func(t *testing.T) {
			src, err := os.ReadFile(info.Name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			sc := load(t, string(src))
			if sc.Name != path.Base(info.Name) || sc.Description == "" || info.Description != sc.Description {
				t.Errorf("named %q, described %q; listed as %+v", sc.Name, sc.Description, info)
			}
			if !strings.HasPrefix(string(src), "# ") {
				t.Error("it does not open with a comment on what it shows")
			}
			if len(sc.Objectives) == 0 || len(sc.Policies) < 2 {
				t.Errorf("%d objectives, %d policies: want a comparison and a verdict", len(sc.Objectives), len(sc.Policies))
			}
		})
	}
}

// TestResolved checks that the text of Resolved loads to an equal scenario, in all parts and under every policy.
func TestResolved(t *testing.T) {
	texts := map[string]string{"smallest": smallest, "rich": rich}
	for _, info := range Builtin() {
		src, err := os.ReadFile(info.Name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		texts[info.Name] = string(src)
	}
	src, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	texts["everything"] = string(src)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Run(name, func(t *testing.T) {
			first := load(t, texts[name])
			text := first.Resolved()
			second := load(t, string(text))
			if got := second.Resolved(); string(got) != string(text) {
				t.Errorf("resolved twice:\n%s\nwant\n%s", got, text)
			}
			if first.ConfigHash() != second.ConfigHash() || len(first.ConfigHash()) != 8 {
				t.Errorf("hashes %q and %q", first.ConfigHash(), second.ConfigHash())
			}
			for i := range first.Policies {
				a, b := first.Variant(i), second.Variant(i)
				if x, y := string(a.Resolved()), string(b.Resolved()); x != y {
					t.Errorf("as policy %d sees it:\n%s\nwant\n%s", i, y, x)
				}
				for class := range first.Jobs {
					if x, y := fmt.Sprintf("%+v", a.RetryOf(class).MaxAttempts), fmt.Sprintf("%+v", b.RetryOf(class).MaxAttempts); x != y {
						t.Errorf("attempts of class %d under policy %d: %s, want %s", class, i, y, x)
					}
				}
			}
		})
	}
}

// TestHash checks that ConfigHash depends on a scenario's meaning, not on its text.
func TestHash(t *testing.T) {
	hash := func(text string) string { return load(t, text).ConfigHash() }
	base := hash(smallest + "duration: 90s\nwarmup: 1s\n")
	if got := hash("warmup: 1000ms\nduration: 1m30s # as above\n" + smallest); got != base {
		t.Errorf("hash %s of the same scenario in other words, want %s", got, base)
	}
	if got := hash("warmup: 1001ms\nduration: 90s\n" + smallest); got == base {
		t.Errorf("hash %s of another scenario", got)
	}
}

// TestHashOfFiles: a data file that has changed changes the hash, and without one of them it is not known.
func TestHashOfFiles(t *testing.T) {
	folder := t.TempDir()
	values, traced := filepath.Join(folder, "values"), filepath.Join(folder, "trace")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(values, "1s\n")
	write(traced, "1\n")
	const text = "duration: 1m\njobs: [{class: a, arrivals: {process: trace, file: trace}, service: {dist: empirical, file: values}}]\n"
	sc, problems := Load(filepath.Join(folder, "a.yaml"), []byte(text), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	first := sc.ConfigHash()
	write(traced, "2\n")
	if again := sc.ConfigHash(); again == first || len(again) != 8 {
		t.Errorf("%s, and with another trace %s", first, again)
	}
	for _, path := range []string{values, traced} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got := sc.ConfigHash(); got != "unknown" {
			t.Errorf("without %s: %s", filepath.Base(path), got)
		}
		write(path, "1")
	}
}

// rich is a scenario that sets keys in all its parts.
const rich = `
version: 1
name: rich
description: "tricky: text # with 'everything' and 10%"
duration: 1h
drain: 20m
warmup: 5m
seeds: 3
seed: 7
baseline: W
engine:
  nodes: 4
  workers: 10
  fetch: {batch: 10, poll: 1s, wake: all, prefetch: 2, cooldown: 10ms}
  commit: {batch: 20, linger: 1ms, eager: true, calls: 1, timeout: 2s, tries: 3, give-up: drop, backpressure: 500}
  lease: {ttl: 1m, heartbeat: 0s, late-claim: run}
  fence: state
  reaper: {every: 0s, batch: 7, grace: 1s, on-start: false, counts: nothing, owner: leader}
  promoter: {every: 5s, batch: 50, order: newest, owner: leader}
  place: head
  timeout: 0s
  call-timeout: 1s
  restart: 9s
  leader: {ttl: 20s, renew: 6s}
  store: {claim: {dist: exponential, mean: 1ms}, commit: 2ms, per-job: {dist: lognormal, mean: 10us, cv: 2}}
retry:
  max-retries: 5
  backoff: {kind: table, delays: [1s, 5s, 1m]}
  jitter: -50%
  never: [validation, teapot]
  count: failure
  deadline: 30m
jobs:
  - class: mail
    arrivals: {process: constant, rate: 90/m, start: 1m, stop: 50m}
    service: {dist: hyperexponential, mean: 300ms, cv: 2}
    priority: -3
    fails: {rate: 2.5%, takes: 1s, errors: {zebra: 75%, timeout: 25%}}
    poison: 0.1%
    kills: 0.01%
    ignores-cancel: true
    idempotent: true
    delay: 10s
    retry: {max-attempts: unlimited, backoff: {kind: random, delay: {dist: uniform, min: 1s, max: 9s}}}
    timeout: 20s
  - class: post
    arrivals: {process: poisson, rate: 3/h}
    service: 1s
    retry: {jitter: +10%, never: []}
storms:
  - {name: z, at: 20m, for: 5m, slow: {factor: 2.5}}
  - {name: a, at: 10m, for: 5m, fail: {hits: [mail], rate: 97%}}
  - {name: b, at: 15m, burst: {class: post, count: 1k}}
  - {name: c, at: 16m, for: 1m, burst: {class: post, factor: 3}}
  - {name: d, at: 17m, crash: {nodes: 50%, restart-after: 30s}}
  - {name: e, at: 18m, crash: {nodes: [0, 3], restart-after: 30s}}
policies:
  - {kind: weighted, label: W, fresh: 66.7%, lend: false}
  - {kind: fifo, with: {retry.max-attempts: 3, retry.backoff: {kind: fixed, delay: 2s}, jobs.mail.retry.max-retries: 1, storms.z.slow.factor: 4, engine.store.claim: 5ms}}
  - {kind: fifo, label: "no: 3", with: {jobs.post.fails: {rate: 1%, errors: {quota: 100%}}, retry.backoff.delays: [7s]}}
objectives:
  - {metric: fresh.wait.p99, during: a, class: mail, below: 10s, policies: [W, fifo]}
  - {metric: fresh.within, limit: 5s, above: 99%, expect: missed}
`

// TestRich checks the values loaded from rich: defaults, overrides, numbering.
func TestRich(t *testing.T) {
	sc := load(t, rich)
	third := sc.Variant(2)
	check := func(what string, got, want any) {
		t.Helper()
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%s: %s, want %s", what, g, w)
		}
	}
	check("attempts by max-retries", sc.RetryOf(1).MaxAttempts, 6)
	check("attempts of the class", sc.RetryOf(0).MaxAttempts, "unlimited")
	check("jitter beside a random backoff", sc.RetryOf(0).Jitter, "none")
	check("jitter of the class", sc.RetryOf(1).Jitter, "+10%")
	check("jitter of all", sc.Retry.Jitter, "-50%")
	check("attempts of the class under fifo", sc.Variant(1).RetryOf(0).MaxAttempts, 2)
	check("attempts under fifo", sc.Variant(1).RetryOf(1).MaxAttempts, 3)
	check("backoff under fifo", sc.Variant(1).RetryOf(1).Backoff.Kind, "fixed")
	check("backoff under the third", third.RetryOf(1).Backoff.Delays, "[7s]")
	check("factor under fifo", sc.Variant(1).Storms[0].Trouble.(*spec.SlowStorm).Factor, 4)
	check("factor", sc.Storms[0].Trouble.(*spec.SlowStorm).Factor, 2.5)
	check("claim under fifo", sc.Variant(1).Engine.Store.Claim.Average(), "5ms")
	check("an unset store call", sc.Engine.Store.Extend.Average(), "500us")
	check("variant without overrides", sc.Variant(0) == sc, true)
	check("timeout of the class", sc.TimeoutOf(0), 20*time.Second)
	check("timeout", sc.TimeoutOf(1), time.Duration(0))
	check("error kinds", sc.ErrorKinds()[engine.FirstErrorKind:], "[error zebra quota]")
	check("error kinds of a variant", third.ErrorKind("quota"), sc.ErrorKind("quota"))
	check("unknown error kind", sc.ErrorKind("teapot"), engine.NoError)
	check("empty error kind", sc.ErrorKind(""), engine.NoError)
	check("nodes by share", sc.Storms[4].Trouble.(*spec.CrashStorm).Nodes.Of(4), 2)
	check("nodes by list", sc.Storms[5].Trouble.(*spec.CrashStorm).Nodes.List, "[0 3]")
	check("default error", sc.Storms[1].Trouble.(*spec.FailStorm).Error, "error")
	check("takes by default", sc.Storms[1].Trouble.(*spec.FailStorm).Takes == nil, true)

	for i := range sc.Policies {
		for class := range sc.Jobs {
			if _, err := sc.Variant(i).RetryPolicy(class); err != nil {
				t.Errorf("retry policy of class %d under policy %d: %v", class, i, err)
			}
		}
		if _, err := sc.PolicyMaker(i); err != nil {
			t.Errorf("policy %d: %v", i, err)
		}
	}
}

// TestRetryPolicy checks that the engine's retry policy has the values of the scenario file.
func TestRetryPolicy(t *testing.T) {
	sc := load(t, smallest+"retry: {max-attempts: 3, backoff: {kind: fixed, delay: 60s}, jitter: ±20%, never: [timeout]}\n")
	b, err := sc.RetryPolicy(0)
	if err != nil {
		t.Fatal(err)
	}
	job := &engine.Job{Charged: 2, Failures: 1}
	for _, tt := range []struct {
		kind  engine.ErrorKind
		draw  float64
		verb  engine.Verb
		delay time.Duration
	}{{engine.LeaseExpired, 0.5, engine.Nack, 60 * time.Second}, {engine.LeaseExpired, 1e-9, engine.Nack, 48 * time.Second}, {engine.Timeout, 0.5, engine.Bury, 0}} {
		verb, delay := b.Next(job, tt.kind, tt.draw)
		if verb != tt.verb || (delay-tt.delay).Abs() > time.Microsecond {
			t.Errorf("%v at %v: %v after %v, want %v after %v", tt.kind, tt.draw, verb, delay, tt.verb, tt.delay)
		}
	}
	job.Charged = 3
	if verb, _ := b.Next(job, engine.LeaseExpired, 0.5); verb != engine.Bury {
		t.Errorf("after three attempts: %v, want bury", verb)
	}
}

// TestDefaults checks the values of a scenario with the required keys only.
func TestDefaults(t *testing.T) {
	sc := load(t, smallest)
	golden(t, "testdata/smallest.yaml", sc.Resolved())
	if sc.Drain != sc.Duration || sc.Name != "test" || sc.Baseline != "fifo" {
		t.Errorf("drain %v, name %q, baseline %q", sc.Drain, sc.Name, sc.Baseline)
	}
	if got := load(t, smallest+"duration: 10m\n").Drain; got != Duration(10*time.Minute) {
		t.Errorf("drain %v of a run of 10m", got)
	}
	if got := load(t, smallest+"drain: 0s\n").Drain; got != 0 {
		t.Errorf("drain %v, want 0s as given", got)
	}
}

// TestAnchors checks that YAML's anchors, aliases and merges work in scenario files.
func TestAnchors(t *testing.T) {
	sc := load(t, `
engine: {store: {claim: &slow {dist: exponential, mean: 3ms}, commit: *slow}}
jobs:
  - &one
    class: one
    arrivals: {process: poisson, rate: 10/s}
    service: 100ms
  - {<<: *one, class: two}
  - {<<: [{priority: 3}, *one], class: three, service: 1ms}
`)
	if got := fmt.Sprintln(sc.Jobs[1].Class, sc.Jobs[1].Service.Average(), sc.Jobs[2].Priority, sc.Jobs[2].Service.Average(), sc.Engine.Store.Commit.Dist().Mean()); got != "two 100ms 3 1ms 0.003\n" {
		t.Errorf("got %s", got)
	}
}
