package river

import (
	"time"

	"qsim/conform/common"
)

const second, minute, ms = time.Second, time.Minute, time.Millisecond

// thrice are the YAML keys of a job class whose jobs have 3 attempts.
const thrice = "retry: {max-attempts: 3}"

// cases are what package common runs with River and in simulations. No service time shares a multiple with 50 ms, 100
// ms, 250 ms or 1 s, which River counts in: events at one instant have no common order on both sides. Loads have
// several times, so that jobs which begin together do not end together.
var cases = []*common.Case{
	{Name: "sparse", Nodes: 1, Workers: 10, Until: 2 * minute, Limit: 3 * minute,
		Classes: []common.Class{{Name: "mail", Rate: 1.3, Service: 61 * ms}}},
	{Name: "line", Nodes: 1, Workers: 1, Until: 10 * second, Limit: minute,
		Classes: []common.Class{{Name: "mail", At: common.Burst(40, 5*second), Service: 37 * ms}}},
	{Name: "poll", Nodes: 2, Workers: 10, Until: 8 * minute, Limit: 9 * minute, Set: []string{"engine.fetch.wake=false"},
		Classes: []common.Class{{Name: "mail", Rate: 1.3, Service: 61 * ms}}},
	{Name: "retry", Nodes: 1, Workers: 40, Until: 100 * second, Limit: 10 * minute, To: 2 * minute,
		Classes: []common.Class{{Name: "pay", Rate: 2.5, Service: 47 * ms, Fails: true}}},
	{Name: "dead", Nodes: 1, Workers: 10, Until: 10 * second, Limit: 3 * minute, To: 3 * minute, Set: []string{"retry.max-attempts=3"},
		Classes: []common.Class{{Name: "thrice", At: common.Burst(8, 5*second), Service: 47 * ms, Fails: true}}},
	{Name: "order", Nodes: 1, Workers: 1, Until: 10 * second, Limit: minute, To: 6500 * ms,
		Classes: []common.Class{{Name: "pay", At: common.At(5 * second), Service: 61 * ms, Fails: true},
			{Name: "old", At: common.Burst(30, 5100*ms), Service: 137 * ms}, {Name: "young", At: common.Burst(30, 9*second), Service: 137 * ms}}},
	{Name: "urgent", Nodes: 1, Workers: 1, Until: 10 * second, Limit: minute, To: 7600 * ms,
		Classes: []common.Class{{Name: "low", At: common.Burst(20, 5*second), Service: 437 * ms, Keys: "priority: 4"},
			{Name: "urgent", At: common.Burst(3, 5900*ms), Service: 437 * ms, Fails: true, Keys: "priority: 1"}}},
	{Name: "long", Nodes: 1, Workers: 2, Until: minute, Limit: 8 * minute, Full: true,
		Classes: []common.Class{{Name: "deaf", At: common.Burst(6, 5*second), Service: 90*second + 313*ms, Keys: "ignores-cancel: true"}}},
	{Name: "lost", Nodes: 1, Workers: 8, Until: minute, Limit: 66 * minute, To: 66 * minute, Crashes: common.At(20 * second), Back: 30 * second,
		Classes: []common.Class{{Name: "thrice", At: common.Burst(4, 15*second), Service: 41300 * ms, Fails: true, Keys: thrice}}},

	{Name: "steady", Nodes: 1, Workers: 10, Until: minute, Limit: 5 * minute, Long: true,
		Classes: []common.Class{{Name: "a", Rate: 7.5, Service: 61 * ms}, {Name: "b", Rate: 7.5, Service: 137 * ms},
			{Name: "c", Rate: 7.5, Service: 211 * ms}, {Name: "d", Rate: 7.5, Service: 391 * ms}}},
	{Name: "outage", Nodes: 1, Workers: 4, Until: 8 * minute, Limit: 20 * minute, From: minute, To: 4 * minute, Long: true,
		Classes: []common.Class{{Name: "mail", Rate: .6, Service: 313 * ms}, {Name: "mail2", Rate: .6, Service: 641 * ms}, {Name: "mail3", Rate: .6, Service: 887 * ms},
			{Name: "pay", Rate: .6, Service: 353 * ms, Fails: true}, {Name: "pay2", Rate: .6, Service: 683 * ms, Fails: true}, {Name: "pay3", Rate: .6, Service: 863 * ms, Fails: true},
			{Name: "thrice", Rate: .4, Service: 571 * ms, Fails: true, Keys: thrice}}},
}

var rules = []common.Rule{
	{Name: "an insert wakes its process", Keys: []string{"engine.fetch", "engine.commit"}, Case: "sparse", Fault: "engine.fetch.wake=false",
		Parts:   []common.Part{{Name: "share of waits below 10 ms", Value: common.Within(.01, common.Waits()), Least: .05}},
		Metrics: []string{"fresh.wait"}},
	{Name: "at most ten claims a second", Keys: []string{"engine.fetch", "engine.commit"}, Case: "line", Fault: "engine.fetch.cooldown=200ms",
		Parts:   []common.Part{{Name: "mean wait in a line before one worker", Value: common.Mean(common.Waits()), Share: .03, Unit: "s"}},
		Metrics: []string{"fresh.wait"}},
	{Name: "a worker is free before the commit", Keys: []string{"engine.commit", "engine.fetch"}, Case: "line", Fault: "engine.commit={linger: 250ms, backpressure: 1}",
		Parts: []common.Part{{Name: "p99 wait in a line before one worker", Value: common.Quantile(.99, common.Waits()), Share: .03, Unit: "s"}}},
	{Name: "a poll each 1 to 1.1 s", Keys: []string{"engine.fetch"}, Case: "poll", Fault: "engine.fetch.poll=2s", Patient: true,
		Parts: []common.Part{{Name: "mean wait", Value: common.Mean(common.Waits()), Share: .08, Unit: "s"},
			{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Share: .08, Unit: "s"}},
		Metrics: []string{"fresh.wait"}},
	{Name: "two processes share the work", Keys: []string{"engine.fetch"}, Case: "poll", Fault: "engine.fetch.wake=all",
		Parts: []common.Part{{Name: "share of the busier", Value: common.Share, Least: .08}}},
	{Name: "n⁴ ± 10 %", Keys: []string{"retry.backoff", "retry.jitter"}, Case: "retry", Fault: "retry.jitter=±20%",
		Parts: []common.Part{{Name: "delays after failure 1", Sample: common.Delays(1), Unit: "s"}, {Name: "delays after 2", Sample: common.Delays(2), Unit: "s"},
			{Name: "delays after 3", Sample: common.Delays(3), Unit: "s"}}},
	{Name: "when a due retry is found", Keys: []string{"engine.promoter", "engine.fetch", "retry.max-attempts"}, Case: "retry", Fault: "engine.promoter.every=5s",
		Parts: []common.Part{{Name: "later than its delay says", Value: common.Mean(common.Late), Least: .06, Unit: "s"}}},
	{Name: "attempts until it is over", Keys: []string{"retry.backoff", "retry.jitter", "retry.never", "retry.max-attempts", "engine.promoter.every"}, Case: "retry", Fault: "retry.backoff.power=3",
		Parts:   []common.Part{{Name: "mean of attempts", Value: common.Mean(common.Attempts()), Share: .02}},
		Metrics: []string{"attempts"}},
	{Name: "discarded after the last attempt", Keys: []string{"retry.max-attempts", "retry.count"}, Case: "dead", Fault: "retry.max-attempts=4",
		Parts: []common.Part{{Name: "dead", Value: common.Dead}, {Name: "attempts", Value: common.Mean(common.Attempts())}}},
	{Name: "a due retry stands by its due time", Keys: []string{"engine.place", "engine.fetch", "engine.commit"}, Case: "order", Fault: "engine.place=head",
		Parts: []common.Part{{Name: "share behind those enqueued before it was due", Value: common.Last("pay", "old"), Least: .01},
			{Name: "share behind those enqueued after", Value: common.Last("pay", "young"), Least: .01}}},
	{Name: "the more urgent first, retries too", Keys: []string{"jobs.*.priority", "engine.fetch", "engine.commit", "engine.promoter", "engine.place"}, Case: "urgent", Fault: "jobs.urgent.priority=5",
		Parts: []common.Part{{Name: "mean wait of urgent jobs in a line", Value: common.Mean(common.Waits("urgent")), Least: .3, Unit: "s"},
			{Name: "share of their retries behind all others", Value: common.Last("urgent", "low"), Least: .01}},
		Metrics: []string{"fresh.wait", "retry.wait"}},
	{Name: "a timeout cancels and waits", Keys: []string{"engine.timeout", "engine.on-timeout"}, Case: "long", Fault: "engine.on-timeout=fail",
		Parts:   []common.Part{{Name: "attempts a job", Value: common.Mean(common.Attempts()), Share: .01}, {Name: "most at once", Value: common.AtOnce}},
		Metrics: []string{"attempts", "executions"}},
	{Name: "a rescue after an hour", Keys: []string{"engine.lease", "engine.reaper.every", "engine.reaper.after"}, Case: "lost", Fault: "engine.lease.ttl=61m",
		Parts: []common.Part{{Name: "from the death to the next attempt", Value: common.Mean(common.Lost), Least: 15, Unit: "s"}}},
	{Name: "a rescue costs an attempt", Keys: []string{"engine.reaper.counts", "retry.count"}, Case: "lost", Fault: "engine.reaper.counts=nothing",
		Parts: []common.Part{{Name: "attempts of a job of 3 that is lost once", Value: common.Mean(common.AttemptsOfLost)}}},

	{Name: "steady, 60 % busy", Keys: []string{"engine"}, Load: true, Case: "steady", Fault: "engine.fetch.cooldown=300ms", Parts: waits(.05, .01), Metrics: []string{"fresh.wait"}},
	{Name: "an outage of three minutes", Keys: []string{"engine", "retry"}, Load: true, Case: "outage", Fault: "engine.place=head", Metrics: []string{"fresh.wait"},
		Parts: append(waits(.05, .05),
			common.Part{Name: "executions during", Value: common.Executions(60, 240), Share: .03},
			common.Part{Name: "dead", Value: common.Dead, Share: .1})},
}

// waits returns a rule's parts for quantiles of waits for a first attempt; share and least, in seconds, are tolerances.
func waits(share, least float64) []common.Part {
	return []common.Part{
		{Name: "wait p50", Value: common.Quantile(.5, common.Waits()), Share: share, Least: least, Unit: "s"},
		{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Share: share, Least: least, Unit: "s"},
		{Name: "wait p99", Value: common.Quantile(.99, common.Waits()), Share: share, Least: least, Unit: "s"},
	}
}
