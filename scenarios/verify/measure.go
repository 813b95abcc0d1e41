package verify

import (
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
	"qsim/results"
	"qsim/results/plain"
)

// shape is the kind of a measured quantity, by which it is compared with its expected value: see the package comment.
type shape uint8

const (
	ofMean   shape = iota // mean over the replications
	ofShare               // probability, a mean over the replications
	ofTail                // 99th percentile, a mean over the replications
	ofMoment              // variance or second moment, a mean over the replications
	ofCurve               // level that rises and falls, a mean over the replications; measure.peak is set
	atLeast               // a share of at least measure.bound
	ofLeast               // the least of all, and not less than expected
	ofMost                // the most of all, and not more than expected
	ofSame                // the same in every replication, number or text
	ofLimit               // a whole number that a share of all keeps, see gauge.law
)

// gauge is how one quantity is measured in each replication, and how it is compared with its expected value.
type gauge struct {
	shape shape
	of    func(o *observer) float64 // value in a replication; NaN: none
	// metric is the metric with the value, in place of of, unless the row is of kind exact; "": none.
	metric string
	text   func(o *observer) string // value as text, for a quantity that is no number
	// trials returns, for shares, the number of trials in a replication: a share near 0 or 1 without any differing
	// trial has an uncertainty of its own. nil: no share.
	trials func(o *observer) float64
	bound  float64
	peak   float64
	law    float64 // share of all values that keeps the expected limit, by an exact formula
	sharp  bool    // the expected limit is the tightest that enough keep
	// distribution and quantile, in (0, 1), are instead of of for quantiles of durations.
	distribution func(c *classCount) *durations
	class        int // job class of the distribution; -1: all classes counted
	quantile     float64
}

// observed is a function from an observer, after a replication, to a measured number; NaN: there is none.
type observed = func(o *observer) float64

func mean(of observed) gauge                     { return gauge{of: of} }
func same(of observed) gauge                     { return gauge{shape: ofSame, of: of} }
func sameText(of func(o *observer) string) gauge { return gauge{shape: ofSame, text: of} }
func moment(of observed) gauge                   { return gauge{shape: ofMoment, of: of} }
func firstWaits(c *classCount) *durations        { return &c.waits }
func sojourns(c *classCount) *durations          { return &c.sojourns }
func meanOf(a, b counter) gauge                  { return mean(quotient(a, b)) }
func shareOf(a, b counter) gauge {
	return shareBy(quotient(a, b), func(o *observer) float64 { return o.sum(b) })
}
func shareBy(of, trials observed) gauge { return gauge{shape: ofShare, of: of, trials: trials} }
func quotient(a, b counter) observed    { return func(o *observer) float64 { return o.sum(a) / o.sum(b) } }

// listed returns a function that measures a statistic, of, of the values in observer.list; NaN if the list is empty.
func listed(of func(list []float64) float64) observed {
	return func(o *observer) float64 {
		if len(o.list) == 0 {
			return math.NaN()
		}
		return of(o.list)
	}
}

// spread returns the variance of the n values in a list, with the divisor n, not n−1.
func spread(list []float64) float64 {
	n := float64(len(list))
	return results.VarianceAbout(list, results.MeanOf(list)) * (n - 1) / n
}

// total returns the gauge (measurement) of a counter of the observer, summed over all job classes.
func total(c counter) gauge { return mean(func(o *observer) float64 { return o.sum(c) }) }

func variance(sum, squares, n counter) gauge {
	return moment(func(o *observer) float64 {
		m := o.sum(sum) / o.sum(n)
		return o.sum(squares)/o.sum(n) - float64(m*m)
	})
}

// level returns the gauge (measurement) of the time average of a number of jobs: a sum of levels such as freshReady.
func level(which ...int) gauge {
	return mean(func(o *observer) float64 { return plain.Sum(which, o.mean) })
}

// claimRate returns the gauge (measurement) of claims per second, of engine.Fresh, engine.Retry or both.
func claimRate(classes ...engine.Class) gauge {
	return mean(func(o *observer) float64 { return o.claimed(classes...) / o.length() })
}

// usual lists the quantities that have a meaning in any model, each with the metric that results report for it. Except
// in exact rows the metric is what is measured, and the gauge, the observer's own count, checks it in every
// replication. Entries without names are for that check alone.
var usual = []struct {
	names  string // names in expected values, some of which have several
	metric string // metric of the quantity; "": none
	gauge  gauge
}{
	{"p_wait", "", shareOf(someWait, firsts)},
	{"wait_mean fresh_wait_mean", "fresh.wait.mean", meanOf(firstWait, firsts)},
	{"retry_wait_mean", "retry.wait.mean", meanOf(laterWait, laters)},
	{"wait_mean_per_attempt all_attempts_wait_mean all_wait_mean wait_all", "attempt.wait.mean", meanOf(waited, claims)},
	{"", "fresh.wait.p50", quantileSeen(firstWaits, 0.5)},
	{"", "fresh.wait.p90", quantileSeen(firstWaits, 0.9)},
	{"", "fresh.wait.p99", quantileSeen(firstWaits, 0.99)},
	{"wait_m2", "", moment(quotient(firstWait2, firsts))},
	{"wait_var", "", variance(firstWait, firstWait2, firsts)},
	{"queue_len_mean", "", level(freshReady, retryReady)},
	{"fresh_queue_mean", "backlog.fresh.mean", level(freshReady)},
	{"retry_queue_mean", "backlog.retry.mean", level(retryReady)},
	{"in_system_mean", "", level(freshReady, retryReady, inFlight)},
	{"orbit_mean", "", level(waiting)},
	{"busy_mean concurrency", "", level(busy)},
	{"rho", "utilization", mean(func(o *observer) float64 { return o.mean(busy) / float64(o.workers) })},
	{"sojourn_mean time_to_success_mean", "sojourn.mean", meanOf(doneAfter, done)},
	{"", "sojourn.p50", quantileSeen(sojourns, 0.5)},
	{"", "sojourn.p90", quantileSeen(sojourns, 0.9)},
	{"", "sojourn.p99", quantileSeen(sojourns, 0.99)},
	{"time_to_dead_mean", "", meanOf(deadAfter, dead)},
	{"time_to_final_mean", "", meanOf(endedAfter, ended)},
	{"attempts_mean", "", meanOf(attempts, ended)},
	{"attempts_var", "", variance(attempts, attempts2, ended)},
	{"attempts_mean_given_success", "", meanOf(attemptsDone, done)},
	{"retry_amplification amplification load_per_call", "attempts.mean", meanOf(claims, enqueued)},
	{"p_dead", "", shareOf(dead, ended)},
	{"", "dead.share", shareOf(dead, enqueued)},
	{"", "dead.count", total(dead)},
	{"", "retries.total", total(laters)},
	{"", "retry.rate", meanOf(laters, enqueued)},
	{"success", "", shareOf(done, enqueued)},
	{"", "claims", mean(func(o *observer) float64 { return o.claimed(engine.Fresh, engine.Retry) })},
	{"attempt_rate", "", claimRate(engine.Fresh, engine.Retry)},
	{"fresh_rate", "", claimRate(engine.Fresh)},
	{"retry_rate retry_attempt_rate", "", claimRate(engine.Retry)},
	{"retry_share_of_claims", "retry.share", mean(func(o *observer) float64 {
		return o.claimed(engine.Retry) / o.claimed(engine.Fresh, engine.Retry)
	})},
	{"", "throughput", mean(func(o *observer) float64 { return o.sum(executions) / o.length() })},
	{"", "goodput", mean(func(o *observer) float64 {
		// After a lapsed lease some successes are second ones, which do not count, and which that are is not followed.
		return plain.Either(o.taken > 0, math.NaN(), o.sum(successes)/o.length())
	})},
}

// usualGauges maps the names of the quantities in usual to their gauges (measurements), in which metric is set.
var usualGauges = func() map[string]gauge {
	all := map[string]gauge{}
	for _, u := range usual {
		for _, name := range strings.Fields(u.names) {
			u.gauge.metric = u.metric
			all[name] = u.gauge
		}
	}
	return all
}()

// quantileSeen returns the gauge (measurement) of the quantile q of durations over the jobs of all classes; of selects
// them, such as firstWaits. It is NaN unless all jobs have ended.
func quantileSeen(of func(c *classCount) *durations, q float64) gauge {
	return mean(func(o *observer) float64 {
		var all durations
		for i := range o.class {
			all.merge(of(&o.class[i]))
		}
		known := all.total > 0 && o.sum(ended) == o.sum(enqueued)
		return plain.Either(known, all.quantile(q), math.NaN())
	})
}

// negligible is the number of seconds up to which a wait counts as none: 1 ns.
const negligible = 1e-9

// usualMeasure returns the gauge (measurement) of a quantity that any model has, by its name: one in usual, a quantile
// such as wait_p99, or p_wait_gt_SECONDS; false if key is no such name. It adds what the gauge must observe to plan.
func usualMeasure(key string, expected any, plan *observation) (gauge, bool) {
	if text, ok := strings.CutPrefix(key, "p_wait_gt_"); ok {
		limit, err := strconv.ParseFloat(text, 64)
		index := len(plan.thresholds)
		plan.thresholds = append(plan.thresholds, time.Duration(limit*1e9))
		above := func(o *observer) (total float64) {
			for i := range o.class {
				total += o.class[i].above[index]
			}
			return total / o.sum(firsts)
		}
		return shareBy(above, func(o *observer) float64 { return o.sum(firsts) }), err == nil
	}
	for prefix, of := range map[string]func(c *classCount) *durations{
		"wait_p": firstWaits, "fresh_wait_p": firstWaits, "sojourn_p": sojourns} {
		text, ok := strings.CutPrefix(key, prefix)
		digits, err := strconv.ParseUint(text, 10, 32)
		if !ok || err != nil {
			continue
		}
		return quantileOf(float64(digits)/math.Pow(10, float64(len(text))), of, -1, expected), true
	}
	m, ok := usualGauges[key]
	return m, ok
}

// quantileOf returns the gauge (measurement) of the quantile q of durations that of selects, of a class or (-1) all. If
// the expected quantile is practically 0, the share of jobs that did not wait is compared with q instead.
func quantileOf(q float64, of func(c *classCount) *durations, class int, expected any) gauge {
	if v, ok := expected.(float64); ok && v < negligible {
		m := shareOf(noWait, firsts)
		m.shape, m.bound = atLeast, q
		return m
	}
	return gauge{shape: plain.Either(q >= 0.99, ofTail, ofMean), distribution: of, class: class, quantile: q}
}
