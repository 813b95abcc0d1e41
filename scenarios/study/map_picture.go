package study

import (
	"cmp"
	"maps"
	"slices"
)

// Tile is a rectangle of a map's picture with the value of the point nearest to it, in positions of the lattice.
type Tile struct {
	X0, X1, Y0, Y1 float64
	Value          PointValue
}

// Segment is a straight part of the edge on a map's picture, horizontal or vertical.
type Segment struct{ X0, Y0, X1, Y1 float64 }

// Tiles returns the quarters of the map's cells: each has the value of its corner.
func (m *Map) Tiles() []Tile {
	tiles := make([]Tile, 0, 4*len(m.Patches))
	for _, c := range m.Patches {
		x, y := middle(c)
		for _, p := range c.corners() {
			t := Tile{X0: float64(c.X0), X1: x, Y0: float64(c.Y0), Y1: y, Value: m.Values[p]}
			if p.X == c.X1 {
				t.X0, t.X1 = x, float64(c.X1)
			}
			if p.Y == c.Y1 {
				t.Y0, t.Y1 = y, float64(c.Y1)
			}
			tiles = append(tiles, t)
		}
	}
	return tiles
}

func middle(c Patch) (x, y float64) { return float64(c.X0+c.X1) / 2, float64(c.Y0+c.Y1) / 2 }

// Edge returns the segments between tiles on different sides of the edge.
func (m *Map) Edge() []Segment {
	var edge []Segment
	for _, c := range m.Patches {
		x, y := middle(c)
		corners := c.corners()
		var beyond [4]bool
		for i, p := range corners {
			beyond[i] = m.Values[p].Beyond
		}
		for _, side := range []struct {
			a, b int
			line Segment
		}{
			{0, 1, Segment{x, float64(c.Y0), x, y}},
			{2, 3, Segment{x, y, x, float64(c.Y1)}},
			{0, 2, Segment{float64(c.X0), y, x, y}},
			{1, 3, Segment{x, y, float64(c.X1), y}},
		} {
			if beyond[side.a] != beyond[side.b] {
				edge = append(edge, side.line)
			}
		}
	}
	return edge
}

// Beyond returns the share of the map's area that lies beyond the edge.
func (m *Map) Beyond() float64 {
	var beyond, all float64
	for _, t := range m.Tiles() {
		area := (t.X1 - t.X0) * (t.Y1 - t.Y0)
		all += area
		if t.Value.Beyond {
			beyond += area
		}
	}
	if all == 0 {
		return 0
	}
	return beyond / all
}

// Points returns the measured points, by Y and X.
func (m *Map) Points() []Point { return slices.SortedFunc(maps.Keys(m.Values), byYX) }

func byYX(a, b Point) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) }
