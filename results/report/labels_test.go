package report

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"qsim/results/measure"
)

// Curves that look the same share a name; their values outside the visible range do not matter.
func TestTwins(t *testing.T) {
	nan := math.NaN()
	high := []float64{0, 100, 1000, 1000, 900, 100, .01, 0}
	almost := []float64{.5, 101, 1010, 990, 900, 105, .2, .5}
	for _, tt := range []struct {
		name  string
		lines [][]float64
		want  []int
	}{
		{"equal but for what is too low", [][]float64{high, almost}, []int{0, 0}},
		{"different", [][]float64{high, {0, 200, 2000, 2000, 1800, 200, 0, 0}}, []int{0, 1}},
		{"different below a third", [][]float64{high, {0, 1, 1, 1, 1, 1, 0, 0}, {0, 1, 1, 1.05, 1, 1, 9, 0}}, []int{0, 1, 1}},
		{"different where they leave the axis", [][]float64{append(slices.Repeat([]float64{10}, 90), high...), append(slices.Repeat([]float64{10}, 90), 10, 20, 20, 20, 20, 20, 10, 10)}, []int{0, 1}},
		{"different in a short storm", [][]float64{slices.Repeat([]float64{50}, 100), slices.Concat(slices.Repeat([]float64{50}, 60), []float64{150, 150, 150}, slices.Repeat([]float64{50}, 37))}, []int{0, 1}},
		{"different here and there", [][]float64{slices.Repeat([]float64{50}, 100), slices.Concat(slices.Repeat([]float64{50, 50, 50, 50, 150}, 8), slices.Repeat([]float64{50}, 60))}, []int{0, 0}},
		{"a gap is no value", [][]float64{high, {nan, nan, nan, nan, nan, nan, nan, nan}}, []int{0, 1}},
		{"nothing at all", [][]float64{{0, 0}, {0, 0}}, []int{0, 1}},
	} {
		if got := twins(tt.lines, 10); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The names of lines lie inside the plot and not on each other, also where all lines peak at one place.
func TestPeakNamesDoNotOverlap(t *testing.T) {
	c := draw.NewCanvas(newSVGCanvas("names", 200), 400, 200)
	p := plot.New()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 10, 0, 10
	var lines peaks
	for i := range 5 {
		lines = append(lines, peak{i, "Some policy", hueOf(i), curve{xs: []float64{0, 5, 10}, ys: []float64{0, 9 + .1*float64(i), 0}}})
	}
	lines.draw(c, p)
	svg := string(c.Canvas.(*svgCanvas).out)
	type box struct{ x, y float64 }
	var boxes []box
	for _, m := range regexp.MustCompile(`<text [^>]*x="([\d.]+)" y="([\d.]+)"`).FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		boxes = append(boxes, box{x, y})
	}
	wide := float64(peakStyle.Width("Some policy"))
	if len(boxes) != len(lines) || strings.Count(svg, `<g class="name" data-policy=`) != len(lines) {
		t.Fatalf("%d names for %d lines: %s", len(boxes), len(lines), svg)
	}
	for i, a := range boxes {
		if a.x < 0 || a.x+wide > 400 || a.y < 0 || a.y > 200 {
			t.Errorf("name %d lies outside, at %v", i, a)
		}
		for k, b := range boxes[:i] {
			if math.Abs(a.x-b.x) < wide && math.Abs(a.y-b.y) < 8 {
				t.Errorf("names %d and %d overlap: %v and %v", k, i, b, a)
			}
		}
	}
}

func TestWindowNamesDoNotOverlap(t *testing.T) {
	f := with("many", func(f *fixture) {
		f.storms = nil
		for i := range 40 {
			at := time.Duration(i) * 40 * time.Second
			f.storms = append(f.storms, measure.Window{Name: "a dependency is down", From: at, To: at + time.Minute})
		}
	})
	d := f.drawing(t)
	c := draw.NewCanvas(new(recorder.Canvas), 400, 200)
	p := plot.New()
	p.X.Min, p.X.Max = 0, 1800
	tx, _ := p.Transforms(&c)
	names := windowNames(d.windows(1800, d.settings.Storms)).place(c, tx)
	if len(names) < 6 {
		t.Errorf("only %d names are placed", len(names))
	}
	for i, a := range names {
		wide := windowStyle.Width(a.text)
		if a.x < c.Min.X || a.x+wide > c.Max.X+.01 {
			t.Errorf("name %d reaches outside: %v to %v", i, a.x, a.x+wide)
		}
		for k, b := range names[:i] {
			if a.row == b.row && a.x < b.x+windowStyle.Width(b.text) && b.x < a.x+wide {
				t.Errorf("names %d and %d overlap in row %d", k, i, a.row)
			}
		}
	}
}

// A name is drawn after the threads of those above it, and so covers them.
func TestWindowNamesCoverThreads(t *testing.T) {
	seen := new(recorder.Canvas)
	at := window{from: 600, to: 900, name: "down", color: stormInk}
	p := plot.New()
	p.X.Min, p.X.Max = 0, 1800
	windowNames{at, at, at}.Plot(draw.NewCanvas(seen, 400, 200), p)
	var rows []vg.Length
	for _, action := range seen.Actions {
		if text, ok := action.(*recorder.FillString); ok {
			rows = append(rows, -text.Point.Y)
		}
	}
	if len(rows) != 3 || !slices.IsSorted(rows) {
		t.Errorf("names are drawn at %v, want the upper ones first", rows)
	}
}

func TestShortWindowsAreSeen(t *testing.T) {
	c := draw.NewCanvas(new(recorder.Canvas), 400, 200)
	p := plot.New()
	p.X.Min, p.X.Max = 0, 1e6
	tx, _ := p.Transforms(&c)
	for _, at := range []float64{0, 500, 1e6} {
		if x0, x1 := edges(c, tx, window{from: at, to: at}); x1-x0 < 1 || x0 < c.Min.X || x1 > c.Max.X {
			t.Errorf("a window at %v is drawn from %v to %v", at, x0, x1)
		}
	}
}

func TestThinKeepsWhatIsSeen(t *testing.T) {
	const n = 100000
	points := make([]vg.Point, n)
	for i := range points {
		points[i] = vg.Point{X: vg.Length(i) * 400 / n, Y: vg.Length(noise(i, 0, 0))}
	}
	points[31415].Y = 99
	kept := thin(points, fineColumn)
	if len(kept) > 4*400*4+4 {
		t.Errorf("kept %d points of %d", len(kept), n)
	}
	seen := false
	for i, p := range kept {
		seen = seen || p.Y == 99
		if i > 0 && p.X < kept[i-1].X {
			t.Fatalf("point %d goes back", i)
		}
	}
	if !seen || kept[0] != points[0] || kept[len(kept)-1] != points[n-1] {
		t.Error("the peak or an end is lost")
	}
}

func TestRunsEndAtGaps(t *testing.T) {
	nan := math.NaN()
	got := runs([]float64{nan, 1, 2, nan, 3, math.Inf(1), nan, 4})
	want := []span{{1, 3}, {4, 5}, {7, 8}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("run %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// drawing returns the data of a fixture as charts use it.
func (f *fixture) drawing(t *testing.T) *drawing {
	t.Helper()
	_, sum := f.build()
	d, err := newDrawing(sum, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTextsBesideDotsStayApart(t *testing.T) {
	t.Parallel()
	places := []vg.Point{{X: 0, Y: 0}, {X: 15, Y: 3}, {X: 40, Y: 0}, {X: 45, Y: 20}, {X: 45, Y: 20}}
	for i, want := range []bool{false, true, true, true, false} { // the first has a dot in it, the last stands on another
		if got := alone(places, i, 8); got != want {
			t.Errorf("text %d stands alone: %v, want %v", i, got, want)
		}
	}
}

// TestTextsOfPagesStandAlone has every text of every chart inside its drawing, and none on another: names of curves, also
// where all curves lie on the axis, names of limits, and ticks at the right end of an axis.
func TestTextsOfPagesStandAlone(t *testing.T) {
	t.Parallel()
	views := regexp.MustCompile(`^[^>]* viewBox="([-\d.]+) ([-\d.]+) ([\d.]+) ([\d.]+)">`)
	texts := regexp.MustCompile(`<text [^>]*textLength="([\d.]+)" x="([-\d.]+)" y="([-\d.]+)"(?: font-weight="bold")? font-size="([\d.]+)"[^>]*>([^<]*)`)
	numbers := func(words []string) (all []float64) {
		for _, w := range words {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		return all
	}
	charts := 0
	all := append(fixtures(), with("ninety seconds", func(f *fixture) {
		f.duration, f.bucket, f.warmup, f.policies = 90*time.Second, time.Second, 0, 2
		f.storms[0].From, f.storms[0].To = 20*time.Second, 30*time.Second
	}), with("a limit at a peak", func(f *fixture) { f.limits[0].Bound, f.limits[0].Text = 200, "" }))
	for _, f := range all {
		if f.name == "huge" { // whose axis of more than a thousand years has no room for its ticks
			continue
		}
		_, sum := f.build()
		figures, err := Charts(sum, "v0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		for _, figure := range figures {
			for _, drawing := range strings.Split(string(figure.inline()), `<svg class="chart"`)[1:] {
				charts++
				at := numbers(views.FindStringSubmatch(drawing)[1:])
				found := texts.FindAllStringSubmatch(drawing, -1)
				for i, one := range found {
					a := numbers(one[1:5])
					if a[1] < at[0]-.5 || a[1]+a[0] > at[0]+at[2]+.5 || a[2] > at[1]+at[3]+.5 || a[2]-a[3]*.8 < at[1]-.5 {
						t.Errorf("%s, %s: %q at %v lies outside of %v", f.name, figure.Name, one[5], a, at)
					}
					for _, other := range found[:i] {
						b := numbers(other[1:5])
						if math.Abs(a[2]-b[2]) < .6*min(a[3], b[3]) && a[1]+1 < b[1]+b[0] && b[1]+1 < a[1]+a[0] {
							t.Errorf("%s, %s: %q at %v stands on %q at %v", f.name, figure.Name, one[5], a, other[5], b)
						}
					}
				}
			}
		}
	}
	if charts < 100 {
		t.Errorf("there are %d charts", charts)
	}
}
