package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// attemptsChart shows how many jobs are claimed, whether fresh or retries, and how busy the
// workers are, over time.
func attemptsChart(d *drawing) *sheet {
	peaks, top := make([]float64, len(d.policies)), 0.0
	for i, p := range d.policies {
		peaks[i] = d.peak(p.attempts)
		top = math.Max(top, zeroed(peaks[i]))
		for _, v := range p.attempts {
			top = math.Max(top, zeroed(v))
		}
	}
	best, worst := extremes(peaks)
	s := &sheet{name: "5-attempts", title: d.attemptsTitle(peaks, best, worst), footer: d.footer(d.meanMarks())}
	s.subtitle = "Claims per second of fresh jobs and retries together, per " + seconds(d.settings.Bucket.Seconds()) + " of virtual time"
	s.alt = d.alt(s.title, "Most attempts per second, and the highest utilization of the workers", func(i int) string {
		return rate(peaks[i]) + " and " + percent(zeroed(d.peak(d.policies[i].busy)))
	})
	until := d.end(func(p *policy, bucket int) bool { return p.attempts[bucket] > 0 || p.busy[bucket] > 0 })
	if top == 0 {
		top = 1 // as good a scale as any for lines at zero
	}
	axes := func(p *plot.Plot, steps int) {
		p.X.Tick.Marker, p.Y.Tick.Marker = clock(steps), counts(4)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, until, 0, top*1.04
	}
	if len(d.policies) > together {
		s.subtitle += ", the others in grey" + d.shadeWords(false) + d.panelWords()
		s.height, s.body = panels(d.shown(best, worst), axes, func(p *plot.Plot, own policy) {
			p.Add(windows{d.windows(until), false})
			p.Add(d.backdropOf(func(p *policy) []float64 { return p.attempts }))
			p.Add(curve{d.xs, own.attempts, draw.LineStyle{Color: own.hue.line, Width: 1.4}})
			p.Add(heading{own.name, []string{"peak " + rate(peaks[own.index]), rate(peaks[own.index])}})
		})
		return s
	}
	s.subtitle += "; below: busy workers ÷ workers" + d.shadeWords(false)
	legend := key{}
	for _, p := range d.policies {
		legend = append(legend, entry{name: p.name, color: p.hue.line, dashes: dashOf(p.index)})
	}
	const gap = vg.Length(30)
	s.height = 1.75*vg.Inch + gap + 1.35*vg.Inch + legend.height(room)
	s.body = func(c draw.Canvas) {
		above, below := newPlot(), newPlot()
		axes(above, 8)
		below.X.Tick.Marker, below.X.Min, below.X.Max = clock(8), 0, until
		below.X.Label.Text = "virtual time"
		below.Y.Tick.Marker, below.Y.Min, below.Y.Max = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: .5, Label: "50%"}, {Value: 1, Label: "100%"}}, 0, 1.04
		above.Add(windows{d.windows(until), false}, heading{"attempts per second", nil})
		below.Add(windows{d.windows(until), false}, heading{"utilization", nil})
		for _, own := range d.policies {
			style := draw.LineStyle{Color: own.hue.line, Width: 1.3, Dashes: dashOf(own.index)}
			above.Add(curve{d.xs, own.attempts, style})
			below.Add(curve{d.xs, own.busy, style})
		}
		c = draw.Crop(legend.draw(c), 0, 0, 0, -16)
		low := c.Min.Y + 1.35*vg.Inch
		grid := [][]*plot.Plot{{above}, {below}}
		canvases := plot.Align(grid, draw.Tiles{Rows: 2, Cols: 1}, c) // for the widths of their labels
		upper, lower := canvases[0][0], canvases[1][0]
		upper.Min.Y, upper.Max.Y = low+gap, c.Max.Y
		lower.Min.Y, lower.Max.Y = c.Min.Y, low
		above.Draw(upper)
		below.Draw(lower)
	}
	return s
}

// meanMarks explains a line.
func (d *drawing) meanMarks() string {
	switch d.seeds {
	case 0:
		return "no seed finished"
	case 1:
		return "line = the one seed"
	}
	return "line = mean over seeds"
}

// rate spells a number per second.
func rate(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	return count(v) + "/s"
}

func (d *drawing) attemptsTitle(peaks []float64, best, worst int) string {
	if best < 0 || peaks[worst] == 0 {
		return "No job is claimed" + d.under()
	}
	return d.rangeTitle("Attempts peak at", rate, peaks, best, worst)
}
