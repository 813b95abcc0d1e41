package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// starvationChart shows when fresh jobs starved, waiting for longer than their class may: a lane for each policy.
// It is nil if that was not measured.
func starvationChart(d *drawing) *sheet {
	totals := make([]float64, len(d.policies))
	for i, p := range d.policies {
		if p.starved == nil {
			return nil
		}
		totals[i] = d.starvedTime(p.starved)
	}
	best, worst := extremes(totals)
	s := &sheet{name: "6-starvation", title: d.starvationTitle(totals, best, worst), footer: d.footer(d.starvationMarks())}
	s.subtitle = "When some fresh job" + d.charted() + " had waited for longer than its class may" + d.mayWait()
	s.alt = d.alt(s.title, "Time in which fresh jobs starved", func(i int) string { return seconds(totals[i]) })
	lanes := d.shown(best, worst)
	if len(lanes) < len(d.policies) {
		s.subtitle += d.panelWords()
	}
	until := d.end(func(p *policy, bucket int) bool { return at(p.starved, bucket) > 0 })
	s.height = 20 + 18*vg.Length(max(len(lanes), 2)) + 30
	s.body = func(c draw.Canvas) {
		p := newPlot()
		shades := windows{d.windows(until), true}
		p.X.Tick.Marker, p.X.Min, p.X.Max = clock(8), 0, until
		p.X.Label.Text = "virtual time"
		names := plot.ConstantTicks{}
		label := textStyle(8.5, ink, false)
		p.Add(shades)
		for i, own := range lanes {
			row := float64(len(lanes) - 1 - i)
			names = append(names, plot.Tick{Value: row, Label: fit(label, own.name, 118)})
			p.Add(lane{d.settings.Bucket.Seconds(), own, row, "none", totals[own.index]})
		}
		p.Y.Tick.Marker, p.Y.Tick.Label.Color = names, ink
		p.Y.Min, p.Y.Max = -.5, float64(len(lanes))-.5
		p.Draw(draw.Crop(c, 0, -44, 0, -shades.height(c, p)))
	}
	return s
}

// starvedTime is the s in which fresh jobs starved after the warm-up, on the average over seeds.
func (d *drawing) starvedTime(shares []float64) float64 {
	sum := 0.0
	for i := d.from; i < len(shares); i++ {
		sum += float64(zeroed(shares[i]) * d.settings.Bucket.Seconds())
	}
	return sum
}

func (d *drawing) starvationMarks() string {
	if d.seeds == 1 {
		return "the stronger the colour, the larger the share of the time"
	}
	return "the stronger the colour, the larger the share of the time, mean over seeds; right: in all"
}

func (d *drawing) starvationTitle(totals []float64, best, worst int) string {
	switch {
	case best < 0:
		return "There is nothing to say of starvation"
	case totals[worst] == 0:
		return "No fresh job" + d.charted() + " starves" + d.never()
	case totals[best] == 0 && len(d.policies) > 1:
		return fmt.Sprintf("Fresh jobs%s starve for %s with %s, never with %s", d.charted(), seconds(totals[worst]), d.policies[worst].name, d.policies[best].name)
	}
	return d.rangeTitle("Fresh jobs"+d.charted()+" starve for", seconds, totals, best, worst)
}

// charted names the jobs whose starvation is shown, unless they are all: " of mail".
func (d *drawing) charted() string {
	q := d.settings.Charted()
	if name := cmp.Or(q.Tenant, q.Class); name != "" {
		return " of " + shorten(clean(name), stormLimit)
	}
	return ""
}

// mayWait is how long fresh jobs may wait, if classes do not differ in it.
func (d *drawing) mayWait() string {
	after, q := d.settings.StarvedAfter, d.settings.Charted()
	if kind := slices.Index(d.settings.Classes, q.Class); kind >= 0 && kind < len(after) {
		return " (" + duration(after[kind]) + ")"
	}
	if len(after) > 0 && slices.Min(after) == slices.Max(after) {
		return " (" + duration(after[0]) + ")"
	}
	return " (starved-after)"
}

// never names whom it is about that something never happens.
func (d *drawing) never() string {
	if len(d.policies) == 1 {
		return " with " + d.policies[0].name
	}
	return ", under any policy"
}

// lane is the starvation of one policy: boxes as dark as the share of the time.
type lane struct {
	bucket float64 // s
	policy policy
	row    float64
	none   string  // at the right end, if there was none
	total  float64 // s
}

// shades are how many degrees of darkness there are: boxes of like darkness are joined.
const shadesOfLane = 6

func (l lane) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	low, high := ty(l.row-.36), ty(l.row+.36)
	degree := func(i int) int {
		if v := zeroed(l.policy.starved[i]); v > 0 {
			return max(int(math.Ceil(math.Min(v, 1)*shadesOfLane)), 1)
		}
		return 0
	}
	for from := 0; from < len(l.policy.starved); {
		to, own := from+1, degree(from)
		for to < len(l.policy.starved) && degree(to) == own {
			to++
		}
		if own > 0 {
			x0, x1 := tx(float64(from)*l.bucket), tx(math.Min(float64(to)*l.bucket, p.X.Max))
			if x1-x0 < .8 { // far enough apart to be seen
				x1 = x0 + .8
			}
			c.FillPolygon(alpha(l.policy.hue.line, uint8(40+215*own/shadesOfLane)), []vg.Point{{X: x0, Y: low}, {X: x1, Y: low}, {X: x1, Y: high}, {X: x0, Y: high}})
		}
		from = to
	}
	style, words := textStyle(8, muted, false), l.none
	if l.total > 0 {
		style, words = textStyle(8, ink, false), seconds(l.total)
	}
	style.YAlign = draw.YCenter
	c.FillText(style, vg.Point{X: c.Max.X + 6, Y: ty(l.row)}, words)
}
