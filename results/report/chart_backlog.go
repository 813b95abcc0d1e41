package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/plain"
)

var _ = builtInChart(10, "backlog", "2-backlog", backlogChart, "Where the queue went", "fresh.wait", "fresh.within",
	"start.wait", "starved", "claim.gap", "fresh.deficit", "recovery", "slowdown", "backlog", "waiting", "drain",
	"retry.wait", "attempt.wait", "sojourn", "unfinished", "idle", "answered")

// backlogChart returns the chart of the backlog over time, fresh jobs and retries, with a panel per policy.
func backlogChart(d *drawing) *sheet {
	n := len(d.policies)
	fresh, retry, all := make([]float64, n), make([]float64, n), make([]float64, n)
	top, later := 0.0, 0.0
	for i, p := range d.policies {
		fresh[i], retry[i], all[i] = zeroed(d.peak(p.fresh)), zeroed(d.peak(p.retry)), zeroed(d.peak(p.due))
		for k := range p.due {
			top = math.Max(top, p.due[k])
			later = math.Max(later, p.due[k]+p.later[k])
		}
	}
	// Jobs that are not due yet are drawn if they can be seen and do not dwarf the backlog, the subject of the chart.
	withLater := later > 1.05*top && later <= 3*top
	s := &sheet{Figure: Figure{Title: d.backlogTitle(fresh, retry, all),
		Footer: d.footer(d.marks("areas = the one seed, stacked", "areas = mean over seeds, stacked"))}}
	s.none = slices.Max(all) <= d.fewJobs()
	s.Subtitle = "Jobs ready to be claimed"
	switch {
	case withLater:
		s.Subtitle = "Jobs ready to be claimed, and above them those not due yet"
		top = later
	case later > 1.05*top:
		s.Subtitle += fmt.Sprintf("; not shown: jobs not due yet, with which the highest peak is %s", plain.Amount(later))
	}
	s.Subtitle += "; means of " + d.bucket() + plain.When(d.seeds > 1, " and over seeds") +
		plain.When(len(d.policies) > 1, "; same scale in every panel"+d.panelWords()) +
		plain.When(!d.wide(), "; peak: fresh and retries together")
	s.alt = d.alt("Highest mean backlog of fresh jobs, and with retries",
		func(i int) string { return jobs(fresh[i]) + " and " + jobs(all[i]) })

	until := d.end(func(p *policy, bucket int) bool { return p.due[bucket] > all[p.index]/100 })
	s.key = key{{name: "fresh", color: alpha(freshColor, 205), area: true},
		{name: "retry", color: alpha(retryColor, 215), area: true}}
	if withLater {
		s.key = append(s.key, entry{name: "not due yet", color: waitingColor, area: true})
	}
	s.key = append(s.key, d.windowKey()...)
	first := twins(plain.Map(d.policies, func(p policy) []float64 { return p.due }), slices.Max(all)/100)
	s.panels = d.overTime("backlog", until, fresh, func(p *plot.Plot, own policy) (inside []plot.Plotter, _ []string) {
		p.Y.Tick.Marker, p.Y.Min, p.Y.Max = counts(4), 0, math.Max(top*1.04, 1)
		zero, sum := make([]float64, len(d.xs)), make([]float64, len(d.xs))
		for k := range sum {
			sum[k] = own.due[k] + own.later[k]
		}
		if withLater {
			inside = append(inside, area{d.xs, own.due, sum, waitingColor})
		}
		inside = append(inside, area{d.xs, zero, own.fresh, alpha(freshColor, 205)},
			area{d.xs, own.fresh, own.due, alpha(retryColor, 215)},
			curve{d.xs, own.due, draw.LineStyle{Color: ink, Width: .6}})
		twin := ""
		if k := first[own.index]; k != own.index {
			twin = d.policies[k].name
		}
		return inside, d.backlogWords(fresh[own.index], all[own.index], twin)
	})
	return s
}

// jobs returns a number of jobs, a mean over time and seeds, as text: 12, 4.7k, or "under 1".
func jobs(v float64) string {
	return plain.Either(v > 0 && v < 1, "under 1", plain.Amount(math.Round(v)))
}

// wide reports whether the panels, one for each policy, have room for a remark on fresh jobs, too, beside their names.
func (d *drawing) wide() bool { return len(d.policies) <= 2 || len(d.policies) == 4 }

// backlogWords returns remarks of several lengths on a policy's highest backlog, the longest first: a panel shows the
// first that fits. The longest two also name twin, an earlier policy whose curve looks the same, unless it is empty.
func (d *drawing) backlogWords(fresh, all float64, twin string) []string {
	words := []string{"peak " + jobs(all), jobs(all)}
	if d.wide() {
		words = append([]string{words[0] + ", of fresh " + jobs(fresh)}, words...)
	}
	if twin != "" {
		words = slices.Insert(words, 0, words[0]+", = "+twin, "peak "+jobs(all)+", = "+twin)
	}
	return words
}

// windowKey returns the legend entries for the shaded windows of time: storms (fault windows) and the warm-up.
func (d *drawing) windowKey() (k key) {
	if storms := d.storms(); len(storms) > 0 {
		name := plain.Either(len(storms) == 1, clean(storms[0]), plain.Plural(len(storms), "storm"))
		k = append(k, entry{name: name, color: alpha(stormInk, 40), area: true})
	}
	if d.settings.Warmup > 0 {
		k = append(k, entry{name: "warm-up", color: alpha(muted, 40), area: true})
	}
	return k
}

// backlogTitle returns the title of the backlog chart, a sentence on how the backlog of fresh jobs, or else of retries,
// differs between policies, given each policy's highest backlog of fresh jobs, of retries and of both.
func (d *drawing) backlogTitle(fresh, retry, all []float64) string {
	best, worst := extremes(fresh)
	_, most := extremes(retry)
	_, highest := extremes(all)
	few := d.fewJobs()
	switch {
	case all[highest] < 1:
		return "No backlog forms" + under(d.summary)
	case all[highest] <= few:
		return fmt.Sprintf("Hardly a backlog forms%s: at most %s jobs", under(d.summary), jobs(all[highest]))
	case fresh[worst] <= retry[most]/20:
		return fmt.Sprintf("Retries pile up, to %s on the mean with %s; fresh jobs do not: at most %s%s", jobs(retry[most]),
			d.policies[most].name, jobs(fresh[worst]), under(d.summary))
	}
	least, _ := extremes(retry)
	if fresh[worst] <= similar*fresh[best] && retry[most] > max(similar*retry[least], few) {
		return d.rangeTitle("Mean retry backlog peaks at", jobs, retry)
	}
	return d.rangeTitle("Mean fresh backlog peaks at", jobs, fresh)
}

// fewJobs returns the size, in jobs, up to which a backlog counts as small: half the number of workers, at least one.
func (d *drawing) fewJobs() float64 { return max(1, float64(d.settings.Nodes*d.settings.Workers)/2) }

var _ = builtInChart(70, "attempts", "5-attempts", attemptsChart, "Attempts and utilization", "attempts", "retries",
	"retry", "amplification", "goodput", "throughput", "utilization", "store", "claims", "answered", "idle")

// attemptsChart returns the chart of claims per second over time, fresh jobs and retries together, and of utilization.
func attemptsChart(d *drawing) *sheet {
	peaks, seen := make([]float64, len(d.policies)), plain.ExtentOf()
	for i, p := range d.policies {
		peaks[i] = d.peak(p.attempts)
		seen.Include(p.attempts...)
	}
	best, worst := extremes(peaks)
	s := &sheet{Figure: Figure{Title: "No job is claimed" + d.counted() + under(d.summary),
		Footer: d.footer(d.lineMarks("mean"))}}
	if best >= 0 && peaks[worst] > 0 {
		s.Title = d.rangeTitle("Attempts peak at", rate, peaks)
	}
	s.dull = best >= 0 && peaks[worst] <= similar*peaks[best]
	s.Subtitle = "Claims per second of fresh jobs and retries together, per " + d.bucket() + " of virtual time"
	s.alt = d.alt("Most attempts per second, and the highest utilization of the workers", func(i int) string {
		return rate(peaks[i]) + " and " + percent(zeroed(d.peak(d.policies[i].busy)))
	})
	until := d.end(func(p *policy, bucket int) bool { return p.attempts[bucket] > 0 || p.busy[bucket] > 0 })
	top := cmp.Or(zeroed(seen.High), 1) // any scale will do for lines at zero
	axes := func(p *plot.Plot) {
		p.Y.Tick.Marker, p.Y.Min, p.Y.Max = counts(4), 0, top*1.04
	}
	if len(d.policies) > together {
		s.Subtitle += ", the others in grey" + d.shadeWords(false) + d.panelWords()
		s.panels = d.overTime("attempts", until, peaks, func(p *plot.Plot, own policy) ([]plot.Plotter, []string) {
			axes(p)
			highest := rate(peaks[own.index])
			return []plot.Plotter{d.backdropOf(func(p *policy) []float64 { return p.attempts }),
				curve{d.xs, own.attempts, own.line(1.4)}}, []string{"peak " + highest, highest}
		})
		return s
	}
	s.Subtitle += "; busy workers ÷ workers" + d.shadeWords(false)
	s.key = d.policyKey()
	s.panels = newPanels(2)
	s.panels.fill = func(p *plot.Plot, i int, _ bool) {
		axes(p)
		t := timeline{until: until, steps: s.panels.steps, about: ` data-show="attempts"`,
			windows: d.windows(until, d.settings.AllStorms()), around: []plot.Plotter{heading{"attempts per second", nil}}}
		if i == 1 {
			t.about, t.around = ` data-show="busy"`, []plot.Plotter{heading{"utilization of the workers", nil}}
			p.Y.Max = 1.04
			p.Y.Tick.Marker = plot.ConstantTicks{{Label: "0"}, {Value: .5, Label: "50%"}, {Value: 1, Label: "100%"}}
		}
		for k, own := range d.policies {
			values := [][]float64{own.attempts, own.busy}[i]
			t.inside = append(t.inside, ofPolicy(k, curve{d.xs, values, own.dashed(1.3)}))
		}
		addTimeline(p, t)
	}
	return s
}

// rate returns a number per second as text: 12/s.
func rate(v float64) string {
	return plain.Either(math.IsNaN(v), "none", plain.Amount(v)+"/s")
}
