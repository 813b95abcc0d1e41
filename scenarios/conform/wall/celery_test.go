package wall

import (
	"testing"

	"qsim/conform/common"
)

func TestCelery(t *testing.T) {
	celery.debian(t, "python3-celery", "/usr/bin/python3", "testdata/driver.py")
	celery.hold(t)
}

func retries(countdown float64) settings {
	return settings{Worker: map[string]any{"retry": map[string]any{"countdown": countdown}}}
}

func visible(s settings, seconds int) settings {
	if s.Worker == nil {
		s.Worker = map[string]any{}
	}
	s.Worker["transport"] = map[string]any{"visibility_timeout": seconds}
	return s
}

// celery is the system Celery, which prefetches 4 times its workers, running jobs included.
var celery = &peer{
	address: onRedis,
	settings: map[string]settings{
		"count": retries(1), "order": retries(4), "held": visible(retries(10), 50), "lost": visible(settings{}, 20),
	},
	System: common.System{Preset: "celery", Version: "celery",
		Cases: []*common.Case{&sparse, &slow,
			with(steady, func(c *common.Case) { c.Set = []string{"engine.fetch.prefetch=12"} }),
			{Name: "delay", Nodes: 1, Workers: 4, Until: 10 * second, Limit: 4 * minute, To: 30 * second,
				Classes: []common.Class{{Name: "pay", At: common.Burst(3, 5*second), Service: 53 * ms, Fails: true}}},
			{Name: "count", Nodes: 1, Workers: 10, Until: 15 * second, Limit: 40 * second, To: minute, Set: []string{"retry.backoff.delay=1s"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(5, 5*second), Service: 53 * ms, Fails: true}}},
			with(order, func(c *common.Case) { c.Set = []string{"retry.backoff.delay=4s", "engine.fetch.prefetch=3"} }),
			{Name: "lost", Nodes: 1, Workers: 4, Until: 20 * second, Limit: 210 * second, Full: true, Crashes: common.At(20 * second), Back: 5 * second,
				Set:     []string{"engine.lease.ttl=20s"},
				Classes: []common.Class{{Name: "mail", At: common.Burst(4, 15*second), Service: 31300 * ms}}},
			{Name: "held", Nodes: 1, Workers: 4, Until: 10 * second, Limit: 5 * minute, To: 15 * second, Crashes: common.At(7 * second), Back: 8 * second,
				Set:     []string{"retry.backoff.delay=10s", "engine.lease.ttl=50s"},
				Classes: []common.Class{{Name: "pay", At: common.Burst(4, 5*second), Service: 53 * ms, Fails: true}}},
		},
		Rules: []common.Rule{woken("engine.fetch.wake=false"), loaded(), stays("engine.ack", "engine.lease.ttl"), counted("retry.max-retries=4"), gone(),
			{Name: "a retry starts when it is due", Keys: []string{"retry.backoff", "retry.jitter", "engine.fetch", "engine.waiting", "engine.lease"}, Case: "delay", Fault: "retry.backoff.delay=200s",
				Parts:   []common.Part{{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: 1, Unit: "s"}},
				Metrics: []string{"retry"}},
			{Name: "a waiting retry is held by its worker, until the visibility timeout", Case: "held", Fault: "engine.waiting=store",
				Keys:    []string{"engine.waiting", "engine.lease", "engine.reaper", "engine.ack", "retry.backoff"},
				Parts:   []common.Part{{Name: "failure to the next attempt, when the worker dies between them", Value: common.Mean(common.Pauses(1)), Least: 10, Unit: "s"}},
				Metrics: []string{"retry.wait"}},
			{Name: "a due retry goes before what is still in the broker", Keys: []string{"engine.fetch", "engine.waiting", "engine.lease", "retry.backoff"}, Case: "order", Fault: "engine.waiting=store",
				Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh"), Least: .01}},
				Metrics: []string{"fresh.wait"}},
		}},
}
