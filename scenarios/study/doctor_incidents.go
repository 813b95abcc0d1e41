package study

import (
	"slices"
	"strings"

	"qsim/results/plain"
	"qsim/scenarios"
)

// incident describes how to apply a known failure, which a built-in scenario reproduces, to the scenario under test.
type incident struct {
	name   string
	metric string // metric of the objective that is judged
	cure   string // keys for a policy's `with:`, or a policy that begins with `kind:`; see patient.cure
	// adds lists the classes of the incident's scenario that belong to its trouble. Each other class stands for a
	// class of the patient.
	adds  []string
	whole bool // the counts of the trouble are not scaled by the number of workers
	store bool // the store's cost of claims is part of the trouble
	// the trouble also strikes without the storms, only less often: the limit is not compared with a calm run
	always bool
	least  float64 // least limit, where small values of the metric cannot be avoided
	needs  []need  // conditions on a scenario for the incident to apply
	role   map[string]role
}

// need is a condition on the scenario under test for an incident to apply, with the phrase for one that fails it.
type need struct {
	met     func(sc *scenarios.Scenario) bool
	missing string
}

var (
	extends    = engine("no heartbeats", func(e *scenarios.Engine) bool { return e.Lease.Heartbeat > 0 })
	promotes   = engine("no promoter", func(e *scenarios.Engine) bool { return e.Promoter.On() })
	moves      = engine("due jobs are moved in one step", func(e *scenarios.Engine) bool { return e.Promoter.Gap > 0 })
	rescues    = engine("leases are recovered in one step", func(e *scenarios.Engine) bool { return e.Reaper.Gap > 0 })
	capped     = engine("no cap on unacked jobs", func(e *scenarios.Engine) bool { return e.MaxInFlight > 0 })
	prefetches = engine("no prefetch", func(e *scenarios.Engine) bool { return e.Fetch.Prefetch > 0 })
	holds      = engine("waiting jobs stay in the store", func(e *scenarios.Engine) bool { return e.Waiting.Value() })
	retries    = need{func(sc *scenarios.Scenario) bool {
		for i := range sc.Jobs {
			if sc.RetryOf(i).MaxAttempts != 1 {
				return true
			}
		}
		return false
	}, "no retries"}
	several = need{func(sc *scenarios.Scenario) bool {
		return slices.ContainsFunc(sc.Jobs, func(j scenarios.JobClass) bool { return j.Priority != sc.Jobs[0].Priority })
	}, "all jobs have one priority"}
	inTable = engine("the jobs of this system are not rows of a table", func(e *scenarios.Engine) bool {
		preset := scenarios.PresetNamed(e.Preset)
		return preset == nil || strings.Contains(preset.Family, "SQL") || preset.Family == "reference design"
	})
)

func engine(missing string, met func(e *scenarios.Engine) bool) need {
	return need{func(sc *scenarios.Scenario) bool { return met(&sc.Engine) }, missing}
}

// role is a rule that chooses which job class of the scenario under test takes the place of a class of an incident's
// scenario: it is the one with the highest score above 0.
type role struct {
	score   func(p *patient, j *scenarios.JobClass) float64
	missing string // phrase for a patient without such a class
}

var (
	onlyTrouble = "no jobs but those of the trouble"

	busiest = role{func(p *patient, j *scenarios.JobClass) float64 { return 1e-9 + p.load(j) }, onlyTrouble}
	urgent  = role{func(_ *patient, j *scenarios.JobClass) float64 { return 1e6 - float64(j.Priority) }, onlyTrouble}
	lazy    = role{func(_ *patient, j *scenarios.JobClass) float64 { return 1e6 + float64(j.Priority) }, onlyTrouble}
	delayed = role{func(_ *patient, j *scenarios.JobClass) float64 {
		return j.Delay.Std().Seconds()
	}, "no scheduled jobs (delay)"}
	shared  = role{func(_ *patient, j *scenarios.JobClass) float64 { return float64(j.Tenants.Count - 1) }, "one tenant"}
	ordered = role{func(_ *patient, j *scenarios.JobClass) float64 {
		return plain.Either[float64](j.Serial != nil, 1, 0)
	}, "no jobs that run one at a time by key (serial)"}
)

// meanRun returns the mean run time of a class in seconds.
func meanRun(j *scenarios.JobClass) float64 { return j.Service.Dist().Mean() }

// cast returns the job class of the scenario under test with the highest score above 0 for a role, except those in but;
// nil if none has one.
func (r role) cast(p *patient, but []string) (found *scenarios.JobClass) {
	var most float64
	for i := range p.sc.Jobs {
		j := &p.sc.Jobs[i]
		if score := r.score(p, j); score > most && !slices.Contains(but, j.Class) {
			found, most = j, score
		}
	}
	return found
}

// kindOf returns, as text, in which way a dependency refuses calls; the doctor matches dependencies with equal texts.
func kindOf(d *scenarios.Dependency) string {
	switch {
	case d.Conflict != nil:
		return "with optimistic locking (conflict)"
	case d.Limit == nil:
		return ""
	case d.Limit.Rate != nil:
		return "with a limited rate"
	}
	return "with limited concurrency"
}

// limitOf returns a dependency's limit (calls per second or at once), for the ratio of two like limits; 1 if none.
func limitOf(d *scenarios.Dependency) float64 {
	switch {
	case d.Limit == nil:
		return 1
	case d.Limit.Rate != nil:
		return d.Limit.Rate.PerSecond()
	}
	return float64(*d.Limit.Concurrency)
}

// incidents lists, by name, the incidents (built-in scenarios of known failures) that the doctor can apply, and how.
var incidents = []incident{
	{name: "abandoned-batches", metric: "duplicates.count", cure: "engine.commit.give-up: requeue"},
	{name: "acks-lost-by-half", metric: "unfinished.count", cure: "engine.commit.tries: 0"},
	{name: "batch-in-one-minute", metric: "fresh.wait.p99", adds: []string{"digests"},
		cure: "jobs.digests.priority: 1000"},
	{name: "blocked-event-loop", metric: "duplicates.count", adds: []string{"computations"},
		cure:  "engine.lease.ttl: 2m",
		needs: []need{extends}},
	{name: "completed-work-is-dropped", metric: "duplicates.count", cure: "engine.commit.give-up: requeue"},
	{name: "dead-tuples-slow-claims", metric: "fresh.wait.p99", store: true, cure: "engine.fetch.batch: 100",
		needs: []need{inTable}},
	{name: "exponential-without-jitter", metric: "dead.count", cure: "retry.jitter: full", needs: []need{retries}},
	{name: "heartbeats-stall", metric: "duplicates.count", cure: "engine.lease.ttl: 90s", needs: []need{extends}},
	{name: "in-flight-cap-leaks", metric: "fresh.wait.p99", cure: "engine.reaper.finds: in-flight",
		needs: []need{capped}},
	{name: "jitter-undone-by-the-tick", metric: "dead.share", cure: "engine.promoter.every: 0s",
		needs: []need{promotes, retries}},
	{name: "late-heartbeat-pruned", metric: "leases.false", cure: "engine.lease.ttl: 15m", needs: []need{extends}},
	{name: "lease-records-evicted", metric: "unfinished.count", cure: "engine.reaper.finds: in-flight"},
	{name: "long-jobs-hold-every-worker", metric: "fresh.wait.p99", adds: []string{"reports"},
		cure: "jobs.reports.max-running: MOST"},
	{name: "low-list-never-served", metric: "fresh.wait.p99", cure: "kind: split, priority: 80%", needs: []need{several},
		role: map[string]role{"mails": urgent, "invoices": lazy, "reminders": lazy}},
	{name: "mass-due-herd", metric: "start.wait.p90", adds: []string{"newsletter"}, whole: true,
		cure:  "engine.promoter.owner: leader",
		needs: []need{promotes}},
	{name: "named-queue-locked-for-hours", metric: "fresh.wait.max", role: map[string]role{"steps": ordered},
		cure: "engine.lease.ttl: 30s, engine.lease.heartbeat: 10s, engine.reaper.every: 5s"},
	{name: "noisy-tenant-before-quiet", metric: "fresh.wait.p99", adds: []string{"noisy"},
		cure: "kind: tenant-round-robin",
		role: map[string]role{"quiet": shared}},
	{name: "one-index-for-all-queues", metric: "start.wait.p50", adds: []string{"exports", "reminders"}, whole: true,
		store: true, cure: "engine.store.scan.claim.ready: 0s, engine.store.scan.claim.waiting: 28ns",
		needs: []need{inTable}},
	{name: "one-long-job-blocks-queue", metric: "fresh.wait.max", adds: []string{"import"},
		cure: "engine.workers: MORE"},
	{name: "poison-burns-its-neighbours", metric: "dead.count", adds: []string{"poison"},
		cure:  "engine.fetch.prefetch: 0",
		needs: []need{prefetches}},
	{name: "poison-kills-processes", metric: "fresh.wait.p99", adds: []string{"poison"}, whole: true,
		cure: "engine.reaper.max: 3, engine.reaper.within: 72h"},
	{name: "poller-dies-with-the-jobs", metric: "unfinished.count", adds: []string{"reports"},
		cure:  "engine.promoter.gap: 0s",
		needs: []need{promotes, moves}},
	{name: "promoter-blocks-the-store", metric: "fresh.wait.max", adds: []string{"reports"}, whole: true,
		cure: "engine.promoter.batch: 100", needs: []need{promotes}},
	{name: "redeliveries-before-new", metric: "fresh.wait.p99", adds: []string{"invoices"},
		cure:  "kind: weighted, fresh: 80%",
		needs: []need{retries}},
	{name: "rescue-overwrites-new-attempt", metric: "duplicates.count", always: true, least: 2,
		cure: "engine.reaper.guard: token", needs: []need{rescues}},
	{name: "rescued-while-running", metric: "duplicates.count", cure: "engine.lease.heartbeat: TTL/3"},
	{name: "reservation-expires-under-load", metric: "duplicates.count", cure: "engine.lease.heartbeat: TTL/3"},
	{name: "retries-keep-the-overload", metric: "recovery.time", cure: "kind: token-bucket", needs: []need{retries}},
	{name: "retry-behind-the-backlog", metric: "retry.wait.p99", cure: "engine.place: created", needs: []need{retries}},
	{name: "retry-keeps-its-old-place", metric: "fresh.wait.p99", adds: []string{"broken"},
		cure:  "retry.backoff: {kind: fixed, delay: 5s}",
		needs: []need{retries}},
	{name: "saturated-is-not-failed", metric: "dead.share", cure: "retry.free: [throttled], retry.free-max: 20",
		needs: []need{retries}},
	{name: "scheduled-behind-retries", metric: "fresh.wait.p99", adds: []string{"sync"}, whole: true,
		cure:  "engine.promoter.batch: 100",
		needs: []need{promotes, retries}, role: map[string]role{"reminders": delayed}},
	{name: "scheduled-beyond-visibility", metric: "duplicates.count", adds: []string{"reminders"},
		cure:  "engine.waiting: store",
		needs: []need{holds}},
	{name: "strict-priority-starves", metric: "fresh.wait.p99", cure: "kind: split, priority: 80%",
		needs: []need{several},
		role:  map[string]role{"high": urgent, "low": lazy}},
	{name: "stuck-rows-slow-every-claim", metric: "fresh.wait.p99", adds: []string{"imports"}, whole: true,
		store: true, cure: "engine.fetch.batch: 20", needs: []need{inTable}},
	{name: "stuck-running-after-deploys", metric: "sojourn.max",
		cure: "engine.lease.ttl: 30s, engine.lease.heartbeat: 10s, engine.reaper.every: 5s"},
	{name: "unreachable-store-hot-loop", metric: "store.calls.claim", cure: "engine.fetch.error-pause: 100ms"},
}

// Incidents returns the names of the incidents (scenarios of known failures) that the doctor can apply, in order.
func Incidents() []string { return plain.Map(incidents, func(i incident) string { return i.name }) }
