package text

import (
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"qsim/results/plain"
)

// Table is a table to be printed for a terminal, or as Markdown or CSV. If it is wider than the terminal, its gaps are
// narrowed, then its texts wrapped, then its columns split into blocks one below the other, all of which have the Key
// columns. Nothing is left out.
type Table struct {
	Columns []Column
	Rows    [][]Cell // cells by row, then by column
	Rule    bool     // a line below the header
}

// Column is one column of a Table: its headings and its layout.
type Column struct {
	Group string // a heading over neighbouring columns of the same group
	Title string // heading, wrapped to the width of the cells
	Under string // a further line of the header
	Right bool   // aligned to the right
	Key   bool   // the column identifies a row: every block repeats it
	Least int    // if above 0: the number of terminal columns to which its cells may be cut
	Wrap  bool   // its cells are texts, which may be broken into lines
	Hang  bool   // may be narrower than its cells: a wider cell is printed on a separate line above its row
}

// Cell is the content of one row and column of a Table: parts that line up with those of the cells above and below.
type Cell []Part

// Part is one of the texts side by side in a Cell, such as a sign, a value or a half-width.
type Part struct {
	Text  string
	Color string // "" or one of the palette
	Left  bool   // aligned to the left among the parts of its column
}

// Plain returns a cell with one text, without colour.
func Plain(words string) Cell { return Cell{{Text: words, Left: true}} }

// Add appends a row to the table: each of its cells has one text, without colour.
func (t *Table) Add(cells ...string) {
	t.Rows = append(t.Rows, plain.Map(cells, Plain))
}

// joined returns the texts of a cell's parts with spaces between them, without colours.
func (c Cell) joined() string {
	return plain.Joined(" ", plain.Map(c, func(part Part) string { return part.Text })...)
}

const (
	wideGap, narrowGap = 3, 2
	leastWrap          = 16 // columns to which a text is wrapped at the least
	leastTitle         = 16 // columns to which a title is wrapped at the least
)

// Lines returns the table as lines of at most width terminal columns (0: no limit), with colours if color is set.
func (t *Table) Lines(width int, color bool) []string {
	l := layout{Table: t, color: color, gap: wideGap, limit: width}
	titled := func(c Column) bool { return c.Title != "" }
	if t.Rule || !slices.ContainsFunc(t.Columns, titled) {
		l.gap = narrowGap
	}
	var all []int
	for i := range t.Columns {
		all = append(all, i)
	}
	for _, title := range []int{math.MaxInt, leastTitle} {
		l.measure(title)
		if width == 0 || l.total(all) <= width {
			return l.render(all)
		}
	}
	if l.gap = narrowGap; l.total(all) <= width {
		return l.render(all)
	}
	l.shrink(all)
	var lines []string
	for i, block := range l.blocks() {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, l.render(block)...)
	}
	return lines
}

// layout is a Table while it is laid out for a terminal, with the widths chosen for its columns.
type layout struct {
	*Table
	color bool
	gap   int
	limit int     // highest width of a line, 0: no limit
	parts [][]int // by column, the width of each part
	width []int   // widths by column
}

// measure computes the widths that all columns need; headings wider than title columns may be broken at spaces.
func (l *layout) measure(title int) {
	l.parts, l.width = make([][]int, len(l.Columns)), make([]int, len(l.Columns))
	for i, c := range l.Columns {
		for _, row := range l.Rows {
			for k, part := range row[i] {
				if k == len(l.parts[i]) {
					l.parts[i] = append(l.parts[i], 0)
				}
				l.parts[i][k] = max(l.parts[i][k], columns(part.Text))
			}
		}
		content := -1
		for _, part := range l.parts[i] {
			if part > 0 {
				content += 1 + part
			}
		}
		l.width[i] = max(content, min(columns(c.Title), title), min(columns(c.Under), title))
		for _, word := range strings.Fields(c.Title + " " + c.Under) {
			l.width[i] = max(l.width[i], columns(word))
		}
	}
}

// total returns the width, in terminal columns, of the table columns with these indexes and the gaps between them.
func (l *layout) total(of []int) int {
	return plain.Sum(of, func(i int) int { return l.width[i] + l.gap }) - l.gap
}

// shrink narrows columns that may be wrapped (Wrap, Hang), the widest first, until all columns fit in a line.
func (l *layout) shrink(all []int) {
	for l.total(all) > l.limit {
		widest := -1
		for _, i := range all {
			if c := &l.Columns[i]; (c.Wrap || c.Hang) && l.width[i] > leastWrap && (widest < 0 || l.width[i] > l.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		l.width[widest]--
	}
}

// blocks returns the columns, by index, in as few blocks as fit in a line; groups of columns stay together if possible.
func (l *layout) blocks() (blocks [][]int) {
	var keys []int
	widest := 0
	for i := range l.Columns {
		if l.Columns[i].Key {
			keys = append(keys, i)
		} else {
			widest = max(widest, l.width[i])
		}
	}
	for _, i := range keys { // cut what may be cut so that each of the others fits beside the keys
		over := l.total(keys) + l.gap + widest - l.limit
		if least := l.Columns[i].Least; over > 0 && least > 0 && l.width[i] > least {
			l.width[i] = max(l.width[i]-over, least)
		}
	}
	block := slices.Clone(keys)
	flush := func() {
		if len(block) > len(keys) {
			blocks, block = append(blocks, block), slices.Clone(keys)
		}
	}
	for i := range l.Columns {
		group := l.Columns[i].Group
		if l.Columns[i].Key {
			continue
		}
		rest := []int{i} // of the group
		for k := i + 1; k < len(l.Columns) && l.Columns[k].Group == group && !l.Columns[k].Key; k++ {
			rest = append(rest, k)
		}
		begins := i == 0 || l.Columns[i-1].Group != group
		if begins && l.total(slices.Concat(block, rest)) > l.limit || l.total(slices.Concat(block, rest[:1])) > l.limit {
			flush()
		}
		block = append(block, i)
	}
	if flush(); blocks == nil {
		return [][]int{keys}
	}
	return blocks
}

// render returns the lines of text of a block of columns, given by index: headings, rule and rows.
func (l *layout) render(of []int) []string {
	var lines []string
	if groups := l.groups(of); groups != "" {
		lines = append(lines, paint(l.color, dim, groups))
	}
	lines = append(lines, l.header(of)...)
	if l.Rule {
		lines = append(lines, strings.Repeat("─", l.total(of)))
	}
	for _, row := range l.Rows {
		lines = append(lines, l.row(of, row)...)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// groups returns the line with the headings of groups of columns, each over a rule as wide as the group, or "".
func (l *layout) groups(of []int) string {
	line, some := "", false
	for k := 0; k < len(of); {
		group, end := l.Columns[of[k]].Group, k+1
		for end < len(of) && l.Columns[of[end]].Group == group {
			end++
		}
		width := l.total(of[k:end])
		words := strings.Repeat(" ", width)
		if group != "" {
			some = true
			words = text.Pad(group+" ", width, '─')
			if end == len(of) && l.limit > 0 { // it may stick out
				width = max(width, l.limit-columns(line))
			}
			if end < len(of) || l.limit > 0 {
				words = cut(words, width)
			}
		}
		line += words + strings.Repeat(" ", l.gap)
		k = end
	}
	return plain.When(some, line)
}

// header returns the lines with the titles of a block of columns, which end on the same line.
func (l *layout) header(of []int) []string {
	heads, height := make([][]string, len(of)), 0
	under := slices.ContainsFunc(of, func(i int) bool { return l.Columns[i].Under != "" })
	for k, i := range of {
		if c := &l.Columns[i]; c.Title != "" || c.Under != "" {
			heads[k] = Wrapped(c.Title, l.width[i])
			if under && !c.Key {
				heads[k] = append(heads[k], Wrapped(c.Under, l.width[i])...)
			}
		}
		height = max(height, len(heads[k]))
	}
	for k := range heads {
		heads[k] = append(make([]string, height-len(heads[k])), heads[k]...)
	}
	lines := l.sideBySide(of, heads)
	for n := range lines {
		lines[n] = paint(l.color, dim, strings.TrimRight(lines[n], " "))
	}
	return lines
}

// sideBySide returns the lines of text of one table row, from those of its cells in a block of columns.
func (l *layout) sideBySide(of []int, texts [][]string) []string {
	height := 0
	for _, lines := range texts {
		height = max(height, len(lines))
	}
	lines := make([]string, height)
	for k, i := range of {
		align := plain.Either(l.Columns[i].Right, text.AlignRight, text.AlignLeft)
		for n := range lines {
			words := ""
			if n < len(texts[k]) {
				words = texts[k][n]
			}
			lines[n] += align.Apply(words, l.width[i]) + strings.Repeat(" ", l.gap)
		}
	}
	return lines
}

// row returns the lines of one table row in a block of columns, after those of cells too wide for a Hang column.
func (l *layout) row(of []int, row []Cell) (above []string) {
	texts := make([][]string, len(of))
	for k, i := range of {
		if words := row[i].joined(); l.Columns[i].Hang && columns(words) > l.width[i] {
			above, texts[k] = append(above, Wrapped(words, l.limit)...), []string{""}
		} else {
			texts[k] = l.cell(i, row[i])
		}
	}
	return append(above, l.sideBySide(of, texts)...)
}

// cell returns the lines of text of a cell in column i, with its colours.
func (l *layout) cell(i int, c Cell) []string {
	column := &l.Columns[i]
	if len(c) == 1 && column.Wrap && columns(c[0].Text) > l.width[i] {
		lines := Wrapped(c[0].Text, l.width[i])
		for n := range lines {
			lines[n] = paint(l.color, c[0].Color, lines[n])
		}
		return lines
	}
	line := ""
	for k, width := range l.parts[i] {
		if width == 0 {
			continue
		}
		var part Part
		if k < len(c) {
			part = c[k]
		}
		if len(l.parts[i]) == 1 {
			width = min(width, l.width[i])
		}
		align := text.AlignRight
		if part.Left && !(column.Right && len(l.parts[i]) == 1) || part.Text == "" {
			align = text.AlignLeft
		}
		if line != "" {
			line += " "
		}
		words := cut(part.Text, width)
		line += strings.Replace(align.Apply(words, width), words, paint(l.color, part.Color, words), 1)
	}
	return []string{line}
}
