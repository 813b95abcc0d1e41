package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// The palette: the only escape sequences there are.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	plainS = "\x1b[0m"
)

const (
	shortestName = 8 // columns to which the name of a policy is cut at the most
)

// footnote explains how to read the numbers.
func footnote(s *results.Summary) string {
	tell, bounded := 0, false
	for _, column := range results.TableOf(s).Columns {
		for _, cell := range column.Cells {
			if cell.Mark == "?" {
				bounded = bounded || cell.Tell == 0
				tell = max(tell, cell.Tell)
			}
		}
	}
	open := ""
	switch {
	case tell > 0:
		open = fmt.Sprintf("; ? = not told apart yet, about %s seeds would tell", plain.Grouped(fmt.Sprint(tell)))
	case bounded:
		open = "; ? = cannot be told"
	}
	return "means over seeds, ± = 95% CI; ≈ = the same within " + Percent(s.SameWithin) + open + " (paired t, Holm, α 0.05)"
}

// Percent writes a share as ±5%.
func Percent(share float64) string { return "±" + plain.Digits(share*100, 3) + "%" }

// page lays out the summary for a terminal.
func page(s *results.Summary, o TableOptions) string {
	paint := func(color, s string) string {
		if !o.Color {
			return s
		}
		return color + s + plainS
	}
	var b strings.Builder
	title, rest, _ := strings.Cut(heading(s, o.Width), "\n")
	name := min(len(s.Scenario), len(title)) // what was stored may have any name
	b.WriteString(paint(bold, title[:name]) + title[name:] + "\n")
	if rest != "" {
		b.WriteString(rest + "\n")
	}
	for i, line := range fitTable(s, o.Width) {
		if i == 0 {
			b.WriteString("\n" + paint(dim, line) + "\n")
			continue
		}
		b.WriteString(line + "\n")
	}
	if len(s.Objectives) > 0 {
		b.WriteString("\nobjectives\n")
		for i, lines := range objectiveLines(s, o.Width) {
			v := &s.Objectives[i]
			b.WriteString(" " + paint(outcomeColor(v), v.Sign()) + " " + strings.Join(lines, "\n     ") + "\n")
		}
	}
	b.WriteString("\n")
	for _, line := range wrapped(footnote(s), o.Width) {
		b.WriteString(paint(dim, line) + "\n")
	}
	if end := conclusion(s); end != "" {
		b.WriteString(end + "\n")
	}
	if o.Path != "" || o.Note != "" {
		b.WriteString(strings.TrimSpace(o.Path+"        "+o.Note) + "\n")
	}
	return b.String()
}

// heading says what was run. Lines after the first are indented.
func heading(s *results.Summary, width int) string {
	parts := []string{plain.SettingSeconds(s.Duration) + " virtual", plain.Plural(len(s.Seeds), "seed")}
	if set := s.Settings; set != nil {
		workers := plain.Plural(set.Workers, "worker")
		if set.Nodes > 1 {
			workers = fmt.Sprintf("%d nodes × %s", set.Nodes, workers)
		}
		parts = append(parts, workers)
		if set.Rate > 0 {
			parts = append(parts, formatRate(set.Rate))
		}
		for _, storm := range set.Storms {
			parts = append(parts, storm.Name+" "+clockSpan(storm))
		}
	}
	line, lines := s.Scenario+"   "+parts[0], ""
	for _, part := range parts[1:] {
		if next := line + " · " + part; width == 0 || columns(next) <= width {
			line = next
			continue
		}
		lines, line = lines+line+"\n", "   "+part
	}
	return lines + line
}

// formatRate writes jobs per second, or per a longer unit if they are fewer than one.
func formatRate(perSecond float64) string {
	switch {
	case perSecond >= 1:
		return plain.Grouped(plain.Digits(perSecond, 3)) + " jobs/s"
	case perSecond*60 >= 1:
		return plain.Digits(perSecond*60, 3) + " jobs/min"
	}
	return plain.Digits(perSecond*3600, 3) + " jobs/h"
}

// columns that s takes on a terminal.
func columns(s string) int { return text.RuneWidthWithoutEscSequences(s) }

// fitTable lays the table out in width columns: closer together, with names cut, as far as need be.
func fitTable(s *results.Summary, width int) []string {
	var lines []string
	for _, gap := range []int{3, 2} {
		lines = layOut(values(s), gap)
		if width == 0 || widest(lines) <= width {
			return lines
		}
	}
	c, name := values(s), 0
	for i := range s.Policies {
		name = max(name, columns(s.Policies[i].Label))
	}
	room := max(name-(widest(lines)-width), shortestName)
	for i := range c.rows {
		c.rows[i][0] = cut(c.rows[i][0], room)
	}
	return dropped(c, width)
}

// fewestColumns stay in a table, however narrow the terminal: the policy and how it fares.
const fewestColumns = 2

// dropped leaves out as many of the last columns as must be for a table to fit in width, and
// says which.
func dropped(c cells, width int) []string {
	var left []string
	lines := layOut(c, 2)
	for widest(lines) > width && len(c.header) > fewestColumns {
		last := len(c.header) - 1
		left = append([]string{c.header[last]}, left...)
		c.header = c.header[:last]
		for i := range c.rows {
			c.rows[i] = c.rows[i][:last]
		}
		lines = layOut(c, 2)
	}
	if len(left) > 0 {
		lines = append(append(lines, ""), wrapped("no room for "+strings.Join(left, ", ")+"; --format csv has all", width)...)
	}
	return lines
}

// wrapped breaks a text at its spaces into lines of width columns, 0: into one.
func wrapped(s string, width int) []string {
	if width == 0 || columns(s) <= width {
		return []string{s}
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

func widest(lines []string) int {
	most := 0
	for _, line := range lines {
		most = max(most, columns(line))
	}
	return most
}

// cut shortens s to width columns.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// layOut renders cells with gap spaces between columns, the first one left-aligned. A
// column with marks has room for them behind its title.
func layOut(c cells, gap int) []string {
	header := append([]string(nil), c.header...)
	for i := range header {
		for _, row := range c.rows {
			if strings.HasSuffix(row[i], " ≈") || strings.HasSuffix(row[i], " ?") {
				header[i] += "  "
				break
			}
		}
	}
	return layOutAligned(cells{header, c.rows}, gap, 1)
}

// layOutAligned renders cells with gap spaces between columns, those numbered in left, from
// 1, left-aligned.
func layOutAligned(c cells, gap int, left ...int) []string {
	t := c.writer()
	style := table.StyleDefault
	style.Options = table.Options{}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	t.SetStyle(style)
	var configs []table.ColumnConfig
	for i := range c.header {
		align := text.AlignRight
		if slices.Contains(left, i+1) {
			align = text.AlignLeft
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.SetColumnConfigs(configs)
	return trimmed(t.Render())
}

// trimmed splits s into lines without spaces at their ends.
func trimmed(s string) []string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// markdown lays out the summary for a document.
func markdown(s *results.Summary) string {
	var b strings.Builder
	b.WriteString("**" + s.Scenario + "**" + strings.TrimPrefix(heading(s, 0), s.Scenario) + "\n\n")
	c := values(s)
	for _, row := range c.rows {
		for i := range row {
			row[i] = strings.Join(strings.Fields(row[i]), " ")
		}
	}
	t := c.writer()
	configs := []table.ColumnConfig{}
	for i := 1; i < len(c.header); i++ {
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	b.WriteString(t.RenderMarkdown() + "\n")
	for i := range s.Objectives {
		v := &s.Objectives[i]
		if i == 0 {
			b.WriteString("\n")
		}
		info, _ := measure.Lookup(v.Metric)
		line := fmt.Sprintf("- %s %s %s: %s %s", v.Sign(), v.Query, v.Limit(), v.Policy, results.FormatEstimate(&results.Estimate{Mean: v.Value, Bound: v.Bound}, info))
		if note := v.Note(); note != "" {
			line += " (" + note + ")"
		}
		b.WriteString(line + "\n")
	}
	note := footnote(s)
	return b.String() + "\n" + strings.ToUpper(note[:1]) + note[1:] + ".\n"
}
