package wall

import (
	"testing"

	"qsim/conform/common"
)

func TestGraphile(t *testing.T) { graphile.node(t).hold(t) }

// graphile is the system graphile-worker. A lock of four hours lapses by its rows being set back.
var graphile = &peer{
	address: onPostgres,
	settings: map[string]settings{
		"order":  {Job: map[string]any{"maxAttempts": 2}},
		"count":  {Job: map[string]any{"maxAttempts": 2}},
		"urgent": priorities("priority", 1, 10, nil),
		"lost": {Job: map[string]any{"maxAttempts": 2}, Worker: map[string]any{"minResetLockedInterval": 8000, "maxResetLockedInterval": 10000},
			Elapse: "update graphile_worker._private_jobs set locked_at = locked_at - make_interval(secs => $1)", Passes: 4*60*minute - 90*second},
	},
	System: common.System{Preset: "graphile", Version: "graphile-worker v0.17.3",
		Cases: []*common.Case{&sparse, &steady, &slow,
			{Name: "retry", Nodes: 1, Workers: 1, Until: 20 * second, Limit: 2 * minute, To: 30 * second,
				Classes: []common.Class{{Name: "pay", At: common.At(5 * second), Service: 53 * ms, Fails: true}}},
			{Name: "count", Nodes: 1, Workers: 4, Until: 15 * second, Limit: minute, To: minute, Set: []string{"retry.max-attempts=2"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(5, 5*second), Service: 53 * ms, Fails: true}}},
			with(order, func(c *common.Case) {
				c.Set = []string{"retry.max-attempts=2"}
				first := c.Classes[0]
				first.Service = 2530 * ms // so that all fresh ones are there before it is due, even on a slow machine
				c.Classes = []common.Class{first, c.Classes[1], {Name: "young", At: common.Burst(5, 12*second), Service: 1130 * ms}}
			}),
			&ranks,
			{Name: "lost", Nodes: 2, Workers: 4, Until: 20 * second, Limit: 4*60*minute + 5*minute, To: 5 * 60 * minute, Crashes: common.At(20 * second), Back: 10 * second,
				Set:     []string{"retry.max-attempts=2", "engine.reaper.every=9s"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(8, 15*second), Service: 31300 * ms, Fails: true}}},
		},
		Rules: []common.Rule{woken("engine.fetch.wake=false"), loaded(), stays("engine.lease.ttl"), counted("retry.max-attempts=3"), ranked("engine.place"),
			{Name: "a due retry waits for a poll of 2 s", Keys: []string{"engine.fetch"}, Case: "retry", Fault: "engine.fetch.poll=10s",
				Parts:   []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry.wait"}},
			{Name: "eⁿ seconds", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch"}, Case: "retry", Fault: "retry.backoff={kind: fixed, delay: 2718ms}",
				Parts: []common.Part{{Name: "failure 2 to the next attempt", Value: common.Mean(common.Pauses(2)), Least: 1, Unit: "s"},
					{Name: "failure 3 to the next attempt, within a poll", Value: common.Mean(common.Pauses(3)), Least: 2, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "a due retry stands by its due time", Keys: []string{"engine.place", "engine.fetch"}, Case: "order", Fault: "engine.place=head",
				Parts: []common.Part{{Name: "share behind those enqueued before it was due", Value: common.Last("first", "fresh"), Least: .01},
					{Name: "share behind those enqueued after", Value: common.Last("first", "young"), Least: .01}}},
			{Name: "a lock lapses after four hours", Case: "lost", Fault: "engine.lease.ttl=3h",
				Keys:    []string{"engine.lease", "engine.reaper.every", "engine.reaper.on-start", "engine.reaper.after"},
				Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 10, Unit: "s"}},
				Metrics: []string{"sojourn"}},
			{Name: "a lost attempt counts", Keys: []string{"engine.reaper.counts", "retry.count"}, Case: "lost", Fault: "engine.reaper.counts=nothing",
				Parts:   []common.Part{{Name: "attempts of a job of 2 that is lost once", Value: common.Mean(common.AttemptsOfLost), Least: .01}},
				Metrics: []string{"dead", "attempts"}},
		}},
}
