// Package text prints results: tables for terminals, Markdown and CSV, and plots of characters. A summary compares the
// policies of a scenario (objectives are limits on metrics, verdicts their outcomes, storms injected failures or
// bursts); a comparison compares two such results; a sweep has a cell for each combination of values of scenario keys.
package text

import (
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"qsim/results"
	"qsim/results/plain"
)

// Format is the format in which a table is printed.
type Format uint8

// Text, Markdown and CSV are the formats of tables.
const (
	Text     Format = iota // plain text for people
	Markdown               // Markdown for people
	CSV                    // plain numbers in the metrics' units
)

// TableOptions are the options by which this package prints tables and charts.
type TableOptions struct {
	Format Format
	Color  bool // ANSI colours in Text; signs carry the meaning without them
	Width  int  // columns that Text should fit in; 0: as wide as it gets
}

// init gives characters of ambiguous width one column: in East Asian locales they would take two, and a table's layout
// would depend on the user's locale.
func init() { text.OverrideRuneWidthEastAsianWidth(false) }

// Summary returns a summary as text in the format of o: the results table of the policies and, except in CSV, a
// description of the run, the verdicts on the objectives, and a legend.
func Summary(s *results.Summary, o TableOptions) string {
	t := results.TableOf(s)
	switch p := (page{s, t, results.FindingOf(s, t)}); o.Format {
	case Markdown:
		return p.markdown()
	case CSV:
		return p.records().csv()
	default:
		return p.text(o)
	}
}

// records is a table without layout: first its headings, then the texts of each row.
type records [][]string

// records returns the summary's table for CSV: means, intervals and differences as numbers in the metrics' units.
func (p *page) records() records {
	all := records{{"policy"}}
	for _, label := range p.table.Policies {
		all = append(all, []string{label})
	}
	for _, column := range append(p.table.Columns, p.table.Alike...) {
		for _, of := range []string{"", " low", " high", " bound", " difference", " shown", " same"} {
			all[0] = append(all[0], column.Query.String()+of)
		}
		for i := range p.Policies {
			row := make([]string, 7)
			if e := p.Policies[i].Find(column.Query); e != nil {
				row = append(append(plain.Numbers(e.Mean, e.Low, e.High), e.Bound), row[4:]...)
			}
			if d := p.Policies[i].Against(column.Query); d != nil {
				row[4], row[5], row[6] = plain.Number(d.Difference), strconv.FormatBool(d.Shown), strconv.FormatBool(d.Same)
			}
			all[i+1] = append(all[i+1], row...)
		}
	}
	return all
}

// csv returns the records as CSV text, with cells changed (plain.Inert) that a spreadsheet would evaluate as formulas.
func (r records) csv() string {
	var out strings.Builder
	w := csv.NewWriter(&out)
	for _, row := range r {
		_ = w.Write(plain.Map(row, plain.Inert)) // a Builder takes everything
	}
	w.Flush()
	return out.String()
}

// Cells returns a table as text in the format of o, from a header and rows of texts. Columns from index right on are
// aligned to the right, except the last one, whose texts may be wrapped.
func Cells(header []string, rows [][]string, right int, o TableOptions) string {
	t := Table{Rule: true}
	for i, title := range header {
		last := i == len(header)-1
		t.Columns = append(t.Columns, Column{Title: title, Key: i == 0, Right: i >= right && !last, Wrap: last})
	}
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Render(o)
}

// Render returns the table as text in the format of o.
func (t *Table) Render(o TableOptions) string {
	switch o.Format {
	case Markdown:
		return t.markdown() + "\n"
	case CSV:
		return t.records(func(c Column) string { return c.Title }).csv()
	default:
		return strings.Join(t.Lines(o.Width, o.Color), "\n") + "\n"
	}
}

// records returns the texts of the table's cells, below the headings that title returns for its columns.
func (t *Table) records(title func(c Column) string) records {
	all := records{plain.Map(t.Columns, title)}
	for _, row := range t.Rows {
		all = append(all, plain.Map(row, Cell.joined))
	}
	return all
}

func (t *Table) markdown() string {
	all := t.records(func(c Column) string { return strings.TrimSpace(c.Title + " " + c.Under) })
	for _, row := range all {
		copy(row, plain.Map(row, escaped))
	}
	return MarkdownTable(all[0], all[1:], func(column int) bool { return t.Columns[column].Right })
}

// MarkdownTable returns a table as Markdown, from a header and rows of cells that are Markdown themselves, in which |
// is escaped. right reports which columns are aligned to the right; nil: none.
func MarkdownTable(header []string, rows [][]string, right func(column int) bool) string {
	w := table.NewWriter()
	cells := func(row []string) table.Row { return plain.Map(row, func(cell string) any { return cell }) }
	w.AppendHeader(cells(header))
	w.AppendRows(plain.Map(rows, cells))
	var configs []table.ColumnConfig
	for i := range header {
		if right != nil && right(i) {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	return w.RenderMarkdown()
}

// begun matches the begin of a text that Markdown would take for a heading or the item of a list.
var begun = regexp.MustCompile(`^([0-9]*)([-+.)]|#+)( |$)`)

// escaped returns a text as Markdown that shows it as it is. A | is left to MarkdownTable: it only ends cells.
func escaped(s string) string {
	var b strings.Builder
	runes := []rune(s + " ")
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	for i, r := range runes[:len(runes)-1] {
		next := runes[i+1]
		harmless := r == '_' && i > 0 && word(runes[i-1]) && word(next) || r == ']' && !strings.ContainsRune("([:", next) ||
			r == '>' && i > 0
		if strings.ContainsRune("\\`*_]<>~&", r) && !harmless {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return begun.ReplaceAllString(b.String(), `$1\$2$3`)
}

// Prose returns a text as a paragraph in the format of o: broken into lines for a terminal, escaped in Markdown.
func (o TableOptions) Prose(s string) string {
	return Paragraph(plain.Either(o.Format == Markdown, escaped(s), s), o.Width)
}

// columns returns the width of a text in terminal columns; escape sequences take none.
func columns(s string) int { return text.StringWidthWithoutEscSequences(s) }

// cut returns a text shortened to width terminal columns, with … at the end if anything is missing.
func cut(s string, width int) string { return text.Snip(s, width, "…") }

// Wrapped returns a text as lines of at most width terminal columns (0: no limit), broken at spaces if possible.
func Wrapped(s string, width int) []string {
	if width == 0 || columns(s) <= width {
		return []string{s}
	}
	var words []string
	for _, word := range strings.Fields(s) {
		for columns(word) > width {
			head := text.Trim(word, width)
			if head == "" {
				break
			}
			words, word = append(words, head), word[len(head):]
		}
		words = append(words, word)
	}
	return plain.Lines(words, func(line string) bool { return columns(line) <= width })
}

// Paragraph returns a text broken as by Wrapped, with a newline after each line.
func Paragraph(s string, width int) string { return strings.Join(Wrapped(s, width), "\n") + "\n" }

// Indented returns a text broken as by Wrapped; its lines after the first begin with indent spaces, which count.
func Indented(s string, width, indent int) string {
	if width == 0 {
		return s
	}
	return strings.Join(Wrapped(s, max(width-indent, leastWrap)), "\n"+strings.Repeat(" ", indent))
}
