package text

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// outcomeColor is that of the sign of an objective's outcome: red for one that is not as wanted, none for an
// expected miss, which is no success.
func outcomeColor(v *results.Verdict) string {
	switch {
	case v.Outcome == results.Unclear:
		return yellow
	case v.Expected():
		return dim
	case v.Failed(false):
		return red
	}
	return green
}

// objectiveLines lays out the objectives: in columns if they fit, else each over two lines.
func objectiveLines(s *results.Summary, width int) [][]string {
	var c cells
	for i := range s.Objectives {
		v := &s.Objectives[i]
		info, _ := measure.Lookup(v.Metric)
		value := results.FormatEstimate(&results.Estimate{Mean: v.Value, Bound: v.Bound}, info)
		if half := v.Half; half == half { // not NaN
			value += " " + results.FormatHalf(half, info)
		}
		c.rows = append(c.rows, []string{v.Query.String() + " " + v.Limit(), v.Policy, value, v.Note()})
	}
	const signs = 3 // columns before a line
	lines := make([][]string, len(c.rows))
	for _, gap := range []int{3, 2} {
		rendered := layOutLeft(c, gap)
		if width > 0 && widest(rendered)+signs > width {
			continue
		}
		for i := range rendered {
			lines[i] = rendered[i : i+1]
		}
		return lines
	}
	below := cells{}
	for _, row := range c.rows {
		below.rows = append(below.rows, row[1:])
	}
	const indent = 5 // columns before a further line
	rendered := layOutLeft(below, 3)
	if width > 0 && widest(rendered)+indent > width {
		for i := range below.rows {
			below.rows[i] = below.rows[i][:2]
		}
		rendered = layOutLeft(below, 2)
		if over := widest(rendered) + indent - width; over > 0 {
			name := 0
			for _, row := range below.rows {
				name = max(name, columns(row[0]))
			}
			for i, row := range below.rows {
				below.rows[i] = []string{cut(row[0], max(name-over, shortestName)), row[1]}
			}
			rendered = layOutLeft(below, 2)
		}
	}
	for i, line := range rendered {
		lines[i] = []string{c.rows[i][0], line}
		if note := c.rows[i][3]; len(below.rows[i]) == 2 && note != "" {
			lines[i] = append(lines[i], note)
		}
	}
	return lines
}

// layOutLeft renders cells without a header, all left-aligned.
func layOutLeft(c cells, gap int) []string {
	t := c.writer()
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	t.SetStyle(style)
	return trimmed(t.Render())
}

// conclusion counts the objectives that did not come out as wanted; "" if there are none at all.
func conclusion(s *results.Summary) string {
	if len(s.Objectives) == 0 {
		return ""
	}
	missed, met, unclear := 0, 0, 0
	for i := range s.Objectives {
		switch v := &s.Objectives[i]; {
		case v.Outcome == results.Unclear:
			unclear++
		case v.Failed(false) && v.Outcome == results.Missed:
			missed++
		case v.Failed(false):
			met++
		}
	}
	var parts []string
	if missed > 0 {
		parts = append(parts, plain.Plural(missed, "objective")+" missed")
	}
	if met > 0 {
		parts = append(parts, plain.Plural(met, "objective")+" met that should have been missed")
	}
	if unclear > 0 {
		parts = append(parts, plain.Plural(unclear, "objective")+" unclear")
	}
	if len(parts) == 0 {
		return "all objectives as wanted"
	}
	return strings.Join(parts, ", ")
}
