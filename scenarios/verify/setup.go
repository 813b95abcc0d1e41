package verify

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// setup holds the texts from which a scenario is written, in YAML's flow style; an empty one means the default. Times
// are in seconds.
type setup struct {
	warmup, window, drain float64 // arrivals go on for warmup + window
	nodes, workers        int     // numbers of nodes, 0: one, and of workers per node
	fetch                 string
	lease, reaper         string
	fence, place          string
	retry                 string // retry settings of all classes
	classes               []string
	dependencies          []string
	storms                []string
	policy                string
}

// manyWorkers is a number of workers that is as good as unlimited where jobs are few.
const manyWorkers = 20_000

// yaml returns the text of the scenario. Calls to the store take no time, so that a free worker has the next job at
// once; leases, heartbeats and commits are all at work.
func (s *setup) yaml() string {
	var b strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&b, format+"\n", arguments...) }
	line("name: verify\nduration: %s", seconds(s.warmup+s.window))
	line("warmup: %s\ndrain: %s", seconds(s.warmup), seconds(s.drain))
	line("engine:\n  nodes: %d\n  workers: %d\n  timeout: 0s", max(s.nodes, 1), s.workers)
	line("  fetch: %s", cmp.Or(s.fetch, fmt.Sprintf("{batch: %d, poll: 1h, wake: true}", min(s.workers, 100_000))))
	line("  commit: {batch: 1000, linger: 0s, calls: 100, backpressure: 0}")
	line("  lease: %s", cmp.Or(s.lease, "{ttl: 30s, heartbeat: 10s}"))
	line("  fence: %s\n  place: %s", cmp.Or(s.fence, "token"), cmp.Or(s.place, "due"))
	line("  reaper: %s", cmp.Or(s.reaper, "{every: 30s}"))
	line("  store: {claim: 0s, commit: 0s, extend: 0s, recover: 0s, promote: 0s, stats: 0s, enqueue: 0s, per-job: 0s}")
	line("retry: %s", cmp.Or(s.retry, noDelay(0)))
	list(&b, "dependencies", s.dependencies)
	list(&b, "jobs", s.classes)
	list(&b, "storms", s.storms)
	list(&b, "policies", []string{cmp.Or(s.policy, "{kind: fifo}")})
	return b.String()
}

func list(b *strings.Builder, key string, elements []string) {
	if len(elements) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, e := range elements {
		fmt.Fprintf(b, "  - %s\n", e)
	}
}

// seconds returns a duration as scenario text, exact to the nanosecond.
func seconds(v float64) string { return trimmed(strconv.FormatFloat(v, 'f', 9, 64)) + "s" }

// perSecond returns a rate as scenario text.
func perSecond(v float64) string { return trimmed(strconv.FormatFloat(v, 'f', 9, 64)) + "/s" }

// percent returns a share as scenario text.
func percent(v float64) string { return trimmed(strconv.FormatFloat(v*100, 'f', 7, 64)) + "%" }

func trimmed(decimal string) string {
	return strings.TrimSuffix(strings.TrimRight(decimal, "0"), ".")
}

func poisson(rate float64) string {
	return fmt.Sprintf("{process: poisson, rate: %s}", perSecond(rate))
}

func equalGaps(rate float64) string {
	return fmt.Sprintf("{process: constant, rate: %s}", perSecond(rate))
}

// atOnce returns the scenario text for n jobs enqueued together at the time at.
func atOnce(n int, at float64) string {
	return fmt.Sprintf("{process: batch, size: %d, every: 80000h, start: %s}", n, seconds(at))
}

func exponential(mean float64) string {
	return fmt.Sprintf("{dist: exponential, mean: %s}", seconds(mean))
}

// class returns the scenario text of a job class; more are further keys.
func class(name, arrivals, service string, more ...string) string {
	keys := append([]string{"class: " + name, "arrivals: " + arrivals, "service: " + service}, more...)
	return "{" + strings.Join(keys, ", ") + "}"
}

// fails returns the scenario key of a class for the share of its attempts that fail.
func fails(p float64) string { return fmt.Sprintf("fails: {rate: %s}", percent(p)) }

// noDelay returns the scenario text for retries without backoff, with so many attempts in all; 0: unlimited.
func noDelay(attempts int) string { return retry(attempts, "{kind: none}") }

// retry returns the scenario text for retries with a backoff and so many attempts in all; 0: unlimited.
func retry(attempts int, backoff string) string {
	most := "unlimited"
	if attempts > 0 {
		most = strconv.Itoa(attempts)
	}
	return fmt.Sprintf("{max-attempts: %s, backoff: %s, jitter: none, never: []}", most, backoff)
}

// randomDelay returns the scenario text of a backoff with exponential delays.
func randomDelay(mean float64) string {
	return fmt.Sprintf("{kind: random, delay: %s}", exponential(mean))
}

// storm returns the scenario text of a storm from at on for length seconds; what holds the keys of its fault.
func storm(name string, at, length float64, what string) string {
	return fmt.Sprintf("{name: %s, at: %s, for: %s, %s}", name, seconds(at), seconds(length), what)
}

// budgetOf returns the scenario text of a policy that limits retries to a share of the first tries.
func budgetOf(share float64) string {
	return fmt.Sprintf("{kind: retry-budget, ratio: %s, min-rate: 0/s, window: 10s}", percent(share))
}
