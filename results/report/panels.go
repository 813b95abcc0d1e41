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
	columns, steps, tall := 4, 3, vg.Length(66)
	switch n := len(policies); {
	case n == 1:
		columns, steps, tall = 1, 8, 180
	case n == 2, n == 4:
		columns, steps, tall = 2, 6, 82
	case n <= 9:
		columns, steps, tall = 3, 4, 82
	}
	if len(policies) == 2 {
		tall = 130
	}
	if len(policies) == 3 {
		tall = 110
	}
	rows := (len(policies) + columns - 1) / columns
	const above, between, axis = vg.Length(16), vg.Length(26), vg.Length(14)
	height := above + vg.Length(rows)*(tall+axis) + vg.Length(rows-1)*between
	return height, func(c draw.Canvas) {
		grid := make([][]*plot.Plot, rows)
		for r := range grid {
			grid[r] = make([]*plot.Plot, columns)
		}
		for i, own := range policies {
			p := newPlot()
			axes(p, steps)
			fill(p, own)
			grid[i/columns][i%columns] = p
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
