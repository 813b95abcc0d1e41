package world

import (
	"runtime"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/keyed"
	"qsim/engine/memstore"
	"qsim/scenarios"
)

// mostBytesPerJob is the highest memory kept for each finished job: a hundred million of them take
// a hundred million bytes, a fifth of the limit.
const mostBytesPerJob = 1

// mostBytesPerLiveJob is the highest memory of an unfinished job, in tables that double. Crashes lose
// jobs that are acked early: they stay live to the end.
const mostBytesPerLiveJob = 512

// A run keeps next to nothing of the jobs that it is done with, whatever became of them.
func TestMemoryDoesNotFollowTheJobs(t *testing.T) {
	if raced {
		t.Skip("the race detector has shadows of its own in the heap")
	}
	for _, tt := range []struct{ name, jobs string }{
		{"idempotent, and executed twice at times", `
engine: {workers: 4, lease: {ttl: 60ms, heartbeat: 0s}, fence: none, reaper: {every: 10ms}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 100/s}, service: {dist: exponential, mean: 10ms}, idempotent: true, fails: {rate: 5%}}]
retry: {max-attempts: 9, backoff: {kind: fixed, delay: 100ms}}
`}, {"dead, late, given up on and copied", `
engine: {workers: 8, restart: 100ms, lease: {ttl: 1s, heartbeat: 300ms}, reaper: {every: 200ms}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 100/s}, service: {dist: exponential, mean: 20ms}, poison: 5%, kills: 0.1%,
        patience: {after: 100ms, resubmits: 2}, tenants: {count: 50, skew: 1}, serial: {keys: 5000}}]
retry: {max-attempts: 3, backoff: {kind: fixed, delay: 50ms}}
policies: [{kind: tenant-fair}]
`}, {"fenced off, silent, acked at the claim", `
engine: {nodes: 2, workers: 4, ack: early, lease: {ttl: 200ms, heartbeat: 50ms}, reaper: {every: 50ms}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 100/s}, service: {dist: exponential, mean: 20ms}, kills: 0.1%, silences: 2%}]
`}, {"shed, and calling a row that others write", `
engine: {workers: 4}
dependencies: [{name: row, limit: {concurrency: 9}, conflict: {network: 1ms}}]
jobs: [{class: mail, arrivals: {process: poisson, rate: 100/s}, service: {dist: exponential, mean: 25ms}, calls: row, timeout: 200ms}]
retry: {max-attempts: 5, backoff: {kind: fixed, delay: 20ms}}
policies: [{kind: codel, target: 50ms, interval: 100ms, then: bury}]
`}, {"replies and beats lost", `
engine: {workers: 4, lease: {ttl: 1s, heartbeat: 300ms}, call-timeout: 100ms, commit: {timeout: 100ms}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 100/s}, service: {dist: exponential, mean: 10ms}}]
storms: [{name: bad, at: 1s, for: 9999s, calls: {ops: [claim, commit, extend], lose-request: 0.2%, lose-reply: 0.2%, duplicate: 1%}}]
`}, {"seldom and waited for", `
engine: {workers: 4, fetch: {wake: false, poll: 5s}}
jobs: [{class: mail, arrivals: {process: poisson, rate: 1/s}, service: 10ms}]
`}} {
		t.Run(tt.name, func(t *testing.T) {
			sc, ds := scenarios.Load("test.yaml", []byte("duration: 1000000s\ndrain: 0s\nseeds: 1\nwarmup: 10s\n"+tt.jobs), nil)
			if sc == nil {
				t.Fatalf("%s", render(t, "test.yaml", []byte(tt.jobs), ds))
			}
			w, err := newWorld(sc, 0)
			if err != nil {
				t.Fatal(err)
			}
			w.settings = settingsOf(Settings(sc), sc, 0)
			// By then histograms have most of the buckets that they will ever have: those grow with the
			// logarithm of the jobs, and there is one for each tenant.
			const early, late = 100_000, 300_000
			before, after := w.heapAt(t, early, late)
			if growth := (after - before) / (late - early); growth > mostBytesPerJob {
				t.Errorf("%.2f bytes are kept of a job", growth)
			}
		})
	}
}

// heapAt returns the bytes on the heap after early and after late jobs were enqueued, less the highest memory of live
// jobs.
func (w *world) heapAt(t *testing.T, early, late int) (before, after float64) {
	workload, err := newWorkload(w.sc, keyed.Rand{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer workload.Close()
	s, collector := w.start(1, workload, (&guard{}).watch)
	rate := w.settings.Rate
	until := func(jobs int) float64 {
		for end := engine.Time(time.Duration(float64(jobs) / rate * 1e9)); s.Now() < end; {
			if !s.Step() {
				t.Fatalf("it ended at %v", time.Duration(s.Now()))
			}
		}
		live := 0
		for range s.Store().(*memstore.Store).Each {
			live++
		}
		if live > jobs/100 {
			t.Fatalf("%d jobs are live: the backlog itself grows", live)
		}
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) - float64(live)*mostBytesPerLiveJob
	}
	before, after = until(early), until(late)
	runtime.KeepAlive(s) // or the first collection would free what was to be measured
	runtime.KeepAlive(collector)
	runtime.KeepAlive(workload)
	return before, after
}
