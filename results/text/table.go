package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"qsim/results"
	"qsim/results/measure"
	"qsim/results/plain"
)

// Format of a table.
type Format uint8

// The formats of a table.
const (
	Text     Format = iota // for people
	Markdown               // for people elsewhere
	CSV                    // plain numbers in the metrics' units
)

// TableOptions say how WriteTable writes.
type TableOptions struct {
	Format Format
	Color  bool // ANSI colours in Text; signs carry the meaning without them
	Width  int  // columns that Text should fit in; 0: as wide as it gets
	// Path and Note make the last line of Text, for example the path of the
	// report and "8.4s, 1.7M jobs/s". There is none if both are empty.
	Path, Note string
}

// Some signs are as wide as two letters in East Asian locales, and a table would shift
// with the user's.
func init() { text.OverrideRuneWidthEastAsianWidth(false) }

// WriteTable writes the table of the policies; Text and Markdown also say what
// was run, what became of the objectives, and how to read the numbers.
func WriteTable(w io.Writer, s *results.Summary, o TableOptions) error {
	var out string
	switch o.Format {
	case Markdown:
		out = markdown(s)
	case CSV:
		out = plainCells(s).csv() + "\n"
	default:
		out = page(s, o)
	}
	if _, err := io.WriteString(w, out); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// cells is a table before it is laid out.
type cells struct {
	header []string
	rows   [][]string
}

// values returns the table's cells for people.
func values(s *results.Summary) cells {
	c := cells{header: []string{"policy"}}
	for i := range s.Policies {
		c.rows = append(c.rows, []string{s.Policies[i].Label})
	}
	for _, column := range results.TableOf(s).Columns {
		c.header = append(c.header, column.Label)
		values, halves := make([]string, len(s.Policies)), make([]string, len(s.Policies))
		changes, marks := make([]string, len(s.Policies)), make([]string, len(s.Policies))
		for i, cell := range column.Cells {
			values[i], halves[i], changes[i], marks[i] = cell.Value, cell.Half, cmp.Or(cell.Change, plain.Missing), cell.Mark
		}
		if column.Part == results.Pays {
			c.add(mark(values, marks))
			continue
		}
		c.add(beside(values, halves))
		c.header = append(c.header, "vs base")
		c.add(mark(changes, marks))
	}
	return c
}

// add appends a column.
func (c *cells) add(values []string) {
	for i := range c.rows {
		c.rows[i] = append(c.rows[i], values[i])
	}
}

// beside joins two columns, each right-aligned.
func beside(left, right []string) []string {
	joined := make([]string, len(left))
	widest := func(column []string) int {
		width := 0
		for _, s := range column {
			width = max(width, text.RuneWidthWithoutEscSequences(s))
		}
		return width
	}
	leftWidth, rightWidth := widest(left), widest(right)
	for i := range left {
		joined[i] = text.AlignRight.Apply(left[i], leftWidth)
		if rightWidth > 0 {
			joined[i] += " " + text.AlignRight.Apply(right[i], rightWidth)
		}
	}
	return joined
}

// mark appends the signs of marks, and room for one where there is none.
func mark(values, marks []string) []string {
	if !slices.ContainsFunc(marks, func(m string) bool { return m != "" }) {
		return values
	}
	marked := make([]string, len(values))
	for i, v := range values {
		marked[i] = v + " " + cmp.Or(marks[i], " ")
	}
	return marked
}

// plainCells returns the table's numbers for programs.
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

// writer returns the cells as a table of the library.
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

// clockSpan writes a storm's window: 10m–15m.
func clockSpan(w measure.Window) string { return plain.Setting(w.From) + "–" + plain.Setting(w.To) }

// inert are the same cells for a CSV file.
func (c cells) inert() cells {
	out := cells{header: c.header}
	for _, row := range c.rows {
		out.rows = append(out.rows, plain.InertRow(row))
	}
	return out
}
