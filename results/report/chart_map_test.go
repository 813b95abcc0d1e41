package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"qsim/results"
	"qsim/results/measure"
)

// aMap returns a map with a panel for each label: tiles of growing values, those to the upper right without an end.
func aMap(value func(x, y float64) (float64, bool), labels ...string) *results.Map {
	m := &results.Map{Scenario: "s", ConfigHash: "0a1b2c3d", Version: "1.0", Seeds: 3, Query: measure.Query{Metric: "recovery.time", After: "down"},
		XKey: "jobs.mail.arrivals.rate", YKey: "storms.down.for", XValues: []string{"10/s", "20/s", "30/s", "40/s"}, YValues: []string{"1s", "2s", "4s"}, Steps: 2}
	for _, label := range labels {
		p := results.MapPanel{Label: label, Measured: 12, Full: 35}
		for y := 0.0; y < 4; y++ {
			for x := 0.0; x < 6; x++ {
				v, never := value(x, y)
				p.Tiles = append(p.Tiles, results.MapTile{X0: x, X1: x + 1, Y0: y, Y1: y + 1,
					Value: results.MapValue{Mean: v, Never: never}})
				if never {
					p.Beyond += 1. / 24
				}
			}
		}
		p.Edge = [][4]float64{{3, 2, 3, 4}, {3, 2, 6, 2}}
		m.Panels = append(m.Panels, p)
	}
	return m
}

func rising(x, y float64) (float64, bool) {
	if x >= 3 && y >= 2 {
		return math.NaN(), true
	}
	return math.Pow(10, (x+y)/3-1), false
}

func TestMapCharts(t *testing.T) {
	long := `<script>alert("1")</script> 🎉 ` + strings.Repeat("long ", 40)
	many := make([]string, 26)
	for i := range many {
		many[i] = fmt.Sprintf("policy %d", i)
	}
	for _, tt := range []struct {
		name    string
		m       *results.Map
		figures int
		title   string
	}{
		{"one", aMap(rising, "fifo"), 1, "fifo never recovers in 25% of the map"},
		{"two", aMap(rising, "fifo", "lifo"), 3, "Every policy never recovers in 25% of the map"},
		{"long names", aMap(rising, long, long+"2", "c", "d", "e"), 6, "Every policy"},
		{"many", aMap(rising, many...), 27, "Every policy"},
		{"all never", aMap(func(_, _ float64) (float64, bool) { return math.NaN(), true }, "fifo"), 1, "fifo never recovers in 100% of the map"},
		{"no value", aMap(func(_, _ float64) (float64, bool) { return math.NaN(), false }, "fifo"), 1, "No point of the map where fifo never recovers"},
		{"all zero", aMap(func(_, _ float64) (float64, bool) { return 0, false }, "fifo"), 1, "No point"},
		{"all alike", aMap(func(_, _ float64) (float64, bool) { return 7, false }, "fifo"), 1, "No point"},
		{"zero and more", aMap(func(x, _ float64) (float64, bool) { return x * x * x * 100, false }, "fifo"), 1, "No point"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			figures, err := MapCharts(tt.m)
			if err != nil {
				t.Fatal(err)
			}
			if len(figures) != tt.figures || !strings.HasPrefix(figures[0].Title, tt.title) {
				t.Errorf("%d figures, the first is %q", len(figures), figures[0].Title)
			}
			for _, f := range figures {
				if _, err := png.Decode(bytes.NewReader(bitmapOf(t, &f))); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				for d := xml.NewDecoder(bytes.NewReader(f.SVG)); ; {
					token, err := d.Token()
					if err == io.EOF {
						break
					}
					if start, ok := token.(xml.StartElement); err != nil || ok && start.Name.Local == "script" {
						t.Fatalf("%s: %v in the SVG (%v)", f.Name, token, err)
					}
				}
				for _, value := range []string{"10/s", "40/s", "1s", "4s", "jobs.mail.arrivals.rate", "storms.down.for"} {
					if !bytes.Contains(f.SVG, []byte(">"+value+"</text>")) {
						t.Errorf("%s: the axes lack %s", f.Name, value)
					}
				}
				if bytes.Contains(f.SVG, []byte("NaN")) || bytes.Contains(f.SVG, []byte("Inf")) {
					t.Errorf("%s: a coordinate is no number", f.Name)
				}
			}
			again, err := MapCharts(tt.m)
			if err != nil || !bytes.Equal(bitmapOf(t, &again[0]), bitmapOf(t, &figures[0])) || !bytes.Equal(again[0].SVG, figures[0].SVG) {
				t.Errorf("drawn again it differs (%v)", err)
			}
		})
	}
	for _, bad := range []*results.Map{{}, aMap(rising), {Panels: make([]results.MapPanel, 1), XValues: []string{"1"}, YValues: []string{"1", "2"}, Steps: 1}} {
		if _, err := MapCharts(bad); err == nil {
			t.Error("a map of nothing was drawn")
		}
	}
}

func TestLinked(t *testing.T) {
	got := fmt.Sprint(linked([][4]float64{{1, 2, 2, 2}, {0, 0, 0, 1}, {0, 2, 1, 2}, {0, 1, 0, 2}, {3, 2, 4, 2}, {1, 0, 1, 1}}))
	if want := "[[0 2 2 2] [3 2 4 2] [0 0 0 2] [1 0 1 1]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestViridisIsInOrder: its lightness rises in steps of about equal size, for normal and for
// red-green blind vision.
func TestViridisIsInOrder(t *testing.T) {
	linear := func(v float64) float64 {
		if v /= 255; v > .04045 {
			return math.Pow((v+.055)/1.055, 2.4)
		}
		return v / 12.92
	}
	lightness := func(r, g, b float64) float64 { // CIE L*
		y := .2126*r + .7152*g + .0722*b
		if y > .008856 {
			return 116*math.Cbrt(y) - 16
		}
		return 903.3 * y
	}
	last, lastDeuteranope := -1.0, -1.0
	for i := 0; i <= 100; i++ {
		c := viridisAt(float64(i) / 100)
		r, g, b := linear(float64(c.R)), linear(float64(c.G)), linear(float64(c.B))
		all := lightness(r, g, b)
		// Deuteranopia: Machado, Oliveira, Fernandes 2009, severity 1.
		deuteranope := lightness(.367322*r+.860646*g-.227968*b, .280085*r+.672501*g+.047413*b, -.011820*r+.042940*g+.968881*b)
		if i > 0 && (all <= last || all-last > 1.5 || deuteranope <= lastDeuteranope) {
			t.Errorf("at %d%% the lightness goes from %.2f to %.2f, from %.2f to %.2f for deuteranopes", i, last, all, lastDeuteranope, deuteranope)
		}
		last, lastDeuteranope = all, deuteranope
	}
}

func TestColorScale(t *testing.T) {
	log := newColorScale(aMap(rising, "a"))
	if !log.log || !log.never || log.missing {
		t.Errorf("scale %+v", log)
	}
	level := newColorScale(aMap(func(x, y float64) (float64, bool) { return 10 + x, false }, "a"))
	if level.log || level.never {
		t.Errorf("scale %+v", level)
	}
	legends := []string{"100ms 316ms 1s 3.2s 10s never", "10s 11.2s 12.5s 13.8s 15s"}
	values := [][]float64{{.1, math.Sqrt(.1), 1, math.Sqrt(10), 10}, {10, 11.25, 12.5, 13.75, 15}}
	for k, s := range []*colorScale{log, level} {
		light := func(v float64) int { c := s.color(v); return int(c.R) + int(c.G) + int(c.B) }
		if light(s.low) <= light(s.high) {
			t.Error("the shortest recovery is not the lightest")
		}
		var names []string
		for i, e := range s.key() {
			if names = append(names, e.name); i < 5 && e.color != s.color(values[k][i]) {
				t.Errorf("%s has the colour %v in the legend, want %v", e.name, e.color, s.color(values[k][i]))
			}
		}
		if got := strings.Join(names, " "); got != legends[k] {
			t.Errorf("the legend has %s, want %s", got, legends[k])
		}
	}
	for want, value := range map[string]func(x, y float64) float64{
		"≤ 10µs 316µs 10ms 316ms 10s": func(x, _ float64) float64 { return math.Pow(10, 6-2*x) / 1e5 },
		"no value":                    func(float64, float64) float64 { return math.NaN() },
	} {
		var names []string
		drawn := 0
		legend := newColorScale(aMap(func(x, y float64) (float64, bool) { return value(x, y), false }, "a")).key()
		for i := range legend {
			names = append(names, legend[i].name)
			if mark := legend[i].mark; mark != nil {
				legend[i].mark = func(c draw.Canvas, at vg.Point) { mark(c, at); drawn++ }
			}
		}
		legend.draw(draw.NewCanvas(newSVGCanvas("map", 100), width, 100))
		if got := strings.Join(names, " "); got != want || drawn != strings.Count(want, "no value") {
			t.Errorf("the legend has %s, want %s; %d marks were drawn", got, want, drawn)
		}
	}
	m := aMap(func(x, y float64) (float64, bool) { return x, false }, "a")
	m.Query = measure.Query{Metric: "goodput"}
	if s := newColorScale(m); s.color(s.high).R < s.color(s.low).R {
		t.Error("more goodput is not lighter")
	}
}

// TestMapSaysWhatIsABound: the legend marks values beyond the edge that were not reached, and means
// that are lower bounds because of one seed.
func TestMapSaysWhatIsABound(t *testing.T) {
	for _, tt := range []struct {
		name           string
		never, atLeast bool
		title, words   string
		missing        string
	}{
		{"values", false, false, "No point of the map where fifo has recovery.time above 10s", "beyond it is above 10s", "lower bounds"},
		{"never", true, false, "fifo has recovery.time above 10s in 25% of the map", "beyond it is above 10s\n", "lower bounds"},
		{"bounds", false, true, "No point", "some colours are lower bounds", "without end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := mapDrawing{aMap(func(x, y float64) (float64, bool) { return 3, tt.never && x >= 3 && y >= 2 }, "fifo")}
			m.Edge = "above 10s"
			if tt.atLeast {
				m.Panels[0].Tiles[0].Value.Bounds = 1
			}
			subtitle := m.subtitle(0)
			if title := m.title(m.Panels); !strings.HasPrefix(title, tt.title) || !strings.Contains(subtitle+"\n", tt.words) || strings.Contains(subtitle, tt.missing) {
				t.Errorf("%s\n%s", title, subtitle)
			}
		})
	}
}
