package report

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const waitMetric = "fresh.wait.p99"

// waitChart shows how long fresh jobs wait, over time.
func waitChart(d *drawing) *sheet {
	peaks := make([]float64, len(d.policies))
	for i, p := range d.policies {
		peaks[i] = d.peak(p.median)
	}
	best, worst := extremes(peaks)
	s := &sheet{
		name:     "1-fresh-p99",
		title:    d.waitTitle(peaks, best, worst),
		subtitle: "Wait of fresh jobs until their first claim, p99 per " + seconds(d.settings.Bucket.Seconds()) + " of virtual time (log scale)",
		footer:   d.footer(d.bandMarks()),
	}
	s.alt = d.alt(s.title, "Highest fresh p99 wait", func(i int) string {
		if math.IsNaN(peaks[i]) {
			return "none claimed"
		}
		return seconds(peaks[i])
	})
	low, high := d.waitExtent()
	from, to, floor := waitRange(low, high)
	until := d.end(func(p *policy, bucket int) bool { return !math.IsNaN(p.median[bucket]) })
	axes := func(p *plot.Plot, steps int) {
		p.X.Tick.Marker, p.Y.Tick.Marker = clock(steps), waits(floor, 10)
		p.Y.Scale = logScale{}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, until, from, to
	}
	if len(d.policies) > together {
		s.subtitle += ", the others in grey" + d.shadeWords(true) + d.panelWords()
		s.height, s.body = panels(d.shown(best, worst), axes, func(p *plot.Plot, own policy) {
			p.Add(windows{d.windows(until), false})
			p.Add(d.backdropOf(func(p *policy) []float64 { return p.median }))
			p.Add(area{d.xs, own.low, own.high, alpha(own.hue.line, 38)}, curve{d.xs, own.median, draw.LineStyle{Color: own.hue.line, Width: 1.4}})
			p.Add(limitLines{limits: d.limits()}, heading{own.name, peakWords(peaks[own.index])})
		})
		return s
	}
	s.height, s.body = 3.15*vg.Inch, func(c draw.Canvas) { d.drawWaits(c, axes, peaks) }
	return s
}

// peakWords are remarks on a policy's highest wait.
func peakWords(peak float64) []string {
	if math.IsNaN(peak) {
		return []string{"none claimed", ""}
	}
	return []string{"peak " + seconds(peak), seconds(peak)}
}

// drawWaits draws all policies into one plot.
func (d *drawing) drawWaits(c draw.Canvas, axes func(p *plot.Plot, steps int), peaks []float64) {
	p := newPlot()
	axes(p, 8)
	p.X.Label.Text = "virtual time"
	shades := windows{d.windows(p.X.Max), true}
	p.Add(shades)
	for _, own := range d.policies {
		p.Add(area{d.xs, own.low, own.high, alpha(own.hue.line, 38)})
	}
	var ends endings
	var curves []curve
	for i, own := range d.policies {
		curves = append(curves, curve{d.xs, own.median, draw.LineStyle{Color: own.hue.line, Width: 1.5}})
		p.Add(curves[i])
		e := ending{x: p.X.Max, y: p.Y.Min, rank: peaks[i], name: own.name, hue: own.hue, none: true}
		for k := len(own.median) - 1; k >= 0; k-- {
			if !math.IsNaN(own.median[k]) {
				e.x, e.y, e.none = min(d.xs[k], p.X.Max), own.median[k], false
				break
			}
		}
		ends = append(ends, e)
	}
	limits := limitLines{limits: d.limits(), curves: curves}
	for _, l := range limits.limits {
		limits.names = append(limits.names, d.limitLabel(l))
	}
	p.Add(limits, ends)
	c = draw.Crop(c, 0, -ends.room(), 0, 0)
	p.Draw(draw.Crop(c, 0, 0, 0, -shades.height(c, p)))
}

// waitExtent is the range of what the wait chart draws: lines, bands and limits.
func (d *drawing) waitExtent() (low, high float64) {
	low, high = math.NaN(), math.NaN()
	include := func(v float64) {
		if !math.IsNaN(v) {
			if !(v >= low) {
				low = v
			}
			if !(v <= high) {
				high = v
			}
		}
	}
	for _, p := range d.policies {
		for i := range p.median {
			include(p.median[i])
			include(p.high[i])
		}
	}
	for _, l := range d.limits() {
		include(l.seconds)
	}
	return low, high
}

// extremes are the indexes of the least and the largest value; −1 if there is none.
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

// similar is the ratio up to which two values are too close to name a winner.
const similar = 1.25

// rangeTitle says how a value, which is not NaN for best and worst, differs between
// policies.
func (d *drawing) rangeTitle(what string, spell func(float64) string, values []float64, best, worst int) string {
	low, high := spell(values[best]), spell(values[worst])
	same := values[worst] <= values[best]*similar
	numbers := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			numbers++
		}
	}
	every := "every policy"
	if numbers < len(values) {
		every = "every other policy"
	}
	switch {
	case numbers == 1:
		return fmt.Sprintf("%s %s with %s", what, high, d.policies[worst].name)
	case low == high:
		return fmt.Sprintf("%s %s under %s", what, high, every)
	case same:
		return fmt.Sprintf("%s %s to %s under %s", what, low, high, every)
	}
	preposition := what[strings.LastIndexByte(what, ' ')+1:]
	return fmt.Sprintf("%s %s with %s, %s %s with %s", what, high, d.policies[worst].name, preposition, low, d.policies[best].name)
}

// alt is a title with the number behind it for each policy.
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
