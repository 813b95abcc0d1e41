package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteCells writes a table of plain cells. Text format has a single rule, below the header; columns from index right
// on are aligned to the right, except the last one, whose texts may be wrapped.
func WriteCells(w io.Writer, header []string, rows [][]string, right int, o TableOptions) error {
	t := Table{Rule: true}
	for i, title := range header {
		last := i == len(header)-1
		t.Columns = append(t.Columns, Column{Title: title, Key: i == 0, Right: i >= right && !last, Wrap: last})
	}
	for _, row := range rows {
		t.Add(row...)
	}
	return t.Write(w, o)
}

// Write writes the table in the format of o: text for a terminal, Markdown or CSV.
func (t *Table) Write(w io.Writer, o TableOptions) error {
	var out string
	switch o.Format {
	case Markdown:
		out = t.markdown()
	case CSV:
		out = t.cells(func(c *Column) string { return c.Title }).csv()
	default:
		out = strings.Join(t.Lines(o.Width, o.Color), "\n")
	}
	if _, err := io.WriteString(w, out+"\n"); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// cells returns the texts of a table without its layout, under the headings that title returns.
func (t *Table) cells(title func(c *Column) string) cells {
	var c cells
	for i := range t.Columns {
		c.header = append(c.header, title(&t.Columns[i]))
	}
	for _, row := range t.Rows {
		var line []string
		for _, cell := range row {
			line = append(line, cell.joined())
		}
		c.rows = append(c.rows, line)
	}
	return c
}

func (t *Table) markdown() string {
	w := t.cells(func(c *Column) string { return strings.TrimSpace(c.Title + " " + c.Under) }).writer()
	var configs []table.ColumnConfig
	for i := range t.Columns {
		if t.Columns[i].Right {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	return w.RenderMarkdown()
}
