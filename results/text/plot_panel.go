package text

import (
	"math"
	"strings"

	"qsim/results/plain"
)

// panel writes the panel of one policy to b: its line, with the axis to the left and the storms below.
func (p *terminalPlot) panel(b *strings.Builder, policy int) {
	cells := p.dots(p.lines[policy])
	labels := p.labels()
	inStorm := make([]bool, p.columns)
	for _, s := range p.storms() {
		for c := s.from; c < s.to; c++ {
			inStorm[c] = true
		}
	}
	for r := range p.rows {
		axis := p.marks.axis
		if labels[r] != "" {
			axis = p.marks.tick
		}
		var line strings.Builder
		for c := range p.columns {
			line.WriteString(p.marks.character(cells[r][c]))
		}
		lead := strings.Repeat(" ", max(plotGutter-1-columns(labels[r]), 0)) + labels[r] + " "
		b.WriteString(strings.TrimRight(paint(p.o.Color, dim, lead+axis)+line.String(), " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", plotGutter) + paint(p.o.Color, dim, p.marks.corner))
	for c := 0; c < p.columns; {
		from := c
		for c < p.columns && inStorm[c] == inStorm[from] {
			c++
		}
		if inStorm[from] {
			b.WriteString(paint(p.o.Color, red, strings.Repeat(p.marks.storm, c-from)))
		} else {
			b.WriteString(paint(p.o.Color, dim, strings.Repeat(p.marks.base, c-from)))
		}
	}
	b.WriteString("\n")
}

// dots returns the dots of a curve, by row and column: one for each value, and vertical ones that connect consecutive
// values.
func (p *terminalPlot) dots(line []float64) [][]uint8 {
	cells := make([][]uint8, p.rows)
	for r := range cells {
		cells[r] = make([]uint8, p.columns)
	}
	set := func(x, y int) {
		row, column := y/p.marks.down, x/p.marks.across
		cells[row][column] |= 1 << (x%p.marks.across*p.marks.down + y%p.marks.down)
	}
	before := -1
	for x, v := range line {
		if math.IsNaN(v) {
			before = -1
			continue
		}
		y := p.height(v)
		set(x, y)
		for at := before; before >= 0 && at != y; {
			if at < y {
				at++
			} else {
				at--
			}
			set(x, at)
		}
		before = y
	}
	return cells
}

// height returns the dot row of a wait v on the logarithmic axis, from the top.
func (p *terminalPlot) height(v float64) int {
	rows := p.rows*p.marks.down - 1
	if !(v > p.low) {
		return rows
	}
	share := math.Log(v/p.low) / math.Log(p.high/p.low)
	return rows - int(math.Round(min(share, 1)*float64(rows)))
}

// labels returns the axis label left of each row of a panel: a wait at each decade, "" elsewhere.
func (p *terminalPlot) labels() []string {
	labels := make([]string, p.rows)
	if p.nothing {
		labels[p.rows-1] = "0s"
		return labels
	}
	decades := int(math.Round(math.Log10(p.high / p.low)))
	every := (decades + p.rows - 2) / max(p.rows-1, 1)
	for i := 0; i <= decades; i += max(every, 1) {
		v := p.low * math.Pow(10, float64(i))
		text := plain.Duration(v)
		if v >= .99 && v < 99_999 { // decades, not minutes
			text = plain.Digits(v, 1) + "s"
		}
		labels[p.height(v)/p.marks.down] = p.plain(text)
	}
	return labels
}
