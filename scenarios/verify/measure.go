package verify

import (
	"math"
	"strconv"
	"strings"
	"time"

	"qsim/engine"
)

// shape says how a quantity is compared, see the package's rule.
type shape uint8

const (
	ofMean   shape = iota // of the replications
	ofShare               // likewise, of a probability
	ofTail                // likewise, of a 99th percentile
	ofMoment              // likewise, of a variance or second moment
	ofCurve               // likewise, of a level that goes up and down; measure.peak is set
	atLeast               // a share of at least measure.bound
	ofLeast               // the least of all, and not less than expected
	ofMost                // the most of all, and not more than expected
	ofSame                // the same in every replication, number or text
	ofLimit               // a whole number that a share of all keeps, see measure.law
)

// measure gets one quantity out of each replication.
type gauge struct {
	shape shape
	of    func(o *observer) float64 // NaN: there is none
	text  func(o *observer) string  // instead, for what is no number
	// given is instead of of for what depends on what is expected.
	given func(o *observer, expected float64) float64
	// trials is, for shares, how many a replication takes it of: one so close to 0 or 1 that
	// none of them differed may still be another. nil: it is no share.
	trials func(o *observer) float64
	bound  float64
	peak   float64
	// law says of a limit what share of all keeps it, by what is known exactly, and whether it
	// is the tightest of which enough do.
	law func(limit float64) (p float64, sharp bool)
	// distribution and quantile, in (0, 1), are instead of of for quantiles of durations.
	distribution func(c *classCount) *durations
	class        int // of the distribution; -1: all classes that are counted
	quantile     float64
}

func mean(of func(o *observer) float64) gauge    { return gauge{of: of} }
func same(of func(o *observer) float64) gauge    { return gauge{shape: ofSame, of: of} }
func sameText(of func(o *observer) string) gauge { return gauge{shape: ofSame, text: of} }
func moment(of func(o *observer) float64) gauge  { return gauge{shape: ofMoment, of: of} }
func level(which ...int) gauge                   { return mean(func(o *observer) float64 { return levels(o, which) }) }
func firstWaits(c *classCount) *durations        { return &c.waits }
func sojourns(c *classCount) *durations          { return &c.sojourns }
func shareOf(a, b func(c *classCount) float64) gauge {
	return shareBy(quotient(a, b), func(o *observer) float64 { return o.sum(b) })
}
func shareBy(of, trials func(o *observer) float64) gauge {
	return gauge{shape: ofShare, of: of, trials: trials}
}
func quotient(a, b func(c *classCount) float64) func(o *observer) float64 {
	return func(o *observer) float64 { return o.sum(a) / o.sum(b) }
}

func levels(o *observer, which []int) float64 {
	total := 0.0
	for _, l := range which {
		total += o.mean(l)
	}
	return total
}

// What quotients are made of.
func enqueued(c *classCount) float64  { return c.enqueued }
func done(c *classCount) float64      { return c.done }
func dead(c *classCount) float64      { return c.dead }
func ended(c *classCount) float64     { return c.done + c.dead }
func attempts(c *classCount) float64  { return c.attempts }
func claims(c *classCount) float64    { return c.claims[engine.Fresh] + c.claims[engine.Retry] }
func waited(c *classCount) float64    { return c.waited[engine.Fresh] + c.waited[engine.Retry] }
func firstWait(c *classCount) float64 { return c.waited[engine.Fresh] }
func laterWait(c *classCount) float64 { return c.waited[engine.Retry] }
func firsts(c *classCount) float64    { return c.claims[engine.Fresh] }
func laters(c *classCount) float64    { return c.claims[engine.Retry] }

// usual are the quantities that mean the same in every model.
var usual = map[string]gauge{
	"p_wait":                      shareOf(func(c *classCount) float64 { return c.claims[engine.Fresh] - c.atOnce }, firsts),
	"wait_mean":                   mean(quotient(firstWait, firsts)),
	"fresh_wait_mean":             mean(quotient(firstWait, firsts)),
	"retry_wait_mean":             mean(quotient(laterWait, laters)),
	"wait_mean_per_attempt":       mean(quotient(waited, claims)),
	"all_attempts_wait_mean":      mean(quotient(waited, claims)),
	"all_wait_mean":               mean(quotient(waited, claims)),
	"wait_all":                    mean(quotient(waited, claims)),
	"wait_m2":                     moment(quotient(func(c *classCount) float64 { return c.squared[engine.Fresh] }, firsts)),
	"wait_var":                    moment(waitVariance),
	"queue_len_mean":              level(freshReady, retryReady),
	"fresh_queue_mean":            level(freshReady),
	"retry_queue_mean":            level(retryReady),
	"in_system_mean":              level(freshReady, retryReady, inFlight),
	"orbit_mean":                  level(waiting),
	"busy_mean":                   level(busy),
	"concurrency":                 level(busy),
	"sojourn_mean":                mean(quotient(func(c *classCount) float64 { return c.doneAfter }, done)),
	"time_to_success_mean":        mean(quotient(func(c *classCount) float64 { return c.doneAfter }, done)),
	"time_to_dead_mean":           mean(quotient(func(c *classCount) float64 { return c.deadAfter }, dead)),
	"time_to_final_mean":          mean(quotient(func(c *classCount) float64 { return c.doneAfter + c.deadAfter }, ended)),
	"attempts_mean":               mean(quotient(attempts, ended)),
	"attempts_var":                moment(attemptsVariance),
	"attempts_mean_given_success": mean(quotient(func(c *classCount) float64 { return c.attemptsDone }, done)),
	"retry_amplification":         mean(quotient(claims, enqueued)),
	"amplification":               mean(quotient(claims, enqueued)),
	"load_per_call":               mean(quotient(claims, enqueued)),
	"p_dead":                      shareOf(dead, ended),
	"success":                     shareOf(done, enqueued),
	"attempt_rate": mean(func(o *observer) float64 {
		return (o.clockClaims[engine.Fresh] + o.clockClaims[engine.Retry]) / o.length()
	}),
	"fresh_rate":         mean(func(o *observer) float64 { return o.clockClaims[engine.Fresh] / o.length() }),
	"retry_rate":         mean(func(o *observer) float64 { return o.clockClaims[engine.Retry] / o.length() }),
	"retry_attempt_rate": mean(func(o *observer) float64 { return o.clockClaims[engine.Retry] / o.length() }),
	"retry_share_of_claims": mean(func(o *observer) float64 {
		return o.clockClaims[engine.Retry] / (o.clockClaims[engine.Fresh] + o.clockClaims[engine.Retry])
	}),
}

func waitVariance(o *observer) float64 {
	n := o.sum(firsts)
	m := o.sum(firstWait) / n
	return o.sum(func(c *classCount) float64 { return c.squared[engine.Fresh] })/n - float64(m*m)
}

func attemptsVariance(o *observer) float64 {
	n := o.sum(ended)
	m := o.sum(attempts) / n
	return o.sum(func(c *classCount) float64 { return c.attempts2 })/n - float64(m*m)
}

// negligible is below every wait that is measured: 1 ns.
const negligible = 1e-9

// usualMeasure finds what is of no family: one of usual, a quantile by its name, or a
// probability to wait longer than it says. It adds to plan what they need.
func usualMeasure(key string, expected any, workers int, plan *observation) (gauge, bool) {
	if key == "rho" {
		return mean(func(o *observer) float64 { return o.mean(busy) / float64(workers) }), true
	}
	if text, ok := strings.CutPrefix(key, "p_wait_gt_"); ok {
		limit, err := strconv.ParseFloat(text, 64)
		index := len(plan.thresholds)
		plan.thresholds = append(plan.thresholds, time.Duration(limit*1e9))
		return shareOf(func(c *classCount) float64 { return c.above[index] }, firsts), err == nil
	}
	for _, family := range []struct {
		prefix string
		of     func(c *classCount) *durations
	}{{"wait_p", firstWaits}, {"fresh_wait_p", firstWaits}, {"sojourn_p", sojourns}} {
		text, ok := strings.CutPrefix(key, family.prefix)
		digits, err := strconv.ParseUint(text, 10, 32)
		if !ok || err != nil {
			continue
		}
		return quantileOf(float64(digits)/math.Pow(10, float64(len(text))), family.of, -1, expected), true
	}
	m, ok := usual[key]
	return m, ok
}

// quantileOf is a quantile of a distribution. One that is expected to be as good as 0 lies
// in the lump of those that did not wait: what can be measured is how large that is.
func quantileOf(q float64, of func(c *classCount) *durations, class int, expected any) gauge {
	if v, ok := expected.(float64); ok && v < negligible {
		m := shareOf(func(c *classCount) float64 { return c.atOnce }, firsts)
		m.shape, m.bound = atLeast, q
		return m
	}
	m := gauge{shape: ofMean, distribution: of, class: class, quantile: q}
	if q >= 0.99 {
		m.shape = ofTail
	}
	return m
}
