package report

import (
	"image"
	"image/color"
	imagedraw "image/draw"
	"math"
	"testing"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestPaletted: up to 256 colours of a picture stay as they are, in runs of one pixel or many; of more, the rarest
// become similar ones. The same printer makes all pictures.
func TestPaletted(t *testing.T) {
	var printer printer
	picture := image.NewRGBA(image.Rect(0, 0, 330, 100))
	if indexed := printer.paletted(picture); len(indexed.Palette) != 1 || indexed.At(329, 99) != (color.RGBA{0, 0, 0, 255}) {
		t.Errorf("a black picture has the palette %v", indexed.Palette)
	}
	for _, shades := range []int{1, 2, 7} {
		for y := range 100 {
			for x := range 330 {
				picture.SetRGBA(x, y, color.RGBA{uint8(25 * (x / 33)), uint8(25 * (y / 10)), uint8(x * y % shades), 255})
			}
		}
		indexed := printer.paletted(picture)
		if colors := len(indexed.Palette); colors != min(100*shades, 256) {
			t.Errorf("%d colours of %d", colors, 100*shades)
		}
		if off := farthest(picture, indexed); shades < 3 && off > 0 || off > shades {
			t.Errorf("a colour of %d is %d off", 100*shades, off)
		}
	}
}

// farthest returns the largest difference of a pixel's red, green or blue between two pictures.
func farthest(a, b image.Image) (most int) {
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p, q := color.RGBAModel.Convert(a.At(x, y)).(color.RGBA), color.RGBAModel.Convert(b.At(x, y)).(color.RGBA)
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
				most = max(most, d, -d)
			}
		}
	}
	return most
}

// TestBitmapDrawsAsTheLibrary draws the same by the canvas and by the library's own: long lines, some with dashes, in a
// translated drawing, rectangles and text. Few pixels may differ: edges of rectangles are whole pixels, letters are
// not blurred, and pieces of a line overlap.
func TestBitmapDrawsAsTheLibrary(t *testing.T) {
	const size = 200
	wave := func(n int) (path vg.Path) {
		for i := range n {
			x := vg.Length(i) * 180 / vg.Length(n)
			step := vg.PathComp{Type: vg.LineComp, Pos: vg.Point{X: x, Y: 90 + 60*vg.Length(math.Sin(float64(x)/9))}}
			if i == 0 {
				step.Type = vg.MoveComp
			}
			path = append(path, step)
		}
		return path
	}
	rectangle := func(c vg.Canvas) {
		r := vg.Rectangle{Min: vg.Point{X: 20.3, Y: 30.2}, Max: vg.Point{X: 80.4, Y: 70.7}}
		c.Fill(r.Path())
	}
	face := font.DefaultCache.Lookup(titleStyle.Font, 12)
	for _, of := range []struct {
		name string
		draw func(c vg.Canvas)
		most float64 // largest share of pixels that may differ by an eighth
	}{
		{"line", func(c vg.Canvas) { c.Stroke(wave(300)) }, .001},
		{"dashes", func(c vg.Canvas) { c.SetLineDash([]vg.Length{7, 3, 1, 3}, 2); c.Stroke(wave(300)) }, .002},
		{"dashes, and a line", func(c vg.Canvas) {
			c.Push()
			c.SetLineDash([]vg.Length{7, 3}, 2)
			c.Stroke(wave(100))
			c.Pop()
			c.Stroke(wave(50))
		}, .002},
		{"dashes twice", func(c vg.Canvas) {
			c.SetLineDash([]vg.Length{70, 30}, 2)
			c.Stroke(wave(30))
			c.Stroke(wave(50))
		}, .002},
		{"translucent line", func(c vg.Canvas) { c.SetColor(color.NRGBA{0, 0, 255, 80}); c.Stroke(wave(300)) }, 0},
		{"rectangle", rectangle, .003},
		{"translucent rectangle", func(c vg.Canvas) { c.SetColor(color.NRGBA{0, 0, 255, 80}); rectangle(c) }, .003},
		{"thin", func(c vg.Canvas) { c.Fill(vg.Rectangle{Max: vg.Point{X: 100, Y: .4}}.Path()) }, 0},
		{"turned", func(c vg.Canvas) { c.Rotate(.5); rectangle(c); c.FillString(face, vg.Point{X: 90, Y: 20}, "turned") }, .002},
		{"text", func(c vg.Canvas) { c.FillString(face, vg.Point{X: 20, Y: 20}, "p99 of fresh jobs") }, .006},
	} {
		t.Run(of.name, func(t *testing.T) {
			library := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(size, size), vgimg.UseDPI(dpi))}
			own := newBitmap(size, size, dpi, nil)
			imagedraw.Draw(own.picture, own.picture.Rect, image.White, image.Point{}, imagedraw.Src)
			for _, c := range []vg.Canvas{library, own} {
				c.SetLineWidth(1.4)
				c.SetColor(color.NRGBA{200, 50, 0, 255})
				c.Translate(vg.Point{X: 5, Y: 7})
				of.draw(c)
			}
			differ, drawn := 0, 0
			for y := range own.picture.Bounds().Dy() {
				for x := range own.picture.Bounds().Dx() {
					_, want, _, _ := library.Image().At(x, y).RGBA()
					_, got, _, _ := own.picture.At(x, y).RGBA()
					if math.Abs(float64(got)-float64(want)) > 1<<13 {
						differ++
					}
					if got < 0xffff {
						drawn++
					}
				}
			}
			pixels := float64(own.picture.Bounds().Dx() * own.picture.Bounds().Dy())
			if share := float64(differ) / pixels; share > of.most || drawn == 0 {
				t.Errorf("%.2f %% of the pixels differ, of %d drawn", 100*share, drawn)
			}
		})
	}
}

// TestBitmapsLackNoSign looks for signs of charts' own words that the font of bitmaps lacks, and which are drawn as a box.
func TestBitmapsLackNoSign(t *testing.T) {
	var buffer sfnt.Buffer
	face := font.DefaultCache.Lookup(subtitleStyle.Font, 12)
	for _, f := range fixtures() {
		_, summary := f.build()
		figures, err := Charts(summary, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		for _, figure := range figures {
			for _, r := range figure.Title + figure.Subtitle + figure.Footer {
				if i, err := face.Face.GlyphIndex(&buffer, r); (err != nil || i == 0) && !unicode.IsLetter(r) && r != unicode.ReplacementChar {
					t.Errorf("%s of %s: the font lacks %q", figure.Name, f.name, r)
				}
			}
		}
	}
}
