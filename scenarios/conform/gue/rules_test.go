package gue

import (
	"slices"
	"time"

	"qsim/conform/common"
)

const second, minute, hour, ms = time.Second, time.Minute, time.Hour, time.Millisecond

// cases are what package common runs with gue and in simulations. A node has one worker, as each polls for itself,
// unless the rule is about that. No service time shares a multiple with 5 s, between two polls.
var cases = []*common.Case{
	{Name: "poll", Nodes: 1, Workers: 1, Until: 8 * minute, Limit: 9 * minute,
		Classes: []common.Class{{Name: "mail", Rate: .4, Service: 61 * ms}}},
	{Name: "two", Nodes: 2, Workers: 1, Until: 8 * minute, Limit: 9 * minute,
		Classes: []common.Class{{Name: "mail", Rate: .5, Service: 61 * ms}, {Name: "slow", Rate: .05, Service: 7307 * ms}}},
	{Name: "pool", Nodes: 1, Workers: 4, Until: 8 * minute, Limit: 9 * minute,
		Classes: []common.Class{{Name: "mail", Rate: .5, Service: 61 * ms}, {Name: "slow", Rate: .1, Service: 7307 * ms}}},
	{Name: "line", Nodes: 1, Workers: 1, Until: 10 * second, Limit: minute,
		Classes: []common.Class{{Name: "mail", At: common.Burst(40, 5*second), Service: 37 * ms}}},
	{Name: "later", Nodes: 1, Workers: 1, Until: 8 * minute, Limit: 9 * minute,
		Classes: []common.Class{{Name: "mail", Rate: .4, Service: 61 * ms, Delay: 7 * second}}},
	{Name: "retry", Nodes: 1, Workers: 1, Until: minute, Limit: 5 * minute, To: 2 * minute,
		Classes: []common.Class{{Name: "pay", Rate: .8, Service: 53 * ms, Fails: true}}},
	{Name: "dead", Nodes: 1, Workers: 1, Until: 10 * second, Limit: 3 * minute, To: 3 * minute, Set: []string{"retry.max-attempts=3"},
		Classes: []common.Class{{Name: "thrice", At: common.Burst(8, 5*second), Service: 53 * ms, Fails: true}}},
	{Name: "order", Nodes: 1, Workers: 1, Until: 20 * second, Limit: 3 * minute, To: 10950 * ms,
		Classes: []common.Class{{Name: "pay", At: common.At(5 * second), Service: 61 * ms, Fails: true},
			{Name: "old", At: common.Burst(30, 5*second), Service: 1130 * ms}, {Name: "young", At: common.Burst(30, 15*second), Service: 1130 * ms}}},
	{Name: "urgent", Nodes: 1, Workers: 1, Until: 20 * second, Limit: minute, To: 14 * second,
		Classes: []common.Class{{Name: "low", At: common.Burst(40, 5*second), Service: 437 * ms, Keys: "priority: 4"},
			{Name: "urgent", At: common.Burst(3, 11*second), Service: 437 * ms, Fails: true, Keys: "priority: 1"}}},
	{Name: "mixed", Nodes: 1, Workers: 1, Until: minute, Limit: 5 * minute,
		Classes: []common.Class{{Name: "low", Rate: 3, Service: 437 * ms, Keys: "priority: 4"},
			{Name: "urgent", Rate: 3, Service: 437 * ms, Keys: "priority: 1"}}},
	{Name: "lost", Nodes: 1, Workers: 4, Until: minute, Limit: 10 * minute, To: 10 * minute, Crashes: common.At(20 * second), Back: 30 * second,
		Set:     []string{"retry.max-attempts=3"},
		Classes: []common.Class{{Name: "thrice", At: common.Burst(4, 10*second), Service: 41300 * ms, Fails: true}}},
	{Name: "long", Nodes: 1, Workers: 1, Until: 10 * second, Limit: 50 * minute,
		Classes: []common.Class{{Name: "mail", At: common.At(5 * second), Service: 43 * minute}}},

	{Name: "crash", Nodes: 8, Workers: 1, Until: 8 * minute, Limit: 10 * minute, Long: true, Back: 20 * second,
		Crashes: common.At(1*minute, 2*minute, 3*minute, 4*minute, 5*minute, 6*minute, 7*minute),
		Classes: []common.Class{{Name: "mail", Rate: .8, Service: 5311 * ms}}},
	{Name: "forever", Nodes: 1, Workers: 1, Until: minute, Limit: 12 * hour, To: 13 * hour, Long: true,
		Classes: []common.Class{{Name: "pay", At: common.Burst(12, 5*second), Service: 53 * ms, Fails: true}}},
	{Name: "steady", Nodes: 2, Workers: 1, Until: 15 * minute, Limit: 20 * minute, Long: true,
		Classes: []common.Class{{Name: "a", Rate: 1.5, Service: 61 * ms}, {Name: "b", Rate: 1.5, Service: 137 * ms},
			{Name: "c", Rate: 1.5, Service: 211 * ms}, {Name: "d", Rate: 1.5, Service: 391 * ms}}},
	{Name: "outage", Nodes: 4, Workers: 1, Until: 8 * minute, Limit: 20 * minute, From: minute, To: 4 * minute, Long: true,
		Classes: []common.Class{{Name: "mail", Rate: .9, Service: 313 * ms}, {Name: "mail2", Rate: .9, Service: 887 * ms},
			{Name: "pay", Rate: .9, Service: 353 * ms, Fails: true}, {Name: "pay2", Rate: .9, Service: 863 * ms, Fails: true}}},
}

var rules = []common.Rule{
	{Name: "a poll each 5 s", Keys: []string{"engine.fetch", "engine.phase"}, Case: "poll", Fault: "engine.fetch.poll=3s",
		Parts: []common.Part{{Name: "mean wait", Value: common.Mean(common.Waits()), Share: .08, Unit: "s"},
			{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Share: .08, Unit: "s"}},
		Metrics: []string{"fresh.wait"}},
	{Name: "two workers share the jobs", Keys: []string{"engine.fetch", "engine.phase"}, Case: "two", Fault: "engine.fetch.wake=all",
		Parts: []common.Part{{Name: "share of the busier", Value: common.Share, Least: .08}}},
	{Name: "each worker of a pool polls for itself", Keys: []string{"engine.fetch", "engine.phase"}, Case: "pool", Fault: "engine.fetch.poll=1s",
		Parts:   []common.Part{{Name: "mean wait of a node with four workers", Value: common.Mean(common.Waits()), Share: .08, Unit: "s"}},
		Metrics: []string{"fresh.wait"}, Cause: "each worker of a pool waits 5 s from its own last look (worker.go, runLoop)",
		Approximates: "each worker polls for itself"},
	{Name: "the next job follows at once", Keys: []string{"engine.fetch", "engine.commit"}, Case: "line", Fault: "engine.fetch.cooldown=50ms",
		Parts: []common.Part{{Name: "from the first start to the last in a line before one worker", Value: span, Share: .03, Unit: "s"}}},
	{Name: "a poll finds a delayed job that is due", Keys: []string{"jobs.*.delay", "engine.fetch", "engine.phase", "engine.promoter.every"}, Case: "later", Fault: "engine.fetch.on-due=wake",
		Parts: []common.Part{{Name: "least from an enqueue with a delay of 7 s to the start", Value: common.Quantile(0, common.Waits()), Least: .1, Unit: "s"},
			{Name: "mean from it to the start", Value: common.Mean(common.Waits()), Least: .2, Unit: "s"}},
		Metrics: []string{"fresh.wait"}},
	{Name: "1.6ⁿ s ± 20 %, of errors and panics", Keys: []string{"retry.backoff", "retry.jitter", "retry.max-attempts"}, Case: "retry", Fault: "retry.jitter=±5%",
		Parts: []common.Part{{Name: "delays after failure 1", Sample: common.Delays(1), Unit: "s"}, {Name: "delays after 2, a panic", Sample: common.Delays(2), Unit: "s"},
			{Name: "delays after 3", Sample: common.Delays(3), Unit: "s"}, {Name: "delays after 4, a panic", Sample: common.Delays(4), Unit: "s"},
			{Name: "delays after 5", Sample: common.Delays(5), Unit: "s"}},
		Metrics: []string{"retry.wait"}},
	{Name: "when a due retry is found", Keys: []string{"engine.promoter", "engine.fetch", "engine.phase", "retry.backoff", "retry.max-attempts"}, Case: "retry", Fault: "engine.promoter.every=15s",
		Parts:   []common.Part{{Name: "later than its delay says", Value: common.Mean(common.Late), Least: .2, Unit: "s"}},
		Metrics: []string{"retry.wait"}},
	{Name: "discarded where the backoff is negative", Keys: []string{"retry.max-attempts", "retry.count"}, Case: "dead", Fault: "retry.max-attempts=4",
		Parts: []common.Part{{Name: "dead", Value: common.Dead}, {Name: "attempts", Value: common.Mean(common.Attempts())}}},
	{Name: "a due retry stands by its due time", Keys: []string{"engine.place", "engine.fetch", "engine.commit"}, Case: "order", Fault: "engine.place=head",
		Parts: []common.Part{{Name: "share behind those enqueued before it was due", Value: common.Last("pay", "old"), Least: .01},
			{Name: "share behind those enqueued after", Value: common.Last("pay", "young"), Least: .01}}},
	{Name: "the more urgent first, retries too", Keys: []string{"jobs.*.priority", "engine.fetch", "engine.commit", "engine.promoter", "engine.place"}, Case: "urgent", Fault: "jobs.urgent.priority=5",
		Parts: []common.Part{{Name: "mean wait of urgent jobs in a line", Value: common.Mean(common.Waits("urgent")), Least: .3, Unit: "s"},
			{Name: "share of their retries behind all others", Value: common.Last("urgent", "low"), Least: .01}},
		Metrics: []string{"fresh.wait", "retry.wait"}},
	{Name: "no order within a priority", Keys: []string{"jobs.*.priority", "engine.place", "engine.fetch"}, Case: "mixed", Fault: "policies=[{kind: lifo}]",
		Parts:   []common.Part{{Name: "share that a later job of the same priority overtakes, in a queue of two priorities", Value: overtaken, Least: .05}},
		Metrics: []string{"fresh.wait"}, Cause: "the claim is ordered by priority alone (client.go, LockJob), and the database's sort has no order of equals",
		Approximates: "jobs of one priority"},
	{Name: "a lost attempt costs nothing", Keys: []string{"engine.reaper.counts", "engine.reaper.after", "engine.lease", "retry.count"}, Case: "lost", Fault: "engine.reaper.counts=failure",
		Parts: []common.Part{{Name: "attempts of a job of 3 that is lost once", Value: common.Mean(common.AttemptsOfLost)}}},
	{Name: "a worker looks for jobs as it starts", Keys: []string{"engine.phase", "engine.fetch", "engine.lease", "engine.reaper"}, Case: "lost", Fault: "engine.fetch.poll=20s",
		Parts:   []common.Part{{Name: "death of the only process, of 30 s, to the next attempt", Value: common.Mean(common.Lost), Least: 1, Unit: "s"}},
		Metrics: []string{"sojourn"}, Cause: "a worker waits after it has looked, not before (worker.go, runLoop)", Approximates: "a worker looks as it starts"},
	{Name: "nothing ends a handler", Keys: []string{"engine.timeout"}, Case: "long", Fault: "engine.timeout=30m",
		Parts: []common.Part{{Name: "run time of a job of 43 minutes", Value: common.Quantile(1, common.Runs()), Least: 1, Unit: "s"}}},
	{Name: "a lock lasts as long as its job", Keys: []string{"engine.lease", "engine.timeout"}, Case: "long", Fault: "engine.lease.heartbeat=0s",
		Parts: []common.Part{{Name: "attempts of a job of 43 minutes", Value: common.Mean(common.Attempts())}}},

	{Name: "what a process held is free when it dies", Keys: []string{"engine.lease", "engine.reaper", "engine.fetch"}, Case: "crash", Fault: "engine.lease.ttl=1m",
		Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 2, Unit: "s"}},
		Metrics: []string{"sojourn"}, Cause: "PostgreSQL sees the connection end, and rolls its transaction back at once (client.go, execLockJob)",
		Approximates: "a row lock ends at once with its connection"},
	{Name: "it never gives up", Keys: []string{"retry.max-attempts", "retry.backoff", "retry.jitter", "engine.promoter.every"}, Case: "forever", Fault: "retry.max-attempts=20",
		Parts:   []common.Part{{Name: "attempts in 12 hours", Value: common.Mean(common.Attempts()), Share: .02}},
		Metrics: []string{"attempts", "dead"}},
	{Name: "at most an hour ± 20 %", Keys: []string{"retry.backoff", "retry.jitter", "retry.max-attempts"}, Case: "forever", Fault: "retry.backoff.max=40m",
		Parts: []common.Part{{Name: "delays after 17", Sample: common.Delays(17), Unit: "s"}, {Name: "delays after 18", Sample: common.Delays(18), Unit: "s"},
			{Name: "delays after 20", Sample: common.Delays(20), Unit: "s"}},
		Metrics: []string{"retry.wait"}},
	{Name: "steady, 60 % busy", Load: true, Case: "steady", Fault: "engine.fetch.poll=3s", Parts: waits(.08, .05), Metrics: []string{"fresh.wait"}},
	{Name: "an outage of three minutes", Load: true, Case: "outage", Fault: "engine.place=head", Metrics: []string{"fresh.wait"},
		Parts: append(waits(.08, .05), common.Part{Name: "executions during", Value: common.Executions(60, 240), Share: .03})},
}

// span returns the seconds from the first start of a job to the last, in a case that enqueues all at once.
func span(r *common.Run) float64 {
	return common.Quantile(1, common.Waits())(r) - common.Quantile(0, common.Waits())(r)
}

// overtaken returns the share of jobs that begin after a later one of their job class.
func overtaken(r *common.Run) float64 {
	begun := map[string]float64{} // least start of the later jobs, by class
	behind := 0.0
	for _, l := range slices.Backward(r.Lives()) {
		least, later := begun[l.Class]
		if later && l.Began[0].At > least {
			behind++
		} else {
			begun[l.Class] = l.Began[0].At
		}
	}
	return behind / float64(len(r.Lives()))
}

// waits returns a rule's parts for quantiles of waits for a first attempt; share and least, in seconds, are tolerances.
func waits(share, least float64) []common.Part {
	return []common.Part{
		{Name: "wait p50", Value: common.Quantile(.5, common.Waits()), Share: share, Least: least, Unit: "s"},
		{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Share: share, Least: least, Unit: "s"},
		{Name: "wait p99", Value: common.Quantile(.99, common.Waits()), Share: share, Least: least, Unit: "s"},
	}
}
