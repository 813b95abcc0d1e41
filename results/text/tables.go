package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// comparisonView is a comparison of two results (runs of a scenario) that is printed as text.
type comparisonView struct{ *results.Comparison }

// Comparisons returns comparisons of results with one base as text in the format of o: each with a heading, except CSV.
func Comparisons(list []*results.Comparison, o TableOptions) string {
	rows, pages := records{comparisonColumns}, []string(nil)
	for _, comparison := range list {
		switch c := (comparisonView{comparison}); o.Format {
		case CSV:
			rows = append(rows, c.records()...)
		case Markdown:
			pages = append(pages, c.markdown())
		default:
			pages = append(pages, c.page(o))
		}
	}
	if o.Format == CSV {
		return rows.csv()
	}
	return strings.Join(pages, "\n")
}

// table returns the comparison's table for people, with a row for each metric of each policy, named in the first.
func (c comparisonView) table() Table {
	t := Table{Columns: []Column{{Title: "policy", Key: true, Least: shortestName},
		{Title: "metric", Key: true, Wrap: true}}}
	for _, title := range []string{"base", "new", "difference", "change"} {
		t.Columns = append(t.Columns, Column{Title: title, Right: true})
	}
	if c.Gate.Set {
		t.Columns = append(t.Columns, Column{Wrap: true})
	}
	for i, d := range c.Changes {
		label := plain.When(i == 0 || c.Changes[i-1].Policy != d.Policy, d.Policy)
		words := d.Words()
		row := []Cell{Plain(label), Plain(d.Query.Label()), Plain(words.Base), Plain(words.New),
			{{Text: words.Difference}, {Text: words.Half}}, {{Text: words.Change}, {Text: d.Mark(), Left: true}}}
		if c.Gate.Set {
			color := map[results.Outcome]string{results.Missed: red, results.Unclear: yellow}[d.Verdict]
			row[5][0].Color = color
			row = append(row, Cell{{Text: strings.TrimSpace(d.Verdict.Sign() + " " + d.Note()), Color: color, Left: true}})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// title returns lines of text: the scenario, the name, seeds and configuration of both results, and the keys of the
// scenario that differ between them.
func (c comparisonView) title() []string {
	side := func(s *results.Side) string {
		return fmt.Sprintf("%s (%s, config %s)", s.Name, plain.Plural(len(s.Seeds), "seed"), s.ConfigHash)
	}
	return append([]string{c.Scenario, "base " + side(&c.Base), "new  " + side(&c.New)}, c.KeyWords()...)
}

func (c comparisonView) footnote() string {
	pairs, test := "", "Welch's"
	if c.Paired {
		pairs, test = " by seed", "paired"
	}
	open, tell := "", 0
	for _, d := range c.Changes {
		if d.Mark() == "?" {
			tell = max(tell, d.Tell)
			open = "; " + openWords(tell)
		}
	}
	return fmt.Sprintf("new − base%s, ± = 95%% CI; ≈ = the same within %s%s (%s t, Holm, α 0.05)", pairs,
		Percent(c.SameWithin), open, test)
}

// page returns the comparison as text for a terminal: title, table, legend and conclusion.
func (c comparisonView) page(o TableOptions) string {
	var b strings.Builder
	title := c.title()
	b.WriteString(paint(o.Color, bold, title[0]) + "\n   " + strings.Join(title[1:], "\n   ") + "\n\n")
	t := c.table()
	b.WriteString(strings.Join(t.Lines(o.Width, o.Color), "\n") + "\n\n")
	b.WriteString(o.wrapped(dim, c.footnote()))
	if end := c.conclusion(); end != "" {
		b.WriteString(end + "\n")
	}
	return b.String()
}

// conclusion returns a sentence on how many metrics are worse by more than the gate (--max-regression); "" without one.
func (c comparisonView) conclusion() string {
	if !c.Gate.Set {
		return ""
	}
	number := func(of results.Outcome) int {
		return plain.Count(c.Changes, func(d results.Change) bool { return d.Verdict == of })
	}
	most := plain.Digits(100*c.Gate.Most, 3) + "%"
	words := plain.Joined(", ", counted(number(results.Missed), "metric", "worse by more than "+most),
		counted(number(results.Unclear), "metric", "unclear"))
	return cmp.Or(words, "nothing is worse by more than "+most)
}

// markdown returns the comparison as Markdown: title, table, legend, conclusion and warnings.
func (c comparisonView) markdown() string {
	title, t := c.title(), c.table()
	warnings := plain.When(len(c.Warnings) > 0, "- "+strings.Join(plain.Map(c.Warnings, escaped), "\n- "))
	for i, line := range title {
		title[i] = escaped(strings.Join(strings.Fields(line), " "))
	}
	return paragraphs("**"+title[0]+"** "+strings.Join(title[1:], ", "), t.markdown(),
		sentence(c.footnote()), sentence(c.conclusion()), warnings)
}

// comparisonColumns are the headings of comparisons in CSV, where numbers are in the metrics' units.
var comparisonColumns = []string{"base", "new", "policy", "metric", "unit", "base value", "base bound", "new value",
	"new bound", "difference", "low", "high", "relative", "n", "p", "shown", "same", "verdict", "reason"}

func (c comparisonView) records() (rows records) {
	for _, d := range c.Changes {
		row := []string{c.Base.Name, c.New.Name, d.Policy, d.Query.String(), d.Unit, plain.Number(d.Base.Mean),
			d.Base.Bound, plain.Number(d.New.Mean), d.New.Bound}
		row = append(row, plain.Numbers(d.Difference, d.Low, d.High, d.Relative())...)
		rows = append(rows, append(row, strconv.Itoa(d.N), plain.Number(d.P), strconv.FormatBool(d.Shown),
			strconv.FormatBool(d.Same), string(d.Verdict), d.Reason))
	}
	return rows
}

const (
	mostSweepRows = 200 // highest number of rows of a sweep in the Text format
	mostValue     = 40  // characters of a key's value in the table of a sweep
)

// sweepView is the result of a sweep, a scenario run with all combinations of some values, that is printed as text.
type sweepView struct{ *results.Sweep }

// Sweep returns the result of a sweep as text in the format of o: a row for each cell (combination of values) and
// policy. CSV has all numbers in full, with each metric's interval and number of seeds; Text has 200 rows at most.
func Sweep(sweep *results.Sweep, o TableOptions) string {
	s := sweepView{sweep}
	if o.Format == CSV {
		return s.records().csv()
	}
	t := s.table(o.Format == Text)
	left := len(t.Rows)
	if o.Format == Text && left > mostSweepRows {
		t.Rows = t.Rows[:mostSweepRows]
	}
	table := o.Prose(s.describe()) + "\n" + t.Render(o)
	if more := left - len(t.Rows); more > 0 {
		table += fmt.Sprintf("and %s more: --format csv prints them all\n", plain.Plural(more, "row"))
	}
	return table + "\n" + o.Prose(s.footnote())
}

// describe returns the heading of the sweep's table: its scenario, keys, and numbers of cells, policies and seeds.
func (s sweepView) describe() string {
	axes := plain.Map(s.Axes, func(a results.Axis) string { return fmt.Sprintf("%s (%d)", a.Key, len(a.Values)) })
	return fmt.Sprintf("%s  %s: %s × %s × %s", s.Scenario, strings.Join(axes, " × "), plain.Plural(len(s.Cells), "cell"),
		plain.Plural(len(s.Policies), "policy"), plain.Plural(len(s.Seeds), "seed"))
}

// footnote returns the legend below the sweep's table.
func (s sweepView) footnote() string {
	return plain.Either(len(s.Seeds) < 2, "one seed: no interval",
		"± 95 % t-interval over the seeds, which are the same in every cell; ≥ the run ended too early to tell") +
		plain.When(len(s.Objectives) > 0, "; the last column: all objectives of the policy")
}

// table returns the sweep's table for people; with once, the key values of a cell stand in the first of its rows only.
func (s sweepView) table(once bool) Table {
	t := Table{Rule: true}
	for _, key := range append(s.ShortKeys(), "policy") {
		t.Columns = append(t.Columns, Column{Title: key, Key: true})
	}
	t.Columns[len(t.Columns)-1].Least = shortestName
	for _, q := range s.Queries {
		t.Columns = append(t.Columns, Column{Title: q.Label(), Right: true})
	}
	t.Columns = append(t.Columns, Column{})
	for _, cell := range s.Cells {
		for k, r := range cell.Rows {
			var row []Cell
			for _, value := range s.Values(cell.Index) {
				if once && k > 0 {
					value = ""
				}
				row = append(row, Plain(plain.Shorten(value, mostValue)))
			}
			row = append(row, Plain(s.Policies[r.Policy].Label))
			for q := range s.Queries {
				info, _ := measure.Lookup(s.Queries[q].Metric)
				e := &r.Estimates[q]
				half := plain.When(e.Half > 0, results.FormatHalf(e.Half, info)) // none is NaN
				row = append(row, Cell{{Text: results.FormatEstimate(e, info)}, {Text: half}})
			}
			t.Rows = append(t.Rows, append(row, Plain(string(r.Outcome()))))
		}
	}
	return t
}

// records returns the sweep's table for CSV: a row for each cell and policy.
func (s sweepView) records() records {
	keys := plain.Map(s.Axes, func(a results.Axis) string { return a.Key })
	header := slices.Concat([]string{"cell"}, keys, []string{"policy"})
	for _, q := range s.Queries {
		name := q.String()
		header = append(header, name, name+" low", name+" high", name+" n", name+" bound")
	}
	all := records{append(header, "objectives", "fingerprint")}
	for _, cell := range s.Cells {
		values := s.Values(cell.Index)
		for _, r := range cell.Rows {
			row := slices.Concat([]string{strconv.Itoa(cell.Index)}, values, []string{s.Policies[r.Policy].Label})
			for _, e := range r.Estimates {
				row = append(append(row, plain.Numbers(e.Mean, e.Low, e.High)...), strconv.Itoa(e.N), e.Bound)
			}
			all = append(all, append(row, string(r.Outcome()), r.Fingerprint))
		}
	}
	return all
}
