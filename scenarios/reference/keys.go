// Package reference documents the keys of scenario files: the table of their defaults and rules, the tables of the
// kinds of distributions, backoffs and arrival processes, the words of other job systems for them, and their
// descriptions, which come from the JSON schema.
package reference

import (
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"qsim/scenarios/tree"
)

// Entry describes one key of scenario files: its default, the rule for its value, and the behaviour without it.
type Entry struct {
	Path    string // path of the key, in which * stands for each element of a list
	Default string // default as YAML; empty: none
	Rule    Rule
	Unsaid  string // meaning of a key left out, if not its default: "none", "as" another key, or a formula
}

// Rule is a condition on one key of a scenario: that the key is there, or that its value is a count in [least, most], a
// duration above 0, or a name.
type Rule struct {
	Required, Positive bool
	Least, Most        int
	Why                string // reason for the limit most
	Name               string // noun for the name that the value is: a-z, 0-9, - and _; empty: it is none
}

func count(least, most int, why string) Rule { return Rule{Least: least, Most: most, Why: why} }

func named(noun string) Rule { return Rule{Name: noun} }

func (r Rule) needed() Rule { r.Required = true; return r }

// free and the variables below are common rules for keys: none, a duration above 0, and a key that must be there.
var (
	free     = Rule{}
	positive = Rule{Positive: true}
	required = Rule{Required: true}
)

const (
	memory = "since each takes memory"
	batch  = "since a call carries them all"
)

// Table lists the keys of scenario files with their rules and defaults, in the order in which the schema names required
// keys. A key that has only a default is part of the default of the map around it. Keys of the kinds of distributions,
// backoffs and arrival processes are in the tables of kinds, keys of storms in the files storm_KIND.go of package spec.
var Table = []Entry{
	{"version", "1", free, ""},
	{"name", "scenario", free, ""},
	{"description", `""`, free, ""},
	{"duration", "30m", positive, ""},
	{"seeds", "20", count(1, mostSeeds, "since every seed's results are kept"), ""},
	{"seed", "1", free, ""},

	{"engine", "{max-in-flight: 0, ack: late, fence: token, waiting: store, place: due, timeout: 5m, " +
		"restart: 5s}", free, ""},
	{"engine.preset", "", free, "none"},
	{"engine.in-flight", "", free, "claimed"},
	{"engine.on-timeout", "", free, "fail"},
	{"engine.phase", "", free, "drawn"},
	{"engine.nodes", "1", count(1, MostNodes, memory), ""},
	{"engine.workers", "100", count(1, MostWorkers, memory), ""},
	{"engine.fetch", "{wake: true, cooldown: 0s, error-pause: 100ms}", free, ""},
	{"engine.fetch.batch", "100", count(1, MostBatch, batch), ""},
	{"engine.fetch.poll", "100ms", free, ""},
	{"engine.fetch.prefetch", "0", count(0, MostWorkers, memory), ""},
	{"engine.fetch.on-due", "", free, "wake"},
	{"engine.fetch.cooldown-from", "", free, "claim"},
	{"engine.commit", "{linger: 5ms, tries: 0, backoff: [], give-up: requeue, backpressure: 10000}", free, ""},
	{"engine.commit.batch", "100", count(1, MostBatch, batch), ""},
	{"engine.commit.eager", "", free, "false"},
	{"engine.commit.calls", "2", count(1, 1000, memory), ""},
	{"engine.commit.timeout", "5s", positive, ""},
	{"engine.lease", "{heartbeat: 10s, max: 0s, of: job, names: new, check: store, late-claim: return}", free, ""},
	{"engine.lease.ttl", "30s", positive, ""},
	{"engine.reaper", "{every: 1s, grace: 0s, on-start: true, counts: failure, owner: every, max: unlimited, " +
		"within: 0s, after: retry, place: retry, gap: 0s, guard: token, finds: in-flight}", free, ""},
	{"engine.reaper.batch", "100", count(1, MostBatch, batch), ""},
	{"engine.promoter", "{every: 0s, order: oldest, owner: every, gap: 0s}", free, ""},
	{"engine.promoter.first", "", free, "as every"},
	{"engine.promoter.batch", "1000", count(1, MostBatch, batch), ""},
	{"engine.call-timeout", "5s", positive, ""},
	{"engine.leader", "{ttl: 10s, renew: 5s}", free, ""},
	{"engine.store", "{claim: 500us, commit: 500us, extend: 500us, recover: 500us, promote: 500us, stats: 500us, " +
		"enqueue: 0s, per-job: 0s}", free, ""},
	{"engine.store.parallel", "0", count(0, MostNodes, "which is as many as there can be nodes"), ""},

	{"retry", "{max-attempts: 4, backoff: {kind: exponential, first: 500ms, factor: 2, max: 30s}, jitter: full, " +
		"never: [validation, not-found, unauthorized, forbidden, syntax], count: claim, deadline: 0s, " +
		"free: [], free-max: unlimited}", free, ""},
	{"retry.preset", "", free, "none"},
	{"retry.from", "", free, "commit"},
	{"retry.grain", "", free, "0s"},

	{"dependencies", "[]", free, ""},
	{"dependencies.*.name", "", named("dependency").needed(), ""},
	{"dependencies.*.limit", "", free, "none"},
	{"dependencies.*.limit.concurrency", "", count(1, MostWorkers, "which is as many as there can be workers"), ""},
	{"dependencies.*.slows", "0%", free, ""},
	{"dependencies.*.conflict", "", free, "none"},
	{"dependencies.*.conflict.network", "", required, ""},

	{"jobs.*", "{priority: 0, poison: 0%, kills: 0%, silences: 0%, ignores-cancel: false, guard: none, " +
		"delay: 0s, max-running: 0}", free, ""},
	{"jobs.*.class", "", named("class").needed(), ""},
	{"jobs.*.service", "", required, ""},
	{"jobs.*.arrivals", "", required, ""},
	{"jobs.*.arrivals.period", "", positive, ""},
	{"jobs.*.arrivals.size", "", count(1, MostJobs, "which is all that one run can have"), ""},
	{"jobs.*.arrivals.every", "", positive, ""},
	{"jobs.*.arrivals.stop", "", free, "as duration"},
	{"jobs.*.tenants.count", "1", count(1, mostTenants, "since each is measured"), ""},
	{"jobs.*.tenants.skew", "0", free, ""},
	{"jobs.*.tenants.names.*", "", named("tenant"), ""},
	{"jobs.*.idempotent", "", free, "as guard"},
	{"jobs.*.starved-after", "", positive, "10 × the mean of service, at least 1s"},
	{"jobs.*.calls", "", free, "none"},
	{"jobs.*.fails.rate", "0%", free, ""},
	{"jobs.*.fails.takes", "", free, "as service"},
	{"jobs.*.fails.errors", "", free, "{" + DefaultError + ": 100%}"},
	{"jobs.*.patience", "", free, "none"},
	{"jobs.*.patience.after", "", positive.needed(), ""},
	{"jobs.*.patience.resubmits", "", count(0, MostResubmits, "since each is a copy of the job"), ""},
	{"jobs.*.patience.budget", "", free, "none"},
	{"jobs.*.serial", "", free, "none"},
	{"jobs.*.serial.keys", "", count(1, mostKeys, memory).needed(), ""},
	{"jobs.*.timeout", "", free, "as engine.timeout"},

	{"storms", "[]", free, ""},
	{"storms.*.name", "", named("storm").needed(), ""},
	{"storms.*.for", "0s", free, ""},
	{"storms.*.repeat", "", free, "none"},
	{"policies", "[{kind: fifo}]", free, ""},
	{"policies.*.kind", "", required, ""},
	{"objectives", "[]", free, ""},
	{"objectives.*.metric", "", required, ""},
	{"objectives.*.expect", "met", free, ""},
}

// DefaultError is the error kind of attempts that fail for no stated reason.
const DefaultError = "error"

// DefaultTrees returns the default values as YAML: those of a scenario under "", those of a list's elements under the
// key of the list. The nodes have no file position.
var DefaultTrees = sync.OnceValue(func() map[string]*yaml.Node {
	trees := map[string]*yaml.Node{}
	for _, k := range Table {
		if k.Default == "" {
			continue
		}
		value, problems := tree.Parse([]byte(k.Default))
		if len(problems) > 0 {
			panic("reference: default of " + k.Path + ": " + problems[0].Error())
		}
		tree.Place(value, &yaml.Node{})
		list, path, inList := strings.Cut(k.Path+".", ".*.")
		if !inList {
			list, path = "", list
		}
		words := strings.FieldsFunc(path, func(r rune) bool { return r == '.' })
		for _, word := range slices.Backward(words) {
			value = tree.MapOf(&yaml.Node{}, word, value)
		}
		trees[list] = tree.Merged(trees[list], value)
	}
	return trees
})

// MostNodes and the constants below limit the size of one run.
const (
	MostNodes    = 100_000
	MostWorkers  = 1_000_000 // workers of all nodes
	mostSeeds    = 10_000
	MostClasses  = 64 // a plan names classes by the bits of a word
	MostStorms   = 1000
	MostPolicies = 64            // policies of one scenario
	MostJobs     = 1_000_000_000 // jobs of one run
	MostTicks    = 1_000_000_000 // ticks of any one timer in one run
	MostBatch    = 100_000
)

// mostTenants and the constants below limit what the jobs of one scenario may have, such as tenants and serial keys.
const (
	mostTenants      = 100_000
	mostKeys         = 1_000_000
	MostResubmits    = 255
	MostDependencies = 64
	MostPhases       = 10_000_000 // pairs of on and off phases
)

// starred returns a path with * in place of each placeholder in capitals: jobs.*.service for jobs.CLASS.service.
func starred(path string) string {
	words := strings.Split(path, ".")
	for i, w := range words {
		if w == strings.ToUpper(w) {
			words[i] = "*"
		}
	}
	return strings.Join(words, ".")
}

// Matches reports whether path matches a pattern, in which * stands for any single key, name or index.
func Matches(pattern, path string) bool {
	matches := func(want, have string) bool { return want == "*" || want == have }
	return slices.EqualFunc(strings.Split(pattern, "."), strings.Split(path, "."), matches)
}

// Join returns the path of a key below another path, which may be empty.
func Join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// NamesOf maps each list of a scenario to the keys that name its elements in paths.
var NamesOf = map[string][]string{
	"jobs": {"class"}, "storms": {"name"}, "dependencies": {"name"}, "policies": {"label", "kind"},
}

// WordFor maps each list of a scenario to the noun for its elements.
var WordFor = map[string]string{
	"jobs": "job class", "storms": "storm", "dependencies": "dependency", "policies": "policy",
}

// WithName returns the words of a path with the first few joined into one if they spell one of names, which may contain
// dots; it chooses the longest such name.
func WithName(path, names []string) []string {
	for n := len(path); n > 1; n-- {
		if name := strings.Join(path[:n], "."); slices.Contains(names, name) {
			return slices.Concat([]string{name}, path[n:])
		}
	}
	return path
}
