package sim_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	"qsim/scenarios"
	scenarioworld "qsim/scenarios/world"
)

// BenchmarkSim runs whole scenarios on one core, metrics and all: every policy of
// the file under one seed. A job is one that was enqueued, whatever its retries.
func BenchmarkSim(b *testing.B) {
	for _, name := range []string{"retry-storm", "thundering-herd", "noisy-customer"} {
		b.Run("scenario="+name, func(b *testing.B) {
			display, src, err := scenarios.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			sc, problems := scenarios.Load(display, src, []scenarios.Override{{Path: "seeds", Value: "1"}})
			if sc == nil {
				b.Fatalf("%v", problems)
			}
			var jobs, events int64
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				runs, err := scenarioworld.Run(context.Background(), sc, scenarioworld.Options{Parallel: 1})
				if err != nil {
					b.Fatal(err)
				}
				for i := range runs {
					jobs += runs[i].Jobs
					events += runs[i].Events
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(b.Elapsed())/float64(jobs), "ns/job")
			b.ReportMetric(float64(b.Elapsed())/float64(events), "ns/event")
			b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
			b.ReportMetric(float64(events)/float64(jobs), "events/job")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
		})
	}
}

// BenchmarkOverBareLoop runs retry-storm and the bare loop in turns and prints the processor time of
// a job in each, and their ratio: the minimum of each counts, which other processes disturb least.
func BenchmarkOverBareLoop(b *testing.B) {
	display, src, err := scenarios.Open("retry-storm")
	if err != nil {
		b.Fatal(err)
	}
	sc, problems := scenarios.Load(display, src, []scenarios.Override{{Path: "seeds", Value: "1"}})
	if sc == nil {
		b.Fatalf("%v", problems)
	}
	simulated, bare := math.Inf(1), math.Inf(1)
	for b.Loop() {
		jobs, began := int64(0), cpuTime(b)
		runs, err := scenarioworld.Run(context.Background(), sc, scenarioworld.Options{Parallel: 1})
		if err != nil {
			b.Fatal(err)
		}
		for i := range runs {
			jobs += runs[i].Jobs
		}
		simulated = min(simulated, float64(cpuTime(b)-began)/float64(jobs))
		jobs, began = 0, cpuTime(b)
		for seed := range uint64(len(runs)) {
			loop := newBareLoop(seed + 1)
			loop.run()
			jobs += loop.jobs
		}
		bare = min(bare, float64(cpuTime(b)-began)/float64(jobs))
	}
	b.ReportMetric(simulated, "ns/job")
	b.ReportMetric(bare, "bare-ns/job")
	b.ReportMetric(simulated/bare, "x-bare")
}
