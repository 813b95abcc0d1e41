package apply

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"qsim/policies"
	"qsim/scenarios"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// load returns the scenario with this YAML text, which must load.
func load(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	sc, problems := scenarios.Load("applied.yaml", []byte(text), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	return sc
}

const jobs = "\njobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}]\n"

// TestEveryKeyHasASettingOrAReason checks that each system of systems.yaml has, for every key of scenarios, a setting
// or a reason why there is none, unless the key is one of WorldKeys.
func TestEveryKeyHasASettingOrAReason(t *testing.T) {
	keys := scenarios.Keys()
	isMap := func(path string) bool {
		inside := func(k scenarios.Key) bool { return strings.HasPrefix(k.Path, path+".") }
		return path == "jobs.CLASS.retry" || slices.ContainsFunc(keys, inside)
	}
	keysSeen := 0
	for _, system := range Systems() {
		for _, k := range keys {
			if isMap(k.Path) || below(k.Path, WorldKeys()...) {
				continue
			}
			row, cannot := Find(&system, k.Path)
			if row == nil && cannot == "" {
				t.Errorf("%s has nothing for %s", system.Name, k.Path)
			}
			keysSeen++
		}
	}
	if keysSeen < 8*60 {
		t.Errorf("%d keys of all systems: is that all?", keysSeen)
	}
}

// TestRowsAreOfTheLanguage checks that the keys and policies in systems.yaml exist.
func TestRowsAreOfTheLanguage(t *testing.T) {
	known := func(system, key string) {
		if !slices.ContainsFunc(scenarios.Keys(), func(k scenarios.Key) bool { return k.Path == key }) {
			t.Errorf("%s: there is no key %s", system, key)
		}
	}
	for _, key := range WorldKeys() {
		known("world", key)
	}
	for _, system := range Systems() {
		for _, s := range system.Translations {
			for _, key := range append(s.With, s.Key) {
				known(system.Name, key)
			}
		}
		for _, c := range system.Cannot {
			for _, key := range c.Keys {
				known(system.Name, key)
			}
			if c.Why == "" {
				t.Errorf("%s: no reason for %q", system.Name, c.Keys)
			}
		}
		for kind := range system.Policies {
			if !slices.ContainsFunc(policies.Kinds(), func(k policies.Kind) bool { return k.Name == kind }) {
				t.Errorf("%s: there is no policy %s", system.Name, kind)
			}
		}
		if system.Nearest == "" || system.Docs == "" {
			t.Errorf("%s lacks what is nearest, or where it is described", system.Name)
		}
	}
}

// TestPresetNeedsFewSettings checks that a scenario with nothing but a system's preset, named or written out, gives
// only the settings that every user of the system must make, or for which it has another default.
func TestPresetNeedsFewSettings(t *testing.T) {
	must := map[string]string{
		"sqs":      "engine.fetch.batch engine.fetch.poll engine.commit.batch",
		"bullmq":   "engine.lease.heartbeat",
		"celery":   "engine.fetch.prefetch",
		"oban":     "engine.lease.ttl",
		"temporal": "engine.lease.ttl engine.timeout",
	}
	for _, system := range Systems() {
		named := load(t, "engine: {preset: "+system.Name+"}"+jobs)
		written := load(t, string(named.Resolved()))
		for _, sc := range []*scenarios.Scenario{named, written} {
			var keys []string
			for _, line := range To(&system, sc, 0, nil).Settings {
				keys = append(keys, line.Key)
				if line.Cannot != "" {
					t.Errorf("%s: %+v", system.Name, line)
				}
			}
			if got := strings.Join(keys[2:], " "); got != must[system.Name] || keys[1] != "engine.workers" {
				t.Errorf("%s: got %s, want %s", system.Name, got, must[system.Name])
			}
		}
	}
}

// tuned is a scenario whose settings every system can take, at least in part.
const tuned = `name: tuned
engine:
  preset: PRESET
  nodes: 3
  workers: 40
  timeout: 90s
  lease: {ttl: 20m}
retry:
  max-attempts: 6
  backoff: {kind: exponential, first: 2s, factor: 3, max: 5m}
  jitter: ±20%
  never: [validation]
  deadline: 24h
jobs:
  - {class: mail, arrivals: {process: poisson, rate: 9/s}, service: 1s, priority: 2, delay: 30s}
  - class: report
    arrivals: {process: poisson, rate: 1/m}
    service: 20s
    timeout: 10m
    retry: {max-attempts: 2, backoff: {kind: fixed, delay: 90s}}
policies: [{kind: separate, retry-workers: 25%}]
`

// TestGolden compares the settings that two scenarios become for each system with golden files: one is shipped, with an
// in-flight cap and without a preset, the other is on the preset of the system.
func TestGolden(t *testing.T) {
	name, src, err := scenarios.Open("retry-storm")
	if err != nil {
		t.Fatal(err)
	}
	storm, _ := scenarios.Load(name, src, nil)
	for _, system := range Systems() {
		t.Run(system.Name, func(t *testing.T) {
			var got strings.Builder
			own := load(t, strings.Replace(tuned, "PRESET", system.Name, 1))
			capped := To(&system, storm, storm.PoliciesNamed("inflight-cap")[0], nil)
			for _, r := range []*Result{capped, To(&system, own, 0, nil)} {
				fmt.Fprintf(&got, "%s under %s, for %s\n", r.Scenario, r.Policy, r.System)
				for _, l := range r.Settings {
					setting := l.Setting
					if l.Cannot != "" {
						setting = "✗ " + l.Cannot
					}
					fmt.Fprintf(&got, "%s: %s\n    %s\n", l.Key, l.Value, setting)
				}
				fmt.Fprintf(&got, "%d alike\n\n", r.Alike)
			}
			path := filepath.Join("testdata", system.Name+".golden")
			if *rewrite {
				if err := os.WriteFile(path, []byte(got.String()), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || string(want) != got.String() {
				t.Errorf("%v: run with -rewrite, if that is right:\n%s", err, got.String())
			}
		})
	}
}

// TestNoSetting checks that a value which a system cannot express gives a reason instead of a setting.
func TestNoSetting(t *testing.T) {
	for _, tt := range []struct{ system, scenario, key, want string }{
		{"river", "retry: {jitter: decorrelated}", "retry.backoff", "no jitter decorrelated"},
		{"river", "retry: {jitter: +10s}", "retry.backoff", "no jitter +10s"},
		{"river", "retry: {max-attempts: unlimited}", "retry.max-attempts", "no value unlimited"},
		{"river", "retry: {backoff: {kind: random, delay: {dist: uniform, min: 1s, max: 2s}}}", "retry.backoff",
			"no delays of a distribution"},
		{"river", "engine: {fetch: {poll: {dist: uniform, min: 1s, max: 2s}}}", "engine.fetch.poll",
			"no value {dist: uniform, min: 1s, max: 2s}"},
		{"asynq", "retry: {max-attempts: unlimited}", "retry.max-attempts", "no unlimited number of retries"},
		{"sqs", "engine: {fetch: {batch: 11}}", "engine.fetch.batch", "at most 10, not 11"},
		{"sqs", "retry: {deadline: 30s}", "retry.deadline", "at least 60 s, not 30 s"},
		{"sqs", "engine: {lease: {ttl: 1500ms, heartbeat: 500ms}}", "engine.lease.ttl",
			"whole seconds alone, not 1.5s"},
		{"sqs", "retry: {backoff: {kind: table, delays: [1s, 13h]}}", "retry.backoff",
			"at most 43200 s, not 46800 s"},
		{"bullmq", "engine: {lease: {ttl: 30s, heartbeat: 1500us}}", "engine.lease.heartbeat",
			"whole milliseconds alone, not 1.5ms"},
		{"sidekiq", "engine: {promoter: {every: 0s}}", "engine.promoter.every", "at least 0.1 s, not 0 s"},
		{"temporal", "retry: {backoff: {kind: exponential, first: 1s}}", "retry.backoff", "the max is not given"},
		{"temporal", "retry: {backoff: {kind: exponential, first: 1s, factor: 0.5, max: 1m}}", "retry.backoff",
			"at least 1, not 0.5"},
		{"temporal", "retry: {backoff: {kind: fixed, delay: 0s}}", "retry.backoff", "at least 0.001 s, not 0 s"},
		{"temporal", "retry: {backoff: {kind: exponential, first: 1m, factor: 2, max: 1s}}", "retry.backoff",
			"a max of at least the first, 1m, not 1s"},
		{"temporal", "retry: {backoff: {kind: fibonacci, first: 1s}}", "retry.backoff", "no backoff of kind fibonacci"},
		{"temporal", "policies: [{kind: breaker}]", "policies.breaker",
			"no breaker: Temporal has none; nearest: a task queue"},
		{"river", "jobs: [" + mail + ", " + urgent + "]", "jobs.mail.priority", "at least 1, not 0"},
		{"temporal", "jobs: [" + mail + ", " + urgent + "]", "jobs.mail.priority", "at least 1, not 0"},
		{"river", "engine: {lease: {ttl: 30s, heartbeat: 10s}}", "engine.lease.ttl",
			"only with engine.lease.heartbeat: 0s, not 10s"},
		{"oban", "engine: {lease: {ttl: 60m, heartbeat: 10s}}", "engine.lease.ttl",
			"only with engine.lease.heartbeat: 0s, not 10s"},
		{"celery", "engine: {lease: {ttl: 2m}, timeout: 5m}", "engine.lease.ttl",
			"at least the longest timeout, 5m, not 2m"},
		{"oban", "engine: {lease: {ttl: 2m}}\njobs: [" + mail + ", {timeout: 3m, " + urgent[1:] + "]",
			"engine.lease.ttl",
			"at least the longest timeout, 3m, not 2m"},
		{"temporal", "retry: {backoff: {kind: exponential, first: 1s, factor: 2, max: 1m, plus: 15s}}", "retry.backoff",
			"no plus of 15s"},
		{"temporal",
			"retry: {max-attempts: 30, backoff: {kind: exponential, first: 1s, factor: 2, max: 1m, scale: 20}}",
			"retry.backoff", "no scale of 20"},
		{"sidekiq", "retry: {backoff: {kind: fixed, delay: 0s}}", "retry.backoff", "at least 1 s, not 0 s"},
		{"river", "engine: {fetch: {poll: 50ms}}", "engine.fetch.poll", "a poll of at least the cooldown, 100ms, not 50ms"},
		{"river", "engine: {fetch: {cooldown: 2s}}", "engine.fetch.poll", "a poll of at least the cooldown, 2s, not 1s"},
		{"river", "engine: {fetch: {cooldown: 2s}}", "engine.fetch.cooldown",
			"a poll of at least the cooldown, 2s, not 1s"},
		{"river", "engine: {timeout: 90m}", "engine.lease.ttl", "at least the longest timeout, 1h30m, not 1h"},
		{"asynq", "engine: {timeout: 1500ms}", "engine.timeout", "whole seconds alone, not 1.5s"},
		{"oban", "engine: {lease: {ttl: 60m, heartbeat: 10s}, reaper: {every: 5s}}", "engine.lease.ttl",
			"only with engine.lease.heartbeat: 0s, not 10s"},
		{"oban", "engine: {fetch: {cooldown: 0s}}", "engine.fetch.cooldown", "at least 0.001 s, not 0 s"},
		{"celery", "engine: {workers: 40}", "engine.fetch.prefetch", "a multiple of the 40 workers, not 300"},
		{"sqs", "retry: {preset: sqs, backoff: {kind: fixed, delay: 5s}}", "retry.backoff",
			"only with retry.from: commit, not claim"},
		{"river", "retry: {max-attempts: 28, backoff: {kind: linear, first: 1s, step: 1s}}", "retry.backoff",
			"no delays that still change after 25 failures"},
		{"river", "retry: {max-attempts: unlimited, backoff: {kind: polynomial, power: 4}}", "retry.backoff",
			"no delays that still change after 25 failures"},
		{"river",
			"retry: {max-attempts: 40, jitter: none, backoff: {kind: exponential, first: 2s, factor: 2, scale: 20}}",
			"retry.backoff", "no delays that still change after 25 failures"},
		{"sidekiq", "retry: {deadline: 1h}", "retry.deadline",
			"nearest: sidekiq_options retry_for, which runs from the first failure"},
	} {
		t.Run(tt.system+" "+tt.key, func(t *testing.T) {
			line, there := lineOf(t, tt.system, tt.scenario, tt.key)
			if !there || strings.Count(line.Cannot, tt.want) != 1 || line.Setting != "" {
				t.Errorf("want %q of %s, got %+v", tt.want, tt.key, line)
			}
		})
	}
}

const (
	mail   = "{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1s}"
	urgent = "{class: urgent, priority: 2, arrivals: {process: poisson, rate: 1/s}, service: 1s}"
)

// lineOf translates a scenario, put on the system's preset if it has engine, and returns the Line for a key, if any.
func lineOf(t *testing.T, system, scenario, key string) (line Line, there bool) {
	all := Systems()
	at := slices.IndexFunc(all, func(s System) bool { return s.Name == system })
	text := strings.Replace(scenario, "engine: {", "engine: {preset: "+system+", ", 1)
	if !strings.Contains(text, "jobs: ") {
		text += "\njobs: [" + mail + "]"
	}
	settings := To(&all[at], load(t, text), 0, nil).Settings
	if at = slices.IndexFunc(settings, func(l Line) bool { return l.Key == key }); at < 0 {
		return Line{}, false
	}
	return settings[at], true
}

// TestSettings checks settings that have a special form in a system, or take several of its settings.
func TestSettings(t *testing.T) {
	for _, tt := range []struct{ system, scenario, key, want string }{
		{"bullmq", "jobs: [" + mail + ", " + urgent + "]", "jobs.mail.priority", "JobsOptions priority: 0"},
		{"celery", "jobs: [" + mail + ", " + urgent + "]", "jobs.urgent.priority",
			"apply_async(priority=2), and 'priority_steps': list(range(10)) in broker_transport_options"},
		{"oban", "engine: {lease: {ttl: 20m}}", "engine.lease.ttl",
			"plugins: [{Oban.Plugins.Lifeline, rescue_after: 1200000, interval: 60000}]"},
		{"oban", "engine: {reaper: {every: 5s}}", "engine.lease.ttl",
			"plugins: [{Oban.Plugins.Lifeline, rescue_after: 3600000, interval: 5000}]"},
		{"bullmq", "engine: {lease: {ttl: 2m}}", "engine.lease.heartbeat", "WorkerOptions lockRenewTime: 15000"},
		{"sidekiq", "engine: {nodes: 3}", "engine.promoter.every",
			"config[:poll_interval_average] = 5, with which the first poll comes within 5 s"},
		{"sidekiq", "engine: {promoter: {every: 2s}}", "engine.promoter.every",
			"config[:poll_interval_average] = 2, which Sidekiq spreads by ±50%"},
		{"asynq", "jobs: [{timeout: 0s, " + mail[1:] + "]", "jobs.mail.timeout",
			"asynq.Timeout(0), with a Deadline, since without both it is 30 minutes (client.go)"},
		{"temporal", "jobs: [{timeout: 0s, " + mail[1:] + "]", "jobs.mail.timeout",
			"ActivityOptions.ScheduleToCloseTimeout alone"},
		{"oban", "engine: {workers: 7, fetch: {cooldown: 20ms}}", "engine.fetch.cooldown",
			"queues: [default: [limit: 7, dispatch_cooldown: 20]]"},
		{"celery", "engine: {workers: 60}", "engine.fetch.prefetch", "worker_prefetch_multiplier = 6"},
		{"celery", "engine: {fetch: {prefetch: 0}}", "engine.fetch.prefetch", "worker_prefetch_multiplier = 1"},
		{"sqs", "retry: {preset: sqs, from: commit, jitter: ±20%, backoff: {kind: table, delays: [5s, 20s]}}",
			"retry.backoff",
			"consumer, on a failure: ChangeMessageVisibility VisibilityTimeout = " +
				"round([5, 20][min(ApproximateReceiveCount - 1, 1)] * (0.8 + 0.4 * random()))"},
		{"asynq", "jobs: [" + mail + ", " + urgent + "]\npolicies: [{kind: queues, weights: {mail: 7, urgent: 3}}]",
			"policies.queues", `Config.Queues: map[string]int{"mail": 7, "urgent": 3}`},
		{"river", "engine: {fetch: {cooldown: 0s}}", "engine.fetch.cooldown",
			"Config.FetchCooldown: river.FetchCooldownMin, which is 1 ms"},
		{"river", "retry: {max-attempts: 40, jitter: none, backoff: {kind: linear, first: 1m, step: 1m, max: 3m}}",
			"retry.backoff",
			"NextRetry of Config.RetryPolicy, or of a class's worker: d := " +
				"[]time.Duration{1*time.Minute, 2*time.Minute, 3*time.Minute}[min(len(job.Errors), 2)]; return time.Now().Add(time.Duration(float64(d) * (1 + 0*rand.Float64())))"},
	} {
		t.Run(tt.system+" "+tt.key, func(t *testing.T) {
			if line, _ := lineOf(t, tt.system, tt.scenario, tt.key); line.Setting != tt.want {
				t.Errorf("want %q, got %+v", tt.want, line)
			}
		})
	}
}
