package wall

import (
	"testing"

	"qsim/conform/common"
)

func TestBullMQ(t *testing.T) { bullmq.node(t).hold(t) }

var bullmq = &peer{
	address: onRedis,
	settings: map[string]settings{
		"delay":  {Job: map[string]any{"attempts": 10, "backoff": map[string]any{"type": "fixed", "delay": 5000}}},
		"order":  {Job: map[string]any{"attempts": 2, "backoff": map[string]any{"type": "fixed", "delay": 4000}}},
		"lost":   {Job: map[string]any{"attempts": 2}},
		"urgent": priorities("priority", 1, 10, map[string]any{"attempts": 2}),
	},
	System: common.System{Preset: "bullmq", Version: "bullmq v5.81.5",
		Cases: []*common.Case{&sparse, &slow, &steady,
			{Name: "delay", Nodes: 1, Workers: 10, Until: 15 * second, Limit: minute, To: 20 * second,
				Set:     []string{"retry.backoff={kind: fixed, delay: 5s}", "retry.max-attempts=10"},
				Classes: []common.Class{{Name: "pay", Rate: 1, Service: 53 * ms, Fails: true}}},
			{Name: "count", Nodes: 1, Workers: 10, Until: 15 * second, Limit: 30 * second, To: minute,
				Classes: []common.Class{{Name: "pay", At: common.Burst(5, 5*second), Service: 53 * ms, Fails: true}}},
			with(order, func(c *common.Case) {
				c.Set = []string{"retry.backoff={kind: fixed, delay: 4s}", "retry.max-attempts=2"}
			}),
			with(ranks, func(c *common.Case) { c.Set = []string{"retry.max-attempts=2"} }),
			{Name: "lost", Nodes: 2, Workers: 4, Until: 20 * second, Limit: 4 * minute, To: 4 * minute, Crashes: common.At(20 * second), Back: 30 * second,
				Set:     []string{"retry.max-attempts=2"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(8, 15*second), Service: 41300 * ms, Fails: true}}},
			{Name: "twice", Nodes: 1, Workers: 4, Until: 20 * second, Limit: 4 * minute, Crashes: common.At(20*second, 112*second), Back: 5 * second,
				Classes: []common.Class{{Name: "mail", At: common.Burst(4, 15*second), Service: 200 * second}}},
		},
		Rules: []common.Rule{woken("engine.fetch.wake=false"), loaded(), stays("engine.lease.heartbeat"), counted("retry.max-attempts=2"), ranked("engine.promoter", "engine.place"),
			{Name: "a delayed job starts when it is due", Keys: []string{"engine.fetch", "retry.backoff"}, Case: "delay", Fault: "engine.promoter.every=15s",
				Parts:   []common.Part{{Name: "failure to the next attempt, 5 s later", Value: common.Mean(common.Pauses(0)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry.wait"}},
			{Name: "a retry goes to the tail", Keys: []string{"engine.place", "engine.fetch"}, Case: "order", Fault: "engine.place=head",
				Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}},
				Metrics: []string{"fresh.wait"}},
			{Name: "a lost job stalls and starts again", Case: "lost", Fault: "engine.lease.ttl=2m", Patient: true,
				Keys:    []string{"engine.lease.ttl", "engine.lease.heartbeat", "engine.reaper.every", "engine.reaper.owner", "engine.reaper.on-start", "engine.reaper.counts", "engine.reaper.after"},
				Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 8, Unit: "s"}},
				Metrics: []string{"sojourn"}, Approximates: "stalled jobs are marked by one check and moved by the next",
				Cause: "a job is moved by the second check that finds it active, and one process checks for all, each 30 s: where that one dies another comes up to 30 s later (moveStalledJobsToWait)"},
			{Name: "a stall costs no attempt", Keys: []string{"engine.reaper.counts", "engine.reaper.after", "retry.count"}, Case: "lost", Fault: "engine.reaper={every: 30s, batch: 100000, owner: leader, on-start: false, counts: failure, after: retry, place: head, max: 1}",
				Parts:   []common.Part{{Name: "attempts of a job of 2 that is lost once", Value: common.Mean(common.AttemptsOfLost), Least: .01}},
				Metrics: []string{"dead", "attempts"}},
			{Name: "a job that stalls twice fails", Keys: []string{"engine.reaper", "engine.lease"}, Case: "twice", Fault: "engine.reaper.max=2",
				Parts:   []common.Part{{Name: "attempts of a job that is lost twice", Value: common.Mean(common.Attempts()), Least: .01}},
				Metrics: []string{"dead"}},
		}},
}
