package report

import (
	"fmt"
	"image/color"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	paper    = rgb(0xffffff)
	ink      = rgb(0x1b1f24)
	muted    = rgb(0x59636e)
	gridline = rgb(0xe7eaee)
	axisline = rgb(0x9aa4af)
	stormInk = rgb(0xd1242f)
	backdrop = rgb(0xc9d0d7) // curves of the other policies behind one policy's curve
)

// hue holds the colours of one policy, one for lines and dots, and a darker one for text on white (contrast at least
// 4.5), and the dash pattern of its lines; nil is a solid line.
type hue struct {
	line, text color.NRGBA
	dashes     []vg.Length
	number     int  // index into hues, of which style sheets make class names
	again      bool // a policy before it has the same colour
}

// hues are the colours of policies, by index. The first four are Okabe and Ito's in pairs of a dark and a light hue,
// warm and cold, which stay apart under deuteranopia and protanopia; the others are told apart by lightness. Dashes
// distinguish lines without colour.
var hues = [...]hue{
	{line: rgb(0xD55E00), text: rgb(0xB54F00)},
	{line: rgb(0x0072B2), text: rgb(0x0067A1), dashes: []vg.Length{6, 2}},
	{line: rgb(0xE69F00), text: rgb(0x8A6000), dashes: []vg.Length{2, 2}},
	{line: rgb(0x56B4E9), text: rgb(0x23739F), dashes: []vg.Length{7, 2, 2, 2}},
	{line: rgb(0x009E73), text: rgb(0x007A59), dashes: []vg.Length{10, 3}},
	{line: rgb(0xCC79A7), text: rgb(0xA3427A), dashes: []vg.Length{4, 2, 1, 2, 1, 2}},
	{line: rgb(0x4B2E83), text: rgb(0x4B2E83), dashes: []vg.Length{1, 1.5}},
	{line: rgb(0x6E7781), text: rgb(0x57606A), dashes: []vg.Length{12, 2, 3, 2}},
}

var (
	freshColor   = rgb(0x0072B2)
	retryColor   = rgb(0xE69F00)
	waitingColor = rgb(0xf3ddb0) // jobs in backoff (retries not yet due): a paler retry colour
)

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

func alpha(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// hueOf returns the colours and dashes, the same in every chart, of the policy with that index in the scenario. Two
// policies that share a colour, since there are more policies than colours, have different dashes.
func hueOf(policy int) hue {
	own := hues[policy%len(hues)]
	own.number, own.again = policy%len(hues), policy >= len(hues)
	own.dashes = hues[(policy+policy/len(hues))%len(hues)].dashes
	return own
}

// textStyle returns the style of text in Liberation Sans of a size in points, aligned at its left and bottom.
func textStyle(size float64, c color.Color, bold bool) text.Style {
	f := plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = font.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler, XAlign: draw.XLeft, YAlign: draw.YBottom}
}

// placed returns a text style with another alignment: which side of a text, or its middle, lies at its position.
func placed(s text.Style, x text.XAlignment, y text.YAlignment) text.Style {
	s.XAlign, s.YAlign = x, y
	return s
}

// newPlot returns an empty plot in house style: horizontal grid lines in place of a y axis line and y ticks.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	own := textStyle(8.5, muted, false)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: axisline, Width: vg.Points(.6)}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = vg.Points(3)
		for _, style := range []*text.Style{&a.Tick.Label, &a.Label.TextStyle} { // their alignment stays
			style.Color, style.Font, style.Handler = own.Color, own.Font, own.Handler
		}
		a.Label.Padding = vg.Points(3)
		a.Padding = 0
	}
	p.Y.LineStyle.Width = 0
	p.Y.Tick.LineStyle.Width = 0
	p.Y.Tick.Length = 0
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: gridline, Width: vg.Points(.6)}
	p.Add(grid)
	return p
}

// themed holds the colours of charts that a page's theme can replace, each with the name of its CSS variable.
var themed = themedColors()

func themedColors() []themedColor {
	list := []themedColor{
		{"bg", paper}, {"ink", ink}, {"muted", muted}, {"grid", gridline}, {"axis", axisline}, {"storm", stormInk},
		{"backdrop", backdrop}, {"fresh", freshColor}, {"retry", retryColor}, {"waiting", waitingColor},
	}
	for i, h := range hues {
		list = append(list, themedColor{fmt.Sprintf("p%d", i), h.line}, themedColor{fmt.Sprintf("t%d", i), h.text})
	}
	return list
}

type themedColor struct {
	name  string
	color color.NRGBA
}

// hex returns a colour in the notation of SVG and CSS, without its opacity.
func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// chartRules returns CSS rules that give inline charts the colours of the page's theme.
func chartRules() string {
	var out strings.Builder
	seen := map[color.NRGBA]bool{}
	for _, c := range themed {
		if seen[c.color] {
			continue // fresh and retry are as the hues of the same colour
		}
		seen[c.color] = true
		for _, use := range [...]string{"fill", "stroke"} {
			fmt.Fprintf(&out, `:is(.chart,.sample) [%[1]s="%[2]s"]{%[1]s:var(--%[3]s)}`, use, hex(c.color), c.name)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
