package reference

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/tree"
)

// synonym is another system's word for a key, with the key to write instead.
type synonym struct {
	In    string // type of the map that the word occurs in
	At    string // path of that map, as in Keys
	Words string // words in lower case, without - and _, separated by spaces
	Key   string // path of the key, relative to that map; empty: the hint alone is enough
	Hint  string
}

// Synonyms lists words of Sidekiq, Celery, SQS, RabbitMQ, BullMQ, River, Temporal, k6, Gatling, Kubernetes and SLOs for
// keys of this language.
var Synonyms = []synonym{
	{"Scenario", "", "queues classes tasks workload streams scenarios", "jobs", ""},
	{"Scenario", "", "thresholds slos slo goals assertions checks expectations limits", "objectives", ""},
	{"Scenario", "", "services upstreams backends apis", "dependencies", ""},
	{"Scenario", "", "faults chaos incidents outages failures", "storms", ""},
	{"Scenario", "", "algorithms strategies schedulers scheduling policy", "policies", ""},
	{"Scenario", "", "replications runs iterations repeats trials", "seeds", ""},
	{"Scenario", "", "rampup rampuptime discard", "warmup", ""},
	{"Scenario", "", "time length runtime until", "duration", ""},
	{"Scenario", "", "cooldown gracefulstop", "drain", ""},
	{"Scenario", "", "stages executor vus", "", "write jobs: [{class: NAME, arrivals: {process: ramp, from: 10/s, to: 100/s}, service: 100ms}]"},
	{"Scenario", "", "apiversion kind metadata spec", "", "this looks like a Kubernetes manifest; qsim init NAME writes a scenario to start from"},

	{"Engine", "engine", "concurrency threads maxworkers workercount poolsize parallelism goroutines consumers processes maxprocs", "workers", ""},
	{"Engine", "engine", "replicas instances pods hosts servers", "nodes", ""},
	{"Engine", "engine", "kind type system driver", "preset", ""},
	{"Engine", "engine", "acklate ackslate acksonfailure noack autoack", "ack", ""},
	{"Engine", "engine", "visibilitytimeout leasetimeout lockduration lockttl ackdeadline ackwait invisibility claimtimeout consumertimeout", "lease.ttl", ""},
	{"Engine", "engine", "heartbeatinterval lockrenewtime extendevery keepalive", "lease.heartbeat", ""},
	{"Engine", "engine", "prefetchcount prefetchmultiplier workerprefetchmultiplier qos", "fetch.prefetch", ""},
	{"Engine", "engine", "pollinterval pollingtime fetchinterval waittimeseconds", "fetch.poll", ""},
	{"Engine", "engine", "batchsize maxnumberofmessages", "fetch.batch", ""},
	{"Engine", "engine", "averagescheduledpollinterval schedulerinterval", "promoter.every", ""},
	{"Engine", "engine", "stalledinterval rescueinterval reapinterval", "reaper.every", ""},
	{"Engine", "engine", "maxstalledcount", "reaper.max", ""},
	{"Engine", "engine", "jobtimeout executiontimeout tasktimelimit timelimit softtimelimit", "timeout", ""},
	{"Lease", "engine.lease", "timeout duration length visibilitytimeout", "ttl", ""},

	{"Retry", "retry", "maxreceivecount attempts tries maxtries maxdeliver maxdeliveries deliverylimit maximumattempts", "max-attempts", ""},
	{"Retry", "retry", "retries maxretry retrylimit retrycount limit", "max-retries", ""},
	{"Retry", "retry", "kind strategy type", "backoff.kind", ""},
	{"Retry", "retry", "first initial initialinterval initialdelay delay wait", "backoff.first", ""},
	{"Retry", "retry", "factor multiplier backoffcoefficient", "backoff.factor", ""},
	{"Retry", "retry", "max cap maxdelay maxinterval maximuminterval", "backoff.max", ""},
	{"Retry", "retry", "discardon fatal nonretryable nonretryableerrortypes dontretry", "never", ""},
	{"Backoff", "retry.backoff", "initial initialinterval initialdelay base mindelay minbackoff start interval", "first", ""},
	{"Backoff", "retry.backoff", "multiplier coefficient backoffcoefficient rate exponentialbase", "factor", ""},
	{"Backoff", "retry.backoff", "cap maxinterval maxdelay maxbackoff limit ceiling maximuminterval", "max", ""},
	{"Backoff", "retry.backoff", "increment add", "step", ""},
	{"Backoff", "retry.backoff", "exponent", "power", ""},
	{"Backoff", "retry.backoff", "schedule intervals steps", "delays", ""},
	{"Backoff", "retry.backoff", "type strategy", "kind", ""},
	{"Backoff", "retry.backoff", "jitter randomizationfactor randomization", "", "jitter stands beside backoff: retry: {jitter: full}"},

	{"JobClass", "jobs.CLASS", "kind type id queue job name task", "class", ""},
	{"JobClass", "jobs.CLASS", "duration latency runtime processingtime takes work time", "service", ""},
	{"JobClass", "jobs.CLASS", "dist distribution", "service.dist", "such as {dist: exponential, mean: 100ms}"},
	{"JobClass", "jobs.CLASS", "rate load arrival qps rps tps throughput process", "arrivals", ""},
	{"JobClass", "jobs.CLASS", "errorrate failurerate failure fail errors", "fails.rate", ""},
	{"JobClass", "jobs.CLASS", "maxconcurrency concurrency limit", "max-running", ""},
	{"JobClass", "jobs.CLASS", "dependency depends uses dependson", "calls", ""},
	{"JobClass", "jobs.CLASS", "retries maxretries maxretry", "retry.max-retries", "executions after the first one"},
	{"JobClass", "jobs.CLASS", "attempts maxattempts", "retry.max-attempts", "executions in all"},
	{"Arrivals", "jobs.CLASS.arrivals", "rps qps tps lambda persecond frequency", "rate", ""},
	{"Arrivals", "jobs.CLASS.arrivals", "type kind dist distribution", "process", ""},
	{"Arrivals", "jobs.CLASS.arrivals", "count jobs", "size", ""},
	{"plainDistribution", "", "type kind distribution", "", "write dist, such as {dist: exponential, mean: 100ms}; qsim list distributions"},
	{"plainDistribution", "", "median", "", "write p50: the median"},
	{"plainDistribution", "", "std stddev sigma deviation stdev", "", "write sd (of a normal one), or cv: standard deviation ÷ mean"},
	{"plainDistribution", "", "average avg mu", "", "write mean: the mean"},

	{"Storm", "storms.STORM", "start starts begin begins from after time when", "at", ""},
	{"Storm", "storms.STORM", "duration length lasts during ends until", "for", ""},
	{"Storm", "storms.STORM", "type kind trouble fault", "", "the kind of a storm is a key of its own: fail: {rate: 97%}, see qsim list storms"},
	{"Storm", "storms.STORM", "rate hits error takes target targets class", "", "write it inside the kind of storm: fail: {rate: ...}"},
	{"FailStorm", "storms.STORM.fail", "class classes targets target jobs on", "hits", ""},
	{"FailStorm", "storms.STORM.fail", "share probability ratio percent failurerate", "rate", ""},
	{"FailStorm", "storms.STORM.fail", "kind type code status", "error", ""},
	{"FailStorm", "storms.STORM.fail", "latency duration delay", "takes", ""},
	{"CrashStorm", "storms.STORM.crash", "restart downtime down", "restart-after", ""},
	{"CrashStorm", "storms.STORM.crash", "count node processes", "nodes", ""},

	{"Objective", "objectives.NUMBER", "lt lte le max atmost under lessthan threshold target value", "below", ""},
	{"Objective", "objectives.NUMBER", "gt gte ge min atleast over morethan", "above", ""},
	{"Objective", "objectives.NUMBER", "name query sli indicator", "metric", ""},
	{"Objective", "objectives.NUMBER", "storm window in", "during", ""},
	{"Objective", "objectives.NUMBER", "job queue", "class", ""},
	{"Objective", "objectives.NUMBER", "policy", "policies", ""},
	{"Policy", "policies.LABEL", "type policy strategy", "kind", ""},
	{"Policy", "policies.LABEL", "name title", "label", ""},
	{"Policy", "policies.LABEL", "params parameters options config", "", "parameters stand beside kind: {kind: weighted, fresh: 80%}"},
}

// help returns the hint to write the key instead of the word, for a map of the type in.
func (s *synonym) help(l *Language, in string) string {
	if s.Key == "" {
		return s.Hint
	}
	path, write := Join(s.At, s.Key), s.Key
	if in != s.In {
		write = path
	}
	if s.Hint != "" {
		return fmt.Sprintf("write %s: %s", write, s.Hint)
	}
	k, _ := l.KeyOf(path) // a test checks that every path in the table exists
	return fmt.Sprintf("write %s: %s", write, k.Doc)
}

// synonymOf returns the synonym for a word in a map of a type, or nil.
func synonymOf(in, word string) *synonym {
	word = plainWord(word)
	var elsewhere *synonym
	for i := range Synonyms {
		s := &Synonyms[i]
		switch {
		case !slices.Contains(strings.Fields(s.Words), word):
		case s.In == in:
			return s
		case elsewhere == nil && s.Key != "" && s.At == strings.ToLower(s.At) && s.At != "":
			elsewhere = s
		}
	}
	return elsewhere
}

// UnknownKey returns the error for an unknown key of a map of the type in, with the word's meaning in other
// systems; around, the map, may be nil.
func (l *Language) UnknownKey(in, key string, around *yaml.Node) *quantity.Error {
	known := l.KeysIn(in)
	e := UnknownKey(key, known)
	s, near, rows := synonymOf(in, key), Closest(key, known), rowsAround(in, around)
	switch {
	case key == "kind" && (s == nil || s.In != in): // "kind" is a key of many maps
	case s != nil && s.In == in && near != strings.ToLower(key):
		e.Help = s.help(l, in)
	case near != "":
	case l.elsewhere(key) != "":
		e.Help = "write " + l.elsewhere(key)
	case s != nil:
		e.Help = s.help(l, in)
	case len(rows) > 0:
		e.Help = spell(rows)
	}
	return e
}

// elsewhere returns the path and the meaning of a key that exists in exactly one other map; "" otherwise.
func (l *Language) elsewhere(key string) string {
	found := ""
	for _, k := range l.Keys {
		if k.Path == strings.ToLower(k.Path) && strings.HasSuffix(k.Path, "."+key) {
			if found != "" {
				return ""
			}
			found = k.Path + ": " + k.Doc
		}
	}
	return found
}

// rowsAround returns the combinations of keys that the kind of a map takes; nil if it has no kind.
func rowsAround(in string, around *yaml.Node) []kindRow {
	tables := map[string]*KindTable{"Backoff": &Backoffs, "Arrivals": &Processes, "plainDistribution": &Distributions}
	table := tables[in]
	if table == nil || around == nil {
		return nil
	}
	kind := tree.Word(around, table.Key)
	if near := Closest(kind, table.Kinds()); kind != "" && near != "" {
		kind = near
	}
	return table.RowsOf(kind)
}

// MeansElsewhere reports whether word is some other system's word for a key.
func MeansElsewhere(word string, key any) bool {
	word = plainWord(word)
	return slices.ContainsFunc(Synonyms, func(s synonym) bool {
		return slices.Contains(strings.Fields(s.Words), word) && (s.Key == key || strings.HasPrefix(s.Key, fmt.Sprint(key)+"."))
	})
}

// plainWord returns a word in the spelling of the synonyms.
func plainWord(word string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
}
