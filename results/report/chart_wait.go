package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

const waitMetric = "fresh.wait.p99"

// shortWait is the p99 wait of fresh jobs, in s, below which a chart of waits shows little, and a page may fold it.
const shortWait = .05

// firstRow returns the index of the wait chart's plot for the class that its title names; the first, 0, if it names
// none.
func (d *drawing) firstRow() int {
	class := d.waitQuery().Class
	return max(0, slices.IndexFunc(d.rows, func(row string) bool { return class != "" && row == clean(class) }))
}

// peaksOf returns the highest p99 wait under each policy in one plot of the wait chart.
func (d *drawing) peaksOf(row int) []float64 {
	return plain.Map(d.policies, func(p policy) float64 { return d.peak(p.waits[row].median) })
}

var _ = builtInChart(30, "waits", "1-fresh-p99", waitChart, "Wait of fresh jobs",
	"fresh.wait", "fresh.within", "start.wait", "fresh.deficit", "slowdown", "attempt.wait")

// waitChart returns the chart of the p99 waits of fresh jobs over time.
func waitChart(d *drawing) *sheet {
	first := d.firstRow()
	highest := d.peaksOf(first)
	best, _ := extremes(highest)
	s := &sheet{Figure: Figure{Title: d.waitTitle(first, highest),
		Footer: d.footer(d.bandMarks() + d.gapMark())}}
	s.Subtitle = "Wait of fresh jobs until their first claim, p99 per " + d.bucket() + " of virtual time (log scale)"
	s.dull = best >= 0
	for row := range d.rows {
		s.dull = s.dull && shortOrAlike(d.peaksOf(row))
	}
	s.alt = d.alt("Highest fresh p99 wait"+ofClass(d.rows[first]), func(i int) string {
		return plain.Either(math.IsNaN(highest[i]), d.noPeak(i, first), seconds(highest[i]))
	})
	seen := d.waitExtent()
	var axis valueAxis
	axis.overWaits(seen.Low, seen.High)
	until := d.end(func(p *policy, bucket int) bool { return !math.IsNaN(p.median[bucket]) })
	if len(d.policies) > together && len(d.rows) == 1 {
		s.Subtitle += ", the others in grey" + d.shadeWords(true) + d.panelWords()
		s.panels = d.overTime("wait", until, highest, func(p *plot.Plot, own policy) ([]plot.Plotter, []string) {
			axis.set(&p.Y, 10)
			return []plot.Plotter{d.backdropOf(func(p *policy) []float64 { return p.median }),
				area{d.xs, own.low, own.high, alpha(own.hue.line, 38)}, curve{d.xs, own.median, own.line(1.4)},
				limitLines(d.limits())}, d.peakWords(own.index, highest[own.index])
		})
		return s
	}
	names := windowNames(d.windows(until, d.settings.AllStorms()))
	s.key = d.policyKey()
	s.panels = &panels{n: len(d.rows), columns: 1, steps: 8, tall: 190,
		above: 4 + windowLine*vg.Length(names.rows(until))}
	if len(d.rows) > 1 {
		s.Subtitle += "; a plot for each class of jobs"
		s.key, s.Footer = append(s.key, d.windowKey()...), d.footer(d.lineMarks("median")+d.gapMark())
		s.panels.tall, s.panels.above = 118, abovePanel
	}
	s.panels.fill = func(p *plot.Plot, row int, _ bool) {
		axis.set(&p.Y, 10)
		t := timeline{until: until, steps: 8, about: fmt.Sprintf(` data-show="wait" data-row="%d"`, row), windows: names}
		if t.around = []plot.Plotter{names}; len(d.rows) > 1 {
			t.around[0] = heading{name: d.rows[row]}
		}
		d.addWaits(p, row, t)
	}
	return s
}

// addWaits adds the lines of all policies to one plot of the wait chart, with their names and the limits.
func (d *drawing) addWaits(p *plot.Plot, row int, t timeline) {
	var names peaks
	var curves []curve
	front := inFront(d.summary, d.table)
	first := twins(plain.Map(d.policies, func(own policy) []float64 {
		return plain.Map(own.waits[row].median, func(v float64) float64 { return math.Max(v, p.Y.Min) })
	}), p.Y.Min)
	for i, own := range d.policies {
		b := own.waits[row]
		style := own.dashed(1.6)
		if !front[i] {
			style = backdropStyle
		}
		line := curve{d.xs, b.median, style}
		var inside []plot.Plotter
		if front[i] && b.low != nil {
			low, high := above(b.low, b.median, p.Y.Min), above(b.high, b.median, p.Y.Min)
			inside = append(inside, marked(`class="band"`, area{d.xs, low, high, alpha(own.hue.line, 38)}))
		}
		t.inside = append(t.inside, ofPolicy(i, append(inside, line)...))
		curves = append(curves, line)
		if !front[i] {
			continue
		}
		if twin := slices.IndexFunc(names, func(n peak) bool { return first[i] == first[n.policy] }); twin >= 0 {
			names[twin].name += " = " + own.name
			continue
		}
		names = append(names, peak{i, own.name, own.hue, line})
	}
	limits := slices.DeleteFunc(d.limits(), func(l limit) bool {
		return l.Class != "" && l.Class != d.rows[row] && d.rows[row] != ""
	})
	t.inside = append(t.inside, limitLines(limits))
	t.around = append(t.around, namesInside(names, curves, limits, plain.Map(limits, d.limitLabel)))
	addTimeline(p, t)
}

// gapMark returns the explanation, for a chart's footer, of gaps in the lines of the wait chart: it is there that jobs
// may wait longest. "" if no line has one.
func (d *drawing) gapMark() string {
	gap := slices.ContainsFunc(d.policies, func(p policy) bool {
		return slices.ContainsFunc(p.waits, func(b band) bool { return b.seen && len(runs(b.median)) != 1 })
	})
	return plain.When(gap, ", gap = none claimed"+plain.When(d.seeds > 1, " in most seeds"))
}

// above returns one edge of a band with gaps (NaN) where the median is near the lower end of the axis: a band there is
// clutter.
func above(edge, median []float64, least float64) []float64 {
	out := slices.Clone(edge)
	for i := range out {
		if !(median[i] > 2*least) {
			out[i] = math.NaN()
		}
	}
	return out
}

// noPeak returns why a policy has no highest wait in one plot of the wait chart.
func (d *drawing) noPeak(policy, row int) string {
	return plain.Either(d.policies[policy].waits[row].seen, "in too few seeds", "none claimed")
}

// peakWords returns two texts on a policy's highest wait in the only plot of the wait chart, the longer first.
func (d *drawing) peakWords(policy int, peak float64) []string {
	if math.IsNaN(peak) {
		return []string{d.noPeak(policy, 0), ""}
	}
	return []string{"peak " + seconds(peak), seconds(peak)}
}

// waitExtent returns the least and largest value of the wait chart: curves, bands and limits.
func (d *drawing) waitExtent() plain.Extent {
	seen := plain.ExtentOf()
	for i := range d.policies {
		for row := range d.rows {
			b := d.policies[i].waits[row]
			seen.Include(b.median...)
			seen.Include(b.high...)
		}
	}
	for _, l := range d.limits() {
		seen.Include(l.Bound)
	}
	return seen
}

// extremes returns the indexes of the least and the largest of some values; −1 if all are NaN.
func extremes(values []float64) (least, largest int) {
	least, largest = -1, -1
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if least < 0 || v < values[least] {
			least = i
		}
		if largest < 0 || v > values[largest] {
			largest = i
		}
	}
	return least, largest
}

// similar is the ratio of two policies' values up to which a title treats them as alike, and names no winner.
const similar = 1.25

// shortOrAlike reports whether a chart of waits, one per policy, shows little: all waits are below shortWait, or alike.
func shortOrAlike(waits []float64) bool {
	least, most := extremes(waits)
	return least < 0 || waits[most] < shortWait || len(waits) > 1 && waits[most] <= similar*waits[least]
}

// rangeTitle returns a title sentence that compares the values of a quantity between policies, of which at least one is
// not NaN. The values have no interval: a winner is named where they differ by more than a quarter.
func (d *drawing) rangeTitle(what string, spell func(float64) string, values []float64) string {
	best, worst := extremes(values)
	numbers := len(values) - plain.Count(values, math.IsNaN)
	every := [...]string{"every policy", "every other policy"}[min(len(values)-numbers, 1)]
	return d.between(what, spell(values[best]), spell(values[worst]), best, worst,
		values[worst] <= values[best]*similar, plain.When(numbers > 1, every))
}

// between returns a title sentence with the value of a quantity under the worst and the best policy or, if these are
// about equal, under every policy. every is the phrase for all policies, empty if there is only one.
func (d *drawing) between(what, low, high string, best, worst int, same bool, every string) string {
	switch {
	case every == "":
		return fmt.Sprintf("%s %s with %s", what, high, d.policies[worst].name)
	case low == high:
		return fmt.Sprintf("%s %s under %s", what, high, every)
	case same:
		return fmt.Sprintf("%s %s to %s under %s", what, low, high, every)
	}
	preposition := what[strings.LastIndexByte(what, ' ')+1:] + " "
	if preposition == "is " {
		preposition = ""
	}
	return fmt.Sprintf("%s %s with %s, %s%s with %s", what, high, d.policies[worst].name, preposition, low,
		d.policies[best].name)
}

// alt returns the alternative text of a chart without its title: the value of each policy.
func (d *drawing) alt(what string, value func(i int) string) string {
	words := plain.Map(d.policies, func(p policy) string { return p.name + " " + value(p.index) })
	words = atMost(words, panelLimit, "more policy")
	return fmt.Sprintf("%s: %s. %s", what, strings.Join(words, ", "), d.stormWords())
}

// waitTitle returns the title of the wait chart: which policy makes fresh jobs wait longest, and which shortest. row is
// the plot of which peaks has the highest median waits, NaN where few or no seeds have a claim in any bucket.
func (d *drawing) waitTitle(row int, peaks []float64) string {
	var silent []string
	for _, p := range d.policies {
		if !p.waits[row].seen {
			silent = append(silent, p.name)
		}
	}
	of := ofClass(d.rows[row])
	if len(silent) == len(peaks) {
		return "No fresh job" + of + " is claimed" + d.counted() + under(d.summary)
	}
	title := d.tableTitle(d.waitQuery())
	if best, _ := extremes(peaks); title == "" && best < 0 {
		title = "Too few fresh jobs" + of + " are claimed for a line of their waits"
	} else if title == "" {
		title = d.rangeTitle("In the worst "+d.bucket()+" fresh p99 wait"+of+" is", seconds, peaks)
	}
	if len(silent) > 3 {
		silent = append(silent[:2], fmt.Sprintf("%d others", len(silent)-2))
	}
	return title + plain.When(len(silent) > 0, "; none"+of+" is claimed with "+list(silent))
}

// counted returns the words that limit a sentence to the time that numbers count; "" without a warm-up.
func (d *drawing) counted() string { return plain.When(d.settings.Warmup > 0, " after the warm-up") }

// ofClass returns the phrase for a class of jobs, or a tenant, such as " of mail"; "" for all jobs.
func ofClass(class string) string {
	return plain.When(class != "", " of "+shortName(class))
}

// waitQuery returns the query (metric and filters) of the p99 waits of fresh jobs that chart titles compare: that of
// the first such column of the results table, preferably one in which policies differ. If the table has none, it is
// filtered by one class if there are several, or else by the first storm.
func (d *drawing) waitQuery() measure.Query {
	for _, c := range slices.Concat(d.table.Columns, d.table.Alike) {
		if c.Metric == waitMetric {
			return c.Query
		}
	}
	q := measure.Query{Metric: waitMetric}
	switch {
	case d.mixed():
		q.Class = cmp.Or(d.settings.Charted().Class, d.settings.Classes[0])
	case len(d.settings.Storms) > 0:
		q.During = d.settings.Storms[0].Name
		if d.summary.Policies[0].Find(q) == nil {
			q.During = ""
		}
	}
	return q
}

// mixed reports whether there are several classes of jobs, so that a metric of all jobs mixes them.
func (d *drawing) mixed() bool { return len(d.settings.Classes) > 1 }

// tableTitle returns a title sentence on how the metric of query q differs between policies, worded as in the results
// table; "" unless every policy has a value. It names no policy where the table marks none as best, nor for a mix of
// classes that the objectives are not about: the best policy for one class may be worst for the mix.
func (d *drawing) tableTitle(q measure.Query) string {
	c := results.ColumnOf(d.summary, q)
	order := c.Ranked()
	if len(order) < len(d.policies) {
		return ""
	}
	best, worst := order[0], order[len(order)-1]
	what, low, high := "Fresh p99 wait"+d.ofJobs(q, ""), c.Cells[best].Value, c.Cells[worst].Value
	if bound, ok := strings.CutPrefix(high, "≥ "); ok && len(order) > 1 && strings.HasPrefix(low, "≥ ") {
		return fmt.Sprintf("%s is not known under any policy: jobs were left; at least %s with %s", what, bound,
			d.policies[worst].name)
	}
	every := plain.When(len(order) > 1, "every policy")
	if q.Class == "" && d.mixed() && q != d.waitQuery() && low != high {
		return fmt.Sprintf("%s together is %s to %s by policy", what, low, high)
	}
	same := c.Gain(best, worst) == 1 && !strings.HasPrefix(high, "≥ ") // of a bound both values are told, and no winner
	return d.between(what+" is", low, high, best, worst, same, every)
}

// ofJobs returns the phrase for the jobs that a query counts, such as " of the worst tenant of mail in payments-down";
// "" for all jobs of a single class. enqueued is put before the name of a storm.
func (d *drawing) ofJobs(q measure.Query, enqueued string) (words string) {
	switch {
	case q.Tenant == measure.WorstTenant:
		words = " of the worst tenant"
	case q.Tenant != "":
		words = " of tenant " + shortName(q.Tenant)
	case q.Class == "" && d.mixed():
		words = " of all classes"
	}
	return words + ofClass(q.Class) + plain.When(q.During != "", enqueued+" in "+shortName(q.During)) +
		plain.When(q.After != "", enqueued+" after "+shortName(q.After))
}
