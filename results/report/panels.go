package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panels lays out a plot for each policy, all with the same axes. It returns the
// height of the whole and what draws it. axes sets ranges and ticks, of which time
// gets at most the steps it is told; fill adds what a panel shows.
func panels(policies []policy, axes func(p *plot.Plot, steps int), fill func(p *plot.Plot, own policy)) (vg.Length, func(draw.Canvas)) {
	return grid(len(policies), func(i, steps int) *plot.Plot {
		p := newPlot()
		axes(p, steps)
		fill(p, policies[i])
		return p
	})
}

// columnsOf is how many panels of n stand beside each other.
func columnsOf(n int) int {
	switch {
	case n == 1:
		return 1
	case n == 2, n == 4:
		return 2
	case n <= 9:
		return 3
	}
	return 4
}

// grid lays out n plots, which build makes for an axis of time with at most so many steps.
func grid(n int, build func(i, steps int) *plot.Plot) (vg.Length, func(draw.Canvas)) {
	columns, steps, tall := columnsOf(n), 3, vg.Length(66)
	switch {
	case n == 1:
		steps, tall = 8, 180
	case n == 2, n == 4:
		steps, tall = 6, 82
	case n <= 9:
		steps, tall = 4, 82
	}
	if n == 2 {
		tall = 130
	}
	if n == 3 {
		tall = 110
	}
	rows := (n + columns - 1) / columns
	const above, between, axis = vg.Length(16), vg.Length(26), vg.Length(14)
	height := above + vg.Length(rows)*(tall+axis) + vg.Length(rows-1)*between
	return height, func(c draw.Canvas) {
		grid := make([][]*plot.Plot, rows)
		for r := range grid {
			grid[r] = make([]*plot.Plot, columns)
		}
		for i := range n {
			grid[i/columns][i%columns] = build(i, steps)
		}
		tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: 18, PadY: between, PadTop: above}
		for r, row := range plot.Align(grid, tiles, c) {
			for k, canvas := range row {
				if grid[r][k] != nil {
					grid[r][k].Draw(canvas)
				}
			}
		}
	}
}
