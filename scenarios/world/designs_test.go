package world

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"qsim/engine"
	"qsim/policies"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
)

// shipped loads a built-in scenario with overrides.
func shipped(t *testing.T, name string, sets ...scenarios.Override) *scenarios.Scenario {
	t.Helper()
	src, err := os.ReadFile("../" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return load(t, string(src), sets...)
}

// runAll runs a scenario to its end, one simulation at a time. Under the race detector, which
// would find nothing there, it skips the test.
func runAll(t *testing.T, sc *scenarios.Scenario) []measure.Run {
	t.Helper()
	if raced {
		t.Skip("simulations by one goroutine")
	}
	runs, err := Run(context.Background(), sc, Options{Parallel: 1, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// valueOf returns the value of a metric over a whole run.
func valueOf(t *testing.T, run *measure.Run, metric string) float64 {
	t.Helper()
	for _, v := range run.Values {
		if v.Query == (measure.Query{Metric: metric}) {
			if v.Null || v.Bound != "" {
				t.Errorf("%s is %+v", metric, v)
			}
			return v.Value
		}
	}
	t.Fatalf("there is no %s", metric)
	return 0
}

// want compares metrics of a whole run with expected values, by name, exactly.
func want(t *testing.T, run *measure.Run, metrics map[string]float64) {
	t.Helper()
	for _, name := range sortedKeys(metrics) {
		if got := valueOf(t, run, name); got != metrics[name] {
			t.Errorf("policy %d, seed %d: %s is %v, want %v", run.Policy, run.Seed, name, got, metrics[name])
		}
	}
}

// watched is a FIFO policy that records the times at which retries are claimed, one entry for each.
type watched struct {
	engine.Policy
	claims *[]time.Duration
}

// Observe records claims of retries, and passes observations on.
func (w *watched) Observe(o *engine.Observation) {
	for range o.Claimed[engine.Retry] {
		*w.claims = append(*w.claims, time.Duration(o.Now))
	}
	w.Policy.Observe(o)
}

// retryClaims returns the times of retries' claims in one run of a scenario, which must have no
// policies.
func retryClaims(t *testing.T, text string) []time.Duration {
	t.Helper()
	sc := load(t, text+"seeds: 1\n")
	var claims []time.Duration
	sc.Policies = nil
	sc.Compare("watched", func(workers int) engine.Policy {
		fifo, err := policies.New("fifo", nil, workers, nil)
		if err != nil {
			t.Fatal(err)
		}
		return &watched{fifo, &claims}
	})
	sc.Baseline = "watched"
	runAll(t, sc)
	return claims
}

// TestDesigns: the scenarios of the reference designs have the outcomes that they state.
func TestDesigns(t *testing.T) {
	for _, name := range []string{"requeue", "requeue-exhausted", "jobqueue", "sweeper", "chronos", "leaseq"} {
		t.Run(name, func(t *testing.T) {
			sc := shipped(t, name, scenarios.Override{Path: "seeds", Value: "3"})
			settings := Settings(sc)
			summary, err := results.Summarize(&settings, runAll(t, sc), results.Options{})
			if err != nil || summary.Exit != 0 {
				t.Errorf("exit %d, %v", summary.Exit, err)
			}
			for i := range summary.Objectives {
				if v := &summary.Objectives[i]; v.Outcome != results.Met && v.Outcome != results.Missed {
					t.Errorf("%s %s of %s: %s", v.Metric, v.Text, v.Policy, v.Outcome)
				}
			}
		})
	}
}

// TestRequeueBounds: 100 jobs fail and are requeued, 100 again, then 1000. There are never more retries than jobs, nor
// more executions than jobs × attempts, and the backlog drains, whether the service comes back or not.
func TestRequeueBounds(t *testing.T) {
	t.Run("comes back", func(t *testing.T) {
		for _, run := range runAll(t, shipped(t, "requeue", scenarios.Override{Path: "seeds", Value: "2"})) {
			checkRetries(t, &run, 1000, 5)
			want(t, &run, map[string]float64{"dead.count": 0, "unfinished.count": 0})
			if retries := valueOf(t, &run, "retries_total"); retries < 1000+100 {
				t.Errorf("policy %d: %v retries: fewer than 100, 100 and 1,000 jobs failed", run.Policy, retries)
			}
		}
	})
	t.Run("stays away", func(t *testing.T) {
		for _, run := range runAll(t, shipped(t, "requeue", scenarios.Override{Path: "seeds", Value: "2"}, scenarios.Override{Path: "storms.service-down.for", Value: "230s"})) {
			checkRetries(t, &run, 1000, 5)
			want(t, &run, map[string]float64{"dead.count": 1000, "retry_exhausted_total": 1000, "retries_total": 4000, "attempts.max": 5, "unfinished.count": 0})
		}
	})
}

// checkRetries checks the bounds on the retries of a run: jobs that can fail, and attempts of each.
func checkRetries(t *testing.T, run *measure.Run, jobs, attempts float64) {
	t.Helper()
	for _, metric := range []string{"waiting.max", "backlog.retry.max"} {
		if got := valueOf(t, run, metric); got > jobs {
			t.Errorf("policy %d: %s is %v of %v jobs", run.Policy, metric, got, jobs)
		}
	}
	for i := range run.Series.Waiting {
		if sum := run.Series.Waiting[i] + run.Series.RetryReady[i]; sum > jobs {
			t.Errorf("policy %d, bucket %d: %v retries of %v jobs", run.Policy, i, sum, jobs)
		}
	}
	if got := valueOf(t, run, "attempts.max"); got > attempts {
		t.Errorf("policy %d: %v attempts, limit %v", run.Policy, got, attempts)
	}
	if got := valueOf(t, run, "retries_total"); got > jobs*(attempts-1) {
		t.Errorf("policy %d: %v retries of %v jobs with %v attempts each", run.Policy, got, jobs, attempts)
	}
}

// hopeless is a scenario with a class whose every attempt fails at once.
const hopeless = `
duration: 2m
drain: 3h
warmup: 0s
seeds: 1
jobs:
  - class: hopeless
    arrivals: {process: poisson, rate: 5/s}
    service: 10ms
    fails: {rate: 100%, errors: {KIND: 100%}}
`

// TestDesignLimits: how often each design runs a job that always fails, and by which name
// its retries are counted.
func TestDesignLimits(t *testing.T) {
	for _, tt := range []struct {
		name, keys, kind string
		attempts         float64
	}{
		{"requeue", "engine: {preset: requeue}", "unavailable", 5},
		{"jobqueue", "engine: {preset: jobqueue}", "unavailable", 4},
		{"jobqueue, conservative", "engine: {preset: jobqueue-conservative}", "unavailable", 6},
		{"jobqueue, aggressive", "engine: {preset: jobqueue-aggressive}", "unavailable", 3},
		{"jobqueue, one-shot", "engine: {preset: jobqueue-one-shot}", "unavailable", 1},
		{"sweeper", "engine: {preset: sweeper}", "temporary", 3},
		{"sweeper, as attempts", "engine: {preset: sweeper}\nretry: {max-attempts: 3}", "temporary", 3},
		{"sweeper, as retries", "engine: {preset: sweeper}\nretry: {max-retries: 3}", "temporary", 4},
		{"sweeper, for good", "engine: {preset: sweeper}\nretry: {never: [permanent]}", "permanent", 1},
		{"chronos", "engine: {preset: chronos}", "unavailable", 4},
		{"chronos, validation", "engine: {preset: chronos}", "validation", 1},
		{"chronos, not found", "engine: {preset: chronos-linear}", "not-found", 1},
		{"chronos, unauthorized", "engine: {preset: chronos-fixed}", "unauthorized", 1},
		{"chronos, forbidden", "engine: {preset: chronos-fibonacci}", "forbidden", 1},
		{"chronos, syntax", "engine: {preset: chronos}", "syntax", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := runAll(t, load(t, tt.keys+strings.ReplaceAll(hopeless, "KIND", tt.kind)))[0]
			jobs := valueOf(t, &run, "jobs")
			if jobs < 400 {
				t.Fatalf("only %v jobs", jobs)
			}
			exhausted := jobs
			if tt.attempts == 1 && tt.kind != "unavailable" {
				exhausted = 0 // buried by what it failed with
			}
			want(t, &run, map[string]float64{"attempts.mean": tt.attempts, "attempts.max": tt.attempts, "retries_total": jobs * (tt.attempts - 1),
				"retry_exhausted_total": exhausted, "deaths.limit": exhausted, "deaths.error": jobs - exhausted, "dead.share": 1, "unfinished.count": 0, "retries.succeeded": 0})
		})
	}
}

// lonely is a scenario with one job whose every attempt fails at once.
const lonely = `
duration: 10m
drain: 1h
warmup: 0s
jobs:
  - class: lonely
    arrivals: {process: batch, size: 1, every: 1h, start: 1m}
    service: 0s
    fails: {rate: 100%}
`

// TestDesignDelays: when the design's strategies run a failing job again, to the 50 ms that
// commits and claims may take.
func TestDesignDelays(t *testing.T) {
	const seconds = 1.0 / 60
	for _, tt := range []struct {
		keys    string
		minutes []float64 // between claims
	}{
		{"engine: {preset: requeue}", []float64{1 * seconds, 4 * seconds, 16 * seconds, 64 * seconds}},
		{"engine: {preset: chronos}\nretry: {jitter: none, max-retries: 5}", []float64{1, 2, 4, 8, 16}},
		{"engine: {preset: chronos-linear}\nretry: {jitter: none, max-retries: 5}", []float64{1, 2, 3, 4, 5}},
		{"engine: {preset: chronos-fixed}\nretry: {jitter: none}", []float64{1, 1, 1}},
		{"engine: {preset: chronos-fibonacci}\nretry: {jitter: none, max-retries: 5}", []float64{1, 1, 2, 3, 5}},
		{"engine: {preset: jobqueue}\nretry: {preset: chronos, jitter: none, max-retries: 2}", []float64{1, 2}},
	} {
		t.Run(tt.keys, func(t *testing.T) {
			claims := retryClaims(t, tt.keys+lonely)
			if len(claims) != len(tt.minutes) {
				t.Fatalf("claimed again at %v", claims)
			}
			last := time.Minute
			for i, minutes := range tt.minutes {
				wanted := time.Duration(minutes * float64(time.Minute))
				if took := claims[i] - last; took < wanted-time.Millisecond || took > wanted+50*time.Millisecond {
					t.Errorf("retry %d comes %v after the claim before, want %v", i+1, took, wanted)
				}
				last = claims[i]
			}
		})
	}
}

// herd is 100 jobs that fail together, a minute after the start.
const herd = `
duration: 10m
warmup: 0s
engine: {preset: chronos, workers: 200, store: {claim: 0s, commit: 0s}, commit: {linger: 0s}}
jobs:
  - class: herd
    arrivals: {process: batch, size: 100, every: 1h, start: 1m}
    service: 10ms
storms:
  - {name: down, at: 1m, for: 1s, fail: {hits: [herd], rate: 100%, takes: 0s}}
`

// TestHerd: jobs that fail together come back together after exactly a minute, or spread over
// 48 to 72 s.
func TestHerd(t *testing.T) {
	together := retryClaims(t, herd+"retry: {jitter: none}\n")
	for _, at := range together {
		if at != 2*time.Minute {
			t.Errorf("a retry comes at %v", at)
		}
	}
	spread := retryClaims(t, herd)
	low, high, slots := time.Hour, time.Duration(0), [4]int{}
	for _, at := range spread {
		after := at - time.Minute
		if low, high = min(low, after), max(high, after); after < 48*time.Second || after > 72*time.Second {
			t.Fatalf("a retry comes %v later", after)
		}
		slots[min(int((after-48*time.Second)/(6*time.Second)), 3)]++
	}
	if len(together) != 100 || len(spread) != 100 || low > 50*time.Second || high < 70*time.Second {
		t.Errorf("%d and %d retries, spread over %v to %v", len(together), len(spread), low, high)
	}
	for _, n := range slots { // 25 each, standard deviation 4.3
		if n < 8 || n > 42 {
			t.Errorf("retries by quarters of the spread: %v", slots)
		}
	}
}
