package world

import (
	"fmt"
	"testing"
	"time"
)

// TestSweeperTicks: a failed job is ready again when the sweeper comes by, not before.
func TestSweeperTicks(t *testing.T) {
	claims := retryClaims(t, `
duration: 10m
warmup: 0s
engine: {preset: sweeper, phase: together}
jobs:
  - class: failing
    arrivals: {process: poisson, rate: 6/m}
    service: 10ms
    fails: {rate: 100%}
`)
	if len(claims) < 80 {
		t.Fatalf("only %d retries", len(claims))
	}
	for _, at := range claims {
		if past := at % (5 * time.Second); past > 100*time.Millisecond {
			t.Errorf("a retry is claimed at %v, %v after the sweeper came", at, past)
		}
	}
}

// leased is a queue of jobs that run longer than their lease of 30 s.
const leased = `
duration: 1h
drain: 1h
warmup: 0s
seeds: 2
engine: {preset: leaseq, nodes: 2, workers: 20, store: {commit: {dist: exponential, mean: 50ms}}, commit: {linger: 500ms}}
jobs:
  - class: exports
    arrivals: {process: poisson, rate: 120/h}
    service: {dist: uniform, min: 1s, max: 3m}
`

// TestLeaseqCrashes: processes crash again and again, with claims and acks under way and
// handlers in mid-job. No job stays stuck, none is lost, and each lapsed lease costs an
// attempt.
func TestLeaseqCrashes(t *testing.T) {
	text := leased + "retry: {max-attempts: unlimited}\nstorms:\n"
	for i := range 40 {
		text += fmt.Sprintf("  - {name: crash-%d, at: %dms, crash: {nodes: 1, restart-after: 2s}}\n", i, 60_000+i*83_417)
	}
	for _, run := range runAll(t, load(t, text)) {
		want(t, &run, map[string]float64{"unfinished.count": 0, "dead.count": 0})
		expired, retries := valueOf(t, &run, "leases.expired"), valueOf(t, &run, "retries_total")
		if expired < 20 || retries != expired {
			t.Errorf("seed %d: %v leases expired, %v retries: want each to be one", run.Seed, expired, retries)
		}
	}
}

// TestLeaseqStaleCommits: without a heartbeat a lease lapses under a living worker, and a second
// one runs the job. With a fence by token every late ack is refused and counted, so that a job
// whose lease always lapses is dead in the end. Without a fence the first ack of any holder is
// accepted; later ones find the job done.
func TestLeaseqStaleCommits(t *testing.T) {
	for _, tt := range []struct {
		with           string
		lapses, deaths bool
	}{
		{"{}", false, false},
		{"{engine.lease.heartbeat: 0s}", true, true},
		{"{engine.lease.heartbeat: 0s, engine.fence: none}", true, false},
	} {
		t.Run(tt.with, func(t *testing.T) {
			for _, run := range runAll(t, load(t, leased+"policies: [{kind: fifo, with: "+tt.with+"}]\nretry: {max-attempts: 3}\n")) {
				stale, lapsed, twice, dead := valueOf(t, &run, "stale.commits"), valueOf(t, &run, "leases.false"), valueOf(t, &run, "duplicates.count"), valueOf(t, &run, "dead.share")
				if (stale > 50) != tt.lapses || (lapsed > 50) != tt.lapses || (twice > 20) != tt.lapses || (dead > 0.3) != tt.deaths || !tt.lapses && stale+lapsed+twice+dead > 0 {
					t.Errorf("seed %d: %v stale commits, %v leases lapsed under a living worker, %v duplicates, %v of the jobs dead", run.Seed, stale, lapsed, twice, dead)
				}
			}
		})
	}
}

// TestLeaseqTimeout: a timeout nacks while heartbeats flow. The handler runs for longer than
// its lease, which never lapses, and for longer than its timeout, which ends it.
func TestLeaseqTimeout(t *testing.T) {
	text := `
duration: 1h
drain: 1h
warmup: 0s
seeds: 2
engine: {preset: leaseq, workers: 20, timeout: 2m}
retry: {max-attempts: 3, never: [%s]}
jobs:
  - class: hanging
    arrivals: {process: poisson, rate: 120/h}
    service: 10m
`
	for never, attempts := range map[string]float64{"timeout": 1, "lease-expired": 3} {
		for _, run := range runAll(t, load(t, fmt.Sprintf(text, never))) {
			want(t, &run, map[string]float64{"leases.expired": 0, "leases.false": 0, "stale.commits": 0, "dead.share": 1, "attempts.mean": attempts, "unfinished.count": 0})
			if busy, jobs := valueOf(t, &run, "utilization"), valueOf(t, &run, "jobs"); busy < 0.1 || jobs < 80 {
				t.Errorf("%v jobs kept the workers busy for %v of the time", jobs, busy)
			}
		}
	}
}
