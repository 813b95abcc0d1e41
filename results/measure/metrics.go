package measure

import (
	"slices"

	"qsim/results/plain"
)

// Filters is a set of ways to narrow a metric: to a storm, to the time after one, to a class or to a tenant.
type Filters uint8

// ByDuring and the constants below are the filters that a metric may allow: those by storm are ByDuring (the jobs or
// the time within it) and ByAfter. NeedsLimit marks a metric that has no value without a wait limit in the query.
const (
	ByDuring Filters = 1 << iota
	ByAfter
	ByClass
	ByTenant
	NeedsLimit
)

// Has reports whether a set of filters contains all filters of another set.
func (s Filters) Has(f Filters) bool { return s&f == f }

const (
	byWindow = ByDuring | ByAfter
	byAny    = byWindow | ByClass | ByTenant
)

// MetricInfo describes a metric to users. All metrics are at least 0.
type MetricInfo struct {
	Name         string
	Unit         string // "s", "1" (a share or ratio), "1/s", "jobs", "claims", "job·s"...
	Label        string // a few words for a column heading or a sentence: "p99 wait of fresh jobs"
	Doc          string // what the metric measures, without a full stop
	Share        bool   // its values are at most 1
	LessIsBetter bool
	MoreIsBetter bool // a higher value is better; if neither field is set, the metric is a fact about the run
	Filters      Filters
	// NotNarrower is the reason why the metric cannot be narrowed to a class or tenant, with other metrics that can; "" if
	// it can be narrowed to both.
	NotNarrower string
	// OnRequest marks a metric that is computed only for an objective or an explicit query, and has no row among the
	// metrics of the whole run.
	OnRequest bool
	Quantile  float64 // quantile of a wait, in (0, 1); 0: the metric is not a quantile
	KM        bool    // computed by the Kaplan–Meier estimator
}

// basis is the data from which a metric is computed: jobs enqueued in a window, events in a window of time, or events
// since a storm.
type basis uint8

const (
	onJobs   basis = iota // the jobs enqueued in a window
	onClock               // events in a window of the clock
	onHunger              // times at which jobs starve, in a window of the clock
	onStorm               // events after a storm
)

// metric is the description of a metric with the function that computes it from the counts of a Collector.
type metric struct {
	MetricInfo
	basis  basis
	family family // noFamily: the metric is not of a wait
	of     func(q *question) Value
	ofWait func(w *Waits) Value // of a metric of waits: its value for a distribution with at least one wait
}

func some(v float64) Value { return Value{Value: v} }

// atLeast returns the number v as the value of a metric, marked as a lower bound if bound is true.
func atLeast(v float64, bound bool) Value { return Value{Value: v, Bound: plain.When(bound, ">=")} }

func none(reason string) Value { return Value{Null: true, Reason: reason} }

func count[I int64 | uint64 | int](n I) Value { return some(float64(n)) }

// ratio returns a divided by b as the value of a metric; if b is 0 it has no value, for the given reason.
func ratio(a, b float64, reason string) Value { return some(a/b).unless(b == 0, reason) }

// unless returns a metric's value as it is or, if a condition holds, no value for the given reason.
func (v Value) unless(holds bool, reason string) Value {
	if holds {
		return none(reason)
	}
	return v
}

// allMetrics is the table of all metrics, filled by an init function, as functions in it use lookup, which reads it.
var (
	allMetrics    []metric
	metricsByName map[string]int
)

func init() {
	allMetrics = slices.Concat(waitMetrics(), starvingMetrics(), fairnessMetrics(), attemptMetrics(), deathMetrics(),
		callerMetrics(), duplicateMetrics(), causeMetrics(), clockMetrics(), stormMetrics(), storeMetrics(), countMetrics())
	metricsByName = make(map[string]int, len(allMetrics))
	for i := range allMetrics {
		metricsByName[allMetrics[i].Name] = i
	}
}

// lookup returns the metric with the given name, nil if there is none.
func lookup(name string) *metric {
	if i, ok := metricsByName[name]; ok {
		return &allMetrics[i]
	}
	return nil
}

// Rank returns the index of the metric with the given name in Metrics, by which files are sorted; their number if none.
func Rank(name string) int {
	if i, ok := metricsByName[name]; ok {
		return i
	}
	return len(allMetrics)
}

// HistogramOf returns the query of the distribution of waits from which the quantile query q is computed, such as
// fresh.wait for fresh.wait.p99; ok is false if q is no quantile.
func HistogramOf(q Query) (histogram Query, ok bool) {
	m := lookup(q.Metric)
	if m == nil || m.Quantile == 0 {
		return Query{}, false
	}
	return m.histogramOf(q), true
}

// Metrics returns all metrics in the order of tables and files. The slice is the caller's.
func Metrics() []MetricInfo {
	return plain.Map(allMetrics, func(m metric) MetricInfo { return m.MetricInfo })
}

// MetricNames returns the names of all metrics.
func MetricNames() []string { return plain.Map(allMetrics, func(m metric) string { return m.Name }) }

// Lookup returns the description of the metric with the given name; ok is false if there is none.
func Lookup(name string) (info MetricInfo, ok bool) {
	m := lookup(name)
	if m == nil {
		return MetricInfo{}, false
	}
	return m.MetricInfo, true
}

// Queries returns the queries (metrics with filters) computed besides the metrics of the whole run, each once: for each
// storm the p99 fresh wait during it and the recovery time after it, those of the objectives (without any: UsualWaits),
// and those of Settings.Asked.
func Queries(s *Settings) []Query {
	var queries []Query
	for _, storm := range s.Storms {
		queries = append(queries, Query{Metric: UsualWait, During: storm.Name},
			Query{Metric: recoveryTime, After: storm.Name})
	}
	wanted := plain.Map(s.Objectives, func(o Objective) Query { return o.Query })
	if len(s.Objectives) == 0 {
		wanted = UsualWaits(s)
	}
	for _, q := range append(wanted, s.Asked...) {
		if m := lookup(q.Metric); m == nil || m.OnRequest || q != (Query{Metric: q.Metric}) {
			queries = append(queries, q)
		}
	}
	return plain.Distinct(queries)
}

// UsualWait is the metric that policies are compared by where a scenario has no objectives.
const UsualWait = "fresh.wait.p99"

// mostUsual is the highest number of classes, in the scenario's order, for which UsualWaits returns a query each.
const mostUsual = 4

// UsualWaits returns the queries used without objectives: p99 fresh wait of each of the first classes, or of all jobs.
func UsualWaits(s *Settings) []Query {
	if len(s.Classes) < 2 {
		return []Query{{Metric: UsualWait}}
	}
	classes := s.Classes[:min(len(s.Classes), mostUsual)]
	return plain.Map(classes, func(class string) Query { return Query{Metric: UsualWait, Class: class} })
}
