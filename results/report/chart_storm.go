package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/measure"
	"qsim/results/plain"
)

const (
	laneHeight = vg.Length(20)
	laneNames  = 118 // width at the left for the names of policies, in points
)

var _ = builtInChart(20, "storm", "6-starvation", stormChart, "Policy by policy through the run",
	"recovery", "drain", "starved", "claim.gap")

// stormChart returns the chart of recovery from storms (fault windows), a lane (row) per policy: when fresh jobs
// starved, how long retries remained, when waits were normal again.
func stormChart(d *drawing) *sheet {
	totals := make([]float64, len(d.policies))
	most := 0.0
	for i, p := range d.policies {
		totals[i] = d.starvedTime(p.starved)
		most = math.Max(most, zeroed(d.peak(p.retry)))
	}
	best, worst := extremes(totals)
	s := &sheet{Figure: Figure{Title: d.stormTitle(totals, best, worst),
		Subtitle: "When some fresh job" + d.charted() + " had waited for longer than its class may" + d.mayWait(),
		Footer: d.footer("the stronger the colour, the larger the share of the time" +
			plain.When(d.seeds != 1, ", mean over seeds"))}}
	s.key = key{{name: "fresh jobs starve", color: stormInk, area: true}}
	left := math.Max(most/50, d.fewJobs())
	if most > left {
		s.Subtitle += ", when more than a few retries were ready"
		s.key = append(s.key, entry{name: "retries left over", color: retryColor, area: true})
	}
	lanes := d.shown(best, worst)
	back := d.backToNormal(lanes)
	if back != nil {
		s.Subtitle += ", and a diamond when the waits of fresh jobs were back at what they were before the storm" +
			" (at the right: how long after it)"
	}
	s.Subtitle += d.panelWords()
	s.alt = d.alt("Time in which fresh jobs starved", func(i int) string { return seconds(totals[i]) })
	until := d.end(func(p *policy, bucket int) bool {
		return p.starved[min(bucket, len(p.starved)-1)] > 0 || p.retry[bucket] > left
	})
	names := windowNames(d.windows(until, d.settings.AllStorms()))
	s.panels = &panels{n: 1, columns: 1, steps: 8, above: 6 + windowLine*vg.Length(max(names.rows(until), 1)),
		tall: laneHeight * vg.Length(max(len(lanes), 2))}
	s.panels.fill = func(p *plot.Plot, _ int, _ bool) {
		rows := plot.ConstantTicks{}
		label := textStyle(8.5, ink, false)
		t := timeline{until: until, steps: 8, about: ` data-show="strip"`, windows: names, around: []plot.Plotter{names}}
		for i, own := range lanes {
			row := float64(len(lanes) - 1 - i)
			rows = append(rows, plot.Tick{Value: row, Label: fit(label, own.name, laneNames)})
			retries := func(v float64) float64 { return plain.Either(v > left, .75, 0) }
			starved := func(v float64) float64 { return math.Min(v, 1) }
			t.inside = append(t.inside, lane(d.settings.Bucket.Seconds(), row, .36, own.retry, retryColor, retries),
				lane(d.settings.Bucket.Seconds(), row, .24, own.starved, stormInk, starved))
			words := plain.Either(totals[own.index] == 0, "none", seconds(totals[own.index]))
			if back != nil {
				t.inside = append(t.inside, recovered(back[i].at, row))
				words = back[i].words
			}
			t.around = append(t.around, laneWords(row, words))
		}
		p.Y.Tick.Marker, p.Y.Tick.Label.Color = rows, ink
		p.Y.Min, p.Y.Max = -.5, float64(len(lanes))-.5
		addTimeline(p, t)
	}
	s.panels.right = 52
	s.none = totals[worst] == 0 && !slices.ContainsFunc(back, func(r recovery) bool { return r.late })
	return s
}

// recovery holds when waits of fresh jobs were normal again after each storm, under one policy, the first also as text.
type recovery struct {
	at    []float64 // times of the recoveries within the run, in s
	words string
	late  bool // some recovery took longer than a second, or did not come within the run
}

// backToNormal returns when waits were normal again after storms, by policy; nil if that was measured for no storm.
func (d *drawing) backToNormal(lanes []policy) []recovery {
	list, any := make([]recovery, len(lanes)), false
	for i, own := range lanes {
		for _, storm := range d.settings.StormsOf(own.index) {
			e := d.summary.Policies[own.index].Find(measure.Query{Metric: "recovery.time", After: storm.Name})
			if e == nil {
				continue
			}
			any = true
			if list[i].words == "" {
				list[i].words = "–"
				if !e.Null() {
					list[i].words = strings.Replace(e.Bound, ">=", "≥ ", 1) + seconds(e.Mean)
				}
			}
			list[i].late = list[i].late || e.Null() || e.Bound != "" || e.Mean > 1
			if !e.Null() && e.Bound == "" {
				list[i].at = append(list[i].at, storm.To.Seconds()+e.Mean)
			}
		}
	}
	return plain.Either(any, list, nil)
}

// starvedTime returns for how many seconds after the warm-up fresh jobs starved (some had waited longer than its class
// may), a mean over seeds, given the share of each bucket of time in which they did.
func (d *drawing) starvedTime(shares []float64) float64 {
	bucket := d.settings.Bucket.Seconds()
	return plain.Sum(shares[min(d.from, len(shares)):], func(v float64) float64 { return float64(zeroed(v) * bucket) })
}

func (d *drawing) stormTitle(totals []float64, best, worst int) string {
	switch {
	case totals[worst] == 0:
		return "No fresh job" + d.charted() + " starves" + under(d.summary)
	case totals[best] == 0 && len(d.policies) > 1:
		return fmt.Sprintf("Fresh jobs%s starve for %s with %s, never with %s", d.charted(), seconds(totals[worst]),
			d.policies[worst].name, d.policies[best].name)
	}
	return d.rangeTitle("Fresh jobs"+d.charted()+" starve for", seconds, totals)
}

// charted returns the phrase for the class or tenant whose starvation is drawn, such as " of mail"; "" for all jobs.
func (d *drawing) charted() string {
	q := d.settings.Charted()
	return ofClass(cmp.Or(q.Tenant, q.Class))
}

// mayWait returns, in parentheses, the wait from which fresh jobs starve, or its key's name if classes differ in it.
func (d *drawing) mayWait() string {
	after, q := d.settings.StarvedAfter, d.settings.Charted()
	if kind := slices.Index(d.settings.Classes, q.Class); kind >= 0 && kind < len(after) {
		return " (" + seconds(after[kind].Seconds()) + ")"
	}
	if len(after) > 0 && slices.Min(after) == slices.Max(after) {
		return " (" + seconds(after[0].Seconds()) + ")"
	}
	return " (starved-after)"
}

// shadesOfLane is the number of shades of colour in a lane, the row of boxes over time of one policy: neighbouring
// boxes of one shade are drawn as one.
const shadesOfLane = 6

// lane plots a time series as a row of boxes, one for each bucket of time (in s). darkness turns a value into the shade
// of its box: from 0, for no box, to 1, for the darkest. half is half the height of the boxes, in rows.
func lane(bucket, row, half float64, values []float64, color color.NRGBA, darkness func(v float64) float64) sketch {
	degree := func(i int) int {
		if v := darkness(zeroed(values[i])); v > 0 {
			return max(int(math.Ceil(v*shadesOfLane)), 1)
		}
		return 0
	}
	return func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) {
		low, high := ty(row-half), ty(row+half)
		for from := 0; from < len(values); {
			to, own := from+1, degree(from)
			for to < len(values) && degree(to) == own {
				to++
			}
			if own > 0 && float64(from)*bucket < p.X.Max {
				x0, x1 := tx(float64(from)*bucket), tx(math.Min(float64(to)*bucket, p.X.Max))
				x1 = max(x1, x0+.8) // far enough apart to be seen
				c.FillPolygon(alpha(color, uint8(40+215*own/shadesOfLane)), box(x0, low, x1, high))
			}
			from = to
		}
	}
}

// recovered plots marks at the times when the waits of fresh jobs were back to normal after a storm.
func recovered(times []float64, row float64) sketch {
	return func(c draw.Canvas, p *plot.Plot, tx, ty func(float64) vg.Length) {
		for _, at := range times {
			if at > p.X.Max {
				continue
			}
			shape(c, vg.Point{X: tx(at), Y: ty(row)}, ink, -5, 0, 0, 5, 5, 0, 0, -5)
		}
	}
}

// laneWords plots a text at the right end of a lane, the row of boxes of one policy.
func laneWords(row float64, words string) sketch {
	return func(c draw.Canvas, _ *plot.Plot, _, ty func(float64) vg.Length) {
		style := placed(textStyle(8.5, ink, false), draw.XLeft, draw.YCenter)
		c.FillText(style, vg.Point{X: c.Max.X + 6, Y: ty(row)}, words)
	}
}
