package wall

import (
	"testing"

	"qsim/conform/common"
)

func TestSidekiq(t *testing.T) {
	sidekiq.debian(t, "ruby-sidekiq", "ruby", "testdata/driver.rb")
	sidekiq.hold(t)
}

var sidekiq = &peer{
	address:  onRedis,
	settings: map[string]settings{"count": {Job: map[string]any{"retry": 2}}},
	System: common.System{Preset: "sidekiq", Version: "sidekiq",
		Cases: []*common.Case{&sparse, &steady, &slow,
			{Name: "retry", Nodes: 1, Workers: 10, Until: 30 * second, Limit: 3 * minute, To: 30 * second,
				Classes: []common.Class{{Name: "pay", Rate: 1.5, Service: 53 * ms, Fails: true}}},
			{Name: "several", Nodes: 2, Workers: 10, Until: 30 * second, Limit: 3 * minute, To: 30 * second,
				Classes: []common.Class{{Name: "pay", Rate: 1.5, Service: 53 * ms, Fails: true}}},
			{Name: "count", Nodes: 1, Workers: 10, Until: 20 * second, Limit: 3 * minute, To: 5 * minute, Set: []string{"retry.max-retries=2"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(5, 5*second), Service: 53 * ms, Fails: true}}},
			with(order, func(c *common.Case) {
				c.Limit = 2 * minute
				c.Classes = []common.Class{c.Classes[0], {Name: "fresh", At: common.Burst(50, 6*second), Service: 1130 * ms}}
			}),
			{Name: "lost", Nodes: 1, Workers: 4, Until: 20 * second, Limit: 80 * second, Full: true, Crashes: common.At(20 * second), Back: 5 * second,
				Classes: []common.Class{{Name: "mail", At: common.Burst(4, 15*second), Service: 31300 * ms}}},
		},
		Rules: []common.Rule{woken("engine.fetch.wake=false"), loaded(), stays("engine.ack"), counted("retry.max-retries=3"), gone(),
			{Name: "a due retry waits for the poll of a process", Keys: []string{"engine.promoter.every", "retry.backoff"}, Case: "retry", Fault: "engine.promoter.every=20s",
				Parts:   []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry.wait"}},
			{Name: "polls of two processes", Keys: []string{"engine.promoter.every", "engine.promoter.owner", "retry.backoff"}, Case: "several",
				Parts:        []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: .5, Unit: "s"}},
				Approximates: "a process polls every 5 s x the number of processes", Metrics: []string{"retry.wait"},
				Cause: "a process polls every 5 s times the number of processes that it finds at its first poll (scheduled.rb, poll_interval_average)"},
			{Name: "a retry goes to the tail", Keys: []string{"engine.place", "engine.fetch", "engine.promoter", "retry.backoff"}, Case: "order", Fault: "engine.place=head",
				Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}},
				Metrics: []string{"fresh.wait"}},
		}},
}
