package world

import (
	"testing"
	"time"

	"qsim/scenarios"
)

// crashed is a scenario with one job that runs for 10 s, in a process that dies 5 s after the job's start.
const crashed = `
duration: 5m
drain: 12h
warmup: 0s
jobs:
  - class: long
    arrivals: {process: batch, size: 1, every: 1h, start: 2m}
    service: 10s
storms:
  - {name: crash, at: 125s, crash: {nodes: 1, restart-after: 1s}}
`

// TestPresetRecovery: the time from a crash until a running job is run again. The ranges are those
// of lease, grace, reaper and, if a recovery consults the retry policy, backoff and promoter.
func TestPresetRecovery(t *testing.T) {
	const second, minute, hour = time.Second, time.Minute, time.Hour
	for _, tt := range []struct {
		preset      string
		least, most time.Duration // range of the time; 0: never again
	}{
		{"leaseq", 25 * second, 32 * second},
		{"chronos", 5*minute + 40*second, 6*minute + 15*second},
		{"sweeper", 20 * second, 37 * second},
		{"river", 59*minute + 50*second, 60*minute + 40*second},
		{"oban", 59*minute + 50*second, 61*minute + 2*second},
		{"graphile", 239*minute + 50*second, 250 * minute},
		{"pg-boss", 14*minute + 50*second, 17*minute + 5*second},
		{"que", 5 * second, 15 * second},
		{"gue", 5 * second, 15 * second},
		{"delayed-job", 239*minute + 50*second, 4*hour + 5*second},
		{"solid-queue", 0, 0},
		{"pgmq", 24 * second, 26 * second},
		{"sidekiq", 0, 0},
		{"sidekiq-pro", 45 * second, 2*minute + 3*second},
		{"asynq", 55*second + 15*second, 2*minute + 45*second + 6*second},
		{"faktory", 29*minute + 55*second + 15*second, 30*minute + 15*second + 45*second + 6*second},
		{"bullmq", 10 * second, 61 * second},
		{"celery", 0, 0},
		{"inngest", 20 * second, 61 * second},
		{"temporal", 26 * second, 31 * second},
		{"hatchet", 25 * second, 32 * second},
		{"sqs", 24 * second, 26 * second},
		{"nats-js", 24 * second, 26 * second},
		{"rabbitmq-qq", 5 * second, 11 * second},
		{"pubsub", 5 * second, 11 * second},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			claims := retryClaims(t, "engine: {preset: "+tt.preset+"}\n"+crashed)
			if tt.most == 0 {
				if len(claims) > 0 {
					t.Errorf("a job that was lost is claimed at %v", claims)
				}
				return
			}
			if len(claims) != 1 {
				t.Fatalf("claimed again at %v, want once", claims)
			}
			if after := claims[0] - 125*time.Second; after < tt.least || after > tt.most {
				t.Errorf("claimed again %v after the crash, want %v to %v", after, tt.least, tt.most)
			}
		})
	}
}

// TestPresetEnginesRun runs every engine preset through failures and a crash: its jobs get done,
// its retries run, and jobs in flight in a process that dies are recovered.
func TestPresetEnginesRun(t *testing.T) {
	for _, p := range scenarios.Presets() {
		if p.Engine.IsZero() {
			continue
		}
		size := "nodes: 2, workers: 20"
		if p.Name == "pg-boss" { // a node of which takes one job each 2 s
			size = "nodes: 80, workers: 1"
		}
		t.Run(p.Name, func(t *testing.T) {
			sc := load(t, `
duration: 4m
drain: 20m
warmup: 0s
seeds: 1
engine: {preset: `+p.Name+`, `+size+`}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: 20/s}
    service: {dist: exponential, mean: 500ms}
    fails: {rate: 10%}
storms:
  - {name: crash, at: 1m, crash: {nodes: 1, restart-after: 5s}}
`)
			run := runAll(t, sc)[0]
			jobs, dead, left := valueOf(t, &run, "jobs"), valueOf(t, &run, "dead.count"), valueOf(t, &run, "unfinished.count")
			if jobs < 4500 || dead+left > 0.15*jobs {
				t.Errorf("of %v jobs %v are dead and %v left over", jobs, dead, left)
			}
			retries, once := valueOf(t, &run, "retries_total"), sc.RetryOf(0).MaxAttempts == 1
			if least := 0.09 * jobs; !once && retries < least || once && (retries > 40 || dead < least) {
				t.Errorf("%v retries of %v jobs, %v dead, with at most %v attempts", retries, jobs, dead, sc.RetryOf(0).MaxAttempts)
			}
		})
	}
}
