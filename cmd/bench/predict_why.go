package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"qsim/engine"
	"qsim/results/measure"
	"qsim/results/plain"
	"qsim/scenarios/world"
)

// why returns a sentence on the cause of an error beyond the aim: timers, another calibration, or what is not measured.
func (p *prediction) why(row *predicted, speed world.Speed) string {
	c := p.calibration
	if row.Unit == "s" {
		difference := math.Abs(row.Simulated-row.Real) / speed.Float()
		wake, sleep := spreadOf(c.delays.Wake), spreadOf(c.delays.Overrun)
		if difference < sleep[0].Seconds() || difference < (wake[1]-wake[0]).Seconds() {
			return fmt.Sprintf("below what this machine can time: the two are %s of the wall clock apart, where timers are "+
				"%s late (median) and waking an engine takes %s to %s (median, p99)",
				seconds(difference), seconds(sleep[0].Seconds()), seconds(wake[0].Seconds()), seconds(wake[1].Seconds()))
		}
	}
	return "with the delays of the run itself the simulation is off by " + errorText(row.Hindsight) +
		plain.Either(math.Abs(row.Hindsight) <= p.aim,
			": the delays in the run were not those of the calibration (other load, or another machine state)",
			": there is more to it than was measured") +
		plain.When(len(p.played) == 1, "; one run: --rounds says how far real runs of the seed differ")
}

// cliffPoints and cliffRatio define a cliff of the distribution at a quantile: the simulated and the real share of jobs
// differ by at most cliffPoints, but the quantiles on both sides by at least a factor of cliffRatio.
const (
	cliffPoints = .05
	cliffRatio  = 2
)

// apart holds the simulated and the real share of jobs that waited at most the real value of a quantile, over all
// seeds. Where the distribution function is flat, a small difference of these shares makes a large one of the quantile.
type apart struct {
	Simulated float64          `json:"simulated"` // share of jobs that waited no longer than the real value
	Real      float64          `json:"real"`
	quantiles [2]float64       // two quantiles, below and above the metric's
	around    [2]time.Duration // their values in the real run; jobs still waiting count with their ages
}

// points returns the absolute difference of the simulated and the real share of jobs, in [0, 1].
func (a *apart) points() float64 { return math.Abs(a.Simulated - a.Real) }

// apartAt compares the simulated and real distribution at the real value of a quantile metric; nil for other metrics.
func (p *prediction) apartAt(row *predicted) *apart {
	query, known := measure.HistogramOf(row.Query)
	if !known || math.IsNaN(row.Real) {
		return nil
	}
	var of [2]*measure.NamedHistogram
	for i := range of {
		pooled := p.summary.Data[i].Pooled
		at := slices.IndexFunc(pooled, func(n measure.NamedHistogram) bool { return n.Query == query })
		if at < 0 || pooled[at].Count() == 0 {
			return nil
		}
		of[i] = &pooled[at]
	}
	info, _ := measure.Lookup(row.Metric)
	q := info.Quantile
	step := min(.05, (1-q)/2)
	a := &apart{Simulated: shareWithin(of[0], row.Real), Real: shareWithin(of[1], row.Real),
		quantiles: [2]float64{q - step, q + step}}
	var all measure.Histogram
	all.Merge(&of[1].Ended)
	all.Merge(&of[1].Unresolved)
	for i, q := range a.quantiles {
		a.around[i] = all.Quantile(q)
	}
	return a
}

// shareWithin returns the share of jobs that waited at most limit seconds, accurate to the width of a bucket. Jobs
// still waiting at the end count as longer.
func shareWithin(n *measure.NamedHistogram, limit float64) float64 {
	within := int64(0)
	for _, b := range n.Ended.Ranges() {
		if b.Low.Seconds() <= limit {
			within += b.Count
		}
	}
	return float64(within) / float64(n.Count())
}

// String returns a sentence with the shares of jobs in run and simulation, and the quantiles next to the metric's.
func (a *apart) String() string {
	cliff := a.points() <= cliffPoints && a.around[1] >= cliffRatio*a.around[0]
	return fmt.Sprintf("of the jobs %.1f%% waited no longer than that in the run and %.1f%% in the simulation, "+
		"%.1f points apart; the run's p%s is %s and its p%s %s", a.Real*100, a.Simulated*100, a.points()*100,
		digits(a.quantiles[0]), plain.Duration(a.around[0].Seconds()),
		digits(a.quantiles[1]), plain.Duration(a.around[1].Seconds())) +
		plain.When(cliff, ": a cliff, and few jobs decide on which side of it the quantile lies")
}

// digits returns a quantile in the digits of metric names: 45 for .45, 98.5 for .985.
func digits(q float64) string { return plain.Fixed(q*100, 2) }

// changes returns the differences between the durations measured in the last real run and in its calibration, as texts.
func (p *prediction) changes() []string {
	var list []string
	is, was := p.played[len(p.played)-1], p.calibration
	differ := func(what string, a, b time.Duration) {
		if gap := (a - b).Abs(); gap > 20*time.Microsecond && gap > b/5 {
			list = append(list, fmt.Sprintf("%s %s in the run, %s in the calibration", what, seconds(a.Seconds()),
				seconds(b.Seconds())))
		}
	}
	differ("workers were busy longer than their handlers were to take by (mean)", is.timings.overrun(), was.overrun())
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		differ("a "+op.String()+" took", is.timings.took[op], was.took[op])
	}
	for _, op := range []engine.Op{engine.OpClaim, engine.OpCommit} {
		if a, b := is.timings.coming[op], is.timings.after[op]; b > 0 && a > b*6/5 && a-b > 20*time.Microsecond {
			list = append(list, fmt.Sprintf("a %v took %s while jobs came and %s when no more did: the store was at its "+
				"limit, and a simulation takes delays for independent of the load", op, seconds(a.Seconds()), seconds(b.Seconds())))
		}
	}
	shares := func(what string, a, b float64) {
		if math.Abs(a-b) > .005 {
			list = append(list, fmt.Sprintf("%s %.1f%% of the time in the run, %.1f%% in the calibration", what, a*100, b*100))
		}
	}
	shares("engines were held up for", is.timings.stalled, was.stalled)
	shares("jobs that came were held up for", is.timings.held, was.held)
	shares("the store answered nothing for", is.timings.frozen, was.frozen)
	if is.late > 0 {
		list = append(list, plain.Plural(int(is.late), "call")+" had no answer in time")
	}
	return list
}
