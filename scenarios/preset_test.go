package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"qsim/scenarios/checks"
	"qsim/scenarios/spec"
)

// TestPresets checks that each preset has a description and a source, and loads without warnings, as engine and retry.
func TestPresets(t *testing.T) {
	golden := map[string]bool{}
	for _, g := range goldenRetries {
		golden[g.preset] = true
	}
	seen := map[string]bool{}
	for _, p := range Presets() {
		t.Run(p.Name, func(t *testing.T) {
			if bad := checks.BadName(p.Name); bad != "" || strings.Contains(p.Name, "_") || p.Family == "" || p.Doc == "" || p.Source == "" {
				t.Errorf("incomplete: %+v (%s)", p, bad)
			}
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				if seen[name] {
					t.Errorf("%s is there twice", name)
				}
				seen[name] = true
				if found := PresetNamed(strings.ReplaceAll(name, "-", "_")); found == nil || found.Name != p.Name {
					t.Errorf("%s names %v", name, found)
				}
			}
			if p.Retry.IsZero() || !golden[p.Name] {
				t.Error("nothing holds its retry policy to anything")
			}
			load(t, smallest+"retry: {preset: "+p.Name+"}\n")
			if !p.Engine.IsZero() {
				sc := load(t, smallest+"engine: {preset: "+p.Name+"}\n")
				alone := load(t, smallest+"retry: {preset: "+p.Name+"}\n")
				got, want := sc.RetryOf(0), alone.RetryOf(0)
				if want.Preset = got.Preset; got.MaxAttempts != want.MaxAttempts || got.Backoff.Kind != want.Backoff.Kind || got.Jitter != want.Jitter || got.Count != want.Count {
					t.Errorf("the engine brings %+v, want %+v", got, want)
				}
			}
		})
	}
	for name := range golden {
		if !seen[name] {
			t.Errorf("%s is no preset", name)
		}
	}
	if PresetNamed("") != nil || PresetNamed("rivers") != nil {
		t.Error("what is no preset was found")
	}
}

// goldenEngines lists, by preset, the leases and the recovery of the system, as Resolved writes these keys.
var goldenEngines = []struct{ preset, want string }{
	{"leaseq", "ttl 30s heartbeat 10s of job fence token reaper 1s grace 0s counts failure after retry place retry max unlimited promoter 0s place due ack late wake one prefetch 0 batches 100 1000"},
	{"sweeper", "ttl 30s heartbeat 10s of job fence token reaper 1s grace 0s counts failure after retry place retry max unlimited promoter 5s place created ack late wake one prefetch 0 batches 100 1000"},
	{"chronos", "ttl 5m heartbeat 0s of job fence token reaper 1s grace 0s counts failure after retry place retry max unlimited promoter 0s place due ack late wake one prefetch 0 batches 100 1000"},
	{"river", "ttl 1h heartbeat 0s of job fence state reaper 30s grace 0s counts failure after retry place retry max unlimited promoter 0s place due ack late wake all prefetch 0 batches 10000 1000"},
	{"oban", "ttl 1h heartbeat 0s of job fence none reaper 1m grace 0s counts failure after ready place head max unlimited promoter 1s place due ack late wake all prefetch 0 batches 100000 5000"},
	{"graphile", "ttl 4h heartbeat 0s of job fence none reaper 9m grace 0s counts failure after ready place retry max unlimited promoter 0s place due ack late wake all prefetch 0 batches 100000 1000"},
	{"pg-boss", "ttl 15m heartbeat 0s of job fence state reaper 2m grace 0s counts failure after retry place retry max unlimited promoter 0s place created ack late wake none prefetch 0 batches 100000 1000"},
	{"que", "ttl 10s heartbeat 3s of node fence token reaper 0s grace 0s counts nothing after ready place retry max unlimited promoter 0s place due ack late wake one prefetch 8 batches 100 1000"},
	{"solid-queue", "ttl 5m heartbeat 1m of node fence token reaper 5m grace 0s counts failure after dead place retry max unlimited promoter 1s place tail ack late wake none prefetch 0 batches 100000 100000"},
	{"pgmq", "ttl 30s heartbeat 0s of job fence none reaper 0s grace 0s counts failure after ready place retry max unlimited promoter 0s place created ack late wake none prefetch 0 batches 100 1000"},
	{"sidekiq", "ttl 30s heartbeat 0s of job fence none reaper 1s grace 0s counts failure after retry place retry max unlimited promoter 2.5s..7.5s place tail ack early wake one prefetch 0 batches 100 100000"},
	{"sidekiq-pro", "ttl 1m heartbeat 10s of node fence none reaper 1m grace 0s counts nothing after ready place retry max 3 promoter 2.5s..7.5s place tail ack late wake one prefetch 0 batches 100000 100000"},
	{"asynq", "ttl 30s heartbeat 5s of job fence state reaper 1m grace 30s counts failure after retry place retry max unlimited promoter 5s place tail ack late wake none prefetch 0 batches 100000 100000"},
	{"faktory", "ttl 30m heartbeat 0s of job fence state reaper 15s grace 0s counts failure after retry place retry max unlimited promoter 5s place tail ack late wake one prefetch 0 batches 100000 100000"},
	{"bullmq", "ttl 30s heartbeat 15s of job fence token reaper 30s grace 0s counts nothing after ready place head max 1 promoter 0s place tail ack late wake one prefetch 0 batches 100000 1000"},
	{"celery", "ttl 1h heartbeat 0s of job fence none reaper 1m40s grace 0s counts nothing after ready place retry max unlimited promoter 0s place tail ack early wake one prefetch 300 batches 100000 1000"},
	{"inngest", "ttl 30s heartbeat 15s of job fence token reaper 30s grace 0s counts nothing after ready place retry max unlimited promoter 0s place due ack late wake one prefetch 0 batches 100 1000"},
	{"temporal", "ttl 30s heartbeat 24s of job fence token reaper 0s grace 0s counts failure after retry place retry max unlimited promoter 0s place tail ack late wake one prefetch 0 batches 100 1000"},
	{"hatchet", "ttl 30s heartbeat 4s of node fence token reaper 1s grace 0s counts nothing after ready place retry max 10 promoter 1s place tail ack late wake one prefetch 0 batches 100000 100000"},
	{"sqs", "ttl 30s heartbeat 0s of job fence token reaper 0s grace 0s counts failure after ready place retry max unlimited promoter 0s place tail ack late wake one prefetch 0 batches 100 1000"},
	{"nats-js", "ttl 30s heartbeat 0s of job fence state reaper 0s grace 0s counts failure after ready place head max unlimited promoter 0s place head ack late wake one prefetch 0 batches 100 1000"},
	{"rabbitmq-qq", "ttl 10s heartbeat 3s of node fence token reaper 0s grace 0s counts failure after ready place head max unlimited promoter 0s place head ack late wake one prefetch 0 batches 100 1000"},
	{"pubsub", "ttl 10s heartbeat 3s of job fence none reaper 0s grace 0s counts failure after ready place retry max unlimited promoter 0s place tail ack late wake one prefetch 0 batches 100 1000"},
}

// TestPresetEngines checks leases, reapers, fences and promoters of the engine presets against goldenEngines.
func TestPresetEngines(t *testing.T) {
	for _, tt := range goldenEngines {
		t.Run(tt.preset, func(t *testing.T) {
			e := load(t, smallest+"engine: {preset: "+tt.preset+"}\n").Engine
			promoter := ""
			if every := e.Promoter.Every; every.Kind == "uniform" {
				promoter = every.Min.String() + ".." + every.Max.String()
			} else {
				promoter = every.Value.String()
			}
			got := strings.Join([]string{"ttl", e.Lease.TTL.String(), "heartbeat", e.Lease.Heartbeat.String(), "of", string(e.Lease.Of), "fence", string(e.Fence),
				"reaper", e.Reaper.Every.String(), "grace", e.Reaper.Grace.String(), "counts", string(e.Reaper.Counts), "after", string(e.Reaper.After),
				"place", string(e.Reaper.Place), "max", e.Reaper.Max.String(), "promoter", promoter, "place", string(e.Place), "ack", string(e.Ack)}, " ")
			got += fmt.Sprintf(" wake %s prefetch %d batches %d %d", e.Fetch.Wake, e.Fetch.Prefetch, e.Reaper.Batch, e.Promoter.Batch)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestPresetLayers checks that a preset's values replace defaults, and the file's values replace the preset's.
func TestPresetLayers(t *testing.T) {
	sc := load(t, `
engine: {preset: river, lease: {ttl: 20m}}
retry: {max-attempts: 7}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 10/s}
    service: 100ms
  - class: report
    arrivals: {process: poisson, rate: 1/s}
    service: 100ms
    retry: {preset: rabbit_qq, backoff: {kind: fixed, delay: 9s}}
policies:
  - {kind: fifo}
  - {kind: fifo, label: as Sidekiq, with: {engine.preset: sidekiq}}
`)
	mail, report, with := sc.RetryOf(0), sc.RetryOf(1), sc.Variant(1)
	if e := sc.Engine; e.Lease.TTL.String() != "20m" || e.Lease.Heartbeat != 0 || e.Fence != "state" || e.Workers != 100 {
		t.Errorf("engine %+v", e)
	}
	if mail.MaxAttempts != 7 || mail.Backoff.Power != 4 || mail.Jitter.String() != "±10%" {
		t.Errorf("mail %+v", mail)
	}
	if report.MaxAttempts != 21 || report.Backoff.Kind != "fixed" || report.Jitter != (spec.Jitter{}) {
		t.Errorf("report %+v", report)
	}
	if !with.Engine.Ack.Value() || with.RetryOf(0).Count != "failure" || with.RetryOf(0).MaxAttempts != 7 {
		t.Errorf("variant %+v, %+v", with.Engine, with.RetryOf(0))
	}
}
