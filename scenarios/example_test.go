package scenarios_test

import (
	"context"
	"fmt"

	"qsim/engine"
	"qsim/results"
	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/world"
)

// politeRetries is a policy that claims retries only while at least a quarter of a node's workers is idle.
type politeRetries struct{}

func (politeRetries) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	dst = append(dst, engine.Term{Class: engine.Fresh, Limit: v.Idle})
	if spare := v.Idle - v.Workers/4; spare > 0 {
		dst = append(dst, engine.Term{Class: engine.Retry, Limit: spare})
	}
	return dst
}

func (politeRetries) Observe(*engine.Observation) {}

// A user's own policy compared with those of a scenario, on the same jobs.
func Example_ownPolicy() {
	name, src, _ := scenarios.Open("retry-storm")
	scenario, problems := scenarios.Load(name, src, []scenarios.Override{{Path: "seeds", Value: "1"}, {Path: "duration", Value: "16m"}})
	if scenario == nil {
		fmt.Println(problems)
		return
	}
	scenario.Compare("Polite retries", func(int) engine.Policy { return politeRetries{} })
	runs, _ := world.Run(context.Background(), scenario, world.Options{})
	settings := world.Settings(scenario)
	summary, _ := results.Summarize(&settings, runs, results.Options{})
	for _, p := range summary.Policies {
		wait := p.Find(measure.Query{Metric: "fresh.wait.p99", During: "payments-down"})
		fmt.Printf("%-18s %6.2f s\n", p.Label, wait.Mean)
	}
	// Output:
	// Shared FIFO        117.84 s
	// Weighted 80/20       0.20 s
	// Separate queue       0.22 s
	// In-flight cap 20%    0.22 s
	// Polite retries       0.00 s
}
