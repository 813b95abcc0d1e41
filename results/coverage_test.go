package results

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"qsim/engine/keyed"
	"qsim/results/measure"
	"qsim/results/plain"
)

// The claimed coverage of intervals and error rates of tests, checked by 1000 meta-replications:
// experiments on data with known truth. The counts scatter about the claimed rates like coin
// tosses, so each test has a band for its count, and a false-alarm rate: the probability that a
// true claim falls outside the band, computed from the binomial distribution and checked. The draws
// are keyed, so that a test always passes or always fails; the rate applies to a change of its
// keys.
const metaReplications = 1000

// band is where a count of metaReplications must lie if each counts with probability p.
type band struct {
	low, high int
	p         float64
	falsely   float64 // highest false-alarm rate of the band
}

// check fails unless n lies in the band and its false-alarm rate is at most the stated one.
func (b band) check(t *testing.T, what string, n int) {
	t.Helper()
	d := distuv.Binomial{N: metaReplications, P: b.p}
	if alarm := d.CDF(float64(b.low-1)) + 1 - d.CDF(float64(b.high)); alarm > b.falsely {
		t.Errorf("%s: the band [%d, %d] raises a false alarm with probability %.2g, more than %v", what, b.low, b.high, alarm, b.falsely)
	}
	if n < b.low || n > b.high {
		t.Errorf("%s: %d of %d, want [%d, %d]", what, n, metaReplications, b.low, b.high)
	}
}

// ninetyFive is the band of an interval that covers the truth with probability 95 %: one count in
// 125 is outside.
var ninetyFive = band{931, 967, 0.95, 0.008}

// draw is uniform in (0, 1) and depends on its keys alone.
func draw(meta, seed, i, purpose int) float64 {
	return keyed.Rand{Seed: uint64(meta)}.Uniform(keyed.ForPolicy, uint64(seed), uint64(i), uint16(purpose))
}

// skipRaced skips the longest sums under the race detector: they use one goroutine.
func skipRaced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one goroutine, millions of draws")
	}
}

// seedMean returns what one seed of one experiment measures of a mean that is 1: the mean of 30 exponential waits.
func seedMean(meta, seed, purpose int) float64 {
	sum := 0.0
	for i := range 30 {
		sum -= math.Log(draw(meta, seed, i, purpose))
	}
	return sum / 30
}

// runsOf returns runs, with the seeds 1, 2, ..., that measured the given values of one metric.
func runsOf(metric string, values []float64) []*measure.Run {
	var runs []*measure.Run
	for i, v := range values {
		runs = append(runs, &measure.Run{Seed: uint64(i + 1), Values: []measure.Value{{Query: measure.Query{Metric: metric}, Value: v}}})
	}
	return runs
}

func TestCoverageOfMeans(t *testing.T) {
	for _, seeds := range []int{2, 5, 20} {
		covered := 0
		for meta := range metaReplications {
			var values []float64
			for seed := range seeds {
				values = append(values, seedMean(meta, seed, seeds))
			}
			if e := estimate(measure.Query{Metric: "sojourn.mean"}, runsOf("sojourn.mean", values), nil); e.Low <= 1 && 1 <= e.High {
				covered++
			}
		}
		ninetyFive.check(t, plain.Plural(seeds, "seed"), covered)
	}
}

// Two policies share most random draws, so that the differences scatter a tenth as much as the
// values.
func TestCoverageOfPairedDifferences(t *testing.T) {
	covered, narrow := 0, 0
	for meta := range metaReplications {
		var a, b []float64
		for seed := range 10 {
			common := seedMean(meta, seed, 1)
			a = append(a, common)
			b = append(b, common+0.3+0.1*seedMean(meta, seed, 2)-0.1)
		}
		base := estimate(measure.Query{Metric: "sojourn.mean"}, runsOf("sojourn.mean", a), nil)
		e := estimate(measure.Query{Metric: "sojourn.mean"}, runsOf("sojourn.mean", b), nil)
		d, _, _ := difference(&e, &base)
		if d.Low <= 0.3 && 0.3 <= d.High {
			covered++
		}
		if d.High-d.Low < (e.High-e.Low)/3 {
			narrow++
		}
	}
	ninetyFive.check(t, "paired differences", covered)
	if narrow < metaReplications*99/100 {
		t.Errorf("only %d intervals are a third as wide as those of the values", narrow)
	}
}

// The sides differ in number and, four times, in deviation: the common t test would cover 80 %.
func TestCoverageOfIndependentDifferences(t *testing.T) {
	covered := 0
	for meta := range metaReplications {
		var a, b []float64
		for seed := range 8 {
			a = append(a, 1+4*(seedMean(meta, seed, 1)-1))
		}
		for seed := range 24 {
			b = append(b, 1.3+seedMean(meta, seed, 2)-1)
		}
		if mean, half, _ := contrast(aboutMean(a), aboutMean(b), 1, false); math.Abs(mean-0.3) <= half {
			covered++
		}
	}
	ninetyFive.check(t, "independent differences", covered)
}

// The p99 of exponential waits, from so few waits per seed that the mean of the seeds' quantiles is
// biased: sectioning has the claimed coverage, the mean of the quantiles far less.
func TestCoverageOfQuantiles(t *testing.T) {
	skipRaced(t)
	const seeds, jobs = 20, 300
	truth := -math.Log(0.01)
	q := measure.Query{Metric: "fresh.wait.p99"}
	covered, naive := 0, 0
	for meta := range metaReplications {
		var runs []*measure.Run
		var sections []float64
		for seed := range seeds {
			var h measure.Histogram
			for i := range jobs {
				h.Record(time.Duration(-math.Log(draw(meta, seed, i, 3)) * 1e9))
			}
			v := h.Quantile(0.99).Seconds()
			sections = append(sections, v)
			run := &measure.Run{Values: []measure.Value{{Query: q, Value: v}}}
			run.Histograms = []measure.NamedHistogram{{Query: measure.Query{Metric: "fresh.wait"}, Waits: measure.Waits{Ended: h}}}
			runs = append(runs, run)
		}
		if e := estimate(q, runs, measure.Pool(runs)); e.Low <= truth && truth <= e.High {
			covered++
		}
		if mean, half := Interval(sections); math.Abs(mean-truth) <= half {
			naive++
		}
	}
	ninetyFive.check(t, "sectioning", covered)
	if naive > covered-30 {
		t.Errorf("the mean of quantiles covers %d times, sectioning %d times", naive, covered)
	}
}

// Nothing differs, and twelve metrics are tested at once: in 5 % of the experiments, at most,
// one or more differ by the test. They would in 46 % without Holm's adjustment.
func TestFalseAlarmsOfFamilies(t *testing.T) {
	skipRaced(t)
	alarms, unadjusted := 0, 0
	for meta := range metaReplications {
		var all [12]Contrast
		var family []*Contrast
		naive := false
		for k := range all {
			var a, b []float64
			for seed := range 8 {
				a, b = append(a, seedMean(meta, seed, 2*k)), append(b, seedMean(meta, seed, 2*k+1))
			}
			all[k], _, _ = difference(&Estimate{Values: b}, &Estimate{Values: a})
			family = append(family, &all[k])
			naive = naive || all[k].P < alpha
		}
		decide(family)
		shown := false
		for _, d := range family {
			shown = shown || d.Shown
		}
		if shown {
			alarms++
		}
		if naive {
			unadjusted++
		}
	}
	band{28, 73, 0.05, 0.0015}.check(t, "a difference shown", alarms)
	if unadjusted < 400 {
		t.Errorf("without adjustment %d of %d", unadjusted, metaReplications)
	}
}

// Four metrics are worse by exactly the gate's limit: at most 2.5 % of the experiments fail it. A
// tenth more, and nearly all do.
func TestFalseAlarmsOfTheGate(t *testing.T) {
	names := []string{"sojourn.mean", "fresh.wait.mean", "wasted", "goodput"}
	failed := func(meta int, worse float64) bool {
		base, new := map[string][]float64{}, map[string][]float64{}
		for k, name := range names {
			for seed := range 8 {
				common := seedMean(meta, seed, 2*k)
				factor := 1.1 * worse
				if name == "goodput" {
					factor = 0.9 / worse
				}
				base[name] = append(base[name], common)
				new[name] = append(new[name], common*factor+0.1*(seedMean(meta, seed, 2*k+1)-1))
			}
		}
		return compared(t, result("A", base), result("B", new), Gate{Set: true, Most: 0.1}).Exit == 1
	}
	atTheLimit, beyond := 0, 0
	for meta := range metaReplications {
		if failed(meta, 1) {
			atTheLimit++
		}
		if meta < 100 && failed(meta, 1.1) {
			beyond++
		}
	}
	band{10, 43, 0.025, 0.0015}.check(t, "gates failed", atTheLimit)
	if beyond < 95 {
		t.Errorf("beyond the limit %d of 100 gates fail", beyond)
	}
}

// Seeds are added until the relative error is at most 5 %, with 95 % confidence. Though the
// rule looks after every seed, it stops early by chance no more often than that allows.
func TestCoverageOfTheStoppingRule(t *testing.T) {
	skipRaced(t)
	s := watching()
	s.Policies = s.Policies[:1]
	within, seeds := 0, 0
	for meta := range metaReplications {
		w := NewWatch(s, 0.05)
		sum := 0.0
		for seed := range 200 {
			v := seedMean(meta, seed, 4)
			sum += v
			if w.Add([]measure.Run{{Seed: uint64(seed), Values: []measure.Value{{Query: measure.Query{Metric: "goodput"}, Value: v}}}}) {
				seeds += seed + 1
				if mean := sum / float64(seed+1); math.Abs(mean-1) <= 0.05 {
					within++
				}
				break
			}
		}
	}
	band{931, 972, 0.95, 0.005}.check(t, "means within the error", within)
	if mean := float64(seeds) / metaReplications; mean < 45 || mean > 75 { // (1.96·0.183/0.048)² = 57
		t.Errorf("%v seeds on the average", mean)
	}
}
