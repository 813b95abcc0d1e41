package text

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

const (
	plotWidth  = 80
	leastPlot  = 40  // columns
	mostPlot   = 400 // columns
	plotGutter = 8   // columns left of a plot
	leastDot   = 1e-3
	mostRange  = 1e6 // highest ratio of the largest to the smallest value in a plot
)

// Plot returns a chart, drawn with characters, of fresh jobs' waits over time: a panel for each policy with the p99 in
// each bucket of time, median over seeds, on one logarithmic axis, and storms marked below. ascii limits it to ASCII; a
// width of 0 means 80 columns. It panics for a summary without Settings and Data.
func Plot(s *results.Summary, o TableOptions, ascii bool) string {
	if s.Settings == nil || len(s.Data) != len(s.Policies) || s.Settings.Bucket <= 0 {
		panic("text: a summary without series has no plot")
	}
	return newTerminalPlot(s, o, ascii).draw()
}

// terminalPlot is a chart of Plot while it is drawn: its curves, axes and sizes.
type terminalPlot struct {
	s         *results.Summary
	o         TableOptions
	ascii     bool
	columns   int // width of a panel
	rows      int // height of a panel
	marks     plotMarks
	end       float64     // s: where the time axis ends
	lines     [][]float64 // curves by policy, then by dot; NaN: no value
	peaks     []float64   // highest values by policy, after the warm-up; NaN: no line
	low, high float64     // range of the axis: powers of ten
	nothing   bool        // no fresh job waits at all
	storms    []measure.Window
	stormy    []bool // by column, whether a storm covers it
}

// plotMarks holds the characters that a chart is drawn with: Unicode or ASCII.
type plotMarks struct {
	across, down int    // dots of a character
	axis, tick   string // text left of a row, and of a row with a label
	base, storm  string // below a panel, and there in a storm
	corner       string
	character    func(dots uint8) string
}

var (
	unicodeMarks = plotMarks{across: 2, down: 4, axis: "│", tick: "┤", base: "─", storm: "▓", corner: "└",
		character: braille}
	asciiMarks = plotMarks{across: 1, down: 2, axis: "|", tick: "+", base: "-", storm: "#", corner: "+",
		character: asciiDots}
)

// braille returns the braille character with the given dots: bit 4·column+row is one, row 0 being the top of four.
func braille(dots uint8) string {
	bits := [8]rune{0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80}
	r := rune(0x2800)
	for i, bit := range bits {
		if dots>>i&1 != 0 {
			r |= bit
		}
	}
	return plain.Either(r == 0x2800, " ", string(r))
}

// asciiDots returns the ASCII character for dots one above the other: bit 0 is the upper, bit 1 the lower.
func asciiDots(dots uint8) string { return [4]string{" ", "'", ".", ":"}[dots&3] }

// freshWaits returns the curve that a plot shows of one seed.
func freshWaits(s *measure.Series) []float64 { return s.FreshWaitP99 }

func newTerminalPlot(s *results.Summary, o TableOptions, ascii bool) *terminalPlot {
	p := &terminalPlot{s: s, o: o, ascii: ascii, marks: unicodeMarks, rows: 6}
	if ascii {
		p.marks = asciiMarks
	}
	if len(s.Policies) > 4 {
		p.rows = 4
	}
	if o.Width <= 0 {
		p.o.Width = plotWidth
	}
	p.o.Width = min(max(p.o.Width, leastPlot), mostPlot)
	p.columns = p.o.Width - plotGutter - 2
	medians := make([][]float64, len(s.Data))
	p.end = s.Settings.Duration.Seconds()
	bucket := s.Settings.Bucket.Seconds()
	for i := range s.Data {
		buckets := 0
		for _, series := range s.Data[i].Series {
			buckets = max(buckets, len(series.FreshWaitP99))
		}
		medians[i], _, _ = results.Bands(s.Data[i].Series, buckets, freshWaits)
		for k, v := range medians[i] {
			if !math.IsNaN(v) {
				p.end = max(p.end, float64(k+1)*bucket)
			}
		}
	}
	p.lines = plain.Map(medians, func(line []float64) []float64 { return p.resample(line, bucket) })
	p.scale(medians)
	p.markStorms()
	return p
}

// resample returns the highest value of a curve in each column of dots. bucket is the seconds between a curve's values.
func (p *terminalPlot) resample(line []float64, bucket float64) []float64 {
	dots := make([]float64, p.columns*p.marks.across)
	width := p.end / float64(len(dots))
	for i := range dots {
		first, last := int(float64(i)*width/bucket), int(math.Ceil(float64(i+1)*width/bucket-1e-9))
		dots[i] = plain.ExtentOf(line[min(first, len(line)):min(max(last, first+1), len(line))]...).High
	}
	return dots
}

// scale sets the range of the wait axis, by the curves after the warm-up if there are any, and each policy's peak.
func (p *terminalPlot) scale(medians [][]float64) {
	seen := plain.ExtentOf()
	from := int(p.s.Settings.Warmup / p.s.Settings.Bucket)
	for _, line := range medians {
		line = line[min(from, len(line)):]
		p.peaks = append(p.peaks, plain.ExtentOf(line...).High)
		seen.Include(line...)
	}
	if seen.Empty() {
		seen.Include(slices.Concat(medians...)...)
	}
	low, high := seen.Positive, seen.High
	if p.nothing = !(high > 0); p.nothing {
		low, high = leastDot, leastDot
	}
	low = max(low, high/mostRange, min(leastDot, high))
	p.low, p.high = math.Pow(10, math.Floor(math.Log10(low)+1e-9)), math.Pow(10, math.Ceil(math.Log10(high)-1e-9))
	if p.high <= p.low {
		p.high = 10 * p.low
	}
}

func (p *terminalPlot) draw() string {
	var b strings.Builder
	set := p.s.Settings
	title := "fresh p99 wait per " + plain.Setting(set.Bucket) + " of virtual time" +
		plain.When(len(p.s.Seeds) > 1, fmt.Sprintf(", median of %d seeds", len(p.s.Seeds)))
	for _, line := range Wrapped(title+", log scale", p.o.Width) {
		b.WriteString(p.plain(line) + "\n")
	}
	for i := range p.s.Policies {
		b.WriteString("\n" + p.panelTitle(i) + "\n")
		p.panel(&b, i)
	}
	b.WriteString(p.timeAxis() + "\n")
	for _, line := range p.stormLines() {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func (p *terminalPlot) panelTitle(i int) string {
	claimed := results.HasValue(p.s.Data[i].Series, int(p.s.Settings.Warmup/p.s.Settings.Bucket), freshWaits)
	none := "no fresh job is claimed" + plain.When(p.s.Settings.Warmup > 0, " after the warm-up")
	remark := plain.Either(claimed, "claims in too few seeds", none)
	switch peak := p.peaks[i]; {
	case peak == 0:
		remark = "never waits"
	case !math.IsNaN(peak):
		remark = "peak " + plain.Duration(peak)
	}
	room := p.columns - columns(remark) - 3
	label := cut(p.s.Policies[i].Label, max(room, shortestName))
	return strings.Repeat(" ", plotGutter) + paint(p.o.Color, bold, p.plain(label)) + "   " + p.plain(remark)
}

// plain returns a text with every character that is not ASCII replaced, if the chart is in ASCII.
func (p *terminalPlot) plain(text string) string {
	if !p.ascii {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '–' || r == '−':
			return '-'
		case r == 'µ':
			return 'u'
		case r > '~' || r < ' ':
			return '?'
		}
		return r
	}, strings.ReplaceAll(text, "…", "..."))
}

// markStorms finds the storms that begin within the plot, and the columns that they cover.
func (p *terminalPlot) markStorms() {
	p.stormy = make([]bool, p.columns)
	perColumn := p.end / float64(p.columns)
	for _, w := range p.s.Settings.AllStorms() {
		from := int(w.From.Seconds() / perColumn)
		to := max(int(math.Ceil(w.To.Seconds()/perColumn-1e-9)), from+1)
		if from < p.columns {
			p.storms = append(p.storms, w)
		}
		for c := from; c < min(to, p.columns); c++ {
			p.stormy[c] = true
		}
	}
}

// stormLines returns the lines below the chart with each storm's name, beginning and end, up to eight storms.
func (p *terminalPlot) stormLines() []string {
	var lines []string
	for i, s := range p.storms {
		if i == 8 {
			more := plain.Plural(len(p.storms)-i, "storm")
			lines = append(lines, strings.Repeat(" ", plotGutter)+"and "+more+" more")
			break
		}
		span := plain.Span(s.From, s.To)
		name := cut(s.Name, max(p.columns-columns(span)-4, shortestName))
		lines = append(lines, strings.Repeat(" ", plotGutter)+paint(p.o.Color, red, p.marks.storm)+" "+p.plain(name+" "+span))
	}
	return lines
}

// timeAxis returns the line of time labels below the last panel.
func (p *terminalPlot) timeAxis() string {
	step := plain.TimeStep(p.end, p.columns/10)
	line := []rune(strings.Repeat(" ", p.o.Width+plotGutter))
	for at := time.Duration(0); at.Seconds() <= p.end*(1+1e-9); at += step {
		label := []rune(plain.Either(at == 0, "0", plain.Setting(at)))
		column := plotGutter + 1 + int(math.Round(at.Seconds()/p.end*float64(p.columns)))
		column = min(column, plotGutter+1+p.columns-len(label)+1)
		copy(line[column:], label)
	}
	return strings.TrimRight(string(line), " ")
}

// panel writes the lines of one policy's panel to b: its curve, the axis to the left, and storms below.
func (p *terminalPlot) panel(b *strings.Builder, policy int) {
	cells := p.dots(p.lines[policy])
	labels := p.labels()
	for r := range p.rows {
		axis := plain.Either(labels[r] != "", p.marks.tick, p.marks.axis)
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
		for c < p.columns && p.stormy[c] == p.stormy[from] {
			c++
		}
		color, mark := dim, p.marks.base
		if p.stormy[from] {
			color, mark = red, p.marks.storm
		}
		b.WriteString(paint(p.o.Color, color, strings.Repeat(mark, c-from)))
	}
	b.WriteString("\n")
}

// dots returns a curve as bits for each character of a panel: a dot for each value, and verticals between neighbours.
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

// height returns the row of dots in a panel, from the top, for a wait of v seconds on the logarithmic axis.
func (p *terminalPlot) height(v float64) int {
	rows := p.rows*p.marks.down - 1
	if !(v > p.low) {
		return rows
	}
	share := math.Log(v/p.low) / math.Log(p.high/p.low)
	return rows - int(math.Round(min(share, 1)*float64(rows)))
}

// labels returns the text left of each row of characters in a panel: a wait at powers of ten, else "".
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
