package text

import (
	"fmt"
	"io"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"qsim/results"
	"qsim/results/plain"
)

// Format is the format of a table: text, Markdown or CSV.
type Format uint8

// Text, Markdown and CSV are the formats of a table.
const (
	Text     Format = iota // plain text for people
	Markdown               // Markdown for people
	CSV                    // plain numbers in the metrics' units
)

// TableOptions are the format, colours and width of a table.
type TableOptions struct {
	Format Format
	Color  bool // ANSI colours in Text; signs carry the meaning without them
	Width  int  // columns that Text should fit in; 0: as wide as it gets
}

// init makes ambiguous signs one column wide: they are as wide as two letters in East Asian locales, and a table would
// shift with the user's.
func init() { text.OverrideRuneWidthEastAsianWidth(false) }

// WriteTable writes the results table of the policies; Text and Markdown add a description of the run, the
// verdicts on the objectives, and a legend.
func WriteTable(w io.Writer, s *results.Summary, o TableOptions) error {
	var out string
	switch o.Format {
	case Markdown:
		p := pageOf(s)
		out = p.markdown()
	case CSV:
		out = plainCells(s).csv() + "\n"
	default:
		p := pageOf(s)
		out = p.text(o)
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// cells holds the texts of a table: a header and rows, without layout.
type cells struct {
	header []string
	rows   [][]string
}

// plainCells returns the summary's table for a CSV file, with numbers in the metrics' units.
func plainCells(s *results.Summary) cells {
	c := cells{header: []string{"policy"}}
	for i := range s.Policies {
		c.rows = append(c.rows, []string{s.Policies[i].Label})
	}
	t := results.TableOf(s)
	for _, column := range append(t.Columns, t.Alike...) {
		name := column.Query.String()
		c.header = append(c.header, name, name+" low", name+" high", name+" bound", name+" difference", name+" shown", name+" same")
		for i := range s.Policies {
			row := []string{"", "", "", "", "", "", ""}
			if e := s.Policies[i].Find(column.Query); e != nil {
				row[0], row[1], row[2], row[3] = plain.Number(e.Mean), plain.Number(e.Low), plain.Number(e.High), e.Bound
			}
			if d := s.Policies[i].Against(column.Query); d != nil {
				row[4], row[5], row[6] = plain.Number(d.Difference), strconv.FormatBool(d.Shown), strconv.FormatBool(d.Same)
			}
			c.rows[i] = append(c.rows[i], row...)
		}
	}
	return c
}

// writer returns the cells in a writer of the table library.
func (c cells) writer() table.Writer {
	t := table.NewWriter()
	row := func(cells []string) table.Row {
		r := make(table.Row, len(cells))
		for i, cell := range cells {
			r[i] = cell
		}
		return r
	}
	if c.header != nil {
		t.AppendHeader(row(c.header))
	}
	for _, cells := range c.rows {
		t.AppendRow(row(cells))
	}
	return t
}

func (c cells) csv() string { return c.inert().writer().RenderCSV() }

// inert returns the cells for a CSV file, escaped so that no spreadsheet evaluates one as a formula.
func (c cells) inert() cells {
	out := cells{header: c.header}
	for _, row := range c.rows {
		inert := make([]string, len(row))
		for i, cell := range row {
			inert[i] = plain.Inert(cell)
		}
		out.rows = append(out.rows, inert)
	}
	return out
}
