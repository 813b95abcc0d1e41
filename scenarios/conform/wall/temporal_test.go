package wall

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"qsim/conform/common"
)

// TestTemporal compares the preset temporal with Temporal. Server and processes are one program, compiled here from
// testdata/temporal, a module of its own for its hundreds of dependencies.
func TestTemporal(t *testing.T) {
	if !common.Long() {
		t.Skip("it waits on the wall clock: with -long")
	}
	program := filepath.Join(t.TempDir(), "driver")
	if text, err := exec.Command("go", "-C", "testdata/temporal", "list", "-deps", ".").CombinedOutput(); err != nil {
		t.Skipf("NOT CHECKED: the modules of testdata/temporal cannot be had: %v\n%s", err, text)
	}
	if text, err := exec.Command("go", "-C", "testdata/temporal", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	server := begin(t, exec.Command(program, "temporal", "serve", ""), nil)
	t.Cleanup(server.end)
	var up line
	select {
	case up = <-server.answers:
	case <-server.ended:
		t.Fatal("the server has ended")
	case <-time.After(time.Minute):
		t.Fatal("the server does not answer")
	}
	temporal.driver = []string{program}
	temporal.address = func(*testing.T, string) map[string]any { return up.Address }
	temporal.hold(t)
}

// temporal is the system Temporal, with one activity a workflow. Workflows run in the process that enqueues jobs, which
// no crash kills.
var temporal = &peer{
	settings: map[string]settings{
		"count": {Job: map[string]any{"attempts": 4, "timeout": 20}},
		"most":  {Job: map[string]any{"first": .2}},
		"lost":  {Job: map[string]any{"attempts": 2}},
	},
	System: common.System{Preset: "temporal", Version: "temporal v1.31.2",
		Cases: []*common.Case{&sparse, with(slow, func(c *common.Case) { c.Limit = 85 * second }),
			with(order, func(c *common.Case) {
				c.Classes = []common.Class{{Name: "first", At: common.At(5 * second), Service: 2530 * ms, Fails: true}, c.Classes[1]}
			}),
			{Name: "most", Nodes: 1, Workers: 1, Until: 10 * second, Limit: 2 * minute, To: 40 * second,
				Set:     []string{"retry.backoff={kind: exponential, first: 200ms, factor: 2, max: 20s}"},
				Classes: []common.Class{{Name: "pay", At: common.At(5 * second), Service: 53 * ms, Fails: true}}},
			{Name: "count", Nodes: 1, Workers: 10, Until: 15 * second, Limit: 150 * second, To: 150 * second,
				Set: []string{"retry.max-attempts=4", "engine.timeout=20s"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(5, 5*second), Service: 53 * ms, Fails: true},
					{Name: "late", At: common.Burst(3, 5*second), Service: 70300 * ms}}},
			{Name: "lost", Nodes: 2, Workers: 4, Until: 20 * second, Limit: 4 * minute, To: 4 * minute, Crashes: common.At(20 * second), Back: 10 * second,
				Set:     []string{"retry.max-attempts=2"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(8, 15*second), Service: 31300 * ms, Fails: true}}},
		},
		Rules: []common.Rule{woken("engine.fetch={wake: false, poll: 5s}"), stays("engine.lease"), counted("retry.max-attempts=5", "engine.timeout"),
			{Name: "2ⁿ⁻¹ seconds", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch"}, Case: "count", Fault: "retry.backoff={kind: fixed, delay: 10s}",
				Parts: []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: .5, Unit: "s"},
					{Name: "failure 2 to the next attempt", Value: common.Mean(common.Pauses(2)), Least: .5, Unit: "s"},
					{Name: "failure 3 to the next attempt", Value: common.Mean(common.Pauses(3)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "at most 100 times the first delay, for ever", Keys: []string{"retry.backoff", "retry.jitter", "retry.max-attempts", "engine.fetch"}, Case: "most", Fault: "retry.backoff.max=60s",
				Parts: []common.Part{{Name: "failure 7 to the next attempt, the first 200 ms", Value: common.Mean(common.Pauses(7)), Least: 1, Unit: "s"},
					{Name: "failure 8 to the next attempt, the first 200 ms", Value: common.Mean(common.Pauses(8)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "start-to-close ends an attempt, which counts", Keys: []string{"engine.timeout", "retry.backoff", "retry.max-attempts", "retry.count", "engine.fetch"}, Case: "count", Fault: "engine.timeout=40s",
				Parts: []common.Part{{Name: "one attempt to the next with a timeout of 20 s", Value: common.Mean(common.Again("late")), Least: 1, Unit: "s"},
					{Name: "attempts of 4", Value: common.Mean(common.Attempts("late"))}},
				Metrics: []string{"sojourn", "attempts"}},
			{Name: "a retry goes to the tail", Keys: []string{"engine.place", "engine.fetch"}, Case: "order", Fault: "engine.place=head",
				Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}},
				Metrics: []string{"fresh.wait"}},
			{Name: "a lost attempt ends with its heartbeat", Case: "lost", Fault: "engine.lease.ttl=2m", Patient: true,
				Keys:    []string{"engine.lease", "engine.reaper.every", "engine.reaper.on-start", "engine.reaper.after", "retry.backoff", "engine.fetch"},
				Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 3, Unit: "s"}},
				Metrics: []string{"sojourn"}},
			{Name: "a lost attempt counts", Keys: []string{"engine.reaper.counts", "retry.count"}, Case: "lost", Fault: "engine.reaper.counts=nothing",
				Parts:   []common.Part{{Name: "attempts of a job of 2 that is lost once", Value: common.Mean(common.AttemptsOfLost), Least: .01}},
				Metrics: []string{"dead", "attempts"}},
		}},
}
