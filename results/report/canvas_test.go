package report

import (
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

func TestSVGPaths(t *testing.T) {
	t.Parallel()
	type step struct {
		kind string
		x, y float64
	}
	for want, steps := range map[string][]step{
		"M0 0l1 0 .3-3.5":        {{"M", 0, 0}, {"L", 1, .04}, {"L", 1.26, -3.5}},
		"M10 2l.1 0 .1 1":        {{"M", 10.04, 2}, {"L", 10.08, 2}, {"L", 10.12, 2}, {"L", 10.16, 3}},
		"M1 1l2 0-.5 0 0 1":      {{"M", 1, 1}, {"L", 2, 1}, {"L", 3, 1}, {"L", 2.5, 1}, {"L", 2.5, 2}},
		"M1 1l1 1zM5 5l1-1-1 0z": {{"M", 1, 1}, {"L", 2, 2}, {"Z", 0, 0}, {"M", 5, 5}, {"L", 6, 4}, {"L", 5, 4}, {"Z", 0, 0}},
		"M1 1l1 1zl2 2":          {{"M", 1, 1}, {"L", 2, 2}, {"Z", 0, 0}, {"L", 3, 3}},
		"M1 1":                   {{"M", 1, 1}},
		"M0-12.3l-10 0":          {{"M", -.04, -12.34}, {"L", -10, -12.3}},
		"M11.1 6.8a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0 -2.4 0z": {{"O", 12.345, 6.789}, {"Z", 0, 0}},
	} {
		var path vg.Path
		for _, s := range steps {
			at := vg.Point{X: vg.Length(s.x), Y: vg.Length(-s.y)} // a canvas of no height: y of the SVG is −y
			switch s.kind {
			case "M":
				path.Move(at)
			case "L":
				path.Line(at)
			case "O":
				path.Move(at.Add(vg.Point{X: 1.234}))
				path.Arc(at, 1.234, 0, 2*math.Pi)
			case "Z":
				path.Close()
			}
		}
		c := newSVGCanvas("test", 0)
		c.Fill(path)
		if got := string(c.out); got != `<path fill="#000000" d="`+want+"\"/>\n" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSVGElements(t *testing.T) {
	t.Parallel()
	var line vg.Path
	line.Move(vg.Point{})
	line.Line(vg.Point{X: 10, Y: 10})
	c := newSVGCanvas("test", 100)
	c.SetColor(color.NRGBA{R: 213, G: 94, A: 51})
	c.SetLineWidth(1.25)
	c.SetLineDash([]vg.Length{3, 1.5}, 0)
	c.Push()
	c.Translate(vg.Point{X: 20, Y: 30})
	c.Rotate(math.Pi / 2)
	c.Stroke(line)
	style := textStyle(8.5, ink, true)
	c.FillString(style.Handler.Cache().Lookup(style.Font, 8.5), vg.Point{X: 5}, "a < b")
	c.Pop()
	c.SetLineWidth(0)
	c.Stroke(line)
	want := `<path fill="none" stroke="#D55E00" stroke-opacity="0.2" stroke-width="1.25" stroke-dasharray="3,1.5" d="M20 70l-10-10"/>
<text lengthAdjust="spacingAndGlyphs" textLength="WIDTH" x="20" y="65" transform="rotate(-90 20 65)" font-weight="bold" font-size="8.5" fill="#D55E00" fill-opacity="0.2">a &lt; b</text>
`
	if got := string(c.out); got != strings.Replace(want, "WIDTH", number(float64(style.Width("a < b")), 1), 1) {
		t.Errorf("got %s, want %s", got, want)
	}
}
