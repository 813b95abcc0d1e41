package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// viridis is the colour map of Smith and van der Walt (matplotlib, 2015) at ten equal steps from dark to light: its
// lightness rises all along, so that the order is visible without colour vision.
var viridis = [...]uint32{0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b,
	0xfde725}

// viridisAt returns the colour at a share of the way through viridis, from 0 (dark) to 1 (light).
func viridisAt(share float64) color.NRGBA {
	at := math.Min(math.Max(share, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(float64(a)*(1-part)) + float64(float64(b)*part)))
	}
	a, b := rgb(viridis[i]), rgb(viridis[i+1])
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 255}
}

var (
	neverGround  = rgb(0xf1f2f4)
	neverHatch   = rgb(0x8b949e)
	missingHatch = rgb(0xc9d0d7)
)

const hatchGap = vg.Length(5)

// colorScale maps values of a metric to colours of viridis: light is good.
type colorScale struct {
	low, high float64
	log       bool
	empty     bool // no tile (rectangle of a map) has a value
	dark      bool // small values are dark: for a metric where more is better
	never     bool // at least one tile where the measured event never happens
	missing   bool // at least one tile without a value
	clipped   bool // at least one value below low
	info      measure.MetricInfo
}

func newColorScale(m *results.Map) *colorScale {
	info, _ := measure.Lookup(m.Query.Metric)
	s, seen := &colorScale{info: info, dark: info.MoreIsBetter}, plain.ExtentOf()
	for _, p := range m.Panels {
		for _, t := range p.Tiles {
			if s.never = s.never || t.Value.Never; !t.Value.Never {
				s.missing = s.missing || math.IsNaN(t.Value.Mean)
				seen.Include(t.Value.Mean)
			}
		}
	}
	s.low, s.high = seen.Low, seen.High
	if s.empty = seen.Empty(); s.empty {
		s.low, s.high = 0, 1
	}
	if s.high/seen.Positive >= logFrom {
		s.log, s.low = true, math.Max(seen.Positive, s.high*1e-6)
		s.clipped = seen.Low < s.low
	}
	if s.low == s.high {
		s.low = math.Min(0, s.low)
	}
	if s.low == s.high {
		s.high = 1
	}
	return s
}

// share returns where a value lies on the colour scale, from 0 (low) to 1 (high).
func (s *colorScale) share(v float64) float64 {
	if s.log {
		return math.Log(math.Max(v, s.low)/s.low) / math.Log(s.high/s.low)
	}
	return (v - s.low) / (s.high - s.low)
}

func (s *colorScale) color(v float64) color.NRGBA {
	share := s.share(v)
	return viridisAt(plain.Either(s.dark, share, 1-share))
}

// fill paints a rectangle of a map in the colour of value v. Points where the measured event (recovery, say) never
// happens are hatched, which shows without colours; points without a value are hatched differently.
func (s *colorScale) fill(c draw.Canvas, r, area vg.Rectangle, v float64, never bool) {
	ground, lines := paper, missingHatch
	switch {
	case never:
		ground, lines = neverGround, neverHatch
	case !math.IsNaN(v):
		ground = s.color(v)
	}
	// A little too large, or the ground would shine through between two of one colour.
	c.FillPolygon(ground, box(r.Min.X, r.Min.Y, min(r.Max.X+.3, area.Max.X), min(r.Max.Y+.3, area.Max.Y)))
	if never || math.IsNaN(v) {
		hatch(c, r, area.Min, never, lines)
	}
}

// hatch draws parallel lines through rectangle r, rising or horizontal, aligned with those of all rectangles hatched
// from the same origin.
func hatch(c draw.Canvas, r vg.Rectangle, origin vg.Point, rising bool, ink color.NRGBA) {
	style := draw.LineStyle{Color: ink, Width: .7}
	if !rising {
		for y := math.Ceil(float64((r.Min.Y - origin.Y) / hatchGap)); vg.Length(y)*hatchGap+origin.Y < r.Max.Y; y++ {
			at := vg.Length(y)*hatchGap + origin.Y
			c.StrokeLine2(style, r.Min.X, at, r.Max.X, at)
		}
		return
	}
	// A line is y - x = k·gap: those between the lower right and the upper left corner.
	offset := origin.Y - origin.X
	first, last := (r.Min.Y-r.Max.X-offset)/hatchGap, (r.Max.Y-r.Min.X-offset)/hatchGap
	for k := math.Ceil(float64(first)); k <= float64(last); k++ {
		shift := vg.Length(k)*hatchGap + offset
		x0, x1 := max(r.Min.X, r.Min.Y-shift), min(r.Max.X, r.Max.Y-shift)
		if x1 > x0 {
			c.StrokeLine2(style, x0, x0+shift, x1, x1+shift)
		}
	}
}

// key returns the legend of a map: values at even distances on the colour scale, and the hatchings.
func (s *colorScale) key() (k key) {
	const steps = 4
	for i := range steps + 1 {
		if share := float64(i) / steps; !s.empty {
			v := s.low + share*(s.high-s.low)
			if s.log {
				v = s.low * math.Pow(s.high/s.low, share)
			}
			name := plain.When(s.clipped && i == 0, "≤ ") + spell(v, s.info)
			k = append(k, entry{name: name, color: s.color(v), area: true})
		}
	}
	hatched := func(never bool) func(c draw.Canvas, at vg.Point) {
		return func(c draw.Canvas, at vg.Point) {
			r := rectangle(at.X-5, at.Y-4, at.X+5, at.Y+4)
			s.fill(c, r, r, math.NaN(), never)
			outline(c, r, .5)
		}
	}
	if s.never {
		k = append(k, entry{name: "never", area: true, mark: hatched(true)})
	}
	if s.missing {
		k = append(k, entry{name: "no value", area: true, mark: hatched(false)})
	}
	return k
}
