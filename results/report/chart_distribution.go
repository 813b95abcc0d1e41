package report

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
)

// leastShare is where the share axis ends.
const leastShare = .0005

// distribution is how the waits of one policy's fresh jobs are spread. The
// jobs that were never claimed count as waiting longer than any other.
type distribution struct {
	policy
	waits     []float64 // s, ascending
	shares    []float64 // of jobs that waited longer than that
	unclaimed float64   // share of jobs
	none      bool      // there is no job
}

// distributionChart shows which share of fresh jobs waits longer than how long.
func distributionChart(d *drawing) *sheet {
	at := d.distributionLimit()
	all := make([]distribution, len(d.policies))
	for i, p := range d.policies {
		all[i] = newDistribution(p, find(d.summary.Data[i].Pooled, at.during))
	}
	values, spell := distributionValues(all, at)
	best, worst := extremes(values)
	s := &sheet{name: "3-ccdf", footer: d.footer("all seeds pooled")}
	s.title = d.distributionTitle(all, at, values, best, worst)
	s.subtitle = "Share of fresh jobs that waited longer than x"
	if at.during != "" {
		s.subtitle = "Share of the fresh jobs enqueued during " + shorten(clean(at.during), stormLimit) + " that waited longer than x"
	}
	s.subtitle += " (CCDF, both axes log)"
	s.alt = d.alt(s.title, distributionWords(at), func(i int) string {
		if all[i].none {
			return "no job"
		}
		return spell(values[i]) + all[i].unclaimedWords()
	})
	from, to, clipped := distributionRange(all, at)
	axes := func(p *plot.Plot, _ int) {
		p.X.Scale, p.Y.Scale = logScale{}, logScale{}
		p.X.Tick.Marker = waits(clipped)
		p.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "all"}, {Value: .1, Label: "1 in 10 (p90)"}, {Value: .01, Label: "1 in 100 (p99)"}, {Value: .001, Label: "1 in 1000 (p99.9)"}}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from, to, leastShare, 1.15
	}
	if len(all) > together {
		s.subtitle += ", the others in grey" + d.panelWords()
		s.height, s.body = panels(d.shown(best, worst), func(p *plot.Plot, steps int) {
			axes(p, steps)
			p.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "all"}, {Value: .1, Label: "p90"}, {Value: .01, Label: "p99"}, {Value: .001, Label: "p99.9"}}
		}, func(p *plot.Plot, own policy) {
			for _, other := range all {
				p.Add(other.lines(p, draw.LineStyle{Color: context, Width: .6})...)
			}
			p.Add(all[own.index].lines(p, draw.LineStyle{Color: own.hue.line, Width: 1.6})...)
			p.Add(heading{own.name, ""})
		})
		return s
	}
	legend := key{}
	for _, p := range d.policies {
		legend = append(legend, entry{name: p.name, color: p.hue.line, dashes: dashOf(p.index)})
	}
	s.height = 2.9*vg.Inch + legend.height(room)
	s.body = func(c draw.Canvas) {
		p := newPlot()
		axes(p, 0)
		p.X.Label.Text = "wait until first claim"
		for _, own := range all {
			p.Add(own.lines(p, draw.LineStyle{Color: own.hue.line, Width: 1.8, Dashes: dashOf(own.index)})...)
		}
		if at.seconds > 0 {
			p.Add(limitLine{at.seconds, "objective: " + at.text})
		}
		p.Draw(legend.draw(c))
	}
	return s
}

// distributionLimit is the limit that the chart marks and its title speaks of: the
// objective's, over the jobs that the objective means, if there are such data.
func (d *drawing) distributionLimit() limit {
	for _, l := range d.limits() {
		known := true
		for _, data := range d.summary.Data {
			known = known && find(data.Pooled, l.during) != nil
		}
		if known {
			return l
		}
	}
	return limit{}
}

// find is the histogram of the waits of all fresh jobs enqueued in a storm, or in
// the whole run; nil if there is none.
func find(pooled []results.NamedHistogram, during string) *results.NamedHistogram {
	for i := range pooled {
		if pooled[i].Query == (results.Query{Metric: "fresh.wait", During: during}) {
			return &pooled[i]
		}
	}
	return nil
}

func newDistribution(p policy, h *results.NamedHistogram) distribution {
	c := distribution{policy: p}
	if h == nil || h.Hist.Count()+h.Unresolved.Count() == 0 {
		c.none = true
		return c
	}
	c.unclaimed = float64(h.Unresolved.Count()) / float64(h.Hist.Count()+h.Unresolved.Count())
	for _, point := range h.CCDF() {
		c.waits, c.shares = append(c.waits, point.Wait.Seconds()), append(c.shares, point.Share)
	}
	return c
}

// over is the share of jobs that waited longer than wait, to the width of a bucket.
func (c *distribution) over(wait float64) float64 {
	for i, w := range c.waits {
		if w >= wait {
			return c.shares[i]
		}
	}
	return c.unclaimed
}

// exceeded is the wait that the given share of jobs exceeds. more says that the share
// reaches into the unclaimed, so that it is a lower bound.
func (c *distribution) exceeded(share float64) (wait float64, more bool) {
	for i, s := range c.shares {
		if s <= share*(1+1e-9) {
			return c.waits[i], false
		}
	}
	if len(c.waits) == 0 {
		return 0, true
	}
	return c.waits[len(c.waits)-1], true
}

func (c *distribution) unclaimedWords() string {
	if c.unclaimed == 0 {
		return ""
	}
	return " (" + percent(c.unclaimed) + " never claimed)"
}

// lines are c's curve, and a thin line on to the right for the unclaimed, of whom
// it is not known how long they would have waited.
func (c *distribution) lines(p *plot.Plot, style draw.LineStyle) []plot.Plotter {
	if c.none {
		return nil
	}
	xs, ys := []float64{p.X.Min}, []float64{c.over(math.Nextafter(p.X.Min, 0))}
	for i, w := range c.waits {
		if w <= p.X.Min {
			ys[0] = c.shares[i]
			continue
		}
		if c.shares[i] < leastShare {
			xs, ys = append(xs, w), append(ys, leastShare)
			break
		}
		xs, ys = append(xs, w), append(ys, c.shares[i])
	}
	all := []plot.Plotter{curve{xs, ys, style}}
	if c.unclaimed > leastShare {
		style.Width, style.Dashes = .8, []vg.Length{1.5, 2.5}
		all = append(all, curve{[]float64{xs[len(xs)-1], p.X.Max}, []float64{c.unclaimed, c.unclaimed}, style})
	}
	return all
}

// distributionRange is the range of the wait axis: all that is above leastShare, and
// the limit.
func distributionRange(all []distribution, at limit) (from, to float64, clipped bool) {
	low, high := math.Inf(1), at.seconds
	for _, c := range all {
		if c.none || len(c.waits) == 0 {
			continue
		}
		low = math.Min(low, c.waits[0])
		wait, _ := c.exceeded(leastShare)
		high = math.Max(high, wait)
	}
	if math.IsInf(low, 1) {
		low = high / 100
	}
	return waitRange(math.Max(low, high*1e-5), high)
}

// distributionValues are what the title and the alternative text give for each
// policy: the share of jobs that wait longer than the limit or, where there is none,
// the p99 wait, infinite if it falls among the unclaimed.
func distributionValues(all []distribution, at limit) ([]float64, func(float64) string) {
	values := make([]float64, len(all))
	for i := range all {
		switch {
		case all[i].none:
			values[i] = math.NaN()
		case at.seconds > 0:
			values[i] = all[i].over(at.seconds)
		default:
			wait, more := all[i].exceeded(.01)
			if values[i] = wait; more {
				values[i] = math.Inf(1)
			}
		}
	}
	if at.seconds > 0 {
		return values, percent
	}
	return values, func(v float64) string {
		if math.IsInf(v, 1) {
			return "endless"
		}
		return seconds(v)
	}
}

func distributionWords(at limit) string {
	if at.seconds > 0 {
		return "Share of fresh jobs that wait longer than " + seconds(at.seconds)
	}
	return "Fresh p99 wait"
}

// distributionTitle states the finding behind distributionValues.
func (d *drawing) distributionTitle(all []distribution, at limit, values []float64, best, worst int) string {
	if best < 0 {
		return "There is no fresh job to speak of" + d.under()
	}
	if at.seconds == 0 {
		return d.exceededTitle(all, values, best, worst)
	}
	jobs, which := "fresh jobs", ""
	if at.during != "" {
		which = " enqueued in " + shorten(clean(at.during), stormLimit)
	}
	what := jobs + which + " wait longer than " + seconds(at.seconds)
	if all[best].unclaimed > 0 || all[worst].unclaimed > 0 {
		what += " or are never claimed"
	}
	high, low := percent(values[worst]), percent(values[best])
	switch {
	case all[best].unclaimed == 1:
		return "No fresh job" + which + " is claimed" + d.under()
	case values[worst] == 0:
		return "No " + strings.Replace(strings.Replace(what, "jobs", "job", 1), "wait ", "waits ", 1) + d.under()
	case len(d.policies) == 1:
		return fmt.Sprintf("%s of %s with %s", high, what, d.policies[worst].name)
	case high == low:
		return fmt.Sprintf("%s of %s under every policy", high, what)
	}
	return fmt.Sprintf("%s of %s with %s, %s with %s", high, what, d.policies[worst].name, low, d.policies[best].name)
}

func (d *drawing) exceededTitle(all []distribution, values []float64, best, worst int) string {
	const what = "Fresh p99 wait is"
	if math.IsInf(values[worst], 1) {
		lost := make([]float64, len(all))
		for i := range all {
			lost[i] = all[i].unclaimed
		}
		least, most := extremes(lost)
		title := fmt.Sprintf("%s of fresh jobs are never claimed with %s", percent(lost[most]), d.policies[most].name)
		switch {
		case !math.IsInf(values[best], 1):
			return fmt.Sprintf("%s; with %s p99 wait is %s", title, d.policies[best].name, seconds(values[best]))
		case percent(lost[least]) != percent(lost[most]):
			return fmt.Sprintf("%s, %s with %s", title, percent(lost[least]), d.policies[least].name)
		case len(all) > 1:
			return fmt.Sprintf("%s of fresh jobs are never claimed under any policy", percent(lost[most]))
		}
		return title
	}
	high, low := seconds(values[worst]), seconds(values[best])
	switch {
	case len(d.policies) == 1:
		return fmt.Sprintf("%s %s with %s", what, high, d.policies[worst].name)
	case high == low:
		return fmt.Sprintf("%s %s under every policy", what, high)
	}
	return fmt.Sprintf("%s %s with %s, %s with %s", what, high, d.policies[worst].name, low, d.policies[best].name)
}
