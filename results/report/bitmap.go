//go:build !js

package report

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	imagedraw "image/draw"
	"image/png"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/plain"
)

// Files returns figures as files of a folder: an SVG and a PNG each.
func Files(folder string, figures []Figure) (files []results.File) {
	var printer printer
	for _, f := range figures {
		files = append(files, results.File{Path: path.Join(folder, f.Name+".png"), Data: printer.png(&f, dpi)},
			results.File{Path: path.Join(folder, f.Name+".svg"), Data: f.SVG})
	}
	return files
}

// printer makes PNGs of charts, one after the other in the same memory: with new memory for each, pictures would take
// half of the memory of a small run.
type printer struct {
	pixels, places []byte
	runs           []run
	encoder        *png.EncoderBuffer
}

// run is a sequence of pixels of one colour in a picture, row by row.
type run struct {
	tint int32 // index of the colour
	end  int32 // number of the picture's pixels up to its end
}

// png returns a chart as the bytes of a PNG file with a resolution of dpi dots per inch.
func (p *printer) png(f *Figure, dpi int) []byte {
	bitmap := newBitmap(width, f.total, dpi, p.pixels)
	p.pixels = bitmap.picture.Pix
	f.paint(draw.NewCanvas(bitmap, width, f.total))
	var raster bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: p} // 5 % larger, in half the time
	err := encoder.Encode(&raster, p.paletted(bitmap.picture))
	return plain.Must(raster.Bytes(), err)
}

// Get returns the buffer in which the PNG encoder worked on the previous picture, for use again.
func (p *printer) Get() *png.EncoderBuffer { return p.encoder }

// Put keeps the working buffer of the PNG encoder for the next picture.
func (p *printer) Put(b *png.EncoderBuffer) { p.encoder = b }

// paletted returns an opaque picture with a palette of its 256 most frequent colours, in which any other colour becomes
// one near it: mixed colours along the edges of lines and letters, a few pixels in a hundred. To encode it takes a
// fifth of the time, since a pixel is one byte and PNG tries no filters. It is valid until the next call.
func (p *printer) paletted(picture *image.RGBA) *image.Paletted {
	type tint struct {
		color        uint32
		index, count int
	}
	var tints []tint
	indexes, pixels := map[uint32]int{}, picture.Pix
	p.runs = reused(p.runs, 1<<17)[:0]
	for from, end := 0, 0; from < len(pixels); from = end {
		c := binary.LittleEndian.Uint32(pixels[from:])
		end = from + 4
		for step := 64; end < len(pixels) && binary.LittleEndian.Uint32(pixels[end:]) == c; end += step {
			if step == 64 && (end+64 > len(pixels) || !bytes.Equal(pixels[end:end+64], pixels[end-4:end+60])) {
				step = 4
			}
		}
		index, known := indexes[c]
		if !known {
			index, indexes[c] = len(tints), len(tints)
			tints = append(tints, tint{color: c, index: index})
		}
		tints[index].count += end - from
		p.runs = append(p.runs, run{int32(index), int32(end / 4)})
	}
	slices.SortFunc(tints, func(a, b tint) int { return cmp.Or(b.count-a.count, cmp.Compare(a.color, b.color)) })
	palette := color.Palette(plain.Map(tints[:min(len(tints), 256)], func(t tint) color.Color { return opaque(t.color) }))
	places, alike := make([]uint8, len(tints)), map[uint32]uint8{}
	for i, t := range tints {
		place, known := alike[t.color&0xf8f8f8]
		if i < len(palette) {
			place = uint8(i)
		} else if !known {
			place = uint8(palette.Index(opaque(t.color)))
			alike[t.color&0xf8f8f8] = place
		}
		places[t.index] = place
	}
	p.places = reused(p.places, len(pixels)/4)
	clear(p.places)
	from := int32(0)
	for _, r := range p.runs {
		if place := places[r.tint]; place != 0 { // the most frequent is the background
			for pixels := p.places[from:r.end]; len(pixels) > 0; pixels = pixels[1:] {
				pixels[0] = place
			}
		}
		from = r.end
	}
	return &image.Paletted{Pix: p.places, Stride: picture.Rect.Dx(), Rect: picture.Rect, Palette: palette}
}

// opaque returns the opaque colour of a pixel given by its bytes, of which the lowest is red.
func opaque(c uint32) color.RGBA { return color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), 255} }

// bitmap is a canvas of pixels. It draws a box for each character that the font lacks, and reorders right-to-left text
// for display. An SVG needs no such help: viewers use other fonts, and know directions.
type bitmap struct {
	*svgCanvas // has the colour, line and position; no element is written
	picture    *image.RGBA
	pen        *gg.Context // draws lines and areas on the picture
	dots       float64     // pixels per point
}

// reused returns a list of n elements in the given memory or, if it is too small, in new memory. slices.Grow would
// clear megabytes at once, for which the garbage collector would wait busily.
func reused[T any](memory []T, n int) []T {
	if cap(memory) < n {
		return make([]T, n)
	}
	return memory[:n]
}

// newBitmap returns a canvas with a resolution of dpi dots per inch. Its pixels are undefined until they are filled;
// they lie in the given memory, if there is enough.
func newBitmap(w, h vg.Length, dpi int, memory []byte) *bitmap {
	b := &bitmap{svgCanvas: newSVGCanvas("", h), dots: float64(dpi) / float64(vg.Inch)}
	area := image.Rectangle{Max: b.pixel(vg.Point{X: w})}
	pixels := reused(memory, 4*area.Dx()*area.Dy())
	b.picture = &image.RGBA{Pix: pixels, Stride: 4 * area.Dx(), Rect: area}
	b.pen = gg.NewContextForRGBA(b.picture)
	b.pen.SetLineCapButt()
	return b
}

// pixels returns the position of a point (in translated coordinates), in pixels from the picture's upper left corner.
func (b *bitmap) pixels(p vg.Point) (x, y float64) {
	p = b.placed(p)
	return float64(p.X) * b.dots, float64(b.height-p.Y) * b.dots
}

// pixel returns the corner of a pixel that is nearest to a point (in translated coordinates).
func (b *bitmap) pixel(p vg.Point) image.Point {
	x, y := b.pixels(p)
	return image.Pt(int(math.Round(x)), int(math.Round(y)))
}

// Fill fills the area bounded by a path. The edges of an upright rectangle of some pixels are rounded to whole ones.
func (b *bitmap) Fill(path vg.Path) {
	if len(path) == 5 && path[4].Type == vg.CloseComp && !slices.ContainsFunc(path[1:4], bent) && b.now().turn == 0 {
		from, across, to, down := path[0].Pos, path[1].Pos, path[2].Pos, path[3].Pos
		upright := from.Y == across.Y && across.X == to.X && to.Y == down.Y && down.X == from.X ||
			from.X == across.X && across.Y == to.Y && to.X == down.X && down.Y == from.Y
		area := image.Rectangle{b.pixel(from), b.pixel(to)}.Canon()
		if upright && area.Dx() > 1 && area.Dy() > 1 {
			imagedraw.Draw(b.picture, area, image.NewUniform(b.now().color), image.Point{}, imagedraw.Over)
			return
		}
	}
	b.outline(path)
	b.pen.Fill()
}

// bent reports whether a step of a path is no straight line.
func bent(step vg.PathComp) bool { return step.Type != vg.LineComp }

// Stroke draws the line along a path, an opaque one of many points in pieces that overlap by one segment: the library
// takes time by the square of the number of points.
func (b *bitmap) Stroke(path vg.Path) {
	const most = 24 // points of a piece
	state := b.now()
	if state.width <= 0 {
		return
	}
	b.pen.SetLineWidth(float64(state.width) * b.dots)
	b.pen.SetDash(plain.Map(state.dashes, func(l vg.Length) float64 { return float64(l) * b.dots })...)
	whole, walked := state.color.A < 255 || slices.ContainsFunc(path[1:], bent), float64(state.offset)
	for len(path) > 0 {
		piece := path
		if !whole {
			piece = path[:min(len(path), most)]
		}
		b.outline(piece)
		b.pen.SetDashOffset(walked * b.dots)
		b.pen.Stroke()
		if len(piece) == len(path) {
			return
		}
		for i := range most - 2 {
			step := path[i+1].Pos.Sub(path[i].Pos)
			walked += math.Hypot(float64(step.X), float64(step.Y))
		}
		path = path[most-2:]
	}
}

// outline makes a path the one that the pen (the drawing library) fills or strokes next, in the current colour.
func (b *bitmap) outline(path vg.Path) {
	b.pen.SetColor(b.now().color)
	for i, step := range path {
		x, y := b.pixels(step.Pos)
		switch {
		case step.Type == vg.CloseComp:
			b.pen.ClosePath()
		case step.Type == vg.ArcComp:
			b.pen.DrawArc(x, y, float64(step.Radius)*b.dots, -step.Start, -step.Start-step.Angle)
		case i == 0, step.Type == vg.MoveComp:
			b.pen.MoveTo(x, y)
		default:
			b.pen.LineTo(x, y)
		}
	}
}

// FillString draws a text on the bitmap, with a box for each character that the font lacks.
func (b *bitmap) FillString(face plotfont.Face, at vg.Point, s string) {
	if face.Font.Size == 0 {
		return
	}
	var buffer sfnt.Buffer
	s = strings.Map(func(r rune) rune {
		if i, err := face.Face.GlyphIndex(&buffer, r); err != nil || i == 0 {
			return '□'
		}
		return r
	}, asSeen(s))
	x, y := b.pixels(at)
	drawn := face.FontFace(b.dots * float64(vg.Inch))
	if turn := b.now().turn; turn != 0 {
		b.pen.Push()
		x, y = math.Round(x), math.Round(y) // a quarter of a turn then maps pixels to pixels
		b.pen.RotateAbout(-turn, x, y)
		b.pen.SetFontFace(drawn)
		b.pen.SetColor(b.now().color)
		b.pen.DrawString(s, x, y)
		b.pen.Pop()
		return
	}
	fraction := func(pixels float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(64 * pixels)) }
	writer := font.Drawer{Dst: b.picture, Src: image.NewUniform(b.now().color), Face: drawn,
		Dot: fixed.Point26_6{X: fraction(x), Y: fraction(y)}}
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
