package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const waitMetric = "fresh.wait.p99"

// shortWait is the wait of fresh jobs, in s, below which a title mentions waits only for an objective.
const shortWait = .05

// waitLines holds the curves of one plot of fresh waits: of all fresh jobs, or of one class.
type waitLines struct {
	class string
	of    func(p *policy) (median, low, high []float64)
}

// waitRows returns the plots of fresh waits: one for each class if there are several, since a mix of classes hides
// their differences.
func (d *drawing) waitRows() []waitLines {
	if n := len(d.policies[0].classes); n < 2 || n != len(d.settings.Classes) {
		return []waitLines{{of: func(p *policy) (median, low, high []float64) { return p.median, p.low, p.high }}}
	}
	var rows []waitLines
	for k := range d.policies[0].classes {
		of := func(p *policy) (median, low, high []float64) { return p.classes[k], nil, nil }
		rows = append(rows, waitLines{clean(d.settings.Classes[k]), of})
	}
	return rows
}

// firstRow returns the plot of the class that the title is about, or else the first.
func (d *drawing) firstRow(rows []waitLines) waitLines {
	class := d.waitQuery().Class
	return rows[max(0, slices.IndexFunc(rows, func(row waitLines) bool { return class != "" && row.class == clean(class) }))]
}

// peaksOf returns, for each policy, the highest wait in one plot of fresh waits.
func (d *drawing) peaksOf(row waitLines) []float64 {
	highest := make([]float64, len(d.policies))
	for i := range d.policies {
		median, _, _ := row.of(&d.policies[i])
		highest[i] = d.peak(median)
	}
	return highest
}

// waitChart returns the chart of the waits of fresh jobs over time.
func waitChart(d *drawing) *sheet {
	rows := d.waitRows()
	first := d.firstRow(rows)
	highest := d.peaksOf(first)
	best, worst := extremes(highest)
	s := &sheet{
		name:     "1-fresh-p99",
		title:    d.waitTitle(first, highest, best, worst),
		subtitle: "Wait of fresh jobs until their first claim, p99 per " + seconds(d.settings.Bucket.Seconds()) + " of virtual time (log scale)",
		footer:   d.footer(d.bandMarks()),
	}
	s.dull = best >= 0 && !slices.ContainsFunc(rows, func(row waitLines) bool {
		all := d.peaksOf(row)
		least, most := extremes(all)
		return least >= 0 && all[most] >= shortWait && (len(all) == 1 || all[most] > similar*all[least])
	})
	what := "Highest fresh p99 wait"
	if first.class != "" {
		what += " of " + shorten(first.class, stormLimit)
	}
	s.alt = d.alt(s.title, what, func(i int) string {
		if math.IsNaN(highest[i]) {
			return "none claimed"
		}
		return seconds(highest[i])
	})
	seen := d.waitExtent(rows)
	from, to, floor := waitRange(seen.low, seen.high)
	until := d.end(func(p *policy, bucket int) bool { return !math.IsNaN(p.median[bucket]) })
	if len(d.policies) > together && len(rows) == 1 {
		s.subtitle += ", the others in grey" + d.shadeWords(true) + d.panelWords()
		s.panels = d.panelsOf(d.shown(best, worst), func(p *plot.Plot, own policy, steps int) {
			p.Y.Scale, p.Y.Tick.Marker, p.Y.Min, p.Y.Max = logScale{}, waits(floor, 10), from, to
			addTimeline(p, timeline{until, steps, fmt.Sprintf(` data-show="wait" data-policy="%d"`, own.index),
				[]plot.Plotter{windows(d.windows(until)),
					d.backdropOf(func(p *policy) []float64 { return p.median }), area{d.xs, own.low, own.high, alpha(own.hue.line, 38)},
					curve{d.xs, own.median, draw.LineStyle{Color: own.hue.line, Width: 1.4}}, limitLines{limits: d.limits()}},
				[]plot.Plotter{heading{own.name, peakWords(highest[own.index])}}})
		})
		return s
	}
	names := windowNames(d.windows(until))
	s.key = d.policyKey()
	s.panels = &panels{n: len(rows), columns: 1, steps: 8, tall: 190, axis: 14,
		above: 4 + windowLine*vg.Length(names.rows(until))}
	if len(rows) > 1 {
		s.subtitle += "; a plot for each class of jobs"
		s.key, s.footer = append(s.key, d.windowKey()...), d.footer(d.medianMarks())
		s.panels.tall, s.panels.above = 118, abovePanel
	}
	s.panels.build = func(i int, _ bool) *plot.Plot {
		p := newPlot()
		p.Y.Scale, p.Y.Tick.Marker, p.Y.Min, p.Y.Max = logScale{}, waits(floor, 10), from, to
		around := []plot.Plotter{plot.Plotter(names)}
		if len(rows) > 1 {
			around[0] = heading{name: rows[i].class}
		}
		d.addWaits(p, rows[i], timeline{until: until, steps: 8, about: fmt.Sprintf(` data-show="wait" data-row="%d"`, i),
			around: around})
		return p
	}
	return s
}

// addWaits adds the wait lines of all policies to a plot.
func (d *drawing) addWaits(p *plot.Plot, row waitLines, t timeline) {
	t.inside = append(t.inside, windows(d.windows(t.until)))
	var names peaks
	var curves []curve
	front := d.inFront()
	var medians [][]float64
	for i := range d.policies {
		median, _, _ := row.of(&d.policies[i])
		medians = append(medians, median)
	}
	first := twins(medians)
	for i := range d.policies {
		own := &d.policies[i]
		median, low, high := row.of(own)
		style := draw.LineStyle{Color: own.hue.line, Width: 1.6, Dashes: dashOf(own.index)}
		if !front[i] {
			style = others(nil, nil).style
		}
		line := curve{d.xs, median, style}
		var inside []plot.Plotter
		if front[i] && low != nil {
			band := area{d.xs, above(low, median, p.Y.Min), above(high, median, p.Y.Min), alpha(own.hue.line, 38)}
			inside = append(inside, marked{`class="band"`, []plot.Plotter{band}})
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
	limits := limitLines{curves: curves}
	for _, l := range d.limits() {
		if l.Class == "" || l.Class == row.class || row.class == "" {
			limits.limits, limits.names = append(limits.limits, l), append(limits.names, d.limitLabel(l))
		}
	}
	t.inside = append(t.inside, limitLines{limits: limits.limits})
	t.around = append(t.around, names, limitNames(limits))
	addTimeline(p, t)
}

// above returns one edge of a confidence band with gaps where the median is below the lower end of the axis: a band
// around values that small is clutter.
func above(edge, median []float64, least float64) []float64 {
	out := slices.Clone(edge)
	for i := range out {
		if !(median[i] > 2*least) {
			out[i] = math.NaN()
		}
	}
	return out
}

// peakWords returns two texts on a policy's highest wait, the longer first.
func peakWords(peak float64) []string {
	if math.IsNaN(peak) {
		return []string{"none claimed", ""}
	}
	return []string{"peak " + seconds(peak), seconds(peak)}
}

// waitExtent returns the least and largest value of the wait chart: curves, bands and limits.
func (d *drawing) waitExtent(rows []waitLines) extent {
	seen := newExtent()
	for i := range d.policies {
		for _, row := range rows {
			median, _, band := row.of(&d.policies[i])
			seen.include(median...)
			seen.include(band...)
		}
	}
	for _, l := range d.limits() {
		seen.include(l.seconds)
	}
	return seen
}

// extremes returns the indexes of the least and the largest value; −1 if all are NaN.
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

// similar is the ratio of two policies' values up to which a title names no winner.
const similar = 1.25

// rangeTitle returns a title sentence that compares the values of a quantity between policies; those of best and worst
// are not NaN. The values have no interval: a winner is named where they differ by more than a quarter.
func (d *drawing) rangeTitle(what string, spell func(float64) string, values []float64, best, worst int) string {
	numbers := len(slices.DeleteFunc(slices.Clone(values), math.IsNaN))
	every := [...]string{"every policy", "every other policy"}[min(len(values)-numbers, 1)]
	if numbers == 1 {
		every = ""
	}
	return d.between(what, spell(values[best]), spell(values[worst]), best, worst,
		values[worst] <= values[best]*similar, every)
}

// between returns a title sentence with the value of a quantity under the worst and the best policy or, if both are the
// same, under every policy. An empty every means that there is one policy.
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

// alt returns the alternative text of a chart: its title and the value of each policy.
func (d *drawing) alt(title, what string, value func(i int) string) string {
	var words []string
	for i, p := range d.policies {
		if i == panelLimit {
			words = append(words, fmt.Sprintf("and %d policies more", len(d.policies)-i))
			break
		}
		words = append(words, p.name+" "+value(i))
	}
	return fmt.Sprintf("%s. %s: %s. %s", title, what, strings.Join(words, ", "), d.stormWords())
}
