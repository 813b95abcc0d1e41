package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"qsim/results/measure"
	"qsim/scenarios"
	"qsim/scenarios/estimate"
)

// TestFreshLoadOfRuns holds the estimated load of the workers by fresh jobs alone in a storm against runs in which
// workers are plenty and nothing is tried again: the mean number of those that are busy in the storm ÷ those, of 20,
// that it leaves.
func TestFreshLoadOfRuns(t *testing.T) {
	const text = "duration: 30m\ndrain: 0s\nwarmup: 0s\nseeds: 1\nengine: {nodes: 10, workers: 2}\n" +
		"retry: {max-attempts: 1}\ndependencies: [{name: api, limit: {rate: 10/s}, over: {fail: 100%, rejects-in: 20ms}}]\n" +
		"jobs: [{class: mail, arrivals: {process: constant, rate: 16/s}, service: 500ms}]\n"
	for _, tt := range []struct {
		name, storm string
		sets        string  // more of the scenario, KEY=VALUE; ...
		left        float64 // workers
		least       float64 // estimate ÷ the load of the run
	}{
		{"another kind of storm", "reaper: {stall: true}", "", 20, .98},
		{"slow", "slow: {factor: 3}", "", 20, .98},
		{"slow up to the timeout", "slow: {factor: 3}", "jobs.mail.timeout=1s", 20, .98},
		{"a burst", "burst: {class: mail, factor: 2.5}", "", 20, .98},
		{"failures that take long", "fail: {rate: 40%, takes: 4s}", "", 20, .98},
		{"failures that take as long as others", "fail: {rate: 40%}", "", 20, .98},
		{"its failures come before the usual ones", "fail: {rate: 50%, takes: 100ms}",
			"jobs.mail.poison=10%;jobs.mail.fails={rate: 20%, takes: 3s}", 20, .98},
		{"an outage of what it calls", "outage: {dependency: api, takes: 2s}", "jobs.mail.calls=api", 20, .98},
		{"an outage of what it does not call", "outage: {dependency: api, takes: 2s}", "", 20, .98},
		{"calls that are refused", "burst: {class: mail, factor: 4}", "jobs.mail.calls=api", 20, 0},
		{"attempts that hang", "hang: {rate: 20%, extra: 5s}", "", 20, .98},
		{"attempts that hang beyond their timeout", "hang: {rate: 20%, extra: 5s}", "jobs.mail.timeout=1s", 20, .98},
		{"attempts that hang until the timeout frees the worker", "hang: {rate: 20%, extra: 5s}",
			"jobs.mail.timeout=1s;engine.on-timeout=free", 20, 0},
		{"attempts that kill", "kill: {rate: 10%}", "engine.restart=0s", 20, 0},
		{"a second storm", "slow: {factor: 2}", "storms.second={at: 5m, for: 20m, burst: {class: mail, factor: 2}}",
			20, .98},
		{"the next storm", "slow: {factor: 2}", "storms.next={at: 20m, for: 5m, burst: {class: mail, factor: 2}}",
			20, .98},
		{"for a part of it", "slow: {factor: 2}", "jobs.mail.arrivals.start=15m", 20, .98},
		{"scheduled jobs", "slow: {factor: 2}", "jobs.mail.delay=12m", 20, .98},
		{"a burst of scheduled jobs", "burst: {class: mail, factor: 2}", "jobs.mail.delay=5m", 20, 0},
		{"waves", "slow: {factor: 2}",
			"jobs.mail.arrivals={process: diurnal, mean: 16/s, swing: 50%, period: 20m}", 20, 0},
		{"workers are away", "crash: {nodes: 3, restart-after: 10m}", "", 14, .98},
		{"at most so many at once", "slow: {factor: 3}", "jobs.mail.max-running=4", 20, .98},
	} {
		t.Run(tt.name, func(t *testing.T) {
			storms := []string{"{name: storm, at: 10m, for: 10m, " + tt.storm + "}"}
			var sets []scenarios.Override
			for set := range strings.SplitSeq(tt.sets, ";") {
				key, value, _ := strings.Cut(set, "=")
				if name, other := strings.CutPrefix(key, "storms."); other {
					storms = append(storms, "{name: "+name+", "+value[1:])
				} else if key != "" {
					sets = append(sets, scenarios.Override{Path: key, Value: value})
				}
			}
			own := text + "storms: [" + strings.Join(storms, ", ") + "]\n"
			sc, problems := scenarios.Load("test.yaml", []byte(own), sets)
			if sc == nil {
				t.Fatal(problems)
			}
			got, _ := estimate.FreshLoad(sc, 0)
			sets = append(sets, scenarios.Override{Path: "engine.workers", Value: "200"})
			plenty, _ := scenarios.Load("test.yaml", []byte(own), sets)
			busy := measure.Query{Metric: "utilization", During: "storm"}
			if err := plenty.Measure([]measure.Query{busy}); err != nil {
				t.Fatal(err)
			}
			runs, err := Run(t.Context(), plenty, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := value(t, &runs[0], busy) * 10 * 200 / tt.left
			if !(got <= 1.02*want) || !(got >= tt.least*want) {
				t.Errorf("estimated %.3f, and it was %.3f", got, want)
			}
		})
	}
}

// TestOverloadsOfShippedScenarios lists all storms of built-in scenarios in which fresh jobs alone overload the workers,
// with the load under the first policy: all are floods of jobs, or slow them down, and as large by what their files say.
func TestOverloadsOfShippedScenarios(t *testing.T) {
	var got []string
	for _, info := range scenarios.Builtin() {
		name, text, _ := scenarios.OpenBuiltin(info.Name)
		sc, _ := scenarios.Load(name, text, nil)
		for _, o := range Settings(sc).Overloads {
			if o.Policy == 0 {
				got = append(got, fmt.Sprintf("%s %s %.2f", info.Name, o.Storm, o.Load))
			}
		}
	}
	want := []string{"noisy-customer flood 1.40", "incidents/low-list-never-served newsletter 1.23",
		"incidents/reservation-expires-under-load slow 1.78", "incidents/strict-priority-starves flood 1.06",
		"published/goodput-collapse dip 2.70"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFreshLoadOfInfiniteMeans: run times without a mean have no estimate.
func TestFreshLoadOfInfiniteMeans(t *testing.T) {
	sc, problems := scenarios.Load("test.yaml", []byte(`
name: test
duration: 10m
jobs:
  - class: a
    arrivals: {process: poisson, rate: 10/s}
    service: {dist: pareto, min: 10ms, alpha: 0.9}
    timeout: 0s
policies: [{kind: fifo}]
storms: [{name: storm, at: 1m, for: 1m, burst: {class: a, factor: 3}}]
`), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	if with, without := estimate.FreshLoad(sc, 0); with != 0 || without != 0 {
		t.Errorf("estimated %v and %v", with, without)
	}
}
