package dist

import "math"

// A curve is the inverse of a cumulative distribution function: a table of cubic
// pieces for the body, the exact function for the two tails.
//
// The table is indexed by the tail t = min(u, 1-u), once for u < ½ and once for the
// rest. Like the floating-point numbers it halves its step with every octave
// towards 0, because quantile functions bend the more the nearer they come to 0 and
// 1; the bits of t therefore are the index, and about 2^density cells serve each
// octave. A cell interpolates the exact function at its ends and thirds. The error
// is h⁴/1944 of the fourth derivative, h the width of the cell, and is checked when
// the table is built, which doubles the density as long as it is too large.
type curve struct {
	cells []cell
	shift uint64 // bits to shift t right by to get the number of the cell
	first uint64 // ... plus this
	count uint64 // cells for one side; 0: no table
	mask  uint64 // mask of t's bits for the position in the cell

	quantile quantile
	unit     float64    // scale of the distribution: a mean, median, deviation or least value
	near     [2]float64 // where the search for a quantile in a tail begins, by half of the distribution (see side)
	mean     float64
	values   []float64 // empirical only: sorted
}

// cell is a piece of a curve's table, c0 + c1·x + c2·x² + c3·x³, x the position in the cell as an integer. The
// coefficients are NaN where only the exact function is good enough.
type cell struct{ c0, c1, c2, c3 float64 }

const (
	octaves      = 15 // the table covers t in [2^-16, ½]
	tableStart   = 1.0 / (1 << (octaves + 1))
	leastDensity = 4
	mostDensity  = 7
	// positionBits of t below those of the cell's number are used, the others dropped. Each remaining step changes the
	// value by far more than rounding does, so the interpolation never falls as u grows, not by a single bit.
	positionBits = 32
	// tableError is the highest relative error of any cell, and tableFloor the share of the scale
	// below which the error is relative to tableFloor instead.
	tableError = 1e-7
	tableFloor = 1e-12
)

// sample returns the quantile at u from the table, or from the exact function where there is none; see Dist.Sample.
func (c *curve) sample(u float64) float64 {
	offset := u - 0.5
	b := math.Float64bits(0.5 - math.Abs(offset))
	i := b>>(c.shift&63) - c.first
	if i >= c.count {
		return c.sampleExactly(u)
	}
	piece := &c.cells[i+math.Float64bits(offset)>>63*c.count]
	x := float64(int64(b & c.mask))
	y := piece.c0 + float64(x*(piece.c1+float64(x*(piece.c2+float64(x*piece.c3)))))
	if y != y {
		dropped := (c.mask & -c.mask) - 1
		y, _ = c.quantile(math.Float64frombits(b&^dropped), offset >= 0, 0)
	}
	return y
}

// sampleExactly returns the quantile at u from the exact function or the sorted values, not from the table.
func (c *curve) sampleExactly(u float64) float64 {
	u = insideUnit(u)
	if n := len(c.values); n > 0 {
		// The least value that at least a share u of them do not exceed.
		return c.values[int(math.Ceil(float64(u*float64(n))))-1]
	}
	upper := u >= 0.5
	if upper {
		u = 1 - u
	}
	// For the same reason as positionBits: 36 bits are kept, 4e-12.
	t := math.Float64frombits(math.Float64bits(u) &^ (1<<16 - 1))
	y, _ := c.quantile(t, upper, c.near[side(upper)])
	return y
}

// side returns the index of one half of a curve's table or of near: 0 for u ≥ ½ (upper), 1 for u < ½.
func side(upper bool) int {
	if upper {
		return 0
	}
	return 1
}

// tabulate builds the table of the curve from the exact function, as dense as its accuracy requires, and returns the
// curve.
func (c *curve) tabulate() *curve {
	for density := leastDensity; !c.tryDensity(density, density == mostDensity); density++ {
	}
	return c
}

// tryDensity builds the table with 2^density cells per octave. It returns false at the first cell whose error is too
// large, or with last set marks such cells, whose quantiles are then computed exactly.
func (c *curve) tryDensity(density int, last bool) bool {
	c.shift = uint64(52 - density)
	c.first = math.Float64bits(tableStart) >> c.shift
	c.count = octaves<<density + 1
	c.mask = (1<<positionBits - 1) << (c.shift - positionBits)
	c.cells = make([]cell, 2*c.count)
	median, _ := c.quantile(0.5, false, 0)
	for _, upper := range []bool{true, false} {
		cells := c.cells[uint64(side(upper))*c.count:][:c.count]
		start, near := c.quantile(tableStart, upper, 0)
		c.near[side(upper)] = near
		for i := range c.count - 1 {
			left := math.Float64frombits((c.first + i) << c.shift)
			right := math.Float64frombits((c.first + i + 1) << c.shift)
			var end float64
			end, near = c.quantile(right, upper, near)
			if i == c.count-2 {
				end = median
			}
			if (end < start) != upper { // rounding must not turn the curve back
				end = start
			}
			piece, good := c.interpolate(left, right, start, end, upper, near)
			if !good && !last {
				return false
			}
			if !good {
				piece = cell{math.NaN(), 0, 0, 0}
			}
			cells[i] = piece
			start = end
		}
		cells[c.count-1] = cell{c0: median}
	}
	return true
}

// interpolate returns the cubic piece of the table (cell) with the values start at t = left and end at t = right, and
// whether it is accurate enough.
func (c *curve) interpolate(left, right, start, end float64, upper bool, near float64) (cell, bool) {
	width := right - left
	at := func(x float64) float64 {
		y, _ := c.quantile(left+float64(width*x), upper, near)
		return y
	}
	// The cubic through (0, 0), (1/3, g1), (2/3, g2), (1, g3).
	g1, g2, g3 := at(1.0/3)-start, at(2.0/3)-start, end-start
	c1 := float64(0.5 * (float64(18*g1) - float64(9*g2) + float64(2*g3)))
	c2 := float64(4.5 * (float64(4*g2) - float64(5*g1) - g3))
	c3 := float64(4.5 * (float64(3*(g1-g2)) + g3))
	if !surelyMonotone(c1, c2, c3, upper) {
		c1, c2, c3 = g3, 0, 0
	}
	good := true
	for _, x := range [...]float64{1.0 / 8, 1.0 / 2, 7.0 / 8} {
		y := start + float64(x*(c1+float64(x*(c2+float64(x*c3)))))
		exact := at(x)
		allowed := float64(tableError * math.Max(exact, float64(tableFloor*c.unit)))
		good = good && math.Abs(y-exact) <= allowed
	}
	// From x in [0, 1) to the integer in sample: exact, being powers of two.
	scale := 1 / float64(uint64(1)<<c.shift)
	c1 = float64(c1 * scale)
	c2 = float64(float64(c2*scale) * scale)
	c3 = float64(float64(float64(c3*scale)*scale) * scale)
	return cell{start, c1, c2, c3}, good
}

// surelyMonotone reports whether c1·x + c2·x² + c3·x³ rises over [0, 1] (falls, if falling) so steeply everywhere that
// rounding cannot turn it back. Its slope is at least 2^-10 of the sum of the coefficients' sizes: a step of 2^-32,
// from one position to the next, changes the value by 2^-42 of that sum, rounding by some 2^-50.
func surelyMonotone(c1, c2, c3 float64, falling bool) bool {
	if falling {
		c1, c2, c3 = -c1, -c2, -c3
	}
	// The slope c1 + 2·c2·x + 3·c3·x² is least at an end or at its vertex.
	least := math.Min(c1, c1+float64(2*c2)+float64(3*c3))
	if vertex := -c2 / float64(3*c3); vertex > 0 && vertex < 1 {
		least = math.Min(least, c1+float64(c2*vertex))
	}
	return least > 0 && least >= float64(0x1p-10*(math.Abs(c1)+math.Abs(c2)+math.Abs(c3)))
}
