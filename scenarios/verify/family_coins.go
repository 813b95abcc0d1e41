package verify

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"qsim/results"
	"qsim/results/plain"
)

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
