package world

import (
	"slices"
	"testing"
	"time"

	"qsim/engine"
	"qsim/engine/sim"
	"qsim/scenarios"
)

// moments is a recorder of the times at which executions begin, to the millisecond.
type moments []time.Duration

func (m *moments) Record(e *engine.Event) {
	if e.Kind == engine.Started {
		*m = append(*m, time.Duration(e.At).Round(time.Millisecond))
	}
}

// begins simulates the first policy of a scenario under one seed and returns when executions begin.
func begins(t *testing.T, sc *scenarios.Scenario) (got moments) {
	t.Helper()
	setup, err := Compile(sc, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	setup.Config.Recorder = &got
	sim.New(setup.Config).Run()
	return got
}

// TestMoments: the start times of executions, to the millisecond, under keys that move them. One worker of each node is
// busy for a second from 0.1 s on; a job that arrives at 1.05 s wakes no idle node. With cooldown-from: signal it
// begins a cooldown nevertheless, if all nodes are woken, and the job waits for its end.
func TestMoments(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name, engine, retry string
		want                []time.Duration
	}{
		{"a claim cools", "fetch: {poll: 20s, cooldown: 100ms}", "", []time.Duration{100 * ms, 1100 * ms}},
		{"a signal cools", "fetch: {poll: 20s, wake: all, cooldown: 100ms, cooldown-from: signal}", "", []time.Duration{100 * ms, 1150 * ms}},
		{"a signal to one node goes not to one that is busy", "fetch: {poll: 20s, cooldown: 100ms, cooldown-from: signal}", "",
			[]time.Duration{100 * ms, 1100 * ms}},
		{"a signal to two nodes cools", "nodes: 2, fetch: {poll: 20s, wake: all, cooldown: 100ms, cooldown-from: signal}", "",
			[]time.Duration{100 * ms, 200 * ms, 1150 * ms}},
		{"a signal to one of two nodes goes to none that is busy", "nodes: 2, fetch: {poll: 20s, cooldown: 100ms, cooldown-from: signal}", "",
			[]time.Duration{100 * ms, 100 * ms, 1100 * ms}},
		{"a due time as it comes", "", "{backoff: {kind: fixed, delay: 2500ms}, jitter: none, max-attempts: 2}", []time.Duration{100 * ms, 1100 * ms, 3600 * ms, 4600 * ms}},
		{"a due time of whole seconds", "", "{backoff: {kind: fixed, delay: 2500ms}, jitter: none, max-attempts: 2, grain: 1s}",
			[]time.Duration{100 * ms, 1100 * ms, 3000 * ms, 4000 * ms}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			size, fails := "1", "0%"
			if len(tt.want) == 3 {
				size = "2"
			}
			if tt.retry != "" {
				fails = "100%"
			} else {
				tt.retry = "{}"
			}
			sc := load(t, `
duration: 2s
drain: 20s
warmup: 0s
seeds: 1
engine: {workers: 1, store: {claim: 0s, commit: 0s}, commit: {linger: 0s}, `+tt.engine+`}
retry: `+tt.retry+`
jobs:
  - {class: a, arrivals: {process: batch, size: `+size+`, every: 1h, start: 100ms}, service: 1s, fails: {rate: `+fails+`}}
  - {class: b, arrivals: {process: batch, size: 1, every: 1h, start: 1050ms}, service: 500ms, fails: {rate: `+fails+`}}
`)
			if got := begins(t, sc); !slices.Equal(got, tt.want) {
				t.Errorf("executions begin at %v, want %v", got, tt.want)
			}
		})
	}
}

// TestEager has the outcome of a job that runs alone sent when its handler has ended, or after its linger.
func TestEager(t *testing.T) {
	for commit, want := range map[string]moments{"{linger: 500ms}": {0, 2500 * time.Millisecond}, "{linger: 500ms, eager: true}": {0, 2 * time.Second}} {
		got := begins(t, load(t, `
duration: 10s
warmup: 0s
engine: {store: {claim: 0s, commit: 0s}, commit: `+commit+`}
retry: {backoff: {kind: fixed, delay: 1s}, jitter: none, max-attempts: 2}
jobs: [{class: a, arrivals: {process: batch, size: 1, every: 1h}, service: 1s, fails: {rate: 100%}}]
`))
		if !slices.Equal(got, want) {
			t.Errorf("commit %s: executions begin at %v, want %v", commit, got, want)
		}
	}
}

// TestDelaysHaveTheGrain: a job with a delay is due at a whole multiple of the grain, and never before it is enqueued.
func TestDelaysHaveTheGrain(t *testing.T) {
	for retry, want := range map[string]moments{"{}": {1900 * time.Millisecond, 4100 * time.Millisecond}, "{grain: 1s}": {1600 * time.Millisecond, 4 * time.Second}} {
		sc := load(t, `
duration: 10s
drain: 20s
warmup: 0s
seeds: 1
engine: {store: {claim: 0s, commit: 0s}}
retry: `+retry+`
jobs:
  - {class: a, arrivals: {process: batch, size: 1, every: 1h, start: 1600ms}, service: 100ms, delay: 300ms}
  - {class: b, arrivals: {process: batch, size: 1, every: 1h, start: 1600ms}, service: 100ms, delay: 2500ms}
`)
		if got := begins(t, sc); !slices.Equal(got, want) {
			t.Errorf("retry %s: executions begin at %v, want %v", retry, got, want)
		}
	}
}
