package world

import (
	"testing"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"
)

// starts is a recorder that counts executions by node, and sums the waits of their jobs in seconds.
type starts struct {
	of     map[int32]int
	all    int
	waited float64
}

func (s *starts) Record(e *engine.Event) {
	if e.Kind == engine.Started {
		s.of[e.Node]++
		s.all++
		s.waited += e.Waited.Seconds()
	}
}

// TestNodesAreNotInStep: processes that only poll share the jobs, whether their pauses are random or not. In step, the
// first one to poll gets most of them, and jobs wait for longer. With Asynq v0.26 the first of two processes got 51 %,
// and four had a mean wait of 0.277 s.
func TestNodesAreNotInStep(t *testing.T) {
	for _, tt := range []struct {
		name, engine, nodes, rate string
		share, wait               [2]float64 // lowest and highest share of the first node, and wait in seconds
	}{
		{"two of Asynq", "preset: asynq", "2", "30/s", [2]float64{0.48, 0.54}, [2]float64{0.32, 0.42}},
		{"four of Asynq", "preset: asynq", "4", "60/s", [2]float64{0.22, 0.28}, [2]float64{0.264, 0.290}},
		{"constant pauses", "preset: asynq, fetch: {poll: 1s}, phase: drawn", "4", "60/s", [2]float64{0.2, 0.3}, [2]float64{0.25, 0.32}},
		{"in step", "preset: asynq, fetch: {poll: 1s}, phase: together", "4", "60/s", [2]float64{0.2, 0.6}, [2]float64{0.34, 0.45}},
	} {
		s := starts{of: map[int32]int{}}
		for seed := range uint64(20) {
			sc := load(t, `
duration: 40s
warmup: 0s
seeds: 1
engine: {`+tt.engine+", nodes: "+tt.nodes+`}
jobs:
  - class: mail
    arrivals: {process: poisson, rate: `+tt.rate+`}
    service: 200ms
`, scenarios.Override{Path: "engine.workers", Value: "5"})
			setup, err := Compile(sc, 0, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			setup.Config.Recorder = &s
			sim.New(setup.Config).Run()
		}
		share, wait := float64(s.of[0])/float64(s.all), s.waited/float64(s.all)
		if share < tt.share[0] || share > tt.share[1] || wait < tt.wait[0] || wait > tt.wait[1] {
			t.Errorf("%s: node 0 begins %.1f%% of the executions, and jobs wait %.3f s on average, want %v and %v", tt.name, 100*share, wait, tt.share, tt.wait)
		}
	}
}
