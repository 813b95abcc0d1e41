package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// leastShare is the smallest share of jobs on the y axis of the distribution chart.
const leastShare = .0005

// distribution is the distribution of the waits of fresh jobs until their first claim, under one policy. Jobs that were
// never claimed count as waiting longer than any other.
type distribution struct {
	waits     []float64 // waits in s, ascending
	shares    []float64 // share of the jobs that waited longer than the wait of the same index
	unclaimed float64   // share of the jobs never claimed
	p99       float64   // s: of all jobs, as in the table; infinite if it falls among those never claimed
	none      bool      // the policy had no such job
}

var _ = builtInChart(40, "distribution", "3-ccdf", distributionChart, "Who waits how long",
	"fresh.wait", "fresh.within")

// distributionChart returns the chart of the waits' complementary distribution: the share of fresh jobs that wait
// longer than t, over t. It is nil if no histogram of waits was stored.
func distributionChart(d *drawing) *sheet {
	if d.seeds > 0 && !slices.ContainsFunc(d.summary.Data, func(p results.PolicyData) bool { return p.Pooled != nil }) {
		return nil
	}
	at := d.distributionLimit()
	all := plain.Map(d.summary.Data,
		func(data results.PolicyData) distribution { return newDistribution(find(data.Pooled, at)) })
	values, spell := distributionValues(all, at)
	best, worst := extremes(values)
	s := &sheet{Figure: Figure{Title: d.distributionTitle(all, at, values, best, worst),
		Subtitle: "Share of the " + d.jobsOf(at) + " that waited longer than x (CCDF, both axes log)",
		Footer:   d.footer("all seeds pooled")}}
	what := plain.Either(at.Bound > 0, "Share of "+d.jobsOf(at)+" that wait longer than "+seconds(at.Bound),
		"Fresh p99 wait"+d.ofJobs(at.Query, ""))
	s.alt = d.alt(what, func(i int) string {
		if all[i].none {
			return "no job"
		}
		return spell(values[i]) +
			plain.When(all[i].unclaimed != 0, " ("+percent(all[i].unclaimed)+" never claimed)")
	})
	s.dull = at.Bound == 0 && best >= 0 && shortOrAlike(values)
	from, to := distributionRange(all, at)
	d.addLines(s, lineChart{
		axes: func(p *plot.Plot, steps int, alone bool) {
			p.X.Scale, p.Y.Scale = logScale{}, logScale{}
			p.X.Tick.Marker = waits(0, steps)
			names := [...]string{"p90", "p99", "p99.9"}
			if alone { // there is room
				names = [...]string{"1 in 10 (p90)", "1 in 100 (p99)", "1 in 1000 (p99.9)"}
			}
			p.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "all"}, {Value: .1, Label: names[0]},
				{Value: .01, Label: names[1]}, {Value: .001, Label: names[2]}}
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from, to, leastShare, 1.15
		},
		lines:   func(p *plot.Plot, i int, style draw.LineStyle) []curve { return all[i].lines(p, style) },
		remarks: func(int) []string { return nil },
		tall:    2.7 * vg.Inch, across: "wait until first claim", limit: at,
	}, d.shown(best, worst))
	return s
}

// distributionLimit returns the limit on waits that the distribution chart marks and mentions in its title: that of the
// first objective for whose jobs a histogram was stored. If there is none, the limit has no bound and only selects the
// jobs drawn: those in the title of the wait chart, if they have a histogram, or all.
func (d *drawing) distributionLimit() limit {
	q := d.waitQuery()
	usual := limit{Query: measure.Query{Metric: waitMetric, During: q.During, After: q.After, Class: q.Class}}
	for _, l := range append(d.limits(), usual) {
		if !slices.ContainsFunc(d.summary.Data, func(data results.PolicyData) bool { return find(data.Pooled, l) == nil }) {
			return l
		}
	}
	return limit{Query: measure.Query{Metric: waitMetric}}
}

// jobsOf returns the phrase for the jobs to which a limit applies, such as "fresh jobs of mail".
func (d *drawing) jobsOf(l limit) string {
	return "fresh jobs" + d.ofJobs(l.Query, " enqueued")
}

// find returns the histogram of the waits of the fresh jobs that a limit applies to; nil if there is none.
func find(pooled []measure.NamedHistogram, l limit) *measure.NamedHistogram {
	l.Metric = "fresh.wait"
	return plain.Find(pooled, func(h *measure.NamedHistogram) bool { return h.Query == l.Query })
}

func newDistribution(h *measure.NamedHistogram) (c distribution) {
	if h == nil || h.Count() == 0 {
		c.none = true
		return c
	}
	c.unclaimed = float64(h.Unresolved.Count()) / float64(h.Count())
	c.waits, c.shares = h.CCDF()
	c.p99 = plain.Either(c.unclaimed > .01*(1+1e-9), math.Inf(1), h.Ended.Quantile(.99/(1-c.unclaimed)).Seconds())
	return c
}

// bucketWidth is the ratio of the longest to the shortest wait in one bucket of a histogram.
const bucketWidth = 1 + 1./128

// over returns the share of jobs that waited longer than wait, not counting those in the histogram bucket of wait.
func (c *distribution) over(wait float64) float64 {
	if i := sort.Search(len(c.waits), func(i int) bool { return c.waits[i] > wait*bucketWidth }); i > 0 {
		return c.shares[i-1]
	}
	return 1
}

// longest returns the wait that a share of leastShare of the jobs exceeds, or else the longest one known.
func (c *distribution) longest() float64 {
	fewer := sort.Search(len(c.shares)-1, func(i int) bool { return c.shares[i] <= leastShare*(1+1e-9) })
	return c.waits[fewer]
}

// lines returns the curve of a distribution of waits, and a thin line to the right of it for the jobs never claimed.
func (c *distribution) lines(p *plot.Plot, style draw.LineStyle) []curve {
	if c.none {
		return nil
	}
	xs, ys := []float64{p.X.Min}, []float64{1}
	for i, w := range c.waits {
		if w <= p.X.Min {
			ys[0] = c.shares[i]
			continue
		}
		last := len(xs) - 1
		if c.shares[i] > ys[last]*.99 && i+1 < len(c.waits) { // a third of a point lower: nobody would see it
			continue
		}
		if w > xs[last]*bucketWidth*bucketWidth { // hardly anybody waited so long: a step
			xs, ys = append(xs, w/bucketWidth), append(ys, ys[last])
		}
		xs, ys = append(xs, w), append(ys, math.Max(c.shares[i], leastShare))
		if c.shares[i] < leastShare {
			break
		}
	}
	all := []curve{{xs, ys, style}}
	if c.unclaimed > leastShare {
		style.Width, style.Dashes = .8, []vg.Length{1.5, 2.5}
		all = append(all, curve{[]float64{xs[len(xs)-1], p.X.Max}, []float64{c.unclaimed, c.unclaimed}, style})
	}
	return all
}

// distributionRange returns the range of the wait axis: waits that more than leastShare of jobs exceed, and the limit.
func distributionRange(all []distribution, at limit) (from, to float64) {
	low, high := math.Inf(1), at.Bound
	for _, c := range all {
		if c.none || len(c.waits) == 0 {
			continue
		}
		low = math.Min(low, c.waits[0])
		high = math.Max(high, c.longest())
	}
	if math.IsInf(low, 1) {
		low = high / 100
	}
	low = math.Max(low, high*1e-5)
	if at.Bound > 0 {
		low = math.Min(low, at.Bound)
	}
	from, to, _ = waitRange(low, high)
	return from, to
}

// distributionValues returns, for each policy, the share of jobs that wait longer than the limit or, without a limit,
// the p99 wait, for the title and the alternative text, and the function that formats such a value.
func distributionValues(all []distribution, at limit) ([]float64, func(float64) string) {
	values := make([]float64, len(all))
	for i := range all {
		switch {
		case all[i].none:
			values[i] = math.NaN()
		case at.Bound > 0:
			values[i] = all[i].over(at.Bound)
		default:
			values[i] = all[i].p99
		}
	}
	if at.Bound > 0 {
		return values, percent
	}
	return values, func(v float64) string {
		return plain.Either(math.IsInf(v, 1), "endless", seconds(v))
	}
}

// distributionTitle returns the title of the distribution chart: under which policies the share of jobs that exceed the
// limit (or, without a limit, the p99 wait) is largest and smallest.
func (d *drawing) distributionTitle(all []distribution, at limit, values []float64, best, worst int) string {
	if best < 0 {
		return "There is no fresh job" + d.ofJobs(at.Query, " enqueued") + " to speak of" + under(d.summary)
	}
	if at.Bound == 0 {
		return d.exceededTitle(all, at, values, best, worst)
	}
	jobs := d.jobsOf(at)
	which := strings.TrimPrefix(jobs, "fresh jobs")
	what := jobs + " wait longer than " + seconds(at.Bound) +
		plain.When(max(all[best].unclaimed, all[worst].unclaimed) > 0, " or are never claimed")
	high, low := percent(values[worst]), percent(values[best])
	switch {
	case all[best].unclaimed == 1:
		return "No fresh job" + which + " is claimed" + under(d.summary)
	case values[worst] == 0:
		return "No " + strings.Replace(strings.Replace(what, "jobs", "job", 1), "wait ", "waits ", 1) + under(d.summary)
	case len(d.policies) == 1:
		return fmt.Sprintf("%s of %s with %s", high, what, d.policies[worst].name)
	case high == low:
		return fmt.Sprintf("%s of %s under every policy", high, what)
	}
	return fmt.Sprintf("%s of %s with %s, %s with %s", high, what, d.policies[worst].name, low, d.policies[best].name)
}

// exceededTitle returns the title of a distribution chart without a limit: on the jobs never claimed, if they are so
// many that a p99 wait is unknown, else on the p99 waits, worded as in the results table if that has them all.
func (d *drawing) exceededTitle(all []distribution, at limit, values []float64, best, worst int) string {
	jobs := d.jobsOf(at)
	if math.IsInf(values[worst], 1) {
		lost := plain.Map(all, func(c distribution) float64 { return c.unclaimed })
		least, most := extremes(lost)
		title := fmt.Sprintf("%s of %s are never claimed with %s", percent(lost[most]), jobs, d.policies[most].name)
		switch {
		case !math.IsInf(values[best], 1):
			return fmt.Sprintf("%s; with %s p99 wait is %s", title, d.policies[best].name, seconds(values[best]))
		case percent(lost[least]) != percent(lost[most]):
			return fmt.Sprintf("%s, %s with %s", title, percent(lost[least]), d.policies[least].name)
		case len(all) > 1:
			return fmt.Sprintf("%s of %s are never claimed under any policy", percent(lost[most]), jobs)
		}
		return title
	}
	if title := d.tableTitle(at.Query); title != "" {
		return title
	}
	return d.rangeTitle("Fresh p99 wait"+d.ofJobs(at.Query, "")+" is", seconds, values)
}
