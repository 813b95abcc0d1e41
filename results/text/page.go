package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"qsim/results"
	"qsim/results/plain"
)

// green and the constants below are the ANSI escape sequences for the colours that this package prints.
const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	plainS = "\x1b[0m"
)

// paint returns words between the escape sequences for color and its end or, without colors, as they are.
func paint(colors bool, color, words string) string {
	if !colors || color == "" || words == "" {
		return words
	}
	return color + words + plainS
}

const shortestName = 8 // columns to which the name of a policy is cut at the most

// page is a summary that is printed as text, with the table and the finding (main result in a sentence) made from it.
type page struct {
	*results.Summary
	table   *results.Table
	finding results.Finding
}

// Percent returns a share, such as 0.05, as text for a tolerance: ±5%.
func Percent(share float64) string { return "±" + plain.Digits(share*100, 3) + "%" }

// text returns the page for a terminal: heading, table, finding, failed objectives, legend and conclusion.
func (p *page) text(o TableOptions) string {
	var b strings.Builder
	title, rest, _ := strings.Cut(heading(p.Summary, o.Width), "\n")
	name := min(len(p.Scenario), len(title)) // what was stored may have any name
	b.WriteString(paint(o.Color, bold, title[:name]) + title[name:] + "\n")
	if rest != "" {
		b.WriteString(rest + "\n")
	}
	layout := p.layout()
	b.WriteString("\n" + strings.Join(layout.Lines(o.Width, o.Color), "\n") + "\n\n")
	b.WriteString(o.wrapped("", p.alike()) + o.wrapped(bold, p.finding.String()))
	for _, words := range p.unwanted() {
		b.WriteString(o.wrapped(red, words))
	}
	b.WriteString("\n" + o.wrapped(dim, p.footnote()) + o.wrapped("", Conclusion(p.Summary)))
	return b.String()
}

// wrapped returns a text in a colour, broken into lines of at most o.Width, each with a newline; "" for no text.
func (o TableOptions) wrapped(color, words string) (lines string) {
	if words == "" {
		return ""
	}
	for _, line := range Wrapped(words, o.Width) {
		lines += paint(o.Color, color, line) + "\n"
	}
	return lines
}

// layout returns the table of the summary: a row for each policy, with values, intervals and signs of verdicts.
func (p *page) layout() Table {
	t := Table{Columns: []Column{{Title: "policy", Key: true, Least: shortestName}}}
	for i, label := range p.table.Policies {
		label += plain.When(len(p.table.Policies) > 1 && p.Policies[i].Baseline, " (base)")
		t.Rows = append(t.Rows, []Cell{Plain(label)})
	}
	for _, c := range p.table.Columns {
		t.Columns = append(t.Columns, Column{Group: c.Part.String(), Title: c.Label, Under: c.GoalText(), Right: true})
		for i := range c.Cells {
			t.Rows[i] = append(t.Rows[i], p.cell(&c, i))
		}
	}
	return t
}

// cell returns the cell of column c for policy i: signs of verdicts, value, half-width of the interval, change against
// the baseline. Columns of costs have no half-width.
func (p *page) cell(c *results.Column, i int) Cell {
	cell := &c.Cells[i]
	value := Part{Text: cell.Value}
	if cell.Best {
		value.Color = bold
	}
	marks := make(Cell, 0, 8)
	counts := plain.Map(c.Cells, func(cell results.TableCell) int { return utf8.RuneCountInString(cell.Marks()) })
	for n := range slices.Max(counts) { // as many in all cells of the column
		part := Part{Left: true}
		if signs := []rune(cell.Marks()); n < len(signs) {
			part.Text = string(signs[n])
			for _, v := range cell.Verdicts {
				if v.Outcome.Sign() == part.Text && (part.Color == "" || v.Failed(false)) {
					part.Color = outcomeColor(v)
				}
			}
		}
		marks = append(marks, part)
	}
	half := Part{Text: plain.When(c.Part != results.Pays, cell.Half)}
	return append(marks, value, half, Part{Text: cell.Change}, Part{Text: cell.Mark, Left: true})
}

// heading returns what a run is (scenario, length, seeds, load, storms) as text, its lines at most width columns long.
func heading(s *results.Summary, width int) string {
	parts := []string{plain.SettingSeconds(s.Duration) + " virtual", plain.Plural(len(s.Seeds), "seed")}
	if set := s.Settings; set != nil {
		nodes := plain.When(set.Nodes > 1, fmt.Sprintf("%d nodes × ", set.Nodes))
		parts = append(parts, nodes+plain.Plural(set.Workers, "worker"))
		if set.Rate > 0 {
			parts = append(parts, plain.Arrivals(set.Rate))
		}
		for _, storm := range set.AllStorms() {
			parts = append(parts, storm.Name+" "+plain.Span(storm.From, storm.To))
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

// markdown returns the page as Markdown: heading, table, finding, failed objectives, legend and conclusion.
func (p *page) markdown() string {
	layout := p.layout()
	title := strings.TrimPrefix(heading(p.Summary, 0), p.Scenario)
	return paragraphs("**"+escaped(p.Scenario)+"**"+escaped(title), layout.markdown(),
		sentence(p.alike()), sentence(p.finding.String()), sentence(strings.Join(p.unwanted(), "  \n")),
		sentence(p.footnote()), sentence(Conclusion(p.Summary)))
}

// paragraphs returns the texts that are not empty, joined as paragraphs of Markdown.
func paragraphs(texts ...string) string {
	return plain.Joined("\n\n", texts...) + "\n"
}

// sentence returns a text as Markdown, with a capital at the beginning and a full stop at the end, unless it is empty.
func sentence(s string) string {
	return plain.When(s != "", escaped(strings.TrimSuffix(plain.Capital(s), ".")+"."))
}

// outcomeColor returns the escape sequence for a verdict: green if met, yellow if unclear, faint for an expected miss.
func outcomeColor(v *results.Verdict) string {
	return map[string]string{"met": green, "unclear": yellow, "expected": dim, "missed": red}[v.Kind()]
}

// alike returns the line "alike for all: ..." with the columns whose values are equal for all policies, or "".
func (p *page) alike() string {
	if len(p.table.Alike) == 0 {
		return ""
	}
	parts := plain.Map(p.table.Alike, func(c results.Column) string { return c.AlikeText() })
	return "alike for all: " + strings.Join(parts, ", ")
}

// unwanted returns a line of text for each objective whose outcome is not the expected one, with its policies.
func (p *page) unwanted() (lines []string) {
	line := map[string]int{}
	for _, v := range p.Objectives {
		if !v.Failed(false) {
			continue
		}
		what := v.Outcome.Sign() + " " + v.Query.Label() + " " + v.Limit() +
			plain.When(v.Expect, ", expected to be missed")
		at, there := line[what]
		if !there {
			at = len(lines)
			line[what], lines = at, append(lines, what+": ")
		} else {
			lines[at] += ", "
		}
		lines[at] += v.Policy + " " + v.Words()
	}
	return lines
}

// footnote returns the legend, as text, of the signs that occur in the summary's table.
func (p *page) footnote() string {
	half, same, bound, open, tell := false, false, false, false, 0
	for _, c := range p.table.Columns {
		for _, cell := range c.Cells {
			half = half || cell.Half != "" && c.Part != results.Pays
			same = same || cell.Mark == "≈"
			bound = bound || strings.HasPrefix(cell.Value, "≥")
			if cell.Mark == "?" {
				open, tell = true, max(tell, cell.Tell)
			}
		}
	}
	return plain.Joined("; ", plain.When(half, "± = 95% CI over "+plain.Plural(len(p.Seeds), "seed")),
		plain.When(bound, "≥ = at least: the run ended before"),
		plain.When(same, "≈ = the same within "+Percent(p.SameWithin)), plain.When(open, openWords(tell))) +
		plain.When(same || open, " (paired t, Holm, α 0.05)")
}

// openWords returns the legend of the sign "?" (undecided). tell is about how many seeds would decide; 0: none would.
func openWords(tell int) string {
	return plain.Either(tell == 0, "? = cannot be told",
		"? = not told apart yet, run about "+plain.Grouped(fmt.Sprint(tell))+" seeds")
}

// Conclusion returns a sentence on the objectives: how many were missed, met although a miss was expected, or unclear,
// or that all are well; "" if there are none.
func Conclusion(s *results.Summary) string {
	if len(s.Objectives) == 0 {
		return ""
	}
	missed, met, expected := 0, 0, 0
	var unclear []results.Verdict
	for _, v := range s.Objectives {
		switch {
		case v.Outcome == results.Unclear:
			unclear = append(unclear, v)
		case v.Failed(false) && v.Outcome == results.Missed:
			missed++
		case v.Failed(false):
			met++
		case v.Expected():
			expected++
		}
	}
	unwanted := plain.Joined(", ", counted(missed, "objective", "missed"),
		counted(met, "objective", "met that should have been missed"),
		plain.Joined(": ", counted(len(unclear), "objective", "unclear"), results.ToDecide(unclear)))
	switch {
	case unwanted != "":
		return unwanted
	case expected > 0:
		return fmt.Sprintf("all objectives as expected, %d of %d missed as the scenario says", expected, len(s.Objectives))
	}
	return "all objectives met"
}

// counted returns text such as "2 objectives missed": number, noun and further words; "" for 0.
func counted(n int, noun, words string) string {
	return plain.When(n > 0, plain.Plural(n, noun)+" "+words)
}
