// Package report draws what a Summary says: how long fresh jobs wait over time, what
// piles up, how waits are distributed, and how the policies compare. Page joins the figures
// with all else there is to say of a run to one HTML document, and Index compares runs.
//
// A figure depends on its input alone: no path, time or commit is in it, so equal
// runs have equal figures, byte for byte.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is one drawing in two formats.
type Figure struct {
	Name     string // of a file without its ending, for example "1-fresh-p99"
	Title    string // the finding, one sentence
	Subtitle string // what is drawn
	Footer   string // where it comes from and what its marks mean
	Alt      string // the finding and its numbers, for those who cannot see it
	PNG      []byte // 144 dpi
	SVG      []byte // a document of its own, with an XML declaration

	inline []byte // an SVG element for a page: without the texts around it, and styled by the page
}

const (
	dpi    = 144 // of a PNG
	width  = 7.6 * vg.Inch
	margin = vg.Length(14)
	room   = width - 2*margin // for what a figure says and shows
)

// sheet is a figure before it is drawn.
type sheet struct {
	name, title, subtitle, alt, footer string

	height vg.Length           // of everything below the subtitle and above the footer
	body   func(c draw.Canvas) // draws it; called once for each format
}

var (
	titleStyle    = topped(textStyle(12.5, ink, true))
	subtitleStyle = topped(textStyle(9, muted, false))
	footerStyle   = textStyle(7, muted, false)
)

const (
	titleLine    = vg.Length(16)
	subtitleLine = vg.Length(12)
	footerLine   = vg.Length(9)
)

func topped(s text.Style) text.Style {
	s.YAlign = draw.YTop
	return s
}

// render draws s in both formats, the PNG with so many dots per inch.
func (s *sheet) render(dpi int) (Figure, error) {
	titles, subtitles, footers := wrap(titleStyle, s.title, room), wrap(subtitleStyle, s.subtitle, room), wrap(footerStyle, s.footer, room)
	top := margin + vg.Length(len(titles))*titleLine + 2 + vg.Length(len(subtitles))*subtitleLine + 10
	bottom := 11 + vg.Length(len(footers))*footerLine
	height := top + s.height + bottom

	paint := func(c draw.Canvas) {
		c.SetColor(color.White)
		c.Fill(c.Rectangle.Path())
		y := lines(c, titleStyle, titles, c.Max.Y-margin, titleLine)
		lines(c, subtitleStyle, subtitles, y-2, subtitleLine)
		lines(c, footerStyle, footers, c.Min.Y+6+vg.Length(len(footers)-1)*footerLine, footerLine)
		s.body(draw.Crop(c, margin, -margin, bottom, -top))
	}

	bitmap := bitmap{vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}}
	paint(draw.New(bitmap))
	var raster bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // 5 % larger, in half the time
	if err := encoder.Encode(&raster, bitmap.Image()); err != nil {
		return Figure{}, fmt.Errorf("encode %s as PNG: %w", s.name, err)
	}
	vector, err := s.renderAlone(height, paint)
	if err != nil {
		return Figure{}, err
	}
	inline, err := s.renderInline()
	if err != nil {
		return Figure{}, err
	}
	return Figure{Name: s.name, Title: s.title, Subtitle: s.subtitle, Footer: s.footer, Alt: s.alt, PNG: raster.Bytes(), SVG: vector, inline: inline}, nil
}

// renderAlone draws s as an SVG document of its own.
func (s *sheet) renderAlone(height vg.Length, paint func(c draw.Canvas)) ([]byte, error) {
	document := &sharingCanvas{Canvas: vgsvg.NewWith(vgsvg.UseWH(width, height)), height: height}
	paint(draw.New(document))
	var out bytes.Buffer
	_, err := document.WriteTo(&out)
	if err = cmp.Or(err, document.err); err != nil {
		return nil, fmt.Errorf("encode %s as SVG: %w", s.name, err)
	}
	group := bytes.Index(out.Bytes(), []byte("<g "))
	body := bytes.ReplaceAll(document.compose(s.name, out.Bytes()[group:]), []byte("<use href="), []byte("<use xlink:href=")) // which old viewers know, too
	body = textElement.ReplaceAllFunc(compactPaths(body), measured)
	return dress(append(out.Bytes()[:group:group], body...), s.alt), nil
}

// bitmap draws a box for each character that the font lacks, which is blank in it, and what is
// written from right to left in the order in which it is seen. An SVG needs no such help: viewers
// fall back on other fonts, and know directions.
type bitmap struct{ vgimg.PngCanvas }

func (b bitmap) FillString(face font.Face, at vg.Point, s string) {
	var buffer sfnt.Buffer
	b.PngCanvas.FillString(face, at, strings.Map(func(r rune) rune {
		if i, err := face.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return '□'
		}
		return r
	}, asSeen(s)))
}

// asSeen turns round what is written from right to left in a text that runs from left to right: letters
// of Hebrew or Arabic with the spaces and signs between them. Numbers keep their direction.
func asSeen(s string) string {
	runes := []rune(s)
	for from := 0; from < len(runes); from++ {
		if !fromRight(runes[from]) {
			continue
		}
		end := from + 1
		for at := end; at < len(runes) && (fromRight(runes[at]) || !unicode.IsLetter(runes[at]) && !unicode.IsNumber(runes[at])); at++ {
			if fromRight(runes[at]) {
				end = at + 1
			}
		}
		slices.Reverse(runes[from:end])
		from = end - 1
	}
	return string(runes)
}

func fromRight(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff
}

// lines draws lines from y downwards and returns where the next would stand.
func lines(c draw.Canvas, style text.Style, lines []string, y, height vg.Length) vg.Length {
	for _, l := range lines {
		c.FillText(style, vg.Point{X: c.Min.X + margin, Y: y}, l)
		y -= height
	}
	return y
}

// dress gives an SVG document what its writer leaves out: fonts to fall back on where
// Liberation Sans is missing, and words for screen readers. The searched texts hold
// quotes or angle brackets, which are escaped in labels: no label can match.
func dress(svg []byte, alt string) []byte {
	svg = bytes.ReplaceAll(svg, []byte(`style="font-family:Liberation Sans;`), []byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`))
	return bytes.Replace(svg, []byte(`<svg `), []byte(`<svg role="img" aria-label="`+html.EscapeString(alt)+`" `), 1)
}
