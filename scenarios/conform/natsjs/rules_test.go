package natsjs

import (
	"testing"
	"time"

	"qsim/conform/common"
)

const second, minute, ms = time.Second, time.Minute, time.Millisecond

const table = "retry.backoff={kind: table, delays: [5s, 10s, 20s, 40s]}"

var system = common.System{
	Preset: "nats-js",
	Module: "github.com/nats-io/nats-server/v2",
	Clock:  common.Virtual,
	Run:    run,
	Cases: []*common.Case{
		{Name: "idle", Nodes: 1, Workers: 4, Until: minute, Limit: 2 * minute,
			Classes: []common.Class{{Name: "mail", Rate: 2, Service: 53 * ms}}},
		{Name: "order", Nodes: 1, Workers: 1, Until: minute, Limit: 5 * minute, From: 0, To: 7 * second,
			Classes: []common.Class{{Name: "first", At: common.At(5 * second), Service: 3100 * ms, Fails: true},
				{Name: "fresh", At: common.Burst(40, 6*second), Service: 1130 * ms}}},
		{Name: "delay", Nodes: 1, Workers: 40, Until: minute, Limit: 5 * minute, From: 0, To: 50 * second, Set: []string{"retry.backoff={kind: fixed, delay: 10s}"},
			Classes: []common.Class{{Name: "pay", Rate: 3, Service: 613 * ms, Fails: true}}},
		{Name: "crash", Nodes: 2, Workers: 8, Until: 7 * minute, Limit: 15 * minute, Crashes: common.At(65*second, 262*second), Back: 30 * second,
			Classes: []common.Class{{Name: "mail", Rate: 1.3, Service: 5300 * ms}}},
		{Name: "lost", Nodes: 1, Workers: 8, Until: minute, Limit: 5 * minute, Full: true, Crashes: common.At(20 * second), Back: 30 * second, From: 0, To: 5 * minute,
			Set:     []string{"retry.max-attempts=2"},
			Classes: []common.Class{{Name: "pay", At: common.Burst(4, 15*second), Service: 20300 * ms, Fails: true}}},
		{Name: "slow", Nodes: 1, Workers: 16, Until: minute, Limit: 5 * minute, Full: true,
			Classes: []common.Class{{Name: "mail", At: common.Burst(4, 5*second), Service: 45300 * ms}}},
		{Name: "limit", Nodes: 1, Workers: 8, Until: minute, Limit: 3 * minute, Full: true, From: 0, To: 3 * minute,
			Set:     []string{"retry.max-attempts=5", "retry.backoff={kind: fixed, delay: 3s}"},
			Classes: []common.Class{{Name: "pay", At: common.Burst(4, 5*second), Service: 613 * ms, Fails: true}}},
		{Name: "ever", Nodes: 1, Workers: 4, Until: minute, Limit: 3 * minute, From: 0, To: 65 * second,
			Classes: []common.Class{{Name: "pay", At: common.Burst(4, 5*second), Service: 613 * ms, Fails: true}}},
		{Name: "pending", Nodes: 1, Workers: 10, Until: 2 * minute, Limit: 10 * minute, From: 0, To: 2 * minute,
			Set:     []string{"engine.max-in-flight=10", "retry.backoff={kind: fixed, delay: 60s}"},
			Classes: []common.Class{{Name: "mail", Rate: 1, Service: 613 * ms}, {Name: "pay", Rate: 1, Service: 613 * ms, Fails: true}}},
		{Name: "backoff", Nodes: 1, Workers: 40, Until: minute, Limit: 5 * minute, From: 0, To: minute, Set: []string{table, "engine.lease.ttl=5s", "retry.from=claim"},
			Classes: []common.Class{{Name: "pay", Rate: 1, Service: 613 * ms, Fails: true}}},
		{Name: "backoff-slow", Nodes: 1, Workers: 40, Until: minute, Limit: 5 * minute, Set: []string{table, "engine.lease.ttl=5s"},
			Classes: []common.Class{{Name: "mail", At: common.Burst(4, 5*second), Service: 6300 * ms}}},
		{Name: "backoff-nak", Nodes: 1, Workers: 40, Until: minute, Limit: 5 * minute, From: 0, To: 20 * second, Set: []string{"engine.lease.ttl=5s", "retry.max-attempts=20"},
			Classes: []common.Class{{Name: "pay", At: common.Burst(4, 15*second), Service: 613 * ms, Fails: true}}},

		{Name: "steady", Nodes: 1, Workers: 10, Until: minute, Limit: 5 * minute, Long: true,
			Classes: []common.Class{{Name: "mail", Rate: 30, Service: 199 * ms}}},
		{Name: "several", Nodes: 4, Workers: 5, Until: minute, Limit: 5 * minute, Long: true,
			Classes: []common.Class{{Name: "mail", Rate: 60, Service: 199 * ms}}},
		{Name: "outage", Nodes: 1, Workers: 10, Until: 9 * minute, Limit: 40 * minute, From: minute, To: 6 * minute, Long: true,
			Set:     []string{"retry.backoff={kind: fixed, delay: 10s}"},
			Classes: []common.Class{{Name: "mail", Rate: 5, Service: 613 * ms}, {Name: "pay", Rate: 5, Service: 613 * ms, Fails: true}}},
	},
	Rules: []common.Rule{
		{Name: "a waiting pull is served at once", Keys: []string{"engine.fetch.wake"}, Case: "idle", Fault: "engine.fetch.wake=false",
			Parts:   []common.Part{{Name: "wait p99 at rest", Value: common.Quantile(.99, common.Waits()), Least: .01, Unit: "s"}},
			Metrics: []string{"fresh.wait"}},
		{Name: "a nak stands before new jobs", Keys: []string{"engine.place"}, Case: "order", Fault: "engine.place=tail",
			Parts:   []common.Part{{Name: "share of retries behind all fresh jobs", Value: common.Last("first", "fresh")}},
			Metrics: []string{"fresh.wait"}},
		{Name: "a nak comes again at once", Keys: []string{"retry.backoff", "engine.place", "engine.commit"}, Case: "order", Fault: "engine.commit={batch: 100, linger: 50ms}",
			Parts:   []common.Part{{Name: "failure to the next attempt", Value: common.Mean(common.Pauses(1)), Least: .05, Unit: "s"}},
			Metrics: []string{"retry"}},
		{Name: "NakWithDelay", Keys: []string{"retry.backoff", "retry.max-attempts"}, Case: "delay", Fault: "retry.backoff={kind: fixed, delay: 5s}",
			Parts: []common.Part{{Name: "failure to the next attempt", Value: common.Mean(common.Pauses(0)), Share: .01, Unit: "s"},
				{Name: "attempts", Value: common.Mean(common.Attempts()), Share: .01}},
			Metrics: []string{"retry"}},
		{Name: "AckWait finds a lost delivery", Keys: []string{"engine.lease.ttl", "engine.reaper"}, Case: "crash", Fault: "engine.lease.ttl=40s",
			Parts:   []common.Part{{Name: "death of a process to the next attempt", Value: common.Mean(common.Lost), Least: 1, Unit: "s"}},
			Metrics: []string{"sojourn"}},
		{Name: "a lost delivery counts", Keys: []string{"retry.count", "engine.reaper"}, Case: "lost", Fault: "engine.reaper.after=dead",
			Parts:   []common.Part{{Name: "attempts with MaxDeliver 2, one of them lost", Value: common.Mean(common.Attempts())}},
			Metrics: []string{"dead", "attempts"}},
		{Name: "nothing extends AckWait", Keys: []string{"engine.lease", "engine.fence", "engine.timeout", "engine.reaper"}, Case: "slow", Fault: "engine.lease.heartbeat=10s",
			Parts:   []common.Part{{Name: "attempts of a job of 45 s", Value: common.Mean(common.Attempts())}},
			Metrics: []string{"duplicates", "attempts"}},
		{Name: "the first ack ends the message", Keys: []string{"engine.fence", "engine.lease", "engine.reaper"}, Case: "slow", Fault: "engine.fence=token",
			Parts:   []common.Part{{Name: "attempts of a job of 45 s", Value: common.Mean(common.Attempts())}},
			Metrics: []string{"duplicates", "stale.commits"}},
		{Name: "MaxDeliver counts deliveries", Keys: []string{"retry.max-attempts", "retry.count", "retry.backoff"}, Case: "limit", Fault: "retry.max-attempts=4",
			Parts:   []common.Part{{Name: "attempts with MaxDeliver 5", Value: common.Mean(common.Attempts())}},
			Metrics: []string{"dead", "attempts"}},
		{Name: "without MaxDeliver it is delivered for ever", Keys: []string{"retry.max-attempts", "retry.backoff", "retry.never", "engine.fetch"}, Case: "ever", Fault: "retry.max-attempts=20", Patient: true,
			Parts:   []common.Part{{Name: "attempts of a job that fails for a minute", Value: common.Mean(common.Attempts()), Share: .02}},
			Metrics: []string{"dead", "attempts"}},
		{Name: "MaxAckPending counts what waits for its delay", Keys: []string{"engine.max-in-flight", "engine.in-flight", "engine.waiting", "engine.lease", "retry.backoff"}, Case: "pending",
			Fault: "engine.max-in-flight=1000",
			Parts: []common.Part{
				{Name: "fresh wait p50 under MaxAckPending", Value: common.Quantile(.5, common.Waits("mail")), Share: .05, Unit: "s"},
				{Name: "executions in two minutes", Value: common.Executions(0, 120), Share: .02}},
			Metrics: []string{"fresh.wait", "throughput", "goodput"}, Cause: "a message that waits for its delay is pending (consumer.go, getNextMsg)"},
		{Name: "a BackOff list runs from the delivery", Keys: []string{"retry.backoff", "retry.from"}, Case: "backoff", Fault: "retry.backoff={kind: fixed, delay: 30s}",
			Parts: []common.Part{
				{Name: "failure 1 to the next attempt", Value: common.Mean(common.Pauses(1)), Least: .05, Unit: "s"},
				{Name: "failure 2 to the next attempt", Value: common.Mean(common.Pauses(2)), Least: .05, Unit: "s"}},
			Metrics: []string{"retry"}, Cause: "the list is counted from the delivery (consumer.go, checkPending)"},
		{Name: "AckWait is the first of a BackOff list", Keys: []string{"engine.lease", "engine.fence", "engine.reaper", "retry.backoff"}, Case: "backoff-slow", Fault: "engine.lease.ttl=30s",
			Parts:   []common.Part{{Name: "attempts of a job of 6.3 s under BackOff from 5 s", Value: common.Mean(common.Attempts())}},
			Metrics: []string{"duplicates"}},
		{Name: "a nak heeds no BackOff list", Keys: []string{"retry.backoff", "engine.place", "engine.fetch"}, Case: "backoff-nak", Fault: table,
			Parts:   []common.Part{{Name: "failure to the next attempt under BackOff", Value: common.Mean(common.Pauses(0)), Least: .06, Unit: "s"}},
			Metrics: []string{"retry"}},
		{Name: "waits at a load of 60 %", Load: true, Case: "steady", Fault: "engine.fetch.wake=false",
			Parts: []common.Part{
				{Name: "wait p50", Value: common.Quantile(.5, common.Waits()), Least: .005, Unit: "s"},
				{Name: "wait p90", Value: common.Quantile(.9, common.Waits()), Share: .05, Least: .005, Unit: "s"},
				{Name: "wait p99", Value: common.Quantile(.99, common.Waits()), Share: .05, Least: .005, Unit: "s"}},
			Metrics: []string{"fresh.wait"}},
		{Name: "waits on four nodes", Load: true, Case: "several", Fault: "engine.fetch.wake=false",
			Parts: []common.Part{
				{Name: "wait p90 on four nodes", Value: common.Quantile(.9, common.Waits()), Share: .05, Least: .005, Unit: "s"},
				{Name: "wait p99 on four nodes", Value: common.Quantile(.99, common.Waits()), Share: .05, Least: .005, Unit: "s"}},
			Metrics: []string{"fresh.wait"}},
		{Name: "an outage of five minutes", Load: true, Case: "outage", Fault: "engine.place=tail",
			Parts: []common.Part{
				{Name: "fresh wait p50 in the outage", Value: common.Quantile(.5, common.WaitsOf(60, 360)), Share: .05, Unit: "s"},
				{Name: "fresh wait p90 in the outage", Value: common.Quantile(.9, common.WaitsOf(60, 360)), Share: .05, Unit: "s"},
				{Name: "fresh wait p99 in the outage", Value: common.Quantile(.99, common.WaitsOf(60, 360)), Share: .05, Unit: "s"},
				{Name: "executions in the outage", Value: common.Executions(60, 360), Share: .02}},
			Metrics: []string{"fresh.wait", "sojourn"}},
	},
}

func TestNATS(t *testing.T) { system.Hold(t) }
