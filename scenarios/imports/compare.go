package imports

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// Comparison compares a wait in the records with that in the simulation of the written scenario.
type Comparison struct {
	What                string // fresh wait, retry wait or sojourn; with a class, or of all
	Recorded, Simulated *measure.Histogram
	// Distance is the largest difference of the shares of jobs up to any wait, in [0, 1], where waits count as different
	// if they are apart by more than Slack and a twentieth; for sojourns plus the linger of acks.
	Distance float64
	// Number, if it is not nil, is compared instead of a wait.
	Number *NumberPair
}

// NumberPair compares a share of jobs, or a mean, in the records with that in the simulation.
type NumberPair struct {
	Recorded, Simulated float64
	Tolerance           float64 // largest difference that passes: a tenth of Recorded and, for a share, what is chance
	Share               bool    // the value is a share of jobs, in [0, 1]
}

// Slack is the largest difference between two waits that count as equal: recorded waits end when a worker begins a job,
// simulated ones when it is claimed.
const Slack = 10 * time.Millisecond

const (
	closeDistance = 0.1  // highest distance of waits that are close to the recorded ones: one job in ten has another wait
	closeTail     = 0.25 // highest relative error of the 99th percentile, beyond chance
	closeNumber   = 0.1  // highest relative error of a number
	leastCompared = 20   // waits that must be recorded for a comparison
)

// Close reports whether the recorded and the simulated value agree. With few waits, chance alone makes distances above
// 1.63/√n with a probability of 1 % (Smirnov's limit).
func (c *Comparison) Close() bool {
	if n := c.Number; n != nil {
		return math.Abs(n.Recorded-n.Simulated) <= n.Tolerance
	}
	return !longer(c.Recorded, c.Simulated) && !longer(c.Simulated, c.Recorded) &&
		c.Distance <= max(closeDistance, 1.63/math.Sqrt(float64(c.Recorded.Count())))
}

// longer reports whether the 99th percentile of a is above that of b beyond chance and closeTail. Chance is the
// confidence interval, of 99 %, by order statistics: as if waits did not depend on each other.
func longer(a, b *measure.Histogram) bool {
	end := func(h *measure.Histogram, deviations float64) float64 {
		return float64(h.Quantile(min(max(0, 0.99+deviations*math.Sqrt(0.99*0.01/float64(h.Count()))), 1)))
	}
	return end(a, -2.58) > (1+closeTail)*end(b, 2.58)+float64(Slack)
}

// measured lists the metrics in which a simulation is compared with the records, those of the waits of a class.
var measured = [...]string{"fresh.wait", "retry.wait", "sojourn"}

func (c *Class) waits() [len(measured)]*measure.Histogram {
	return [...]*measure.Histogram{c.Wait, c.RetryWait, c.Sojourn}
}

// Compare simulates the written scenario and compares its waits, deaths and attempts per job with the records. Waits
// that are not recorded are left out.
func (r *Recording) Compare(ctx context.Context, w *Written, parallel int) (all []Comparison, err error) {
	sc := w.Scenario
	classes := plain.Either(len(r.Classes) == 1, nil, r.Classes) // a single class stands for all jobs
	var queries []measure.Query
	for _, c := range classes {
		for k, recorded := range c.waits() {
			if recorded.Count() >= leastCompared {
				queries = append(queries, measure.Query{Metric: measured[k] + ".p99", Class: c.Name})
			}
		}
	}
	if err := sc.Measure(queries); err != nil {
		return nil, err
	}
	runs, err := world.Run(ctx, sc, world.Options{Parallel: parallel})
	if err != nil {
		return nil, err
	}
	settings := world.Settings(sc)
	summary, err := results.Summarize(&settings, runs, results.Options{})
	if err != nil {
		return nil, fmt.Errorf("summarize: %w", err)
	}
	for k, metric := range measured {
		slack := Slack
		if metric == "sojourn" { // it ends with the ack, which waits for others; a record's with the run
			slack += sc.Engine.Commit.Linger.Std()
		}
		for _, c := range append([]Class{r.all}, classes...) {
			recorded, query := c.waits()[k], measure.Query{Metric: metric, Class: c.Name}
			for _, h := range summary.Data[0].Pooled {
				if h.Query == query && recorded.Count() >= leastCompared && h.Ended.Count() > 0 {
					what := plain.Joined(" ", strings.ReplaceAll(metric, ".", " "), c.Name)
					all = append(all, Comparison{What: what, Recorded: recorded, Simulated: &h.Ended,
						Distance: apart(recorded, &h.Ended, slack)})
				}
			}
		}
	}
	return append(all, r.numbers(summary)...), nil
}

// numbers compares the recorded share of dead jobs and attempts per job with those of the simulation. Of jobs still
// open at the end of the records, the attempts until then count.
func (r *Recording) numbers(summary *results.Summary) (all []Comparison) {
	if r.all.Jobs < leastCompared {
		return nil
	}
	n := float64(r.all.Jobs)
	for _, one := range []struct {
		what, metric string
		recorded     float64
		share        bool
	}{
		{"dead share", "dead.share", float64(r.all.Dead) / n, true},
		{"attempts per job", "attempts.mean", float64(r.all.Attempts) / n, false},
	} {
		e := summary.Policies[0].Find(measure.Query{Metric: one.metric})
		if e == nil || math.IsNaN(e.Mean) {
			continue
		}
		pair := NumberPair{one.recorded, e.Mean, closeNumber * one.recorded, one.share}
		if one.share { // a share's own scatter, and that of the simulation, at 99 %
			p := (one.recorded + e.Mean) / 2
			pair.Tolerance += 2.58*math.Sqrt(2*p*(1-p)/n) + 1/n
		}
		all = append(all, Comparison{What: one.what, Number: &pair})
	}
	return all
}

// apart returns the Kolmogorov-Smirnov distance of two histograms of waits, except that small shifts do not count: the
// most by which the cumulative share of one at a wait exceeds that of the other at a slightly longer wait.
func apart(a, b *measure.Histogram, slack time.Duration) float64 {
	return max(exceeds(a, b, slack), exceeds(b, a, slack))
}

func exceeds(a, b *measure.Histogram, slack time.Duration) float64 {
	most, k := 0.0, 0
	var upToA, upToB int64
	bs := b.Ranges()
	for _, bucket := range a.Ranges() {
		upToA += bucket.Count
		for reach := bucket.High + slack + bucket.High/20; k < len(bs) && bs[k].Low <= reach; k++ {
			upToB += bs[k].Count
		}
		most = max(most, float64(upToA)/float64(a.Count())-float64(upToB)/float64(b.Count()))
	}
	return most
}
