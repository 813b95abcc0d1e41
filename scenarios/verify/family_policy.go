package verify

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine"
	"qsim/engine/quantity"
	"qsim/policies"
	"qsim/results"
	"qsim/results/plain"
)

// Policies that tell fresh jobs from retries.

// services maps the words for service times in verify rows, such as exp, to functions that read the distribution.
var services = map[string]func(p *params) service{
	"exp": meanService, "exponential": meanService,
	"det": constantService("mean"), "deterministic": constantService("mean"), "constant": constantService("mean"),
	"D": constantService("mean"), "logn": variedService("lognormal"), "lognormal": variedService("lognormal"),
	"h2": variedService("hyperexponential"), "hyperexponential": variedService("hyperexponential"),
	"gamma": variedService("gamma"),
}

func meanService(p *params) service {
	mean := p.positive("mean")
	return service{exponential(mean), mean, 1}
}

// freshFirst returns an experiment on the mean wait of fresh jobs at one worker that always prefers them to retries, in
// a row without a backoff if this wait does not depend on it.
func freshFirst(p *params) ([]experiment, error) {
	rate, fail, most := p.positive("lam"), p.share("p"), p.limit("max_attempts")
	word := p.text("service")
	of := services[word]
	if of == nil {
		p.wrong("params.service: %q is none of exp, det, logn, h2, gamma", word)
		return nil, nil
	}
	own := of(p)
	delay := 2 * own.mean
	if p.has("backoff_mean") {
		delay = p.number("backoff_mean")
	}
	return retrying(rate, own, 1, fail, most, randomDelay(delay), delay, "{kind: fresh-first}"), nil
}

// freshFirstOrbit returns an experiment on waits and on the orbit (jobs in backoff) at c workers with exponential
// service times, under the policy fresh-first.
func freshFirstOrbit(p *params) ([]experiment, error) {
	own, delay := exponentialService(p), p.positive("backoff_mean")
	return retrying(p.positive("lam"), own, p.count("c"), p.share("p"), 0, randomDelay(delay), delay,
		"{kind: fresh-first}"), nil
}

// policyChain returns an experiment on waits, queue lengths and claim rates of fresh jobs and retries at c workers with
// exponential service times. The row gives the policy, and perhaps a cap on retries in flight.
func policyChain(p *params) ([]experiment, error) {
	rate, own, c, fail := p.positive("lam_f"), exponentialService(p), p.count("c"), p.share("p")
	delay := 1 / p.positive("theta")
	x := retrying(rate, own, c, fail, 0, randomDelay(delay), delay, "{kind: fifo}")
	switch phi, fifo := freshShare(p); {
	case fifo && p.has("cap"):
		x[0].setup.policy = fmt.Sprintf("{kind: inflight-cap, retries: %d}", p.count("cap"))
	case fifo:
	case p.has("cap"):
		most := p.count("cap")
		x[0].policy = func(int) engine.Policy { return &cappedCoins{fresh: phi, cap: most} }
	case phi == 1:
		x[0].setup.policy = "{kind: fresh-first}"
	case phi == 0:
		x[0].setup.policy = "{kind: retry-first}"
	default:
		x[0].setup.policy = fmt.Sprintf("{kind: bernoulli, fresh: %s}", percent(phi))
	}
	return x, nil
}

// freshShare returns, for the policy that a row names, the probability phi that it claims a fresh job where a retry is
// ready, too; fifo is true for a policy that does not tell them apart.
func freshShare(p *params) (phi float64, fifo bool) {
	switch word := p.text("policy"); word {
	case "fresh_first":
		return 1, false
	case "retry_first":
		return 0, false
	case "bernoulli":
		return p.share("phi"), false
	case "fifo":
	default:
		p.wrong("params.policy: %q is none of fresh_first, retry_first, bernoulli, fifo", word)
	}
	return 0, true
}

// cappedCoins is the policy bernoulli with a cap on retries in flight, which no scenario can have.
type cappedCoins struct {
	fresh float64
	cap   int
}

// Plan divides the idle workers between fresh jobs and retries, each by a coin toss. Workers for which one class has no
// job go to the other, but never more to retries than the cap allows.
func (c *cappedCoins) Plan(v *engine.View, dst []engine.Term) []engine.Term {
	fresh := 0
	for n := range v.Idle {
		if v.Draw(uint16(n)) < c.fresh {
			fresh++
		}
	}
	room := max(c.cap-v.InFlight[engine.Retry], 0)
	retries := min(v.Idle-fresh, room)
	return append(dst,
		engine.Term{Class: engine.Fresh, Limit: fresh},
		engine.Term{Class: engine.Retry, Limit: retries},
		engine.Term{Class: engine.Fresh, Limit: v.Idle},
		engine.Term{Class: engine.Retry, Limit: room - retries})
}

// Observe does nothing: coin tosses do not depend on what happened.
func (*cappedCoins) Observe(*engine.Observation) {}

// saturated returns experiments on waits of fresh jobs that get a share phi of claims; endless retries get the rest.
func saturated(p *params) ([]experiment, error) {
	own := exponentialService(p)
	return besideRetries(p, own, own, p.count("c")), nil
}

func saturatedByMoments(p *params) ([]experiment, error) {
	return besideRetries(p, byMoments(p, "fresh_m1", "fresh_m2"), byMoments(p, "retry_m1", "retry_m2"), 1), nil
}

func besideRetries(p *params, own, retries service, c int) []experiment {
	rate, phi := p.positive("lam_fresh"), p.share("phi")
	length, cv := own.mean, max(own.cv, retries.cv)
	turn := (phi*length + (1-phi)*retries.mean) / phi / float64(c) // s between claims for fresh jobs
	policy := fmt.Sprintf("{kind: bernoulli, fresh: %s}", percent(phi))
	endless := 10*c + 100 // jobs that always fail and are ready again at once: retries without end
	again := class("again", atOnce(endless, 0), retries.text, fails(1))
	waits := setup{workers: c, policy: policy, classes: []string{again, class("job", poisson(rate), own.text)}}
	waits.horizon(relaxation(rate*turn, 1/turn, cv)+float64(endless)*turn, rate)
	waits.window = max(waits.window/4, usualJobs/rate)
	waits.drain = 100 * turn / (1 - min(rate*turn, 0.99))
	full := setup{workers: c, policy: policy, classes: []string{again, class("job", atOnce(30_000+20*c, 0), own.text)}}
	full.warmup, full.window = math.Ceil(float64(endless)*turn), math.Ceil(20_000*turn)
	capacity := func(o *observer) float64 { return o.clockClaims[engine.Fresh] / o.length() }
	fresh := observation{counted: []bool{false, true}}
	waiting := observation{counted: fresh.counted, on: func(o *observer, e *engine.Event) {
		if e.Kind == engine.Leased && e.Class == engine.Retry && o.inWindow(o.now) { // over all classes
			o.own[0]++
		}
	}}
	return []experiment{
		{setup: waits, load: rate * turn, plan: waiting, others: true, measures: map[string]gauge{
			"retry_throughput": mean(func(o *observer) float64 { return o.own[0] / o.length() }),
			"queue_len_mean":   level(freshReady),
		}},
		{setup: full, plan: fresh, measures: map[string]gauge{
			"fresh_capacity": mean(capacity),
			"load":           mean(func(o *observer) float64 { return rate / capacity(o) }),
		}},
	}
}

// backlogged returns the setup of one worker that finds, when its process starts at time from, n fresh jobs and n
// retries ready (these failed once before the process was down).
func backlogged(n int, policy string) setup {
	return setup{
		workers: 1, warmup: 1, window: from + float64(n)/500 + 10, policy: policy,
		retry:  retry(0, fmt.Sprintf("{kind: fixed, delay: %s}", seconds(from-500))),
		storms: []string{storm("down", from-600, 600, "crash: {nodes: [0], restart-after: 600s}")},
		classes: []string{
			class("again", atOnce(n, 0), "1ms", "fails: {rate: 100%, takes: 0s}"),
			class("job", atOnce(n, from-400), "1ms"),
		},
	}
}

const from = 5000.0 // s

// claimLog returns a handler for observation.on that appends claims to observer.text, up to most: F (fresh), R (retry).
func claimLog(most int) func(o *observer, e *engine.Event) {
	return func(o *observer, e *engine.Event) {
		if e.Kind == engine.Leased && o.now.Seconds() >= from-1 && len(o.text) < most {
			o.text = append(o.text, "FR"[e.Class])
		}
	}
}

// framePolicy returns a function that makes the policy weighted, with the weights of fresh jobs and retries in a row.
func framePolicy(p *params) func(int) engine.Policy {
	fresh, retries := int64(p.count("w_fresh")), int64(p.count("w_retry"))
	return func(int) engine.Policy { return &policies.Weighted{Fresh: quantity.Fraction(fresh, fresh+retries)} }
}

// frames returns an experiment on the claims of the policy weighted: the order of the first n, and the fewest and the
// most fresh jobs in any n successive claims.
func frames(p *params) ([]experiment, error) {
	n := p.count("claims")
	total := n + 20*(p.count("w_fresh")+p.count("w_retry"))
	windows := func(extreme func(counts []float64) float64) gauge {
		return same(func(o *observer) float64 {
			if len(o.text) < total {
				return math.NaN()
			}
			var fresh []float64
			for end := n; end <= len(o.text); end++ {
				fresh = append(fresh, freshIn(o.text[end-n:end]))
			}
			return extreme(fresh)
		})
	}
	head := func(o *observer) []byte { return o.text[:min(n, len(o.text))] }
	plan := observation{on: claimLog(total)}
	return []experiment{{setup: backlogged(total, ""), fixed: true, policy: framePolicy(p), plan: plan,
		measures: map[string]gauge{
			"fresh_min":             windows(slices.Min),
			"fresh_max":             windows(slices.Max),
			"max_consecutive_retry": same(func(o *observer) float64 { return float64(longestRun(o.text, 'R')) }),
			"order":                 sameText(func(o *observer) string { return string(head(o)) }),
			"fresh":                 same(func(o *observer) float64 { return freshIn(head(o)) }),
			"retry":                 same(func(o *observer) float64 { return float64(len(head(o))) - freshIn(head(o)) }),
		}}}, nil
}

// freshIn returns how many of the claims in a text of claimLog are for fresh jobs.
func freshIn(text []byte) float64 { return float64(bytes.Count(text, []byte("F"))) }

func longestRun(text []byte, letter byte) int {
	longest, run := 0, 0
	for _, c := range text {
		if run++; c != letter {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// coinWindows is the number of windows, each of n successive claims, that coins looks at in one replication.
const coinWindows = 50

// coins returns an experiment on how many of n claims are for fresh jobs if each is by chance, with probability phi.
func coins(p *params) ([]experiment, error) {
	n, phi := p.count("claims"), p.share("phi")
	if phi == 0 || phi == 1 {
		return nil, fmt.Errorf("a share of %g leaves nothing to chance: see wrr", phi)
	}
	total := n * coinWindows
	// over measures a statistic of the values of all windows.
	over := func(of func(list []float64) float64, value func(window []byte) float64) observed {
		return func(o *observer) float64 {
			if len(o.text) < total {
				return math.NaN()
			}
			return of(plain.Map(slices.Collect(slices.Chunk(o.text, n)), value))
		}
	}
	share := func(ok func(window []byte) bool) observed {
		return over(results.MeanOf, func(window []byte) float64 { return plain.Either(ok(window), 1.0, 0) })
	}
	perWindow := func(*observer) float64 { return coinWindows }
	// within measures the tightest limit kept by a share of at least least of the windows. By the law of the coin a
	// window keeps it with probability law(limit), and so do about as many windows; only the law is sharp enough to tell
	// the limit from the next one.
	within := func(
		name string, least float64, tighter int, law func(limit int) float64, ok func(window []byte, limit float64) bool,
	) gauge {
		limit := p.expects(name)
		k := int(limit)
		return gauge{shape: ofLimit, trials: perWindow, of: share(func(w []byte) bool { return ok(w, limit) }),
			law: law(k), sharp: float64(k) == limit && law(k) >= least && law(k+tighter) < least}
	}
	heads := distuv.Binomial{N: float64(n), P: phi}
	const run = "longest_nonfresh_run_p999"
	s := backlogged(total, fmt.Sprintf("{kind: bernoulli, fresh: %s}", percent(phi)))
	return []experiment{{setup: s, heavy: true, plan: observation{on: claimLog(total)}, measures: map[string]gauge{
		"mean": mean(over(results.MeanOf, freshIn)),
		"sd": moment(over(func(list []float64) float64 {
			return math.Sqrt(results.VarianceAbout(list, results.MeanOf(list)))
		}, freshIn)),
		"lo": within("lo", 0.9995, 1, func(k int) float64 { return 1 - heads.CDF(float64(k-1)) },
			func(w []byte, limit float64) bool { return freshIn(w) >= limit }),
		"hi": within("hi", 0.9995, -1, func(k int) float64 { return heads.CDF(float64(k)) },
			func(w []byte, limit float64) bool { return freshIn(w) <= limit }),
		run: within(run, 0.999, -1, func(k int) float64 { return noLongerRun(n, 1-phi, k) },
			func(w []byte, limit float64) bool { return float64(longestRun(w, 'R')) <= limit }),
		"p_longest_run_le_10": shareBy(share(func(w []byte) bool { return longestRun(w, 'R') <= 10 }), perWindow),
	}}}, nil
}

// noLongerRun returns the probability that n independent trials, each a success with probability p, have no run of more
// than k successes, by the Markov chain of the current run's length.
func noLongerRun(n int, p float64, k int) float64 {
	if k < 0 {
		return 0
	}
	k = min(k, n)
	length, all := make([]float64, k+1), 1.0
	length[0] = 1
	for range n {
		over := float64(length[k] * p)
		for i := k; i > 0; i-- {
			length[i] = float64(length[i-1] * p)
		}
		length[0] = float64(all * (1 - p))
		all -= over
	}
	return all
}
