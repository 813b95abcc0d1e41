package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// backdropLines are the lines of all policies, in grey behind the one that a panel is about: the same in
// all panels of a chart. In an SVG they are written once, or its size would grow with the
// square of the number of policies.
type backdropLines []curve

func (b backdropLines) Plot(c draw.Canvas, p *plot.Plot) {
	if sharing := sharingBelow(c); sharing == nil || !sharing.place(c, func(c draw.Canvas) { b.draw(c, p) }) {
		b.draw(c, p)
	}
}

// sharingBelow is the SVG that a part of a canvas belongs to, nil if it is none.
func sharingBelow(c draw.Canvas) *sharingCanvas {
	for {
		switch below := c.Canvas.(type) {
		case *sharingCanvas:
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

// sharingCanvas is what an SVG is drawn on.
type sharingCanvas struct {
	*vgsvg.Canvas
	height   vg.Length
	backdrop []byte       // its elements; nil: there is none so far
	panel    vg.Rectangle // that it was drawn for
	err      error
}

// marker is the colour of what stands where a backdrop will. No chart has it.
var marker = color.NRGBA{R: 1, G: 2, B: 3, A: 255}

// place has the backdrop of a panel drawn where it has not been yet, and leaves a mark where
// it belongs. It reports false if the panel is of another size than the first.
func (s *sharingCanvas) place(c draw.Canvas, paint func(c draw.Canvas)) bool {
	if s.backdrop == nil {
		document := vgsvg.NewWith(vgsvg.UseWH(width, s.height))
		paint(draw.Canvas{Canvas: document, Rectangle: c.Rectangle})
		text, err := drawn(document)
		if err != nil {
			s.err = err
			return false
		}
		s.panel, s.backdrop = c.Rectangle, text
	}
	own, first := c.Rectangle.Size(), s.panel.Size()
	if math.Abs(float64(own.X-first.X)) > .01 || math.Abs(float64(own.Y-first.Y)) > .01 {
		return false
	}
	c.StrokeLine2(draw.LineStyle{Color: marker, Width: 1}, c.Min.X, c.Min.Y, c.Min.X+1, c.Min.Y+1)
	return true
}

// drawn is what has been drawn on a canvas: the group that holds it all, and the end of the
// document.
func drawn(document *vgsvg.Canvas) ([]byte, error) {
	var out bytes.Buffer
	if _, err := document.WriteTo(&out); err != nil {
		return nil, err
	}
	return out.Bytes()[bytes.Index(out.Bytes(), []byte("<g ")):], nil
}

// marked is the mark of place, with where it is.
var marked = regexp.MustCompile(`<path d="M([^,]*),([^L]*)L[^"]*"\s+style="fill:none;stroke:#010203[^"]*" />`)

// compose puts the backdrop, if there is one, where its marks are in an SVG whose
// elements are text.
func (s *sharingCanvas) compose(name string, text []byte) []byte {
	if s.backdrop == nil {
		return text
	}
	id, paint := "backdrop-"+name, hex(backdrop)
	text = marked.ReplaceAllFunc(text, func(mark []byte) []byte {
		at := marked.FindSubmatch(mark)
		offset := func(number []byte, from vg.Length) string {
			v, _ := strconv.ParseFloat(string(number), 64) // as the canvas wrote it
			return string(tenths(strconv.AppendFloat(nil, v-float64(from), 'f', 3, 64)))
		}
		return fmt.Appendf(nil, `<use href="#%s" x="%s" y="%s" fill="%s" stroke="%s" />`, id, offset(at[1], s.panel.Min.X), offset(at[2], s.panel.Min.Y), paint, paint)
	})
	// Colours come from where it is used. A dot is filled, a line is not.
	inner := s.backdrop[bytes.IndexByte(s.backdrop, '>')+1 : bytes.LastIndex(s.backdrop, []byte("</g>"))]
	inner = bytes.ReplaceAll(inner, []byte("fill:"+paint), []byte("stroke:none"))
	inner = bytes.ReplaceAll(inner, []byte(";stroke:"+paint), nil)
	definition := fmt.Appendf(nil, "\n<defs><g id=%q>%s</g></defs>", id, bytes.TrimSpace(inner))
	start := bytes.IndexByte(text, '>') + 1
	return append(append(append([]byte{}, text[:start]...), definition...), text[start:]...)
}
