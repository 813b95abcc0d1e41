package sim_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"qsim/scenarios"
	scenarioworld "qsim/scenarios/world"
)

// shape is a system at rest: 2000 jobs a second, each for a tenant and after a delay, that keep four fifths of the
// workers busy. Every size that may grow is a field; jobs is how many are simulated, at the least.
type shape struct {
	waiting int // jobs not yet due, most of the time
	nodes   int
	workers int // number of workers of all nodes
	tenants int
	failing int // percent of the attempts
	policy  string
	checked bool
	jobs    int
}

var small = shape{nodes: 1, workers: 100, tenants: 1, failing: 10, policy: "fifo", jobs: 20_000}

const shapeRate = 2000

func (s *shape) scenario(b *testing.B) *scenarios.Scenario {
	delay := time.Duration(s.waiting) * time.Second / shapeRate
	length := delay + time.Duration(s.jobs)*time.Second/shapeRate
	source := fmt.Sprintf(`
name: shape
duration: %v
warmup: 1s
seeds: 1
engine: {nodes: %d, workers: %d}
jobs:
  - class: work
    arrivals: {process: poisson, rate: %d/s}
    service: {dist: exponential, mean: %v}
    delay: %v
    tenants: {count: %d}
    fails: {rate: %d%%}
policies:
  - {kind: %s}
`, length, s.nodes, s.workers/s.nodes, shapeRate, time.Duration(s.workers*(100-s.failing))*time.Second*8/1000/shapeRate, delay, s.tenants, s.failing, s.policy)
	sc, problems := scenarios.Load("shape.yaml", []byte(source), nil)
	if sc == nil {
		b.Fatalf("%v\n%s", problems, source)
	}
	return sc
}

// measure repeats sc and reports the processor time of a job and of an event, and the former relative to the
// bare loop, run in turns. The minimum of each counts.
func measure(b *testing.B, sc *scenarios.Scenario, checked bool) {
	perJob, perEvent, bare := math.Inf(1), math.Inf(1), math.Inf(1)
	for b.Loop() {
		began := cpuTime(b)
		jobs, events := simulated(b, sc, checked)
		took := (cpuTime(b) - began).Seconds()
		perJob, perEvent = min(perJob, took/float64(jobs)), min(perEvent, took/float64(events))
		loop := newBareLoop(1)
		began = cpuTime(b)
		loop.run()
		bare = min(bare, (cpuTime(b)-began).Seconds()/float64(loop.jobs))
	}
	b.ReportMetric(perJob*1e9, "ns/job")
	b.ReportMetric(perEvent*1e9, "ns/event")
	b.ReportMetric(perJob/bare, "x-bare")
}

// simulated runs sc and returns how many jobs were enqueued and how many events there were.
func simulated(b *testing.B, sc *scenarios.Scenario, checked bool) (jobs, events int64) {
	runs, err := scenarioworld.Run(context.Background(), sc, scenarioworld.Options{Parallel: 1, Check: checked})
	if err != nil {
		b.Fatal(err)
	}
	for i := range runs {
		jobs, events = jobs+runs[i].Jobs, events+runs[i].Events
	}
	return jobs, events
}

// BenchmarkShape lets one size after the other grow: waiting jobs, nodes, workers, tenants.
func BenchmarkShape(b *testing.B) {
	run := func(name string, change func(s *shape)) {
		s := small
		change(&s)
		b.Run(name, func(b *testing.B) { measure(b, s.scenario(b), s.checked) })
	}
	for _, n := range []int{0, 1e3, 1e5, 1e6} {
		run(fmt.Sprintf("waiting=%d", n), func(s *shape) { s.waiting = n })
	}
	for _, n := range []int{1, 4, 20, 100} {
		run(fmt.Sprintf("nodes=%d", n), func(s *shape) { s.nodes = n })
	}
	for _, n := range []int{100, 1000, 10_000} {
		run(fmt.Sprintf("workers=%d", n), func(s *shape) { s.workers, s.jobs = n, 100_000 })
	}
	for _, n := range []int{1, 10, 100, 1000} {
		run(fmt.Sprintf("tenants=%d/policy=fifo", n), func(s *shape) { s.tenants = n })
		run(fmt.Sprintf("tenants=%d/policy=tenant-round-robin", n), func(s *shape) { s.tenants, s.policy = n, "tenant-round-robin" })
	}
	for _, n := range []int{10, 50} {
		run(fmt.Sprintf("failing=%d", n), func(s *shape) { s.waiting, s.failing = 1000, n })
	}
	run("check", func(s *shape) { s.checked = true })
}

// BenchmarkGate is small and does the same work on every machine. scripts/instructions counts its instructions, and
// fails if they grow.
func BenchmarkGate(b *testing.B) {
	run := func(name string, sc *scenarios.Scenario, checked bool) {
		b.Run("of="+name, func(b *testing.B) {
			jobs := int64(0)
			for b.Loop() {
				jobs, _ = simulated(b, sc, checked)
			}
			b.ReportMetric(float64(jobs), "jobs")
		})
	}
	display, src, err := scenarios.Open("retry-storm")
	if err != nil {
		b.Fatal(err)
	}
	storm, problems := scenarios.Load(display, src, []scenarios.Override{{Path: "seeds", Value: "1"}, {Path: "warmup", Value: "10s"},
		{Path: "duration", Value: "1m"}, {Path: "storms.payments-down.at", Value: "20s"}, {Path: "storms.payments-down.for", Value: "15s"}})
	if storm == nil {
		b.Fatalf("%v", problems)
	}
	run("retry-storm", storm, false)
	waiting, nodes, tenants := small, small, small
	waiting.waiting, nodes.nodes, tenants.tenants, tenants.policy = 1000, 20, 1000, "tenant-round-robin"
	run("steady", small.scenario(b), false)
	run("waiting", waiting.scenario(b), false)
	run("nodes", nodes.scenario(b), false)
	run("tenants", tenants.scenario(b), false)
	run("check", small.scenario(b), true)
}
