package wall

import (
	"testing"

	"qsim/conform/common"
)

func TestPgBoss(t *testing.T) { pgboss.node(t).hold(t) }

// pgboss is the system pg-boss, in which each worker polls separately: a node with one worker.
var pgboss = &peer{
	address: onPostgres,
	settings: map[string]settings{
		"lost":    {Job: map[string]any{"expireInSeconds": 40}, Worker: map[string]any{"maintenanceIntervalSeconds": 10}},
		"timeout": {Job: map[string]any{"expireInSeconds": 20, "retryLimit": 0}},
		"delay":   {Job: map[string]any{"retryDelay": 9}},
		"backoff": {Job: map[string]any{"retryDelay": 5, "retryBackoff": true}},
		"order":   {Job: map[string]any{"retryLimit": 1}},
	},
	System: common.System{Preset: "pg-boss", Version: "pg-boss v10.4.2",
		Cases: []*common.Case{with(sparse, func(c *common.Case) {
			c.Workers = 1
			c.Classes = []common.Class{{Name: "mail", Rate: .3, Service: 61 * ms}}
		}),
			with(steady, func(c *common.Case) { c.Nodes, c.Workers = 4, 1 }),
			{Name: "line", Nodes: 1, Workers: 1, Until: 10 * second, Limit: minute,
				Classes: []common.Class{{Name: "mail", At: common.Burst(10, 5*second), Service: 530 * ms}}},
			{Name: "count", Nodes: 1, Workers: 1, Until: 15 * second, Limit: minute, To: minute,
				Classes: []common.Class{{Name: "pay", At: common.Burst(3, 5*second), Service: 53 * ms, Fails: true}}},
			{Name: "delay", Nodes: 4, Workers: 1, Until: 15 * second, Limit: 90 * second, To: 80 * second, Set: []string{"retry.backoff={kind: fixed, delay: 9s}"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(8, 5*second), Service: 53 * ms, Fails: true}}},
			{Name: "backoff", Nodes: 4, Workers: 1, Until: 15 * second, Limit: 90 * second, To: 80 * second,
				Set:     []string{"retry.backoff={kind: exponential, first: 10s, factor: 2}", "retry.jitter=equal"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(8, 5*second), Service: 53 * ms, Fails: true}}},
			with(order, func(c *common.Case) {
				c.Set = []string{"retry.max-retries=1"}
				c.Limit, c.To = 90*second, 12*second // a poll may come as late
			}),
			{Name: "lost", Nodes: 2, Workers: 1, Until: 20 * second, Limit: 3 * minute, To: 3 * minute, Crashes: common.At(20 * second), Back: 5 * second,
				Set:     []string{"engine.lease.ttl=40s", "engine.timeout=40s", "engine.reaper.every=10s"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(2, 15*second), Service: 31300 * ms, Fails: true}}},
			{Name: "timeout", Nodes: 1, Workers: 1, Until: 20 * second, Limit: 2 * minute, Full: true, Set: []string{"engine.timeout=20s", "engine.lease.ttl=20s", "retry.max-retries=0"},
				Classes: []common.Class{{Name: "deaf", At: common.Burst(3, 5*second), Service: 70300 * ms, Keys: "ignores-cancel: true"}}},
		},
		Rules: []common.Rule{loaded(), counted("retry.max-retries=3"),
			{Name: "nobody is woken: a poll each 2 s", Keys: []string{"engine.fetch", "engine.phase"}, Case: "sparse", Fault: "engine.fetch.poll=5s",
				Parts:   []common.Part{{Name: "mean wait", Value: common.Mean(common.Waits()), Least: .4, Unit: "s"}},
				Metrics: []string{"fresh.wait"}},
			{Name: "a worker takes a job each 2 s", Keys: []string{"engine.fetch", "engine.commit"}, Case: "line", Fault: "engine.fetch.cooldown=0s",
				Parts:   []common.Part{{Name: "mean wait in a line before one worker", Value: common.Mean(common.Waits()), Least: 1, Unit: "s"}},
				Metrics: []string{"fresh.wait"}},
			{Name: "a retry is ready at once", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch", "engine.place"}, Case: "count", Fault: "retry.backoff={kind: fixed, delay: 5s}",
				Parts:   []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry.wait"}},
			{Name: "retryDelay seconds", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch"}, Case: "delay", Fault: "retry.backoff={kind: fixed, delay: 5s}",
				Parts:   []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "retryBackoff: doubled, half of it drawn", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch"}, Case: "backoff", Fault: "retry.backoff={kind: fixed, delay: 10s}",
				Parts: []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1.5, Unit: "s"},
					{Name: "failure 2 to the next attempt", Value: common.Mean(common.Pauses(2)), Least: 1.5, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "a retry stands by when it was enqueued", Keys: []string{"engine.place", "engine.fetch"}, Case: "order", Fault: "engine.place=tail",
				Parts: []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}}},
			{Name: "a lost job expires", Keys: []string{"engine.lease", "engine.reaper.every", "engine.reaper.on-start", "engine.reaper.after", "engine.timeout", "engine.fetch"}, Case: "lost", Fault: "engine.lease.ttl=80s",
				Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 8, Unit: "s"}},
				Metrics: []string{"sojourn"}},
			{Name: "a lost attempt counts", Keys: []string{"engine.reaper.counts", "retry.count", "retry.max-retries"}, Case: "lost", Fault: "engine.reaper.counts=nothing",
				Parts:   []common.Part{{Name: "attempts of a job of 3 that is lost once", Value: common.Mean(common.AttemptsOfLost), Least: .01}},
				Metrics: []string{"dead", "attempts"}},
			{Name: "a timeout frees the worker", Keys: []string{"engine.timeout", "engine.on-timeout", "engine.lease", "engine.fetch"}, Case: "timeout", Fault: "engine.on-timeout=fail",
				Parts:   []common.Part{{Name: "handlers at once, of one worker", Value: common.AtOnce, Least: .5}},
				Metrics: []string{"fresh.wait", "utilization"}},
		}},
}
