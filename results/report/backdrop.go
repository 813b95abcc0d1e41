package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// backdropLines are the lines of all policies, in grey behind the one that a panel is about: the same in
// all panels of a chart. In an SVG they are written once, or its size would grow with the
// square of the number of policies.
type backdropLines []curve

func (b backdropLines) Plot(c draw.Canvas, p *plot.Plot) {
	if sharing := svgBelow(c); sharing == nil || !sharing.share(c, func(c draw.Canvas) { b.draw(c, p) }) {
		b.draw(c, p)
	}
}

// svgBelow is the SVG that a part of a canvas belongs to, nil if it is none.
func svgBelow(c draw.Canvas) *svgCanvas {
	for {
		switch below := c.Canvas.(type) {
		case *svgCanvas:
			return below
		case draw.Canvas:
			c = below
		default:
			return nil
		}
	}
}

func (b backdropLines) draw(c draw.Canvas, p *plot.Plot) {
	for _, l := range b {
		l.Plot(c, p)
	}
}

// backdropOf are the lines of one series of all policies.
func (d *drawing) backdropOf(values func(p *policy) []float64) backdropLines {
	var b backdropLines
	for i := range d.policies {
		b = append(b, others(d.xs, values(&d.policies[i])))
	}
	return b
}
