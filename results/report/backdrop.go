package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// backdropLines holds the curves of all policies, drawn in grey behind the coloured curve of one policy, and equal in
// all panels of a chart. In an SVG they are written once, or its size would grow with the square of the number of
// policies.
type backdropLines []curve

func (b backdropLines) Plot(c draw.Canvas, p *plot.Plot) {
	if sharing := svgBelow(c); sharing == nil || !sharing.share(c, func(c draw.Canvas) { b.draw(c, p) }) {
		b.draw(c, p)
	}
}

// svgBelow returns the SVG that a canvas draws into, nil if it draws into none.
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

// backdropOf returns the backdrop lines of one time series, one for each policy.
func (d *drawing) backdropOf(values func(p *policy) []float64) backdropLines {
	var b backdropLines
	for i := range d.policies {
		b = append(b, others(d.xs, values(&d.policies[i])))
	}
	return b
}
