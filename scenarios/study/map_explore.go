package study

import (
	"fmt"
	"slices"

	"qsim/results"
	"qsim/results/plain"
)

// mostDepth is the highest number of times that a cell of a map's grid is halved, to find its edge more exactly.
const mostDepth = 6

// mostPoints is the highest number of points measured in a map of one policy.
const mostPoints = 20_000

// point is a position on the lattice of a map, its grid when refined everywhere: on each axis a number of steps,
// 2^depth from one value to the next.
type point struct{ X, Y int }

// patch is a rectangle of a map, in positions on its lattice: its corners are measured, and nothing inside it.
type patch struct{ X0, X1, Y0, Y1 int }

// lattice is the grid of all points that a map can measure; an exploration measures a part of them.
type lattice struct {
	X, Y  []Value // values of each axis, by position; Text is empty if there is no value between two given ones
	Steps int     // number of steps from one value of an axis to the next
}

// newLattice returns all points that a map can measure: the grid of two axes, of at least two ascending values each,
// with every cell halved depth times.
func newLattice(x, y Axis, depth int) (*lattice, error) {
	if depth < 0 || depth > mostDepth {
		return nil, fmt.Errorf("refine %d times: want 0 to %d", depth, mostDepth)
	}
	for _, a := range []Axis{x, y} {
		switch {
		case len(a.Range.Values) < 2:
			return nil, fmt.Errorf("%s: an axis needs at least two values", a.Key)
		case !a.Range.ascending():
			return nil, fmt.Errorf("%s: the values of an axis must go up", a.Key)
		}
	}
	l := &lattice{Steps: 1 << depth}
	l.X, l.Y = l.positions(x.Range), l.positions(y.Range)
	return l, nil
}

// positions returns the values of a map's axis and all intermediate values.
func (l *lattice) positions(r Range) []Value {
	all := make([]Value, (len(r.Values)-1)*l.Steps+1)
	for i, v := range r.Values {
		all[i*l.Steps] = v
	}
	for step := l.Steps; step > 1; step /= 2 {
		for i := 0; i+step < len(all); i += step {
			if a, b := all[i], all[i+step]; a.Text != "" && b.Text != "" {
				all[i+step/2], _ = r.Between(a, b)
			}
		}
	}
	return all
}

// corners returns the points of a map's grid before any refinement, by Y, then by X.
func (l *lattice) corners() []point {
	var corners []point
	for y := 0; y < len(l.Y); y += l.Steps {
		for x := 0; x < len(l.X); x += l.Steps {
			corners = append(corners, point{x, y})
		}
	}
	return corners
}

// Size returns the number of points that a map has if its grid is refined everywhere.
func (l *lattice) Size() int {
	isThere := func(v Value) bool { return v.Text != "" }
	return plain.Count(l.X, isThere) * plain.Count(l.Y, isThere)
}

// Map is the result of a map study under one policy: the measured points, and the rectangles (patches) between them.
type Map struct {
	*lattice
	Values  map[point]results.MapValue // values of the measured points
	Patches []patch                    // patches that cover the map, by Y0 and X0
}

// explore calls measure for the coarse grid of a map, and then for points that halve the cells which its edge crosses.
func explore(l *lattice, measure func(points []point) ([]results.MapValue, error)) (*Map, error) {
	m := &Map{lattice: l, Values: map[point]results.MapValue{}}
	for y := 0; y+l.Steps < len(l.Y); y += l.Steps {
		for x := 0; x+l.Steps < len(l.X); x += l.Steps {
			m.Patches = append(m.Patches, patch{x, x + l.Steps, y, y + l.Steps})
		}
	}
	err := m.measure(l.corners(), measure)
	for size := l.Steps; size > 1 && err == nil; {
		// A cell whose neighbour was halved may have got a point on its side that disagrees:
		// until there is none, it is halved too.
		patches, points := m.split(size)
		if len(points) == 0 {
			size /= 2
		} else if err = m.measure(points, measure); err == nil {
			m.Patches = patches
		}
	}
	return m, err
}

func (m *Map) measure(points []point, measure func(points []point) ([]results.MapValue, error)) error {
	points = slices.DeleteFunc(points, func(p point) bool { _, known := m.Values[p]; return known })
	slices.SortFunc(points, byYX)
	points = slices.Compact(points)
	if len(m.Values)+len(points) > mostPoints {
		return fmt.Errorf("the edge is too long: more than %d points; refine less", mostPoints)
	}
	if len(points) == 0 {
		return nil
	}
	values, err := measure(points)
	for i, v := range values {
		m.Values[points[i]] = v
	}
	return err
}

// split halves, where possible, the map's rectangles of one size that the edge crosses. It returns all rectangles, and
// the corners of the new ones, for measuring.
func (m *Map) split(size int) (patches []patch, points []point) {
	for _, c := range m.Patches {
		parts := []patch{c}
		if max(c.X1-c.X0, c.Y1-c.Y0) == size && m.disagrees(c) {
			parts = m.halves(c)
		}
		if len(parts) > 1 {
			for _, p := range parts {
				points = append(points, p.corners()...)
			}
		}
		patches = append(patches, parts...)
	}
	slices.SortFunc(patches, func(a, b patch) int { return byYX(point{a.X0, a.Y0}, point{b.X0, b.Y0}) })
	return patches, points
}

// halves divides a rectangle of a map into four, or into two or one where an axis has no value in between.
func (m *Map) halves(c patch) []patch {
	parts := []patch{c}
	if x := (c.X0 + c.X1) / 2; x > c.X0 && m.X[x].Text != "" {
		parts = []patch{{c.X0, x, c.Y0, c.Y1}, {x, c.X1, c.Y0, c.Y1}}
	}
	if y := (c.Y0 + c.Y1) / 2; y > c.Y0 && m.Y[y].Text != "" {
		for _, p := range parts {
			parts = append(parts, patch{p.X0, p.X1, y, p.Y1})
		}
		for i := range parts[:len(parts)/2] {
			parts[i].Y1 = y
		}
	}
	return parts
}

func (c patch) corners() []point {
	return []point{{c.X0, c.Y0}, {c.X1, c.Y0}, {c.X0, c.Y1}, {c.X1, c.Y1}}
}

// disagrees reports whether the edge crosses a rectangle of a map: points measured on its rim lie on both sides.
func (m *Map) disagrees(c patch) bool {
	first := m.Values[point{c.X0, c.Y0}].Beyond
	for y := c.Y0; y <= c.Y1; y++ {
		between := y > c.Y0 && y < c.Y1 // of the rows in between only the ends are on the rim
		step := plain.Either(between, c.X1-c.X0, 1)
		for x := c.X0; x <= c.X1; x += step {
			if v, known := m.Values[point{x, y}]; known && v.Beyond != first {
				return true
			}
		}
	}
	return false
}
