package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// manyClasses returns the jobs of a scenario with n classes, the last of which calls a dependency and has a tenant.
func manyClasses(n int) string {
	var b strings.Builder
	b.WriteString("jobs:\n")
	for i := range n {
		calls := plain.When(i == n-1, ", calls: api, tenants: {names: [t]}")
		fmt.Fprintf(&b, "  - {class: c%d, arrivals: {process: poisson, rate: 1/s}, service: 1ms%s}\n", i, calls)
	}
	return b.String()
}

// TestMistakes checks the diagnostics of typing errors and of habits from other systems: exactly those listed, each as
// line:col: message = help.
func TestMistakes(t *testing.T) {
	job := "jobs:\n  - {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1ms}\n"
	in := func(job string) string {
		return "jobs:\n  - {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1ms, " + job + "}\n"
	}
	storm := func(storm string) string { return job + "storms:\n  - {name: down, " + storm + "}\n" }
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		// A key of another place throws no defaults away.
		{"kind in engine", "engine: {kind: river, workers: 10}\n" + job, []string{`1:10: unknown key "kind" = write preset: system whose settings`}},
		{"kind in retry", "retry: {kind: exponential, max-attempts: 3}\n" + job, []string{`1:9: unknown key "kind" = write backoff.kind: formula of the delay`}},
		{"kind in a class", in("kind: mail"), []string{`2:74: unknown key "kind" = write class: `}},
		{"dist in a class", in("dist: exponential"), []string{`2:74: unknown key "dist" = write service.dist: `}},
		{"kind in a lease", "engine: {lease: {kind: x}}\n" + job, []string{`1:18: unknown key "kind" = known keys here: `}},
		{"a system's kind in retry", "retry: {kind: sidekiq}\n" + job, []string{`1:9: unknown key "kind" = write preset: sidekiq`}},
		{"a Kubernetes file", "apiVersion: v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: 3}\n", []string{
			`1:1: unknown key "apiVersion" = this looks like a Kubernetes manifest`, `1:1: there are no jobs = `, `2:1: unknown key "kind"`, `3:1: unknown key "metadata"`, `4:1: unknown key "spec"`}},
		{"a Compose file", "services:\n  web: {image: x}\n", []string{
			`1:1: unknown key "services" = write dependencies: `, `1:1: there are no jobs = `}},

		// Words of other systems.
		{"Sidekiq's", "engine: {concurrency: 10}\n" + job, []string{`1:10: unknown key "concurrency" = write workers: jobs that a node runs at once`}},
		{"SQS's", "engine: {visibility-timeout: 30s}\nretry: {maxReceiveCount: 3}\n" + job, []string{
			`1:10: unknown key "visibility-timeout" = write lease.ttl: time until an unextended lease expires`, `2:9: unknown key "maxReceiveCount" = write max-attempts: executions in all`}},
		{"k6's", "thresholds: []\n" + job, []string{`1:1: unknown key "thresholds" = write objectives: bounds on metrics`}},
		{"Celery's", "engine: {acks_late: true, worker_prefetch_multiplier: 4}\n" + job, []string{
			`1:10: unknown key "acks_late" = write ack: `, `1:27: unknown key "worker_prefetch_multiplier" = write fetch.prefetch: `}},
		{"a queue of queues", "queues: [mail]\n" + job, []string{`1:1: unknown key "queues" = write jobs: `}},
		{"queues alone", "queues: [mail]\n", []string{`1:1: unknown key "queues" = write jobs: `}},
		{"exp", "retry: {backoff: {kind: exp, initial: 1s, multiplier: 2, cap: 1m}}\n" + job, []string{
			`1:25: unknown backoff "exp" = did you mean "exponential"?`, `1:30: unknown key "initial" = write first: `,
			`1:43: unknown key "multiplier" = write factor: `, `1:58: unknown key "cap" = write max: `}},
		{"keys of the kind alone", "retry: {backoff: {kind: fixed, zzz: 1}}\n" + job, []string{`1:32: unknown key "zzz" = fixed takes delay`}},
		{"a class's duration", in("duration: 5ms"), []string{`2:74: unknown key "duration" = write service: `}},
		{"a storm's start", storm("start: 10m, duration: 1m, fail: {rate: 5%}"), []string{
			`4:18: unknown key "start" = write at: start of the storm`, `4:30: unknown key "duration" = write for: length of the window`}},
		{"a storm's rate", storm("at: 10m, rate: 5%, fail: {rate: 5%}"), []string{`4:27: unknown key "rate" = write it inside the kind of storm: fail: {rate: ...}`}},
		{"a storm's type", storm("at: 10m, type: fail"), []string{
			`4:27: unknown key "type" = the kind of a storm is a key of its own: fail: {rate: 97%}, see qsim list storms`}},
		{"lt", job + "objectives:\n  - {metric: fresh.wait.p99, lt: 10s}\n", []string{`4:30: unknown key "lt" = write below: the metric must be at most this`}},
		{"a long key", strings.Repeat("k", 1000) + ": 5\n" + job, []string{`1:1: unknown key "` + strings.Repeat("k", 40) + `…" = known keys here: `}},
		{"retry: 5", "retry: 5\n" + job, []string{`1:8: want a map of keys, not 5 = write retry: {max-retries: 5}`}},

		// Held leases are extended, one by one or all of a node at once.
		{"idle nodes", "engine: {nodes: 20k, workers: 1, fetch: {poll: 1h}, lease: {heartbeat: 100ms}}\n" + job, nil},
		{"beats of idle nodes", "engine: {nodes: 20k, workers: 1, fetch: {poll: 1h}, lease: {heartbeat: 100ms, of: node}}\n" + job,
			[]string{`1:72: one run may make 3.6e+08 heartbeats, which may take minutes`}},
		{"beats of a busy node", "engine: {workers: 2000, fetch: {poll: 1h}, lease: {heartbeat: 10ms}}\nduration: 10m\njobs: [{class: mail, arrivals: 200/s, service: 9s}]\n",
			[]string{`1:63: one run may make 1.1e+08 heartbeats, which may take minutes`}},

		// Values.
		{"a space", "duration: 100 ms\n" + job, []string{`1:11: bad duration "100 ms": a space in it = no space: write 100ms`}},
		{"a day", "duration: 1d\n" + job, []string{`1:11: bad duration "1d": unknown unit "d" = write 24h`}},
		{"minutes", "duration: 5 minutes\n" + job, []string{`1:11: bad duration "5 minutes": unknown unit "minutes" = write 5m`}},
		{"a clock", "duration: 00:02:00\n" + job, []string{`1:11: bad duration "00:02:00" = write 2m`}},
		{"ISO 8601", "duration: PT1H2M\n" + job, []string{`1:11: bad duration "PT1H2M" = write 1h2m`}},
		{"per millisecond", "jobs: [{class: mail, service: 1ms, arrivals: {process: poisson, rate: 2/ms}}]\n", []string{
			`1:71: bad rate "2/ms": unknown unit "ms" (want s, m or h) = write 2000/s`}},
		{"per second in words", "jobs: [{class: mail, service: 1ms, arrivals: {process: poisson, rate: 20/sec}}]\n", []string{
			`1:71: bad rate "20/sec": unknown unit "sec" (want s, m or h) = write 20/s`}},
		{"a comma in a rate", "jobs: [{class: mail, service: 1us, arrivals: {process: poisson, rate: 1,000/s}}]\n", []string{
			`1:73: a comma ends a value here = write 1000/s`}},
		{"a comma in a count", "seeds: 1,000\n" + job, []string{`1:8: want a whole number, not "1,000" = write 1000`}},
		{"a comma in a rate in a block", "jobs:\n  - class: mail\n    service: 1us\n    arrivals:\n      process: poisson\n      rate: 1,000/s\n", []string{
			`6:13: bad rate "1,000/s" = write 1000/s`}},

		{"a zero in front", "seeds: 010\nengine: {workers: 08}\n" + job, []string{
			`1:8: 010 begins with a zero, which some programs read as octal = write 10`, `2:19: 08 begins with a zero, which some programs read as octal = write 8`}},
		{"a zero in front of a seed", "seed: 010\n" + job, []string{`1:7: 010 begins with a zero, which some programs read as octal = write 10`}},
		{"a zero in front of a factor", "retry: {backoff: {kind: exponential, first: 1s, factor: 02}}\n" + job, []string{
			`1:57: 02 begins with a zero, which some programs read as octal = write 2`}},
		{"a hexadecimal", "seed: 0x10\n" + job, []string{`1:7: want a whole number in digits, not "0x10"`}},
		{"an octal", "version: 0o1\n" + job, []string{`1:10: want a whole number in digits, not "0o1"`}},
		{"an underscore", "seed: 1_000\n" + job, []string{`1:7: want a whole number in digits, not "1_000" = write 1000`}},
		{"a priority", in("priority: -010"), []string{`2:84: -010 begins with a zero, which some programs read as octal = write -10`}},
		{"no for false", "engine: {fetch: {wake: no}}\n" + job, []string{`1:24: want true, one, all or false, not "no" = write false`}},
		{"On for true", "engine: {fetch: {wake: On}}\n" + job, []string{`1:24: want true, one, all or false, not "On" = write true`}},

		// Lists and maps.
		{"jobs by name", "jobs: {mail: {service: 1ms}}\n", []string{`1:7: want a list, not a map = write each as an item: - class: mail`}},
		{"jobs by name that others name", "jobs: {mail: {service: 1ms}}\nobjectives: [{metric: goodput, class: mail, above: 1/s}]\n" +
			"storms: [{name: down, at: 10m, for: 5m, fail: {hits: [mail], rate: 5%}}]\n", []string{
			`1:7: want a list, not a map = write each as an item: - class: mail`}},
		{"one job", "jobs:\n  class: mail\n  service: 1ms\n", []string{`2:3: want a list, not a map = put a hyphen before its first key: - class: mail`}},
		{"objectives by metric", job + "objectives: {fresh.wait.p99: 10s}\n", []string{`3:13: want a list, not a map = write each as an item: - metric: fresh.wait.p99`}},
		{"an objective that is none", job + "objectives: [fresh.wait.p99 < 10s]\n", []string{
			`3:14: bad objective "fresh.wait.p99 < 10s" = want METRIC below BOUND or METRIC above BOUND, such as fresh.wait.p99 during STORM below 10s`}},

		// Text.
		{"a template", "engine:\n  workers: ${WORKERS}\n" + job, []string{`2:12: there are no templates in scenarios = write a value, and give another by --set engine.workers=VALUE`}},
		{"a template in a map", "engine: {workers: ${WORKERS}}\n" + job, []string{`1:19: there are no templates in scenarios = write a value, and give another by --set engine.workers=VALUE`}},
		{"two templates", "duration: ${DURATION}\nengine: {workers: ${WORKERS}, nodes: ${NODES}}\n" + job, []string{
			`1:11: there are no templates in scenarios = write a value, and give another by --set duration=VALUE`,
			`2:19: there are no templates in scenarios = write a value, and give another by --set engine.workers=VALUE`,
			`2:38: there are no templates in scenarios = write a value, and give another by --set engine.nodes=VALUE`}},
		{"braces", "engine:\n  workers: {{ workers }}\n" + job, []string{`2:12: there are no templates in scenarios = write a value, and give another by --set engine.workers=VALUE`}},
		{"a no-break space", "engine:\n\u00a0\u00a0workers: 5\n" + job, []string{`2:1: a no-break space (U+00A0) = replace it by a plain space`}},
		{"a no-break space behind a colon", "engine:\n  workers:\u00a05\n" + job, []string{`2:11: a no-break space (U+00A0) = replace it by a plain space`}},
		{"two no-break spaces", "engine:\n\u00a0\u00a0workers: 5\n\u00a0\u00a0nodes:\u00a02\nseeds:\u00a03\n" + job, []string{
			`2:1: a no-break space (U+00A0) = replace it by a plain space`, `3:1: a no-break space (U+00A0) = `, `4:7: a no-break space (U+00A0) = `}},
		{"a dash", "policies:\n  – kind: fifo\n" + job, []string{`2:3: a dash (U+2013) begins no item of a list = write a hyphen: -`}},
		{"unclosed", "engine: {workers: 5\n" + job, []string{`1:9: the { is never closed = close it with }, or put a comma between its keys`}},
		{"unclosed list", "seeds: 3\npolicies: [{kind: fifo}\n" + job, []string{`2:11: the [ is never closed = close it with ], or put a comma between its items`}},
		{"a quote", "description: \"all\nseeds: 3\n" + job, []string{`1:14: the quote is never closed = end the text with the same quote`}},
		{"bad indent", "engine:\n    workers: 5\n  nodes: 2\n" + job, []string{`3:3: the indentation fits nothing above it = put the keys of one map, or the hyphens of one list, in one column`}},
		{"bad indent in a list", "policies:\n  - kind: fifo\n   - kind: lifo\n" + job, []string{`3:4: the indentation fits nothing above it = `}},

		// Sums, and positions.
		{"overload", "engine: {workers: 1}\njobs:\n  - {class: mail, arrivals: {process: poisson, rate: 20/s}, service: 1s}\n", []string{
			`3:54: offered load is 20 × the capacity: the backlog will never drain`}},
		{"overload until arrivals stop", "duration: 10m\nengine: {workers: 1}\njobs:\n  - {class: mail, arrivals: {process: poisson, rate: 20/s, stop: 2m}, service: 1s, max-running: 3}\n", []string{
			`4:54: offered load is 20 × the capacity: the backlog grows until 2m`, `4:97: the class needs 20 jobs running at once: the backlog grows until 2m`}},
		{"overload that outlasts some of its arrivals", "duration: 10m\nengine: {workers: 1}\njobs:\n" +
			"  - {class: mail, arrivals: {process: poisson, rate: 3/s, stop: 5m}, service: 1s}\n" +
			"  - {class: sums, arrivals: {process: poisson, rate: 1/s, stop: 1m}, service: 500ms}\n" +
			"  - {class: rest, arrivals: {process: poisson, rate: 1/s, stop: 8m}, service: 500ms}\n", []string{
			`4:54: offered load is 4 × the capacity: the backlog grows until 5m`}},
		{"overload by retries", "engine: {workers: 1}\nretry: {max-attempts: 4, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 5/s, service: 100ms, fails: {rate: 100%}}\n", []string{
			`4:29: offered load is 2 × the capacity: the backlog will never drain`}},
		{"half of the retries fit", "engine: {workers: 2}\nretry: {max-attempts: 4, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 5/s, service: 100ms, fails: {rate: 100%}}\n", nil},
		{"failures of kind timeout", "engine: {workers: 10}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 10/s, service: 2s, fails: {rate: 50%, errors: {timeout: 100%}}}\n", []string{
			`4:29: offered load is 4 × the capacity: the backlog will never drain`}},
		{"failures of kind throttled", "engine: {workers: 10}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 10/s, service: 2s, fails: {rate: 50%, errors: {throttled: 100%}}}\n", []string{
			`4:29: offered load is 4 × the capacity: the backlog will never drain`}},
		{"a deadline before the first retry", "engine: {workers: 10}\nretry: {max-attempts: 100, jitter: none, backoff: {kind: fixed, delay: 10s}, deadline: 3s}\njobs:\n  - {class: mail, arrivals: 6/s, service: 1s, fails: {rate: 100%}}\n", nil},
		{"a timeout in the midst of the service times", "engine: {workers: 8, timeout: 10s}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}}\n", nil},
		{"a timeout in the midst of the service times, with a retry", "engine: {workers: 8, timeout: 10s}\nretry: {max-attempts: 2, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}}\n", []string{
			`4:29: offered load is 1.08 × the capacity: the backlog will never drain`}},
		{"failures as long as others, with a timeout", "engine: {workers: 8, timeout: 10s}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}, fails: {rate: 50%}}\n", nil},
		{"a timeout that handlers ignore", "engine: {workers: 10, timeout: 20s}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 0.95/s, service: {dist: exponential, mean: 10s}, ignores-cancel: true}\n", nil},
		{"a timeout that frees the workers of handlers that ignore it", "engine: {workers: 8, timeout: 10s, on-timeout: free}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}, ignores-cancel: true}\n", nil},
		{"a timeout that waits for handlers that ignore it", "engine: {workers: 11, timeout: 10s, on-timeout: wait}\nretry: {max-attempts: 2}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}, ignores-cancel: true}\n", nil},
		{"a timeout of service times without a mean", "engine: {workers: 10, timeout: 5m}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: pareto, min: 10s, alpha: 1}}\n", []string{
			`4:29: offered load is 4.4 × the capacity: the backlog will never drain`}}, // 10 s × (1 + ln 30)
		{"a timeout far in the tail", "engine: {workers: 4, timeout: 1000000s}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: pareto, min: 1s, alpha: 1.1}}\n", []string{
			`4:29: offered load is 2.12 × the capacity: the backlog will never drain`}}, // 11 s - 10 s × 1000000^-0.1
		{"failures and a timeout", "engine: {workers: 10, timeout: 10s}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 0.6/s, service: {dist: exponential, mean: 10s}, fails: {rate: 50%}}\n", []string{
			`4:29: offered load is 1.2 × the capacity: the backlog will never drain`}}, // 6.32 s in each of 1 ÷ (50% × 63.2%) attempts
		{"a limit of jobs in flight and a timeout", "engine: {workers: 20, timeout: 10s}\nretry: {max-attempts: 1}\njobs:\n  - {class: mail, arrivals: 1/s, service: {dist: exponential, mean: 10s}, max-running: 7}\n", nil},
		{"a limit of jobs in flight and retries", "engine: {workers: 20}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 4/s, service: 1s, fails: {rate: 50%}, max-running: 6}\n", []string{
			`4:80: the class needs 7.99 jobs running at once: the backlog will never drain`}},
		{"most kinds are retried", "engine: {workers: 10}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}, never: [validation]}\njobs:\n  - {class: mail, arrivals: 8/s, service: 1s, fails: {rate: 50%, errors: {validation: 1%, error: 99%}}}\n", []string{
			`4:29: offered load is 1.58 × the capacity: the backlog will never drain`}},
		{"most kinds bury", "engine: {workers: 10}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}, never: [validation]}\njobs:\n  - {class: mail, arrivals: 8/s, service: 1s, fails: {rate: 50%, errors: {error: 1%, validation: 99%}}}\n", nil},
		{"a timeout below the service time", "engine: {workers: 10, timeout: 1s}\nretry: {max-attempts: 2, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 10s, fails: {rate: 50%, errors: {error: 100%}}}\n", nil},
		{"a deadline ends the retries", "engine: {workers: 10}\nretry: {max-attempts: 100, jitter: none, backoff: {kind: fixed, delay: 1s}, deadline: 3s}\njobs:\n  - {class: mail, arrivals: 4/s, service: 500ms, fails: {rate: 50%, errors: {error: 100%}}}\n", nil},
		{"failures cut off by a timeout fit", "engine: {workers: 2, timeout: 1s}\nretry: {max-attempts: 4, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 10/s, service: 100ms, fails: {rate: 5%, takes: 1m}}\n", nil},
		{"failures that a timeout cuts off are timeouts", "engine: {workers: 5, timeout: 1s}\nretry: {max-attempts: 25, jitter: none, backoff: {kind: fixed, delay: 1s}, never: [timeout]}\njobs:\n  - {class: mail, arrivals: 4/s, service: 500ms, fails: {rate: 50%, takes: 10s}}\n", nil},
		{"failures for good that a timeout cuts off", "engine: {workers: 10, timeout: 1s}\nretry: {max-attempts: 3, jitter: none, backoff: {kind: fixed, delay: 1s}, never: [bad]}\njobs:\n  - {class: mail, arrivals: 4/s, service: 2s, fails: {rate: 50%, errors: {bad: 100%}}}\n", []string{
			`4:29: offered load is 1.2 × the capacity: the backlog will never drain`}},
		{"poison among jobs that fail", "engine: {workers: 24}\nretry: {max-attempts: 2, jitter: none, backoff: {kind: fixed, delay: 1s}}\njobs:\n  - {class: mail, arrivals: 10/s, service: 500ms, fails: {rate: 40%, takes: 2s}, poison: 30%}\n", nil},
		{"commits that are tried again at once, and then dropped", "engine: {commit: {tries: 2, backoff: [0s], give-up: drop}, store: {commit: 0s}}\njobs:\n  - {class: mail, arrivals: 4/s, service: 500ms}\nstorms: [{name: off, at: 1m, for: 1m, calls: {ops: [commit], error: 100%}}]\n", nil},
		{"overload of the jobs in flight", "engine: {workers: 40, max-in-flight: 15}\njobs:\n  - {class: mail, arrivals: 20/s, service: 1s}\n", []string{
			`3:29: offered load is 1.33 × the capacity: the backlog will never drain`}},
		{"a limit above the workers", "engine: {workers: 21, max-in-flight: 40}\njobs:\n  - {class: mail, arrivals: 20/s, service: 1s}\n", nil},
		{"prefetched jobs outlast their leases", "engine: {workers: 2, nodes: 9, fetch: {prefetch: 8}, lease: {ttl: 30s, heartbeat: 0s}, timeout: 25s}\njobs:\n  - {class: mail, arrivals: 1/s, service: 9s}\n", []string{
			`1:50: under load the last of 8 prefetched jobs waits 36.0s for a worker, longer than its lease lasts (30s), and may run twice = prefetch fewer`}},
		{"prefetched jobs outlast extended leases", "engine: {workers: 20, fetch: {prefetch: 40}, lease: {ttl: 12s, heartbeat: 4s, max: 15s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s}\n", []string{
			`1:41: under load the last of 40 prefetched jobs waits 16.0s for a worker, longer than its lease lasts (15s), and`}},
		{"as many prefetched jobs as may be in flight", "engine: {workers: 20, max-in-flight: 60, fetch: {prefetch: 400}, lease: {ttl: 15s, heartbeat: 0s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s}\n", []string{
			`1:60: under load the last of 40 prefetched jobs waits 16.0s for a worker, longer than its lease lasts (15s), and`}},
		{"few prefetched jobs may be in flight", "engine: {workers: 20, max-in-flight: 50, fetch: {prefetch: 400}, lease: {ttl: 15s, heartbeat: 0s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s}\n", nil},
		{"few prefetched jobs of all classes may be in flight", "engine: {workers: 20, fetch: {prefetch: 400}, lease: {ttl: 15s, heartbeat: 0s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s, max-running: 30}\n  - {class: sms, arrivals: 1/s, service: 8s, max-running: 20}\n", nil},
		{"prefetched jobs start in time", "engine: {workers: 20, fetch: {prefetch: 40}, lease: {ttl: 12s, heartbeat: 4s, max: 15s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 7s}\n", nil},
		{"prefetched jobs whose node beats", "engine: {workers: 20, fetch: {prefetch: 40}, lease: {of: node, ttl: 12s, heartbeat: 4s, max: 15s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s}\n", nil},
		{"prefetched jobs that are acked", "engine: {ack: early, workers: 20, fetch: {prefetch: 40}, lease: {ttl: 12s, heartbeat: 0s}}\njobs:\n  - {class: mail, arrivals: 1/s, service: 8s}\n", nil},
		{"a kind, both words of it misspelt", job + "policies: [{kidn: wieghted}, {kidn: weighted}, {lable: x}]\n", []string{
			`3:13: unknown key "kidn" = did you mean "kind"?`, `3:31: unknown key "kidn" = did you mean "kind"?`, `3:48: "kind" is missing`}},
		{"too many classes, beside other mistakes", "seeds: 0\nobjectives: [{metric: fresh.wait.p99, class: c64, below: 1s}, " +
			"{metric: fresh.wait.p98, tenant: t, below: 1s}]\n" + manyClasses(65) +
			"dependencies: [{name: api}]\nstorms: [{name: down, at: 1m, for: 1m, fail: {rate: 5%, hits: c64}}]\npolicies: [fifa]\n", []string{
			`1:8: seeds 0 is too few: want at least 1`, `2:72: unknown metric "fresh.wait.p98"`,
			`68:5: 65 job classes are too many: at most 64`, `71:12: unknown policy "fifa"`}},
		{"few claims without an answer in time", "duration: 24h\nengine: {call-timeout: 100us, store: {claim: {dist: lognormal, p50: 10us, p99: 10ms}}}\n" + job, nil},
		{"slow claims, of which two in three are answered in time", "duration: 24h\ndrain: 24h\nengine: {call-timeout: 100us, store: {claim: {dist: empirical, values: [1us, 1us, 70us, 70us, 70us]}}}\n" + job, nil},
		{"most claims without an answer in time", "duration: 24h\nengine: {call-timeout: 100us, store: {claim: {dist: lognormal, p50: 60us, p99: 10ms}}}\n" + job, []string{
			`2:24: one run would make 1.7e+09 claims: at most 1e+09`}},
		{"two of one name", "baseline: FIFA\npolicies: [{kind: weighted}, {kind: weighted, label: W}]\n" + job, []string{
			`1:11: no policy is named "FIFA" = there is "weighted", "W"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := Load("test.yaml", []byte(tt.src), nil)
			for i, d := range ds {
				got := fmt.Sprintf("%d:%d: %s", d.Line, d.Col, d.Message)
				if d.Help != "" {
					got += " = " + d.Help
				}
				if i >= len(tt.want) || !strings.HasPrefix(got, tt.want[i]) {
					t.Errorf("got  %s", got)
					if i < len(tt.want) {
						t.Errorf("want %s", tt.want[i])
					}
				}
			}
			if len(ds) < len(tt.want) {
				t.Errorf("%d diagnostics, want %d: %s", len(ds), len(tt.want), tt.want[len(ds):])
			}
		})
	}
}

// TestShortForms checks that the short forms of values load like their long forms.
func TestShortForms(t *testing.T) {
	for _, tt := range []struct{ name, short, long string }{
		{"policies", "policies: [fifo, {kind: adaptive-lifo, older-than: 7s}, lifo]\n" + smallest, "policies: [{kind: fifo}, {kind: adaptive-lifo, older-than: 7s}, {kind: lifo}]\n" + smallest},
		{"names that YAML once took for true and false", "name: no\ndescription: off\njobs: [{class: on, arrivals: 1/s, service: 1ms}, {class: yes, arrivals: 1/s, service: 1ms}]\n",
			"name: \"no\"\ndescription: \"off\"\njobs: [{class: \"on\", arrivals: 1/s, service: 1ms}, {class: \"yes\", arrivals: 1/s, service: 1ms}]\n"},
		{"true and false in the words of YAML 1.1", "engine: {reaper: {on-start: no}}\njobs: [{class: a, arrivals: 1/s, service: 1ms, ignores-cancel: Yes}]\n",
			"engine: {reaper: {on-start: false}}\njobs: [{class: a, arrivals: 1/s, service: 1ms, ignores-cancel: true}]\n"},
		{"exponents", "seeds: 1e2\nseed: 1e2\n" + smallest, "seeds: 100\nseed: 100\n" + smallest},
		{"one policy", "policies: lifo\n" + smallest, "policies: [{kind: lifo}]\n" + smallest},
		{"hits", smallest + "storms: [{name: z, at: 10m, for: 5m, fail: {hits: mail, rate: 5%}}]\n",
			smallest + "storms: [{name: z, at: 10m, for: 5m, fail: {hits: [mail], rate: 5%}}]\n"},
		{"arrivals", "jobs: [{class: mail, arrivals: 20/s, service: 1ms}]", "jobs: [{class: mail, arrivals: {process: poisson, rate: 20/s}, service: 1ms}]"},
		{"objectives", smallest + "storms: [{name: z, at: 10m, for: 5m, fail: {rate: 5%}}]\nobjectives:\n  - fresh.wait.p99 during z class mail below 10s\n  - fresh.within limit 5s above 99%\n",
			smallest + "storms: [{name: z, at: 10m, for: 5m, fail: {rate: 5%}}]\nobjectives:\n  - {metric: fresh.wait.p99, during: z, class: mail, below: 10s}\n  - {metric: fresh.within, limit: 5s, above: 99%}\n"},
		{"one objective", smallest + "objectives: dead.count below 3\n", smallest + "objectives: [{metric: dead.count, below: 3}]\n"},
		{"idempotent", "jobs: [{class: a, arrivals: 1/s, service: 1ms, idempotent: false}, {class: b, arrivals: 1/s, service: 1ms, idempotent: true}]\n",
			"jobs: [{class: a, arrivals: 1/s, service: 1ms, guard: none}, {class: b, arrivals: 1/s, service: 1ms, guard: check}]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			short, long := load(t, tt.short), load(t, tt.long)
			if got, want := string(short.Resolved()), string(long.Resolved()); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	sc := load(t, "policies: [fifo, lifo]\n"+smallest, Override{Path: "policies.fifo.label", Value: "F"}, Override{Path: "jobs.mail.arrivals", Value: "5/s"},
		Override{Path: "objectives", Value: "[dead.count below 3]"}, Override{Path: "policies.+", Value: "adaptive-lifo"}, Override{Path: "policies.adaptive-lifo.label", Value: "R"},
		Override{Path: "jobs.mail.arrivals.stop", Value: "1m"})
	if sc.Policies[0].Label != "F" || sc.Policies[2].Label != "R" || sc.Jobs[0].Arrivals.Rate.PerSecond() != 5 || sc.Jobs[0].Arrivals.Stop == nil || len(sc.Objectives) != 1 {
		t.Errorf("%+v", sc)
	}
}

// TestOverrideMistakes checks that an error in an override is reported at the flag of the command line.
func TestOverrideMistakes(t *testing.T) {
	_, ds := Load("test.yaml", []byte("policies:\n  - {kind: fifo, label: FIFO}\n"+smallest), []Override{{Path: "baseline", Value: `"FIFA"`, Flag: "--baseline FIFA"}})
	if len(ds) != 1 || ds[0].Set != "--baseline FIFA" || ds[0].Help != `did you mean "FIFO"?` {
		t.Errorf("%+v", ds)
	}
}

func TestParseObjective(t *testing.T) {
	for _, tt := range []struct{ text, query, bound, bad string }{
		{"fresh.wait.p99 during payments-down below 10s", "fresh.wait.p99 during payments-down", "below 10s", ""},
		{"goodput above 20/s", "goodput", "above 20/s", ""},
		{"fresh.within limit 2s class below above 90%", "fresh.within class below limit 2s", "above 90%", ""},
		{"fresh.wait.p99", "", "", "want METRIC below BOUND"},
		{"below 10s", "", "", "want METRIC below BOUND"},
		{"fresh.wait.p99 below ", "", "", "want a bound behind below"},
		{"fresh.wait.p99 below {a: 1}", "", "", "want a bound behind below"},
		{"fresh.wait.p99 while x below 1s", "", "", "want during, after"},
	} {
		q, word, bound, err := ParseObjective(tt.text)
		switch {
		case tt.bad != "":
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%q: error %v, want %q", tt.text, err, tt.bad)
			}
		case err != nil || q.String() != tt.query || word+" "+bound != tt.bound:
			t.Errorf("%q: %s, %s %s, %v", tt.text, q, word, bound, err)
		}
	}
}

// TestMeasureDuringStorms checks the errors for a metric during a storm that an event triggers, or that is unknown: as
// for an objective, and with the names of the storms that have a known window.
func TestMeasureDuringStorms(t *testing.T) {
	text := "jobs:\n- {class: mail, arrivals: {process: poisson, rate: 1/s}, service: 1ms}\nengine: {nodes: 2}\nstorms:\n" +
		"- {name: down, at: 5m, for: 1m, fail: {rate: 50%}}\n- {name: death, on: leased, at: 1s, crash: {nodes: that, restart-after: 1s}}\n"
	sc, problems := Load("test.yaml", []byte(text), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	for query, want := range map[string]string{
		"fresh.wait.p99 during death": `fresh.wait.p99 during death: storm "death" begins with an event: nobody knows when it is`,
		"recovery.time after death":   `recovery.time after death: storm "death" begins with an event: nobody knows when it is`,
		"fresh.wait.p99 during rain":  `fresh.wait.p99 during rain: no storm is named "rain"; there is "down"`,
	} {
		q, err := measure.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if err := sc.Measure([]measure.Query{q}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestMeasureTenants checks that a metric can be asked for of a tenant that the class has under one policy alone, and
// that each tenant is one of those whose worst can be found, whatever the number of policies.
func TestMeasureTenants(t *testing.T) {
	sc, problems := Load("test.yaml", []byte("jobs:\n- {class: mail, arrivals: 1/s, service: 1ms, tenants: {count: 502}}\n"+
		"policies: [fifo, {kind: lifo, with: {jobs.mail.tenants.count: 506}}]\n"), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	for tenant, known := range map[string]bool{"mail/1": true, "mail/505": true, "worst": true, "mail/506": false, "mail/05": false, "mail": false} {
		err := sc.Measure([]measure.Query{{Metric: "fresh.wait.p99", Tenant: tenant}})
		if (err == nil) != known {
			t.Errorf("tenant %s: %v", tenant, err)
		}
	}
}

// TestWorstOfSharedTenants checks that tenants of one name in several classes count once towards the most of which the
// worst can be found, in an objective and in a metric asked for later.
func TestWorstOfSharedTenants(t *testing.T) {
	names := ""
	for i := range 600 {
		names += fmt.Sprintf("t%d, ", i)
	}
	text := func(second string) string {
		return "jobs:\n- {class: a, arrivals: 1/s, service: 1ms, tenants: {names: [" + names + "x]}}\n" +
			"- {class: b, arrivals: 1/s, service: 1ms, tenants: {" + second + "}}\n"
	}
	const objective = "objectives: [fresh.wait.p99 tenant worst below 9s]\n"
	if sc, problems := Load("test.yaml", []byte(text("names: ["+names+"y]")+objective), nil); sc == nil {
		t.Errorf("with the same tenants: %v", problems)
	}
	const want = "fresh.wait.p99 has no worst tenant: the worst is told of up to 1000 tenants, and there are 1001"
	if sc, problems := Load("test.yaml", []byte(text("count: 400")+objective), nil); sc != nil || problems[0].Message != want {
		t.Errorf("with 400 more: got %v, want %s", problems, want)
	}
	sc, problems := Load("test.yaml", []byte(text("count: 400")), nil)
	if sc == nil {
		t.Fatal(problems)
	}
	q := measure.Query{Metric: "fresh.wait.p99", Tenant: measure.WorstTenant}
	if err := sc.Measure([]measure.Query{q}); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestSynonymsAreKeys checks that every word of another job system leads to a key that exists.
func TestSynonymsAreKeys(t *testing.T) {
	first := map[string]bool{}
	all := reference.Synonyms()
	for i := range all {
		s := &all[i]
		known := language().KeysIn(s.In)
		if known == nil || s.Key == "" && s.Hint == "" {
			t.Errorf("%+v", s)
		}
		if _, found := KeyOf(tree.Join(s.At, s.Key)); s.Key != "" && s.Hint == "" && !found {
			t.Errorf("%s.%s is no key", s.At, s.Key)
		}
		for _, word := range strings.Fields(s.Words) {
			if slices.Contains(known, word) || word != strings.ToLower(word) || first[s.In+" "+word] {
				t.Errorf("%s: %s is a key of its own, or twice", s.In, word)
			}
			first[s.In+" "+word] = true
		}
	}
	if len(all) < 40 {
		t.Errorf("%d", len(all))
	}
}
