package measure

import (
	"strings"

	"qsim/results/plain"
)

// waitLabels maps a family of waits to its name in words, for tables and charts.
var waitLabels = map[string]string{
	"fresh.wait":   "wait of fresh jobs",
	"retry.wait":   "wait of retries",
	"attempt.wait": "wait of all claims",
	"start.wait":   "wait until the handler starts",
	"sojourn":      "time until done",
}

// waitStatistics maps a statistic of a wait (p50, max) to its name in words, for tables and charts.
var waitStatistics = map[string]string{
	"mean": "mean", "p50": "median", "p90": "p90", "p99": "p99", "p999": "p99.9", "max": "longest",
}

// labels maps the metrics other than waits to their names in words: a few words for a column heading or a sentence.
var labels = map[string]string{
	"fresh.within":          "fresh jobs claimed in time",
	"starved.jobs":          "starved jobs",
	"starved.share":         "time in starvation",
	"starved.longest":       "longest starvation",
	"starved.crowding":      "claims that went past starved jobs",
	"starved.claims":        "most retries claimed in a row",
	"claim.gap.longest":     "longest gap between fresh claims",
	"claim.gap.share":       "time without fresh claims",
	"fresh.deficit":         "fresh claims short of the promised share",
	"jain":                  "fairness between tenants (Jain)",
	"slowdown":              "slowdown by the storms",
	"attempts.mean":         "attempts per job",
	"attempts.max":          "most attempts of a job",
	"retries.total":         "retries",
	"retries.succeeded":     "jobs done by a retry",
	"retries.success-rate":  "retries that succeed",
	"retry.share":           "claims that are retries",
	"retry.rate":            "retries per job",
	"retry.delay.mean":      "mean backoff",
	"retry.delay.p99":       "p99 backoff",
	"dead.count":            "dead jobs",
	"dead.share":            "share of dead jobs",
	"deaths.count":          "deaths",
	"deaths.limit":          "deaths by the attempt limit",
	"deaths.error":          "deaths by an error that buries",
	"deaths.deadline":       "deaths by the deadline",
	"deaths.reaper":         "deaths by the reaper",
	"deaths.shed":           "jobs shed",
	"unfinished.count":      "unfinished jobs",
	"unfinished.share":      "share of unfinished jobs",
	"amplification":         "claims per caller",
	"answered.share":        "callers answered in time",
	"answered.rate":         "callers answered per second",
	"duplicates.count":      "duplicates",
	"duplicates.per10k":     "duplicates per 10k jobs",
	"duplicates.executions": "executions past their lease",
	"duplicates.lease":      "duplicates by a lapsed lease",
	"duplicates.crash":      "duplicates by a crash",
	"duplicates.ack":        "duplicates by a lost ack",
	"duplicates.timeout":    "duplicates by a timeout",
	"duplicates.other":      "other duplicates",
	"duplicates.resubmits":  "duplicates by resubmission",
	"effects.double":        "double effects",
	"wasted":                "wasted worker time",
	"stale.commits":         "stale commits refused",
	"leases.expired":        "expired leases",
	"leases.false":          "leases taken from live holders",
	"goodput":               "jobs done per second",
	"throughput":            "executions per second",
	"utilization":           "busy workers",
	"idle.ready":            "idle worker-seconds beside ready jobs",
	"backlog.fresh.max":     "largest fresh backlog",
	"backlog.fresh.mean":    "mean fresh backlog",
	"backlog.retry.max":     "largest retry backlog",
	"backlog.retry.mean":    "mean retry backlog",
	"waiting.max":           "most jobs in backoff",
	"backlog.area":          "job-seconds of backlog above normal",
	"drain.time":            "backlog drained",
	"recovery.time":         "back to normal",
	"store.rows":            "store rows",
	"store.fill.claim":      "jobs per claim call",
	"store.fill.commit":     "jobs per commit call",
	"claims":                "claims",
	"events":                "events",
	"jobs":                  "jobs",
	"retries_total":         "retries",
	"retry_exhausted_total": "deaths by the attempt limit",
	"retry_latency_seconds": "mean time in backoff",
}

// LabelOf returns the name of a metric in words, like "p99 wait of fresh jobs"; a metric that has none keeps its own
// name.
func LabelOf(metric string) string {
	if label, ok := labels[metric]; ok {
		return label
	}
	if calls, ok := strings.CutPrefix(metric, "store.calls."); ok {
		return calls + " calls"
	}
	base, km := strings.CutSuffix(metric, ".km")
	if at := strings.LastIndexByte(base, '.'); at >= 0 && waitLabels[base[:at]] != "" && waitStatistics[base[at+1:]] != "" {
		label := waitStatistics[base[at+1:]] + " " + waitLabels[base[:at]]
		if km {
			label += " (Kaplan–Meier)"
		}
		return label
	}
	return metric
}

// Label returns the query q in words: "mail: p99 wait of fresh jobs in payments-down".
func (q Query) Label() string {
	label := LabelOf(q.Metric)
	if q.Tenant == WorstTenant {
		q.Tenant = "worst tenant"
	}
	switch {
	case q.Class != "" && q.Tenant != "":
		label = q.Class + ", " + q.Tenant + ": " + label
	case q.Tenant != "":
		label = q.Tenant + ": " + label
	case q.Class != "":
		label = q.Class + ": " + label
	}
	if q.Limit != 0 {
		label += " (" + plain.Setting(q.Limit) + ")"
	}
	if q.During != "" {
		label += " in " + q.During
	}
	if q.After != "" {
		label += " after " + q.After
	}
	return label
}
