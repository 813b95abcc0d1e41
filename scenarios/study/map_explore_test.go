package study

import (
	"errors"
	"math"
	"slices"
	"testing"

	"qsim/results"
)

func span(t *testing.T, text string) Axis {
	t.Helper()
	r, err := parseRange(text)
	if err != nil {
		t.Fatal(err)
	}
	return Axis{Key: "key", Range: r}
}

// edged returns a measurement for explore of a map with a known edge, given by beyond; it counts points.
func edged(l *lattice, beyond func(x, y float64) bool, count *int) func([]point) ([]results.MapValue, error) {
	return func(points []point) ([]results.MapValue, error) {
		var values []results.MapValue
		for _, p := range points {
			*count++
			values = append(values, results.MapValue{Mean: 1, Beyond: beyond(l.X[p.X].Number, l.Y[p.Y].Number)})
		}
		return values, nil
	}
}

// TestExploreFindsThePlantedEdge compares a map with the full grid: every grid point must lie on
// the map's side, with a fraction of the points measured.
func TestExploreFindsThePlantedEdge(t *testing.T) {
	for _, tt := range []struct {
		name   string
		x, y   string
		depth  int
		beyond func(x, y float64) bool
		most   float64 // share of the full grid that may be measured
	}{
		{"diagonal", "0.0..8.0/1.0", "0.0..8.0/1.0", 4, func(x, y float64) bool { return x+0.7*y > 6.3 }, .15},
		{"vertical", "100..300/50", "1s..16s*2", 3, func(x, _ float64) bool { return x > 157 }, .4},
		{"circle", "0.0..8.0/1.0", "0.0..8.0/1.0", 4, func(x, y float64) bool { return math.Hypot(x-4, y-4) < 2.3 }, .2},
		{"hyperbola", "1.0..64.0*2", "1s..64s*2", 4, func(x, y float64) bool { return x*y > 100 }, .2},
		{"steep wiggle", "0.0..8.0/1.0", "0.0..8.0/1.0", 4, func(x, y float64) bool { return y > 4+1.4*math.Sin(x) }, .25},
		{"narrow finger", "0.0..8.0/1.0", "0.0..8.0/1.0", 4, func(x, y float64) bool { return math.Abs(y-0.37*x-2.2) < .25 }, .25}, // which passes between most corners
		{"whole numbers", "1..9/2", "1..9/2", 3, func(x, y float64) bool { return x > y }, 1},
		{"nothing beyond", "0.0..8.0/1.0", "0.0..8.0/1.0", 4, func(_, _ float64) bool { return false }, .01},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := newLattice(span(t, tt.x), span(t, tt.y), tt.depth)
			if err != nil {
				t.Fatal(err)
			}
			count := 0
			m, err := explore(l, edged(l, tt.beyond, &count))
			if err != nil {
				t.Fatal(err)
			}
			if count != len(m.Values) || float64(count) > tt.most*float64(l.Size())+1 {
				t.Errorf("measured %d points, of which %d are kept, of %d", count, len(m.Values), l.Size())
			}
			checkCover(t, m)
			wrong, told := 0, m.tellings()
			for y, vy := range l.Y {
				for x, vx := range l.X {
					truth := tt.beyond(vx.Number, vy.Number)
					if vx.Text != "" && vy.Text != "" && !told[point{x, y}][truth] {
						wrong++
					}
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d points lie on the other side of the edge than the map says", wrong, l.Size())
			}
			t.Logf("%d of %d points", count, l.Size())
		})
	}
}

// tellings returns, for each point of a map, the sides of the edge of the tiles there: true is beyond it.
func (m *Map) tellings() map[point]map[bool]bool {
	told := map[point]map[bool]bool{}
	for _, t := range m.panel("").Tiles {
		for y := int(math.Ceil(t.Y0)); float64(y) <= t.Y1; y++ {
			for x := int(math.Ceil(t.X0)); float64(x) <= t.X1; x++ {
				if told[point{x, y}] == nil {
					told[point{x, y}] = map[bool]bool{}
				}
				told[point{x, y}][t.Value.Beyond] = true
			}
		}
	}
	return told
}

// told reports whether some tile of the map at a place lies on the given side of its edge.
func (m *Map) told(x, y float64, beyond bool) bool {
	return slices.ContainsFunc(m.panel("").Tiles, func(t results.MapTile) bool {
		return t.X0 <= x && x <= t.X1 && t.Y0 <= y && y <= t.Y1 && t.Value.Beyond == beyond
	})
}

// checkCover checks that the tiles of a drawn map cover it, and overlap nowhere.
func checkCover(t *testing.T, m *Map) {
	t.Helper()
	area := 0.0
	for _, tile := range m.panel("").Tiles {
		if tile.X1 <= tile.X0 || tile.Y1 <= tile.Y0 {
			t.Errorf("a tile of no area: %+v", tile)
		}
		area += (tile.X1 - tile.X0) * (tile.Y1 - tile.Y0)
	}
	if want := float64((len(m.X) - 1) * (len(m.Y) - 1)); math.Abs(area-want) > 1e-9 {
		t.Errorf("the tiles cover %v of %v", area, want)
	}
}

// TestEdgeLiesBetween: each segment of a map's edge has a tile beyond it on one side only.
func TestEdgeLiesBetween(t *testing.T) {
	l, err := newLattice(span(t, "0.0..8.0/1.0"), span(t, "0.0..8.0/1.0"), 3)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	m, err := explore(l, edged(l, func(x, y float64) bool { return x*x+y*y > 30 }, &count))
	if err != nil {
		t.Fatal(err)
	}
	edge := m.panel("").Edge
	if len(edge) == 0 {
		t.Fatal("no edge")
	}
	for _, s := range edge {
		x, y := (s[0]+s[2])/2, (s[1]+s[3])/2
		dx, dy := .1, 0.0
		if s[1] == s[3] {
			dx, dy = 0, .1
		}
		if !(m.told(x-dx, y-dy, true) && m.told(x+dx, y+dy, false) || m.told(x-dx, y-dy, false) && m.told(x+dx, y+dy, true)) {
			t.Errorf("segment %+v lies not between two sides", s)
		}
	}
	if share := m.panel("").Beyond; math.Abs(share-(1-math.Pi*30/4/64)) > .02 {
		t.Errorf("%v of the map lies beyond", share)
	}
}

func TestLatticeErrors(t *testing.T) {
	for _, tt := range []struct {
		name, x, y string
		depth      int
	}{
		{"one value", "1", "1,2", 1},
		{"down", "2,1", "1,2", 1},
		{"too deep", "1,2", "1,2", 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := newLattice(span(t, tt.x), span(t, tt.y), tt.depth); err == nil {
				t.Error("no error")
			}
		})
	}
	l, err := newLattice(span(t, "a,b"), span(t, "1,2"), 2)
	if err != nil || l.Size() != 4 {
		t.Errorf("words and neighbours are halved: %d points (%v)", l.Size(), err)
	}
	stop := errors.New("stop")
	if _, err := explore(l, func([]point) ([]results.MapValue, error) { return nil, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
