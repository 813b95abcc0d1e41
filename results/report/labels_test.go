package report

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"qsim/results/measure"
)

func TestSpreadKeepsLabelsApartAndInside(t *testing.T) {
	tests := []struct {
		name string
		ys   []vg.Length
	}{
		{"together", []vg.Length{50, 50, 50, 50, 50, 50, 50, 50}},
		{"at the bottom", []vg.Length{0, 0, 0, 1}},
		{"at the top", []vg.Length{198, 199, 200, 200}},
		{"apart already", []vg.Length{20, 60, 100}},
		{"two groups", []vg.Length{20, 21, 22, 150, 151}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ys := append([]vg.Length(nil), tt.ys...)
			spread(ys, 5, 195)
			for i, y := range ys {
				if y < 5-.01 || y > 195+.01 {
					t.Errorf("label %d is at %v, outside", i, y)
				}
				if i > 0 && y-ys[i-1] < endingGap-.5 {
					t.Errorf("labels %d and %d are only %v apart", i-1, i, y-ys[i-1])
				}
			}
		})
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
	names := windows{d.windows(1800), true}.names(c, tx)
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

// drawing is the data of a fixture as the charts see it.
func (f *fixture) drawing(t *testing.T) *drawing {
	t.Helper()
	s, sum := f.build()
	d, err := newDrawing(s, sum, "v0.1.0")
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
