package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// attemptsChart returns the chart of claims per second over time, first attempts and retries together, and of the
// workers' utilization.
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
	s.dull = best >= 0 && peaks[worst] <= similar*peaks[best]
	s.subtitle = "Claims per second of fresh jobs and retries together, per " + seconds(d.settings.Bucket.Seconds()) + " of virtual time"
	s.alt = d.alt(s.title, "Most attempts per second, and the highest utilization of the workers", func(i int) string {
		return rate(peaks[i]) + " and " + percent(zeroed(d.peak(d.policies[i].busy)))
	})
	until := d.end(func(p *policy, bucket int) bool { return p.attempts[bucket] > 0 || p.busy[bucket] > 0 })
	if top == 0 {
		top = 1 // any scale will do for lines at zero
	}
	axes := func(p *plot.Plot) {
		p.Y.Tick.Marker, p.Y.Min, p.Y.Max = counts(4), 0, top*1.04
	}
	if len(d.policies) > together {
		s.subtitle += ", the others in grey" + d.shadeWords(false) + d.panelWords()
		s.panels = d.panelsOf(d.shown(best, worst), func(p *plot.Plot, own policy, steps int) {
			axes(p)
			addTimeline(p, timeline{until, steps, fmt.Sprintf(` data-show="attempts" data-policy="%d"`, own.index),
				[]plot.Plotter{windows(d.windows(until)),
					d.backdropOf(func(p *policy) []float64 { return p.attempts }), curve{d.xs, own.attempts,
						draw.LineStyle{Color: own.hue.line, Width: 1.4}}},
				[]plot.Plotter{heading{own.name, []string{"peak " + rate(peaks[own.index]), rate(peaks[own.index])}}}})
		})
		return s
	}
	s.subtitle += "; busy workers ÷ workers" + d.shadeWords(false)
	s.key = d.policyKey()
	s.panels = newPanels(2)
	s.panels.build = func(i int, _ bool) *plot.Plot {
		p := newPlot()
		axes(p)
		t := timeline{until: until, steps: s.panels.steps, about: ` data-show="attempts"`,
			around: []plot.Plotter{heading{"attempts per second", nil}}}
		if i == 1 {
			t.about, t.around = ` data-show="busy"`, []plot.Plotter{heading{"utilization of the workers", nil}}
			p.Y.Tick.Marker, p.Y.Max = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: .5, Label: "50%"}, {Value: 1,
				Label: "100%"}}, 1.04
		}
		t.inside = append(t.inside, windows(d.windows(until)))
		for k, own := range d.policies {
			values := [][]float64{own.attempts, own.busy}[i]
			t.inside = append(t.inside, ofPolicy(k, curve{d.xs, values, draw.LineStyle{Color: own.hue.line, Width: 1.3,
				Dashes: dashOf(own.index)}}))
		}
		addTimeline(p, t)
		return p
	}
	return s
}

// meanMarks returns the explanation of a line that is a mean over seeds, for a chart's footer.
func (d *drawing) meanMarks() string {
	switch d.seeds {
	case 0:
		return "no seed finished"
	case 1:
		return "line = the one seed"
	}
	return "line = mean over seeds"
}

// rate returns a number per second as text: 12/s.
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
