//go:build !js

package report

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"qsim/results"
	"qsim/results/plain"
)

// Files returns figures as files of a folder: an SVG and a PNG each.
func Files(folder string, figures []Figure) ([]results.File, error) {
	var files []results.File
	for _, f := range figures {
		bitmap, err := f.bitmap(dpi)
		if err != nil {
			return nil, err
		}
		files = append(files, results.File{Path: path.Join(folder, f.Name+".png"), Data: bitmap},
			results.File{Path: path.Join(folder, f.Name+".svg"), Data: f.SVG})
	}
	return files, nil
}

// bitmap returns the chart as a PNG with a resolution of dpi dots per inch.
func (f *Figure) bitmap(dpi int) ([]byte, error) {
	bitmap := &bitmap{PngCanvas: vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, f.total), vgimg.UseDPI(dpi))},
		state: newSVGCanvas(f.Name, f.total)}
	f.paint(draw.New(bitmap))
	var raster bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed} // 5 % larger, in half the time
	if err := encoder.Encode(&raster, paletted(bitmap.Image().(*image.RGBA))); err != nil {
		return nil, fmt.Errorf("encode %s as PNG: %w", f.Name, err)
	}
	return raster.Bytes(), nil
}

// paletted returns an opaque picture with a palette of its 256 most frequent colours, in which any other colour becomes
// one near it: mixed colours along the edges of lines and letters, a few pixels in a hundred. To encode it takes a
// fifth of the time, since a pixel is one byte and PNG tries no filters.
func paletted(picture *image.RGBA) *image.Paletted {
	counts, pixels := map[uint32]int{}, make([]uint32, len(picture.Pix)/4)
	from := 0 // where the pixels of one colour begin
	for i := range pixels {
		c := binary.LittleEndian.Uint32(picture.Pix[4*i:])
		if pixels[i] = c; c != pixels[from] {
			counts[pixels[from]] += i - from
			from = i
		}
	}
	counts[pixels[from]] += len(pixels) - from
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b uint32) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	frequent := colors[:min(len(colors), 256)]
	places, alike := make(map[uint32]uint8, len(colors)), map[uint32]uint8{}
	for i, c := range colors {
		place, known := alike[c&0xf8f8f8]
		if i < len(frequent) {
			place = uint8(i)
		} else if !known {
			place = nearest(frequent, c)
			alike[c&0xf8f8f8] = place
		}
		places[c] = place
	}
	indexed := image.NewPaletted(picture.Rect, plain.Map(frequent, func(c uint32) color.Color {
		return color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), 255}
	}))
	for i, c := range pixels {
		if i > 0 && c == pixels[i-1] {
			indexed.Pix[i] = indexed.Pix[i-1]
		} else {
			indexed.Pix[i] = places[c]
		}
	}
	return indexed
}

// nearest returns the index of the listed colour that is nearest to another one; each is three bytes, red the lowest.
func nearest(colors []uint32, c uint32) (index uint8) {
	least := math.MaxInt
	for i, other := range colors {
		distance := 0
		for shift := 0; shift < 24; shift += 8 {
			d := int(c>>shift&0xff) - int(other>>shift&0xff)
			distance += d * d
		}
		if distance < least {
			index, least = uint8(i), distance
		}
	}
	return index
}

// bitmap is a PNG canvas that draws text and long lines itself, many times as fast as the library. It draws a box for
// each character that the font lacks, and reorders right-to-left text for display. An SVG needs no such help: viewers
// use other fonts, and know directions.
type bitmap struct {
	vgimg.PngCanvas
	state *svgCanvas // has the same colour, dashes and position; nothing is drawn on it
}

// SetLineDash sets the dash pattern of the lines drawn next, and where in it they begin.
func (b *bitmap) SetLineDash(pattern []vg.Length, offset vg.Length) {
	b.PngCanvas.SetLineDash(pattern, offset)
	b.state.SetLineDash(pattern, offset)
}

// SetColor sets the colour of what is drawn next.
func (b *bitmap) SetColor(c color.Color) {
	b.PngCanvas.SetColor(c)
	b.state.SetColor(c)
}

// Rotate turns what is drawn next around the origin, counterclockwise.
func (b *bitmap) Rotate(radians float64) {
	b.PngCanvas.Rotate(radians)
	b.state.Rotate(radians)
}

// Translate moves the origin of what is drawn next.
func (b *bitmap) Translate(by vg.Point) {
	b.PngCanvas.Translate(by)
	b.state.Translate(by)
}

// Scale panics: no chart is scaled.
func (b *bitmap) Scale(x, y float64) { b.state.Scale(x, y) }

// Push saves the drawing state.
func (b *bitmap) Push() {
	b.PngCanvas.Push()
	b.state.Push()
}

// Pop restores the drawing state that Push saved last.
func (b *bitmap) Pop() {
	b.PngCanvas.Pop()
	b.state.Pop()
}

// Fill fills the area bounded by a path. The edges of an upright rectangle of some pixels are rounded to whole ones.
func (b *bitmap) Fill(path vg.Path) {
	if len(path) == 5 && path[4].Type == vg.CloseComp && !slices.ContainsFunc(path[1:4], bent) && b.state.now().turn == 0 {
		from, across, to, down := path[0].Pos, path[1].Pos, path[2].Pos, path[3].Pos
		upright := from.Y == across.Y && across.X == to.X && to.Y == down.Y && down.X == from.X ||
			from.X == across.X && across.Y == to.Y && to.X == down.X && down.Y == from.Y
		area := image.Rectangle{b.pixel(from), b.pixel(to)}.Canon()
		if upright && area.Dx() > 1 && area.Dy() > 1 {
			imagedraw.Draw(b.Image(), area, image.NewUniform(b.state.now().color), image.Point{}, imagedraw.Over)
			return
		}
	}
	b.PngCanvas.Fill(path)
}

// bent reports whether a step of a path is no straight line.
func bent(step vg.PathComp) bool { return step.Type != vg.LineComp }

// pixel returns the pixel whose corner is nearest to a point of the translated coordinates.
func (b *bitmap) pixel(p vg.Point) image.Point {
	p = b.state.placed(p)
	return image.Pt(int(math.Round(p.X.Dots(b.DPI()))), int(math.Round((b.state.height - p.Y).Dots(b.DPI()))))
}

// Stroke draws the line along a path, an opaque one of many points in pieces that overlap by one segment: the library
// takes time by the square of the number of points.
func (b *bitmap) Stroke(path vg.Path) {
	const most = 24 // points of a piece
	state, walked := b.state.now(), vg.Length(0)
	if len(path) <= most || state.color.A < 255 || slices.ContainsFunc(path[1:], bent) {
		b.PngCanvas.Stroke(path)
		return
	}
	for path = slices.Clone(path); len(path) > most; path[0].Type = vg.MoveComp {
		b.PngCanvas.Stroke(path[:most])
		for i := range most - 2 {
			step := path[i+1].Pos.Sub(path[i].Pos)
			walked += vg.Length(math.Hypot(float64(step.X), float64(step.Y)))
		}
		path = path[most-2:]
		b.PngCanvas.SetLineDash(state.dashes, state.offset+walked)
	}
	b.PngCanvas.Stroke(path)
	b.PngCanvas.SetLineDash(state.dashes, state.offset)
}

// FillString draws a text.
func (b *bitmap) FillString(face plotfont.Face, at vg.Point, s string) {
	var buffer sfnt.Buffer
	s = strings.Map(func(r rune) rune {
		if i, err := face.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return '□'
		}
		return r
	}, asSeen(s))
	if b.state.now().turn != 0 || face.Font.Size == 0 {
		b.PngCanvas.FillString(face, at, s)
		return
	}
	at = b.state.placed(at)
	pixels := func(l vg.Length) fixed.Int26_6 { return fixed.Int26_6(math.Round(64 * l.Dots(b.DPI()))) }
	writer := font.Drawer{Dst: b.Image(), Src: image.NewUniform(b.state.now().color), Face: face.FontFace(b.DPI()),
		Dot: fixed.Point26_6{X: pixels(at.X), Y: pixels(b.state.height - at.Y)}}
	writer.DrawString(s)
}

// asSeen reorders a text for display: runs of right-to-left letters (Hebrew, Arabic) with the spaces and signs between
// them are reversed. Numbers keep their direction.
func asSeen(s string) string {
	runes := []rune(s)
	for from := 0; from < len(runes); from++ {
		if !fromRight(runes[from]) {
			continue
		}
		end := from + 1
		for at := end; at < len(runes) && (fromRight(runes[at]) || !unicode.IsLetter(runes[at]) &&
			!unicode.IsNumber(runes[at])); at++ {
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
