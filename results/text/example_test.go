package text_test

import (
	"fmt"
	"time"

	"qsim/engine"
	"qsim/results"
	"qsim/results/measure"
	"qsim/results/text"
)

// Example prints the table of two policies, two seeds, one job each: it waits for a second under the first policy only.
func Example() {
	settings := &measure.Settings{
		Scenario: "example", Duration: time.Minute, Nodes: 1, Workers: 1, Rate: 1,
		Policies:   []measure.PolicyInfo{{Kind: "fifo", Label: "FIFO"}, {Kind: "fresh-first", Label: "Fresh first"}},
		Objectives: []measure.Objective{{Query: measure.Query{Metric: "fresh.wait.max"}, Bound: 2, Text: "below 2s"}},
	}
	var runs []measure.Run
	for policy, wait := range []time.Duration{time.Second, 0} {
		for seed := range uint64(2) {
			c := measure.NewCollector(settings, policy)
			c.Record(&engine.Event{At: 0, Kind: engine.Enqueued, Job: 1})
			c.Record(&engine.Event{At: engine.Time(wait), Kind: engine.Leased, Job: 1, Token: 1, Delivery: 1, Waited: wait, Age: wait})
			c.Record(&engine.Event{At: engine.Time(wait), Kind: engine.Started, Job: 1, Token: 1})
			end := engine.Time(wait + time.Second)
			c.Record(&engine.Event{At: end, Kind: engine.Finished, Job: 1, Token: 1, Ran: time.Second})
			c.Record(&engine.Event{At: end, Kind: engine.Acked, Job: 1, Token: 1, From: engine.InFlight, Delivery: 1, Age: time.Duration(end)})
			run := c.Finish(end, nil)
			run.Seed = seed
			runs = append(runs, run)
		}
	}
	summary, err := results.Summarize(settings, runs, results.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text.Summary(summary, text.TableOptions{Width: 80}))
	// Output:
	// example   1m virtual · 2 seeds · 1 worker · 1 job/s
	//
	//               what you get ─────────────
	//               longest wait of fresh jobs
	// policy                              ≤ 2s
	// FIFO (base)                 ✓ 1.0s
	// Fresh first                 ✓   0s −100%
	//
	// alike for all: no dead jobs, no duplicates, no wasted worker time
	// FIFO: longest wait of fresh jobs 1.0s (goal ≤ 2s met). Fresh first: 0s (−100%).
	//
	// all objectives met
}
