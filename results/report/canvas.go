package report

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results/plain"
)

// svgCanvas is a canvas for gonum's plots that writes SVG elements: positions in tenths of a point (less than a pixel),
// paths as relative steps, and attributes instead of inline styles, which a page's style sheet may override and a
// content security policy may forbid.
type svgCanvas struct {
	vg.Canvas        // nil: its methods Scale and DrawImage, which no chart calls, would panic
	name      string // name of the figure, the prefix of element identifiers
	height    vg.Length
	out       []byte // the SVG elements written so far
	shared    []byte // SVG elements of the backdrop, which a document holds once; nil: no backdrop
	panel     vg.Rectangle
	states    []svgState
}

// svgState is the drawing state (colour, line, position) that Push saves and Pop restores.
type svgState struct {
	color  color.NRGBA
	width  vg.Length
	dashes []vg.Length
	offset vg.Length
	turn   float64 // radians, counterclockwise, around origin
	origin vg.Point
	plain  bool // elements inherit the colour of the element that refers to them
}

func newSVGCanvas(name string, height vg.Length) *svgCanvas {
	c := &svgCanvas{name: name, height: height, states: make([]svgState, 1, 8)}
	vg.Initialize(c)
	return c
}

func (s *svgCanvas) now() *svgState { return &s.states[len(s.states)-1] }

// SetLineWidth sets the width of the lines drawn next, as vg.Canvas has it.
func (s *svgCanvas) SetLineWidth(w vg.Length) { s.now().width = w }

// SetLineDash sets the dash pattern of the lines drawn next, and where in it they begin.
func (s *svgCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	s.now().dashes, s.now().offset = pattern, offset
}

// SetColor sets the colour of the elements drawn next.
func (s *svgCanvas) SetColor(c color.Color) {
	s.now().color = color.NRGBAModel.Convert(c).(color.NRGBA)
}

// Rotate turns the elements drawn next around the origin, counterclockwise.
func (s *svgCanvas) Rotate(radians float64) { s.now().turn += radians }

// Translate moves the origin of the elements drawn next.
func (s *svgCanvas) Translate(by vg.Point) { s.now().origin = s.placed(by) }

// Push saves the drawing state: colour, line width, dashes and position.
func (s *svgCanvas) Push() { s.states = append(s.states, *s.now()) }

// Pop restores the drawing state that Push saved last.
func (s *svgCanvas) Pop() { s.states = s.states[:len(s.states)-1] }

// placed converts a point of the translated and rotated coordinates to those of the drawing, y upwards.
func (s *svgCanvas) placed(p vg.Point) vg.Point {
	state := s.now()
	if state.turn != 0 {
		sin, cos := math.Sincos(state.turn)
		p = vg.Point{X: p.X*vg.Length(cos) - p.Y*vg.Length(sin), Y: p.X*vg.Length(sin) + p.Y*vg.Length(cos)}
	}
	return p.Add(state.origin)
}

// Stroke writes the SVG element for the line along a path.
func (s *svgCanvas) Stroke(path vg.Path) {
	state := s.now()
	if state.width <= 0 {
		return
	}
	s.out = append(s.out, `<path fill="none"`...)
	s.paint("stroke", state)
	s.out = fmt.Appendf(s.out, ` stroke-width="%s"%s`, number(float64(state.width), 2), dashAttribute(state.dashes, ","))
	if state.offset != 0 {
		s.out = fmt.Appendf(s.out, ` stroke-dashoffset="%s"`, number(float64(state.offset), 2))
	}
	s.path(path)
}

// Fill writes the SVG element for the area bounded by a path.
func (s *svgCanvas) Fill(path vg.Path) {
	s.out = append(s.out, "<path"...)
	s.out = append(s.out, plain.When(s.now().plain, ` stroke="none"`)...)
	s.paint("fill", s.now())
	s.path(path)
}

// paint writes a colour attribute and, unless the colour is opaque, its opacity.
func (s *svgCanvas) paint(attribute string, state *svgState) {
	if state.plain {
		return
	}
	s.out = fmt.Appendf(s.out, ` %s="%s"`, attribute, hex(state.color))
	if state.color.A < 255 {
		s.out = fmt.Appendf(s.out, ` %s-opacity="%s"`, attribute, number(float64(state.color.A)/255, 3))
	}
}

// path writes a path, as the data attribute of an SVG path element, and ends the element.
func (s *svgCanvas) path(path vg.Path) {
	s.out = append(s.out, ` d="`...)
	data := pathData{out: s.out}
	for i := range path {
		switch step := &path[i]; step.Type {
		case vg.MoveComp:
			data.move(s.tenths(step.Pos))
		case vg.LineComp:
			data.line(s.tenths(step.Pos))
		case vg.ArcComp:
			if math.Abs(step.Angle) < 2*math.Pi {
				panic("report: no chart has a part of a circle")
			}
			data.circle(s.tenths(step.Pos), int(math.Round(float64(step.Radius)*10)))
		case vg.CurveComp:
			panic("report: no chart has a curve")
		case vg.CloseComp:
			data.close()
		}
	}
	data.flush()
	s.out = append(data.out, "\"/>\n"...)
}

// tenths converts a point to its position in the SVG, in tenths of a point, y downwards.
func (s *svgCanvas) tenths(p vg.Point) image.Point {
	p = s.placed(p)
	return image.Pt(int(math.Round(float64(p.X)*10)), int(math.Round(float64(s.height-p.Y)*10)))
}

// FillString writes a text element with its width as an attribute, so that another font keeps the width, unless the
// chart's font lacks one of its characters.
func (s *svgCanvas) FillString(face plotfont.Face, at vg.Point, words string) {
	if face.Font.Size == 0 || strings.TrimSpace(words) == "" {
		return
	}
	state, to := s.now(), s.tenths(at)
	s.out = append(s.out, "<text"...)
	if !strings.ContainsFunc(words, lacked) {
		s.out = fmt.Appendf(s.out, ` lengthAdjust="spacingAndGlyphs" textLength="%s"`, number(float64(face.Width(words)), 1))
	}
	s.out = append(appendTenths(append(s.out, ` x="`...), to.X), `" y="`...)
	s.out = append(appendTenths(s.out, to.Y), '"')
	if state.turn != 0 {
		x, y := appendTenths(nil, to.X), appendTenths(nil, to.Y)
		s.out = fmt.Appendf(s.out, ` transform="rotate(%s %s %s)"`, number(-state.turn*180/math.Pi, 1), x, y)
	}
	s.out = fmt.Appendf(s.out, `%s font-size="%s"`, plain.When(face.Font.Weight == font.WeightBold, ` font-weight="bold"`),
		number(float64(face.Font.Size), 2))
	s.paint("fill", state)
	s.out = append(s.out, ">"+html.EscapeString(words)+"</text>\n"...)
}

// lacked reports whether the charts' font may lack a character, so that viewers draw it in another font.
func lacked(r rune) bool { return r > 0x17f && !strings.ContainsRune("–…−≤≥≈", r) }

// share draws the grey backdrop, which is equal in all panels of a figure, in the panel c: the first call stores its
// SVG elements, and every call writes a reference to them. It returns false if c differs in size from the first panel.
func (s *svgCanvas) share(c draw.Canvas, paint func(c draw.Canvas)) bool {
	if s.shared == nil {
		out := s.out
		s.out = []byte{}
		s.Push()
		s.now().plain = true
		paint(draw.Canvas{Canvas: s, Rectangle: c.Rectangle})
		s.Pop()
		s.panel, s.shared, s.out = c.Rectangle, s.out, out
	}
	own, first := c.Rectangle.Size(), s.panel.Size()
	if math.Abs(float64(own.X-first.X)) > .01 || math.Abs(float64(own.Y-first.Y)) > .01 {
		return false
	}
	color := hex(backdrop)
	s.out = fmt.Appendf(s.out, `<use xlink:href="#backdrop-%s" x="%s" y="%s" fill="%s" stroke="%s"/>`+"\n", s.name,
		number(float64(c.Min.X-s.panel.Min.X), 1), number(float64(s.panel.Min.Y-c.Min.Y), 1), color, color)
	return true
}

// definitions returns the <defs> element of the SVG: the stored backdrop that the panels of a figure refer to.
func (s *svgCanvas) definitions() []byte {
	if s.shared == nil {
		return nil
	}
	return fmt.Appendf(nil, "<defs><g id=\"backdrop-%s\">%s</g></defs>\n", s.name, s.shared)
}

// pathData writes the steps of an SVG path in relative coordinates, rounded to tenths of a point. Errors do not add up:
// each point lies where it would by itself. Of points on a horizontal line only the first and the last are kept.
type pathData struct {
	out       []byte
	at, start image.Point
	moved     bool // a move to the position at is still to be written: a circle begins elsewhere
	level     int  // a horizontal step that is still to be written
	lines     bool // the last command in out is a relative line
}

func (d *pathData) flush() {
	if d.moved {
		d.moved = false
		d.step('M', d.start)
	}
	if d.level != 0 {
		d.step('l', image.Pt(d.level, 0))
		d.level = 0
	}
}

func (d *pathData) move(to image.Point) {
	d.flush()
	d.at, d.start, d.moved = to, to, true
}

func (d *pathData) line(to image.Point) {
	by := to.Sub(d.at)
	d.at = to
	if by.Y != 0 || d.moved {
		d.flush()
	}
	if by.Y != 0 {
		d.step('l', by)
		return
	}
	if d.level != 0 && d.level > 0 != (by.X > 0) {
		d.flush()
	}
	d.level += by.X
}

func (d *pathData) close() {
	d.flush()
	d.out, d.at, d.lines = append(d.out, 'z'), d.start, false
}

// circle writes a whole circle, which SVG draws as two arcs.
func (d *pathData) circle(middle image.Point, radius int) {
	d.moved = false
	d.flush()
	d.step('M', middle.Sub(image.Pt(radius, 0)))
	r := string(appendTenths(nil, radius))
	for _, diameter := range [...]int{2 * radius, -2 * radius} {
		d.out = fmt.Appendf(d.out, "a%s %s 0 1 0 %s 0", r, r, appendTenths(nil, diameter))
	}
	d.lines = false
}

// step writes a path command with two numbers; a relative line after another one goes without its letter.
func (d *pathData) step(command byte, p image.Point) {
	if command == 'M' || !d.lines {
		d.out = append(d.out, command)
	} else if p.X >= 0 {
		d.out = append(d.out, ' ')
	}
	d.lines = command == 'l'
	d.out = appendTenths(d.out, p.X)
	if p.Y >= 0 {
		d.out = append(d.out, ' ')
	}
	d.out = appendTenths(d.out, p.Y)
}

func appendTenths(out []byte, v int) []byte {
	if v < 0 {
		out, v = append(out, '-'), -v
	}
	if v >= 10 || v%10 == 0 {
		out = strconv.AppendInt(out, int64(v/10), 10)
	}
	if rest := v % 10; rest != 0 {
		out = append(out, '.', byte('0'+rest))
	}
	return out
}

// number returns a number for an SVG attribute as text, with at most that many digits after the point.
func number(v float64, digits int) string {
	if s := plain.Fixed(v, digits); s != "-0" {
		return s
	}
	return "0"
}
