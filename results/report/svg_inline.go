package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	styleAttribute = regexp.MustCompile(`\s+style="([^"]*)"`)
	pathAttribute  = regexp.MustCompile(` d="([^"]*)"`)
	textElement    = regexp.MustCompile(`<text [^>]*style="[^"]*font-weight:(\w+)[^"]*font-size:([\d.]+)px[^"]*">([^<]*)</text>`)
	fineNumber     = regexp.MustCompile(`-?\d+\.\d\d+`)
)

// renderInline draws the body of s alone as an SVG element whose colours a page may change. It
// has attributes instead of styles, which a page that allows no foreign styles would not apply, and
// lengths to a tenth of a point: a pixel is more.
func (s *sheet) renderInline() ([]byte, error) {
	const above, below = vg.Length(4), vg.Length(4)
	height := above + s.height + below
	document := &sharingCanvas{Canvas: vgsvg.NewWith(vgsvg.UseWH(width, height)), height: height}
	s.body(draw.Crop(draw.New(document), 4, -4, below, -above))
	text, err := drawn(document.Canvas)
	if err = cmp.Or(err, document.err); err != nil {
		return nil, fmt.Errorf("encode %s for a page: %w", s.name, err)
	}
	text = textElement.ReplaceAllFunc(document.compose(s.name, text), measured)
	text = styleAttribute.ReplaceAllFunc(text, func(style []byte) []byte { return attributes(styleAttribute.FindSubmatch(style)[1]) })
	text = compactPaths(text)
	head := fmt.Sprintf(`<svg class="chart" role="img" aria-label="%s" viewBox="0 0 %s %s">`, html.EscapeString(s.alt), short(float64(width)), short(float64(height)))
	return append([]byte(head), bytes.TrimSpace(text)...), nil
}

// compactPaths writes the paths of a drawing with fewer digits.
func compactPaths(text []byte) []byte {
	return pathAttribute.ReplaceAllFunc(text, func(path []byte) []byte {
		return fmt.Appendf(nil, ` d="%s"`, compact(pathAttribute.FindSubmatch(path)[1]))
	})
}

// measured gives a text the length that it was laid out with, so that it keeps to its place in a
// font of other widths. Characters that the chart's font lacks have no length to give.
func measured(element []byte) []byte {
	parts := textElement.FindSubmatch(element)
	words := html.UnescapeString(string(parts[3]))
	size, err := strconv.ParseFloat(string(parts[2]), 64)
	if err != nil || strings.TrimSpace(words) == "" || strings.ContainsFunc(words, func(r rune) bool { return r > 0x17f && !strings.ContainsRune("–…−≤≥≈", r) }) {
		return element
	}
	length := textStyle(size, ink, string(parts[1]) == "bold").Width(words)
	return append([]byte(`<text lengthAdjust="spacingAndGlyphs" textLength="`+string(tenths(strconv.AppendFloat(nil, float64(length), 'f', 2, 64)))+`"`), element[len("<text"):]...)
}

func short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func tenths(number []byte) []byte {
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil {
		return number
	}
	s := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if s == "-0" {
		s = "0"
	}
	return []byte(s)
}

// attributes turns the declarations of a style into attributes of the same meaning. The page
// sets the font.
func attributes(style []byte) []byte {
	var out bytes.Buffer
	for _, declaration := range strings.Split(string(style), ";") {
		name, value, _ := strings.Cut(declaration, ":")
		switch {
		case name == "" || name == "font-family" || name == "font-variant" || name == "font-style" || value == "normal":
			continue
		case name == "font-size":
			value = strings.TrimSuffix(value, "px")
		case name == "fill" || name == "stroke":
			value = themedValue(value)
		}
		out.WriteString(" " + name + `="` + value + `"`)
	}
	return out.Bytes()
}

// themed are the colours of charts that a page has variables for, by name.
var themed = themedColors()

func themedColors() []themedColor {
	list := []themedColor{
		{"bg", color.NRGBA{R: 255, G: 255, B: 255, A: 255}}, {"ink", ink}, {"muted", muted}, {"grid", gridline}, {"axis", axisline}, {"storm", stormInk},
		{"backdrop", backdrop}, {"fresh", freshColor}, {"retry", retryColor}, {"waiting", waitingColor},
	}
	for i, h := range hues {
		list = append(list, themedColor{fmt.Sprintf("p%d", i), h.line}, themedColor{fmt.Sprintf("t%d", i), h.text})
	}
	return list
}

// themedValue is the colour of the theme that value is, which is off by a little where it was
// blended: its alpha had been multiplied into whole numbers.
func themedValue(value string) string {
	v, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 32)
	if err != nil {
		return value
	}
	own, apart := rgb(uint32(v)), func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	for _, c := range themed {
		if max(apart(c.color.R, own.R), apart(c.color.G, own.G), apart(c.color.B, own.B)) <= 8 {
			return hex(c.color)
		}
	}
	return value
}

type themedColor struct {
	name  string
	color color.NRGBA
}

// hex is a colour as SVG and CSS write it, without its opacity.
func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// chartRules are the style rules that give the colours of inline charts those of the page's theme.
func chartRules() string {
	var out strings.Builder
	seen := map[string]bool{}
	for _, c := range themed {
		value := hex(c.color)
		if seen[value] {
			continue // fresh and retry are as the hues of the same colour
		}
		seen[value] = true
		fmt.Fprintf(&out, ".chart [fill=\"%[1]s\"]{fill:var(--%[2]s)}.chart [stroke=\"%[1]s\"]{stroke:var(--%[2]s)}\n", value, c.name)
	}
	return out.String()
}
